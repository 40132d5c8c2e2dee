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
        int32_t i = k + 1;
        for (; i + 2 <= n; i += 2) {
            double *one = a + i * n, *two = one + n;
            one[k] *= pivot[k];
            two[k] *= pivot[k];
            kl_lanes_subtract_times_two(one[k], two[k], pivot + k + 1, n - k - 1, one + k + 1, two + k + 1);
        }
        if (i < n) {
            double *row = a + i * n;
            row[k] *= pivot[k];
            kl_lanes_subtract_times(row[k], pivot + k + 1, n - k - 1, row + k + 1);
        }
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

static void solve_upper(const double *factor, int32_t n, double *x) {
    int32_t i = n;
    for (; i >= 4; i -= 4) {
        const double *a = factor + (i - 4) * n, *b = a + n, *c = b + n, *d = c + n;
        KlPair one = kl_lanes_two_dots(x + i, a + i, b + i, n - i), two = kl_lanes_two_dots(x + i, c + i, d + i, n - i);
        double x3 = (x[i - 1] - two[1]) * d[i - 1], x2 = ((x[i - 2] - two[0]) - c[i - 1] * x3) * c[i - 2];
        double x1 = ((x[i - 3] - one[1]) - (b[i - 2] * x2 + b[i - 1] * x3)) * b[i - 3];
        double x0 = (((x[i - 4] - one[0]) - (a[i - 2] * x2 + a[i - 1] * x3)) - a[i - 3] * x1) * a[i - 4];
        x[i - 4] = x0, x[i - 3] = x1, x[i - 2] = x2, x[i - 1] = x3;
    }
    while (i-- > 0) {
        const double *row = factor + i * n;
        x[i] = (x[i] - kl_lanes_dot(row + i + 1, x + i + 1, n - i - 1)) * row[i];
    }
}

void kl_lu_solve(const double *factor, int32_t n, const int32_t *exchange, double *x) {
    for (int32_t k = 0; k < n; k++) {
        double kept = x[k];
        x[k] = x[exchange[k]];
        x[exchange[k]] = kept;
    }
    solve_lower(factor, n, x);
    solve_upper(factor, n, x);
}
