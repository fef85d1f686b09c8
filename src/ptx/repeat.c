#include "ptx/repeat.h"

void repeat_loop(struct kernel_text *k, const char *label,
                 const char *count_register, unsigned unroll, repeat_body *body,
                 const void *context)
{
    kernel_line(k, "setp.eq.u64 %%again, %s, 0;", count_register);
    kernel_line(k, "@%%again bra %s_DONE;", label);
    kernel_line(k, "%s:", label);
    for (unsigned copy = 0; copy < unroll; copy++)
        body(k, copy, context);
    kernel_line(k, "sub.u64 %s, %s, 1;", count_register, count_register);
    kernel_line(k, "setp.ne.u64 %%again, %s, 0;", count_register);
    kernel_line(k, "@%%again bra %s;", label);
    kernel_line(k, "%s_DONE:", label);
}
