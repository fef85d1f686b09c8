/*
 * A shared library that may be absent: opened at run time, its entry points
 * written into a struct of function pointers after a table.
 */
#ifndef SONDE_DEVICE_CUDA_LIBRARY_LIBRARY_H
#define SONDE_DEVICE_CUDA_LIBRARY_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Whose code a call is in, for whoever waits for it (base/aside.h). */
enum library_owner { LIBRARY_DRIVER = 1, LIBRARY_NVML };

/* The first word of a row in driver.def and nvml.def. */
enum library_need { OPTIONAL, REQUIRED };

/* Where in the struct the pointer to `name` goes. */
struct library_entry {
    const char *name;
    size_t offset;
    enum library_need need;
};

struct library {
    const char *path;  /* what dlopen is asked for */
    const char *named; /* environment variable that replaces it; for tests */
    enum library_owner owner;
    const struct library_entry *entries;
    size_t count;
};

/*
 * Opens the library and fills `table`; an optional entry that is absent
 * becomes NULL.  ERR_NO_DEVICE with the loader's reason if there is no such
 * library, ERR_DEVICE if it cannot be loaded or lacks a required entry.
 */
int library_open(const struct library *library, void **handle, void *table,
                 struct error *err);
void library_close(void *handle);

/* Text that a driver gave: it ends within its room, and what has anything but
 * letters of ASCII in it is no text. */
void library_word(char *text, size_t room);

#endif
