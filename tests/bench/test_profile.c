// Performance profiles against cases worked out by hand: failures, ties, zeros, the residual floor.
#include <float.h>
#include <math.h>

#include "kl.h"
#include "support.h"

enum { POINTS = 5 };  // tau = 1, 2, 4, 8, 16

static void compute(int32_t problems, int32_t solvers, const double *measure, bool floored, double *rho) {
    KlProfileDef def = {.problems = problems,
                        .solvers = solvers,
                        .measure = measure,
                        .floor = floored,
                        .points = POINTS,
                        .tau_max = 16.0};
    double tau[POINTS];
    static const double expected[POINTS] = {1, 2, 4, 8, 16};
    assert_ok(kl_profile_compute(&def, tau, rho));
    assert_near_array(tau, expected, POINTS, 1e-14);
    assert_near(tau[0], 1.0, 0.0);
    assert_near(tau[POINTS - 1], 16.0, 0.0);
}

// Ratios: A 1, 1, 3;  B 3, 1, 1;  the tie counts as best for both.
static void shares_follow_the_ratios_and_ties_count_for_both(void **state) {
    (void)state;
    const double measure[] = {1, 3, 5, 5, 6, 2};
    const double third = 1.0 / 3.0;
    const double expected[2 * POINTS] = {2 * third, 2 * third, 1, 1, 1, 2 * third, 2 * third, 1, 1, 1};
    double rho[2 * POINTS];
    compute(3, 2, measure, false, rho);
    assert_near_array(rho, expected, 2 * POINTS, 1e-15);
}

// A fails on the second, all fail on the third: neither hides the other's success, and the curve of A
// ends at 1/3. NaN must not become the minimum.
static void failures_are_masked_before_the_minimum(void **state) {
    (void)state;
    const double measure[] = {2, 10, NAN, 7, NAN, NAN};
    const double third = 1.0 / 3.0;
    const double expected[2 * POINTS] = {third, third, third, third, third, third, third, third, 2 * third, 2 * third};
    double rho[2 * POINTS];
    compute(3, 2, measure, false, rho);  // B: ratio 5 and 1
    assert_near_array(rho, expected, 2 * POINTS, 1e-15);
}

static void a_zero_is_best_and_nothing_is_near_it_without_the_floor(void **state) {
    (void)state;
    const double measure[] = {0, 1e-17, 0, 0};
    const double expected[2 * POINTS] = {1, 1, 1, 1, 1, .5, .5, .5, .5, .5};
    double rho[2 * POINTS];
    compute(2, 2, measure, false, rho);
    assert_near_array(rho, expected, 2 * POINTS, 0.0);
}

// With eps = 2^-52 the floor maps 0 to eps/100 and eps/4 to eps/100 + (eps/4)(0.49/0.5) = 0.255 eps:
// ratio 25.5. And eps/50 to 0.0296 eps: ratio 2.96. Above eps/2 values stay.
static void the_floor_draws_rounding_noise_together(void **state) {
    (void)state;
    const double e = DBL_EPSILON;
    const double measure[] = {0, 0.25 * e, e / 50, 0, e, 3 * e};
    const double third = 1.0 / 3.0;
    // A: 1, 2.96, 1;  B: 25.5, 1, 3
    const double expected[2 * POINTS] = {2 * third, 2 * third, 1, 1, 1, third, third, 2 * third, 2 * third, 2 * third};
    double rho[2 * POINTS];
    compute(3, 2, measure, true, rho);
    assert_near_array(rho, expected, 2 * POINTS, 1e-15);
}

static void an_infinite_measure_never_counts(void **state) {
    (void)state;
    const double measure[] = {INFINITY, 1, INFINITY, INFINITY};
    const double expected[2 * POINTS] = {0, 0, 0, 0, 0, .5, .5, .5, .5, .5};
    double rho[2 * POINTS];
    compute(2, 2, measure, false, rho);
    assert_near_array(rho, expected, 2 * POINTS, 0.0);
}

static void a_ratio_on_a_sample_belongs_to_it(void **state) {
    (void)state;
    const double measure[] = {1, 16};
    const double expected[2 * POINTS] = {1, 1, 1, 1, 1, 0, 0, 0, 0, 1};
    double rho[2 * POINTS];
    compute(1, 2, measure, false, rho);
    assert_near_array(rho, expected, 2 * POINTS, 0.0);
}

static void wrong_definitions_are_refused(void **state) {
    (void)state;
    const double negative[] = {1, -2};
    double tau[2], rho[4];
    KlProfileDef def = {.problems = 1, .solvers = 2, .measure = negative, .points = 2, .tau_max = 10.0};
    assert_fails(kl_profile_compute(&def, tau, rho), KL_ERR_ARGUMENT, "measure[0][1] must be >= 0");
    def.tau_max = 1.0;
    assert_fails(kl_profile_compute(&def, tau, rho), KL_ERR_ARGUMENT, "tau_max > 1");
    def.tau_max = 10.0;
    def.problems = 0;
    assert_fails(kl_profile_compute(&def, tau, rho), KL_ERR_ARGUMENT, "problems >= 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_follow_the_ratios_and_ties_count_for_both),
        cmocka_unit_test(failures_are_masked_before_the_minimum),
        cmocka_unit_test(a_zero_is_best_and_nothing_is_near_it_without_the_floor),
        cmocka_unit_test(the_floor_draws_rounding_noise_together),
        cmocka_unit_test(an_infinite_measure_never_counts),
        cmocka_unit_test(a_ratio_on_a_sample_belongs_to_it),
        cmocka_unit_test(wrong_definitions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
