/*
 * Keys of the whole GPU, of paths and of instructions.  Rows are in the order
 * in which they are read: paths name caches, and instructions follow the
 * default one.
 */
#include "device/sim/profile/profile_keys.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"

/* ---- paths ---- */

/* One number for all states of the TLBs; or one for each, of which the third
 * TLB costs what a walk does unless it has one of its own. */
static void read_latency(struct schema_reader *r, json_t *value, void *into)
{
    enum { TOLD_LEAST = TRANSLATIONS - 1 };
    struct profile_latency *const latency = into;
    const bool each = json_is_array(value);
    const size_t count = json_array_size(value);
    if (each && (count < TOLD_LEAST || count > TRANSLATIONS))
        schema_fail(r, "must be one number, three or four: found in the first "
                       "TLB, in the second, in the third, by page walk");
    for (size_t i = 0; i < TRANSLATIONS && !r->failed; i++)
        latency->cycles[i] = schema_real(
            r, each ? json_array_get(value, u64_min(i, count - 1)) : value, 0,
            PROFILE_CYCLES_MAX);
}

int profile_find_cache(struct schema_reader *r, const char *name)
{
    const struct profile *const profile = r->whole;
    const char *names[PROFILE_CACHES_MAX + 1] = {0};
    for (size_t i = 0; i < profile->cache_count; i++) {
        names[i] = profile->caches[i].name;
        if (strcmp(names[i], name) == 0)
            return (int)i;
    }
    schema_fail_name(r, name, names, "not among caches");
    return 0;
}

static bool path_has(const struct profile_path *path, int cache)
{
    for (size_t i = 0; i < path->levels; i++)
        if (path->cache[i] == cache)
            return true;
    return false;
}

static void read_levels(struct schema_reader *r, json_t *list, void *into)
{
    struct profile_path *const path = into;
    if (!json_is_array(list) || json_array_size(list) > PROFILE_LEVELS_MAX)
        schema_fail(r, "must be an array of at most %d names of caches",
                    PROFILE_LEVELS_MAX);
    for (size_t i = 0; i < json_array_size(list) && !r->failed; i++) {
        const json_t *const name = json_array_get(list, i);
        if (!json_is_string(name)) {
            schema_wrong_type(r, "an array of names of caches", name);
            return;
        }
        const int cache = profile_find_cache(r, json_string_value(name));
        if (path_has(path, cache))
            schema_fail(r, "names '%s' twice", json_string_value(name));
        path->cache[path->levels++] = cache;
    }
}

/* One latency for each level and for memory, and for nothing else: the path
 * makes the table. */
static void read_latencies(struct schema_reader *r, json_t *object, void *into)
{
    struct profile_path *const path = into;
    const struct profile *const profile = r->whole;
    struct schema_row rows[PROFILE_LEVELS_MAX + 2] = {0};
    for (size_t i = 0; i <= path->levels; i++)
        rows[i] = (struct schema_row){CALL(read_latency), REQUIRED,
                                      SCHEMA_AT(profile_path, latency[0])};
    for (size_t i = 0; i < path->levels; i++) {
        rows[i].key = profile->caches[path->cache[i]].name;
        rows[i].offset += i * rows[i].size;
    }
    rows[path->levels].key = "memory";
    rows[path->levels].offset = offsetof(struct profile_path, memory);
    schema_read(r, object, &(struct schema){"latency", rows, NULL}, path);
}

static void note_path(struct schema_reader *r, void *into)
{
    (void)r;
    ((struct profile_path *)into)->present = true;
}

static const struct schema_row path_rows[] = {
    {"caches", CALL(read_levels), REQUIRED,
     .help = "names from `caches`, nearest first; none twice; may be empty",
     .range = "at most 4 names"},
    {"latency", CALL(read_latencies), REQUIRED,
     .help = "an object with one entry for each of them and one for `memory`",
     .range = "0 … 1000000 each", .unit = "cycles"},
    {"unoptimized_cycles", CYCLES(profile_path, unoptimized_cycles),
     .help = "what each load takes more if it is assembled at -O0, for moves "
             "and address arithmetic. Stores and atomics take no more"},
    {0},
};

static const struct schema path_schema = {"path", path_rows, note_path};

static void check_prefetch(struct schema_reader *r, void *into)
{
    const struct profile_path *const path = into;
    if (path->prefetch > 0 && path->levels == 0)
        schema_fail_at(r, "prefetch", "needs a cache that lines come to");
}

enum { PREFETCH_MOST = 256 };

static const struct schema_row code_path_rows[] = {
    {.key = NULL, ALSO(path_schema), .help = "as of other paths"},
    {"prefetch", WHOLE(profile_path, prefetch, 0, PREFETCH_MOST),
     .help = "a miss in the nearest cache also brings so many of its lines "
             "that follow, at no cost"},
    {"prefetch_on_hits", BOOL(profile_path, prefetch_on_hits),
     .help = "a hit does so, too"},
    {"prefetch_short", WHOLE(profile_path, prefetch_short, 0, 100),
     .help = "of a hundred times so often, by chance, the last of these lines "
             "does not come"},
    {0},
};

static const struct schema code_path_schema = {"instruction path",
                                               code_path_rows, check_prefetch};

#define PATH(id) PATH_OF(path_schema, id)
#define PATH_OF(schema, id)                                                    \
    OBJECT(schema), SCHEMA_AT(profile, paths[id]), .otherwise = "none"

static const struct schema_row paths_rows[] = {
    {"global.ca", PATH(PATH_GLOBAL_CA), REQUIRED, .help = "`ld.global`, `.ca`"},
    {"global.cg", PATH(PATH_GLOBAL_CG), REQUIRED, .help = "`.cg`"},
    {"readonly", PATH(PATH_READONLY), .help = "`ld.global.nc`"},
    {"texture", PATH(PATH_TEXTURE), .help = "`tex`"},
    {"constant", PATH(PATH_CONSTANT), .help = "`ld.const`"},
    {"local", PATH(PATH_LOCAL), .help = "`ld.local`"},
    {"instruction", PATH_OF(code_path_schema, PATH_INSTRUCTION),
     .help = "fetching: see below"},
    {0},
};

static const struct schema paths_schema = {"paths", paths_rows, NULL};

/* ---- instructions ---- */

/* Where only O3 is told, all levels that optimise are alike, and O0 is no
 * quicker than the default's. */
static void fill_times(struct schema_reader *r, void *into)
{
    const struct profile *const profile = r->whole;
    struct profile_times *const times = into;
    const double optimised = times->level[3];
    const double base = profile->isa[0].latency.level[0];
    for (size_t i = 1; i < COUNT_OF(times->level); i++)
        if (times->level[i] < 0)
            times->level[i] = optimised;
    if (times->level[0] < 0)
        times->level[0] = optimised > base ? optimised : base;
}

#define LEVEL(i)       CYCLES(profile_times, level[i])
#define OTHER_LEVEL(i) LEVEL(i), .fallback = -1

static const struct schema_row times_rows[] = {
    {"O0", OTHER_LEVEL(0), .help = "as `O3`, at this level",
     .otherwise = "the larger of `O3` and the `O0` of `default`"},
    {"O1", OTHER_LEVEL(1), .help = "the same", .otherwise = "`O3`"},
    {"O2", OTHER_LEVEL(2)},
    {"O3", LEVEL(3), REQUIRED,
     .help = "until a result can be used, assembled at this level"},
    {"O4", OTHER_LEVEL(4), .help = "the same", .otherwise = "`O3`"},
    {0},
};

static const struct schema times_schema = {"times", times_rows, fill_times};

static void note_power_of_two(struct schema_reader *r, json_t *object,
                              void *into)
{
    struct profile_isa *const row = into;
    row->has_power_of_two = true;
    schema_read(r, object, &times_schema, &row->power_of_two);
}

static void fill_issue(struct schema_reader *r, void *into)
{
    const struct profile *const profile = r->whole;
    struct profile_isa *const row = into;
    const double base = profile->isa[0].issue;
    if (row->issue < 0)
        row->issue = base > 0 ? base : 1;
}

static const struct schema_row isa_rows[] = {
    {.key = NULL, ALSO(times_schema), SCHEMA_AT(profile_isa, latency)},
    {"issue", CYCLES(profile_isa, issue), .fallback = -1,
     .help = "for which the instruction keeps its pipe busy",
     .otherwise = "that of `default`, or 1"},
    {"power_of_two", CALL(note_power_of_two),
     .help = "an object of such levels, for an instruction whose second source "
             "(a divisor) is a power of two",
     .otherwise = "no difference"},
    {0},
};

static const struct schema isa_schema = {"isa", isa_rows, fill_issue};

static void add_instruction(struct schema_reader *r, const char *name,
                            json_t *object)
{
    struct profile *const profile = r->whole;
    struct profile_isa row = {.name = ""};
    if (strlen(name) >= sizeof row.name) {
        schema_fail(r, "has a name of too many letters: '%s'", name);
        return;
    }
    memcpy(row.name, name, strlen(name) + 1);
    schema_read_at(r, name, object, &isa_schema, &row);
    profile->isa[profile->isa_count++] = row;
}

static void read_isa(struct schema_reader *r, json_t *object, void *into)
{
    struct profile *const profile = into;
    json_t *value = json_object_get(object, "default");
    if (!json_is_object(object))
        schema_wrong_type(r, "an object", object);
    else if (value == NULL)
        schema_fail_at(r, "default", "is missing");
    if (r->failed)
        return;
    profile->isa = xcalloc(json_object_size(object) + 1, sizeof *profile->isa);
    add_instruction(r, "default", value);
    const char *name;
    json_object_foreach(object, name, value)
    {
        if (strcmp(name, "default") != 0)
            add_instruction(r, name, value);
    }
}

/* ---- parts of the GPU ---- */

static void check_banks(struct schema_reader *r, void *into)
{
    const unsigned bytes = ((struct profile *)into)->banks.bank_bytes;
    if (bytes != 4 && bytes != 8)
        schema_fail_at(r, "bank_bytes", "must be 4 or 8, not %u", bytes);
}

enum { SHARED_MAX = 1 << 24 }; /* B */

static const struct schema_row shared_rows[] = {
    {"bytes", WHOLE(profile, shared_bytes, 0, SHARED_MAX), REQUIRED,
     .unit = "B", .help = "of an SM"},
    {"latency", CYCLES(profile, shared_latency), REQUIRED,
     .help = "a load without conflict"},
    {"conflict_cycles", CYCLES(profile, shared_conflict_cycles), REQUIRED,
     .help = "more for each further row of the busiest bank"},
    {"unoptimized_cycles", CYCLES(profile, shared_unoptimized_cycles),
     .help = "more for a load that is assembled at -O0"},
    {"read_bandwidth", RATE(profile, shared_read_bandwidth),
     .help = "bytes that lanes get or leave in a cycle, at most; 0: as banks "
             "allow"},
    {"write_bandwidth", RATE(profile, shared_write_bandwidth)},
    {"banks", WHOLE(profile, banks.count, 1, BANKS_MAX), .fallback = 32,
     .help = "how many there are"},
    {"bank_bytes", WHOLE(profile, banks.bank_bytes, 4, 8), .fallback = 4,
     .unit = "B", .help = "width of a bank", .range = "4, 8"},
    {"row_words", WHOLE(profile, banks.row_words, 1, 2), .fallback = 1,
     .help = "successive words of a bank that are read together. Kepler in its "
             "4-byte mode has 2, in its 8-byte mode `bank_bytes` 8"},
    {"per_block", WHOLE(profile, shared_per_block, 0, SHARED_MAX), .unit = "B",
     .help = "reported: what a block may have", .otherwise = "`bytes`"},
    {"per_block_optin", WHOLE(profile, shared_per_block_optin, 0, SHARED_MAX),
     .fallback = -1, .unit = "B",
     .help = "reported: what a block may have that opts in"},
    {"reserved", WHOLE(profile, shared_reserved, 0, SHARED_MAX), .fallback = -1,
     .unit = "B", .help = "reported: what the driver keeps of a block's"},
    {0},
};

static const struct schema_row window_rows[] = {
    {"bytes", WHOLE(profile, page_window_bytes, 4096, PROFILE_WHOLE_MAX),
     REQUIRED, .unit = "B",
     .help = "memory falls into windows of this size, of which one is active"},
    {"latency", CYCLES(profile, page_window_latency), REQUIRED,
     .help = "a load that leaves the active window"},
    {0},
};

static const struct schema shared_schema = {"shared_memory", shared_rows,
                                            check_banks};
static const struct schema window_schema = {"page_window", window_rows, NULL};

/* ---- the whole ---- */

/* "2.1" */
static void read_capability(struct schema_reader *r, json_t *value, void *into)
{
    struct profile *const profile = into;
    char text[16] = "";
    int end = 0;
    schema_text(r, value, text, sizeof text);
    if (sscanf(text, "%2d.%1d%n", &profile->cc_major, &profile->cc_minor,
               &end) != 2 ||
        text[end] != '\0' || profile->cc_major < 1 || profile->cc_minor < 0)
        schema_fail(r, "must be like \"9.0\", not \"%s\"", text);
}

/* What follows from other keys where it is not told, and what they allow. */
static void complete(struct schema_reader *r, void *into)
{
    struct profile *const profile = into;
    if (profile->max_threads_per_sm == 0)
        profile->max_threads_per_sm = 32 * profile->max_warps_per_sm;
    if (profile->max_threads_per_block >
        u64_min(profile->max_threads_per_sm, 32 * profile->max_warps_per_sm))
        schema_fail_at(r, "max_threads_per_block",
                       "is more than an SM holds, by `max_warps_per_sm` or "
                       "`max_threads_per_sm`");
    if (profile->shared_per_block == 0)
        profile->shared_per_block = profile->shared_bytes;
    if (profile->clock_overhead_unoptimized < 0)
        profile->clock_overhead_unoptimized = profile->clock_overhead;
}

static const char *const favours[] = {
    [FAVOUR_NONE] = "none",
    [FAVOUR_LOW_WARPS] = "low_warps",
    [FAVOUR_OLDER_BLOCKS] = "older_blocks",
    NULL,
};
/* By the bools of the profile. */
static const char *const tpc_members[] = {"neighbours", "apart", NULL};
static const char *const block_orders[] = {"sms", "tpcs", NULL};
static const char *const operators[] = {"ca", "cg", NULL};

#define TOLD(member, most) WHOLE(profile, member, 0, most), .fallback = -1

static const struct schema_row reported_rows[] = {
    {"memory_clock_khz", WHOLE(profile, memory_clock_khz, 0, 1e8),
     .unit = "kHz", .help = "memory clock; 0 is absent", .otherwise = "absent"},
    {"memory_bus_bits", TOLD(memory_bus_bits, 65536), .unit = "bits",
     .help = "width of the memory bus"},
    {"registers_per_sm", TOLD(registers_per_sm, 1 << 24),
     .help = "32-bit registers"},
    {"registers_per_block", TOLD(registers_per_block, 1 << 24)},
    {"cores_per_sm", TOLD(cores_per_sm, 4096), .help = "CUDA cores"},
    {"l2_reported_bytes", TOLD(l2_reported_bytes, 1LL << 40), .unit = "B",
     .help = "L2 as the driver tells it"},
    {"l2_persisting_bytes", TOLD(l2_persisting_bytes, 1LL << 40), .unit = "B",
     .help = "L2 that can be set aside for persisting lines"},
    {"texture_max_width", TOLD(texture_max_width, 1LL << 40), .unit = "texels",
     .help = "largest one-dimensional linear texture"},
    {"copy_engines", TOLD(copy_engines, 64),
     .help = "copies that can run beside a kernel"},
    {"ecc", TOLD(ecc, 1), .help = "1: error correction of memory is on"},
    {0},
};

static const struct schema reported_schema = {"reported", reported_rows, NULL};

static const struct schema_row gpu_rows[] = {
    {"name", TEXT(profile, name), REQUIRED,
     .help = "as a driver would report it"},
    {"architecture", TEXT(profile, architecture), REQUIRED,
     .help = "`Fermi` … `Hopper`"},
    {"source", TEXT(profile, source),
     .help = "where the numbers come from, and which were chosen because no "
             "source tells them"},
    {"compute_capability", CALL(read_capability), REQUIRED, .unit = "text",
     .help = "like `\"8.0\"`; decides which PTX is accepted"},
    {"sms", WHOLE(profile, sms, 1, 1024), REQUIRED,
     .help = "streaming multiprocessors"},
    {"sms_per_tpc", WHOLE(profile, sms_per_tpc, 1, 1024), .fallback = 1,
     .help = "SMs that share a cache of scope `tpc`, and the way of their TPC"},
    {"tpcs_per_gpc", WHOLE(profile, tpcs_per_gpc, 1, 1024), .fallback = 1,
     .help = "TPCs that share a cache of scope `gpc`"},
    {"tpc_members", NAME(profile, tpcs_apart, tpc_members),
     .help = "`\"neighbours\"`: SMs s, s + 1, … are a TPC; `\"apart\"`: SM s "
             "is of TPC s mod their number"},
    {"tpc_read_bandwidth", RATE(profile, tpc_read_bandwidth),
     .help = "bytes that a TPC's way to L2 and memory (to caches of scope "
             "`gpu`) brings or takes in a cycle; 0: any number"},
    {"tpc_write_bandwidth", RATE(profile, tpc_write_bandwidth)},
    {"gpc_read_bandwidth", RATE(profile, gpc_read_bandwidth),
     .help = "the same of a GPC"},
    {"gpc_write_bandwidth", RATE(profile, gpc_write_bandwidth)},
    {"warp_schedulers", WHOLE(profile, warp_schedulers, 1, 16), REQUIRED,
     .help = "of an SM; each issues one instruction a cycle"},
    {"max_threads_per_block", WHOLE(profile, max_threads_per_block, 32, 1024),
     REQUIRED, .unit = "threads",
     .help = "the largest block; no more than an SM holds"},
    {"max_warps_per_sm", WHOLE(profile, max_warps_per_sm, 1, 128), REQUIRED,
     .unit = "warps", .help = "resident warps"},
    {"max_blocks_per_sm", WHOLE(profile, max_blocks_per_sm, 1, 128), REQUIRED,
     .unit = "blocks", .help = "resident blocks"},
    {"max_threads_per_sm", WHOLE(profile, max_threads_per_sm, 32, 4096),
     .unit = "threads", .help = "resident threads",
     .otherwise = "32 × `max_warps_per_sm`"},
    {"clock_khz", WHOLE(profile, clock_khz, 1000, 1e8), REQUIRED, .unit = "kHz",
     .help = "SM clock"},
    {"clock_overhead", REAL(profile, clock_overhead, 1000), .fallback = 2,
     .unit = "cycles", .help = "between two clock reads in a row"},
    {"clock_overhead_unoptimized",
     REAL(profile, clock_overhead_unoptimized, 1000), .fallback = -1,
     .unit = "cycles", .help = "the same, assembled at -O0",
     .otherwise = "`clock_overhead`"},
    {"memory_bytes", WHOLE(profile, memory_bytes, 1 << 20, 1LL << 46), REQUIRED,
     .unit = "B", .help = "device memory"},
    {"mapping_bytes", SCHEMA_POWER, SCHEMA_AT(profile, mapping_bytes),
     .most = 1 << 30, .fallback = 2 << 20, .unit = "B",
     .help = "memory can be mapped at several addresses, in pieces of so many; "
             "0: it cannot"},
    {"constant_bytes", WHOLE(profile, constant_bytes, 0, 1 << 20),
     .fallback = 65536, .unit = "B", .help = "constant memory of a module"},
    {"clusters", WHOLE(profile, clusters, 0, 1),
     .help = "1: thread block clusters can be launched"},
    {"globaltimer_ns", WHOLE(profile, globaltimer_ns, 1, 1 << 20),
     .fallback = 1, .unit = "ns",
     .help = "steps in which `%globaltimer` counts"},
    {"clock_scope", WORD(profile, clock_scope, profile_scopes),
     .help = "whose clocks (`%clock64`) run alike: the SMs of one of these; "
             "others lie apart by chance"},
    {"favours", NAME(profile, favours, favours),
     .help = "who goes first, of warps that wait for the same: see Scheduling"},
    {"favour_cycles", CYCLES(profile, favour_cycles),
     .help = "with `low_warps`: of waiting, by which a warp is ahead of the "
             "next one of its block"},
    {"block_order", NAME(profile, tpcs_in_turn, block_orders),
     .help = "`\"sms\"`: the first blocks go to the SMs in the order of their "
             "numbers; `\"tpcs\"`: to the first SM of each TPC, then to the "
             "second"},
    {"block_interval_cycles", CYCLES(profile, block_interval_cycles),
     .help = "from one block to the next that any SM gets"},
    {"block_gap_cycles", CYCLES(profile, block_gap_cycles),
     .help = "from the end of a block to the start of the one that follows on "
             "its place"},
    {"default_operator", WORD(profile, default_cg, operators),
     .help = "how `ld.global` without an operator loads"},
    {"memory_read_bandwidth", RATE(profile, memory_read_bandwidth),
     .help = "bytes that memory gives or takes in a cycle of the SM clock; 0: "
             "any number"},
    {"memory_write_bandwidth", RATE(profile, memory_write_bandwidth)},
    {0},
};

static const struct schema gpu_schema = {"gpu", gpu_rows, NULL};

static const struct schema_row parts_rows[] = {
    {"caches", CALL(profile_read_caches), REQUIRED,
     .object = &profile_cache_schema, .help = "caches by name"},
    {"tlbs", OBJECT(profile_tlbs_schema), .help = "TLBs by level",
     .otherwise = "no translation"},
    {"paths", OBJECT(paths_schema), REQUIRED,
     .help = "how programs reach memory"},
    {"shared_memory", OBJECT(shared_schema), REQUIRED, .help = "of an SM"},
    {"isa", CALL(read_isa), REQUIRED, .object = &isa_schema,
     .help = "costs by instruction"},
    {"page_window", OBJECT(window_schema), .help = "of active pages",
     .otherwise = "none"},
    {.key = NULL, ALSO(profile_disturbances_schema)},
    {0},
};

static const struct schema parts_schema = {"parts", parts_rows, NULL};

static const struct schema_row profile_rows[] = {
    {.key = NULL, ALSO(gpu_schema)},
    {.key = NULL, ALSO(reported_schema)},
    {.key = NULL, ALSO(parts_schema)},
    {0},
};

const struct schema profile_schema = {"profile", profile_rows, complete};
