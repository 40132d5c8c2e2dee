// Wall clock for stage times.
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"

#ifdef __EMSCRIPTEN__

double kl_now(void);  // [ms], wasm/clock.js; clock_gettime is a detour that a step would notice

double kl_clock(void) { return 1e-3 * kl_now(); }

#else

#include <time.h>

double kl_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
