/*
 * What instructions cost as CSV (RFC 4180): a line each, an empty field for
 * what was not asked or not measured.
 */
#include "report/costs.h"
#include "report/csv.h"
#include "report/report.h"

static void put_number(struct buf *out, const struct finding *f)
{
    buf_text(out, ",");
    if (f != NULL && f->value.kind == VALUE_NUMBER)
        buf_printf(out, "%.10g", f->value.number);
}

static void put_row(struct buf *out, const struct costs *costs,
                    const struct cost_row *row)
{
    static const char *const said[] = {"copies", "code", "machine_code"};
    csv_field(out, row->name);
    buf_text(out, ",");
    csv_field(out, row->category);
    for (int level = 0; level < COST_LEVELS; level++)
        if (costs->level[level])
            put_number(out, row->latency[level]);
    put_number(out, row->throughput);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        buf_text(out, ",");
        csv_field(out, cost_row_said(row, said[i]));
    }
    buf_text(out, ",");
    csv_field(out, cost_row_because(row));
    csv_end(out);
}

static int costs_write(const struct results *results,
                       const struct report_style *style, struct buf *out,
                       struct error *err)
{
    struct costs costs;
    (void)style;
    (void)err;
    costs_collect(results, &costs);
    buf_text(out, "instruction,category");
    for (int level = 0; level < COST_LEVELS; level++)
        if (costs.level[level])
            buf_printf(out, ",latency_O%d", level);
    buf_text(out, ",throughput,copies,code,machine_code,because\r\n");
    for (size_t i = 0; i < costs.count; i++)
        put_row(out, &costs, &costs.rows[i]);
    costs_free(&costs);
    return 0;
}

const struct report_format report_costs = {
    .name = "costs.csv",
    .summary = "what instructions cost as CSV, a line each",
    .write = costs_write,
};
