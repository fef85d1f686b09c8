/*
 * A fleet as OpenMetrics text 1.0, for node_exporter's textfile collector: how
 * many reports and GPUs, who is out and how far, who is missing.
 */
#include <math.h>

#include "report/fleet/fleet.h"
#include "report/number.h"

static void put_label(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, "%s=\"", name);
    for (; *value != '\0'; value++)
        if (*value == '\n')
            buf_text(out, "\\n");
        else if (*value == '"' || *value == '\\')
            buf_printf(out, "\\%c", *value);
        else
            buf_append(out, value, 1);
    buf_text(out, "\"");
}

static void put_family(struct buf *out, const char *name, const char *help)
{
    buf_printf(out, "# TYPE %s gauge\n# HELP %s %s\n", name, name, help);
}

static void put_number(struct buf *out, double number)
{
    buf_text(out, "} ");
    number_put(out, number);
    buf_text(out, "\n");
}

static void put_reports(const struct fleet *f, struct buf *out)
{
    put_family(out, "sonde_fleet_reports", "Reports by what became of them.");
    for (int i = 0; i < FLEET_STATES; i++) {
        buf_text(out, "sonde_fleet_reports{");
        put_label(out, "state", fleet_state_name((enum fleet_state)i));
        put_number(out, (double)f->now.states[i]);
    }
}

static void put_gpus(const struct fleet *f, struct buf *out)
{
    put_family(out, "sonde_fleet_gpus", "GPUs of each model.");
    for (size_t i = 0; i < f->model_count; i++) {
        buf_text(out, "sonde_fleet_gpus{");
        put_label(out, "model", fleet_model_name(f, f->models[i].name));
        put_number(out, (double)f->models[i].count);
    }
    put_family(out, "sonde_fleet_gpus_out", "Those of them that are out.");
    for (size_t i = 0; i < f->model_count; i++) {
        buf_text(out, "sonde_fleet_gpus_out{");
        put_label(out, "model", fleet_model_name(f, f->models[i].name));
        put_number(out, (double)f->models[i].gpus_out);
    }
}

static void put_one(const struct fleet *f, const struct fleet_model *m,
                    const struct fleet_out *o, struct buf *out)
{
    static const char *const levels[] = {"gpu", "host", "rack"};
    const struct fleet_finding *const g = &m->findings[o->finding];
    const struct fleet_gpu *const gpu = &f->now.gpus[o->gpu];
    buf_text(out, "sonde_fleet_out{");
    put_label(out, "level", levels[o->level]);
    buf_text(out, ",");
    put_label(out, "name",
              o->level == FLEET_GPU ? fleet_gpu_name(gpu) : o->name);
    buf_text(out, ",");
    put_label(out, "host", o->level == FLEET_RACK ? "" : gpu->host);
    buf_text(out, ",");
    put_label(out, "model", fleet_model_name(f, m->name));
    buf_text(out, ",");
    put_label(out, "id", fleet_column(f, g->column));
    buf_text(out, ",");
    put_label(out, "structure", g->structure ? "yes" : "no");
    const bool number = !o->words && !g->words && isfinite(o->share);
    put_number(out, number ? o->share : 1);
}

static void put_out(const struct fleet *f, struct buf *out)
{
    put_family(out, "sonde_fleet_out",
               "Who is out, and how far as a share; 1 where it has no number.");
    for (size_t i = 0; i < f->model_count; i++)
        for (size_t k = 0; k < f->models[i].out_count; k++)
            put_one(f, &f->models[i], &f->models[i].out[k], out);
}

static void put_missing(const struct fleet *f, struct buf *out)
{
    put_family(out, "sonde_fleet_missing", "Hosts that gave no report.");
    for (size_t i = 0; i < f->missing_count; i++) {
        buf_text(out, "sonde_fleet_missing{");
        put_label(out, "host", f->missing[i]);
        put_number(out, 1);
    }
}

void fleet_metrics(const struct fleet *f, struct buf *out)
{
    put_reports(f, out);
    put_gpus(f, out);
    put_out(f, out);
    put_missing(f, out);
    if (f->compared) {
        put_family(out, "sonde_fleet_changed", "What has changed.");
        buf_printf(out, "sonde_fleet_changed %zu\n", f->change_count);
    }
    buf_text(out, "# EOF\n");
}
