// Order statistics and the bootstrap against hand values and properties.
#include "bench/statistics.h"

#include <math.h>

#include "base/rng.h"
#include "support.h"

static void medians_of_odd_even_and_none(void **state) {
    (void)state;
    double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2}, ties[] = {2, 2, 2, 9};
    assert_near(kl_median(odd, 3), 3.0, 0.0);
    assert_near(kl_median(even, 4), 2.5, 0.0);
    assert_near(kl_median(ties, 4), 2.0, 0.0);
    assert_true(isnan(kl_median(odd, 0)));
}

static void quantiles_are_linear_between_neighbours(void **state) {
    (void)state;
    const double sorted[] = {10, 20, 30, 40, 50};
    assert_near(kl_quantile_sorted(sorted, 5, 0.0), 10.0, 0.0);
    assert_near(kl_quantile_sorted(sorted, 5, 0.25), 20.0, 0.0);
    assert_near(kl_quantile_sorted(sorted, 5, 0.9), 46.0, 1e-14);
    assert_near(kl_quantile_sorted(sorted, 5, 1.0), 50.0, 0.0);
    const double with_infinity[] = {1, INFINITY, INFINITY};
    assert_true(isinf(kl_quantile_sorted(with_infinity, 3, 0.75)));
}

// Median 3, distances 2 1 0 1 97: their median is 1.
static void the_deviation_ignores_an_outlier(void **state) {
    (void)state;
    double values[] = {1, 2, 3, 4, 100};
    assert_near(kl_median_deviation(values, 5), 1.0, 0.0);
}

static void nan_is_dropped_in_order(void **state) {
    (void)state;
    double values[] = {NAN, 3, NAN, 1, 2, NAN};
    assert_int_equal(kl_drop_nan(values, 6), 3);
    const double kept[] = {3, 1, 2};
    assert_near_array(values, kept, 3, 0.0);
}

static void geometric_means(void **state) {
    (void)state;
    const double values[] = {1, 10, 100}, zero[] = {0, 5}, negative[] = {2, -1};
    assert_near(kl_geometric_mean(values, 3), 10.0, 1e-14);
    assert_near(kl_geometric_mean(zero, 2), 0.0, 0.0);
    assert_true(isnan(kl_geometric_mean(negative, 2)));
    assert_true(isnan(kl_geometric_mean(values, 0)));
    const double huge[] = {1e300, 1e300, 1e300};
    assert_near(kl_geometric_mean(huge, 3) / 1e300, 1.0, 1e-12);  // the product would overflow
}

static void constant_samples_leave_no_doubt(void **state) {
    (void)state;
    const double a[] = {2, 2, 2}, b[] = {3, 3, 3, 3};
    KlRatio r;
    assert_ok(kl_bootstrap_ratio(a, 3, b, 4, 500, 0.95, 1, &r));
    assert_near(r.ratio, 1.5, 0.0);
    assert_near(r.low, 1.5, 0.0);
    assert_near(r.high, 1.5, 0.0);
}

static void equal_seeds_give_equal_bounds_around_the_ratio(void **state) {
    (void)state;
    double a[40], b[40];
    KlRng rng = {77};
    for (int i = 0; i < 40; i++) {
        a[i] = 1.0 + 0.1 * kl_rng_unit(&rng);
        b[i] = 1.2 + 0.1 * kl_rng_unit(&rng);
    }
    KlRatio one, two, other;
    assert_ok(kl_bootstrap_ratio(a, 40, b, 40, 2000, 0.95, 5, &one));
    assert_ok(kl_bootstrap_ratio(a, 40, b, 40, 2000, 0.95, 5, &two));
    assert_ok(kl_bootstrap_ratio(a, 40, b, 40, 2000, 0.95, 6, &other));
    assert_near(one.low, two.low, 0.0);
    assert_near(one.high, two.high, 0.0);
    assert_true(one.low < one.ratio && one.ratio < one.high);
    assert_true(one.low > 1.0);  // b is slower beyond doubt: the samples do not overlap
    assert_true(one.high < 1.3);
    assert_near(other.low, one.low, 0.02);  // another seed moves the bounds a little
}

// The interval of 90 % holds the true ratio in some 90 of 100 experiments.
static void the_interval_covers_as_often_as_it_says(void **state) {
    (void)state;
    KlRng rng = {99};
    int covered = 0;
    enum { EXPERIMENTS = 200, SIZE = 51 };
    for (int e = 0; e < EXPERIMENTS; e++) {
        double a[SIZE], b[SIZE];
        for (int i = 0; i < SIZE; i++) {
            a[i] = 1.0 + kl_rng_unit(&rng);          // median 1.5
            b[i] = 2.0 * (1.0 + kl_rng_unit(&rng));  // median 3
        }
        KlRatio r;
        assert_ok(kl_bootstrap_ratio(a, SIZE, b, SIZE, 400, 0.9, (uint64_t)e, &r));
        covered += r.low <= 2.0 && 2.0 <= r.high;
    }
    assert_in_range(covered, EXPERIMENTS * 84 / 100, EXPERIMENTS * 97 / 100);  // three deviations of 0.9
}

static void bad_samples_are_refused(void **state) {
    (void)state;
    const double good[] = {1}, zero[] = {1, 0};
    KlRatio r;
    assert_fails(kl_bootstrap_ratio(good, 0, good, 1, 500, 0.9, 1, &r), KL_ERR_ARGUMENT, "sample a is empty");
    assert_fails(kl_bootstrap_ratio(good, 1, zero, 2, 500, 0.9, 1, &r), KL_ERR_ARGUMENT, "b[1] must be finite");
    assert_fails(kl_bootstrap_ratio(good, 1, good, 1, 5, 0.9, 1, &r), KL_ERR_ARGUMENT, "resamples");
    assert_fails(kl_bootstrap_ratio(good, 1, good, 1, 500, 1.0, 1, &r), KL_ERR_ARGUMENT, "confidence");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_of_odd_even_and_none),
        cmocka_unit_test(quantiles_are_linear_between_neighbours),
        cmocka_unit_test(the_deviation_ignores_an_outlier),
        cmocka_unit_test(nan_is_dropped_in_order),
        cmocka_unit_test(geometric_means),
        cmocka_unit_test(constant_samples_leave_no_doubt),
        cmocka_unit_test(equal_seeds_give_equal_bounds_around_the_ratio),
        cmocka_unit_test(the_interval_covers_as_often_as_it_says),
        cmocka_unit_test(bad_samples_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
