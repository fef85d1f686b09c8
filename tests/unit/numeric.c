/* The library in a program whose language writes 1,5: all is as elsewhere. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sonde.h"
#include "testing.h"

/* A language with a decimal comma for this process; false: it cannot be had. */
static bool speak_german(void)
{
    char folder[] = "/tmp/sonde-locale-XXXXXX", command[256];
    if (setlocale(LC_ALL, "de_DE.UTF-8") != NULL)
        return true;
    if (mkdtemp(folder) == NULL)
        return false;
    snprintf(command, sizeof command,
             "localedef -c -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
             folder);
    const bool made = system(command) == 0;
    setenv("LOCPATH", folder, 1);
    const bool spoken = made && setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
    return spoken;
}

static const char *const formats[] = {"json", "csv"};
enum { FORMATS = COUNT_OF(formats) };

static void cut(char *at, size_t length)
{
    memmove(at, at + length, strlen(at + length) + 1);
}

/* A report of a session without what differs between runs; the caller frees. */
static char *report_of(const char *format)
{
    static const char *const studies[] = {"banks", "clock"};
    const struct sonde_options options = {.device = "sim:quick"};
    struct sonde_error err;
    struct sonde *s;
    char *text = NULL;
    ck_assert_msg(sonde_open(&s, &options, &err) == 0, "%s", err.text);
    ck_assert_msg(sonde_run(s, studies, 2, &err) == 0, "%s", err.text);
    ck_assert_msg(sonde_report(s, format, NULL, &text, &err) == 0, "%s",
                  err.text);
    sonde_close(s, NULL);
    for (char *at = text; at != NULL && (at = strstr(at, "\"s")) != NULL; at++)
        if (strncmp(at, "\"seconds\"", 9) == 0 ||
            strncmp(at, "\"start\"", 7) == 0)
            cut(at, strcspn(at, "\n")); /* whose length differs, too */
    return text;
}

/* A whole report is more than Check can say. */
static void assert_same(const char *is, const char *was)
{
    size_t at = 0;
    while (is[at] != '\0' && is[at] == was[at])
        at++;
    const size_t from = at > 200 ? at - 200 : 0;
    ck_assert_msg(is[at] == was[at], "%.300s\nis\n%.300s", was + from,
                  is + from);
}

static void measure_a_snippet(void)
{
    const struct sonde_bench wish = {.snippet =
                                         "fma.rn.f32 %f0, %f0, %f1, %f2;",
                                     .values = "f1=0.5 f2=1.25"};
    const struct sonde_options options = {.device = "sim:quick"};
    struct sonde_error err = {0};
    struct sonde *s;
    ck_assert_msg(sonde_open(&s, &options, &err) == 0, "%s", err.text);
    ck_assert_msg(sonde_bench(s, &wish, &err) >= 0, "%s", err.text);
    sonde_close(s, NULL);
}

START_TEST(nothing_depends_on_the_language)
{
    char *plain[FORMATS];
    for (size_t i = 0; i < FORMATS; i++)
        plain[i] = report_of(formats[i]);
    const bool german = speak_german();
    char comma[8];
    snprintf(comma, sizeof comma, "%.1f", 1.5);
    ck_assert(!german || strcmp(comma, "1,5") == 0);
    for (size_t i = 0; i < FORMATS; i++) {
        char *const now = report_of(formats[i]);
        assert_same(now, plain[i]);
        free(now);
        free(plain[i]);
    }
    if (!german)
        SKIP("no locale with a decimal comma");
    measure_a_snippet();
    /* And it is taken back: the program still speaks its own. */
    snprintf(comma, sizeof comma, "%.1f", 1.5);
    ck_assert_str_eq(comma, "1,5");
}
END_TEST

Suite *suite_numeric(void)
{
    TCase *t;
    Suite *const suite = suite_of("numeric", 60, &t);
    tcase_add_test(t, nothing_depends_on_the_language);
    return suite;
}
