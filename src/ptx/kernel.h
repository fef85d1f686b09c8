/*
 * The builder of PTX text.  A kernel is written line by line into a buffer:
 * header for the device's architecture, module variables, entry with 64-bit
 * parameters, body.  Registers have names that say what they hold.  The text
 * is readable and can be printed (`sonde ptx`).
 *
 *     struct kernel_text k;
 *     kernel_begin(&k, out, 9, 0, "", "chase", "jobs out");
 *     kernel_line(&k, ".reg .b64 %%jobs;");
 *     kernel_line(&k, "ld.param.u64 %%jobs, [jobs];");
 *     kernel_end(&k);
 */
#ifndef SONDE_PTX_KERNEL_H
#define SONDE_PTX_KERNEL_H

#include <stdbool.h>

#include "base/buf.h"

struct kernel_text {
    struct buf *out;
};

/*
 * Header, the module's `variables` (text, may be empty), and the opening of
 * `.visible .entry NAME` with one .u64 parameter for each word of
 * `parameters`.  The target is the device's own architecture, the PTX version
 * the lowest that knows it, so that old drivers take it too.
 */
void kernel_begin(struct kernel_text *k, struct buf *out, int cc_major,
                  int cc_minor, const char *variables, const char *name,
                  const char *parameters);
/* The same for a body that no PTX version before `least` ("7.0") knows; NULL:
 * any does. */
void kernel_begin_since(struct kernel_text *k, struct buf *out, int cc_major,
                        int cc_minor, const char *least, const char *variables,
                        const char *name, const char *parameters);
/* The same where the assembler shall see to it that `blocks` blocks of
 * `threads` threads find registers on an SM at once. */
void kernel_begin_resident(struct kernel_text *k, struct buf *out, int cc_major,
                           int cc_minor, const char *least,
                           const char *variables, const char *name,
                           const char *parameters, unsigned threads,
                           unsigned blocks);
/* The same for what only this one architecture has: target sm_90a. */
void kernel_begin_only(struct kernel_text *k, struct buf *out, int cc_major,
                       int cc_minor, const char *least, const char *variables,
                       const char *name, const char *parameters);
/* A line of the body, indented; a label (ending in ':') stands at the left. */
void kernel_line(struct kernel_text *k, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A comment line that says why. */
void kernel_note(struct kernel_text *k, const char *text);
void kernel_end(struct kernel_text *k);

/* True if a driver of that version of CUDA ("12.4") takes that PTX version. */
bool kernel_driver_takes(const char *cuda, const char *ptx);

#endif
