// Dense LU and triangular solutions: against the definition at every size around their passages, and failures.
#include "math/lu.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "support.h"

enum { MAX_N = 66, STRIDE = MAX_N + 1 };

static void random_matrix(KlRng *rng, int n, double *a) {
    for (int i = 0; i < n * n; i++) {
        a[i] = kl_rng_range(rng, -1, 1);
    }
}

static void solutions_satisfy_the_system_at_every_size(void **state) {
    (void)state;
    static double a[MAX_N * MAX_N], factor[MAX_N * MAX_N];
    KlRng rng = {5};
    for (int n = 1; n <= MAX_N; n++) {
        double x[MAX_N], b[MAX_N];
        int32_t exchange[MAX_N];
        random_matrix(&rng, n, a);
        for (int i = 0; i < n && n % 3 == 0; i++) {
            a[i * n + i] = 0.0;  // no pivot where it stands
        }
        for (int i = 0; i < n; i++) {
            b[i] = x[i] = kl_rng_range(&rng, -1, 1);
        }
        memcpy(factor, a, sizeof factor);
        assert_true(kl_lu_factor(factor, n, exchange) > 0.0);
        kl_lu_solve(factor, n, exchange, x);
        for (int i = 0; i < n; i++) {
            double left = -b[i], size = 1.0;
            for (int j = 0; j < n; j++) {
                left += a[i * n + j] * x[j];
                size += fabs(a[i * n + j] * x[j]);
            }
            assert_near(left / size, 0.0, 1e-12);
        }
    }
}

// |L| <= 1 below the diagonal: the largest entry of its column was the pivot.
static void pivots_are_the_largest_of_their_columns(void **state) {
    (void)state;
    static double a[MAX_N * MAX_N];
    KlRng rng = {6};
    for (int n = 1; n <= MAX_N; n++) {
        int32_t exchange[MAX_N];
        random_matrix(&rng, n, a);
        double least = kl_lu_factor(a, n, exchange), smallest = INFINITY;
        for (int i = 0; i < n; i++) {
            smallest = fmin(smallest, fabs(1.0 / a[i * n + i]));
            for (int j = 0; j < i; j++) {
                assert_true(fabs(a[i * n + j]) <= 1.0);
            }
        }
        assert_near(least / smallest, 1.0, 1e-15);
    }
}

static void matrices_without_an_inverse_are_refused(void **state) {
    (void)state;
    static double a[MAX_N * MAX_N];
    static const double bad[] = {0.0, NAN, INFINITY};
    KlRng rng = {7};
    for (int n = 1; n <= 9; n++) {
        for (int column = 0; column < n; column++) {
            for (int k = 0; k < 3; k++) {
                int32_t exchange[MAX_N];
                random_matrix(&rng, n, a);
                for (int i = 0; i < n; i++) {
                    a[i * n + column] = bad[k];
                }
                assert_true(kl_lu_factor(a, n, exchange) == 0.0);
            }
        }
    }
}

static void triangular_solutions_satisfy_their_systems(void **state) {
    (void)state;
    static double u[MAX_N * STRIDE];
    KlRng rng = {8};
    for (int n = 1; n <= MAX_N; n++) {
        double x[MAX_N], y[MAX_N], b[MAX_N];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < STRIDE; j++) {
                u[i * STRIDE + j] = j >= i && j < n ? kl_rng_range(&rng, -1, 1) / n : NAN;  // below nobody reads
            }
            u[i * STRIDE + i] = kl_rng_range(&rng, 1, 2);
            b[i] = x[i] = y[i] = kl_rng_range(&rng, -1, 1);
        }
        kl_upper_solve(u, STRIDE, n, x);
        kl_upper_solve_transposed(u, STRIDE, n, y);
        for (int i = 0; i < n; i++) {
            double row = x[i] / u[i * STRIDE + i], column = y[i] / u[i * STRIDE + i];
            for (int j = i + 1; j < n; j++) {
                row += u[i * STRIDE + j] * x[j];
            }
            for (int j = 0; j < i; j++) {
                column += u[j * STRIDE + i] * y[j];
            }
            assert_near(row, b[i], 1e-13);
            assert_near(column, b[i], 1e-13);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_satisfy_the_system_at_every_size),
        cmocka_unit_test(pivots_are_the_largest_of_their_columns),
        cmocka_unit_test(matrices_without_an_inverse_are_refused),
        cmocka_unit_test(triangular_solutions_satisfy_their_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
