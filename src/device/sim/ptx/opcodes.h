/*
 * The PTX that the simulator knows, as tables: one row an opcode, one row a
 * modifier.  Adding an instruction is a row here and its act in alu.c or
 * execute.c.
 */
#ifndef SONDE_DEVICE_SIM_PTX_OPCODES_H
#define SONDE_DEVICE_SIM_PTX_OPCODES_H

#include "device/sim/ptx/program.h"

/* What an instruction computes; alu_find gives the function by type. */
enum alu_code {
    ALU_NONE,
    ALU_ADD,
    ALU_SUB,
    ALU_MUL, /* of floats; integers name a part: */
    ALU_MUL_LO,
    ALU_MUL_HI,
    ALU_MUL_WIDE,
    ALU_MAD, /* of floats */
    ALU_MAD_LO,
    ALU_MAD_HI,
    ALU_MAD_WIDE,
    ALU_MUL24, /* with the part: */
    ALU_MUL24_LO,
    ALU_MUL24_HI,
    ALU_MAD24,
    ALU_MAD24_LO,
    ALU_MAD24_HI,
    ALU_DIV,
    ALU_REM,
    ALU_MIN,
    ALU_MIN_NAN, /* with .NaN added */
    ALU_MAX,
    ALU_MAX_NAN,
    ALU_NEG,
    ALU_ABS,
    ALU_AND,
    ALU_OR,
    ALU_XOR,
    ALU_NOT,
    ALU_CNOT,
    ALU_SHL,
    ALU_SHR,
    ALU_SHF_L,
    ALU_SHF_R,
    ALU_POPC,
    ALU_CLZ,
    ALU_BFIND,
    ALU_BFIND_SHIFTAMT, /* with .shiftamt added */
    ALU_BREV,
    ALU_BFE,
    ALU_BFI,
    ALU_PRMT,
    ALU_BMSK,
    ALU_SZEXT,
    ALU_FNS,
    ALU_LOP3,
    ALU_SAD,
    ALU_DP4A,
    ALU_DP2A, /* with the part: */
    ALU_DP2A_LO,
    ALU_DP2A_HI,
    ALU_SQRT,
    ALU_RCP,
    ALU_RSQRT,
    ALU_SIN,
    ALU_COS,
    ALU_LG2,
    ALU_EX2,
    ALU_TANH,
    ALU_COPYSIGN,
    ALU_TESTP,
    ALU_MOV,
    ALU_PACK,
    ALU_UNPACK,
    ALU_SELP,
    ALU_SLCT,
    ALU_CVT,
    ALU_CVTA,
    ALU_ISSPACEP,
    ALU_SET,  /* by the type of its result */
    ALU_SETP, /* with the comparison added: */
    ALU_SETP_LAST = ALU_SETP + 17,
    ALU_COUNT
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

/* Kinds of modifier; an opcode's row says which it takes. */
enum modifier_group {
    GROUP_ROUND,
    GROUP_FTZ,
    GROUP_SAT,
    GROUP_RELU,
    GROUP_NAN,
    GROUP_CARRY,
    GROUP_APPROX,
    GROUP_PART,
    GROUP_COMPARE,
    GROUP_BOOLEAN,
    GROUP_TEST,
    GROUP_REDUCTION,
    GROUP_SPACE,
    GROUP_CACHE,
    GROUP_VECTOR,
    GROUP_ORDER,
    GROUP_SCOPE,
    GROUP_ATOMIC,
    GROUP_UNI,
    GROUP_SYNC,
    GROUP_ALIGNED,
    GROUP_SHUFFLE,
    GROUP_VOTE,
    GROUP_TO,
    GROUP_DIRECTION,
    GROUP_WRAP,
    GROUP_PERMUTE,
    GROUP_SHIFTAMT,
    GROUP_HINT,
    GROUP_GEOMETRY,
    GROUP_SHAPE,
    GROUP_LAYOUT, /* of A, then of B */
    GROUP_BULK,
    GROUP_FROM, /* the space that is copied from */
    GROUP_COMPLETION,
    GROUP_EXPECT,
    GROUP_PARITY,
    GROUP_PROXY,
    GROUP_COUNT
};

struct modifier {
    const char *name;
    enum modifier_group group;
    uint8_t value;
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
/* The next row after `from` (NULL: the first) of that name. */
const struct modifier *modifier_find(const struct modifier *from,
                                     const char *name, size_t length);
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
