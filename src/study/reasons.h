/*
 * Why something was not measured, or is a bound: the sentences that more than
 * one study says, and those that docs/findings.md explains, in one table.  Each
 * row of reasons.def is a format `why_ID` for finding_none, finding_because and
 * lab_refuse.
 */
#ifndef SONDE_STUDY_REASONS_H
#define SONDE_STUDY_REASONS_H

#define REASON(id, text)                                                       \
    static const char why_##id[] __attribute__((unused)) = text;
#include "study/reasons.def"
#undef REASON

#endif
