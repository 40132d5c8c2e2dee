// Performance profiles against values counted by hand.
#include "support.h"

#include <math.h>

#define NONE ((double)NAN)

// Two solvers, four problems. Ratios of the first: 1, 2, 1, failed; of the second: 4, 1, failed, failed.
static const double measure[8] = {1.0, 4.0, 6.0, 3.0, 5.0, NONE, NONE, NONE};

static void compute(const double *values, int32_t problems, bool floor, double rho[6]) {
    KlProfileDef def = {.problems = problems, .solvers = 2, .measure = values, .floor = floor, .points = 3,
                        .tau_max = 4.0};
    double tau[3];
    assert_ok(kl_profile_compute(&def, tau, rho));
    assert_near(tau[0], 1.0, 0.0);
    assert_near(tau[1], 2.0, 1e-15);
    assert_near(tau[2], 4.0, 0.0);
}

static void profiles_count_problems_within_the_ratio(void **state) {
    (void)state;
    double rho[6];
    compute(measure, 4, false, rho);
    const double expected[6] = {0.5, 0.75, 0.75, 0.25, 0.25, 0.5};
    assert_near_array(rho, expected, 6, 0.0);
}

static void failures_stay_in_the_number_of_problems(void **state) {
    (void)state;
    const double failed[4] = {NONE, NONE, INFINITY, NONE};
    double rho[6];
    compute(failed, 2, false, rho);
    const double zeros[6] = {0};
    assert_near_array(rho, zeros, 6, 0.0);
}

static void ties_and_zeros_are_best_for_both(void **state) {
    (void)state;
    const double equal[4] = {2.0, 2.0, 0.0, 0.0};
    double rho[6];
    compute(equal, 2, false, rho);
    const double ones[6] = {1, 1, 1, 1, 1, 1};
    assert_near_array(rho, ones, 6, 0.0);
}

// 1e-15 against an exact 0: 1e-15 / eps = 4.504 without the floor, 1e-15 / (1.01 eps) = 4.459 with it.
static void the_floor_lifts_an_exact_zero(void **state) {
    (void)state;
    const double values[2] = {1e-15, 0.0};
    for (int floor = 0; floor < 2; floor++) {
        KlProfileDef def = {.problems = 1, .solvers = 2, .measure = values, .floor = floor == 1, .points = 2,
                            .tau_max = 4.48};
        double tau[2], rho[4];
        assert_ok(kl_profile_compute(&def, tau, rho));
        assert_near(rho[1], floor == 1 ? 1.0 : 0.0, 0.0);
        assert_near(rho[3], 1.0, 0.0);
    }
}

static void bad_definitions_are_refused(void **state) {
    (void)state;
    double tau[3], rho[6];
    const double negative[2] = {-1.0, 1.0};
    KlProfileDef def = {.problems = 1, .solvers = 2, .measure = negative, .points = 3, .tau_max = 4.0};
    assert_fails(kl_profile_compute(&def, tau, rho), KL_ERR_ARGUMENT, "measure[0]");
    def.tau_max = 1.0;
    assert_fails(kl_profile_compute(&def, tau, rho), KL_ERR_ARGUMENT, "tau_max");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_count_problems_within_the_ratio),
        cmocka_unit_test(failures_stay_in_the_number_of_problems),
        cmocka_unit_test(ties_and_zeros_are_best_for_both),
        cmocka_unit_test(the_floor_lifts_an_exact_zero),
        cmocka_unit_test(bad_definitions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
