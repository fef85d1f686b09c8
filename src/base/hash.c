#include "base/hash.h"

#include <string.h>

uint64_t hash_bytes(uint64_t hash, const void *data, size_t length)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text) + 1);
}

uint64_t hash_long_text(const char *text)
{
    const size_t length = strlen(text);
    uint64_t hash = HASH_START, word;
    size_t at = 0;
    for (; at + sizeof word <= length; at += sizeof word) {
        memcpy(&word, text + at, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash_bytes(hash, text + at, length - at);
}
