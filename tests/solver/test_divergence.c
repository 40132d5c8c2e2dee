// Solves that cannot end well: they end with a class, and with a reaction that is finite and in K.
#include <math.h>

#include "cases.h"

static KlSolver *create(const char *id) {
    KlSolver *solver;
    assert_ok(kl_solver_create(id, &solver));
    assert_ok(kl_solver_set(solver, "max_iterations", 2000.0));
    return solver;
}

static void assert_finite_in_cone(const KlProblem *problem, const double *lambda) {
    double projected[CASE_MAX_DIM], size = 0.0;
    memcpy(projected, lambda, (size_t)problem->dim * sizeof *projected);
    kl_problem_project(problem, projected);
    for (int32_t i = 0; i < problem->dim; i++) {
        assert_true(isfinite(lambda[i]));
        size = fmax(size, fabs(lambda[i]));
    }
    assert_near_array(projected, lambda, problem->dim, 1e-12 * size);  // rounding of a projection
}

// Two limits with an indefinite D: each Gauss-Seidel sweep multiplies the reactions by 25.
static void a_diverging_sweep_gives_its_best_iterate(void **state) {
    (void)state;
    static const double delassus[4] = {1.0, -5.0, -5.0, 1.0}, v_f[2] = {-1.0, -1.0};
    KlProblem *problem;
    assert_ok(kl_problem_from_dense(0, 2, 0, delassus, v_f, NULL, 1e-3, &problem));
    KlSolver *solver = create("pgs-ncp");
    KlSolution solution;
    assert_ok(kl_solver_solve(solver, problem, NULL, &solution));
    assert_int_equal(solution.outcome, KL_OUTCOME_DIVERGED);
    assert_finite_in_cone(problem, solution.lambda);
    assert_true(fabs(solution.lambda[0]) < 1e3 && fabs(solution.lambda[1]) < 1e3);  // of the first sweeps
    kl_solver_destroy(solver);
    kl_problem_destroy(problem);
}

// Numbers at the ends of the doubles overflow in every method.
static void no_magnitude_makes_a_reaction_that_is_not_finite(void **state) {
    (void)state;
    static const double scales[] = {1e-300, 1e-150, 1e-20, 1e20, 1e150, 1e300};
    static Case cases[CASE_COUNT];
    cases_load(cases);
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        KlSolver *solver = create(kl_solver_kind(k)->id);
        assert_ok(kl_solver_set(solver, "max_iterations", 50.0));
        for (int c = 0; c < CASE_COUNT; c += 5) {
            const KlProblem *p = cases[c].problem;
            double delassus[CASE_MAX_DIM * CASE_MAX_DIM], v_f[CASE_MAX_DIM];
            for (int s = 0; s < 36; s++) {
                KlProblem *scaled;
                for (int32_t i = 0; i < p->dim * p->dim; i++) {
                    delassus[i] = scales[s / 6] * cases[c].delassus[i];
                }
                for (int32_t i = 0; i < p->dim; i++) {
                    v_f[i] = scales[s % 6] * p->free_velocity[i];
                }
                KlStatus status = kl_problem_from_dense(p->joint_rows, p->limit_count, p->contact_count, delassus, v_f,
                                                        p->friction, 1e-3, &scaled);
                if (status != KL_OK || kl_problem_check(scaled) != KL_OK) {
                    kl_problem_destroy(scaled);
                    continue;
                }
                KlSolution solution;
                assert_ok(kl_solver_solve(solver, scaled, NULL, &solution));
                for (int32_t i = 0; i < scaled->dim; i++) {
                    if (!isfinite(solution.lambda[i])) {
                        fail_msg("%s: %s with D x %g, v_f x %g: row %d is %g (%s)", kl_solver_kind(k)->id,
                                 cases[c].name, scales[s / 6], scales[s % 6], (int)i, solution.lambda[i],
                                 kl_outcome_name(solution.outcome));
                    }
                }
                kl_problem_destroy(scaled);
            }
        }
        kl_solver_destroy(solver);
    }
    cases_free(cases);
}

// Nothing of the problem before shines through, even where no residual is a number.
static void the_problem_before_leaves_no_trace(void **state) {
    (void)state;
    static const double scales[] = {5e-324, 1e-300, 1.0, 1e300};
    static Case cases[CASE_COUNT];
    cases_load(cases);
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        KlSolver *used = create(kl_solver_kind(k)->id);
        for (int i = 0; i < 4 * CASE_COUNT; i += 3) {
            KlSolver *fresh = create(kl_solver_kind(k)->id);
            assert_ok(kl_solver_set(used, "max_iterations", 20.0));
            assert_ok(kl_solver_set(fresh, "max_iterations", 20.0));
            KlProblem *p;
            assert_ok(kl_problem_clone(cases[i / 4].problem, &p));
            for (int32_t row = 0; row < p->dim; row++) {
                p->free_velocity[row] *= scales[i % 4];
            }
            KlSolution after, alone;
            kl_solver_forget(used);
            assert_ok(kl_solver_solve(used, p, NULL, &after));
            assert_ok(kl_solver_solve(fresh, p, NULL, &alone));
            assert_int_equal(after.outcome, alone.outcome);
            assert_memory_equal(after.lambda, alone.lambda, (size_t)p->dim * sizeof *alone.lambda);
            kl_problem_destroy(p);
            kl_solver_destroy(fresh);
        }
        kl_solver_destroy(used);
    }
    cases_free(cases);
}

// l.D l and l.v_f of the last reaction, 1e300, are infinite; so would be the multiple of it to begin with.
static void a_warm_start_that_overflows_is_none(void **state) {
    (void)state;
    const double delassus = 1.0, v_f = -1e300;
    KlProblem *problem;
    assert_ok(kl_problem_from_dense(1, 0, 0, &delassus, &v_f, NULL, 1e-3, &problem));
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        KlSolver *solver = create(kl_solver_kind(k)->id);
        assert_ok(kl_solver_set(solver, "warm_start", KL_WARM_RESCALED));
        for (int i = 0; i < 3; i++) {
            KlSolution solution;
            assert_ok(kl_solver_solve(solver, problem, NULL, &solution));
            assert_true(isfinite(solution.lambda[0]));
        }
        kl_solver_destroy(solver);
    }
    kl_problem_destroy(problem);
}

// ---- adaptive penalties ------------------------------------------------------------------------

enum { ROWS = 2000 };
static KlTraceRow rows[ROWS];

static KlTrace trace_of(const char *id, const KlProblem *problem, double settle) {
    KlTrace trace = {.rows = rows, .capacity = ROWS};
    KlSolution solution;
    KlSolver *solver = create(id);
    assert_ok(kl_solver_set(solver, "settle", settle));
    assert_ok(kl_solver_solve(solver, problem, &trace, &solution));
    kl_solver_destroy(solver);
    return trace;
}

static void the_spectral_penalty_stays_within_the_spectrum(void **state) {
    (void)state;
    static Case cases[CASE_COUNT];
    cases_load(cases);
    for (int c = 0; c < CASE_COUNT; c++) {
        KlCondition condition;
        assert_ok(kl_problem_condition(cases[c].problem, &condition));
        KlTrace trace = trace_of("admm-ncp-sa", cases[c].problem, 1.0);
        for (int32_t i = 0; i < trace.count; i++) {
            assert_true(rows[i].penalty >= 1e-6 * (1.0 - 1e-12));  // eta
            assert_true(rows[i].penalty <= condition.eigen_max * (1.0 + 1e-9));
        }
    }
    cases_free(cases);
}

// With settle = 0 the first turn is the last change; with 1 it goes on.
static void a_penalty_that_turns_round_settles(void **state) {
    (void)state;
    static Case cases[CASE_COUNT];
    static const char *const ids[] = {"admm-ncp-la", "admm-ncp-sa"};
    cases_load(cases);
    int32_t more_turns = 0;
    for (int c = 0; c < CASE_COUNT; c++) {
        for (int k = 0; k < 2; k++) {
            for (int settle = 0; settle <= 1; settle++) {
                KlTrace trace = trace_of(ids[k], cases[c].problem, settle);
                int32_t turns = 0;
                double last = 0.0;
                for (int32_t i = 1; i < trace.count; i++) {
                    double change = rows[i].penalty - rows[i - 1].penalty;
                    turns += change * last < 0.0;
                    last = change != 0.0 ? change : last;
                }
                assert_true(settle == 1 || turns == 0);
                more_turns += turns;
            }
        }
    }
    assert_true(more_turns > 0);
    cases_free(cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_diverging_sweep_gives_its_best_iterate),
        cmocka_unit_test(no_magnitude_makes_a_reaction_that_is_not_finite),
        cmocka_unit_test(the_problem_before_leaves_no_trace),
        cmocka_unit_test(a_warm_start_that_overflows_is_none),
        cmocka_unit_test(the_spectral_penalty_stays_within_the_spectrum),
        cmocka_unit_test(a_penalty_that_turns_round_settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
