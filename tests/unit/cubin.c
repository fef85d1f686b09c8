/* The reader of cubins: what is in good ones, and that it survives others. */
#include "ptx/sass/cubin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "testing.h"
#include "unit/cubins.h"

/* What was found is in the file. */
static void assert_inside(const struct cubin *c, const char *file,
                          size_t length)
{
    const unsigned char *const start = (const unsigned char *)file;
    ck_assert(c->text >= start && c->bytes <= length);
    ck_assert((size_t)(c->text - start) <= length - c->bytes);
}

/* Refuses with ERR_FILE or ERR_UNSUPPORTED, or finds what is in the file. */
static void assert_survives(const char *file, size_t length)
{
    struct cubin cubin;
    struct error err;
    const int status = cubin_read(file, length, "timed", &cubin, &err);
    if (status == 0)
        assert_inside(&cubin, file, length);
    else
        ck_assert(status == ERR_FILE || status == ERR_UNSUPPORTED);
}

static void assert_damaged(const struct buf *file, const char *word)
{
    struct cubin cubin;
    struct error err;
    ASSERT_FAILS(cubin_read(file->data, file->length, "timed", &cubin, &err),
                 ERR_FILE, err, word);
}

static Elf64_Ehdr head_of(const struct buf *file)
{
    Elf64_Ehdr head;
    memcpy(&head, file->data, sizeof head);
    return head;
}

static void put_head(struct buf *file, const Elf64_Ehdr *head)
{
    memcpy(file->data, head, sizeof *head);
}

START_TEST(a_kernel_and_its_architecture_are_found)
{
    static const struct {
        const char *name;
        unsigned sm;
    } rows[] = {
        {"chain-sm_75",  75 },
        {"chain",        90 },
        {"chain-sm_120", 120}
    };
    struct buf file = cubin_bytes(rows[_i].name);
    struct cubin cubin;
    struct error err;
    ASSERT_DONE(cubin_read(file.data, file.length, "timed", &cubin, &err), err);
    ck_assert_uint_eq(cubin.sm, rows[_i].sm);
    ck_assert_uint_gt(cubin.bytes, 40 * 16);
    ck_assert_uint_eq(cubin.bytes % 128, 0);
    assert_inside(&cubin, file.data, file.length);
    buf_free(&file);
}
END_TEST

START_TEST(older_files_have_the_architecture_in_another_byte)
{
    struct buf file = cubin_bytes("chain");
    Elf64_Ehdr head = head_of(&file);
    head.e_ident[EI_ABIVERSION] = 7;
    head.e_flags = 0x560556; /* as toolkit 12 has it for sm_86 */
    put_head(&file, &head);
    struct cubin cubin;
    struct error err;
    ASSERT_DONE(cubin_read(file.data, file.length, "timed", &cubin, &err), err);
    ck_assert_uint_eq(cubin.sm, 0x56);
    buf_free(&file);
}
END_TEST

START_TEST(a_kernel_that_is_not_there_is_named)
{
    static const char *const others[] = {"tim", "timed2", ""};
    struct buf file = cubin_bytes("chain");
    struct cubin cubin;
    struct error err;
    ASSERT_FAILS(cubin_read(file.data, file.length, others[_i], &cubin, &err),
                 ERR_UNSUPPORTED, err, others[_i]);
    buf_free(&file);
}
END_TEST

START_TEST(machine_code_before_sm_70_is_not_read)
{
    struct buf file = cubin_bytes("chain");
    Elf64_Ehdr head = head_of(&file);
    head.e_flags = 61 << 8;
    put_head(&file, &head);
    struct listing listing;
    struct error err;
    ASSERT_FAILS(listing_read(file.data, file.length, "timed", &listing, &err),
                 ERR_UNSUPPORTED, err, "machine code not read: that of sm_61");
    buf_free(&file);
}
END_TEST

START_TEST(a_file_of_another_kind_is_refused_with_a_reason)
{
    struct buf file = cubin_bytes("chain");
    const Elf64_Ehdr good = head_of(&file);
    Elf64_Ehdr head = good;
    head.e_ident[EI_MAG1] = 'F';
    put_head(&file, &head);
    assert_damaged(&file, "begin");
    head = good;
    head.e_ident[EI_CLASS] = ELFCLASS32;
    put_head(&file, &head);
    assert_damaged(&file, "64 bits");
    head = good;
    head.e_machine = EM_X86_64;
    put_head(&file, &head);
    assert_damaged(&file, "another machine");
    head = good;
    head.e_shentsize = 40;
    put_head(&file, &head);
    assert_damaged(&file, "section headers");
    head = good;
    head.e_shstrndx = head.e_shnum;
    put_head(&file, &head);
    assert_damaged(&file, "names");
    buf_free(&file);
}
END_TEST

START_TEST(section_headers_outside_the_file_are_refused)
{
    static const uint64_t places[] = {UINT64_MAX, UINT64_MAX - 63,
                                      (uint64_t)1 << 63, 1 << 20};
    struct buf file = cubin_bytes("chain");
    Elf64_Ehdr head = head_of(&file);
    head.e_shoff = places[_i];
    put_head(&file, &head);
    assert_damaged(&file, "damaged");
    buf_free(&file);
}
END_TEST

START_TEST(a_file_may_end_anywhere)
{
    struct buf file = cubin_bytes("chain");
    for (size_t length = 0; length < file.length; length++) {
        /* On the heap, so that a sanitizer sees what is read past its end. */
        char *const part = xmalloc(length + 1);
        memcpy(part, file.data, length);
        assert_survives(part, length);
        free(part);
    }
    struct cubin cubin;
    struct error err;
    ck_assert_int_eq(cubin_read(file.data, 63, "timed", &cubin, &err),
                     ERR_FILE);
    ck_assert_int_eq(cubin_read(file.data, 64, "timed", &cubin, &err),
                     ERR_FILE);
    buf_free(&file);
}
END_TEST

START_TEST(any_byte_may_be_wrong)
{
    static const char flips[] = {1, (char)0x80, (char)0xff};
    struct buf file = cubin_bytes("chain");
    for (size_t i = 0; i < file.length; i++)
        for (size_t k = 0; k < sizeof flips; k++) {
            file.data[i] = (char)(file.data[i] ^ flips[k]);
            assert_survives(file.data, file.length);
            file.data[i] = (char)(file.data[i] ^ flips[k]);
        }
    buf_free(&file);
}
END_TEST

Suite *suite_cubin(void)
{
    TCase *t;
    Suite *const suite = suite_of("cubin", 20, &t);
    tcase_add_loop_test(t, a_kernel_and_its_architecture_are_found, 0, 3);
    tcase_add_test(t, older_files_have_the_architecture_in_another_byte);
    tcase_add_loop_test(t, a_kernel_that_is_not_there_is_named, 0, 3);
    tcase_add_test(t, machine_code_before_sm_70_is_not_read);
    tcase_add_test(t, a_file_of_another_kind_is_refused_with_a_reason);
    tcase_add_loop_test(t, section_headers_outside_the_file_are_refused, 0, 4);
    tcase_add_test(t, a_file_may_end_anywhere);
    tcase_add_test(t, any_byte_may_be_wrong);
    return suite;
}
