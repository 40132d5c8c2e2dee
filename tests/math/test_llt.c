// Cholesky on tiles: against the definition for every size around the tile, failures, halves.
#include "math/llt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/rng.h"
#include "support.h"

enum { MAX_N = 70 };

// A = B B^T / n + 0.1, rows `stride` apart, the lower triangle filled with what must not count.
static void random_spd(KlRng *rng, int n, int stride, double *a) {
    static double b[MAX_N * MAX_N];
    for (int i = 0; i < n * n; i++) {
        b[i] = kl_rng_range(rng, -1, 1);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = i == j ? 0.1 : 0.0;
            for (int k = 0; k < n; k++) {
                sum += b[i * n + k] * b[j * n + k] / n;
            }
            a[i * stride + j] = j >= i ? sum : NAN;
        }
    }
}

static double entry(const double *a, int stride, int i, int j) {
    return i <= j ? a[i * stride + j] : a[j * stride + i];
}

static void solutions_satisfy_the_system_at_every_size(void **state) {
    (void)state;
    static double a[MAX_N * (MAX_N + 3)], factor[MAX_N * MAX_N];
    KlRng rng = {21};
    for (int n = 1; n <= MAX_N - 5; n++) {
        int stride = n + 3;
        double x[MAX_N + 3], b[MAX_N];
        double shift[MAX_N];
        random_spd(&rng, n, stride, a);
        for (int i = 0; i < n; i++) {
            b[i] = x[i] = kl_rng_range(&rng, -1, 1);
            shift[i] = 0.01 * i;
        }
        assert_true(kl_llt_size(n) <= MAX_N * MAX_N);
        assert_int_equal(kl_llt_factor_shifted(a, n, stride, shift, factor), -1);
        kl_llt_solve(factor, n, x);
        for (int i = 0; i < n; i++) {
            double product = shift[i] * x[i];
            for (int j = 0; j < n; j++) {
                product += entry(a, stride, i, j) * x[j];
            }
            assert_near(product, b[i], 1e-12);  // condition number some 100, entries of order one
        }
        for (int i = n; i < kl_llt_padded(n); i++) {
            assert_near(x[i], 0.0, 0.0);
        }
    }
}

static void a_common_shift_equals_the_same_shift_per_row(void **state) {
    (void)state;
    static double a[30 * 30], one[1024], many[1024];
    KlRng rng = {22};
    double shift[30];
    for (int i = 0; i < 30; i++) {
        shift[i] = 0.75;
    }
    random_spd(&rng, 30, 30, a);
    assert_int_equal(kl_llt_factor(a, 30, 30, 0.75, one), -1);
    assert_int_equal(kl_llt_factor_shifted(a, 30, 30, shift, many), -1);
    assert_memory_equal(one, many, kl_llt_size(30) * sizeof(double));
}

// A = [[4, 2], [2, 5]]: L = [[2, 0], [1, 2]].
static void hand_computed_factor(void **state) {
    (void)state;
    double a[4] = {4, 2, 0, 5}, factor[16], x[4] = {2, 5};
    assert_int_equal(kl_llt_factor(a, 2, 2, 0.0, factor), -1);
    kl_llt_solve_lower(factor, 2, x);
    assert_near(x[0], 1.0, 0.0);
    assert_near(x[1], 2.0, 0.0);
    kl_llt_solve_upper(factor, 2, x);
    assert_near(x[1], 1.0, 0.0);
    assert_near(x[0], 0.0, 0.0);
}

static void the_first_bad_pivot_is_named(void **state) {
    (void)state;
    static double a[40 * 40], factor[40 * 40];
    KlRng rng = {23};
    for (int bad = 0; bad < 37; bad++) {
        random_spd(&rng, 37, 37, a);
        a[bad * 37 + bad] = -1.0;
        assert_int_equal(kl_llt_factor(a, 37, 37, 0.0, factor), bad);
        a[bad * 37 + bad] = NAN;
        assert_int_equal(kl_llt_factor(a, 37, 37, 0.0, factor), bad);
    }
    double singular[4] = {1, 1, 0, 1};
    assert_int_equal(kl_llt_factor(singular, 2, 2, 0.0, factor), 1);
}

// Every bit of a factor: other compilers and WebAssembly must give this hash too.
static void the_factor_has_the_same_bits_everywhere(void **state) {
    (void)state;
    static double a[MAX_N * MAX_N], factor[MAX_N * MAX_N];
    KlRng rng = {24};
    int n = 65;
    random_spd(&rng, n, n, a);
    assert_int_equal(kl_llt_factor(a, n, n, 1e-6, factor), -1);
    uint64_t hash = kl_hash_doubles(KL_HASH_START, factor, kl_llt_size(n));
    if (strcmp(KL_BUILD_NAME, "native-fast") != 0) {  // which rounds products otherwise, as it says
        assert_true(hash == 0xbe850dfdbb22d263u);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_satisfy_the_system_at_every_size),
        cmocka_unit_test(a_common_shift_equals_the_same_shift_per_row),
        cmocka_unit_test(hand_computed_factor),
        cmocka_unit_test(the_first_bad_pivot_is_named),
        cmocka_unit_test(the_factor_has_the_same_bits_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
