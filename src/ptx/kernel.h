/*
 * The builder of PTX text.  A kernel is written into a buffer: header for the
 * device's architecture, module variables, entry with 64-bit parameters, body.
 * The body is written in blocks of PTX as it is; where a number or a name comes
 * from the program, a $word stands for it.  Registers have names that say what
 * they hold.  The text is readable and can be printed (`sonde ptx`).
 *
 *     struct kernel_text k;
 *     kernel_begin(&k, out, 90, .name = "chase", .parameters = "jobs out");
 *     ptx(&k, ".reg .b64 %jobs, %first;\n"
 *             "ld.param.u64 %jobs, [jobs];\n");
 *     ptx_with(&k, "ld.global.u64 %first, [%jobs+$start];",
 *              WORD(start, 8 * JOB_START));
 *     kernel_end(&k);
 */
#ifndef SONDE_PTX_KERNEL_H
#define SONDE_PTX_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* What a $word of a block stands for. */
struct ptx_word {
    const char *name;
    const char *text; /* NULL: the number */
    char number[24];
};

enum { KERNEL_WORDS = 24 };

struct kernel_text {
    struct buf *out;
    struct ptx_word words[KERNEL_WORDS + 1]; /* those of all blocks */
    size_t word_count;
};

/*
 * The parameters of a kernel, in one list: a struct that takes what is handed
 * to them (SHOT_ARGUMENTS of probe/run/shot.h), and their names as a text.
 *
 *     KERNEL_PARAMETERS(chase_arguments, jobs, out);
 *     … .parameters = chase_arguments_names …
 */
#define KERNEL_PARAMETERS(tag, ...)                                            \
    struct tag {                                                               \
        uint64_t __VA_ARGS__;                                                  \
    };                                                                         \
    static const char tag##_names[] __attribute__((unused)) = #__VA_ARGS__

/* How a kernel begins. */
struct kernel_head {
    const char *name;       /* of the entry */
    const char *parameters; /* names; each is a .param .u64 */
    const char *variables;  /* of the module, as text; NULL: none */
    const char *least; /* no PTX version before knows the body; NULL: any */
    bool only;         /* only this architecture has it: target sm_90a */
    /* The assembler shall see to it that so many blocks of so many threads find
     * registers on an SM at once; 0: however many do. */
    unsigned resident_blocks, threads;
};

/* `cc` is the device's compute capability, 75 for 7.5.  It is the target; the
 * PTX version is the lowest that knows it, so that old drivers take it too. */
void kernel_open(struct kernel_text *k, struct buf *out, int cc,
                 const struct kernel_head *head);
/* With the fields of the head in place. */
#define kernel_begin(k, out, cc, ...)                                          \
    kernel_open(k, out, cc, &(struct kernel_head){__VA_ARGS__})
void kernel_end(struct kernel_text *k);

/*
 * Lines of the body, each but the last ended with \n.  They are indented; a
 * label (a line that ends in ':') stands at the left.
 */
void ptx(struct kernel_text *k, const char *text);
/* The same so many times over, for $i from 0 on. */
void ptx_times(struct kernel_text *k, unsigned count, const char *text);
/* A comment line that says why. */
void ptx_note(struct kernel_text *k, const char *text);

struct ptx_word ptx_word_text(const char *name, const char *text);
struct ptx_word ptx_word_signed(const char *name, int64_t number);
struct ptx_word ptx_word_unsigned(const char *name, uint64_t number);

/* WORD(start, 8 * JOB_START): $start is that number.  A text stands for itself
 * and is not looked into. */
#define WORD(name, value)                                                      \
    _Generic((value),                                                          \
        char *: ptx_word_text,                                                 \
        const char *: ptx_word_text,                                           \
        unsigned long: ptx_word_unsigned,                                      \
        unsigned long long: ptx_word_unsigned,                                 \
        default: ptx_word_signed)(#name, value)

/* The same with words: $name, or ${name} where a letter follows.  Each word
 * of the text must be given. */
#define ptx_with(k, text, ...)                                                 \
    ptx_substitute(k, text, (const struct ptx_word[]){__VA_ARGS__, {0}})
void ptx_substitute(struct kernel_text *k, const char *text,
                    const struct ptx_word *words);
/* Words that all blocks which follow may have. */
#define ptx_words(k, ...)                                                      \
    ptx_define(k, (const struct ptx_word[]){__VA_ARGS__, {0}})
void ptx_define(struct kernel_text *k, const struct ptx_word *words);

/* True if a driver of that version of CUDA ("12.4") takes that PTX version. */
bool kernel_driver_takes(const char *cuda, const char *ptx);

#endif
