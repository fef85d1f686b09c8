#include "judge.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *const judgement_names[] = {
#define X(id, name) name,
    JUDGEMENTS(X)
#undef X
};

/* ---- what a finding says ---- */

static const char *text_of(const json_t *finding, const char *key)
{
    const char *const text = json_string_value(json_object_get(finding, key));
    return text != NULL ? text : "";
}

static bool has_status(const json_t *finding, const char *status)
{
    return strcmp(text_of(finding, "status"), status) == 0;
}

static bool has_value(const json_t *finding)
{
    return finding != NULL && !has_status(finding, "not_measured");
}

bool judge_is_doubted(const json_t *finding)
{
    return has_status(finding, "in_doubt") ||
           ((has_status(finding, "measured") ||
             has_status(finding, "derived")) &&
            json_object_get(finding, "because") != NULL);
}

bool judge_has(const json_t *truth, const json_t *found)
{
    const json_t *const said = truth != NULL ? truth : found;
    /* How much was foretold of what is drawn at random is no property of a GPU.
     */
    return !has_status(said, "reported") &&
           strcmp(text_of(said, "study"), "validate") != 0 &&
           (has_value(truth) || has_value(found));
}

struct judge_range judge_range(const json_t *finding)
{
    const json_t *const interval = json_object_get(finding, "interval");
    const double value = json_number_value(json_object_get(finding, "value"));
    if (json_array_size(interval) != 2)
        return (struct judge_range){value, value};
    return (struct judge_range){json_number_value(json_array_get(interval, 0)),
                                json_number_value(json_array_get(interval, 1))};
}

/* ---- numbers ---- */

static bool has_unit(const json_t *finding, const char *unit)
{
    return strcmp(text_of(finding, "unit"), unit) == 0;
}

static bool has_unit_at_all(const json_t *finding)
{
    return text_of(finding, "unit")[0] != '\0';
}

static bool counts_time(const json_t *finding)
{
    return has_unit(finding, "cycles") || has_unit(finding, "ns");
}

static double tolerance(const json_t *truth, double value)
{
    const double percent = 0.01 * fabs(value);
    return counts_time(truth) ? fmax(1, percent) : percent;
}

static bool near(const json_t *truth, double is, double value)
{
    return fabs(is - value) <= tolerance(truth, value);
}

static bool overlap(const json_t *truth, struct judge_range is,
                    struct judge_range true_)
{
    return is.low - tolerance(truth, true_.low) <= true_.high &&
           is.high + tolerance(truth, true_.high) >= true_.low;
}

/* What has a unit is not below zero, and a value lies in its interval (but for
 * rounding). */
static bool can_be(const json_t *found, double value)
{
    const struct judge_range r = judge_range(found);
    const double more = 1e-5 * fabs(value);
    return isfinite(value) && r.low <= value + more && r.high >= value - more &&
           (value >= 0 || !has_unit_at_all(found));
}

/* The clock had two rates: what was found must hold both. */
static bool holds_both(const json_t *truth, const json_t *found, double slowed)
{
    const double was = json_number_value(json_object_get(truth, "value"));
    const struct judge_range is = judge_range(found);
    return is.low <= was * slowed + tolerance(truth, was) &&
           is.high >= was - tolerance(truth, was);
}

/* What takes time by the clock, or is a rate, may be right at any of its
 * rates. */
static struct judge_range truth_at(const json_t *truth, double slowed)
{
    const struct judge_range r = judge_range(truth);
    if (has_unit(truth, "ns"))
        return (struct judge_range){r.low, r.high / slowed};
    if (has_unit(truth, "B/s"))
        return (struct judge_range){r.low * slowed, r.high};
    return r;
}

/* Of a rate that is but known to be no less, a greater one may be true. */
static bool is_open(const json_t *truth)
{
    return has_status(truth, "at_least") &&
           (has_unit(truth, "B/s") || has_unit(truth, "B/clk/SM"));
}

static bool number_holds(const json_t *truth, const json_t *found,
                         double slowed)
{
    const double value = json_number_value(json_object_get(found, "value"));
    const struct judge_range true_ = truth_at(truth, slowed),
                             is = judge_range(found);
    if (!can_be(found, value))
        return false;
    if (has_status(found, "at_least"))
        return is_open(truth) ||
               value <= true_.high + tolerance(truth, true_.high);
    if (has_status(found, "at_most"))
        return value >= true_.low - tolerance(truth, true_.low);
    if (slowed < 1 && has_unit(truth, "Hz"))
        return holds_both(truth, found, slowed);
    return overlap(truth, (struct judge_range){value, value}, true_) ||
           overlap(truth, is, true_);
}

/* ---- lists ---- */

#define SHARE_OFF 0.02 /* as tests of policies have it */

static const json_t *axis_values(const json_t *finding)
{
    return json_object_get(json_object_get(finding, "axis"), "values");
}

/* The element of the truth that belongs to element i of what was found: at the
 * same place of the axis, if there is one. */
static const json_t *element_of(const json_t *truth, const json_t *found,
                                size_t i)
{
    const json_t *const list = json_object_get(truth, "value");
    const json_t *const places = axis_values(truth);
    const json_t *const place = json_array_get(axis_values(found), i);
    if (place == NULL || places == NULL)
        return json_array_get(list, i);
    for (size_t k = 0; k < json_array_size(places); k++)
        if (json_equal(json_array_get(places, k), place))
            return json_array_get(list, k);
    return NULL;
}

/* An element that was not measured. */
static bool is_unknown(const json_t *element)
{
    const char *const word = json_string_value(element);
    return json_is_null(element) ||
           (word != NULL && strcmp(word, "unknown") == 0);
}

static const json_t *protocol_of(const json_t *found, const char *name)
{
    return json_object_get(json_object_get(found, "protocol"), name);
}

/* Where element i may be, by what was found; the number alone where that says
 * nothing. */
static struct judge_range element_range(const json_t *found, size_t i)
{
    const json_t *const is =
        json_array_get(json_object_get(found, "value"), i);
    const json_t *const low = json_array_get(protocol_of(found, "low"), i);
    const json_t *const high = json_array_get(protocol_of(found, "high"), i);
    return (struct judge_range){json_number_value(low != NULL ? low : is),
                                json_number_value(high != NULL ? high : is)};
}

static bool number_element_holds(const json_t *truth, const json_t *found,
                                 size_t i, double value)
{
    const double is =
        json_number_value(json_array_get(json_object_get(found, "value"), i));
    /* Shares are counted in samples: the truth is off by some, too. */
    if (!has_unit_at_all(truth) && value > 0 && value < 1)
        return fabs(is - value) <= SHARE_OFF;
    return near(truth, is, value) ||
           overlap(truth, element_range(found, i),
                   (struct judge_range){value, value});
}

/* Bits that are XORed: a bit, or a list of them; but for those from `below` on,
 * in which no two addresses differed. */
static uint64_t xored_bits(const json_t *element, uint64_t below)
{
    const json_int_t one = json_integer_value(element);
    uint64_t bits = 0;
    if (json_is_integer(element))
        return one < (json_int_t)below ? (uint64_t)1 << one : 0;
    for (size_t i = 0; i < json_array_size(element); i++)
        bits |= xored_bits(json_array_get(element, i), below);
    return bits;
}

static bool element_holds(const json_t *truth, const json_t *found, size_t i,
                          const json_t *true_)
{
    const json_t *const is =
        json_array_get(json_object_get(found, "value"), i);
    const json_t *const below = protocol_of(found, "bits_below");
    if (is_unknown(is))
        return true;
    if (json_is_integer(below)) {
        const uint64_t end = (uint64_t)json_integer_value(below);
        return xored_bits(is, end) == xored_bits(true_, end);
    }
    if (!json_is_number(is) || !json_is_number(true_))
        return json_equal(is, true_);
    return number_element_holds(truth, found, i, json_number_value(true_));
}

/* A list with an axis may have fewer places, or others. */
static bool list_holds(const json_t *truth, const json_t *found)
{
    const json_t *const list = json_object_get(found, "value");
    const bool has_axis = axis_values(truth) != NULL;
    if (!has_axis && json_array_size(list) !=
                         json_array_size(json_object_get(truth, "value")))
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const true_ = element_of(truth, found, i);
        const bool other_place = has_axis && true_ == NULL;
        if (!other_place && !element_holds(truth, found, i, true_))
            return false;
    }
    return true;
}

/* ---- judgements ---- */

static bool holds(const json_t *truth, const json_t *found, double slowed)
{
    const json_t *const is = json_object_get(found, "value");
    const json_t *const true_ = json_object_get(truth, "value");
    if (json_is_number(is) && json_is_number(true_))
        return number_holds(truth, found, slowed);
    if (json_is_array(is) && json_is_array(true_))
        return list_holds(truth, found);
    return json_equal(is, true_);
}

bool judge_is_bound(const json_t *finding)
{
    return has_status(finding, "at_least") || has_status(finding, "at_most");
}

enum judgement judge(const json_t *truth, const json_t *found, double slowed)
{
    if (!has_value(found))
        return JUDGED_NOT_MEASURED;
    /* Of what is not there a bound says nothing. */
    if (!has_value(truth))
        return judge_is_bound(found) ? JUDGED_BOUND : JUDGED_WRONG;
    if (!holds(truth, found, slowed))
        return JUDGED_WRONG;
    if (judge_is_doubted(found) && !judge_is_doubted(truth))
        return JUDGED_DOUBTED;
    return judge_is_bound(found) && !judge_is_bound(truth) ? JUDGED_BOUND
                                                           : JUDGED_RIGHT;
}

/* ---- words ---- */

static void show_json(struct buf *text, const json_t *json)
{
    char *const words = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY |
                                             JSON_REAL_PRECISION(6));
    buf_printf(text, "%.100s", words != NULL ? words : "nothing");
    free(words);
}

static void show_finding(struct buf *text, const json_t *finding)
{
    const json_t *const interval = json_object_get(finding, "interval");
    if (!has_value(finding)) {
        buf_text(text, "nothing");
        return;
    }
    show_json(text, json_object_get(finding, "value"));
    if (interval != NULL) {
        buf_text(text, " in ");
        show_json(text, interval);
    }
    buf_printf(text, " %s", text_of(finding, "status"));
    if (judge_is_doubted(finding))
        buf_printf(text, " (%.60s)", text_of(finding, "because"));
}

void judge_show(struct buf *text, const json_t *truth, const json_t *found)
{
    show_finding(text, found);
    buf_text(text, "; truth ");
    show_finding(text, truth);
}

const char *judge_class(const char *id, const json_t *found)
{
    const char *const unit = text_of(found, "unit");
    const char *const dot = strrchr(id, '.');
    const char *const attribute = dot != NULL ? dot + 1 : id;
    if (strcmp(unit, "B") == 0)
        return "size";
    if (strncmp(unit, "B/", 2) == 0)
        return "bandwidth";
    if (strchr(unit, '/') != NULL)
        return "throughput";
    if (strcmp(unit, "cycles") != 0)
        return NULL;
    return strstr(attribute, "penalty") != NULL ? "penalty" : "latency";
}
