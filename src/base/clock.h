// Wall clock for stage times. Never part of the simulated state.
#ifndef KL_BASE_CLOCK_H
#define KL_BASE_CLOCK_H

double kl_clock(void);  // [s] monotonic

#endif
