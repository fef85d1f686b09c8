/* Numbers have a point, whatever the language of the program that we run in:
 * files, PTX and reports are read and written alike everywhere. */
#ifndef SONDE_BASE_NUMERIC_H
#define SONDE_BASE_NUMERIC_H

#include <locale.h>

/* Of this thread, until it is taken back; what was before. */
locale_t numeric_plain(void);
void numeric_back(locale_t *before);

/* For the rest of the block. */
#define NUMERIC_PLAIN()                                                        \
    locale_t numeric_ __attribute__((cleanup(numeric_back), unused)) =         \
        numeric_plain()

#endif
