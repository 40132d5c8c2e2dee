// Symmetric eigenvalues against closed forms and definitions; semidefinite rank.
#include "math/eigen.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "support.h"

enum { MAX_N = 60 };

// The matrix 2, -1 of a hanging chain: values 2 - 2 cos(k pi / (n + 1)).
static void the_chain_has_its_known_spectrum(void **state) {
    (void)state;
    for (int n = 1; n <= MAX_N; n++) {
        static double a[MAX_N * MAX_N];
        double values[MAX_N], work[2 * MAX_N];
        memset(a, 0, sizeof a);
        for (int i = 0; i < n; i++) {
            a[i * n + i] = 2.0;
            if (i > 0) {
                a[i * n + i - 1] = a[(i - 1) * n + i] = -1.0;
            }
        }
        assert_true(kl_eigen_symmetric(a, n, values, NULL, work));
        for (int k = 0; k < n; k++) {
            assert_near(values[k], 2.0 - 2.0 * cos((k + 1) * 3.14159265358979323846 / (n + 1)), 1e-14 * n);
        }
    }
}

static void fill_random(KlRng *rng, int n, int rank, double *a) {
    static double b[MAX_N * MAX_N];
    for (int i = 0; i < n * rank; i++) {
        b[i] = kl_rng_range(rng, -1, 1);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            a[i * n + j] = 0.0;
            for (int k = 0; k < rank; k++) {
                a[i * n + j] += b[i * rank + k] * b[j * rank + k];
            }
        }
    }
}

static void vectors_are_orthonormal_and_satisfy_a_v_is_value_v(void **state) {
    (void)state;
    KlRng rng = {31};
    for (int n = 1; n <= MAX_N; n += 7) {
        static double a[MAX_N * MAX_N], kept[MAX_N * MAX_N], v[MAX_N * MAX_N];
        double values[MAX_N], work[2 * MAX_N];
        fill_random(&rng, n, n < 3 ? n : n - 2, a);  // two zeros among them
        memcpy(kept, a, sizeof a);
        assert_true(kl_eigen_symmetric(a, n, values, v, work));
        double size = fmax(1.0, values[n - 1]);
        for (int i = 0; i < n; i++) {
            assert_true(i == 0 || values[i] >= values[i - 1]);
            for (int r = 0; r < n; r++) {
                double product = 0.0, dot = 0.0;
                for (int c = 0; c < n; c++) {
                    product += kept[r * n + c] * v[i * n + c];
                    dot += v[r * n + c] * v[i * n + c];
                }
                assert_near(product, values[i] * v[i * n + r], 1e-14 * n * size);
                assert_near(dot, r == i ? 1.0 : 0.0, 1e-14 * n);
            }
        }
    }
}

static void hand_computed_two_by_two(void **state) {
    (void)state;
    double a[4] = {2, 1, 1, 2}, values[2], v[4], work[4], zero[9] = {0}, nan[4] = {NAN, 0, 0, 1}, three[3];
    double big_work[6];
    assert_true(kl_eigen_symmetric(a, 2, values, v, work));
    assert_near(values[0], 1.0, 1e-15);
    assert_near(values[1], 3.0, 1e-15);
    assert_near(fabs(v[0]), 0.7071067811865476, 1e-15);
    assert_near(v[0] + v[1], 0.0, 1e-15);
    assert_near(v[2] - v[3], 0.0, 1e-15);
    assert_true(kl_eigen_symmetric(zero, 3, three, NULL, big_work));
    assert_near(three[0], 0.0, 0.0);
    assert_near(three[2], 0.0, 0.0);
    assert_false(kl_eigen_symmetric(nan, 2, values, NULL, work));
}

static void rank_counts_independent_rows_at_every_scale(void **state) {
    (void)state;
    KlRng rng = {32};
    for (int n = 2; n <= MAX_N; n += 3) {
        for (int rank = 0; rank <= n; rank += 1 + n / 5) {
            static double a[MAX_N * MAX_N];
            double work[MAX_N], scale = ldexp(1.0, 20 * (rank % 5 - 2));
            fill_random(&rng, n, rank, a);
            for (int i = 0; i < n * n; i++) {
                a[i] *= scale;
            }
            assert_int_equal(kl_rank_semidefinite(a, n, n * DBL_EPSILON, work), rank);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_chain_has_its_known_spectrum),
        cmocka_unit_test(vectors_are_orthonormal_and_satisfy_a_v_is_value_v),
        cmocka_unit_test(hand_computed_two_by_two),
        cmocka_unit_test(rank_counts_independent_rows_at_every_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
