/*
 * Options of GPGPU-Sim and Accel-Sim: one made of findings, and the string of
 * a cache.  Names and grammars are those of GPGPU-Sim (src/gpgpu-sim/gpu-sim.cc
 * and gpu-cache.h of commit 667834c, 2024-10) and Accel-Sim (trace_driven.cc
 * and util/tuner of commit 2260456, 2022-04).
 */
#ifndef SONDE_REPORT_EXPORT_ACCELSIM_H
#define SONDE_REPORT_EXPORT_ACCELSIM_H

#include "report/page.h"

struct accelsim {
    const struct results *results;
    struct page page;
};

/* A comment, wrapped; whatever it says, no line of it is an option. */
void accelsim_comment(const struct accelsim *out, const char *text);
/* The caches' strings: all are comments, which say what is measured of them. */
void accelsim_caches(const struct accelsim *out);

#endif
