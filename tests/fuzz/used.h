/* Readers whose results are used (tests/fuzz/targets.def). */
#ifndef SONDE_TESTS_FUZZ_USED_H
#define SONDE_TESTS_FUZZ_USED_H

#include "fuzz/fuzz.h"

void replay_seeds(struct seeds *seeds);
int use_recording(const struct buf *input, struct error *err);
int use_profile(const struct buf *input, struct error *err);
void kept_seeds(struct seeds *seeds);
int use_kept(const struct buf *input, struct error *err);
int use_ptx(const struct buf *input, struct error *err);
int use_report(const struct buf *input, struct error *err);

#endif
