#include "math/lu.h"

#include <math.h>

#include "math/lanes.h"

static void exchange_rows(double *one, double *two, int32_t n) {
    int32_t i = 0;
    for (; i + 2 <= n; i += 2) {
        KlPair kept = kl_load(one + i);
        kl_store(one + i, kl_load(two + i));
        kl_store(two + i, kept);
    }
    if (i < n) {
        double kept = one[i];
        one[i] = two[i];
        two[i] = kept;
    }
}

static inline double larger(double a, double b) { return a > b ? a : b; }

// The first of the largest in column k: its size first, which needs no branch, from four rows by turns.
static int32_t find_pivot(const double *a, int32_t n, int32_t k) {
    double size[4] = {0.0};
    const double *at = a + k * n + k;
    int32_t i = k;
    for (; i + 4 <= n; i += 4, at += 4 * n) {
        for (int32_t j = 0; j < 4; j++) {
            size[j] = larger(fabs(at[j * n]), size[j]);
        }
    }
    for (; i < n; i++, at += n) {
        size[0] = larger(fabs(*at), size[0]);
    }
    double most = larger(larger(size[0], size[1]), larger(size[2], size[3]));
    for (i = k; i < n - 1 && fabs(a[i * n + k]) != most;) {
        i++;
    }
    return i;
}

// Brings the pivot of column k up and inverts it. Its size, 0 where it is of no use.
static double place_pivot(double *a, int32_t n, int32_t k, int32_t *exchange) {
    double *pivot = a + k * n;
    exchange[k] = find_pivot(a, n, k);
    if (exchange[k] != k) {
        exchange_rows(pivot, a + exchange[k] * n, n);
    }
    double size = fabs(pivot[k]);
    pivot[k] = 1.0 / pivot[k];
    return size > 0.0 && !isinf(size) ? size : 0.0;
}

// Rows below, less their shares of the pivot rows k and k + 1 from column k + 2 on: two rows a passage.
static void subtract_pivots(double *a, int32_t n, int32_t k) {
    const double *first = a + k * n, *second = first + n;
    int32_t i = k + 2;
    for (; i + 2 <= n; i += 2) {
        double *one = a + i * n + k, *two = one + n;
        kl_lanes_subtract_two_times_two(one, two, first + k + 2, second + k + 2, n - k - 2, one + 2, two + 2);
    }
    if (i < n) {
        double *row = a + i * n;
        kl_lanes_subtract_times(row[k], first + k + 2, n - k - 2, row + k + 2);
        kl_lanes_subtract_times(row[k + 1], second + k + 2, n - k - 2, row + k + 2);
    }
}

// Two pivots a passage.
double kl_lu_factor(double *a, int32_t n, int32_t *exchange) {
    double least = INFINITY;
    for (int32_t k = 0; k < n; k += 2) {
        double *pivot = a + k * n, size = place_pivot(a, n, k, exchange);
        if (size > 0.0 && k + 1 < n) {
            for (int32_t i = k + 1; i < n; i++) {
                a[i * n + k] *= pivot[k];
                a[i * n + k + 1] -= a[i * n + k] * pivot[k + 1];
            }
            double other = place_pivot(a, n, k + 1, exchange);
            size = other < size ? other : size;
        }
        if (!(size > 0.0)) {
            return 0.0;
        }
        least = size < least ? size : least;
        double *next = pivot + n;
        if (k + 1 < n) {
            kl_lanes_subtract_times(next[k], pivot + k + 2, n - k - 2, next + k + 2);
        }
        for (int32_t i = k + 2; i < n; i++) {
            a[i * n + k + 1] *= next[k + 1];
        }
        subtract_pivots(a, n, k);
    }
    return least;
}

// Four rows at a time: their sums over what is known do not wait for each other.
static void solve_lower(const double *factor, int32_t n, double *x) {
    int32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const double *a = factor + i * n, *b = a + n, *c = b + n, *d = c + n;
        KlPair one = kl_lanes_two_dots(x, a, b, i), two = kl_lanes_two_dots(x, c, d, i);
        double x0 = x[i] - one[0], x1 = (x[i + 1] - one[1]) - b[i] * x0;
        double x2 = (x[i + 2] - two[0]) - (c[i] * x0 + c[i + 1] * x1);
        double x3 = ((x[i + 3] - two[1]) - (d[i] * x0 + d[i + 1] * x1)) - d[i + 2] * x2;
        x[i] = x0, x[i + 1] = x1, x[i + 2] = x2, x[i + 3] = x3;
    }
    for (; i < n; i++) {
        x[i] -= kl_lanes_dot(factor + i * n, x, i);
    }
}

void kl_upper_solve(const double *factor, int32_t stride, int32_t n, double *x) {
    int32_t i = n;
    for (; i >= 4; i -= 4) {
        const double *a = factor + (i - 4) * stride, *b = a + stride, *c = b + stride, *d = c + stride;
        KlPair one = kl_lanes_two_dots(x + i, a + i, b + i, n - i), two = kl_lanes_two_dots(x + i, c + i, d + i, n - i);
        double x3 = (x[i - 1] - two[1]) * d[i - 1], x2 = ((x[i - 2] - two[0]) - c[i - 1] * x3) * c[i - 2];
        double x1 = ((x[i - 3] - one[1]) - (b[i - 2] * x2 + b[i - 1] * x3)) * b[i - 3];
        double x0 = (((x[i - 4] - one[0]) - (a[i - 2] * x2 + a[i - 1] * x3)) - a[i - 3] * x1) * a[i - 4];
        x[i - 4] = x0, x[i - 3] = x1, x[i - 2] = x2, x[i - 1] = x3;
    }
    while (i-- > 0) {
        const double *row = factor + i * stride;
        x[i] = (x[i] - kl_lanes_dot(row + i + 1, x + i + 1, n - i - 1)) * row[i];
    }
}

void kl_upper_solve_transposed(const double *factor, int32_t stride, int32_t n, double *x) {
    int32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const double *a = factor + i * stride, *b = a + stride, *c = b + stride, *d = c + stride;
        double x0 = x[i] * a[i], x1 = (x[i + 1] - a[i + 1] * x0) * b[i + 1];
        double x2 = (x[i + 2] - (a[i + 2] * x0 + b[i + 2] * x1)) * c[i + 2];
        double x3 = ((x[i + 3] - (a[i + 3] * x0 + b[i + 3] * x1)) - c[i + 3] * x2) * d[i + 3];
        x[i] = x0, x[i + 1] = x1, x[i + 2] = x2, x[i + 3] = x3;
        KlPair f0 = kl_both(x0), f1 = kl_both(x1), f2 = kl_both(x2), f3 = kl_both(x3);
        int32_t j = i + 4;
        for (; j + 2 <= n; j += 2) {
            KlPair one = f0 * kl_load(a + j) + f1 * kl_load(b + j), two = f2 * kl_load(c + j) + f3 * kl_load(d + j);
            kl_store(x + j, kl_load(x + j) - (one + two));
        }
        if (j < n) {
            x[j] -= (x0 * a[j] + x1 * b[j]) + (x2 * c[j] + x3 * d[j]);
        }
    }
    for (; i < n; i++) {
        double own = x[i] *= factor[i * stride + i];
        kl_lanes_subtract_times(own, factor + i * stride + i + 1, n - i - 1, x + i + 1);
    }
}

void kl_lu_solve(const double *factor, int32_t n, const int32_t *exchange, double *x) {
    for (int32_t k = 0; k < n; k++) {
        double kept = x[k];
        x[k] = x[exchange[k]];
        x[exchange[k]] = kept;
    }
    solve_lower(factor, n, x);
    kl_upper_solve(factor, n, n, x);
}
