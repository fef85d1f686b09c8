#include "analysis/timed.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

/* Of the copies that are more, so many may be there still by chance where the
 * chain was folded: one in eight. */
enum { FEW = 8 };

/* What the assembler takes for one another. */
static const struct {
    const char *form, *same;
} twins[] = {
    {"IMAD.MOV",  "MOV"    },
    {"IMAD.IADD", "IADD3"  },
    {"VIADD",     "IADD3"  },
    {"IMAD.X",    "IADD3.X"},
    {"IMAD.SHL",  "SHF.L"  },
};

/* Machine instructions that are counted as one. */
struct kind {
    const char *form;
    bool expected;
    size_t shorter, longer;
};

struct kinds {
    struct kind *at;
    size_t count;
};

static bool is_expected(const char *form, const char *patterns)
{
    char pattern[SASS_FORM_MAX];
    for (const char *p = patterns; *p != '\0'; p += strspn(p, " ")) {
        const size_t length = strcspn(p, " ");
        if (length > 0 && length < sizeof pattern) {
            memcpy(pattern, p, length);
            pattern[length] = '\0';
            if (text_glob(pattern, form))
                return true;
        }
        p += length;
    }
    return false;
}

static const char *twin_of(const char *form)
{
    for (size_t i = 0; i < COUNT_OF(twins); i++)
        if (strcmp(twins[i].form, form) == 0)
            return twins[i].same;
    return form;
}

static struct kind *kind_of(struct kinds *kinds, const char *form,
                            bool expected)
{
    form = twin_of(form);
    for (size_t i = 0; i < kinds->count; i++)
        if (kinds->at[i].expected == expected &&
            strcmp(kinds->at[i].form, form) == 0)
            return &kinds->at[i];
    kinds->at = xreallocarray(kinds->at, kinds->count + 1, sizeof *kinds->at);
    kinds->at[kinds->count] = (struct kind){form, expected, 0, 0};
    return &kinds->at[kinds->count++];
}

static struct kinds count_kinds(const struct timed_claim *c)
{
    struct kinds kinds = {0};
    for (size_t i = 0; i < c->longer.count; i++) {
        const char *const form = c->longer.at[i].form;
        kind_of(&kinds, form, is_expected(form, c->expected))->longer++;
    }
    for (size_t i = 0; i < c->shorter.count; i++) {
        const char *const form = c->shorter.at[i].form;
        kind_of(&kinds, form, is_expected(form, c->expected))->shorter++;
    }
    return kinds;
}

static size_t count_expected(struct span span, const char *patterns)
{
    size_t count = 0;
    for (size_t i = 0; i < span.count; i++)
        count += is_expected(span.at[i].form, patterns);
    return count;
}

/* ---- the chain -------------------------------------------------------- */

/* For each register, how many expected instructions its value waited for. */
struct depths {
    unsigned of[4][256];
};

static unsigned *depth_of(struct depths *depths, enum sass_file file,
                          unsigned number)
{
    return &depths->of[file][number & 255];
}

static unsigned deepest_read(struct depths *depths, const struct sass *s)
{
    unsigned depth = 0;
    for (size_t i = 0; i < s->reads.count; i++)
        for (unsigned k = 0; k < s->reads.at[i].count; k++) {
            const unsigned d = *depth_of(depths, s->reads.at[i].file,
                                         s->reads.at[i].number + k);
            depth = d > depth ? d : depth;
        }
    return depth;
}

static void write_depth(struct depths *depths, const struct sass *s,
                        unsigned depth)
{
    for (size_t i = 0; i < s->writes.count; i++)
        for (unsigned k = 0; k < s->writes.at[i].count; k++)
            *depth_of(depths, s->writes.at[i].file,
                      s->writes.at[i].number + k) = depth;
}

/* The most expected instructions of which each waits for the one before. */
static unsigned longest_chain(struct span span, const char *expected)
{
    struct depths depths = {0};
    unsigned longest = 0;
    for (size_t i = 0; i < span.count; i++) {
        const struct sass *const s = &span.at[i];
        const unsigned depth =
            deepest_read(&depths, s) + (is_expected(s->form, expected) ? 1 : 0);
        write_depth(&depths, s, depth);
        longest = depth > longest ? depth : longest;
    }
    return longest;
}

/* The first instruction that hides what waits for what: the registers of an
 * expected one are not known, or the code does not go straight on. */
static const struct sass *hiding(struct span span, const char *expected)
{
    for (size_t i = 0; i < span.count; i++)
        if (span.at[i].jumps || (!span.at[i].registers_known &&
                                 is_expected(span.at[i].form, expected)))
            return &span.at[i];
    return NULL;
}

static const struct sass *unknown(struct span span)
{
    for (size_t i = 0; i < span.count; i++)
        if (!span.at[i].registers_known)
            return &span.at[i];
    return NULL;
}

static void unread(struct timed *t, const struct sass *s)
{
    t->chain_read = false;
    t->because = xasprintf("chain not read: what %s in the timed region "
                           "reads and writes is not known",
                           s->form);
}

static void judge_chain(const struct timed_claim *c, size_t frame,
                        struct timed *t)
{
    if (c->chains == 0)
        return;
    const struct sass *hides = hiding(c->longer, c->expected);
    if (hides != NULL)
        return unread(t, hides);
    const unsigned copies = 3 * c->copies / c->chains;
    const unsigned longest = longest_chain(c->longer, c->expected);
    const bool enough = longest >= copies;
    hides = unknown(c->longer);
    if (!enough && hides != NULL)
        return unread(t, hides);
    if (enough && longest <= copies * t->expected + frame)
        return;
    t->verdict = TIMED_UNCHAINED;
    t->because =
        c->chains == 1
            ? xasprintf("the copies do not depend on each other: at most %u "
                        "of %u machine instructions wait for each other",
                        longest, copies * t->expected)
            : xasprintf("the copies do not make %u chains: %u machine "
                        "instructions wait for each other, not %u",
                        c->chains, longest, copies * t->expected);
}

/* ---- what the regions have -------------------------------------------- */

/* What the comparison is about: the kinds, and the sums of those expected. */
struct sums {
    const struct timed_claim *claim;
    struct kinds kinds;
    size_t shorter, longer; /* expected */
    size_t copies;          /* that the longer region has more */
};

static size_t more(size_t longer, size_t shorter)
{
    return longer > shorter ? longer - shorter : 0;
}

/* Whole, and the shorter region has its part, too. */
static bool is_whole(size_t shorter, size_t longer, size_t copies)
{
    const size_t each = more(longer, shorter) / copies;
    return longer >= shorter && longer - shorter == each * copies &&
           shorter >= each * (copies / 2);
}

static const struct kind *uneven(const struct sums *t)
{
    for (size_t i = 0; i < t->kinds.count; i++) {
        const struct kind *const k = &t->kinds.at[i];
        if (!k->expected && !is_whole(k->shorter, k->longer, t->copies))
            return k;
    }
    return NULL;
}

/* The kind that comes once or more a copy though it is not expected. */
static const struct kind *stranger(const struct sums *t)
{
    const struct kind *found = NULL;
    for (size_t i = 0; i < t->kinds.count; i++) {
        const struct kind *const k = &t->kinds.at[i];
        if (!k->expected && more(k->longer, k->shorter) >= t->copies &&
            is_whole(k->shorter, k->longer, t->copies) &&
            (found == NULL || k->longer > found->longer))
            found = k;
    }
    return found;
}

/* ---- the texts -------------------------------------------------------- */

static void write_times(struct buf *out, const char *form, size_t times)
{
    if (times == 0)
        return;
    buf_printf(out, "%s%s", out->length > 0 ? " " : "", form);
    if (times > 1)
        buf_printf(out, "×%zu", times);
}

static char *text_of(struct buf *b)
{
    buf_text(b, "");
    return buf_take(b);
}

static void describe(const struct sums *t, struct timed *timed)
{
    struct buf expansion = {0}, frame = {0};
    for (size_t i = 0; i < t->kinds.count; i++) {
        const struct kind *const k = &t->kinds.at[i];
        const size_t each = more(k->longer, k->shorter) / t->copies;
        write_times(&expansion, k->form, each);
        write_times(&frame, k->form, more(k->shorter, each * t->claim->copies));
        timed->others += k->expected ? 0 : (unsigned)each;
    }
    timed->expansion = text_of(&expansion);
    timed->frame = text_of(&frame);
}

/* ---- the verdict ------------------------------------------------------ */

static void refuse_few(const struct sums *t, struct timed *timed)
{
    const struct timed_claim *const c = t->claim;
    const struct kind *const k = stranger(t);
    const size_t inside = t->longer + t->shorter;
    const size_t outside = more(count_expected(c->whole, c->expected), inside);
    if (k != NULL) {
        timed->verdict = TIMED_REPLACED;
        timed->because =
            xasprintf("replaced: %zu %s and %zu %s for %u copies", k->longer,
                      k->form, t->longer, c->expected, 3 * c->copies);
    } else if (outside >= c->copies) {
        timed->verdict = TIMED_MOVED;
        timed->because = xasprintf(
            "moved: %zu %s are outside of the timed regions, %zu inside for "
            "%u copies",
            outside, c->expected, inside, 4 * c->copies);
    } else {
        timed->verdict = TIMED_FOLDED;
        timed->because = xasprintf("folded: %zu %s are left for %u copies",
                                   t->longer, c->expected, 3 * c->copies);
    }
}

static void refuse_uneven(const struct sums *t, struct timed *timed)
{
    const struct timed_claim *const c = t->claim;
    const struct kind *const k = stranger(t);
    const size_t extra = more(t->longer, t->shorter);
    if (extra < t->copies && k != NULL) {
        timed->verdict = TIMED_REPLACED;
        timed->because = xasprintf(
            "replaced in part: %zu %s beside %zu %s for %u copies", k->longer,
            k->form, t->longer, c->expected, 3 * c->copies);
    } else if (extra < t->copies) {
        timed->verdict = TIMED_MERGED;
        timed->because = xasprintf("merged: %zu %s for %u copies", t->longer,
                                   c->expected, 3 * c->copies);
    } else {
        timed->verdict = TIMED_UNEVEN;
        timed->because = xasprintf(
            "uneven: %zu %s for %u copies and %zu for %u are no whole number "
            "for each",
            t->longer, c->expected, 3 * c->copies, t->shorter, c->copies);
    }
}

static void refuse_others(const struct sums *t, const struct kind *k,
                          struct timed *timed)
{
    const unsigned copies = t->claim->copies;
    timed->verdict = TIMED_UNEVEN;
    timed->because = xasprintf(
        "uneven: beside %s come %zu %s for %u copies and %zu for %u: not all "
        "of the work is done for each",
        t->claim->expected, k->longer, k->form, 3 * copies, k->shorter, copies);
}

static void judge(const struct sums *t, struct timed *timed)
{
    const size_t extra = more(t->longer, t->shorter);
    if (extra * FEW <= t->copies)
        return refuse_few(t, timed);
    if (!is_whole(t->shorter, t->longer, t->copies))
        return refuse_uneven(t, timed);
    timed->expected = (unsigned)(extra / t->copies);
    const struct kind *const k = uneven(t);
    if (k != NULL)
        return refuse_others(t, k, timed);
    describe(t, timed);
    judge_chain(t->claim, t->shorter - timed->expected * t->claim->copies,
                timed);
}

struct timed timed_judge(const struct timed_claim *claim)
{
    struct timed timed = {.verdict = TIMED_VERIFIED, .chain_read = true};
    struct sums sums = {
        .claim = claim,
        .kinds = count_kinds(claim),
        .shorter = count_expected(claim->shorter, claim->expected),
        .longer = count_expected(claim->longer, claim->expected),
        .copies = 2 * (size_t)claim->copies};
    judge(&sums, &timed);
    free(sums.kinds.at);
    if (timed.expansion == NULL)
        timed.expansion = xstrdup("");
    if (timed.frame == NULL)
        timed.frame = xstrdup("");
    if (timed.because == NULL)
        timed.because = xstrdup("");
    return timed;
}

void timed_free(struct timed *timed)
{
    free(timed->expansion);
    free(timed->frame);
    free(timed->because);
    *timed = (struct timed){0};
}

const char *timed_name(enum timed_verdict verdict)
{
    static const char *const names[] = {
        [TIMED_VERIFIED] = "verified",   [TIMED_FOLDED] = "folded",
        [TIMED_MERGED] = "merged",       [TIMED_MOVED] = "moved",
        [TIMED_REPLACED] = "replaced",   [TIMED_UNEVEN] = "uneven",
        [TIMED_UNCHAINED] = "unchained",
    };
    return names[verdict];
}
