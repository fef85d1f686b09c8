/*
 * Assumptions: thresholds that follow from no other number.  Each says what it
 * rests on, and which suite of tests fails when it is far off.
 */
#ifndef SONDE_STUDY_ASSUME_H
#define SONDE_STUDY_ASSUME_H

/* ---- groups of SMs (study placement); suite truth_placement ------------- */

/* Two SMs that share a way get, each, of what one gets alone: half, if one
 * fills it.  Below the first they are slowed, above the second they are not,
 * where no gap tells better: rates of pairs that share nothing were seen down
 * to 0.96 (H200, 2026-11). */
#define ASSUME_PAIR_SLOWED 0.92
#define ASSUME_PAIR_FREE   0.96
/* Shares between these are asked again, at length: a margin about both. */
#define ASSUME_PAIR_DOUBT_FROM 0.80
#define ASSUME_PAIR_DOUBT_TO   0.97
/* What the slowed lack at least, to be told from others by a gap: as much as
 * short runs of one and the same differ by (3 %, H200, 2026-11). */
#define ASSUME_PAIR_GAP 0.03
/* By so much, at least, who shared gets more when a group does nothing.  H200,
 * 2026-11: 17 % within a GPC, and at most 8 % without, which the rule that it
 * be twice as much tells apart; this one tells both from noise. */
#define ASSUME_GROUP_GAIN 0.03
/* Changes of a rate below this are none, and its noise is most often above. */
#define ASSUME_RATE_FLOOR 0.003
/* Differences from this on are asked again, more often, where they make no
 * groups: they may be lost in noise, of which it is three times the floor. */
#define ASSUME_CHANGE_DOUBT 0.01

/* ---- bandwidths and transposes; suites truth_bandwidth, truth_operators -- */

/* Growth that is worth more in flight; and two clocks, or two rates, that
 * differ by less are the same: a step of a GPU's clock is about a hundredth of
 * it. */
#define ASSUME_ALIKE 0.01
/* What is far from saturated grows by more when twice as much is in flight. */
#define ASSUME_GROWTH_FAR 0.03
/* Longer runs that change less show that what begins and ends a run does not
 * count: half of what is alike. */
#define ASSUME_LENGTH_ALIKE 0.005
/* A step of the timer is no larger part of what is timed by it: a fifth of
 * what is alike. */
#define ASSUME_TIMER_STEP 0.002

/* ---- latency under load (study loaded); suite truth_loaded -------------- */

/* Growth of the bandwidth that is worth twice the warps: three times ALIKE,
 * since the runs of that search are short. */
#define ASSUME_LOAD_GROWTH 0.03
/* How far a point may lie from the share of the bandwidth that is aimed at:
 * less than the least distance between two of them. */
#define ASSUME_AIM_OFF 0.04
/* Latency that falls by more under more load is said. */
#define ASSUME_FALL 0.03
/* Share of the warps that began too late, or stopped too early, by which load
 * is not yet another: what ALIKE rates may differ by. */
#define ASSUME_MISSED 0.01
/* Far lines cost that much more than near ones, at least (H200, 2026-11: 64 %).
 */
#define ASSUME_FAR 0.02
/* Loads wait from a tenth more than without load on. */
#define ASSUME_WAITS 1.1

/* ---- L2 and what it is told (study hints); suite truth_hints ------------ */

/* A miss that costs no more than this is no miss: memory costs 1.5 to 2.6 times
 * what L2 does on every GPU in profiles/. */
#define ASSUME_MISS 1.15

/* ---- contention in L1; suite truth_contention --------------------------- */

/* A load is slower from a tenth more than alone on: H200, 2026-11: 3 % more
 * with 16 warps, which do not contend, and 87 % with 32, which do. */
#define ASSUME_SLOWER 1.1
/* A quarter of the warps is favoured by more than this, which noise alone can
 * make (H200, 2026-11: ends of warps spread by 0.8 %). */
#define ASSUME_FAVOUR 1.02

/* ---- the GPU's state (gpu_state.h); suite truth_disturbed --------------- */

/* Clocks further apart than this share have moved: a GPU's steps are about a
 * hundredth of its clock, and the timer's a thousandth of the spin. */
#define ASSUME_CLOCK_MOVED 0.01
/* An instruction that comes from memory takes a microsecond; another process
 * has an SM for far longer than this, ns. */
#define ASSUME_GAP_NS 20000

#endif
