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

static const struct opcode opcodes[] = {
#define ROW(name, operands, kind, code, types, takes, needs, integer, real)    \
    {#name, operands, OP_##kind, ALU_##code, types,                            \
     takes, needs,    integer,   real},
#include "device/sim/ptx/opcodes.def"
#undef ROW
};

const char *const opcode_names[] = {
#define ROW(name, ...) #name,
#include "device/sim/ptx/opcodes.def"
#undef ROW
    NULL,
};

/* clang-format off */
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
