#include "base/numeric.h"

#include <stdatomic.h>

/* One for all threads, for ever; (locale_t)0 asks and changes nothing. */
locale_t numeric_plain(void)
{
    static _Atomic(locale_t) plain;
    locale_t one = atomic_load(&plain);
    if (one == (locale_t)0) {
        locale_t none = (locale_t)0;
        one = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        if (!atomic_compare_exchange_strong(&plain, &none, one)) {
            if (one != (locale_t)0)
                freelocale(one);
            one = none;
        }
    }
    return uselocale(one);
}

void numeric_back(locale_t *before)
{
    uselocale(*before);
}
