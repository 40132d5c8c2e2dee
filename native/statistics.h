// Order statistics of small samples.
#ifndef KINLOOP_STATISTICS_H
#define KINLOOP_STATISTICS_H

#include <stdint.h>

double median_of(double *values, int32_t count);  // sorts in place; NaN when empty
// Median of |x - median|: a spread that one slow repetition does not move. Sorts in place.
double mad_of(double *values, int32_t count, double median);

#endif
