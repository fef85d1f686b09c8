/* The tables of opcodes.h, and how rows are found. */
#include "device/sim/ptx/opcodes.h"

#include <string.h>

#include "base/mem.h"
#include "device/sim/ptx/bits.h"

const struct ptx_type_info ptx_types[TYPE_COUNT] = {
    [TYPE_NONE] = {"", 0, '\0'},
#define X(id, name, bytes, class) [TYPE_##id] = {name, bytes, class},
    PTX_TYPES(X)
#undef X
};

const char *const ptx_spaces[SPACE_COUNT] = {
#define X(id, name) [SPACE_##id] = name,
    PTX_SPACES(X)
#undef X
};

#define G(group) (UINT64_C(1) << GROUP_##group)
#define REAL     (G(ROUND) | G(FTZ))
#define FLOAT    (REAL | G(SAT))
#define MEMORY                                                                 \
    (G(SPACE) | G(CACHE) | G(VECTOR) | G(ORDER) | G(SCOPE) | G(HINT))
#define ATOM (G(SPACE) | G(ORDER) | G(SCOPE) | G(ATOMIC) | G(FTZ))
#define MATRIX (G(SYNC) | G(ALIGNED) | G(SHAPE) | G(LAYOUT))
#define EXACT (G(ROUND) | G(APPROX))
#define BULK (G(BULK) | G(SPACE) | G(FROM) | G(COMPLETION))

/* clang-format off */
/* ROW(name, operands, kind, code, types, takes, needs, …integer, …float) */
#define OPCODES(ROW)                                                           \
    ROW(abs, "da", ALU, ABS, 1, G(FTZ), 0, 0, 0)                               \
    ROW(activemask, "d", VOTE, NONE, 1, 0, 0, 0, 0)                            \
    ROW(add, "daa", ALU, ADD, 1, FLOAT | G(CARRY), 0, 0, 0)                    \
    ROW(addc, "daac", ALU, ADD, 1, G(CARRY), 0, 0, 0)                          \
    ROW(and, "daa", ALU, AND, 1, 0, 0, 0, 0)                                   \
    ROW(atom, "dmaa?", ATOMIC, NONE, 1, ATOM, G(ATOMIC), 0, 0)                 \
    ROW(bar, "i?u?", BARRIER, NONE, 0, G(SYNC), G(SYNC), 0, 0)                 \
    ROW(bar.red, "dinq", BARRIER, NONE, 1, G(REDUCTION), G(REDUCTION), 0,      \
        0)                                                                     \
    ROW(bar.warp, "u", NOTHING, NONE, 0, G(SYNC), G(SYNC), 0, 0)               \
    ROW(barrier, "i?u?", BARRIER, NONE, 0, G(SYNC) | G(ALIGNED), G(SYNC), 0,   \
        0)                                                                     \
    ROW(barrier.red, "dinq", BARRIER, NONE, 1, G(REDUCTION) | G(ALIGNED),      \
        G(REDUCTION), 0, 0)                                                    \
    ROW(bfe, "dauu", ALU, BFE, 1, 0, 0, 0, 0)                                  \
    ROW(bfi, "daauu", ALU, BFI, 1, 0, 0, 0, 0)                                 \
    ROW(bfind, "ra", ALU, BFIND, 1, G(SHIFTAMT), 0, 0, 0)                      \
    ROW(bmsk, "daa", ALU, BMSK, 1, G(WRAP), G(WRAP), 0, 0)                     \
    ROW(bra, "l", BRANCH, NONE, 0, G(UNI), 0, 0, 0)                            \
    ROW(brev, "da", ALU, BREV, 1, 0, 0, 0, 0)                                  \
    ROW(call, "C", CALL, NONE, 0, G(UNI), 0, 0, 0)                             \
    ROW(clz, "ra", ALU, CLZ, 1, 0, 0, 0, 0)                                    \
    ROW(cnot, "da", ALU, CNOT, 1, 0, 0, 0, 0)                                  \
    ROW(copysign, "daa", ALU, COPYSIGN, 1, 0, 0, 0, 0)                         \
    ROW(cos, "da", ALU, COS, 1, G(FTZ) | G(APPROX), G(APPROX), 0, 0)           \
    ROW(cp.async, "mkuk", BULK_COPY, NONE, 0, BULK, BULK, 0, 0)                 \
    ROW(createpolicy, "de", ALU, MOV, 1, G(HINT), G(HINT), 0, 0)               \
    ROW(cvt, "dff?", ALU, CVT, 2, FLOAT | G(RELU), 0, 0, 0)                    \
    ROW(cvta, "da", ALU, CVTA, 1, G(SPACE) | G(TO), G(SPACE), 0, 0)            \
    ROW(div, "daa", ALU, DIV, 1, REAL | G(APPROX), 0, 0, EXACT)                \
    ROW(dp2a, "rffu", ALU, DP2A, 2, G(PART), G(PART), 0, 0)                    \
    ROW(dp4a, "rffu", ALU, DP4A, 2, 0, 0, 0, 0)                                \
    ROW(elect, "Ru", ELECT, NONE, 0, G(SYNC), G(SYNC), 0, 0)                   \
    ROW(ex2, "da", ALU, EX2, 1, G(FTZ) | G(APPROX), G(APPROX), 0, 0)           \
    ROW(exit, "", EXIT, NONE, 0, 0, 0, 0, 0)                                   \
    ROW(fence, "", NOTHING, NONE, 0, G(ORDER) | G(SCOPE), 0, 0, 0)             \
    ROW(fence.proxy, "", NOTHING, NONE, 0, G(PROXY), G(PROXY), 0, 0)            \
    ROW(fma, "daaa", ALU, MAD, 1, FLOAT | G(RELU), G(ROUND), 0, 0)             \
    ROW(fns, "dauu", ALU, FNS, 1, 0, 0, 0, 0)                                  \
    ROW(isspacep, "pg", ALU, ISSPACEP, 0, G(SPACE), G(SPACE), 0, 0)            \
    ROW(ld, "vmg?", LOAD, NONE, 1, MEMORY, 0, 0, 0)                            \
    ROW(lg2, "da", ALU, LG2, 1, G(FTZ) | G(APPROX), G(APPROX), 0, 0)           \
    ROW(lop3, "daaai", ALU, LOP3, 1, 0, 0, 0, 0)                               \
    ROW(mad, "DaaA", ALU, MAD, 1, FLOAT | G(PART) | G(CARRY), 0, G(PART),      \
        G(ROUND))                                                              \
    ROW(mad24, "daaa", ALU, MAD24, 1, G(PART) | G(SAT), G(PART), 0, 0)         \
    ROW(madc, "daaac", ALU, MAD, 1, G(PART) | G(CARRY), G(PART), 0, 0)         \
    ROW(match, "Rau", MATCH, NONE, 1, G(SYNC) | G(VOTE), G(SYNC) |             \
        G(VOTE), 0, 0)                                                         \
    ROW(max, "daa", ALU, MAX, 1, G(FTZ) | G(NAN), 0, 0, 0)                     \
    ROW(mbarrier.arrive, "dmu", MBARRIER_ARRIVE, NONE, 1, G(SPACE) |           \
        G(EXPECT), G(SPACE) | G(EXPECT), 0, 0)                                 \
    ROW(mbarrier.init, "mu", MBARRIER_INIT, NONE, 1, G(SPACE), G(SPACE), 0,    \
        0)                                                                     \
    ROW(mbarrier.try_wait, "pmu", MBARRIER_WAIT, NONE, 1, G(SPACE) |           \
        G(PARITY), G(SPACE) | G(PARITY), 0, 0)                                 \
    ROW(membar, "", NOTHING, NONE, 0, G(SCOPE), G(SCOPE), 0, 0)                \
    ROW(min, "daa", ALU, MIN, 1, G(FTZ) | G(NAN), 0, 0, 0)                     \
    ROW(mma, "F", MATRIX, NONE, 4, MATRIX, MATRIX, 0, 0)                       \
    ROW(mov, "M", ALU, MOV, 1, 0, 0, 0, 0)                                     \
    ROW(mul, "Daa", ALU, MUL, 1, FLOAT | G(PART), 0, G(PART), 0)               \
    ROW(mul24, "daa", ALU, MUL24, 1, G(PART), G(PART), 0, 0)                   \
    ROW(nanosleep, "u", SLEEP, NONE, 1, 0, 0, 0, 0)                            \
    ROW(neg, "da", ALU, NEG, 1, G(FTZ), 0, 0, 0)                               \
    ROW(not, "da", ALU, NOT, 1, 0, 0, 0, 0)                                    \
    ROW(or, "daa", ALU, OR, 1, 0, 0, 0, 0)                                     \
    ROW(popc, "ra", ALU, POPC, 1, 0, 0, 0, 0)                                  \
    ROW(prefetch, "m", NOTHING, NONE, 0, G(SPACE) | G(HINT), G(HINT), 0,       \
        0)                                                                     \
    ROW(prmt, "daau", ALU, PRMT, 1, G(PERMUTE), 0, 0, 0)                       \
    ROW(rcp, "da", ALU, RCP, 1, REAL | G(APPROX), EXACT, 0, 0)                 \
    ROW(red, "ma", ATOMIC, NONE, 1, ATOM, G(ATOMIC), 0, 0)                     \
    ROW(redux, "dau", REDUX, NONE, 1, G(SYNC) | G(ATOMIC), G(SYNC) |           \
        G(ATOMIC), 0, 0)                                                       \
    ROW(rem, "daa", ALU, REM, 1, 0, 0, 0, 0)                                   \
    ROW(ret, "", EXIT, NONE, 0, G(UNI), 0, 0, 0)                               \
    ROW(rsqrt, "da", ALU, RSQRT, 1, G(FTZ) | G(APPROX), G(APPROX), 0, 0)       \
    ROW(sad, "daaa", ALU, SAD, 1, 0, 0, 0, 0)                                  \
    ROW(selp, "daaq", ALU, SELP, 1, 0, 0, 0, 0)                                \
    ROW(set, "dffq?", ALU, SETP, 2, G(COMPARE) | G(BOOLEAN) | G(FTZ),          \
        G(COMPARE), 0, 0)                                                      \
    ROW(setp, "Paaq?", ALU, SETP, 1, G(COMPARE) | G(BOOLEAN) | G(FTZ),         \
        G(COMPARE), 0, 0)                                                      \
    ROW(shf, "daau", ALU, SHF_L, 1, G(DIRECTION) | G(WRAP), G(DIRECTION) |     \
        G(WRAP), 0, 0)                                                         \
    ROW(shfl, "sauuu", SHUFFLE, NONE, 1, G(SYNC) | G(SHUFFLE), G(SYNC) |       \
        G(SHUFFLE), 0, 0)                                                      \
    ROW(shl, "dau", ALU, SHL, 1, 0, 0, 0, 0)                                   \
    ROW(shr, "dau", ALU, SHR, 1, 0, 0, 0, 0)                                   \
    ROW(sin, "da", ALU, SIN, 1, G(FTZ) | G(APPROX), G(APPROX), 0, 0)           \
    ROW(slct, "daaf", ALU, SLCT, 2, G(FTZ), 0, 0, 0)                           \
    ROW(sqrt, "da", ALU, SQRT, 1, REAL | G(APPROX), EXACT, 0, 0)               \
    ROW(st, "mwg?", STORE, NONE, 1, MEMORY, 0, 0, 0)                           \
    ROW(sub, "daa", ALU, SUB, 1, FLOAT | G(CARRY), 0, 0, 0)                    \
    ROW(subc, "daac", ALU, SUB, 1, G(CARRY), 0, 0, 0)                          \
    ROW(szext, "dau", ALU, SZEXT, 1, G(WRAP), G(WRAP), 0, 0)                   \
    ROW(tanh, "da", ALU, TANH, 1, G(APPROX), G(APPROX), 0, 0)                  \
    ROW(testp, "pa", ALU, TESTP, 1, G(TEST), G(TEST), 0, 0)                    \
    ROW(tex, "vx", TEXTURE, NONE, 2, G(GEOMETRY) | G(VECTOR), G(GEOMETRY)      \
        | G(VECTOR), 0, 0)                                                     \
    ROW(trap, "", TRAP, NONE, 0, 0, 0, 0, 0)                                   \
    ROW(vote, "dqu", VOTE, NONE, 1, G(SYNC) | G(VOTE), G(SYNC) | G(VOTE),      \
        0, 0)                                                                  \
    ROW(xor, "daa", ALU, XOR, 1, 0, 0, 0, 0)

static const struct opcode opcodes[] = {
#define ROW(name, operands, kind, code, types, takes, needs, integer, real)    \
    {#name, operands, OP_##kind, ALU_##code, types,                            \
     takes, needs,    integer,   real},
    OPCODES(ROW)
#undef ROW
};

const char *const opcode_names[] = {
#define ROW(name, ...) #name,
    OPCODES(ROW)
#undef ROW
    NULL,
};

/* Words of a group: the first has the value, each next one `step` more. */
enum { WORDS_MOST = COMPARE_COUNT };
static const struct words {
    enum modifier_group group;
    uint8_t value, step;
    const char *word[WORDS_MOST];
} modifiers[] = {
    {GROUP_ROUND, ROUND_RN, 1, {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"}},
    {GROUP_FTZ, 0, 1, {"noftz", "ftz"}},
    {GROUP_SAT, 1, 0, {"sat"}},
    {GROUP_RELU, 1, 0, {"relu"}},
    {GROUP_NAN, 1, 0, {"NaN"}},
    {GROUP_CARRY, 1, 0, {"cc"}},
    {GROUP_APPROX, 1, 0, {"approx", "full"}},
    {GROUP_PART, PART_LO, 1, {"lo", "hi", "wide"}},
#define X(id, name) name,
    {GROUP_COMPARE, 0, 1, {PTX_COMPARISONS(X)}},
#undef X
    {GROUP_BOOLEAN, BOOLEAN_AND, 1, {"and", "or", "xor"}},
    {GROUP_TEST, TEST_FINITE, 1, {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}},
    {GROUP_REDUCTION, REDUCTION_POPC, 1, {"popc", "and", "or"}},
    {GROUP_SPACE, SPACE_GLOBAL, 1, {"global", "shared", "const", "local", "param"}},
    {GROUP_SPACE, SPACE_SHARED, 0, {"shared::cta", "shared::cluster"}},
    {GROUP_CACHE, CACHE_OP_CA, 1, {"ca", "cg", "cs", "lu", "cv", "nc", "wb", "wt"}},
    {GROUP_VECTOR, 2, 2, {"v2", "v4"}},
    {GROUP_ORDER, 0, 0, {"weak"}},
    {GROUP_ORDER, 1, 0, {"volatile", "relaxed", "acquire", "release", "acq_rel", "sc"}},
    {GROUP_SCOPE, 1, 1, {"cta", "cluster", "gl", "sys"}},
    {GROUP_SCOPE, 3, 0, {"gpu"}},
    {GROUP_SCOPE, 0, 0, {"aligned"}},
    {GROUP_ATOMIC, ATOMIC_ADD, 1, {"add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec"}},
    {GROUP_UNI, 1, 0, {"uni"}},
    {GROUP_SYNC, 1, 0, {"sync"}},
    {GROUP_SHUFFLE, SHUFFLE_UP, 1, {"up", "down", "bfly", "idx"}},
    {GROUP_VOTE, VOTE_ALL, 1, {"all", "any", "uni", "ballot"}},
    {GROUP_ALIGNED, 1, 0, {"aligned"}},
    {GROUP_TO, 1, 0, {"to"}},
    {GROUP_DIRECTION, 0, 1, {"l", "r"}},
    {GROUP_WRAP, 0, 1, {"clamp", "wrap"}},
    {GROUP_PERMUTE, PERMUTE_F4E, 1, {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"}},
    {GROUP_SHIFTAMT, 1, 0, {"shiftamt"}},
    {GROUP_GEOMETRY, 1, 0, {"1d"}},
    {GROUP_SHAPE, SHAPE(8, 4), 0, {"m8n8k4"}},
    {GROUP_SHAPE, SHAPE(8, 16), 0, {"m8n8k16"}},
    {GROUP_SHAPE, SHAPE(16, 4), 0, {"m16n8k4"}},
    {GROUP_SHAPE, SHAPE(16, 8), 0, {"m16n8k8"}},
    {GROUP_SHAPE, SHAPE(16, 16), 0, {"m16n8k16"}},
    {GROUP_SHAPE, SHAPE(16, 32), 0, {"m16n8k32"}},
    {GROUP_LAYOUT, 0, 1, {"row", "col"}},
    {GROUP_BULK, 1, 0, {"bulk"}},
    {GROUP_FROM, SPACE_GLOBAL, 0, {"global"}},
    {GROUP_COMPLETION, 1, 0, {"mbarrier::complete_tx::bytes"}},
    {GROUP_EXPECT, 1, 0, {"expect_tx"}},
    {GROUP_PARITY, 1, 0, {"parity"}},
    {GROUP_PROXY, 1, 0, {"async"}},
    {GROUP_HINT, 0, 0, {"L1", "L2", "L1::evict_normal", "L1::evict_first", "L1::evict_last",
                        "L1::evict_unchanged", "L1::no_allocate", "fractional"}},
    {GROUP_HINT, HINT_FETCH_64, 0, {"L2::64B"}},
    {GROUP_HINT, HINT_FETCH_128, 0, {"L2::128B"}},
    {GROUP_HINT, HINT_FETCH_256, 0, {"L2::256B"}},
    {GROUP_HINT, HINT_FIRST, 0, {"L2::evict_first"}},
    {GROUP_HINT, HINT_NORMAL, 0, {"L2::evict_normal"}},
    {GROUP_HINT, HINT_LAST, 0, {"L2::evict_last"}},
    {GROUP_HINT, HINT_UNCHANGED, 0, {"L2::evict_unchanged"}},
    {GROUP_HINT, HINT_POLICY, 0, {"L2::cache_hint"}},
};

/* clang-format on */

static bool is_name(const char *name, const char *text, size_t length)
{
    return strncmp(name, text, length) == 0 && name[length] == '\0';
}

const struct opcode *opcode_find(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(opcodes); i++)
        if (is_name(opcodes[i].name, name, length))
            return &opcodes[i];
    return NULL;
}

bool modifier_find(struct modifier *m, const char *name, size_t length)
{
    for (; m->row < COUNT_OF(modifiers); m->row++) {
        const struct words *const w = &modifiers[m->row];
        for (unsigned i = 0; i < WORDS_MOST && w->word[i] != NULL; i++)
            if (is_name(w->word[i], name, length)) {
                m->group = w->group;
                m->value = (uint8_t)(w->value + i * w->step);
                m->row++;
                return true;
            }
    }
    return false;
}
