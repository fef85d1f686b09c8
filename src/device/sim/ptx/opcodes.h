/*
 * The PTX that the simulator knows, as tables: one row an opcode, one row a
 * modifier.  Adding an instruction is a row here and its act in alu.c, with a
 * row of alu.def, or in execute.c.
 */
#ifndef SONDE_DEVICE_SIM_PTX_OPCODES_H
#define SONDE_DEVICE_SIM_PTX_OPCODES_H

#include "device/sim/ptx/program.h"

/* What an instruction computes; alu_find gives the function by type. */
enum alu_code {
    ALU_NONE,
#define ALU(id, ...) ALU_##id,
#include "device/sim/ptx/alu.def"
#undef ALU
    ALU_COUNT,
    ALU_SETP = ALU_SETP_EQ
};

/* X(id, name): how setp and set compare; ALU_SETP + id is the code. */
#define PTX_COMPARISONS(X)                                                     \
    X(EQ, "eq")                                                                \
    X(NE, "ne")                                                                \
    X(LT, "lt")                                                                \
    X(LE, "le")                                                                \
    X(GT, "gt")                                                                \
    X(GE, "ge")                                                                \
    X(LO, "lo")                                                                \
    X(LS, "ls")                                                                \
    X(HI, "hi")                                                                \
    X(HS, "hs")                                                                \
    X(EQU, "equ")                                                              \
    X(NEU, "neu")                                                              \
    X(LTU, "ltu")                                                              \
    X(LEU, "leu")                                                              \
    X(GTU, "gtu")                                                              \
    X(GEU, "geu")                                                              \
    X(NUM, "num")                                                              \
    X(NAN, "nan")

enum ptx_comparison {
#define X(id, name) COMPARE_##id,
    PTX_COMPARISONS(X)
#undef X
        COMPARE_COUNT
};

enum ptx_rounding {
    ROUND_RN = 1, /* 0: none written */
    ROUND_RZ,
    ROUND_RM,
    ROUND_RP,
    ROUND_RNI,
    ROUND_RZI,
    ROUND_RMI,
    ROUND_RPI,
};

enum ptx_atomic {
    ATOMIC_ADD,
    ATOMIC_EXCH,
    ATOMIC_CAS,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_INC,
    ATOMIC_DEC,
};

/* Rows of A and depth of a matrix product in a modifier's value. */
#define SHAPE(m, k)    ((m) / 8 << 4 | (k) / 4)
#define SHAPE_M(value) (8u * ((value) >> 4))
#define SHAPE_K(value) (4u * ((value)&15))

enum ptx_shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX };
enum ptx_vote { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT, VOTE_ACTIVE };
enum ptx_test {
    TEST_FINITE,
    TEST_INFINITE,
    TEST_NUMBER,
    TEST_NOTANUMBER,
    TEST_NORMAL,
    TEST_SUBNORMAL,
};

/* What bar.red makes of the threads' predicates. */
enum ptx_reduction { REDUCTION_POPC, REDUCTION_AND, REDUCTION_OR };
enum ptx_boolean { BOOLEAN_AND, BOOLEAN_OR, BOOLEAN_XOR };
enum ptx_part { PART_LO = 1, PART_HI, PART_WIDE };
/* Bits of GROUP_HINT: what L2 is told, the policy of an operand among it. */
enum ptx_hint {
    HINT_FETCH_64 = 1,
    HINT_FETCH_128 = 2,
    HINT_FETCH_256 = 4,
    HINT_FIRST = 8,
    HINT_NORMAL = 16,
    HINT_LAST = 32,
    HINT_UNCHANGED = 64,
    HINT_POLICY = 128,
};
enum ptx_cache_op {
    CACHE_OP_CA,
    CACHE_OP_CG,
    CACHE_OP_CS,
    CACHE_OP_LU,
    CACHE_OP_CV,
    CACHE_OP_NC,
    CACHE_OP_WB,
    CACHE_OP_WT,
};

/* X(id, what one is, or NULL): kinds of modifier; an opcode's row says which it
 * takes.  Of several that lack, the first is said.  LAYOUT is of A, then of B. */
#define MODIFIER_GROUPS(X)                                                     \
    X(PART, ".lo, .hi or .wide")                                               \
    X(ROUND, "a rounding, as .rn")                                             \
    X(APPROX, ".approx")                                                       \
    X(SPACE, "a state space")                                                  \
    X(COMPARE, "a comparison")                                                 \
    X(ATOMIC, "an operation")                                                  \
    X(SYNC, ".sync")                                                           \
    X(SHUFFLE, ".up, .down, .bfly or .idx")                                    \
    X(VOTE, ".all, .any, .uni or .ballot")                                     \
    X(DIRECTION, ".l or .r")                                                   \
    X(WRAP, ".wrap or .clamp")                                                 \
    X(GEOMETRY, ".1d")                                                         \
    X(SHAPE, "a shape, as .m16n8k16")                                          \
    X(LAYOUT, ".row.col")                                                      \
    X(VECTOR, ".v4")                                                           \
    X(SCOPE, "a scope")                                                        \
    X(HINT, "a cache level")                                                   \
    X(TEST, "a property, as .finite")                                          \
    X(REDUCTION, ".popc, .and or .or")                                         \
    X(BULK, ".bulk")                                                           \
    X(FROM, "a state space to copy from")                                      \
    X(COMPLETION, ".mbarrier::complete_tx::bytes")                             \
    X(EXPECT, ".expect_tx")                                                    \
    X(PARITY, ".parity")                                                       \
    X(PROXY, ".async")                                                         \
    X(FTZ, NULL)                                                               \
    X(SAT, NULL)                                                               \
    X(RELU, NULL)                                                              \
    X(NAN, NULL)                                                               \
    X(CARRY, NULL)                                                             \
    X(BOOLEAN, NULL)                                                           \
    X(CACHE, NULL)                                                             \
    X(ORDER, NULL)                                                             \
    X(UNI, NULL)                                                               \
    X(ALIGNED, NULL)                                                           \
    X(TO, NULL)                                                                \
    X(PERMUTE, NULL)                                                           \
    X(SHIFTAMT, NULL)

enum modifier_group {
#define X(id, example) GROUP_##id,
    MODIFIER_GROUPS(X)
#undef X
        GROUP_COUNT
};

struct modifier {
    enum modifier_group group;
    uint8_t value;
    size_t row; /* where the search goes on */
};

/*
 * Operands, a letter each:
 *   d  destination of the type          D  the same, twice as wide with .wide
 *   r  destination of 32 bits           P  predicate, optionally |second
 *   a  source of the type               A  the same, twice as wide with .wide
 *   f  source of the second type        u  source of 32 bits
 *   q  source predicate, ! allowed      i  literal
 *   v  destination or {vector}          w  source or {vector}
 *   m  [address]                        l  label
 *   k  [register], a further address
 *   x  [texture, coordinate]            ?  the one before may be missing
 *   M  d or {…} and a or {…} of mov
 *   s  d and optionally |predicate      R  r and optionally |predicate
 *   F  the fragments of a matrix product: {D}, {A}, {B}, {C}
 *   p  destination predicate            g  source of 64 bits
 *   c  no operand: the carry is read    n  number of threads, may be missing
 *   e  no operand: the hint's own bits
 *   C  (results), address, (arguments), prototype
 * Sources go to op->src in their order; the first address always to
 * src[0].
 */
struct opcode {
    const char *name; /* some have two words */
    const char *operands;
    enum op_kind kind;
    uint8_t code;           /* enum alu_code */
    uint8_t types;          /* how many type modifiers it takes */
    uint64_t takes;         /* modifier groups, as bits */
    uint64_t needs;         /* those that must be there */
    uint64_t needs_integer; /* … if the type is an integer */
    uint64_t needs_float;   /* … if it is a float: one of these */
};

/* NULL if there is none; `name` is not terminated. */
const struct opcode *opcode_find(const char *name, size_t length);
/* The next group that knows the word, from m->row on; false: there is none. */
bool modifier_find(struct modifier *m, const char *name, size_t length);
/* NULL-terminated, for the nearest name. */
extern const char *const opcode_names[];

/* NULL if the instruction does not take that type; the same with a carry, and
 * with .sat of integers. */
alu_fn *alu_find(unsigned code, enum ptx_type type);
alu_fn *alu_find_carrying(unsigned code, enum ptx_type type);
alu_fn *alu_find_saturating(unsigned code, enum ptx_type type);
/* Wrappers around op->inner. */
alu_fn alu_adjusted, alu_combined;

#endif
