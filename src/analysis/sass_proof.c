#include "analysis/sass_proof.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

/* Of the copies that are more, so many may be there still by chance where the
 * chain was folded: one in eight. */
enum { FEW = 8 };
/* The assembler may spare or spend an instruction somewhere in a long region,
 * to hold a value: one in so many that are more is no matter. */
enum { MISSED_PART = 16 };

/* Moves come and go with the registers that are free: they are not counted. */
#define MOVE "MOV"

/* What the assembler takes for one another. */
static const struct {
    const char *form, *same;
} twins[] = {
    {"IMAD.MOV", MOVE}, {"IMAD.U32", MOVE},    {"IMAD.IADD", "IADD3"},
    {"VIADD", "IADD3"}, {"IMAD.X", "IADD3.X"}, {"IMAD.SHL", "SHF.L"},
};

/* Machine instructions that are counted as one. */
struct kind {
    const char *form;
    const char *seen[2]; /* as they are: one form, or two that take turns */
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

/* A multiply-add of halves that reads nothing loads a constant. */
static bool is_constant(const struct sass *s)
{
    return strcmp(s->name, "HFMA2") == 0 && s->registers_known &&
           s->reads.count == 0;
}

static const char *twin_of(const struct sass *s)
{
    if (is_constant(s))
        return MOVE;
    for (size_t i = 0; i < COUNT_OF(twins); i++)
        if (strcmp(twins[i].form, s->form) == 0)
            return twins[i].same;
    return s->form;
}

static struct kind *note_form(struct kind *k, const char *form)
{
    const bool known = k->seen[0] != NULL && strcmp(k->seen[0], form) == 0;
    if (k->seen[0] == NULL)
        k->seen[0] = form;
    else if (!known && k->seen[1] == NULL)
        k->seen[1] = form;
    return k;
}

static struct kind *kind_of(struct kinds *kinds, const struct sass *s,
                            const char *patterns)
{
    const bool expected = is_expected(s->form, patterns);
    const char *const form = twin_of(s);
    for (size_t i = 0; i < kinds->count; i++)
        if (kinds->at[i].expected == expected &&
            strcmp(kinds->at[i].form, form) == 0)
            return note_form(&kinds->at[i], s->form);
    kinds->at = xreallocarray(kinds->at, kinds->count + 1, sizeof *kinds->at);
    kinds->at[kinds->count] = (struct kind){.form = form, .expected = expected};
    return note_form(&kinds->at[kinds->count++], s->form);
}

static struct kinds count_kinds(const struct sass_proof_claim *c)
{
    struct kinds kinds = {0};
    for (size_t i = 0; i < c->longer.count; i++)
        kind_of(&kinds, &c->longer.at[i], c->expected)->longer++;
    for (size_t i = 0; i < c->shorter.count; i++)
        kind_of(&kinds, &c->shorter.at[i], c->expected)->shorter++;
    return kinds;
}

static size_t count_expected(struct code_span span, const char *patterns)
{
    size_t count = 0;
    for (size_t i = 0; i < span.count; i++)
        count += is_expected(span.at[i].form, patterns);
    return count;
}

/* ---- what waits for what
 * -------------------------------------------------------- */

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

/* What is counted: what is expected, or one kind. */
struct counted {
    const char *patterns;
    const char *form;
};

static bool counts(const struct counted *what, const struct sass *s)
{
    return what->form == NULL ? is_expected(s->form, what->patterns)
                              : strcmp(twin_of(s), what->form) == 0;
}

/* The most of them of which each waits for the one before. */
static unsigned longest_chain(struct code_span span, const struct counted *what)
{
    struct depths depths = {0};
    unsigned longest = 0;
    for (size_t i = 0; i < span.count; i++) {
        const struct sass *const s = &span.at[i];
        const unsigned depth =
            deepest_read(&depths, s) + (counts(what, s) ? 1 : 0);
        write_depth(&depths, s, depth);
        longest = depth > longest ? depth : longest;
    }
    return longest;
}

/* The first instruction that hides what waits for what: the registers of an
 * expected one are not known, or the code does not go straight on. */
static const struct sass *hiding(struct code_span span, const char *expected)
{
    for (size_t i = 0; i < span.count; i++)
        if (span.at[i].jumps || (!span.at[i].registers_known &&
                                 is_expected(span.at[i].form, expected)))
            return &span.at[i];
    return NULL;
}

static const struct sass *unknown(struct code_span span)
{
    for (size_t i = 0; i < span.count; i++)
        if (!span.at[i].registers_known)
            return &span.at[i];
    return NULL;
}

static void unread(struct sass_proof *t, const struct sass *s)
{
    t->chain_read = false;
    if (s->jumps)
        t->because = xasprintf("chain not read: the timed region has %s, "
                               "after which another instruction may run",
                               s->form);
    else
        t->because = xasprintf("chain not read: what %s in the timed region "
                               "reads and writes is not known",
                               s->form);
}

/* ---- what the regions have -------------------------------------------- */

/* What the comparison is about: the kinds, and the sums of those expected. */
struct sums {
    const struct sass_proof_claim *claim;
    struct kinds kinds;
    size_t shorter, longer; /* expected */
    size_t copies;          /* that the longer region has more */
    const char *name;       /* of what is expected, for texts */
};

static struct sums sum_up(const struct sass_proof_claim *claim)
{
    struct sums s = {.claim = claim,
                     .kinds = count_kinds(claim),
                     .copies = 2 * (size_t)claim->copies,
                     .name = claim->expected};
    size_t most = 0;
    for (size_t i = 0; i < s.kinds.count; i++) {
        const struct kind *const k = &s.kinds.at[i];
        if (!k->expected)
            continue;
        s.shorter += k->shorter;
        s.longer += k->longer;
        s.name = k->longer > most ? k->form : s.name;
        most = k->longer > most ? k->longer : most;
    }
    return s;
}

static size_t more(size_t longer, size_t shorter)
{
    return longer > shorter ? longer - shorter : 0;
}

/* How often a kind comes for a copy: the nearest whole number. */
static size_t each_of(const struct kind *k, size_t copies)
{
    return (more(k->longer, k->shorter) + copies / 2) / copies;
}

/* By how many it misses that. */
static size_t missed(const struct kind *k, size_t copies)
{
    const size_t due = k->shorter + each_of(k, copies) * copies;
    return more(k->longer, due) + more(due, k->longer);
}

/* "IADD3×2"; of two that take turns "VIADD/IADD3"; moves are moves. */
static void write_kind(struct buf *out, const struct kind *k, size_t times)
{
    const bool move = strcmp(k->form, MOVE) == 0;
    buf_printf(out, "%s%s", out->length > 0 ? " " : "",
               move ? MOVE : k->seen[0]);
    if (!move && k->seen[1] != NULL)
        buf_printf(out, "/%s", k->seen[1]);
    if (times > 1)
        buf_printf(out, "×%zu", times);
}

/* What comes for each copy, and all that it amounts to. */
static char *expansion_of(const struct sums *s, bool expected, size_t *each)
{
    struct buf text = {0};
    *each = 0;
    for (size_t i = 0; i < s->kinds.count; i++) {
        const struct kind *const k = &s->kinds.at[i];
        const size_t n = each_of(k, s->copies);
        if (n == 0 || (k->expected && !expected))
            continue;
        write_kind(&text, k, n);
        *each += n;
    }
    buf_text(&text, "");
    return buf_take(&text);
}

static char *frame_of(const struct sums *s)
{
    struct buf text = {0};
    for (size_t i = 0; i < s->kinds.count; i++) {
        const struct kind *const k = &s->kinds.at[i];
        const size_t n =
            more(k->shorter, each_of(k, s->copies) * s->claim->copies);
        if (n == 0)
            continue;
        write_kind(&text, k, n);
    }
    buf_text(&text, "");
    return buf_take(&text);
}

/* ---- the chain of the copies ------------------------------------------ */

static void unchain(const struct sass_proof_claim *c, unsigned longest,
                    unsigned due, struct sass_proof *t)
{
    t->verdict = PROOF_UNCHAINED;
    if (c->chains == 1)
        t->because = xasprintf("the copies do not depend on each other: %u of "
                               "%u machine instructions wait for each other",
                               longest, due);
    else
        t->because = xasprintf("the copies do not make %u chains: %u machine "
                               "instructions wait for each other, not %u",
                               c->chains, longest, due);
}

/* Of a copy of several machine instructions: is any of them, that is not
 * expected, in every copy and waits for that of the copy before? */
static bool others_wait(const struct sums *s, unsigned copies)
{
    for (size_t i = 0; i < s->kinds.count; i++) {
        const struct kind *const k = &s->kinds.at[i];
        const struct counted what = {.form = k->form};
        const size_t each = each_of(k, s->copies);
        if (!k->expected && each > 0 && each < copies &&
            longest_chain(s->claim->longer, &what) >= copies)
            return true;
    }
    return false;
}

static void judge_chain(const struct sums *s, struct sass_proof *t)
{
    const struct sass_proof_claim *const c = s->claim;
    if (c->chains == 0)
        return;
    const struct counted what = {.patterns = c->expected};
    const unsigned copies = 3 * c->copies / c->chains;
    /* The first and the last may be done in another way. */
    const unsigned least = copies - copies / MISSED_PART;
    const unsigned longest = longest_chain(c->longer, &what);
    const size_t frame = more(s->shorter, t->expected * c->copies);
    const struct sass *hides = hiding(c->longer, c->expected);
    if (hides == NULL && longest < least)
        hides = unknown(c->longer);
    if (hides != NULL)
        unread(t, hides);
    else if (longest < least && others_wait(s, least))
        t->because = xasprintf("%s does not wait for the copy before, as the "
                               "rest does",
                               s->name);
    else if (longest < least || longest > copies * t->expected + frame)
        unchain(c, longest, copies * t->expected, t);
}

/* ---- the verdict ------------------------------------------------------ */

/* None or nearly none of what is expected comes for a copy. */
static void refuse_few(const struct sums *s, struct sass_proof *t)
{
    const struct sass_proof_claim *const c = s->claim;
    size_t others;
    char *const instead = expansion_of(s, false, &others);
    const size_t inside = s->longer + s->shorter;
    const size_t all = count_expected(c->whole, c->expected);
    if (others > 1 && all > 0) {
        t->verdict = PROOF_UNEVEN;
        t->because = xasprintf("uneven: %zu %s for %u copies, each of which is "
                               "%s: what does not change was done once",
                               s->longer, s->name, 3 * c->copies, instead);
    } else if (others > 0) {
        t->verdict = PROOF_REPLACED;
        t->because = xasprintf("replaced: a copy is %s, with %zu %s for %u",
                               instead, s->longer, s->name, 3 * c->copies);
    } else if (more(all, inside) >= c->copies) {
        t->verdict = PROOF_MOVED;
        t->because =
            xasprintf("moved: %zu %s are outside of the timed "
                      "regions, %zu inside for %u copies",
                      more(all, inside), s->name, inside, 4 * c->copies);
    } else {
        t->verdict = PROOF_FOLDED;
        t->because = xasprintf("folded: %zu %s for %u copies", s->longer,
                               s->name, 3 * c->copies);
    }
    free(instead);
}

/* What is expected comes, but no whole number of times for a copy. */
static void refuse_broken(const struct sums *s, struct sass_proof *t)
{
    const unsigned copies = s->claim->copies;
    const size_t extra = more(s->longer, s->shorter);
    size_t others;
    char *const beside = expansion_of(s, false, &others);
    if (extra < s->copies && others == 0) {
        t->verdict = PROOF_MERGED;
        t->because = xasprintf("merged: %zu %s for %u copies", s->longer,
                               s->name, 3 * copies);
    } else {
        t->verdict = PROOF_UNEVEN;
        t->because =
            xasprintf("uneven: %zu %s for %u copies and %zu for %u "
                      "are no whole number for each",
                      s->longer, s->name, 3 * copies, s->shorter, copies);
    }
    free(beside);
}

static void refuse_others(const struct sums *s, struct sass_proof *t)
{
    const unsigned copies = s->claim->copies;
    const struct kind *worst = s->kinds.at;
    for (size_t i = 0; i < s->kinds.count; i++)
        if (missed(&s->kinds.at[i], s->copies) > missed(worst, s->copies))
            worst = &s->kinds.at[i];
    t->verdict = PROOF_UNEVEN;
    t->because = xasprintf("uneven: beside %s come %zu %s for %u copies and "
                           "%zu for %u, no whole number for each",
                           s->name, worst->longer, worst->form, 3 * copies,
                           worst->shorter, copies);
}

/* True if the shorter region has its part of each kind, and the kinds beside
 * the expected ones come a whole number of times, but for a few. */
static bool add_up(const struct sums *s, size_t each, struct sass_proof *t)
{
    t->missed = 0;
    for (size_t i = 0; i < s->kinds.count; i++) {
        const struct kind *const k = &s->kinds.at[i];
        const size_t due = each_of(k, s->copies) * s->claim->copies;
        if (k->expected || strcmp(k->form, MOVE) == 0)
            continue;
        t->missed += (unsigned)(missed(k, s->copies) + more(due, k->shorter));
    }
    return t->missed <= each * s->copies / MISSED_PART;
}

static void judge(const struct sums *s, struct sass_proof *t)
{
    const size_t extra = more(s->longer, s->shorter), n = extra / s->copies;
    size_t each;
    if (extra * FEW <= s->copies) {
        refuse_few(s, t);
        return;
    }
    const size_t due = n * s->claim->copies;
    if (extra != n * s->copies ||
        more(due, s->shorter) * FEW > s->claim->copies) {
        refuse_broken(s, t);
        return;
    }
    char *const expansion = expansion_of(s, true, &each);
    if (add_up(s, each, t)) {
        t->expected = (unsigned)n;
        t->others = (unsigned)more(each, n);
        t->expansion = xstrdup(expansion);
        t->frame = frame_of(s);
        judge_chain(s, t);
    } else {
        refuse_others(s, t);
    }
    free(expansion);
}

struct sass_proof sass_proof_judge(const struct sass_proof_claim *claim)
{
    struct sass_proof timed = {.verdict = PROOF_VERIFIED, .chain_read = true};
    struct sums sums = sum_up(claim);
    judge(&sums, &timed);
    free(sums.kinds.at);
    char **const texts[] = {&timed.expansion, &timed.frame, &timed.because};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (*texts[i] == NULL)
            *texts[i] = xstrdup("");
    return timed;
}

void sass_proof_free(struct sass_proof *timed)
{
    free(timed->expansion);
    free(timed->frame);
    free(timed->because);
    *timed = (struct sass_proof){0};
}
