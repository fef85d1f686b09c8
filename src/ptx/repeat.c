#include "ptx/repeat.h"

/* Behind different bodies: what waits for the one before has the time of those
 * between them. */
static void count_down(struct kernel_text *k, const char *count_register,
                       unsigned copy, unsigned unroll)
{
    if (copy == 0)
        ptx_with(k, "sub.u64 $count_register, $count_register, 1;",
                 WORD(count_register, count_register));
    if (copy == unroll / 2)
        ptx_with(k, "setp.ne.u64 %again, $count_register, 0;",
                 WORD(count_register, count_register));
}

void repeat_loop(struct kernel_text *k, const char *label,
                 const char *count_register, unsigned unroll, repeat_body *body,
                 const void *context)
{
    ptx_with(k,
             "setp.eq.u64 %again, $count_register, 0;\n"
             "@%again bra ${label}_DONE;\n"
             "$label:\n",
             WORD(count_register, count_register), WORD(label, label));
    for (unsigned copy = 0; copy < unroll; copy++) {
        body(k, copy, context);
        count_down(k, count_register, copy, unroll);
    }
    ptx_with(k,
             "@%again bra $label;\n"
             "${label}_DONE:\n",
             WORD(label, label));
}
