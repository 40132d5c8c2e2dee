// Order statistics, geometric mean, bootstrap.
#include "bench/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"

int32_t kl_drop_nan(double *values, int32_t count) {
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        if (!isnan(values[i])) {
            values[kept++] = values[i];
        }
    }
    return kept;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void kl_sort(double *values, int32_t count) {
    if (count > 1) {
        qsort(values, (size_t)count, sizeof *values, ascending);
    }
}

double kl_quantile_sorted(const double *sorted, int32_t count, double q) {
    if (count < 1) {
        return NAN;
    }
    double place = q * (count - 1);
    int32_t low = (int32_t)floor(place);
    low = low < 0 ? 0 : low > count - 1 ? count - 1 : low;
    int32_t high = low < count - 1 ? low + 1 : low;
    double share = place - low;
    // Equal neighbours need no arithmetic: infinities stay themselves.
    return share == 0.0 || sorted[low] == sorted[high] ? sorted[low]
                                                       : sorted[low] + share * (sorted[high] - sorted[low]);
}

double kl_median(double *values, int32_t count) {
    kl_sort(values, count);
    return kl_quantile_sorted(values, count, 0.5);
}

double kl_median_deviation(double *values, int32_t count) {
    double median = kl_median(values, count);
    for (int32_t i = 0; i < count; i++) {
        values[i] = fabs(values[i] - median);
    }
    return kl_median(values, count);
}

double kl_geometric_mean(const double *values, int32_t count) {
    double sum = 0.0;
    bool zero = false;
    for (int32_t i = 0; i < count; i++) {
        if (!(values[i] >= 0.0)) {
            return NAN;
        }
        zero = zero || values[i] == 0.0;
        sum += values[i] > 0.0 ? log(values[i]) : 0.0;
    }
    return count < 1 ? NAN : zero ? 0.0 : exp(sum / count);
}

static KlStatus check_sample(const char *name, const double *values, int32_t count) {
    if (count < 1) {
        return kl_fail(KL_ERR_ARGUMENT, "sample %s is empty", name);
    }
    for (int32_t i = 0; i < count; i++) {
        if (!(values[i] > 0.0) || isinf(values[i])) {
            return kl_fail(KL_ERR_ARGUMENT, "%s[%d] must be finite and > 0 (got %g)", name, (int)i, values[i]);
        }
    }
    return KL_OK;
}

static double median_of_copy(const double *values, int32_t count, double *copy) {
    for (int32_t i = 0; i < count; i++) {
        copy[i] = values[i];
    }
    return kl_median(copy, count);
}

static double median_of_resample(KlRng *rng, const double *values, int32_t count, double *copy) {
    for (int32_t i = 0; i < count; i++) {
        copy[i] = values[kl_rng_index(rng, count)];
    }
    return kl_median(copy, count);
}

KlStatus kl_bootstrap_ratio(const double *a, int32_t count_a, const double *b, int32_t count_b, int32_t resamples,
                            double confidence, uint64_t seed, KlRatio *ratio) {
    enum { LEAST = 100, MOST = 1000000 };
    KL_TRY(check_sample("a", a, count_a));
    KL_TRY(check_sample("b", b, count_b));
    if (resamples < LEAST || resamples > MOST || !(confidence > 0.0 && confidence < 1.0)) {
        return kl_fail(KL_ERR_ARGUMENT, "resamples must be %d to %d and confidence in (0, 1) (got %d and %g)", LEAST,
                       MOST, (int)resamples, confidence);
    }
    int32_t larger = count_a > count_b ? count_a : count_b;
    double *ratios = kl_alloc(((size_t)resamples + (size_t)larger) * sizeof *ratios);
    if (ratios == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for %d resamples", (int)resamples);
    }
    double *copy = ratios + resamples;
    KlRng rng = {seed};
    ratio->ratio = median_of_copy(b, count_b, copy) / median_of_copy(a, count_a, copy);
    for (int32_t i = 0; i < resamples; i++) {
        double below = median_of_resample(&rng, a, count_a, copy);
        ratios[i] = median_of_resample(&rng, b, count_b, copy) / below;
    }
    kl_sort(ratios, resamples);
    ratio->low = kl_quantile_sorted(ratios, resamples, 0.5 * (1.0 - confidence));
    ratio->high = kl_quantile_sorted(ratios, resamples, 0.5 * (1.0 + confidence));
    kl_free(ratios);
    return KL_OK;
}
