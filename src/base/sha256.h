/*
 * SHA-256 (FIPS 180-4): what a file was when it was written, so that a changed
 * one is told from it whoever changed it.  For names within one process
 * base/hash.h is enough, and quicker.
 *
 * Of our own, for it is sixty lines: the libraries that have it bring an
 * initialisation, a provider or a licence along that a static binary would
 * have to carry for this alone.
 */
#ifndef SONDE_BASE_SHA256_H
#define SONDE_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_WORDS = 8, SHA256_BLOCK = 64, SHA256_DIGITS = 64 };

struct sha256 {
    uint32_t state[SHA256_WORDS];
    uint64_t length; /* bytes so far */
    unsigned char block[SHA256_BLOCK];
};

void sha256_start(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t length);
/* In hexadecimal; the hash may not be added to any more. */
void sha256_end(struct sha256 *hash, char text[SHA256_DIGITS + 1]);

#endif
