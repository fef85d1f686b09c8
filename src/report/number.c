#include "report/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double number_rounded(double number)
{
    char text[32];
    if (fabs(number) >= 1e5)
        return nearbyint(number);
    snprintf(text, sizeof text, "%.*g", NUMBER_DIGITS, number);
    return strtod(text, NULL);
}

bool number_is_whole(double number)
{
    return fabs(number) <= 0x1p53 && !islessgreater(number, nearbyint(number));
}

void number_put(struct buf *out, double number)
{
    const double r = number_rounded(number);
    if (number_is_whole(r))
        buf_printf(out, "%.0f", r + 0.0); /* -0 is 0 */
    else
        buf_printf(out, "%.*g", fabs(r) < 1e5 ? NUMBER_DIGITS : 17, r);
}
