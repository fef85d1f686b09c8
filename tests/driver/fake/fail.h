/*
 * Failing on demand, for both fake libraries: FAKE_CUDA_FAIL=symbol:code makes
 * every call of that entry point answer the code, symbol:code@N the Nth call
 * only.
 */
#ifndef SONDE_TESTS_DRIVER_FAKE_FAIL_H
#define SONDE_TESTS_DRIVER_FAKE_FAIL_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The code that this call must answer, 0 for none. */
static int fake_failure(const char *symbol)
{
    static atomic_int calls;
    const char *const wish = getenv("FAKE_CUDA_FAIL");
    const size_t length = strlen(symbol);
    if (wish == NULL || strncmp(wish, symbol, length) != 0 ||
        wish[length] != ':')
        return 0;
    const char *const which = strchr(wish, '@');
    const int call = atomic_fetch_add(&calls, 1) + 1;
    return which == NULL || atoi(which + 1) == call ? atoi(wish + length + 1)
                                                    : 0;
}

#endif
