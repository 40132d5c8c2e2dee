// The judge itself, against values computed by hand.
#include "kkt_check.h"

#include <math.h>

#include "support.h"

static const double IDENTITY[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static KktResiduals judge_one_contact(double mu, const double *free_velocity, const double *lambda) {
    KktProblem p = {.contacts = 1, .delassus = IDENTITY, .free_velocity = free_velocity, .friction = &mu};
    KktResiduals r;
    kkt_check(&p, lambda, &r);
    return r;
}

static void a_sticking_contact_has_no_residual(void **state) {
    (void)state;
    double v_f[3] = {-0.2, 0.0, -1.0}, lambda[3] = {0.2, 0.0, 1.0};
    KktResiduals r = judge_one_contact(0.5, v_f, lambda);
    assert_near((double)r.natural, 0.0, 0.0);
    assert_near((double)r.dual, 0.0, 0.0);
    assert_near((double)r.complementarity, 0.0, 0.0);
}

// mu = 3/4, lambda = (3, 0, 4): on the cone. v_f makes v = (-1, 0, 0): slips against the reaction,
// v_hat = (-1, 0, 3/4), lambda.v_hat = -3 + 3 = 0.
static void a_slipping_contact_has_no_residual(void **state) {
    (void)state;
    double v_f[3] = {-4.0, 0.0, -4.0}, lambda[3] = {3.0, 0.0, 4.0};
    KktResiduals r = judge_one_contact(0.75, v_f, lambda);
    assert_near((double)r.primal, 0.0, 1e-18);  // a few last places of long double
    assert_near((double)r.dual, 0.0, 1e-18);
    assert_near((double)r.complementarity, 0.0, 1e-18);
    assert_near((double)r.natural, 0.0, 1e-17);
}

// lambda = 0, v = v_f = (0, 0, -2): dual 2, natural |0 - P(0, 0, 2)| = 2, relative: S = 1, over 2.
static void a_penetrating_free_contact_shows_its_velocity(void **state) {
    (void)state;
    double v_f[3] = {0.0, 0.0, -2.0}, lambda[3] = {0.0, 0.0, 0.0};
    KktResiduals r = judge_one_contact(0.5, v_f, lambda);
    assert_near((double)r.dual, 2.0, 0.0);
    assert_near((double)r.natural, 2.0, 0.0);
    assert_near((double)r.natural_relative, 1.0, 0.0);
    assert_near((double)r.primal, 0.0, 0.0);
}

// lambda = (3, 4, 1), mu = 1, v_f = -lambda, so v = 0. P(lambda) = (1.8, 2.4, 3): primal and natural 2.
static void a_reaction_outside_the_cone_shows_its_distance(void **state) {
    (void)state;
    double v_f[3] = {-3.0, -4.0, -1.0}, lambda[3] = {3.0, 4.0, 1.0};
    KktResiduals r = judge_one_contact(1.0, v_f, lambda);
    assert_near((double)r.primal, 2.0, 1e-17);
    assert_near((double)r.natural, 2.0, 1e-17);
    assert_near((double)r.complementarity, 0.0, 0.0);
    assert_near((double)r.natural_relative, 0.5, 1e-17);
}

// Without friction v_T is free: mu = 0, v = (1, 1, 0) and lambda = (0, 0, 2) solve.
static void a_frictionless_contact_slides_freely(void **state) {
    (void)state;
    double v_f[3] = {1.0, 1.0, -2.0}, lambda[3] = {0.0, 0.0, 2.0};
    KktResiduals r = judge_one_contact(0.0, v_f, lambda);
    assert_near((double)r.natural, 0.0, 0.0);
    assert_near((double)r.dual, 0.0, 0.0);
}

// D = diag(2, 4): a joint with v = 1 and S = 1/2; a limit with lambda = -3, v = -12 + 2 = -10, S = 1/4.
static void joints_and_limits_are_judged_by_their_rows(void **state) {
    (void)state;
    double d[4] = {2, 0, 0, 4}, v_f[2] = {-1.0, 2.0}, lambda[2] = {1.0, -3.0};
    KktProblem p = {.joint_rows = 1, .limits = 1, .delassus = d, .free_velocity = v_f};
    KktResiduals r;
    kkt_check(&p, lambda, &r);
    assert_near((double)r.primal, 3.0, 0.0);
    assert_near((double)r.dual, 10.0, 0.0);
    assert_near((double)r.complementarity, 30.0, 0.0);
    assert_near((double)r.natural, 10.0, 0.0);          // min(-3, -10)
    assert_near((double)r.natural_relative, 1.0, 0.0);  // min(-3, -2.5) over |lambda| = 3
}

// mu = 1/2, D = diag(2, 2, 4), v_f = (3, 4, -2): lambda = (-0.3, -0.4, 1) has v = (2.4, 3.2, 2), |v_T| = 4,
// v_n = mu |v_T| and lambda.v = 0. The convex relaxation's solution lifts off by 2, which is not Coulomb's law.
static void the_relaxation_is_judged_without_de_saxce(void **state) {
    (void)state;
    double d[9] = {2, 0, 0, 0, 2, 0, 0, 0, 4}, v_f[3] = {3, 4, -2}, mu = 0.5, lambda[3] = {-0.3, -0.4, 1};
    KktProblem problem = {.contacts = 1, .delassus = d, .free_velocity = v_f, .friction = &mu, .relaxed = 1};
    KktResiduals r;
    kkt_check(&problem, lambda, &r);
    assert_near((double)r.natural, 0.0, 1e-15);
    assert_near((double)r.complementarity, 0.0, 1e-15);
    problem.relaxed = 0;
    kkt_check(&problem, lambda, &r);
    assert_near((double)r.complementarity, 2.0, 1e-15);
}

static void nan_is_reported(void **state) {
    (void)state;
    double v_f[3] = {0.0, 0.0, 1.0}, lambda[3] = {0.0, NAN, 0.0};
    KktResiduals r = judge_one_contact(0.5, v_f, lambda);
    assert_true(isnan(r.natural) && isnan(r.primal) && isnan(r.dual));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sticking_contact_has_no_residual),
        cmocka_unit_test(a_slipping_contact_has_no_residual),
        cmocka_unit_test(a_penetrating_free_contact_shows_its_velocity),
        cmocka_unit_test(a_reaction_outside_the_cone_shows_its_distance),
        cmocka_unit_test(a_frictionless_contact_slides_freely),
        cmocka_unit_test(joints_and_limits_are_judged_by_their_rows),
        cmocka_unit_test(the_relaxation_is_judged_without_de_saxce),
        cmocka_unit_test(nan_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
