// Every solver of the registry on every reference problem, judged by code that shares nothing with src/.
// Whoever is listed in solver_list.h is tested here.
#include "cases.h"

// The stop test bounds |lambda.v_hat| by 1e-12, which bounds the smaller of the two by its root alone.
static const double CLOSE = 1e-6;
static const double SETTLED = 1e-8;  // solvers at rest have nothing left but rounding

static KlSolution solve(KlSolver *solver, const Case *c) {
    KlSolution s;
    assert_ok(kl_solver_solve(solver, c->problem, NULL, &s));
    return s;
}

static double max_abs(const double *x, int n) {
    double m = 0.0;
    for (int i = 0; i < n; i++) {
        m = fmax(m, fabs(x[i]));
    }
    return m;
}

static bool solves(const KlSolverInfo *info, const char *what) { return strcmp(info->solves, what) == 0; }

// What stops on something else than residuals is not held to their precision.
static bool stops_early(const KlSolverInfo *info) { return strcmp(info->id, "raisim-ds-es") == 0; }

// ---- Coulomb's law -----------------------------------------------------------------------------

static void assert_solves_ncp(const KlSolverInfo *info, const Case *c, const KlSolution *s) {
    KktResiduals r;
    kkt_check(&c->judge, s->lambda, &r);
    double size = fmax(max_abs(c->problem->free_velocity, c->problem->dim), max_abs(s->lambda, c->problem->dim));
    if (!((double)r.natural <= CLOSE * size)) {
        fail_msg("%s on %s: says %s, natural map %.2e", info->id, c->name, kl_outcome_name(s->outcome),
                 (double)r.natural);
    }
    if (c->unique) {
        assert_near_array(s->lambda, c->lambda, c->problem->dim, CLOSE * (1.0 + max_abs(c->lambda, c->problem->dim)));
    }
}

static void ncp_solvers_reach_coulombs_law(void **state) {
    Case *cases = *state;
    int converged = 0;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        const KlSolverInfo *info = kl_solver_kind(k);
        if (!solves(info, "ncp") || stops_early(info)) {
            continue;
        }
        KlSolver *solver;
        assert_ok(kl_solver_create(info->id, &solver));
        for (int i = 0; i < CASE_COUNT; i++) {
            KlSolution s = solve(solver, &cases[i]);
            if (s.outcome != KL_OUTCOME_CONVERGED && !cases[i].hard) {
                fail_msg("%s does not converge on %s: %s", info->id, cases[i].name, kl_outcome_name(s.outcome));
            }
            if (s.outcome == KL_OUTCOME_CONVERGED) {
                assert_solves_ncp(info, &cases[i], &s);
                converged++;
            }
        }
        kl_solver_destroy(solver);
    }
    assert_true(converged > 5 * (CASE_COUNT - 2));
}

// ---- the convex relaxation ---------------------------------------------------------------------

// |lambda - P_K(lambda - v+)|, with P_K by bisection on the distance to the ray of the cone.
static double ccp_residual(const Case *c, const double *lambda) {
    const KktProblem *q = &c->judge;
    long double v[CASE_MAX_DIM];
    kkt_velocity(q, lambda, v);
    double worst = 0.0;
    for (int i = 0; i < q->joint_rows; i++) {
        worst = fmax(worst, (double)fabsl(v[i]));
    }
    for (int i = q->joint_rows; i < q->joint_rows + q->limits; i++) {
        worst = fmax(worst, fabs(fmin(lambda[i], (double)v[i])));
    }
    for (int k = 0; k < q->contacts; k++) {
        int row = q->joint_rows + q->limits + 3 * k;
        double x[3], mu = q->friction[k];
        for (int i = 0; i < 3; i++) {
            x[i] = lambda[row + i] - (double)v[row + i];
        }
        double radius = hypot(x[0], x[1]);
        if (radius > mu * x[2]) {  // onto the generator (mu, 1) in the plane of x
            double along = fmax(0.0, (mu * radius + x[2]) / (1.0 + mu * mu));
            double ratio = radius > 0.0 ? mu * along / radius : 0.0;
            x[0] *= ratio;
            x[1] *= ratio;
            x[2] = along;
        }
        for (int i = 0; i < 3; i++) {
            worst = fmax(worst, fabs(lambda[row + i] - x[i]));
        }
    }
    return worst;
}

static void ccp_solvers_reach_the_relaxation(void **state) {
    Case *cases = *state;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        const KlSolverInfo *info = kl_solver_kind(k);
        if (!solves(info, "ccp")) {
            continue;
        }
        KlSolver *solver;
        assert_ok(kl_solver_create(info->id, &solver));
        for (int i = 0; i < CASE_COUNT; i++) {
            KlSolution s = solve(solver, &cases[i]);
            assert_true(s.outcome == KL_OUTCOME_CONVERGED || cases[i].hard);
            double size = fmax(max_abs(cases[i].problem->free_velocity, cases[i].problem->dim),
                               max_abs(s.lambda, cases[i].problem->dim));
            if (s.outcome == KL_OUTCOME_CONVERGED && !(ccp_residual(&cases[i], s.lambda) <= CLOSE * size)) {
                fail_msg("%s on %s: CCP residual %.2e", info->id, cases[i].name, ccp_residual(&cases[i], s.lambda));
            }
        }
        kl_solver_destroy(solver);
    }
}

// ---- exact one contact at a time ---------------------------------------------------------------

// h = l.D_kk l / 2 + l.v_f_bar on the conic of contact k, sampled; smaller than at lambda is a fault.
static void assert_contact_is_minimal(const KlSolverInfo *info, const Case *c, int k, const double *lambda,
                                      const long double *v) {
    const KktProblem *q = &c->judge;
    int n = c->problem->dim, row = q->joint_rows + q->limits + 3 * k;
    double mu = q->friction[k], d[3][3], own[3], local[3];
    for (int i = 0; i < 3; i++) {
        own[i] = 0.0;
        for (int j = 0; j < 3; j++) {
            d[i][j] = q->delassus[(row + i) * n + row + j];
            own[i] += d[i][j] * lambda[row + j];
        }
        local[i] = (double)v[row + i] - own[i];
    }
    const double *l = lambda + row;
    double value =
        0.5 * (l[0] * own[0] + l[1] * own[1] + l[2] * own[2]) + l[0] * local[0] + l[1] * local[1] + l[2] * local[2];
    double size = fabs(value) + fabs(l[2] * local[2]);
    for (int ray = 0; ray < 720; ray++) {
        double phi = ray * 2.0 * acos(-1.0) / 720.0, e[3] = {mu * cos(phi), mu * sin(phi), 1.0};
        double closing = d[2][0] * e[0] + d[2][1] * e[1] + d[2][2];
        if (!(closing > 0.0) || !(local[2] < 0.0)) {
            continue;
        }
        double r = -local[2] / closing, h = 0.0;
        for (int i = 0; i < 3; i++) {
            h += r * e[i] * local[i];
            for (int j = 0; j < 3; j++) {
                h += 0.5 * r * r * e[i] * d[i][j] * e[j];
            }
        }
        if (!(h >= value - SETTLED * size)) {
            fail_msg("%s on %s: contact %d has a better reaction (%g < %g)", info->id, c->name, k, h, value);
        }
    }
}

static void assert_solves_local(const KlSolverInfo *info, const Case *c, const KlSolution *s) {
    const KktProblem *q = &c->judge;
    long double v[CASE_MAX_DIM];
    kkt_velocity(q, s->lambda, v);
    double size = max_abs(c->problem->free_velocity, c->problem->dim);
    for (int i = 0; i < q->joint_rows; i++) {
        assert_near((double)v[i], 0.0, SETTLED * size);
    }
    for (int i = q->joint_rows; i < q->joint_rows + q->limits; i++) {
        assert_near(fmin(s->lambda[i], (double)v[i]), 0.0, SETTLED * size);
    }
    for (int k = 0; k < q->contacts; k++) {
        int row = q->joint_rows + q->limits + 3 * k;
        const double *l = s->lambda + row;
        assert_near(fmin(l[2], (double)v[row + 2]), 0.0, SETTLED * size);
        assert_true(hypot(l[0], l[1]) <= q->friction[k] * l[2] + 1e-12 * (1.0 + l[2]));
        assert_contact_is_minimal(info, c, k, s->lambda, v);
    }
}

// NBGS and RAISIM settle where every contact is exact given the others. With D_nT != 0 that is not
// Coulomb's law, their residuals stay, and the outcome says so.
static void local_solvers_settle_where_each_contact_is_exact(void **state) {
    Case *cases = *state;
    int settled = 0, drifting = 0;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        const KlSolverInfo *info = kl_solver_kind(k);
        if (!solves(info, "local")) {
            continue;
        }
        KlSolver *solver;
        assert_ok(kl_solver_create(info->id, &solver));
        for (int i = 0; i < CASE_COUNT; i++) {
            KlSolution s = solve(solver, &cases[i]);
            if (s.outcome == KL_OUTCOME_CONVERGED || s.outcome == KL_OUTCOME_STAGNATED) {
                assert_solves_local(info, &cases[i], &s);
                settled++;
                drifting += s.outcome == KL_OUTCOME_STAGNATED;
            } else {
                assert_true(cases[i].hard);
            }
        }
        kl_solver_destroy(solver);
    }
    assert_true(settled >= 2 * (CASE_COUNT - 2));
    assert_true(drifting > 0);
}

// ---- early stopping ----------------------------------------------------------------------------

static void early_stopping_ends_on_a_plateau_of_the_objective(void **state) {
    Case *cases = *state;
    KlSolver *solver, *full;
    assert_ok(kl_solver_create("raisim-ds-es", &solver));
    assert_ok(kl_solver_create("raisim-ds", &full));
    for (int i = 0; i < CASE_COUNT; i++) {
        KlSolution early = solve(solver, &cases[i]);
        KlResiduals r, exact;
        assert_true(early.outcome == KL_OUTCOME_CONVERGED || cases[i].hard);
        kl_problem_residuals(cases[i].problem, early.lambda, &r);
        if (early.outcome != KL_OUTCOME_CONVERGED) {
            continue;
        }
        KlSolution s = solve(full, &cases[i]);
        kl_problem_residuals(cases[i].problem, s.lambda, &exact);
        double inertia = 0.0;  // without bodies: sum of effective masses
        for (int row = 0; row < cases[i].problem->dim; row++) {
            inertia += 1.0 / cases[i].delassus[row * (cases[i].problem->dim + 1)];
        }
        assert_true(early.iterations <= s.iterations + 1);
        // What is left of a linear decline by up to 0.999 an iteration once it is below 1e-12 I_total.
        assert_near(r.objective, exact.objective, 1e3 * 1e-12 * inertia);
    }
    kl_solver_destroy(solver);
    kl_solver_destroy(full);
}

// ---- claims on every solver --------------------------------------------------------------------

// Not even a stop at the limit hands out reactions outside the cone or anything that is not finite.
static void every_outcome_is_finite_and_in_the_cone(void **state) {
    Case *cases = *state;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        KlSolver *solver;
        assert_ok(kl_solver_create(kl_solver_kind(k)->id, &solver));
        assert_ok(kl_solver_set(solver, "max_iterations", 7));
        for (int i = 0; i < CASE_COUNT; i++) {
            KlSolution s = solve(solver, &cases[i]);
            KktResiduals r;
            kkt_check(&cases[i].judge, s.lambda, &r);
            assert_true(s.outcome != KL_OUTCOME_DIVERGED);
            assert_near((double)r.primal, 0.0, 1e-12 * (1.0 + max_abs(s.lambda, cases[i].problem->dim)));
            assert_true(s.iterations <= 7);
        }
        kl_solver_destroy(solver);
    }
}

static int load(void **state) {
    static Case cases[CASE_COUNT];
    cases_load(cases);
    *state = cases;
    return 0;
}

static int unload(void **state) {
    cases_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ncp_solvers_reach_coulombs_law),
        cmocka_unit_test(ccp_solvers_reach_the_relaxation),
        cmocka_unit_test(local_solvers_settle_where_each_contact_is_exact),
        cmocka_unit_test(early_stopping_ends_on_a_plateau_of_the_objective),
        cmocka_unit_test(every_outcome_is_finite_and_in_the_cone),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
