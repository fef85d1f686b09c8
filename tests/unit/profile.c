/* The reader of profiles, each thing that it refuses, and what is shipped. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/sim/profile.h"
#include "device/sim/shipped.h"
#include "testing.h"

/* A profile with a bit of everything; the tests change it here and there. */
static const char good[] =
    "{ \"name\": \"Toy\", \"architecture\": \"Paper\",\n"
    "  \"compute_capability\": \"7.5\", \"sms\": 2, \"warp_schedulers\": 4,\n"
    "  \"max_threads_per_block\": 1024, \"max_warps_per_sm\": 16,\n"
    "  \"max_blocks_per_sm\": 8, \"clock_khz\": 1000000,\n"
    "  \"memory_bytes\": 1073741824,\n"
    "  \"caches\": {\n"
    "    \"l1\": {\"size\": 2048, \"line\": 128, \"sector\": 32,\n"
    "      \"sets\": 4, \"ways\": 4, \"set_bits\": [7, [8, 12]],\n"
    "      \"copies_per_sm\": 2,\n"
    "      \"policy\": {\"kind\": \"weighted\", \"weights\": [1, 3, 1, 1]}},\n"
    "    \"l2\": {\"line\": 128, \"set_ways\": [4, 2], \"policy\": \"nru\",\n"
    "      \"scope\": \"gpu\"}},\n"
    "  \"tlbs\": {\n"
    "    \"l2\": {\"page\": 4194304, \"sets\": 4, \"ways\": 2,\n"
    "      \"policy\": \"fifo\", \"scope\": \"gpc\"},\n"
    "    \"l1\": {\"page\": 2097152, \"entries\": 16, \"policy\": \"lru\"}},\n"
    "  \"paths\": {\n"
    "    \"global.ca\": {\"caches\": [\"l1\", \"l2\"],\n"
    "      \"latency\": {\"l1\": 30, \"l2\": [200, 210, 250.5],\n"
    "        \"memory\": 500}},\n"
    "    \"global.cg\": {\"caches\": [\"l2\"],\n"
    "      \"latency\": {\"l2\": 190, \"memory\": 490}}},\n"
    "  \"page_window\": {\"bytes\": 536870912, \"latency\": 1000},\n"
    "  \"shared_memory\": {\"bytes\": 49152, \"latency\": 25,\n"
    "    \"conflict_cycles\": 2.5},\n"
    "  \"isa\": {\"add.u32\": {\"O3\": 4, \"O1\": 5, \"issue\": 2},\n"
    "    \"default\": {\"O3\": 6, \"O0\": 15}},\n"
    "  \"noise\": {\"jitter_cycles\": 1.5, \"spike_rate\": 0.002,\n"
    "    \"spike_cycles\": 300} }\n";

/* `good` with the first `from` replaced; the caller frees. */
static char *changed(const char *from, const char *to)
{
    const char *const at = strstr(good, from);
    ck_assert_msg(at != NULL, "the profile has no %s", from);
    return xasprintf("%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
}

static struct profile *parse(const char *text)
{
    struct profile *profile;
    struct error err;
    ASSERT_DONE(profile_parse(text, "toy.json", &profile, &err), err);
    return profile;
}

START_TEST(plain_values_are_read)
{
    struct profile *const p = parse(good);
    ck_assert_str_eq(p->name, "Toy");
    ck_assert_str_eq(p->architecture, "Paper");
    ck_assert_int_eq(p->cc_major, 7);
    ck_assert_int_eq(p->cc_minor, 5);
    ck_assert_uint_eq(p->sms, 2);
    ck_assert_uint_eq(p->warp_schedulers, 4);
    ck_assert_uint_eq(p->max_threads_per_block, 1024);
    ck_assert_uint_eq(p->max_warps_per_sm, 16);
    ck_assert_uint_eq(p->max_blocks_per_sm, 8);
    ck_assert_uint_eq(p->clock_khz, 1000000);
    ck_assert_uint_eq(p->memory_bytes, (uint64_t)1 << 30);
    ck_assert_uint_eq(p->page_window_bytes, (uint64_t)512 << 20);
    ck_assert_double_eq(p->page_window_latency, 1000);
    ck_assert_uint_eq(p->shared_bytes, 49152);
    ck_assert_double_eq(p->shared_latency, 25);
    ck_assert_double_eq(p->shared_conflict_cycles, 2.5);
    ck_assert_double_eq(p->jitter_cycles, 1.5);
    ck_assert_double_eq(p->spike_rate, 0.002);
    ck_assert_double_eq(p->spike_cycles, 300);
    profile_free(p);
}
END_TEST

START_TEST(what_is_not_told_has_its_default)
{
    struct profile *const p = parse(good);
    ck_assert_str_eq(p->source, "");
    ck_assert_uint_eq(p->sms_per_tpc, 1);
    ck_assert_uint_eq(p->tpcs_per_gpc, 1);
    ck_assert_uint_eq(p->max_threads_per_sm, 512);
    ck_assert_uint_eq(p->constant_bytes, 65536);
    ck_assert_uint_eq(p->shared_per_block, 49152);
    ck_assert_uint_eq(p->banks.count, 32);
    ck_assert_uint_eq(p->banks.bank_bytes, 4);
    ck_assert_uint_eq(p->banks.row_words, 1);
    ck_assert_double_eq(p->clock_overhead, 2);
    ck_assert_int_eq(p->cores_per_sm, -1);
    ck_assert_int_eq(p->l2_reported_bytes, -1);
    ck_assert_int_eq(p->shared_reserved, -1);
    ck_assert_int_eq(p->paths[PATH_TEXTURE].present, 0);
    profile_free(p);
}
END_TEST

START_TEST(what_is_told_replaces_the_default)
{
    char *const text = changed(
        "\"sms\": 2,", "\"sms\": 2, \"cores_per_sm\": 64, \"ecc\": 1,"
                       "\"clock_overhead\": 3.5, \"constant_bytes\": 32768,"
                       "\"favours\": \"older_blocks\", \"block_order\": "
                       "\"tpcs\", \"globaltimer_ns\": 32,"
                       "\"max_threads_per_sm\": 256,");
    struct profile *const p = parse(text);
    ck_assert_int_eq(p->cores_per_sm, 64);
    ck_assert_int_eq(p->ecc, 1);
    ck_assert_double_eq(p->clock_overhead, 3.5);
    ck_assert_uint_eq(p->constant_bytes, 32768);
    ck_assert_int_eq(p->favours, FAVOUR_OLDER_BLOCKS);
    ck_assert(p->tpcs_in_turn);
    ck_assert_uint_eq(p->globaltimer_ns, 32);
    ck_assert_uint_eq(p->max_threads_per_sm, 256);
    profile_free(p);
    free(text);
}
END_TEST

START_TEST(no_page_window_and_no_noise_are_zero)
{
    char *const text = changed(
        "\"page_window\": {\"bytes\": 536870912, \"latency\": 1000},", "");
    struct profile *const p = parse(text);
    ck_assert_uint_eq(p->page_window_bytes, 0);
    profile_free(p);
    strcpy(strstr(text, ",\n  \"noise\""), "}");
    struct profile *const quiet = parse(text);
    ck_assert_double_eq(quiet->jitter_cycles, 0);
    ck_assert_double_eq(quiet->spike_rate, 0);
    profile_free(quiet);
    free(text);
}
END_TEST

START_TEST(a_cache_is_read_whole)
{
    struct profile *const p = parse(good);
    const struct profile_cache *const l1 = &p->caches[0];
    ck_assert_uint_eq(p->cache_count, 2);
    ck_assert_str_eq(l1->name, "l1");
    ck_assert_uint_eq(l1->shape.line, 128);
    ck_assert_uint_eq(l1->shape.sector, 32);
    ck_assert_uint_eq(l1->shape.sets, 4);
    ck_assert_uint_eq(l1->shape.set_ways[3], 4);
    ck_assert_uint_eq(l1->shape.index_bit_count, 2);
    ck_assert_uint_eq(l1->shape.index_bits[0], 1 << 7);
    ck_assert_uint_eq(l1->shape.index_bits[1], 1 << 8 | 1 << 12);
    ck_assert_int_eq(l1->shape.policy, POLICY_WEIGHTED);
    ck_assert_double_eq(l1->shape.weights[1], 3);
    ck_assert_uint_eq(l1->copies_per_sm, 2);
    ck_assert_int_eq(l1->scope, SCOPE_SM);
    profile_free(p);
}
END_TEST

START_TEST(a_cache_may_have_unequal_sets_and_whole_lines)
{
    struct profile *const p = parse(good);
    const struct profile_cache *const l2 = &p->caches[1];
    ck_assert_uint_eq(l2->shape.sector, 128);
    ck_assert_uint_eq(l2->shape.sets, 2);
    ck_assert_uint_eq(l2->shape.set_ways[1], 2);
    ck_assert_int_eq(l2->shape.policy, POLICY_NRU);
    ck_assert_uint_eq(l2->copies_per_sm, 1);
    ck_assert_int_eq(l2->scope, SCOPE_GPU);
    profile_free(p);
}
END_TEST

START_TEST(tlbs_come_by_level)
{
    struct profile *const p = parse(good);
    ck_assert_uint_eq(p->tlb_count, 2);
    ck_assert_str_eq(p->tlbs[0].name, "l1");
    ck_assert_uint_eq(p->tlbs[0].shape.line, 2 << 20);
    ck_assert_uint_eq(p->tlbs[0].shape.sets, 1);
    ck_assert_uint_eq(p->tlbs[0].shape.set_ways[0], 16);
    ck_assert_uint_eq(p->tlbs[1].shape.sets, 4);
    ck_assert_int_eq(p->tlbs[1].scope, SCOPE_GPC);
    profile_free(p);
}
END_TEST

START_TEST(a_path_names_caches_and_latencies)
{
    struct profile *const p = parse(good);
    const struct profile_path *const ca = &p->paths[PATH_GLOBAL_CA];
    ck_assert_int_eq(ca->present, 1);
    ck_assert_uint_eq(ca->levels, 2);
    ck_assert_int_eq(ca->cache[0], 0);
    ck_assert_int_eq(ca->cache[1], 1);
    ck_assert_double_eq(ca->latency[0].cycles[0], 30);
    ck_assert_double_eq(ca->latency[0].cycles[2], 30);
    ck_assert_double_eq(ca->latency[1].cycles[1], 210);
    ck_assert_double_eq(ca->latency[1].cycles[2], 250.5);
    ck_assert_double_eq(ca->memory.cycles[0], 500);
    ck_assert_int_eq(p->paths[PATH_GLOBAL_CG].cache[0], 1);
    profile_free(p);
}
END_TEST

START_TEST(levels_of_optimisation_are_filled_from_O3)
{
    struct profile *const p = parse(good);
    ck_assert_uint_eq(p->isa_count, 2);
    ck_assert_str_eq(p->isa[0].name, "default");
    ck_assert_double_eq(p->isa[0].latency.level[0], 15);
    ck_assert_double_eq(p->isa[0].latency.level[4], 6);
    ck_assert_double_eq(p->isa[0].issue, 1);
    ck_assert_str_eq(p->isa[1].name, "add.u32");
    ck_assert_double_eq(p->isa[1].latency.level[0], 15);
    ck_assert_double_eq(p->isa[1].latency.level[1], 5);
    ck_assert_double_eq(p->isa[1].latency.level[2], 4);
    ck_assert_double_eq(p->isa[1].issue, 2);
    profile_free(p);
}
END_TEST

START_TEST(a_row_may_tell_what_powers_of_two_cost)
{
    char *const text = changed(
        "\"default\": {",
        "\"div.u32\": {\"O3\": 50, \"power_of_two\": {\"O3\": 30, \"O1\": 31}},"
        "\"default\": {");
    struct profile *const p = parse(text);
    const struct profile_isa *const row = &p->isa[2];
    ck_assert_str_eq(row->name, "div.u32");
    ck_assert_double_eq(row->latency.level[3], 50);
    ck_assert_double_eq(row->power_of_two.level[0], 30);
    ck_assert_double_eq(row->power_of_two.level[1], 31);
    ck_assert_double_eq(row->power_of_two.level[4], 30);
    ck_assert(row->has_power_of_two);
    ck_assert(!p->isa[1].has_power_of_two);
    profile_free(p);
    free(text);
}
END_TEST

START_TEST(unoptimised_code_has_its_own_times)
{
    char *const loads =
        changed("\"caches\": [\"l2\"],", "\"caches\": [\"l2\"],"
                                         "\"unoptimized_cycles\": 17,");
    char *const shared =
        changed("\"latency\": 25,", "\"latency\": 25,"
                                    "\"unoptimized_cycles\": 29,");
    char *const clock =
        changed("\"sms\": 2,", "\"sms\": 2, \"clock_overhead\": 3,"
                               "\"clock_overhead_unoptimized\": 30,");
    struct profile *const p = parse(loads), *const q = parse(shared),
                          *const r = parse(clock);
    ck_assert_double_eq(p->paths[PATH_GLOBAL_CG].unoptimized_cycles, 17);
    ck_assert_double_eq(p->paths[PATH_GLOBAL_CA].unoptimized_cycles, 0);
    ck_assert_double_eq(p->shared_unoptimized_cycles, 0);
    ck_assert_double_eq(q->shared_unoptimized_cycles, 29);
    ck_assert_double_eq(p->clock_overhead_unoptimized, 2);
    ck_assert_double_eq(r->clock_overhead_unoptimized, 30);
    profile_free(p);
    profile_free(q);
    profile_free(r);
    free(loads);
    free(shared);
    free(clock);
}
END_TEST

/* ---- what is refused ---- */

static const struct {
    const char *from, *to;
    const char *says;
} refused[] = {
    {"{ \"name\"",                                "{ name",                                      "toy.json: line 1: "                                            },
    {"\"sms\": 2,",                               "\"sms\": 2,,",                                "toy.json: line 2: "                                            },
    {"\"sms\": 2,",                               "\"sms\": 2, \"sms\": 2,",                     "duplicate"                                                     },
    {"\"sms\": 2,",                               "",                                            "sms is missing"                                                },
    {"\"sms\": 2",                                "\"sm\": 2",
     "sm is not a key of a profile; did you mean "
     "'sms'?"                                                                                                                                                    },
    {"\"sms\": 2",                                "\"sms\": 2, \"favours\": \"low_warp\"",
     "favours may not be 'low_warp'; did you mean "
     "'low_warps'?"                                                                                                                                              },
    {"\"sms\": 2",                                "\"sms\": 2, \"block_order\": 1",
     "block_order must be a string"                                                                                                                              },
    {"\"sms\": 2",                                "\"qwertyuiop\": 2",                           "qwertyuiop is not a key"                                       },
    {"\"sms\": 2",                                "\"sms\": \"two\"",
     "sms must be a whole number, not a "
     "string"                                                                                                                                                    },
    {"\"sms\": 2",                                "\"sms\": 2.5",                                "sms must be a whole number, not 2.5"                           },
    {"\"sms\": 2",                                "\"sms\": 0",                                  "sms must be from 1 to 1024, not 0"                             },
    {"\"sms\": 2",                                "\"sms\": -1",                                 "sms must be from 1 to 1024, not -1"                            },
    {"\"Toy\"",                                   "7",                                           "name must be a string, not a number"                           },
    {"\"7.5\"",                                   "\"7\"",                                       "compute_capability must be like"                               },
    {"\"7.5\"",                                   "\"7.5x\"",                                    "compute_capability must be like"                               },
    {"\"7.5\"",                                   "7.5",                                         "compute_capability must be a string"                           },
    {"\"size\": 2048",                            "\"size\": 2000",
     "caches.l1.size is 2000, but the line times the ways of all sets makes "
     "2048"                                                                                                                                                      },
    {"\"line\": 128, \"sector\": 32",             "\"line\": 96, \"sector\": 32",
     "caches.l1.line must be a power of two, not 96"                                                                                                             },
    {"\"sector\": 32",                            "\"sector\": 256",                             "caches.l1: sectors of 256 bytes"                               },
    {"\"sets\": 4, \"ways\": 4",                  "\"ways\": 4",                                 "caches.l1.sets is missing"                                     },
    {"\"sets\": 4, \"ways\": 4",                  "\"sets\": 4, \"ways\": 0",
     "caches.l1.ways must be from 1"                                                                                                                             },
    {"\"sets\": 4, \"ways\": 4",                  "\"sets\": 65536, \"ways\": 65536",
     "caches.l1 has more lines"                                                                                                                                  },
    {"\"sets\": 4, \"ways\": 4",                  "\"sets\": 4, \"ways\": 4, \"set_ways\": [4]",
     "caches.l1 must tell its sets in one manner"                                                                                                                },
    {"\"set_ways\": [4, 2]",                      "\"set_ways\": []",
     "caches.l2.set_ways must be an array"                                                                                                                       },
    {"\"set_ways\": [4, 2]",                      "\"set_ways\": [4, \"x\"]",
     "caches.l2.set_ways must be a whole number"                                                                                                                 },
    {"[7, [8, 12]]",                              "[7]",                                         "caches.l1: 1 index bits do not make 4 sets"                    },
    {"[7, [8, 12]]",                              "[7, 64]",                                     "caches.l1.set_bits must be from 0 to 63"                       },
    {"[7, [8, 12]]",                              "7",                                           "caches.l1.set_bits must be an array"                           },
    {"[7, [8, 12]]",                              "[6, 7]",                                      "caches.l1: index bit 0 lies within the line"                   },
    {"[1, 3, 1, 1]",                              "[1, 3, 1]",
     "caches.l1.policy.weights must be an array of 4 weights"                                                                                                    },
    {"[1, 3, 1, 1]",                              "[0, 0, 0, 0]",                                "caches.l1: no way has a weight"                                },
    {"[1, 3, 1, 1]",                              "[1, 3, 1, -1]",                               "caches.l1.policy.weights must be from"                         },
    {", \"weights\": [1, 3, 1, 1]",               "",                                            "caches.l1.policy.weights is missing"                           },
    {"\"kind\": \"weighted\", ",                  "",                                            "caches.l1.policy.kind is missing"                              },
    {"\"kind\": \"weighted\"",                    "\"kind\": \"lru\"",
     "caches.l1.policy.weights belongs to the kind 'weighted' alone"                                                                                             },
    {"\"nru\"",                                   "\"nrv\"",
     "caches.l2.policy has no policy 'nrv'; did you mean 'nru'?"                                                                                                 },
    {"\"nru\"",                                   "\"weighted\"",                                "caches.l2.policy needs the weights"                            },
    {"\"nru\"",                                   "1",                                           "caches.l2.policy must be a string or an object"                },
    {"\"set_ways\": [4, 2], \"policy\": \"nru\"",
     "\"set_ways\": [4, 3], \"policy\": \"plru\"",                                               "caches.l2: the policy plru needs a power of two of ways, not 3"},
    {"\"policy\": \"nru\",",                      "",                                            "caches.l2.policy is missing"                                   },
    {"\"scope\": \"gpu\"",                        "\"scope\": \"cpu\"",
     "caches.l2.scope must be sm, tpc, gpc or gpu, not 'cpu'"                                                                                                    },
    {"\"scope\": \"gpu\"",                        "\"scope\": \"gpu\", \"copies_per_sm\": 2",
     "caches.l2.copies_per_sm must be 1"                                                                                                                         },
    {"\"copies_per_sm\": 2",                      "\"copies_per_sm\": 5",
     "caches.l1.copies_per_sm must be from 1 to 4, not 5"                                                                                                        },
    {"\"copies_per_sm\": 2",                      "\"copies_sm\": 2",
     "caches.l1.copies_sm is not a key of a profile; did you mean "
     "'copies_per_sm'?"                                                                                                                                          },
    {"\"l2\": {\"line\"",                         "\"memory\": {\"line\"",                       "named 'memory'"                                                },
    {"\"page\": 2097152",                         "\"page\": 2097153",
     "tlbs.l1.page must be a power of two"                                                                                                                       },
    {"\"entries\": 16",                           "\"entries\": 16, \"ways\": 2",
     "tlbs.l1 must tell its sets in one manner"                                                                                                                  },
    {"\"entries\": 16",                           "\"entries\": 0",                              "tlbs.l1.entries must be from 1"                                },
    {"\"l1\": {\"page\"",                         "\"l3\": {\"page\"",                           "tlbs.l1 is missing"                                            },
    {"\"l1\": {\"page\"",                         "\"l4\": {\"page\"",                           "tlbs.l4 is not a key"                                          },
    {"[\"l1\", \"l2\"]",                          "[\"l1\", \"L2\"]",
     "paths.global.ca.caches names 'L2', which is not among caches; did you "
     "mean 'l2'?"                                                                                                                                                },
    {"[\"l1\", \"l2\"]",                          "[\"l1\", \"l1\"]",
     "paths.global.ca.caches names 'l1' twice"                                                                                                                   },
    {"[\"l1\", \"l2\"]",                          "[1]",
     "paths.global.ca.caches must be an array of names"                                                                                                          },
    {"\"l2\": [200, 210, 250.5],",                "",                                            "paths.global.ca.latency.l2 is missing"                         },
    {"[200, 210, 250.5]",                         "[200, 210]",
     "paths.global.ca.latency.l2 must be one number or three"                                                                                                    },
    {"[200, 210, 250.5]",                         "[200, 210, null]",
     "paths.global.ca.latency.l2 must be a number, not null"                                                                                                     },
    {"\"l1\": 30,",                               "\"l1\": -30,",
     "paths.global.ca.latency.l1 must be from 0"                                                                                                                 },
    {"\"l1\": 30,",                               "\"l1\": 30, \"l3\": 40,",
     "paths.global.ca.latency.l3 is not a key"                                                                                                                   },
    {"\"memory\": 490",                           "\"memry\": 490",
     "paths.global.cg.latency.memry is not a key of a profile; did you mean "
     "'memory'?"                                                                                                                                                 },
    {"\"memory\": 500}}",                         "\"memory\": 500}, \"window\": 3}",
     "paths.global.ca.window is not a key"                                                                                                                       },
    {"\"global.cg\": {",                          "\"texture\": {",                              "paths.global.cg is missing"                                    },
    {"\"global.cg\": {",                          "\"global.cq\": {",
     "paths.global.cq is not a key of a profile; did you mean 'global.ca'?"                                                                                      },
    {"\"latency\": 1000",                         "\"latency\": true",
     "page_window.latency must be a number, not true or false"                                                                                                   },
    {"\"bytes\": 536870912, ",                    "",                                            "page_window.bytes is missing"                                  },
    {"\"conflict_cycles\": 2.5",                  "\"conflict_cycles\": 2.5, \"banks\": 200",
     "shared_memory.banks must be from 1 to 128, not 200"                                                                                                        },
    {"\"latency\": 25,",                          "",                                            "shared_memory.latency is missing"                              },
    {"\"shared_memory\"",                         "\"shared\"",                                  "shared is not a key"                                           },
    {"\"default\": {\"O3\": 6, \"O0\": 15}",      "\"sub.u32\": {\"O3\": 4}",
     "isa.default is missing"                                                                                                                                    },
    {"\"O3\": 4, ",                               "",                                            "isa.add.u32.O3 is missing"                                     },
    {"\"O1\": 5",                                 "\"O5\": 5",                                   "isa.add.u32.O5 is not a key"                                   },
    {"{\"O3\": 6, \"O0\": 15}",                   "6",                                           "isa.default must be an object"                                 },
    {"\"spike_rate\": 0.002",                     "\"spike_rate\": 2",
     "noise.spike_rate must be from 0 to 1, not 2"                                                                                                               },
};

START_TEST(a_wrong_profile_is_refused_by_file_and_key)
{
    char *const text = changed(refused[_i].from, refused[_i].to);
    struct profile *profile;
    struct error err;
    ASSERT_FAILS(profile_parse(text, "toy.json", &profile, &err), ERR_FILE, err,
                 refused[_i].says);
    ASSERT_FAILS(err.code, ERR_FILE, err, "toy.json: ");
    free(text);
}
END_TEST

/* ---- partitions ---- */

static const char whole_l2[] = "\"set_ways\": [4, 2], \"policy\": \"nru\",\n"
                               "      \"scope\": \"gpu\"}";

/* The caller frees. */
static char *parted(const char *sets, const char *scope, const char *partitions)
{
    char *const l2 = xasprintf("%s, \"policy\": \"nru\", \"scope\": \"%s\", "
                               "\"partitions\": {%s}}",
                               sets, scope, partitions);
    char *const text = changed(whole_l2, l2);
    free(l2);
    return text;
}

#define EVEN_SETS "\"sets\": 2, \"ways\": 4"

START_TEST(partitions_are_read)
{
    char *const text = parted(EVEN_SETS, "gpu",
                              "\"bits\": [12, 13, 30], \"far_cycles\": 150.5,"
                              " \"replicates\": true, \"sms\": \"alternate\"");
    struct profile *const p = parse(text);
    const struct profile_partitions *const l2 = &p->caches[1].partitions;
    ck_assert_uint_eq(l2->bits, 1 << 12 | 1 << 13 | 1 << 30);
    ck_assert_double_eq(l2->far_cycles, 150.5);
    ck_assert(l2->replicates);
    ck_assert(l2->alternate);
    ck_assert_uint_eq(p->caches[0].partitions.bits, 0);
    profile_free(p);
    free(text);
}
END_TEST

static const struct {
    const char *sets, *scope, *partitions;
    const char *says;
} refused_partitions[] = {
    {"\"set_ways\": [4, 2]",          "gpu", "\"bits\": [12], \"far_cycles\": 9",
     "caches.l2.partitions need sets with equal ways"                                                                                              },
    {"\"sets\": 3, \"ways\": 4",      "gpu", "\"bits\": [12], \"far_cycles\": 9",
     "caches.l2.partitions need an even number of sets, not 3"                                                                                     },
    {EVEN_SETS,                       "gpc", "\"bits\": [12], \"far_cycles\": 9",
     "caches.l2.partitions belong to a cache of scope gpu"                                                                                         },
    {EVEN_SETS ", \"set_bits\": [7]", "gpu",
     "\"bits\": [12], \"far_cycles\": 9",                                                            "caches.l2.partitions do not go with set_bits"},
    {EVEN_SETS,                       "gpu", "\"bits\": [21], \"far_cycles\": 9",
     "caches.l2.partitions need bits of which the lowest is 11 to 20"                                                                              },
    {EVEN_SETS,                       "gpu", "\"bits\": [12, 12], \"far_cycles\": 9",
     "caches.l2.partitions need bits of which the lowest is 11 to 20"                                                                              },
    {EVEN_SETS,                       "gpu", "\"bits\": [], \"far_cycles\": 9",
     "caches.l2.partitions.bits must be an array of address bits"                                                                                  },
    {EVEN_SETS,                       "gpu", "\"bits\": [12]",
     "caches.l2.partitions.far_cycles is missing"                                                                                                  },
    {EVEN_SETS,                       "gpu", "\"bits\": [12], \"far_cycles\": 9, \"replicates\": 1",
     "caches.l2.partitions.replicates must be true or false, not a number"                                                                         },
    {EVEN_SETS,                       "gpu", "\"bits\": [12], \"far_cycles\": 9, \"sms\": \"odd\"",
     "caches.l2.partitions.sms must be halves or alternate, not 'odd'"                                                                             },
    {EVEN_SETS,                       "gpu", "\"bits\": [12], \"far_cycles\": 9, \"count\": 2",
     "caches.l2.partitions.count is not a key"                                                                                                     },
};

START_TEST(partitions_that_cannot_be_are_refused)
{
    char *const text =
        parted(refused_partitions[_i].sets, refused_partitions[_i].scope,
               refused_partitions[_i].partitions);
    struct profile *profile;
    struct error err;
    ASSERT_FAILS(profile_parse(text, "toy.json", &profile, &err), ERR_FILE, err,
                 refused_partitions[_i].says);
    free(text);
}
END_TEST

START_TEST(what_is_no_object_is_refused)
{
    struct profile *profile;
    struct error err;
    ASSERT_FAILS(profile_parse("[]", "x", &profile, &err), ERR_FILE, err,
                 "x: the profile must be an object, not an array");
    ASSERT_FAILS(profile_parse("", "x", &profile, &err), ERR_FILE, err,
                 "x: line 1: ");
}
END_TEST

/* ---- finding profiles ---- */

START_TEST(a_path_is_read_as_a_file)
{
    char *const path = testing_file("toy.json", good);
    struct profile *profile;
    struct error err;
    ASSERT_DONE(profile_open(path, NULL, &profile, &err), err);
    ck_assert_str_eq(profile->name, "Toy");
    profile_free(profile);
    free(path);
}
END_TEST

START_TEST(a_wrong_file_is_named)
{
    char *const path = testing_file("toy.json", "{\n\n]");
    struct profile *profile;
    struct error err;
    ASSERT_FAILS(profile_open(path, NULL, &profile, &err), ERR_FILE, err,
                 "toy.json: line 3: ");
    ASSERT_FAILS(profile_open("not-there.json", NULL, &profile, &err), ERR_FILE,
                 err, "cannot read not-there.json");
    free(path);
}
END_TEST

START_TEST(a_name_is_looked_for_in_the_folder_too)
{
    char *const path = testing_file("toy.json", good);
    struct profile *profile;
    struct error err;
    *strrchr(path, '/') = '\0';
    ASSERT_DONE(profile_open("toy", path, &profile, &err), err);
    ck_assert_str_eq(profile->name, "Toy");
    profile_free(profile);
    ASSERT_FAILS(profile_open("toi", path, &profile, &err), ERR_NO_DEVICE, err,
                 "'toi'");
    free(path);
}
END_TEST

START_TEST(an_unknown_name_brings_the_nearest)
{
    struct profile *profile;
    struct error err;
    ASSERT_FAILS(profile_open("k20", NULL, &profile, &err), ERR_NO_DEVICE, err,
                 "there is no profile 'k20'; did you mean 'k20c'?");
    ASSERT_FAILS(profile_open("qwertyuiop", NULL, &profile, &err),
                 ERR_NO_DEVICE, err, "sonde list");
}
END_TEST

/* ---- what is shipped ---- */

static struct profile *open_shipped(const char *name)
{
    struct profile *profile;
    struct error err;
    ASSERT_DONE(profile_open(name, NULL, &profile, &err), err);
    return profile;
}

static const struct profile_cache *find(const struct profile *p,
                                        const char *name)
{
    for (size_t i = 0; i < p->cache_count; i++)
        if (strcmp(p->caches[i].name, name) == 0)
            return &p->caches[i];
    return NULL;
}

START_TEST(every_shipped_profile_is_whole)
{
    size_t count = 0;
    for (const struct shipped_profile *s = shipped_profiles; s->name; s++) {
        struct profile *const p = open_shipped(s->name);
        ck_assert_msg(p->source[0] != '\0', "%s tells no source", s->name);
        ck_assert_msg(p->cores_per_sm > 0, "%s tells no cores", s->name);
        ck_assert_uint_ge(p->tlb_count, 2);
        ck_assert_ptr_nonnull(find(p, "l2"));
        ck_assert_double_gt(p->jitter_cycles, 0);
        profile_free(p);
        count++;
    }
    ck_assert_uint_eq(count, 15);
}
END_TEST

START_TEST(every_shipped_cache_has_the_size_that_it_tells)
{
    for (const struct shipped_profile *s = shipped_profiles; s->name; s++) {
        struct profile *const p = open_shipped(s->name);
        json_t *const root = json_loads(s->text, 0, NULL);
        const json_t *const caches = json_object_get(root, "caches");
        for (size_t i = 0; i < p->cache_count; i++) {
            const json_t *const size = json_object_get(
                json_object_get(caches, p->caches[i].name), "size");
            ck_assert_uint_eq(cache_shape_bytes(&p->caches[i].shape),
                              (uint64_t)json_integer_value(size));
        }
        json_decref(root);
        profile_free(p);
    }
}
END_TEST

START_TEST(farther_levels_are_slower)
{
    for (const struct shipped_profile *s = shipped_profiles; s->name; s++) {
        struct profile *const p = open_shipped(s->name);
        for (size_t i = 0; i < PATH_COUNT; i++) {
            const struct profile_path *const path = &p->paths[i];
            double nearer = 0;
            for (size_t k = 0; k < path->levels; k++) {
                ck_assert_double_gt(path->latency[k].cycles[0], nearer);
                nearer = path->latency[k].cycles[0];
            }
            if (path->present)
                ck_assert_double_gt(path->memory.cycles[0], nearer);
        }
        profile_free(p);
    }
}
END_TEST

/* What the papers say: Mei 2014, tables 1 and 3; Groessler 2022, tables 5.4
 * to 5.9; 0: global loads are not cached in L1. */
static const struct {
    const char *name;
    unsigned sms;
    uint64_t l2_bytes;
    double l1, l2, memory, shared;
} published[] = {
    {"gtx560ti",  8,   512 << 10,  116, 404, 655, 50},
    {"gtx780",    12,  1536 << 10, 0,   230, 371, 47},
    {"k20c",      13,  1280 << 10, 64,  223, 339, 47},
    {"gtx840m",   3,   1 << 20,    0,   173, 448, 31},
    {"p6000",     30,  3 << 20,    92,  243, 412, 31},
    {"v100",      80,  6 << 20,    36,  215, 430, 27},
    {"rtx2080ti", 68,  5632 << 10, 40,  230, 425, 30},
    {"a100",      108, 40 << 20,   39,  223, 567, 28},
};

START_TEST(shipped_profiles_say_what_was_published)
{
    struct profile *const p = open_shipped(published[_i].name);
    const struct profile_path *const ca = &p->paths[PATH_GLOBAL_CA];
    const size_t levels = published[_i].l1 > 0 ? 2 : 1;
    ck_assert_uint_eq(p->sms, published[_i].sms);
    ck_assert_uint_eq(cache_shape_bytes(&find(p, "l2")->shape),
                      published[_i].l2_bytes);
    ck_assert_uint_eq(ca->levels, levels);
    if (levels == 2)
        ck_assert_double_eq(ca->latency[0].cycles[0], published[_i].l1);
    ck_assert_double_eq(ca->latency[levels - 1].cycles[0], published[_i].l2);
    ck_assert_double_eq(ca->memory.cycles[0], published[_i].memory);
    ck_assert_double_eq(p->shared_latency, published[_i].shared);
    profile_free(p);
}
END_TEST

static void add_value_tests(TCase *t)
{
    tcase_add_test(t, plain_values_are_read);
    tcase_add_test(t, what_is_not_told_has_its_default);
    tcase_add_test(t, what_is_told_replaces_the_default);
    tcase_add_test(t, no_page_window_and_no_noise_are_zero);
    tcase_add_test(t, a_cache_is_read_whole);
    tcase_add_test(t, a_cache_may_have_unequal_sets_and_whole_lines);
    tcase_add_test(t, tlbs_come_by_level);
    tcase_add_test(t, a_path_names_caches_and_latencies);
    tcase_add_test(t, levels_of_optimisation_are_filled_from_O3);
    tcase_add_test(t, a_row_may_tell_what_powers_of_two_cost);
    tcase_add_test(t, unoptimised_code_has_its_own_times);
}

Suite *suite_profile(void)
{
    TCase *t;
    Suite *const suite = suite_of("profile", 20, &t);
    add_value_tests(t);
    tcase_add_loop_test(t, a_wrong_profile_is_refused_by_file_and_key, 0,
                        (int)COUNT_OF(refused));
    tcase_add_test(t, partitions_are_read);
    tcase_add_loop_test(t, partitions_that_cannot_be_are_refused, 0,
                        (int)COUNT_OF(refused_partitions));
    tcase_add_test(t, what_is_no_object_is_refused);
    tcase_add_test(t, a_path_is_read_as_a_file);
    tcase_add_test(t, a_wrong_file_is_named);
    tcase_add_test(t, a_name_is_looked_for_in_the_folder_too);
    tcase_add_test(t, an_unknown_name_brings_the_nearest);
    tcase_add_test(t, every_shipped_profile_is_whole);
    tcase_add_test(t, every_shipped_cache_has_the_size_that_it_tells);
    tcase_add_test(t, farther_levels_are_slower);
    tcase_add_loop_test(t, shipped_profiles_say_what_was_published, 0,
                        (int)COUNT_OF(published));
    return suite;
}
