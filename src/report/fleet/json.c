/* A fleet for programs: sonde-fleet-1 (docs/fleet.md). */
#include <math.h>
#include <stdlib.h>

#include "report/as_json.h"
#include "report/fleet/fleet.h"
#include "report/fleet/tally.h"

static json_t *value_json(const struct fleet *f, bool words, double number)
{
    return words ? as_json_text(fleet_words(f, number))
                 : as_json_number(number);
}

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *count_json(size_t count)
{
    return json_integer((json_int_t)count);
}

static void set_gpu(json_t *object, const struct fleet_gpu *g)
{
    as_json_set(object, "host", g->host);
    as_json_set(object, "gpu", fleet_gpu_name(g));
    as_json_set(object, "path", g->path);
}

/* ---- what was read ------------------------------------------------------- */

static json_t *set_json(const struct fleet_set *s)
{
    json_t *const object = json_object(), *const notes = json_array();
    for (int i = 0; i < FLEET_STATES; i++)
        set(object, fleet_state_name((enum fleet_state)i),
            count_json(s->states[i]));
    set(object, "gpus", count_json(s->count));
    for (size_t i = 0; i < s->note_count; i++) {
        json_t *const note = json_object();
        as_json_set(note, "path", s->notes[i].path);
        as_json_set(note, "state", fleet_state_name(s->notes[i].state));
        as_json_set(note, "because", s->notes[i].why);
        json_array_append_new(notes, note);
    }
    set(object, "notes", notes);
    return object;
}

/* ---- a model ------------------------------------------------------------- */

static json_t *finding_json(const struct fleet *f,
                            const struct fleet_finding *g)
{
    json_t *const object = json_object();
    set(object, "gpus", count_json(g->gpus));
    set(object, "unknown", count_json(g->unknown));
    if (g->gpus > 0)
        set(object, "centre", value_json(f, g->words, g->centre));
    as_json_set(object, "unit", fleet_unit(f, g->column));
    if (g->structure) {
        set(object, "agree", count_json(g->agree));
        set(object, "divided", json_boolean(g->divided));
    } else {
        set(object, "spread", as_json_number(g->spread));
        set(object, "limit", as_json_number(g->limit));
    }
    set(object, "out", count_json(g->out));
    return object;
}

static json_t *out_json(const struct fleet *f, const struct fleet_model *m,
                        const struct fleet_out *o)
{
    static const char *const levels[] = {"gpu", "host", "rack"};
    const struct fleet_finding *const g = &m->findings[o->finding];
    json_t *const object = json_object();
    as_json_set(object, "level", levels[o->level]);
    if (o->level == FLEET_GPU) {
        set_gpu(object, &f->now.gpus[o->gpu]);
        as_json_set(object, "rack", f->racks[o->gpu]);
    } else {
        as_json_set(object, levels[o->level], o->name);
        set(object, "gpus", count_json(o->gpus));
    }
    as_json_set(object, "finding", fleet_column(f, g->column));
    as_json_set(object, "unit", fleet_unit(f, g->column));
    set(object, "structure", json_boolean(g->structure));
    set(object, "value", value_json(f, o->words, o->number));
    set(object, "centre", value_json(f, g->words, g->centre));
    if (!o->words && !g->words)
        set(object, "share", as_json_number(o->share));
    if (!g->structure)
        set(object, "times_limit", as_json_number(o->times));
    return object;
}

static json_t *tally_json(const struct fleet *f, const struct fleet_model *m,
                          enum fleet_level level)
{
    json_t *const object = json_object();
    struct tally t = fleet_tally(f, m, level);
    for (size_t i = 0; i < t.count; i++) {
        json_t *const row = json_object();
        set(row, "out", count_json(t.rows[i].out));
        set(row, "gpus", count_json(t.rows[i].gpus));
        json_object_set_new(object, t.rows[i].name, row);
    }
    fleet_tally_free(&t);
    return object;
}

static json_t *model_json(const struct fleet *f, const struct fleet_model *m)
{
    json_t *const object = json_object(), *const findings = json_object(),
                  *const out = json_array();
    as_json_set(object, "model", fleet_model_name(f, m->name));
    set(object, "gpus", count_json(m->count));
    set(object, "hosts", count_json(m->hosts));
    set(object, "racks", count_json(m->racks));
    set(object, "gpus_out", count_json(m->gpus_out));
    for (size_t i = 0; i < m->out_count; i++)
        json_array_append_new(out, out_json(f, m, &m->out[i]));
    set(object, "out", out);
    set(object, "out_by_host", tally_json(f, m, FLEET_HOST));
    set(object, "out_by_rack", tally_json(f, m, FLEET_RACK));
    for (size_t i = 0; i < m->finding_count; i++)
        set(findings, fleet_column(f, m->findings[i].column),
            finding_json(f, &m->findings[i]));
    set(object, "findings", findings);
    return object;
}

/* ---- changes ------------------------------------------------------------- */

static json_t *change_json(const struct fleet *f, const struct fleet_change *c)
{
    json_t *const object = json_object();
    as_json_set(object, "model", fleet_model_name(f, c->model));
    if (c->gpu != SIZE_MAX)
        set_gpu(object, &f->now.gpus[c->gpu]);
    as_json_set(object, "finding", fleet_column(f, c->column));
    as_json_set(object, "unit", fleet_unit(f, c->column));
    set(object, "structure", json_boolean(c->structure));
    if (!isnan(c->before)) {
        set(object, "before", value_json(f, c->words, c->before));
        set(object, "now", value_json(f, c->words, c->now));
    }
    if (!c->words)
        set(object, "share", as_json_number(c->share));
    return object;
}

static json_t *since_json(const struct fleet *f)
{
    json_t *const object = json_object(), *const changes = json_array();
    set(object, "reports", set_json(&f->since));
    for (size_t i = 0; i < f->change_count; i++)
        json_array_append_new(changes, change_json(f, &f->changes[i]));
    set(object, "changed", changes);
    set(object, "gone", as_json_texts(f->gone, f->gone_count));
    set(object, "new", as_json_texts(f->came, f->came_count));
    return object;
}

static json_t *versions_json(const struct fleet *f)
{
    size_t count;
    struct fleet_version *const v = fleet_versions(f, &count);
    json_t *const object = json_object();
    for (size_t i = 0; i < count; i++)
        set(object, fleet_words(f, v[i].words), count_json(v[i].gpus));
    free(v);
    return object;
}

void fleet_json(const struct fleet *f, struct buf *out)
{
    json_t *const all = json_object(), *const models = json_array();
    as_json_set(all, "schema", "sonde-fleet-1");
    set(all, "alike", json_boolean(!fleet_differs(f)));
    set(all, "alarms", as_json_number(f->wish.alarms));
    set(all, "tolerance", as_json_number(f->wish.tolerance));
    set(all, "reports", set_json(&f->now));
    set(all, "versions", versions_json(f));
    set(all, "missing", as_json_texts(f->missing, f->missing_count));
    for (size_t i = 0; i < f->model_count; i++)
        json_array_append_new(models, model_json(f, &f->models[i]));
    set(all, "models", models);
    if (f->compared)
        set(all, "since", since_json(f));
    as_json_put(all, out);
}
