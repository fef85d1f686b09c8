/*
 * FNV-1a, 64 bits: names for cache entries and recordings.  Whoever uses it
 * as a key also keeps the full key beside the value and compares, so that a
 * collision costs time and never an answer.
 */
#ifndef SONDE_BASE_HASH_H
#define SONDE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325u

uint64_t hash_bytes(uint64_t hash, const void *data, size_t length);
uint64_t hash_text(uint64_t hash, const char *text); /* with its NUL */
/* Another one, eight bytes a step, for what does not outlive the process: it
 * depends on the order of bytes in a word. */
uint64_t hash_long_text(const char *text);

#endif
