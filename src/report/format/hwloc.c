/*
 * A shell script of `hwloc-annotate` commands, which put what was found into a
 * topology that hwloc wrote as XML (`lstopo machine.xml`), as info attributes
 * of the GPU.
 *
 * hwloc writes only ASCII into its XML and leaves out the rest.  In the shell
 * a word between single quotes is what it is, but for that sign; so whatever
 * others wrote can end neither the word nor the line.
 */
#include <string.h>

#include "base/mem.h"
#include "report/export/known.h"
#include "report/page.h"
#include "report/report.h"

/* What describes the machine; what it can do under load, and what instructions
 * cost, are lists and hundreds, and stay in the report. */
static const char *const components[] = {
    "sm",       "clock",     "l1",        "texture",   "readonly",   "local",
    "const_l1", "const_l15", "icache_l0", "icache_l1", "icache_l15", "l2",
    "shared",   "dsm",       "memory",    "tlb",       "tlb_l1",     "tlb_l2",
    "tlb_l3",   "link",      "block",     "cluster",   "constant",
};

static bool is_described(const char *id)
{
    for (size_t i = 0; i < COUNT_OF(components); i++) {
        const size_t length = strlen(components[i]);
        if (strncmp(id, components[i], length) == 0 && id[length] == '.')
            return true;
    }
    return false;
}

/* Printable ASCII between single quotes; '?' for all else. */
static void put_quoted(struct buf *out, const char *text)
{
    buf_text(out, "'");
    for (; *text != '\0'; text++)
        if (*text == '\'')
            buf_text(out, "'\\''");
        else if (*text >= ' ' && *text <= '~')
            buf_append(out, text, 1);
        else
            buf_text(out, "?");
    buf_text(out, "'");
}

static void comment(struct buf *out, const char *text)
{
    page_line(&(struct page){.out = out, .ascii = true},
              &(struct line){.rail = "#", .text = text});
}

static void put_info(struct buf *out, const char *name, const char *value)
{
    buf_text(out, "info ");
    put_quoted(out, name);
    buf_text(out, " ");
    put_quoted(out, value);
    buf_text(out, "\n");
}

/* One that has a value is an attribute; one that has none a comment. */
static void put_finding(const struct results *results, const struct finding *f,
                        struct buf *out)
{
    struct buf text = {0}, name = {0};
    const bool is_known = known(results, f->id) != NULL;
    if (f->skipped || f->value.kind == VALUE_LIST)
        return;
    if (is_known) {
        known_value(&text, f);
        buf_printf(&name, "sonde.%s", f->id);
        put_info(out, buf_string(&name), buf_string(&text));
    } else {
        known_say(&text, results, f->id);
        comment(out, buf_string(&text));
    }
    buf_free(&text);
    buf_free(&name);
}

static const char *word_of_device(const struct results *results,
                                  const char *name)
{
    const struct value *const v = results_of_device(results, name);
    return v != NULL && v->kind == VALUE_TEXT ? v->text : NULL;
}

/* The object to annotate: where the report says that the GPU is, if it does,
 * and the user says nothing else. */
static void put_place(const struct results *results, struct buf *out)
{
    const char *const pci = word_of_device(results, "pci");
    struct buf place = {0};
    if (pci != NULL)
        buf_printf(&place, "pci=%s", pci);
    buf_text(out, "gpu=");
    put_quoted(out, buf_string(&place));
    buf_text(out, "\n");
    buf_free(&place);
}

/* hwloc-annotate ends well even if there is no such object; hwloc-info then
 * prints nothing. */
static const char beginning[] =
    "set -eu\n"
    "if [ $# -lt 2 ] || { [ $# -lt 3 ] && [ -z \"$gpu\" ]; }; then\n"
    "    echo \"usage: sh $0 IN.xml OUT.xml ${gpu:+[}OBJECT${gpu:+]}\" >&2\n"
    "    exit 2\n"
    "fi\n"
    "out=$2 gpu=${3:-$gpu}\n"
    "if [ -z \"$(hwloc-info -i \"$1\" \"$gpu\" 2>/dev/null)\" ]; then\n"
    "    echo \"$0: $1 has no object $gpu\" >&2\n"
    "    exit 1\n"
    "fi\n"
    "hwloc-annotate \"$1\" \"$out\" \"$gpu\" none\n"
    "info() { hwloc-annotate --ri \"$out\" \"$out\" \"$gpu\" info \"$1\" "
    "\"$2\"; "
    "}\n";

static void put_head(const struct results *results, struct buf *out)
{
    const char *const name = word_of_device(results, "name");
    struct buf text = {0}, by = {0};
    known_origin(&by, results);
    buf_text(out, "#!/bin/sh\n");
    buf_printf(&text, "What was found of %s by %s.",
               name != NULL ? name : "a GPU", buf_string(&by));
    comment(out, buf_string(&text));
    comment(out, "lstopo machine.xml; sh THIS machine.xml annotated.xml; "
                 "lstopo -v -i annotated.xml. OBJECT is the GPU as hwloc(7) "
                 "names it: pci=0000:01:00.0, os=cuda0. Lists, instructions "
                 "and what is found under load are in the report alone.");
    put_place(results, out);
    buf_text(out, beginning);
    put_info(out, "sonde.by", buf_string(&by));
    buf_free(&text);
    buf_free(&by);
}

static int hwloc_write(const struct results *results,
                       const struct report_style *style, struct buf *out,
                       struct error *err)
{
    (void)style; /* a shell reads it */
    (void)err;
    put_head(results, out);
    for (size_t i = 0; i < results->finding_count; i++)
        if (is_described(results->findings[i]->id))
            put_finding(results, results->findings[i], out);
    return 0;
}

const struct report_format report_hwloc = {
    .name = "hwloc.sh",
    .summary = "hwloc-annotate commands, for lstopo",
    .write = hwloc_write,
};
