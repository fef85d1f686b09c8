/*
 * Our reading of machine code against that of nvdisasm, where it is installed.
 */
#ifndef SONDE_TESTS_UNIT_DISASSEMBLER_H
#define SONDE_TESTS_UNIT_DISASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>

/* False: no nvdisasm, neither in PATH nor where the toolkit is installed. */
bool disassembler_installed(void);

/*
 * Fails the test unless both say the same of every instruction of every
 * kernel of that file: the same name, and each word of our form is one of
 * nvdisasm's.  Returns how many instructions that were.
 */
unsigned long disassembler_compare(const char *cubin);
/* The same of many, several at once. */
unsigned long disassembler_compare_all(char *const *cubins, size_t count);

#endif
