// Random numbers with a stored seed: splitmix64, the same bits on every machine.
#ifndef KL_BASE_RNG_H
#define KL_BASE_RNG_H

#include <stdint.h>

typedef struct KlRng {
    uint64_t state;
} KlRng;

static inline uint64_t kl_rng_next(KlRng *rng) {
    uint64_t z = (rng->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Uniform in [0, 1).
static inline double kl_rng_unit(KlRng *rng) { return (double)(kl_rng_next(rng) >> 11) * 0x1p-53; }

static inline double kl_rng_range(KlRng *rng, double low, double high) { return low + (high - low) * kl_rng_unit(rng); }

// Uniform in [0, count), count > 0 (multiply-shift; the bias is below count / 2^32).
static inline int32_t kl_rng_index(KlRng *rng, int32_t count) {
    return (int32_t)(((kl_rng_next(rng) >> 32) * (uint64_t)count) >> 32);
}

#endif
