/*
 * hwloc-annotate commands: by a grammar of the shell's words (POSIX, 2.2), and
 * by hwloc itself where it is installed (utils/hwloc/hwloc-annotate.c; tried
 * with 2.9.0).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "report/report.h"
#include "testing.h"

/* ---- a reader of the script --------------------------------------------- */

struct info {
    char *name, *value;
};

struct script {
    struct info *infos;
    size_t count;
};

/* A word of quoted parts, and of signs with a stroke before them, ends at a
 * blank or the line's end; the caller frees. */
static char *word(const char **at)
{
    struct buf out = {0};
    const char *c = *at;
    buf_text(&out, "");
    while (*c != ' ' && *c != '\n') {
        if (*c == '\'')
            for (c++; *c != '\''; c++) {
                ck_assert(*c >= ' ' && *c <= '~');
                buf_append(&out, c, 1);
            }
        else {
            ck_assert_msg(*c == '\\', "'%c' outside of quotes", *c);
            buf_append(&out, ++c, 1);
        }
        c++;
    }
    *at = c;
    return buf_take(&out);
}

static void take_info(struct script *s, const char *line)
{
    struct info i;
    i.name = word(&line);
    ck_assert_int_eq(*line++, ' ');
    i.value = word(&line);
    ck_assert_int_eq(*line, '\n');
    s->infos = xreallocarray(s->infos, s->count + 1, sizeof *s->infos);
    s->infos[s->count++] = i;
}

/* After the head each line is an info or a comment. */
static struct script script_read(const char *text)
{
    static const char last[] = "info() {";
    struct script s = {0};
    const char *line = strstr(text, last);
    ck_assert_ptr_nonnull(line);
    for (line = strchr(line, '\n') + 1; *line != '\0';
         line = strchr(line, '\n') + 1)
        if (strncmp(line, "info ", 5) == 0)
            take_info(&s, line + 5);
        else
            ck_assert_int_eq(*line, '#');
    return s;
}

static const char *value_of(const struct script *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->infos[i].name, name) == 0)
            return s->infos[i].value;
    return NULL;
}

static void script_free(struct script *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->infos[i].name);
        free(s->infos[i].value);
    }
    free(s->infos);
}

/* ---- reports ----------------------------------------------------------- */

static void add(struct results *r, const char *id, double number,
                const char *unit)
{
    finding_set(results_add(r, id, "test"), STATUS_MEASURED,
                value_number(number), unit);
}

static char *written(const struct results *r)
{
    struct buf out = {0};
    struct error err = {0};
    const struct report_style plain = {0};
    ASSERT_DONE(report_format_find("hwloc.sh")->write(r, &plain, &out, &err),
                err);
    return buf_take(&out);
}

START_TEST(what_has_a_value_is_an_attribute)
{
    struct results r = {0};
    add(&r, "memory.size", 150109880320.0, "B");
    add(&r, "l1.latency", 32.25, "cycles");
    add(&r, "isa.add.u32.latency.O3", 4, "cycles");
    struct finding *const f = results_add(&r, "l2.size", "test");
    finding_set(f, STATUS_IN_DOUBT, value_number(61527680), "B");
    finding_because(f, "of this and that");
    char *const text = written(&r);
    struct script s = script_read(text);
    ck_assert_uint_eq(s.count, 3);
    ck_assert_ptr_nonnull(value_of(&s, "sonde.by"));
    ck_assert_str_eq(value_of(&s, "sonde.memory.size"), "150109880320 B");
    ck_assert_str_eq(value_of(&s, "sonde.l1.latency"), "32.25 cycles");
    ck_assert_ptr_nonnull(
        strstr(text, "# l2.size is in doubt 61527680 B: of this and that\n"));
    script_free(&s);
    free(text);
    results_free(&r);
}
END_TEST

START_TEST(no_text_becomes_a_command)
{
    static const char *const hostile[] = {
        "'; touch owned; '", "$(touch owned)", "`touch owned`\n touch owned",
        "\\'\n\"; touch owned #", "\033[31m\302\205\xff\r\ntouch owned"};
    for (size_t i = 0; i < COUNT_OF(hostile); i++) {
        struct results r = {0};
        struct buf id = {0};
        results_device(&r, "name", value_text(hostile[i]));
        results_device(&r, "pci", value_text(hostile[i]));
        buf_printf(&id, "l1.%s", hostile[i]);
        add(&r, buf_string(&id), 1, hostile[i]);
        finding_none(results_add(&r, "l2.size", "test"), "%s", hostile[i]);
        finding_set(results_add(&r, "l1.policy", "test"), STATUS_MEASURED,
                    value_text(hostile[i]), "");
        char *const text = written(&r);
        struct script s = script_read(text);
        ck_assert_uint_eq(s.count, 3);
        const char *place = strstr(text, "\ngpu=") + 5;
        free(word(&place));
        ck_assert_int_eq(*place, '\n');
        for (const char *c = text; *c != '\0'; c++)
            ck_assert((*c >= ' ' && *c <= '~') || *c == '\n');
        script_free(&s);
        free(text);
        buf_free(&id);
        results_free(&r);
    }
}
END_TEST

START_TEST(an_h200_is_read)
{
    struct results r = {0};
    struct error err = {0};
    struct buf file = {0};
    ASSERT_DONE(file_read("results/h200.json", 64 << 20, &file, &err), err);
    ASSERT_DONE(report_read(buf_string(&file), "h200", &r, &err), err);
    char *const text = written(&r);
    struct script s = script_read(text);
    ck_assert_str_eq(value_of(&s, "sonde.l1.size"), "246784 B");
    ck_assert_ptr_null(value_of(&s, "sonde.l2.size"));
    script_free(&s);
    free(text);
    buf_free(&file);
    results_free(&r);
}
END_TEST

/* ---- hwloc itself ------------------------------------------------------ */

/* A machine of one processor and one GPU at 0000:00:06.0. */
static const char machine[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
    "<object type=\"Machine\" os_index=\"0\" cpuset=\"0x1\" "
    "complete_cpuset=\"0x1\" allowed_cpuset=\"0x1\" nodeset=\"0x1\" "
    "complete_nodeset=\"0x1\" allowed_nodeset=\"0x1\" gp_index=\"1\">\n"
    "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x1\" "
    "complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "
    "gp_index=\"2\" local_memory=\"1048576\"/>\n"
    "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
    "nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"3\"/>\n"
    "<object type=\"Bridge\" gp_index=\"4\" bridge_type=\"0-1\" depth=\"0\" "
    "bridge_pci=\"0000:[00-00]\">\n<object type=\"PCIDev\" gp_index=\"5\" "
    "pci_busid=\"0000:00:06.0\" pci_type=\"0302 [10de:2335] [10de:18be] a1\" "
    "pci_link_speed=\"0.0\"/>\n</object>\n</object>\n</topology>\n";

static void put_file(const char *folder, const char *name, const char *text)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", folder, name);
    FILE *const file = fopen(buf_string(&path), "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    buf_free(&path);
}

/* Runs it in the folder; the status. */
static int shell(const char *folder, const char *command)
{
    struct buf line = {0};
    buf_printf(&line, "cd '%s' && { %s; } >out 2>&1", folder, command);
    const int status = system(buf_string(&line));
    buf_free(&line);
    return status;
}

static void leave(const char *folder)
{
    ck_assert_int_eq(shell(folder, "rm -f x.sh in.xml a.xml"), 0);
    struct buf out = {0};
    buf_printf(&out, "%s/out", folder);
    unlink(buf_string(&out));
    buf_free(&out);
    ck_assert_int_eq(rmdir(folder), 0);
}

START_TEST(hwloc_takes_it)
{
    char folder[] = "/tmp/sonde-hwloc-XXXXXX";
    struct results r = {0};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    if (shell(folder, "hwloc-annotate --version && hwloc-info --version") !=
        0) {
        leave(folder);
        SKIP("hwloc-annotate is not installed: no script was run");
    }
    results_device(&r, "pci", value_text("0000:00:06.0"));
    add(&r, "l1.size", 246784, "B");
    finding_set(results_add(&r, "l1.policy", "test"), STATUS_MEASURED,
                value_text("a'b\"<&>"), "");
    char *const text = written(&r);
    put_file(folder, "x.sh", text);
    put_file(folder, "in.xml", machine);
    ck_assert_int_eq(shell(folder, "sh x.sh in.xml a.xml"), 0);
    ck_assert_int_eq(shell(folder, "hwloc-info -i a.xml pci=0000:00:06.0 | "
                                   "grep -F 'info sonde.l1.size = 246784 B'"),
                     0);
    ck_assert_int_eq(shell(folder,
                           "hwloc-info -i a.xml pci=0000:00:06.0 | "
                           "grep -F \"info sonde.l1.policy = a'b\\\"<&>\""),
                     0);
    ck_assert_int_ne(shell(folder, "sh x.sh in.xml b.xml pci=0000:00:09.0"), 0);
    ck_assert_int_eq(shell(folder, "test ! -e b.xml"), 0);
    leave(folder);
    free(text);
    results_free(&r);
}
END_TEST

Suite *suite_exchange_hwloc(void)
{
    TCase *tests;
    Suite *const suite = suite_of("exchange_hwloc", 30, &tests);
    tcase_add_test(tests, what_has_a_value_is_an_attribute);
    tcase_add_test(tests, no_text_becomes_a_command);
    tcase_add_test(tests, an_h200_is_read);
    tcase_add_test(tests, hwloc_takes_it);
    return suite;
}
