/*
 * What was measured as a profile of a simulated GPU (docs/profiles.md), of
 * which the studies would find the same.
 */
#include <stdlib.h>

#include "report/as_json.h"
#include "report/report.h"
#include "twin/profile.h"

static int profile_write(const struct results *results,
                         const struct report_style *style, struct buf *out,
                         struct error *err)
{
    (void)style;
    char *const text = twin_profile(results, NULL, err);
    if (text == NULL)
        return err->code;
    as_json_visible(out, text);
    buf_text(out, "\n");
    free(text);
    return 0;
}

const struct report_format report_profile = {
    .name = "profile.json",
    .summary = "a simulated GPU that is as the measured one, for -d sim:FILE",
    .write = profile_write,
};
