/* What others wrote, within markup. */
#include "report/markup.h"
#include "testing.h"

static void is(const char *text, const char *wanted)
{
    struct buf out = {0};
    markup_text(&out, text);
    ck_assert_str_eq(buf_string(&out), wanted);
    buf_free(&out);
}

#define ODD "\xef\xbf\xbd"

START_TEST(no_text_ends_an_element_or_an_attribute)
{
    is("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;");
    is("\" onload='x' &amp;", "&quot; onload=&#39;x&#39; &amp;amp;");
    is("]]>", "]]&gt;");
    is(NULL, "");
}
END_TEST

START_TEST(blanks_are_spaces_and_controls_are_seen)
{
    is("a\tb\nc\rd", "a b c d");
    is("\033[31mred\033[0m", ODD "[31mred" ODD "[0m");
    is("\x7f\xc2\x85\xc2\x9b", ODD ODD ODD);
}
END_TEST

START_TEST(nothing_turns_text_around)
{
    is("a\xe2\x80\xae"
       "b",
       "a" ODD "b"); /* U+202E */
    is("\xe2\x81\xa6\xd8\x9c\xe2\x80\x8f", ODD ODD ODD);
    is("\xef\xbb\xbf", ODD);
}
END_TEST

START_TEST(what_is_no_character_is_replaced)
{
    is("\xff\x80", ODD ODD);
    is("\xc3", ODD);
    is("\xc3(", ODD "(");
    is("\xc0\xbc", ODD);         /* '<' in two bytes */
    is("\xe0\x80\xbc", ODD);     /* … in three */
    is("\xed\xa0\x80", ODD);     /* half a surrogate pair */
    is("\xf4\x90\x80\x80", ODD); /* beyond U+10FFFF */
    is("\xef\xbf\xbf", ODD);     /* U+FFFF */
}
END_TEST

START_TEST(all_other_characters_stay)
{
    is("± 4 µs ≥ 日本 \xf0\x9f\x98\x80", "± 4 µs ≥ 日本 \xf0\x9f\x98\x80");
}
END_TEST

Suite *suite_markup(void)
{
    TCase *tests;
    Suite *const s = suite_of("markup", 5, &tests);
    tcase_add_test(tests, no_text_ends_an_element_or_an_attribute);
    tcase_add_test(tests, blanks_are_spaces_and_controls_are_seen);
    tcase_add_test(tests, nothing_turns_text_around);
    tcase_add_test(tests, what_is_no_character_is_replaced);
    tcase_add_test(tests, all_other_characters_stay);
    return s;
}
