#include "math/lu.h"

#include <math.h>

#include "math/lanes.h"

static void exchange_rows(double *one, double *two, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        double kept = one[i];
        one[i] = two[i];
        two[i] = kept;
    }
}

static int32_t find_pivot(const double *a, int32_t n, int32_t k) {
    int32_t most = k;
    for (int32_t i = k + 1; i < n; i++) {
        most = fabs(a[i * n + k]) > fabs(a[most * n + k]) ? i : most;
    }
    return most;
}

double kl_lu_factor(double *a, int32_t n, int32_t *exchange) {
    double least = INFINITY;
    for (int32_t k = 0; k < n; k++) {
        int32_t most = find_pivot(a, n, k);
        double *pivot = a + k * n;
        exchange[k] = most;
        if (most != k) {
            exchange_rows(pivot, a + most * n, n);
        }
        double size = fabs(pivot[k]);
        if (!(size > 0.0) || isinf(size)) {
            return 0.0;
        }
        least = size < least ? size : least;
        pivot[k] = 1.0 / pivot[k];
        for (int32_t i = k + 1; i < n; i++) {
            double *row = a + i * n;
            if (row[k] != 0.0) {
                row[k] *= pivot[k];
                kl_lanes_subtract_times(row[k], pivot + k + 1, n - k - 1, row + k + 1);
            }
        }
    }
    return least;
}

void kl_lu_solve(const double *factor, int32_t n, const int32_t *exchange, double *x) {
    for (int32_t k = 0; k < n; k++) {
        double kept = x[k];
        x[k] = x[exchange[k]];
        x[exchange[k]] = kept;
    }
    for (int32_t i = 1; i < n; i++) {
        x[i] -= kl_lanes_dot(factor + i * n, x, i);
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        const double *row = factor + i * n;
        x[i] = (x[i] - kl_lanes_dot(row + i + 1, x + i + 1, n - i - 1)) * row[i];
    }
}
