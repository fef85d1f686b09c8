/*
 * Small GPUs that take a path which others do not, or stand at a limit of a
 * study: all that it says of them is kept (truth/said.h).  Each takes some
 * tenths of a second.  SMALL=STUDY runs those of one study alone.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "device/sim/profile/profile.h"
#include "disturbance.h"
#include "gpu_made.h"
#include "testing.h"
#include "truth/truth.h"

struct small {
    const char *study, *gpu;
    const char *shipped; /* which the GPU is but for that; NULL: a plain one */
};

struct disturbed {
    struct small small;
    const char *kind; /* of disturbance.h */
    unsigned strength;
};

/* A small L1 of two schedulers' blocks, which are as many as may be. */
#define COPIES(copies, blocks)                                                 \
    "sms=1 max_threads_per_block=256 max_blocks_per_sm=" blocks                \
    " caches/l2/sets=64 caches/l2/ways=8 "                                     \
    "caches/l1={'sets': 16, 'ways': 4, 'copies_per_sm': " copies "} "          \
    "paths/global.ca={'l1': 30, 'l2': 250, 'memory': 500} "                    \
    "paths/global.cg={'l2': 250, 'memory': 500} "
#define PORT(threads, cycles)                                                  \
    "sms=1 max_threads_per_block=" threads " max_blocks_per_sm=2 "             \
    "caches/l2/sets=64 caches/l2/ways=8 "                                      \
    "caches/l1={'sets': 16, 'ways': 4, 'port_cycles': " cycles "} "            \
    "paths/global.ca={'l1': 30, 'l2': 250, 'memory': 500} "                    \
    "paths/global.cg={'l2': 250, 'memory': 500} "
#define L2(capability, bytes)                                                  \
    "compute_capability='" capability "' sms=1 l2_reported_bytes=" bytes       \
    " caches/l2={'line': 128, 'sector': 32, 'sets': 64, 'ways': 8, "           \
    "'scope': 'gpu'} paths/global={'l2': 200, 'memory': 500} "
#define NOISE                                                                  \
    "noise={'jitter_cycles': 3, 'spike_rate': 0.005, 'spike_cycles': 400} "

/* So many SMs of TPCs of so many, which have a narrow way. */
#define WAYS(sms, per_tpc, rates)                                              \
    "compute_capability='9.0' sms=" sms " sms_per_tpc=" per_tpc                \
    " tpcs_per_gpc=1 max_threads_per_block=128 max_warps_per_sm=4 "            \
    "max_blocks_per_sm=1 caches/l2/sets=64 "                                   \
    "caches/l1={'sets': 64, 'ways': 4} "                                       \
    "paths/global.ca={'l1': 30, 'l2': 200, 'memory': 500} "                    \
    "isa/st={'O3': 4, 'issue': 16} isa/ld={'O3': 4, 'issue': 16} " rates
#define BANKS(shared)                                                          \
    "sms=1 max_threads_per_block=128 caches/l2/sets=32 caches/l2/ways=4 "      \
    "shared_memory=" shared " "
#define RATES(more)                                                            \
    "sms=2 max_threads_per_block=128 max_warps_per_sm=8 max_blocks_per_sm=2 "  \
    "memory_read_bandwidth=10.8 "                                              \
    "caches/l1={'sets': 16, 'ways': 4, 'read_bandwidth': 40} "                 \
    "caches/l2={'line': 32, 'sector': 32, 'sets': 32, 'ways': 32, "            \
    "'scope': 'gpu', 'read_bandwidth': 24} "                                   \
    "paths/global.ca={'l1': 32, 'l2': 100, 'memory': 300} "                    \
    "paths/global.cg={'l2': 100, 'memory': 300} "                              \
    "shared_memory={'bytes': 16384, 'latency': 25, 'conflict_cycles': 1, "     \
    "'read_bandwidth': 44, 'write_bandwidth': 32} " more

#define L2_ALONE(words)                                                        \
    "sms=1 caches={} caches/l2={'scope': 'gpu', " words "} "                   \
    "paths/global={'l2': 200, 'memory': 500} "
#define TLBS(l1, l2)                                                           \
    "sms=1 caches/l2/sets=64 caches/l2/ways=4 memory_bytes=1073741824 "        \
    "tlbs/l1={" l1 "} tlbs/l2={" l2 "} "                                       \
    "paths/global={'l2': [200, 230, 290], 'memory': [500, 530, 590]} "

/* One TLB, and what else. */
#define TLB(l1, more)                                                          \
    "sms=1 caches/l2/sets=64 caches/l2/ways=4 memory_bytes=1073741824 "        \
    "tlbs/l1={" l1 "} paths/global={'l2': [200, 260, 290], "                   \
    "'memory': [500, 560, 590]} " more
/* An L2 in two parts, or with a distance of its own, of so many SMs. */
#define PARTS(sms, words)                                                      \
    "sms=" sms                                                                 \
    " caches={} caches/l2={'scope': 'gpu', 'sets': 128, 'ways': 8, "           \
    "'partitions': {'bits': [12, 14], 'far_cycles': 120, " words "}} "         \
    "paths/global={'l2': 200, 'memory': 500} "
/* An L1 that is the SM's or a TPC's, before an L2. */
#define L1_OF(scope, words)                                                    \
    "sms=4 sms_per_tpc=2 tpcs_per_gpc=2 max_threads_per_block=128 "            \
    "max_warps_per_sm=8 caches/l2/sets=64 caches/l2/ways=8 "                   \
    "caches/l1={'sets': 8, 'ways': 4, 'scope': '" scope "', " words "} "       \
    "paths/global.ca={'l1': 30, 'l2': 250, 'memory': 500} "                    \
    "paths/global.cg={'l2': 250, 'memory': 500} "
#define CODE(i0, i1, more)                                                     \
    "sms=2 caches={} caches/i0={" i0 "} caches/i1={" i1 "} "                   \
    "caches/l2={'sets': 1024, 'ways': 16, 'scope': 'gpu'} "                    \
    "paths/instruction={'i0': 4, 'i1': 44, 'l2': 260, 'memory': 560} " more

#define TLBS_OF_TWO                                                            \
    TLBS("'page': 2097152, 'entries': 8", "'page': 2097152, 'entries': 24")
#define TEXTURE "paths/texture={'l1': 60, 'l2': 260, 'memory': 520} "
#define CONSTANTS                                                              \
    "sms=2 caches/l2/sets=64 caches/l2/ways=8 "                                \
    "caches/const_l1={'line': 64, 'sector': 64, 'sets': 8, 'ways': 4} "        \
    "caches/const_l15={'line': 256, 'sector': 256, 'sets': 8, 'ways': 6} "     \
    "paths/constant={'const_l1': 40, 'const_l15': 110, 'l2': 250, "            \
    "'memory': 500} "
#define CODE_OF_TWO                                                            \
    CODE("'line': 64, 'sector': 64, 'sets': 4, 'ways': 8",                     \
         "'line': 64, 'sector': 64, 'sets': 32, 'ways': 6", "")
#define CODE_OF_TPCS                                                           \
    CODE("'line': 64, 'sector': 64, 'sets': 8, 'ways': 4, "                    \
         "'copies_per_sm': 2",                                                 \
         "'line': 64, 'sector': 64, 'sets': 32, 'ways': 6, 'scope': 'tpc'",    \
         "sms_per_tpc=2 warp_schedulers=4 max_threads_per_block=256 ")
#define TPCS                                                                   \
    "sms=4 sms_per_tpc=2 tpcs_per_gpc=1 block_order=tpcs clock_scope=tpc "     \
    "globaltimer_ns=32 block_gap_cycles=500 max_threads_per_block=128 "        \
    "max_warps_per_sm=8 max_blocks_per_sm=4 caches/l2/sets=64"
#define LOADED                                                                 \
    "sms=1 max_threads_per_block=64 max_warps_per_sm=2 max_blocks_per_sm=1 "   \
    "caches/l2/sets=32 caches/l2/ways=8 caches/l2/read_bandwidth=24 "          \
    "memory_read_bandwidth=9 paths/global={'l2': 200, 'memory': 500} "

static const struct small table[] = {
    {"contention", COPIES("4", "8"), NULL},
    {"contention", COPIES("3", "6"), NULL},
    {"contention", COPIES("4", "3"), NULL},
    {"contention", COPIES("2", "4") NOISE, NULL},
    /* Fewer warps than blocks. */
    {"contention",
     COPIES("2", "4") "max_warps_per_sm=3 max_threads_per_block=96 ", NULL},
    {"contention",
     COPIES("2", "4") "max_warps_per_sm=2 max_threads_per_block=64 ", NULL},
    {"contention",
     COPIES("2", "4") "max_warps_per_sm=1 max_threads_per_block=32 ", NULL},
    {"contention", PORT("256", "10"), NULL},
    {"contention", PORT("96", "1"), NULL},
    {"contention", PORT("1024", "16"), NULL},
    {"contention",
     "sms=1 max_threads_per_block=32 "
     "max_blocks_per_sm=2 caches/l1={'sets': 512, 'ways': 16} "
     "paths/global.ca={'l1': 30, 'l2': 250, 'memory': 500}",
     NULL},
    {"contention",
     "sms=1 max_threads_per_block=32 "
     "max_blocks_per_sm=2 caches/l1={'sets': 512, 'ways': 8} "
     "paths/global.ca={'l1': 30, 'l2': 250, 'memory': 500}",
     NULL},
    {"contention",
     "sms=1 max_threads_per_block=32 "
     "max_blocks_per_sm=2 caches/l1={'sets': 512, 'ways': 5} "
     "paths/global.ca={'l1': 30, 'l2': 250, 'memory': 500}",
     NULL},
    {"contention", "sms=1", "gtx1080ti"},
    {"contention", "sms=1", "rtx2080ti"},
    {"hints", L2("8.0", "65536"), NULL},
    {"hints", L2("8.0", "65536") "caches/l2/policy=random", NULL},
    {"hints",
     L2("9.0", "65536") NOISE "caches/l2/fetch_128B=128 "
                              "caches/l2/fetch_256B=256 "
                              "caches/l2/evict_last=true",
     NULL},
    {"hints", L2("8.0", "65536") "caches/l2/fetch_256B=512", NULL},
    {"hints",
     L2("8.0",
        "65536") "caches/l2/fetch_256B=1024 "
                 "caches/l2/line=1024 caches/l2/sets=8 caches/l2/fetch_64B=512",
     NULL},
    {"hints",
     L2("8.0", "32768") "caches/l2/sets=32 "
                        "noise={'jitter_cycles': 60, 'spike_rate': 0.05, "
                        "'spike_cycles': 400}",
     NULL},
    {"hints", L2("7.5", "65536") "caches/l2/sector=64", NULL},
    {"hints", L2("8.0", "65536") "paths/global={'l2': 200, 'memory': 230}",
     NULL},
    {"scheduling",
     "sms=4 sms_per_tpc=2 tpcs_per_gpc=1 block_order=tpcs clock_scope=tpc "
     "globaltimer_ns=32 block_gap_cycles=500 max_threads_per_block=128 "
     "max_warps_per_sm=8 max_blocks_per_sm=4 caches/l2/sets=64",
     NULL},
    {"scheduling",
     "sms=3 favours=older_blocks block_interval_cycles=20 clock_scope=gpu "
     "max_threads_per_block=256 max_warps_per_sm=16 max_blocks_per_sm=2 "
     "caches/l2/sets=64",
     NULL},
    {"scheduling",
     "sms=1 max_threads_per_block=64 max_warps_per_sm=2 max_blocks_per_sm=1 "
     "caches/l2/sets=64",
     NULL},
    /* As many blocks as are told apart. */
    {"scheduling",
     "sms=1 max_threads_per_block=32 max_warps_per_sm=32 max_blocks_per_sm=32 "
     "caches/l2/sets=64",
     NULL},
    {"placement", WAYS("6", "2", "tpc_read_bandwidth=45 clock_scope=gpc "),
     NULL},
    {"placement", WAYS("6", "3", "tpc_write_bandwidth=40 tpc_members=apart "),
     NULL},
    {"placement", WAYS("4", "2", "gpc_read_bandwidth=70 " NOISE), NULL},
    {"banks", BANKS("{'bytes': 8192, 'latency': 25, 'conflict_cycles': 2}"),
     NULL},
    {"banks",
     BANKS("{'bytes': 4352, 'latency': 30, 'conflict_cycles': 1.5, 'banks': "
           "16}") NOISE,
     NULL},
    {"banks",
     BANKS("{'bytes': 6144, 'latency': 22, 'conflict_cycles': 2, 'banks': 32, "
           "'bank_bytes': 8}"),
     NULL},
    {"reads", RATES("l2_reported_bytes=32768 "), NULL},
    {"reads", RATES("l2_reported_bytes=32768 noise={'jitter_cycles': 3} "),
     NULL},
    {"reads", RATES(""), NULL},
    {"loaded",
     "sms=1 max_threads_per_block=64 max_warps_per_sm=2 max_blocks_per_sm=1 "
     "caches/l2/sets=32 caches/l2/ways=8 caches/l2/read_bandwidth=24 "
     "memory_read_bandwidth=9 paths/global={'l2': 200, 'memory': 500}",
     NULL},
    {"verdict", L2_ALONE("'sets': 64, 'ways': 12"), NULL},
    {"verdict",
     L2_ALONE("'line': 256, 'sector': 64, 'policy': 'fifo', "
              "'set_ways': [90, 70, 70, 70, 70]"),
     NULL},
    {"verdict", L2_ALONE("'sets': 64, 'ways': 9, 'policy': 'random'") NOISE,
     NULL},
    {"verdict",
     L2_ALONE("'sets': 64, 'ways': 8, 'policy': {'kind': 'lru_midpoint', "
              "'behind': 2}, 'set_bits': [[7, 13], 8, [9, 14], 10, 11, 12]"),
     NULL},
    {"verdict",
     L2_ALONE("'line': 256, 'sector': 32, 'sets': 48, 'ways': 6, "
              "'policy': 'nru', 'slices': {'modulo': 3, 'from_bit': 8}"),
     NULL},
    {"structure", L2_ALONE("'sets': 128, 'ways': 8, 'policy': 'plru'") NOISE,
     NULL},
    {"structure",
     L2_ALONE("'sets': 96, 'ways': 6, 'policy': 'fifo', 'slices': {'modulo': "
              "3, 'from_bit': 9}"),
     NULL},
    {"copies", L2_ALONE("'sets': 64, 'ways': 12"), NULL},
    {"latency", L2_ALONE("'sets': 64, 'ways': 12") NOISE, NULL},
    {"slices",
     L2_ALONE("'sets': 96, 'ways': 6, 'atomic_cycles': 4, 'slices': "
              "{'modulo': 3, 'from_bit': 9, 'bits': [[7, 12]]}") "sms=2 ",
     NULL},
    {"partitions",
     L2_ALONE("'sets': 128, 'ways': 8, 'partitions': {'bits': [12, 14], "
              "'far_cycles': 120, 'replicates': false}") "sms=4 ",
     NULL},
    {"tlb",
     TLBS("'page': 2097152, 'sets': 2, 'ways': 6",
          "'page': 2097152, 'set_ways': [11, 7, 7], 'scope': 'gpu'"),
     NULL},
    {"tlb",
     TLBS("'page': 2097152, 'entries': 8, 'policy': 'fifo'",
          "'page': 2097152, 'region': 16777216, 'entries': 20, "
          "'policy': 'random', 'scope': 'gpu'"),
     NULL},
    {"tlb",
     TLBS("'page': 1048576, 'entries': 10, 'policy': 'nru'",
          "'page': 1048576, 'sets': 4, 'ways': 8, 'set_bits': "
          "[[20, 23], [21, 24]], 'scope': 'gpu'") NOISE,
     NULL},
    {"patterns",
     TLBS("'page': 2097152, 'entries': 8", "'page': 2097152, 'entries': 24"),
     NULL},
    {"tlb",
     TLB("'page': 262144, 'sets': 4, 'ways': 4, 'spare': 1, 'set_bits': "
         "[[18, 20, 22, 24, 26, 28], [19, 21, 23, 25, 27, 29]]",
         ""),
     NULL},
    {"tlb", TLB("'page': 524288, 'set_ways': [9, 5, 5, 5]", NOISE), NULL},
    {"tlb",
     TLB("'page': 2097152, 'sets': 2, 'ways': 6",
         "page_window={'bytes': 268435456, 'latency': 1100} "),
     NULL},
    {"tlb",
     TLB("'page': 2097152, 'region': 8388608, 'entries': 12, "
         "'policy': 'random'",
         ""),
     NULL},
    {"tlb",
     TLB("'page': 2097152, 'sets': 4, 'ways': 4, 'scope': 'tpc'",
         "sms=6 sms_per_tpc=2 "),
     NULL},
    {"tlb",
     TLBS("'page': 2097152, 'entries': 8",
          "'page': 33554432, 'sets': 256, 'ways': 6, 'scope': 'gpu', "
          "'set_bits': [[25, 33, 41], [26, 34], [27, 35], [28, 36], [29, 37], "
          "[30, 38], [31, 39], [32, 40]]") "memory_bytes=8589934592 ",
     NULL},
    {"tlb",
     TLBS("'page': 1048576, 'sets': 2, 'ways': 4, 'policy': 'plru'",
          "'page': 4194304, 'set_ways': [9, 6], 'policy': 'fifo'") NOISE,
     NULL},
    /* Entries in doubt, as sets are not told. */
    {"tlb",
     TLB("'page': 262144, 'sets': 10, 'ways': 4",
         "memory_bytes=4294967296 "
         "page_window={'bytes': 134217728, 'latency': 1310} ") NOISE,
     NULL},
    {"tlb",
     TLB("'page': 262144, 'sets': 10, 'ways': 7, 'policy': 'random'",
         "memory_bytes=4294967296 "
         "page_window={'bytes': 134217728, 'latency': 1310} "),
     NULL},
    {"patterns",
     TLBS("'page': 1048576, 'entries': 8, 'policy': 'random'",
          "'page': 8388608, 'region': 8388608, 'sets': 2, 'ways': 7, "
          "'set_bits': [[23, 24, 25, 26, 27, 28, 29]]") "tlbs/walks_apart=90 ",
     NULL},
    {"patterns",
     TLBS("'page': 2097152, 'entries': 10",
          "'page': 2097152, 'sets': 4, 'ways': 6") NOISE
     "page_window={'bytes': 268435456, 'latency': 1300} ",
     NULL},
    {"patterns",
     TLB("'page': 524288, 'entries': 14, 'policy': 'fifo'",
         "caches/l1={'sets': 16, 'ways': 4} "
         "paths/global.ca={'l1': 35, 'l2': [200, 260, 290], "
         "'memory': [500, 560, 590]} "),
     NULL},
    {"slices",
     L2_ALONE("'sets': 80, 'ways': 6, 'atomic_cycles': 5, 'slices': "
              "{'modulo': 5, 'from_bit': 9, 'bits': [[7, 13]]}") NOISE
     "sms=4 sms_per_tpc=2 ",
     NULL},
    {"slices",
     L2_ALONE("'sets': 80, 'ways': 6, 'atomic_cycles': 3, 'slices': "
              "{'modulo': 5, 'from_bit': 8}") "sms=3 ",
     NULL},
    {"partitions", PARTS("4", "'replicates': true") NOISE, NULL},
    {"partitions", PARTS("3", "'replicates': false") NOISE, NULL},
    {"latency", PARTS("4", "'replicates': true"), NULL},
    {"latency", PARTS("4", "'replicates': false"), NULL},
    {"latency", L1_OF("sm", "'policy': 'random'") NOISE, NULL},
    {"latency",
     L1_OF("sm", "'line': 128") "paths/global.cg={'l2': 250, 'memory': 262} ",
     NULL},
    {"copies", L1_OF("tpc", "'line': 128"), NULL},
    {"copies", L1_OF("sm", "'copies_per_sm': 2, 'policy': 'random'") NOISE,
     NULL},
    {"sharing",
     L1_OF("sm", "'line': 128") "paths/texture={'l1': 60, 'l2': 260, "
                                "'memory': 520} ",
     NULL},
    {"change", L1_OF("sm", "'line': 64, 'policy': 'fifo'"), NULL},
    {"icache",
     CODE("'line': 64, 'sector': 64, 'sets': 4, 'ways': 8",
          "'line': 64, 'sector': 64, 'sets': 32, 'ways': 6",
          "paths/instruction/prefetch=1 "),
     NULL},
    {"icache_sharing",
     CODE("'line': 64, 'sector': 64, 'sets': 8, 'ways': 4, "
          "'copies_per_sm': 2",
          "'line': 64, 'sector': 64, 'sets': 32, 'ways': 6, 'scope': 'tpc'",
          "sms_per_tpc=2 warp_schedulers=4 max_threads_per_block=256 "),
     NULL},
    {"operators", RATES("l2_reported_bytes=32768 "), NULL},
    {"bandwidth", RATES("l2_reported_bytes=32768 "), NULL},
};

/* What judges noise, what is asked again for it, whom it puts in doubt. */
static const struct disturbed disturbed[] = {
    {{"tlb", TLBS_OF_TWO, NULL}, "noise", 2},
    {{"tlb", TLBS_OF_TWO, NULL}, "neighbour", 3},
    {{"tlb", TLBS_OF_TWO, NULL}, "intruder", 2},
    {{"tlb",
      TLB("'page': 262144, 'sets': 4, 'ways': 4, 'set_bits': "
          "[[18, 20, 22], [19, 21, 23]]",
          ""),
      NULL},
     "noise",
     3},
    {{"patterns", TLBS_OF_TWO, NULL}, "neighbour", 2},
    {{"structure",
      L2_ALONE("'sets': 32, 'ways': 8, 'policy': 'plru', 'set_bits': [[7, 13], "
               "8, [9, 14], 10, 11]"),
      NULL},
     "noise",
     3},
    {{"structure", L2_ALONE("'sets': 24, 'ways': 6, 'policy': 'fifo'"), NULL},
     "intruder",
     2},
    {{"structure", L2_ALONE("'sets': 32, 'ways': 5, 'policy': 'nru'"), NULL},
     "neighbour",
     3},
    {{"verdict", L1_OF("sm", "'line': 128, 'policy': 'fifo'"), NULL},
     "neighbour",
     3},
    {{"verdict", L1_OF("sm", "'line': 64"), NULL}, "intruder", 3},
    {{"verdict", CONSTANTS, NULL}, "noise", 2},
    {{"verdict", CONSTANTS, NULL}, "turns", 2},
    {{"verdict", CONSTANTS, NULL}, "throttle", 3},
    {{"change", CONSTANTS, NULL}, "noise", 3},
    {{"latency", PARTS("4", "'replicates': false"), NULL}, "noise", 2},
    {{"copies", L1_OF("sm", "'copies_per_sm': 2"), NULL}, "neighbour", 2},
    {{"copies", L1_OF("tpc", "'line': 128"), NULL}, "noise", 3},
    {{"sharing", L1_OF("sm", "'line': 128") TEXTURE, NULL}, "noise", 3},
    {{"sharing", CONSTANTS, NULL}, "intruder", 2},
    {{"slices",
      L2_ALONE("'sets': 96, 'ways': 6, 'atomic_cycles': 4, 'slices': "
               "{'modulo': 3, 'from_bit': 9, 'bits': [[7, 12]]}") "sms=2 ",
      NULL},
     "noise",
     2},
    {{"partitions", PARTS("4", "'replicates': true"), NULL}, "neighbour", 2},
    {{"partitions", PARTS("4", "'replicates': false"), NULL}, "intruder", 2},
    {{"icache", CODE_OF_TWO, NULL}, "noise", 2},
    {{"icache", CODE_OF_TWO, NULL}, "intruder", 2},
    {{"icache_sharing", CODE_OF_TPCS, NULL}, "noise", 2},
    {{"contention", COPIES("2", "4"), NULL}, "noise", 3},
    {{"contention", PORT("256", "10"), NULL}, "processes", 2},
    {{"scheduling", TPCS, NULL}, "noise", 3},
    {{"scheduling", TPCS, NULL}, "throttle", 2},
    {{"placement", WAYS("6", "2", "tpc_read_bandwidth=45 clock_scope=gpc "),
      NULL},
     "processes",
     2},
    {{"placement", WAYS("4", "2", "gpc_read_bandwidth=70 "), NULL},
     "throttle",
     3},
    {{"reads", RATES("l2_reported_bytes=32768 "), NULL}, "processes", 2},
    {{"reads", RATES("l2_reported_bytes=32768 "), NULL}, "clock", 3},
    {{"banks", BANKS("{'bytes': 8192, 'latency': 25, 'conflict_cycles': 2}"),
      NULL},
     "noise",
     3},
    {{"hints", L2("8.0", "65536"), NULL}, "intruder", 2},
    {{"hints", L2("9.0", "65536") "caches/l2/fetch_128B=128 ", NULL},
     "neighbour",
     3},
    {{"loaded", LOADED, NULL}, "processes", 2},
    {{"loaded", LOADED, NULL}, "throttle", 2},
    {{"bandwidth", RATES("l2_reported_bytes=32768 "), NULL}, "throttle", 2},
    {{"operators", RATES("l2_reported_bytes=32768 "), NULL}, "noise", 3},
    {{"tensor",
      "compute_capability='8.0' sms=1 max_threads_per_block=64 "
      "max_warps_per_sm=2 max_blocks_per_sm=1 caches/l2/sets=64",
      NULL},
     "noise",
     2},
};

/* What the verdict says of is compared, so that its golden answer is no wrong
 * one. */
static void assert_true(const json_t *findings, const char *text)
{
    struct error err = {0};
    struct profile *profile = NULL;
    struct truths truths;
    struct buf rows = {0};
    ASSERT_DONE(profile_parse(text, "small", &profile, &err), err);
    truths_of(profile, &truths);
    const struct verdict v =
        truth_compare(findings, "small", 1, &truths, &rows, NULL);
    ck_assert_msg(v.wrong == 0, "%s", buf_string(&rows));
    buf_free(&rows);
    profile_free(profile);
}

static char *profile_of(const struct small *s)
{
    return s->shipped != NULL ? gpu_changed(s->shipped, "%s", s->gpu)
                              : gpu_made("%s", s->gpu);
}

static char *disturbed_profile(const struct disturbed *d)
{
    char *const text = profile_of(&d->small);
    json_t *const gpu = json_loads(text, 0, NULL);
    free(text);
    disturbance_find(d->kind)->apply(gpu, d->strength);
    return gpu_text(gpu);
}

/* All of it is kept, and compared where it is measured (truth/said.h). */
static void gives_its_golden_answer(const char *study, char *profile)
{
    json_t *const findings = truth_findings_of(xstrdup(profile), study);
    if (strcmp(study, "verdict") == 0)
        assert_true(findings, profile);
    json_decref(findings);
    free(profile);
}

START_TEST(a_small_gpu_gives_its_golden_answer)
{
    gives_its_golden_answer(table[_i].study, profile_of(&table[_i]));
}
END_TEST

START_TEST(a_disturbed_gpu_gives_its_golden_answer)
{
    gives_its_golden_answer(disturbed[_i].small.study,
                            disturbed_profile(&disturbed[_i]));
}
END_TEST

Suite *suite_truth_small(void)
{
    TCase *t;
    Suite *const suite = suite_of("truth_small", 60, &t);
    const char *const only = getenv("SMALL");
    for (int i = 0; i < (int)COUNT_OF(table); i++)
        if (only == NULL || strcmp(only, table[i].study) == 0)
            tcase_add_loop_test(t, a_small_gpu_gives_its_golden_answer, i,
                                i + 1);
    for (int i = 0; i < (int)COUNT_OF(disturbed); i++)
        if (only == NULL || strcmp(only, disturbed[i].small.study) == 0)
            tcase_add_loop_test(t, a_disturbed_gpu_gives_its_golden_answer, i,
                                i + 1);
    return suite;
}
