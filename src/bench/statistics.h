// Statistics of repeated measurements, robust to outliers. Pure functions; values must not be NaN: drop
// the failed runs first (kl_drop_nan). Resampling has a stored seed, so that a report can be redone.
#ifndef KL_BENCH_STATISTICS_H
#define KL_BENCH_STATISTICS_H

#include "kl.h"

// Moves the values that are not NaN to the front, in order; returns how many.
int32_t kl_drop_nan(double *values, int32_t count);

// Sorts ascending, in place.
void kl_sort(double *values, int32_t count);

// Quantile of sorted values, q in [0, 1], linear between the neighbours (Hyndman and Fan's type 7).
// NaN when count = 0.
double kl_quantile_sorted(const double *sorted, int32_t count, double q);

// Median; sorts `values`. NaN when count = 0.
double kl_median(double *values, int32_t count);

// Median of |value - median|, not scaled to a standard deviation (that would be times 1.4826 for a
// normal law). Overwrites `values`.
double kl_median_deviation(double *values, int32_t count);

// (prod value)^(1/count). 0 when a value is 0; NaN when one is negative or count = 0.
double kl_geometric_mean(const double *values, int32_t count);

// How much b takes of a: the ratio of medians b / a, with a percentile bootstrap interval.
typedef struct KlRatio {
    double ratio;
    double low, high;  // bounds of the confidence interval
} KlRatio;

// Draws `resamples` (100 ... 10^6) pairs of samples with replacement. `confidence` in (0, 1), e.g. 0.95.
// Equal seeds give equal bounds. KL_ERR_ARGUMENT: an empty sample, a value not finite or not > 0.
KlStatus kl_bootstrap_ratio(const double *a, int32_t count_a, const double *b, int32_t count_b, int32_t resamples,
                            double confidence, uint64_t seed, KlRatio *ratio);

#endif
