/*
 * Why something was not measured, is a bound or is in doubt.  Each row of
 * reasons.def is a format `why_ID`, for finding_none, finding_because,
 * lab_refuse and what else takes a reason.
 */
#ifndef SONDE_STUDY_REASONS_H
#define SONDE_STUDY_REASONS_H

#include <inttypes.h>

#define REMEDY(meaning, what_to_do)
#define REASON(id, text)                                                       \
    static const char why_##id[] __attribute__((unused)) = text;
#include "study/reasons.def"
#undef REASON
#undef REMEDY

#endif
