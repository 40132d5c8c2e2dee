// What one core of the machine can do: the roof of the roofline model (Williams, Waterman and Patterson, CACM 52,
// 2009). A kernel of `madds` multiply-adds over `bytes` bytes takes at least the longer of madds / peak and
// bytes / bandwidth.
#ifndef KINLOOP_ROOF_H
#define KINLOOP_ROOF_H

#include <stdbool.h>
#include <stddef.h>

enum { ROOF_LEVELS = 4 };  // L1, L2, L3, memory

typedef struct RoofLevel {
    const char *name;
    size_t capacity;   // [bytes] of the cache, as the system tells; of memory SIZE_MAX
    size_t measured;   // [bytes] that were read over and over for the bandwidth
    double bandwidth;  // [bytes/s] of reading in order
} RoofLevel;

typedef struct Roof {
    const char *instructions;  // that the build computes with
    double peak;               // [multiply-adds/s] of doubles in registers
    RoofLevel level[ROOF_LEVELS];
} Roof;

// Some seconds. False when there is no memory for the largest array, which is twice the last cache.
bool roof_measure(Roof *roof);
// The level whose cache holds this many bytes.
const RoofLevel *roof_level(const Roof *roof, double bytes);

// The least processor seconds of one call of `work(context)` among samples of some milliseconds each.
double roof_seconds(void (*work)(void *context), void *context);

#endif
