// Local solvers of one contact: against each other, against the printed quartic with complex roots,
// against closed forms, and at extreme conditions.
#include "local_trials.h"

static void exact_local_solvers_hold_over_random_contacts(void **state) {
    (void)state;
    run_local_trials(20000, 1);
}

// ---- the printed polynomial, as a cross-check --------------------------------------------------

// The optimality condition t(phi).(D_hat lambda_T + v_hat) mu^2 v_f,n^2 / r^3 of the paper's appendix
// (delta with the corrected -r^2/v_f,n), evaluated as printed.
static double printed_condition(const KlLocalProblem *p, double phi) {
    const double *d = p->delassus, *v = p->free_velocity;
    double g = hypot(d[2], d[5]), phi0 = atan2(d[5], d[2]), mu = p->friction;
    double r = -mu * v[2] / (d[8] + mu * d[2] * cos(phi) + mu * d[5] * sin(phi));
    double delta = -r * r / v[2] * g * sin(phi - phi0);
    double tangent[2] = {delta * cos(phi) - r * sin(phi), delta * sin(phi) + r * cos(phi)};
    double lt = r * cos(phi), lo = r * sin(phi);
    double x = (d[0] - d[2] * d[2] / d[8]) * lt + (d[1] - d[2] * d[5] / d[8]) * lo + v[0] - d[2] * v[2] / d[8];
    double y = (d[1] - d[2] * d[5] / d[8]) * lt + (d[4] - d[5] * d[5] / d[8]) * lo + v[1] - d[5] * v[2] / d[8];
    return (tangent[0] * x + tangent[1] * y) * mu * mu * v[2] * v[2] / (r * r * r);
}

// c_2 beta x^4 + c_1 alpha x^3 + 2 c_0 x^2 + c_1 alpha* x + c_2 beta* with x = e^{i phi}, from seven
// samples of the condition (it is a trigonometric polynomial of degree two).
static void printed_quartic(const KlLocalProblem *p, double complex c[5]) {
    enum { SAMPLES = 7 };
    memset(c, 0, 5 * sizeof *c);
    for (int k = 0; k < SAMPLES; k++) {
        double phi = TRIAL_TURN * (k + 0.3) / SAMPLES, value = printed_condition(p, phi);
        for (int n = -2; n <= 2; n++) {
            c[n + 2] += 2.0 * value * cexp(-I * (n * phi)) / SAMPLES;
        }
    }
}

static void complex_roots(const double complex c[5], double complex x[4]) {  // Durand and Kerner
    for (int i = 0; i < 4; i++) {
        x[i] = cpow(0.4 + 0.9 * I, i);
    }
    for (int turn = 0; turn < 500; turn++) {
        for (int i = 0; i < 4; i++) {
            double complex value = c[4], others = c[4];
            for (int k = 3; k >= 0; k--) {
                value = value * x[i] + c[k];
            }
            for (int j = 0; j < 4; j++) {
                others *= j != i ? x[i] - x[j] : 1.0;
            }
            x[i] -= value / others;
        }
    }
}

// A slipping reaction of the bisection is the best root of modulus one of the printed complex quartic.
static void the_complex_quartic_gives_the_same_slip(void **state) {
    (void)state;
    KlRng rng = {31};
    int slips = 0;
    for (int trial = 0; trial < 4000; trial++) {
        KlLocalProblem p = {0};
        trial_delassus(&rng, 1.0, p.delassus);
        for (int i = 0; i < 3; i++) {
            p.free_velocity[i] = trial_normal(&rng);
        }
        p.friction = kl_rng_range(&rng, 0.05, 1.0);
        double l[3], v[3];
        kl_local_bisection(&p, l);
        trial_velocity(&p, l, v);
        if (!(l[2] > 0.0) || hypot(v[0], v[1]) < 1e-6) {
            continue;
        }
        double complex c[5], x[4];
        printed_quartic(&p, c);
        complex_roots(c, x);
        double best = INFINITY, phi = 0.0;
        for (int i = 0; i < 4; i++) {
            const double *d = p.delassus;
            double e[3] = {p.friction * creal(x[i]), p.friction * cimag(x[i]), 1.0}, h = 0.0;
            double closing = d[6] * e[0] + d[7] * e[1] + d[8], r = -p.free_velocity[2] / closing;
            for (int j = 0; j < 9; j++) {
                h += 0.5 * r * r * e[j / 3] * d[j] * e[j % 3] + (j < 3 ? r * e[j] * p.free_velocity[j] : 0.0);
            }
            if (fabs(cabs(x[i]) - 1.0) < 1e-6 && closing > 0.0 && h < best) {
                best = h;
                phi = carg(x[i]);
            }
        }
        assert_near(remainder(phi - atan2(l[1], l[0]), TRIAL_TURN), 0.0, 1e-7);  // complex roots carry fewer digits
        slips++;
    }
    assert_true(slips > 500);
}

// ---- closed forms ------------------------------------------------------------------------------

static KlLocalProblem diagonal_contact(double t, double o, double n, const double v[3], double mu) {
    KlLocalProblem p = {.delassus = {t, 0, 0, 0, o, 0, 0, 0, n}, .friction = mu};
    memcpy(p.free_velocity, v, sizeof p.free_velocity);
    return p;
}

static const KlLocalSolver exact[] = {kl_local_quartic, kl_local_bisection, kl_local_coulomb};

static void an_isotropic_contact_slips_against_its_velocity(void **state) {
    (void)state;
    KlLocalProblem p = diagonal_contact(2, 2, 4, (const double[3]){3, 4, -2}, 0.5);
    double expected[3] = {-0.25 * 0.6, -0.25 * 0.8, 0.5};  // lambda_n = 2/4, mu lambda_n = 0.25
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        double l[3];
        exact[i](&p, l);
        assert_near_array(l, expected, 3, 1e-15);
    }
}

static void a_contact_sticks_opens_and_glides_without_friction(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        double l[3];
        KlLocalProblem stick = diagonal_contact(2, 3, 4, (const double[3]){0.2, -0.3, -2}, 0.5);
        exact[i](&stick, l);
        assert_near_array(l, ((const double[3]){-0.1, 0.1, 0.5}), 3, 1e-15);
        KlLocalProblem open = diagonal_contact(2, 3, 4, (const double[3]){0.2, -0.3, 1e-300}, 0.5);
        exact[i](&open, l);
        assert_near_array(l, ((const double[3]){0, 0, 0}), 3, 0.0);
        KlLocalProblem glide = diagonal_contact(2, 3, 4, (const double[3]){5, -3, -2}, 0.0);
        exact[i](&glide, l);
        assert_near_array(l, ((const double[3]){0, 0, 0.5}), 3, 0.0);
        KlLocalProblem still = diagonal_contact(2, 3, 4, (const double[3]){0, 0, 0}, 0.5);
        exact[i](&still, l);
        assert_near_array(l, ((const double[3]){0, 0, 0}), 3, 0.0);
    }
}

// v_f,n = 0: an ellipse has only its apex; a hyperbola a wedge whose ray takes up the slip.
static void a_touching_contact_is_the_limit_of_closing_ones(void **state) {
    (void)state;
    KlLocalProblem ellipse = {
        .delassus = {2, 0, 0.5, 0, 3, -0.25, 0.5, -0.25, 4}, .free_velocity = {1, 2, 0}, .friction = 0.5};
    KlLocalProblem wedge = {
        .delassus = {3, 0, 1.6, 0, 2, -0.5, 1.6, -0.5, 1.4}, .free_velocity = {2, 1.5, 0}, .friction = 1};
    double l[3], near[3];
    for (size_t i = 0; i < 2; i++) {  // the minima; Coulomb's law has several solutions here
        exact[i](&ellipse, l);
        assert_near_array(l, ((const double[3]){0, 0, 0}), 3, 0.0);
        exact[i](&wedge, l);
        KlLocalProblem closing = wedge;
        closing.free_velocity[2] = -1e-12;
        exact[i](&closing, near);
        assert_true(l[2] > 0.1);
        assert_near_array(l, near, 3, 1e-5);  // the hyperbola nears its asymptotes like sqrt(v_f,n)
    }
}

// D = [[1,0,-1],[0,1,0],[-1,0,1.5]], mu = 2: three solutions; the opening one is taken.
static void where_coulomb_is_not_unique_the_contact_opens(void **state) {
    (void)state;
    KlLocalProblem p = {.delassus = {1, 0, -1, 0, 1, 0, -1, 0, 1.5}, .free_velocity = {-0.9, 0, 0.4}, .friction = 2};
    double l[3];
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
        exact[i](&p, l);
        assert_near_array(l, ((const double[3]){0, 0, 0}), 3, 0.0);
    }
}

// The relaxation's drift: exact in its own sense, the slip is not opposite to the reaction.
static void coupling_turns_the_local_slip_away_from_coulomb(void **state) {
    (void)state;
    KlLocalProblem p = {
        .delassus = {2, 0, 0.5, 0, 3, -0.25, 0.5, -0.25, 4}, .free_velocity = {4, 2, -3}, .friction = 0.5};
    const double coulomb[3] = {-0.368141487870185747, -0.13940609367447239, 0.787304805129118694};
    double l[3], v[3];
    kl_local_coulomb(&p, l);
    assert_near_array(l, coulomb, 3, 1e-15);
    kl_local_bisection(&p, l);
    trial_velocity(&p, l, v);
    double cosine = (l[0] * v[0] + l[1] * v[1]) / (hypot(l[0], l[1]) * hypot(v[0], v[1]));
    assert_true(cosine < -0.99 && cosine > -0.99999);
}

// D = a definite matrix plus a part that is not symmetric: Coulomb's law holds, by a judge that reads all of D. Where
// the tangents' pull on the normal makes the law ambiguous, other suites look.
static void coulomb_holds_where_d_is_not_symmetric(void **state) {
    (void)state;
    KlRng rng = {5};
    TrialTally tally = {0};
    for (int trial = 0; trial < 20000; trial++) {
        KlLocalProblem p = {.friction = kl_rng_range(&rng, 0.0, 1.0), .lopsided = true};
        for (int i = 0; i < 9; i++) {
            p.delassus[i] = i % 4 == 0 ? kl_rng_range(&rng, 1.0, 3.0) : kl_rng_range(&rng, -0.45, 0.45);
        }
        for (int i = 0; i < 3; i++) {
            p.free_velocity[i] = trial_normal(&rng);
        }
        double l[3];
        kl_local_coulomb(&p, l);
        tally.count[trial_conic(&p)][trial_mode(&p, l)]++;
        assert_coulomb(&p, trial, &tally);
    }
    assert_true(tally.count[TRIAL_ELLIPSE][TRIAL_SLIPS] > 1000 && tally.count[TRIAL_ELLIPSE][TRIAL_STICKS] > 1000 &&
                tally.count[TRIAL_ELLIPSE][TRIAL_OPEN] > 1000);
}

// ---- single steps ------------------------------------------------------------------------------

static int iterations_to_rest(KlLocalSolver step, const KlLocalProblem *p, double lambda[3]) {
    for (int i = 1; i <= 20000; i++) {
        double before[3] = {lambda[0], lambda[1], lambda[2]};
        step(p, lambda);
        if (fabs(lambda[0] - before[0]) + fabs(lambda[1] - before[1]) + fabs(lambda[2] - before[2]) < 1e-14) {
            return i;
        }
    }
    return -1;
}

// 3 / tr > 2 / lambda_max: the printed step cycles where the safe one rests.
static void the_printed_ccp_step_cycles_and_the_safe_one_rests(void **state) {
    (void)state;
    KlLocalProblem p = diagonal_contact(0.1, 0.1, 1, (const double[3]){0.01, 0, -1}, 0.5);
    p.step = kl_local_ccp_step(p.delassus, false);
    assert_near(p.step, 2.5, 1e-15);
    double lambda[3] = {0, 0, 0};
    assert_int_equal(iterations_to_rest(kl_local_ccp, &p, lambda), -1);
    p.step = kl_local_ccp_step(p.delassus, true);
    assert_near(p.step, 1.0, 1e-15);
    assert_true(iterations_to_rest(kl_local_ccp, &p, lambda) > 0);
    assert_near_array(lambda, ((const double[3]){-0.1, 0, 1}), 3, 1e-12);
}

static void the_safe_ccp_step_is_the_inverse_largest_eigenvalue(void **state) {
    (void)state;
    KlRng rng = {9};
    for (int trial = 0; trial < 2000; trial++) {
        double d[9], x[3] = {1, 1, 1}, size = 0.0;
        trial_delassus(&rng, 1.0, d);
        for (int turn = 0; turn < 4000; turn++) {  // power iteration
            double y[3];
            for (int i = 0; i < 3; i++) {
                y[i] = d[3 * i] * x[0] + d[3 * i + 1] * x[1] + d[3 * i + 2] * x[2];
            }
            size = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
            for (int i = 0; i < 3; i++) {
                x[i] = y[i] / size;
            }
        }
        assert_near(size * kl_local_ccp_step(d, true), 1.0, 1e-3);  // the power iteration nears from below
    }
}

static void the_ncp_step_rests_at_coulombs_law(void **state) {
    (void)state;
    KlLocalProblem p = {
        .delassus = {2, 0, 0.5, 0, 3, -0.25, 0.5, -0.25, 4}, .free_velocity = {4, 2, -3}, .friction = 0.5};
    const double coulomb[3] = {-0.368141487870185747, -0.13940609367447239, 0.787304805129118694};
    assert_near(kl_local_ncp_step(p.delassus, true), 1.0 / 3.0, 0.0);
    assert_near(kl_local_ncp_step(p.delassus, false), 1.0 / 2.0, 0.0);
    p.step = kl_local_ncp_step(p.delassus, true);
    double lambda[3] = {0, 0, 0};
    assert_true(iterations_to_rest(kl_local_ncp, &p, lambda) > 0);
    assert_near_array(lambda, coulomb, 3, 1e-13);
}

// ---- extremes ----------------------------------------------------------------------------------

// Condition numbers up to 1e12, friction up to 1e6: no NaN, v_n closed to what conditions allow.
static void extreme_contacts_stay_finite(void **state) {
    (void)state;
    KlRng rng = {77};
    for (int trial = 0; trial < 20000; trial++) {
        KlLocalProblem p = trial_problem(&rng, trial);
        p.friction *= pow(10.0, kl_rng_range(&rng, -8.0, 5.0));
        double squeeze = pow(10.0, kl_rng_range(&rng, -4.5, 0.0));
        for (int i = 0; i < 3; i++) {  // a nearly massless direction
            p.delassus[i] *= squeeze;
            p.delassus[3 * i] *= squeeze;
        }
        for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++) {
            double l[3];
            exact[i](&p, l);
            if (!trial_finite(l) || !(l[2] >= 0.0)) {
                fail_msg("trial %d, solver %zu: (%g %g %g)", trial, i, l[0], l[1], l[2]);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_local_solvers_hold_over_random_contacts),
        cmocka_unit_test(the_complex_quartic_gives_the_same_slip),
        cmocka_unit_test(an_isotropic_contact_slips_against_its_velocity),
        cmocka_unit_test(a_contact_sticks_opens_and_glides_without_friction),
        cmocka_unit_test(a_touching_contact_is_the_limit_of_closing_ones),
        cmocka_unit_test(where_coulomb_is_not_unique_the_contact_opens),
        cmocka_unit_test(coupling_turns_the_local_slip_away_from_coulomb),
        cmocka_unit_test(coulomb_holds_where_d_is_not_symmetric),
        cmocka_unit_test(the_printed_ccp_step_cycles_and_the_safe_one_rests),
        cmocka_unit_test(the_safe_ccp_step_is_the_inverse_largest_eigenvalue),
        cmocka_unit_test(the_ncp_step_rests_at_coulombs_law),
        cmocka_unit_test(extreme_contacts_stay_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
