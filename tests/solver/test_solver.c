// The framework: registry, parameters, slices, warm starts, traces, outcomes, memory.
#include "base/memory.h"
#include "base/rng.h"
#include "cases.h"
#include "families.h"
#include "solver/solver.h"

static KlSolver *create(const char *id) {
    KlSolver *s;
    assert_ok(kl_solver_create(id, &s));
    return s;
}

static KlSolution solve(KlSolver *s, const KlProblem *p) {
    KlSolution solution;
    assert_ok(kl_solver_solve(s, p, NULL, &solution));
    return solution;
}

static const Case *find_case(const Case *cases, const char *name) {
    for (int i = 0; i < CASE_COUNT; i++) {
        if (strcmp(cases[i].name, name) == 0) {
            return &cases[i];
        }
    }
    fail_msg("no case %s", name);
    return NULL;
}

// ---- registry and parameters -------------------------------------------------------------------

static void every_documented_solver_is_listed(void **state) {
    (void)state;
    static const char *const ids[] = {"pgs-ccp",     "pgs-ccp-nds",  "pgs-ncp",       "nbgs",        "raisim",
                                      "raisim-ds",   "raisim-ds-es", "admm-ccp",      "admm-ncp-fp", "admm-ncp-la",
                                      "admm-ncp-sa", "prox",         "admm-ncp-plus", "newton-ncp"};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        int32_t kind = kl_solver_kind_find(ids[i]);
        assert_true(kind >= 0);
        assert_string_equal(kl_solver_kind(kind)->id, ids[i]);
    }
    assert_int_equal(kl_solver_kind_find("pgs"), -1);
    assert_null(kl_solver_kind(-1));
    assert_null(kl_solver_kind(kl_solver_kind_count()));
    KlSolver *none;
    assert_fails(kl_solver_create("pgs", &none), KL_ERR_NOT_FOUND, "pgs-ncp");
    assert_null(none);
}

static int choice_count(const char *choices) {
    int count = 1;
    for (; *choices != '\0'; choices++) {
        count += *choices == '|';
    }
    return count;
}

static void every_table_is_complete(void **state) {
    (void)state;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        const KlSolverInfo *info = kl_solver_kind(k);
        assert_true(strlen(info->title) > 0 && strlen(info->text) > 0 && strlen(info->source) > 0);
        assert_true(strcmp(info->solves, "ncp") == 0 || strcmp(info->solves, "ccp") == 0 ||
                    strcmp(info->solves, "local") == 0);
        assert_true(info->de_saxce == (strcmp(info->solves, "ncp") == 0));
        assert_string_equal(info->params[KL_PARAM_MAX_ITERATIONS].id, "max_iterations");
        assert_string_equal(info->params[KL_PARAM_TOLERANCE].id, "tolerance");
        assert_string_equal(info->params[KL_PARAM_WARM_START].id, "warm_start");
        KlSolver *s = create(info->id);
        assert_ptr_equal(kl_solver_info(s), info);
        for (int32_t i = 0; i < info->param_count; i++) {
            const KlParam *p = &info->params[i];
            assert_true(strlen(p->title) > 0 && strlen(p->text) > 0 && p->unit != NULL);
            assert_true(p->min <= p->initial && p->initial <= p->max);
            assert_true(!p->log_scale || p->max > 0.0);
            assert_near(kl_solver_get(s, p->id), p->initial, 0.0);
            assert_ok(kl_solver_set(s, p->id, p->max));
            assert_ok(kl_solver_set(s, p->id, p->min));
            assert_fails(kl_solver_set(s, p->id, p->max + 1.0), KL_ERR_ARGUMENT, p->id);
            assert_fails(kl_solver_set(s, p->id, NAN), KL_ERR_ARGUMENT, p->id);
            if (p->kind == KL_PARAM_CHOICE) {
                assert_int_equal(choice_count(p->choices), (int)p->max + 1);
            }
        }
        kl_solver_destroy(s);
    }
}

static void defaults_are_the_reports(void **state) {
    (void)state;
    static const struct {
        const char *solver, *param;
        double value;
    } defaults[] = {
        {"pgs-ccp", "max_iterations", 1e4}, {"pgs-ccp", "tolerance", 1e-12}, {"pgs-ccp", "omega", 1.0},
        {"admm-ccp", "rho", 1.0},           {"admm-ncp-fp", "eta", 1e-6},    {"admm-ncp-fp", "rho", 1.0},
        {"admm-ncp-la", "alpha", 10.0},     {"admm-ncp-la", "tau_inc", 1.5}, {"admm-ncp-la", "tau_dec", 1.5},
        {"admm-ncp-sa", "tau_0", 0.2},      {"admm-ncp-sa", "tau", 0.05},    {"admm-ncp-sa", "alpha", 10.0},
    };
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        KlSolver *s = create(defaults[i].solver);
        assert_near(kl_solver_get(s, defaults[i].param), defaults[i].value, 0.0);
        kl_solver_destroy(s);
    }
    KlSolver *s = create("admm-ccp");
    assert_true(isnan(kl_solver_get(s, "eta")));  // no proximal term
    kl_solver_destroy(s);
}

static void parameters_are_set_by_text_and_checked(void **state) {
    (void)state;
    KlSolver *s = create("pgs-ncp");
    assert_ok(kl_solver_set_text(s, "tolerance", "1e-6"));
    assert_near(kl_solver_get(s, "tolerance"), 1e-6, 0.0);
    assert_ok(kl_solver_set_text(s, "warm_start", "rescaled"));
    assert_near(kl_solver_get(s, "warm_start"), KL_WARM_RESCALED, 0.0);
    assert_fails(kl_solver_set_text(s, "warm_start", "hot"), KL_ERR_ARGUMENT, "none|previous|rescaled");
    assert_fails(kl_solver_set_text(s, "warm_start", "prev"), KL_ERR_ARGUMENT, "prev");
    assert_fails(kl_solver_set_text(s, "tolerance", "small"), KL_ERR_ARGUMENT, "small");
    assert_fails(kl_solver_set_text(s, "tolerance", "1e-6x"), KL_ERR_ARGUMENT, "1e-6x");
    assert_fails(kl_solver_set_text(s, "tolerance", ""), KL_ERR_ARGUMENT, "number");
    assert_fails(kl_solver_set(s, "max_iterations", 1.5), KL_ERR_ARGUMENT, "whole");
    assert_fails(kl_solver_set(s, "penalty", 1), KL_ERR_NOT_FOUND, "penalty");
    assert_true(isnan(kl_solver_get(s, "penalty")));
    assert_ok(kl_solver_preset(s, "high-throughput"));
    assert_near(kl_solver_get(s, "max_iterations"), 1000, 0.0);
    assert_near(kl_solver_get(s, "tolerance"), 1e-6, 0.0);
    assert_ok(kl_solver_preset(s, "high-precision"));
    assert_near(kl_solver_get(s, "max_iterations"), 10000, 0.0);
    assert_near(kl_solver_get(s, "tolerance"), 1e-12, 0.0);
    assert_fails(kl_solver_preset(s, "fast"), KL_ERR_NOT_FOUND, "high-throughput");
    kl_solver_destroy(s);
    kl_solver_destroy(NULL);
}

// ---- slices, bits, traces ----------------------------------------------------------------------

enum { ROWS = 4000 };

static void assert_same_bits(const double *a, const double *b, int count) {
    assert_memory_equal(a, b, (size_t)count * sizeof *a);
}

static void slices_give_the_bits_of_a_whole_solve(void **state) {
    const Case *cases = *state;
    static KlTraceRow whole_rows[ROWS], slice_rows[ROWS];
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        KlSolver *a = create(kl_solver_kind(k)->id), *b = create(kl_solver_kind(k)->id);
        for (int i = 0; i < CASE_COUNT; i++) {
            const KlProblem *p = cases[i].problem;
            KlTrace whole = {whole_rows, ROWS, 0, 0}, sliced = {slice_rows, ROWS, 0, 0};
            KlSolution s, t;
            assert_ok(kl_solver_set(a, "max_iterations", 900));
            assert_ok(kl_solver_set(b, "max_iterations", 900));
            assert_ok(kl_solver_solve(a, p, &whole, &s));
            assert_ok(kl_solver_begin(b, p, &sliced));
            bool done = false;
            for (int slice = 1; !done; slice = slice % 7 + 1) {
                assert_ok(kl_solver_advance(b, slice, &done));
            }
            assert_ok(kl_solver_finish(b, &t));
            assert_int_equal(s.outcome, t.outcome);
            assert_int_equal(s.iterations, t.iterations);
            assert_int_equal(s.factorizations, t.factorizations);
            assert_same_bits(s.lambda, t.lambda, p->dim);
            assert_same_bits(s.velocity, t.velocity, p->dim);
            assert_int_equal(whole.count, s.iterations);
            assert_int_equal(sliced.count, whole.count);
            for (int row = 0; row < whole.count; row++) {
                assert_int_equal(whole_rows[row].iteration, row + 1);
                assert_same_bits(&whole_rows[row].primal, &slice_rows[row].primal, 3);
                assert_same_bits(&whole_rows[row].penalty, &slice_rows[row].penalty, 1);
            }
        }
        kl_solver_destroy(a);
        kl_solver_destroy(b);
    }
}

static void a_solve_depends_on_nothing_but_its_problem(void **state) {
    const Case *cases = *state;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        KlSolver *used = create(kl_solver_kind(k)->id);
        KlProblemSize large = {.joint_rows = 30, .joint_count = 5, .limit_count = 3, .contact_count = 12};
        assert_ok(kl_solver_reserve(used, &large));
        for (int i = 0; i < CASE_COUNT; i++) {  // each after all the ones before, in a larger workspace
            KlSolver *fresh = create(kl_solver_kind(k)->id);
            assert_ok(kl_solver_set(used, "max_iterations", 500));
            assert_ok(kl_solver_set(fresh, "max_iterations", 500));
            KlSolution a = solve(used, cases[i].problem), b = solve(fresh, cases[i].problem);
            assert_int_equal(a.iterations, b.iterations);
            assert_same_bits(a.lambda, b.lambda, cases[i].problem->dim);
            kl_solver_destroy(fresh);
        }
        kl_solver_destroy(used);
    }
}

// What follows from a problem's numbers is found once a solve, not once for all.
static void a_problem_may_change_between_solves(void **state) {
    (void)state;
    static const char *const ids[] = {"newton-ncp", "admm-ncp-plus", "pgs-ncp"};
    for (size_t k = 0; k < sizeof ids / sizeof ids[0]; k++) {
        KlProblem *changed = family_chain(4, false), *fresh = family_chain(4, false);
        KlProblem *both[] = {changed, fresh};
        KlSolver *s = create(ids[k]), *other = create(ids[k]);
        (void)solve(s, changed);
        for (int i = 0; i < 2; i++) {
            both[i]->inverse_mass[2] *= 0.25;
            both[i]->mass[2] *= 4.0;
        }
        KlSolution a = solve(s, changed), b = solve(other, fresh);
        assert_int_equal(a.iterations, b.iterations);
        assert_same_bits(a.lambda, b.lambda, changed->dim);
        KlResiduals one, two;
        kl_problem_residuals(changed, a.lambda, &one);
        kl_problem_residuals(fresh, b.lambda, &two);
        assert_near(one.natural_relative, two.natural_relative, 0.0);
        kl_solver_destroy(s);
        kl_solver_destroy(other);
        kl_problem_destroy(changed);
        kl_problem_destroy(fresh);
    }
}

static void a_trace_tells_the_residuals_and_what_it_dropped(void **state) {
    const KlProblem *p = find_case(*state, "three-contacts-a")->problem;
    KlTraceRow rows[5];
    KlTrace trace = {rows, 5, 99, 99};
    KlSolver *s = create("pgs-ncp");
    KlSolution solution;
    kl_solver_trace_natural(s, true);
    assert_ok(kl_solver_solve(s, p, &trace, &solution));
    assert_int_equal(trace.count, 5);
    assert_int_equal(trace.dropped, solution.iterations - 5);
    assert_ok(kl_solver_set(s, "max_iterations", 5));
    assert_ok(kl_solver_solve(s, p, &trace, &solution));
    KlResiduals r;
    kl_problem_residuals(p, solution.lambda, &r);
    assert_near(rows[4].natural_relative, r.natural_relative, 0.0);
    assert_near(rows[4].primal, r.primal, 1e-15);
    assert_near(rows[4].dual, r.dual, 1e-14);
    assert_near(rows[4].complementarity, r.complementarity, 1e-14);
    assert_near(rows[4].penalty, 1.0, 0.0);
    kl_solver_trace_natural(s, false);
    assert_ok(kl_solver_solve(s, p, &trace, &solution));
    assert_true(isnan(rows[0].natural_relative));
    kl_solver_destroy(s);
}

static void the_order_of_calls_is_checked(void **state) {
    const KlProblem *p = find_case(*state, "three-contacts-a")->problem;
    KlSolver *s = create("admm-ncp-fp");
    KlSolution solution;
    bool done;
    assert_fails(kl_solver_advance(s, 1, &done), KL_ERR_ARGUMENT, "begun");
    assert_fails(kl_solver_finish(s, &solution), KL_ERR_ARGUMENT, "begun");
    assert_ok(kl_solver_begin(s, p, NULL));
    assert_ok(kl_solver_advance(s, 3, &done));
    assert_false(done);
    assert_ok(kl_solver_finish(s, &solution));  // early: what there is
    assert_int_equal(solution.outcome, KL_OUTCOME_MAX_ITERATIONS);
    assert_int_equal(solution.iterations, 3);
    assert_fails(kl_solver_finish(s, &solution), KL_ERR_ARGUMENT, "begun");
    KlProblemSize negative = {.contact_count = -1};
    assert_fails(kl_solver_reserve(s, &negative), KL_ERR_ARGUMENT, ">= 0");
    kl_solver_destroy(s);
}

static void an_empty_problem_is_solved_at_once(void **state) {
    (void)state;
    KlProblem *p;
    assert_ok(kl_problem_create(&(KlProblemSize){0}, &p));
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        KlSolver *s = create(kl_solver_kind(k)->id);
        KlSolution solution = solve(s, p);
        assert_int_equal(solution.outcome, KL_OUTCOME_CONVERGED);
        assert_int_equal(solution.iterations, 0);
        kl_solver_destroy(s);
    }
    kl_problem_destroy(p);
}

// ---- warm starts -------------------------------------------------------------------------------

static void a_warm_start_saves_iterations(void **state) {
    const Case *cases = *state;
    const Case *c = find_case(cases, "three-contacts-a");
    int saved = 0;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        const KlSolverInfo *info = kl_solver_kind(k);
        for (int mode = KL_WARM_PREVIOUS; mode <= KL_WARM_RESCALED; mode++) {
            KlProblem *next;
            assert_ok(kl_problem_clone(c->problem, &next));
            for (int32_t i = 0; i < next->dim; i++) {
                next->free_velocity[i] *= 1.0 + 1e-5 * (i + 1);
            }
            KlSolver *cold = create(info->id), *warm = create(info->id);
            assert_ok(kl_solver_set(warm, "warm_start", mode));
            KlSolution first = solve(warm, c->problem), alone = solve(cold, c->problem);
            assert_int_equal(first.iterations, alone.iterations);  // nothing remembered yet
            KlSolution a = solve(cold, next), b = solve(warm, next);
            assert_int_equal(a.outcome, b.outcome);
            if (a.outcome == KL_OUTCOME_CONVERGED) {
                if (b.iterations > a.iterations) {
                    fail_msg("%s: %d iterations warm, %d cold", info->id, b.iterations, a.iterations);
                }
                saved += a.iterations - b.iterations;
                assert_near_array(a.lambda, b.lambda, next->dim, 1e-8);
            }
            kl_solver_forget(warm);
            KlSolution forgotten = solve(warm, next);
            assert_int_equal(forgotten.iterations, a.iterations);
            kl_solver_destroy(cold);
            kl_solver_destroy(warm);
            kl_problem_destroy(next);
        }
    }
    assert_true(saved > 100);
}

// Blocks are matched by id, whatever their order; unknown ones start at zero.
static void a_warm_start_finds_constraints_by_id(void **state) {
    (void)state;
    double d[36] = {0}, v_f[6] = {0.1, 0.2, -1.0, -0.3, 0.1, -2.0}, mu[2] = {0.5, 0.8};
    for (int i = 0; i < 6; i++) {
        d[7 * i] = 1.0 + i;
    }
    KlProblem *first, *second;
    assert_ok(kl_problem_from_dense(0, 0, 2, d, v_f, mu, 1e-3, &first));
    double swapped_d[36] = {0}, swapped_v[6], swapped_mu[2] = {mu[1], mu[0]};
    for (int i = 0; i < 6; i++) {
        swapped_d[7 * i] = d[7 * ((i + 3) % 6)];
        swapped_v[i] = v_f[(i + 3) % 6];
    }
    assert_ok(kl_problem_from_dense(0, 0, 2, swapped_d, swapped_v, swapped_mu, 1e-3, &second));
    first->block_id[0] = 700;
    first->block_id[1] = 9;
    second->block_id[0] = 9;
    second->block_id[1] = 700;
    KlSolver *s = create("pgs-ncp");
    assert_ok(kl_solver_set(s, "warm_start", KL_WARM_PREVIOUS));
    KlSolution a = solve(s, first);
    double lambda[6];
    memcpy(lambda, a.lambda, sizeof lambda);
    KlSolution b = solve(s, second);
    assert_int_equal(b.iterations, 1);
    assert_near_array(b.lambda, lambda + 3, 3, 1e-10);  // one iteration past the stop test
    assert_near_array(b.lambda + 3, lambda, 3, 1e-10);
    second->block_id[1] = 5;  // a new contact
    assert_true(solve(s, second).iterations > 1);
    kl_solver_destroy(s);
    kl_problem_destroy(first);
    kl_problem_destroy(second);
}

// Twice the load: rescaling starts at the solution.
static void rescaling_follows_a_change_of_load(void **state) {
    const Case *c = find_case(*state, "one-contact-stick");
    KlProblem *twice;
    assert_ok(kl_problem_clone(c->problem, &twice));
    for (int i = 0; i < 3; i++) {
        twice->free_velocity[i] *= 2.0;
    }
    KlSolver *s = create("pgs-ncp");
    assert_ok(kl_solver_set(s, "warm_start", KL_WARM_PREVIOUS));
    solve(s, c->problem);
    int previous = solve(s, twice).iterations;
    kl_solver_forget(s);
    assert_ok(kl_solver_set(s, "warm_start", KL_WARM_RESCALED));
    solve(s, c->problem);
    int rescaled = solve(s, twice).iterations;
    assert_true(rescaled < previous && rescaled <= 5);
    kl_solver_destroy(s);
    kl_problem_destroy(twice);
}

// Some methods have v+ and hand it out; it must be that of lambda, wherever they stop.
static void the_velocity_of_a_solution_is_that_of_its_reaction(void **state) {
    const Case *cases = *state;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        KlSolver *s = create(kl_solver_kind(k)->id);
        for (int i = 0; i < 3 * CASE_COUNT; i++) {
            const KlProblem *p = cases[i / 3].problem;
            double found[CASE_MAX_DIM], diagonal[CASE_MAX_DIM], terms = 0.0;
            assert_ok(kl_solver_set(s, "max_iterations", i % 3 == 0 ? 1 : i % 3 == 1 ? 4 : 300));
            KlSolution solution = solve(s, p);
            kl_problem_velocity(p, solution.lambda, found);
            kl_problem_diagonal(p, diagonal);
            for (int32_t row = 0; row < p->dim; row++) {  // |D_ij| <= sqrt(D_ii D_jj)
                terms += sqrt(diagonal[row]) * fabs(solution.lambda[row]);
            }
            for (int32_t row = 0; row < p->dim && solution.outcome != KL_OUTCOME_DIVERGED; row++) {
                double rounding = 1e-14 * (sqrt(diagonal[row]) * terms + fabs(p->free_velocity[row]));
                if (!(fabs(found[row] - solution.velocity[row]) <= rounding)) {
                    fail_msg("%s on %s: row %d, %g and %g", kl_solver_kind(k)->id, cases[i / 3].name, (int)row,
                             found[row], solution.velocity[row]);
                }
            }
        }
        kl_solver_destroy(s);
    }
}

// ---- outcomes ----------------------------------------------------------------------------------

static void a_problem_that_is_not_finite_diverges(void **state) {
    const Case *c = find_case(*state, "three-contacts-a");
    KlProblem *broken;
    assert_ok(kl_problem_clone(c->problem, &broken));
    broken->free_velocity[4] = NAN;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        KlSolver *s = create(kl_solver_kind(k)->id);
        KlSolution solution = solve(s, broken);
        if (solution.outcome != KL_OUTCOME_DIVERGED) {
            fail_msg("%s: %s", kl_solver_kind(k)->id, kl_outcome_name(solution.outcome));
        }
        kl_solver_destroy(s);
    }
    kl_problem_destroy(broken);
}

// An indefinite D whose limits push each other up: no reaction solves it. Gauss-Seidel grows without
// bound, the factorization of ADMM fails; both are told, and nobody claims a solution.
static void growth_and_failed_factorizations_are_divergence(void **state) {
    (void)state;
    const double d[4] = {1, -3, -3, 1}, v_f[2] = {-1, -1};
    KlProblem *p;
    assert_ok(kl_problem_from_dense(0, 2, 0, d, v_f, NULL, 1e-3, &p));
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        KlSolver *s = create(kl_solver_kind(k)->id);
        KlSolution solution = solve(s, p);
        assert_true(solution.outcome != KL_OUTCOME_CONVERGED);
        if (strcmp(kl_solver_kind(k)->id, "pgs-ncp") == 0 || strcmp(kl_solver_kind(k)->id, "admm-ncp-fp") == 0) {
            assert_int_equal(solution.outcome, KL_OUTCOME_DIVERGED);
            assert_true(solution.iterations < 40);
        }
        kl_solver_destroy(s);
    }
    assert_string_equal(kl_outcome_name(KL_OUTCOME_DIVERGED), "diverged");
    kl_problem_destroy(p);
}

static void slow_solves_are_not_called_stagnated(void **state) {
    const Case *cases = *state;
    static const char *const slow[] = {"boxes-fixed-0.1-1000-rest", "boxes-fixed-0.1-1000-pushed"};
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        if (strcmp(kl_solver_kind(k)->solves, "local") == 0) {
            continue;  // those do come to rest away from their residuals
        }
        KlSolver *s = create(kl_solver_kind(k)->id);
        for (int i = 0; i < 2; i++) {
            KlSolution solution = solve(s, find_case(cases, slow[i])->problem);
            assert_true(solution.outcome == KL_OUTCOME_CONVERGED || solution.outcome == KL_OUTCOME_MAX_ITERATIONS);
        }
        kl_solver_destroy(s);
    }
}

static void a_solver_at_rest_away_from_its_residuals_is_stagnated(void **state) {
    const KlProblem *p = find_case(*state, "one-contact-slip")->problem;
    KlSolver *s = create("raisim");
    KlSolution solution = solve(s, p);
    assert_int_equal(solution.outcome, KL_OUTCOME_STAGNATED);
    assert_true(solution.iterations < 300);
    kl_solver_destroy(s);
}

// ---- options of the splitting scheme -----------------------------------------------------------

static void every_sweep_and_order_reaches_the_same_solution(void **state) {
    const Case *cases = *state;
    static const char *const sweeps[] = {"delassus", "body-space", "auto"};
    static const char *const orders[] = {"forward",  "forward-backward",       "random",
                                         "backward", "contacts-joints-limits", "contacts-shuffled"};
    const Case *c = find_case(cases, "R2");
    for (int i = 0; i < 18; i++) {
        KlSolver *s = create("pgs-ncp");
        assert_ok(kl_solver_set_text(s, "sweep", sweeps[i / 6]));
        assert_ok(kl_solver_set_text(s, "order", orders[i % 6]));
        KlSolution solution = solve(s, c->problem);
        assert_int_equal(solution.outcome, KL_OUTCOME_CONVERGED);
        assert_near_array(solution.lambda, c->lambda, c->problem->dim, 1e-9);
        kl_solver_destroy(s);
    }
}

// A joint, a limit and a contact without friction, coupled. `order` lists rows; each moves by the share omega
// of its own solution with the newest of the others.
static void sweep_by_hand(const double d[25], const double v_f[5], const int *order, int count, double omega,
                          double lambda[5]) {
    for (int k = 0; k < count; k++) {
        int i = order[k];
        double v = v_f[i];
        for (int j = 0; j < 5; j++) {
            v += d[5 * i + j] * lambda[j];
        }
        double own = lambda[i] - v / d[6 * i];
        own = i > 0 && own < 0.0 ? 0.0 : own;
        lambda[i] += omega * (own - lambda[i]);
    }
}

static const double coupled[25] = {3, 1, 0, 0, 1, 1, 2, 0, 0, -0.5, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, -0.5, 0, 0, 4};

static void sets_are_swept_in_the_order_of_their_names(void **state) {
    (void)state;
    const double v_f[5] = {0.5, -1, 0.1, 0.2, -2}, mu = 0.0;
    static const struct {
        const char *name;
        int rows[3];
    } orders[] = {{"forward", {0, 1, 4}},
                  {"joints-contacts-limits", {0, 4, 1}},
                  {"limits-joints-contacts", {1, 0, 4}},
                  {"limits-contacts-joints", {1, 4, 0}},
                  {"contacts-joints-limits", {4, 0, 1}},
                  {"contacts-limits-joints", {4, 1, 0}}};
    KlProblem *p;
    assert_ok(kl_problem_from_dense(1, 1, 1, coupled, v_f, &mu, 1e-3, &p));
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        double lambda[5] = {0};
        sweep_by_hand(coupled, v_f, orders[i].rows, 3, 1.0, lambda);
        KlSolver *s = create("pgs-ncp");
        assert_ok(kl_solver_set_text(s, "order", orders[i].name));
        assert_ok(kl_solver_set(s, "max_iterations", 1));
        assert_near_array(solve(s, p).lambda, lambda, 5, 1e-15);
        kl_solver_destroy(s);
    }
    kl_problem_destroy(p);
}

static void orders_are_joints_limits_contacts_and_back(void **state) {
    (void)state;
    const double *d = coupled;
    const double v_f[5] = {0.5, -1, 0.1, 0.2, -2}, mu = 0.0, omega = 0.8, gamma = 0.9;
    const int forward[3] = {0, 1, 4}, backward[3] = {4, 1, 0};
    KlProblem *p;
    assert_ok(kl_problem_from_dense(1, 1, 1, d, v_f, &mu, 1e-3, &p));
    static const char *const sweeps[] = {"delassus", "body-space"};
    for (int i = 0; i < 4; i++) {
        bool back = i / 2 == 1;
        double lambda[5] = {0};
        sweep_by_hand(d, v_f, forward, 3, omega, lambda);
        sweep_by_hand(d, v_f, back ? backward : forward, 3, omega * gamma, lambda);
        sweep_by_hand(d, v_f, forward, 3, omega * gamma * gamma, lambda);
        KlSolver *s = create("pgs-ncp");
        assert_ok(kl_solver_set_text(s, "sweep", sweeps[i % 2]));
        assert_ok(kl_solver_set_text(s, "order", back ? "forward-backward" : "forward"));
        assert_ok(kl_solver_set(s, "omega", omega));
        assert_ok(kl_solver_set(s, "gamma", gamma));
        assert_ok(kl_solver_set(s, "max_iterations", 3));
        assert_near_array(solve(s, p).lambda, lambda, 5, 1e-15);
        kl_solver_destroy(s);
    }
    kl_problem_destroy(p);
}

static void a_seed_repeats_its_order(void **state) {
    const Case *c = find_case(*state, "R2");
    static const char *const orders[] = {"random", "contacts-shuffled"};
    for (int i = 0; i < 2; i++) {
        KlSolver *s = create("pgs-ncp");
        assert_ok(kl_solver_set_text(s, "order", orders[i]));
        assert_ok(kl_solver_set(s, "max_iterations", 5));
        double first[9], other[9];
        memcpy(first, solve(s, c->problem).lambda, sizeof first);
        assert_same_bits(solve(s, c->problem).lambda, first, 9);
        assert_ok(kl_solver_set(s, "seed", 2));
        memcpy(other, solve(s, c->problem).lambda, sizeof other);
        assert_memory_not_equal(first, other, sizeof first);
        kl_solver_destroy(s);
    }
}

static void relaxation_decays_to_its_floor(void **state) {
    const Case *c = find_case(*state, "R2");
    KlTraceRow rows[40];
    KlTrace trace = {rows, 40, 0, 0};
    KlSolver *s = create("pgs-ccp");
    assert_ok(kl_solver_set(s, "omega", 1.2));
    assert_ok(kl_solver_set(s, "gamma", 0.9));
    assert_ok(kl_solver_set(s, "omega_min", 0.8));
    KlSolution solution;
    assert_ok(kl_solver_solve(s, c->problem, &trace, &solution));
    assert_int_equal(solution.outcome, KL_OUTCOME_CONVERGED);
    assert_near(rows[0].penalty, 1.2, 0.0);
    assert_near(rows[1].penalty, 1.08, 1e-15);
    assert_near(rows[30].penalty, 0.8, 0.0);
    kl_solver_destroy(s);
}

// ---- memory ------------------------------------------------------------------------------------

static void a_reserved_solver_allocates_nothing(void **state) {
    const Case *cases = *state;
    KlProblemSize size = {0};
    for (int i = 0; i < CASE_COUNT; i++) {
        const KlProblem *p = cases[i].problem;
        KlProblemSize needed = {.joint_rows = p->joint_rows,
                                .joint_count = p->joint_count,
                                .limit_count = p->limit_count,
                                .contact_count = p->contact_count,
                                .nonzeros = p->delassus_start[p->dim]};
        int32_t *into = (int32_t *)&size, *from = (int32_t *)&needed;
        for (size_t k = 0; k < sizeof size / sizeof *into; k++) {
            into[k] = into[k] > from[k] ? into[k] : from[k];
        }
    }
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        KlSolver *s = create(kl_solver_kind(k)->id);
        assert_ok(kl_solver_set(s, "warm_start", KL_WARM_RESCALED));
        assert_ok(kl_solver_reserve(s, &size));
        uint64_t before = kl_alloc_count();
        for (int i = 0; i < CASE_COUNT; i++) {
            assert_ok(kl_solver_set(s, "max_iterations", 300));
            assert_ok(kl_solver_set(s, "tolerance", 1e-9));
            solve(s, cases[i].problem);
        }
        assert_int_equal(kl_alloc_count(), before);
        kl_solver_destroy(s);
    }
}

// Above 66 bodies a factor takes its room with the first problem; after that nothing as large needs more.
static void hundreds_of_bodies_allocate_with_the_first_problem_alone(void **state) {
    static const char *const ids[] = {"newton-ncp", "admm-ncp-plus", "pgs-ncp"};
    (void)state;
    KlProblem *large = family_wall(16, 16), *other = family_wall(16, 15);
    assert_true(large->body_count == 256 && other->body_count == 240);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        KlSolver *s = create(ids[i]);
        assert_ok(kl_solver_set(s, "max_iterations", 20));
        solve(s, large);
        uint64_t before = kl_alloc_count();
        solve(s, other);
        solve(s, large);
        assert_int_equal(kl_alloc_count(), before);
        kl_solver_destroy(s);
    }
    kl_problem_destroy(large);
    kl_problem_destroy(other);
}

static bool close_gate(void *context, uint64_t number) { return number < *(const uint64_t *)context; }

// Whichever allocation fails, the solver says so and works once there is memory again.
static void running_out_of_memory_is_a_status(void **state) {
    const KlProblem *p = find_case(*state, "boxes-fixed-1-1-pushed")->problem;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        for (uint64_t failing = 1; failing < 100; failing++) {
            uint64_t limit = kl_alloc_count() + failing;
            KlSolver *s = NULL;
            KlSolution solution;
            kl_set_alloc_gate(close_gate, &limit);
            KlStatus created = kl_solver_create(kl_solver_kind(k)->id, &s);
            KlStatus solved = created == KL_OK ? kl_solver_solve(s, p, NULL, &solution) : created;
            kl_set_alloc_gate(NULL, NULL);
            assert_true(solved == KL_OK || solved == KL_ERR_MEMORY);
            assert_true(created == KL_OK || s == NULL);
            if (s != NULL) {
                assert_ok(kl_solver_solve(s, p, NULL, &solution));
            }
            kl_solver_destroy(s);
            if (solved == KL_OK) {
                break;
            }
            assert_true(failing < 90);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_documented_solver_is_listed),
        cmocka_unit_test(every_table_is_complete),
        cmocka_unit_test(defaults_are_the_reports),
        cmocka_unit_test(parameters_are_set_by_text_and_checked),
        cmocka_unit_test(slices_give_the_bits_of_a_whole_solve),
        cmocka_unit_test(a_solve_depends_on_nothing_but_its_problem),
        cmocka_unit_test(a_problem_may_change_between_solves),
        cmocka_unit_test(a_trace_tells_the_residuals_and_what_it_dropped),
        cmocka_unit_test(the_order_of_calls_is_checked),
        cmocka_unit_test(an_empty_problem_is_solved_at_once),
        cmocka_unit_test(a_warm_start_saves_iterations),
        cmocka_unit_test(a_warm_start_finds_constraints_by_id),
        cmocka_unit_test(rescaling_follows_a_change_of_load),
        cmocka_unit_test(the_velocity_of_a_solution_is_that_of_its_reaction),
        cmocka_unit_test(a_problem_that_is_not_finite_diverges),
        cmocka_unit_test(growth_and_failed_factorizations_are_divergence),
        cmocka_unit_test(slow_solves_are_not_called_stagnated),
        cmocka_unit_test(a_solver_at_rest_away_from_its_residuals_is_stagnated),
        cmocka_unit_test(every_sweep_and_order_reaches_the_same_solution),
        cmocka_unit_test(sets_are_swept_in_the_order_of_their_names),
        cmocka_unit_test(orders_are_joints_limits_contacts_and_back),
        cmocka_unit_test(a_seed_repeats_its_order),
        cmocka_unit_test(relaxation_decays_to_its_floor),
        cmocka_unit_test(a_reserved_solver_allocates_nothing),
        cmocka_unit_test(hundreds_of_bodies_allocate_with_the_first_problem_alone),
        cmocka_unit_test(running_out_of_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, cases_setup, cases_teardown);
}
