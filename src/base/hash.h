// FNV-1a over 64-bit words: the state hash. Equal bits give equal hashes; nothing is rounded.
#ifndef KL_BASE_HASH_H
#define KL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KL_HASH_START 0xcbf29ce484222325u

static inline uint64_t kl_hash_word(uint64_t hash, uint64_t word) {
    for (int byte = 0; byte < 8; byte++) {
        hash = (hash ^ ((word >> (8 * byte)) & 0xffu)) * 0x100000001b3u;
    }
    return hash;
}

static inline uint64_t kl_hash_doubles(uint64_t hash, const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, &values[i], sizeof word);
        hash = kl_hash_word(hash, word);
    }
    return hash;
}

#endif
