#include "ptx/repeat.h"

void repeat_loop(struct kernel_text *k, const char *label,
                 const char *count_register, unsigned unroll, repeat_body *body,
                 const void *context)
{
    ptx_with(k,
             "setp.eq.u64 %again, $count_register, 0;\n"
             "@%again bra ${label}_DONE;\n"
             "$label:\n",
             WORD(count_register, count_register), WORD(label, label));
    for (unsigned copy = 0; copy < unroll; copy++)
        body(k, copy, context);
    ptx_with(k,
             "sub.u64 $count_register, $count_register, 1;\n"
             "setp.ne.u64 %again, $count_register, 0;\n"
             "@%again bra $label;\n"
             "${label}_DONE:\n",
             WORD(count_register, count_register), WORD(label, label));
}
