// Every solver of the registry on every reference problem, judged by code that shares nothing with src/.
// Whoever is listed in solver_list.h is tested here, on the scenes in sim/test_slow_conformance.c and on
// FCLIB's problems in native/test_fclib_conformance.c.
//
// Three things are asked of a solver of the NCP or the CCP. That what its stop test promises holds, as the judge
// computes it, at the default tolerance (promise.h). That where it stops it is close to the law: |lambda_k.v_hat_k|
// below epsilon alone allows a natural map of up to the root of epsilon (a slipping contact turned by that angle),
// which is loose, and looser on a problem of small numbers, because epsilon has no scale; so epsilon is given in the
// problem's own, and what is asked is CLOSE, a hundred times sharper than the root. That the iteration has no other
// end: driven on until it rests, it satisfies the law to rounding.
#include "cases.h"
#include "promise.h"

static const double CLOSE = 1e-8;     // of the largest of |v_f| and |lambda|, stopped at the problem's scale
static const double AT_REST = 1e-12;  // the same, driven to rest
static const double SETTLED = 1e-8;   // residuals of the local model where nothing moves any more

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

// ---- Coulomb's law and its relaxation ----------------------------------------------------------

static double size_of(const Case *c, const KlSolution *s) {
    return fmax(max_abs(c->problem->free_velocity, c->problem->dim), max_abs(s->lambda, c->problem->dim));
}

// The natural map of what the solver solves, within `bound` of the problem's size.
static void assert_solves(const KlSolverInfo *info, const Case *c, const KlSolution *s, double bound) {
    KktProblem view = c->judge;
    view.relaxed = solves(info, "ccp");
    KktResiduals r;
    kkt_check(&view, s->lambda, &r);
    if (!((double)r.natural <= bound * size_of(c, s))) {
        fail_msg("%s on %s: %s, natural map %.2e", info->id, c->name, kl_outcome_name(s->outcome), (double)r.natural);
    }
    if (c->unique && solves(info, "ncp")) {
        assert_near_array(s->lambda, c->lambda, c->problem->dim, bound * (1.0 + max_abs(c->lambda, c->problem->dim)));
    }
}

// The default of a method that stops on r_nat_rel has a scale; residuals are compared with 1e-12 |v_f|^2.
static double tolerance_at_scale(const KlSolverInfo *info, const Case *c) {
    double speed = fmin(1.0, max_abs(c->problem->free_velocity, c->problem->dim));
    double initial = info->params[1].initial;
    return stop_of(info) == STOP_RELATIVE ? initial : initial * speed * speed;
}

static void keeps_promise(const KlSolverInfo *info, const Case *c, KlSolver *solver) {
    KlSolution s = solve_and_hold_to_promise(solver, c->problem, c->name);
    if (s.outcome != KL_OUTCOME_CONVERGED && !c->hard) {
        fail_msg("%s does not converge on %s: %s", info->id, c->name, kl_outcome_name(s.outcome));
    }
}

static void is_close(const KlSolverInfo *info, const Case *c, KlSolver *solver) {
    assert_ok(kl_solver_set(solver, "tolerance", tolerance_at_scale(info, c)));
    KlSolution s = solve_and_hold_to_promise(solver, c->problem, c->name);
    bool ended = s.outcome == KL_OUTCOME_CONVERGED || s.outcome == KL_OUTCOME_STAGNATED;  // rounding may come first
    if (ended || !c->hard) {
        assert_solves(info, c, &s, CLOSE);
    }
}

static void solves_at_rest(const KlSolverInfo *info, const Case *c, KlSolver *solver) {
    assert_ok(kl_solver_set(solver, "tolerance", 0.0));
    KlSolution s = solve(solver, c);
    if (!c->hard) {
        assert_solves(info, c, &s, AT_REST);
    }
}

// Each solver of the NCP or the CCP on each problem; a plateau promises nothing where it stops.
static void for_each_solver(Case *cases, bool plateau,
                            void (*check)(const KlSolverInfo *info, const Case *c, KlSolver *solver)) {
    int count = 0;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        const KlSolverInfo *info = kl_solver_kind(k);
        if (solves(info, "local") || (stop_of(info) == STOP_PLATEAU && !plateau)) {
            continue;
        }
        KlSolver *solver;
        assert_ok(kl_solver_create(info->id, &solver));
        for (int i = 0; i < CASE_COUNT; i++) {
            check(info, &cases[i], solver);
        }
        kl_solver_destroy(solver);
        count++;
    }
    assert_true(count > 10);
}

static void solvers_keep_what_their_stop_test_promises(void **state) { for_each_solver(*state, false, keeps_promise); }
static void where_they_stop_they_are_close(void **state) { for_each_solver(*state, false, is_close); }
static void driven_on_they_solve_it_to_rounding(void **state) { for_each_solver(*state, true, solves_at_rest); }

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
            KlSolution s = solve_and_hold_to_promise(solver, cases[i].problem, cases[i].name);
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
            KlSolution s = solve_and_hold_to_promise(solver, cases[i].problem, cases[i].name);
            assert_true(s.outcome != KL_OUTCOME_DIVERGED);
            assert_true(s.iterations <= 7);
        }
        kl_solver_destroy(solver);
    }
}

// The problem with its contacts in reverse; row[i] is where row i has gone.
static KlProblem *reverse_contacts(const Case *c, int32_t row[CASE_MAX_DIM]) {
    const KlProblem *p = c->problem;
    double d[CASE_MAX_DIM * CASE_MAX_DIM], v_f[CASE_MAX_DIM], mu[CASE_MAX_DIM];
    int32_t first = p->dim - 3 * p->contact_count;
    for (int32_t i = 0; i < p->dim; i++) {
        row[i] = i < first ? i : first + 3 * (p->contact_count - 1 - (i - first) / 3) + (i - first) % 3;
    }
    for (int32_t i = 0; i < p->dim; i++) {
        v_f[row[i]] = p->free_velocity[i];
        for (int32_t j = 0; j < p->dim; j++) {
            d[row[i] * p->dim + row[j]] = c->delassus[i * p->dim + j];
        }
    }
    for (int32_t k = 0; k < p->contact_count; k++) {
        mu[p->contact_count - 1 - k] = p->friction[k];
    }
    KlProblem *reversed;
    assert_ok(kl_problem_from_dense(p->joint_rows, p->limit_count, p->contact_count, d, v_f, mu, 1e-3, &reversed));
    return reversed;
}

static void the_order_of_contacts_changes_nothing_beyond_the_bound(void **state) {
    Case *cases = *state;
    int compared = 0;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        const KlSolverInfo *info = kl_solver_kind(k);
        for (int i = 0; i < CASE_COUNT; i++) {
            const Case *c = &cases[i];
            if (strcmp(info->solves, "ncp") != 0 || !c->unique || c->hard || c->problem->contact_count < 2) {
                continue;
            }
            int32_t row[CASE_MAX_DIM];
            KlProblem *reversed = reverse_contacts(c, row);
            KlSolver *solver;
            KlSolution s;
            double lambda[CASE_MAX_DIM];
            assert_ok(kl_solver_create(info->id, &solver));
            assert_ok(kl_solver_preset(solver, "high-precision"));
            assert_ok(kl_solver_solve(solver, reversed, NULL, &s));
            memcpy(lambda, s.lambda, (size_t)reversed->dim * sizeof *lambda);
            s = solve(solver, c);
            for (int32_t r = 0; r < reversed->dim; r++) {
                assert_near(lambda[row[r]], s.lambda[r], CLOSE * max_abs(s.lambda, reversed->dim));
            }
            compared++;
            kl_solver_destroy(solver);
            kl_problem_destroy(reversed);
        }
    }
    assert_true(compared > 0);
    print_message("%d pairs of solutions\n", compared);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvers_keep_what_their_stop_test_promises),
        cmocka_unit_test(where_they_stop_they_are_close),
        cmocka_unit_test(driven_on_they_solve_it_to_rounding),
        cmocka_unit_test(local_solvers_settle_where_each_contact_is_exact),
        cmocka_unit_test(early_stopping_ends_on_a_plateau_of_the_objective),
        cmocka_unit_test(the_order_of_contacts_changes_nothing_beyond_the_bound),
        cmocka_unit_test(every_outcome_is_finite_and_in_the_cone),
    };
    return cmocka_run_group_tests(tests, cases_setup, cases_teardown);
}
