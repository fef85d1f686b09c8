/*
 * A program as the simulator runs it: PTX decoded once into an array of ops.
 *
 * Every operand is a register number.  Numbers below `registers` are what the
 * PTX declares (0 is always zero, 1 takes what is thrown away, 2 is the
 * carry of add.cc and its kin); after them
 * come constants: literals, addresses of variables, and the special registers
 * that do not change while a warp runs.  So an op reads its operands without
 * asking what they are.  A register is 64 bits a lane; a narrower value lies
 * in the low bits and the rest is zero.
 */
#ifndef SONDE_DEVICE_SIM_PTX_PROGRAM_H
#define SONDE_DEVICE_SIM_PTX_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device/sim/profile/profile.h"

/* X(id, name, bytes, class): 'b' bits, 'u', 's', 'f', 'p' predicate. */
#define PTX_TYPES(X)                                                           \
    X(PRED, "pred", 1, 'p')                                                    \
    X(B8, "b8", 1, 'b')                                                        \
    X(B16, "b16", 2, 'b')                                                      \
    X(B32, "b32", 4, 'b')                                                      \
    X(B64, "b64", 8, 'b')                                                      \
    X(U8, "u8", 1, 'u')                                                        \
    X(U16, "u16", 2, 'u')                                                      \
    X(U32, "u32", 4, 'u')                                                      \
    X(U64, "u64", 8, 'u')                                                      \
    X(S8, "s8", 1, 's')                                                        \
    X(S16, "s16", 2, 's')                                                      \
    X(S32, "s32", 4, 's')                                                      \
    X(S64, "s64", 8, 's')                                                      \
    X(F16, "f16", 2, 'f')                                                      \
    X(F16X2, "f16x2", 4, 'f')                                                  \
    X(BF16, "bf16", 2, 'f')                                                    \
    X(BF16X2, "bf16x2", 4, 'f')                                                \
    X(TF32, "tf32", 4, 'f')                                                    \
    X(F32, "f32", 4, 'f')                                                      \
    X(F64, "f64", 8, 'f')

enum ptx_type {
    TYPE_NONE,
#define X(id, name, bytes, class) TYPE_##id,
    PTX_TYPES(X)
#undef X
        TYPE_COUNT
};

struct ptx_type_info {
    const char *name;
    unsigned bytes;
    char class;
};

extern const struct ptx_type_info ptx_types[TYPE_COUNT];

/* X(id, name) */
#define PTX_SPACES(X)                                                          \
    X(GENERIC, "generic")                                                      \
    X(GLOBAL, "global")                                                        \
    X(SHARED, "shared")                                                        \
    X(CONST, "const")                                                          \
    X(LOCAL, "local")                                                          \
    X(PARAM, "param")

enum ptx_space {
#define X(id, name) SPACE_##id,
    PTX_SPACES(X)
#undef X
        SPACE_COUNT
};

extern const char *const ptx_spaces[SPACE_COUNT];

/* Generic addresses of shared, local, constant memory: an offset in a window.
 */
#define SHARED_WINDOW ((uint64_t)1 << 56)
#define LOCAL_WINDOW  ((uint64_t)2 << 56)
#define CONST_WINDOW  ((uint64_t)3 << 56)

static inline enum ptx_space generic_space(uint64_t address)
{
    switch (address >> 56) {
    case SHARED_WINDOW >> 56:
        return SPACE_SHARED;
    case LOCAL_WINDOW >> 56:
        return SPACE_LOCAL;
    case CONST_WINDOW >> 56:
        return SPACE_CONST;
    default:
        return SPACE_GLOBAL;
    }
}

/* Special registers: those before SPECIAL_CLOCK are constants of a warp. */
enum ptx_special {
#define SPECIAL(id, name, value) SPECIAL_##id,
#define CLOCK                    SPECIAL
#include "device/sim/ptx/specials.def"
#undef CLOCK
#undef SPECIAL
    SPECIAL_COUNT
};

enum op_kind {
    OP_ALU, /* op->alu does it */
    OP_LOAD,
    OP_STORE,
    OP_ATOMIC,
    OP_TEXTURE,
    OP_CLOCK,
    OP_SHUFFLE,
    OP_VOTE,
    OP_MATCH,
    OP_REDUX,
    OP_ELECT,
    OP_BULK_COPY,
    OP_MBARRIER_INIT,
    OP_MBARRIER_ARRIVE,
    OP_MBARRIER_WAIT,
    OP_MATRIX, /* op->offset is an index of kernel->matrices */
    OP_CALL, /* op->src[0], with op->bytes arguments; op->elements results */
    OP_SLEEP,
    OP_TRAP,
    OP_NOTHING, /* fences, prefetches */
    /* Those that say where a warp goes. */
    OP_BRANCH,
    OP_EXIT,
    OP_BARRIER,
    OP_FIRST_STEERING = OP_BRANCH,
};

enum { OP_SOURCES = 6, OP_DESTINATIONS = 4, OP_WAITS = 17 };
enum { REG_ZERO, REG_SINK, REG_CARRY, REG_FIRST };
enum { NO_REGISTER = -1 };

struct op;

/* Computes op->dst[0…] of the lanes in `mask`; register r of lane l is
 * regs[(r << shift) + l]. */
typedef void alu_fn(const struct op *op, uint64_t *regs, unsigned shift,
                    uint32_t mask);

/* What most instructions need lies in front, within two lines of the host's
 * cache. */
struct op {
    uint8_t kind;
    uint8_t type, from; /* enum ptx_type; `from` is a second one */
    uint8_t space, path;
    uint8_t sub;       /* which shuffle, vote, atomic, comparison, rounding,
                          hint to caches */
    uint8_t elements;  /* of a vector, else 1 */
    uint8_t dst_bytes; /* width of the destination registers */
    uint8_t bytes;     /* of memory that a lane touches */
    uint8_t waits;
    bool guard_inverted, third_inverted, combine, extends;
    bool saturate, relu; /* the result goes to 0 … 1, or not below 0 */
    bool varies;         /* takes `easy_latency` for powers of two in src[1] */
    bool unoptimized;    /* a load that was assembled at -O0 */
    bool direct;         /* loads one element by way of the caches */
    bool anew;           /* loads past all caches what others may write */
    bool passes;         /* hands on a .param of a function: no instruction */
    uint8_t again; /* so many of the next ops go on with its chain: each, as
                      this one, loads a pointer by way of what it loads */
    int32_t guard;       /* NO_REGISTER: none */
    uint32_t pipe;       /* the isa row that keeps time for it */
    uint32_t target;
    uint32_t dst[OP_DESTINATIONS];
    uint32_t src[OP_SOURCES];
    double latency, issue;
    int64_t offset; /* added to the address in src[0] */
    alu_fn *alu;
    uint32_t wait[OP_WAITS]; /* registers that must be ready */
    uint32_t line;
    double easy_latency;
    alu_fn *inner; /* what a wrapper of alu.c wraps */
};

enum constant_kind { CONSTANT_VALUE, CONSTANT_SPECIAL, CONSTANT_ADDRESS };

/* What a register after the declared ones holds. */
struct constant {
    enum constant_kind kind;
    enum ptx_special special;
    enum ptx_space space; /* CONSTANT_ADDRESS: value is an offset there */
    bool dynamic;         /* … from the dynamic shared memory */
    uint64_t value;
};

struct variable {
    char *name;
    enum ptx_space space;
    uint64_t offset, bytes, align;
    bool dynamic; /* .extern .shared: as much as the launch gives */
};

/* The operands of an mma: what op->src has no room for. */
enum { MATRIX_A = 8, MATRIX_B = 4, MATRIX_C = 4 };
struct matrix {
    unsigned m, k;
    enum ptx_type from, to; /* of A and B, of C and D */
    unsigned a_count, b_count, c_count;
    uint32_t a[MATRIX_A], b[MATRIX_B], c[MATRIX_C], d[MATRIX_C];
};

enum { PARAMS_LIMIT = 64, PASSED_MOST = 4 };

/* The registers of a function for what it is given, or gives back. */
struct passed {
    unsigned count;
    uint32_t number[PASSED_MOST];
};

/* … or a function, which computes and does nothing else. */
struct kernel {
    char *name;
    size_t op_count, op_capacity;
    struct op *ops;
    uint32_t registers; /* constants start here */
    size_t constant_count;
    struct constant *constants;
    size_t matrix_count;
    struct matrix *matrices;
    size_t param_count;
    struct variable params[PARAMS_LIMIT];
    uint64_t param_bytes, shared_bytes, local_bytes;
    uint64_t max_threads;         /* .maxntid; 0: none */
    uint64_t required_threads[3]; /* .reqntid; 0: none */
    struct passed arguments, results; /* of a function */
    uint64_t code_address, code_instructions;
    double last_cycles; /* of its last launch; 0: none yet */
    struct module *module;
};

/* The module's variables of one space. */
struct segment {
    uint64_t bytes;
    unsigned char *image; /* initial values; zeros follow */
    uint64_t image_bytes;
    uint64_t address; /* on the device, once loaded; 0: nowhere */
};

/* A word of the .global variables that holds a function's address. */
struct function_pointer {
    uint64_t offset;
    size_t function;
};

struct module {
    size_t kernel_count, variable_count, function_count, pointer_count;
    struct kernel *kernels, *functions;
    struct function_pointer *pointers;
    struct variable *variables; /* of module scope, all spaces */
    struct segment globals, constants;
    uint64_t shared_bytes; /* module-scope .shared, in every block */
};

/* Decodes PTX; frees with module_free.  `level` picks the profile's times. */
int module_parse(const char *ptx, int level, const struct profile *profile,
                 struct module **module, struct error *err);
void module_free(struct module *module);
/* NULL if there is none of that name. */
struct kernel *module_kernel(struct module *module, const char *name);
const struct variable *module_variable(const struct module *module,
                                       const char *name);

#endif
