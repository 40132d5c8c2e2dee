// factorization = iterative: conjugate gradients in the place of a factor reach the reactions that the factor
// reaches, hold memory of the order of the problem, and are taken by themselves for large piles alone.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dual/problem.h"
#include "families.h"
#include "judge.h"
#include "solver/scaled.h"
#include "support.h"

static const double TOLERANCE = 1e-10;  // the solver's default

static KlSolver *create(const char *factorization) {
    KlSolver *s;
    assert_ok(kl_solver_create("admm-ncp-plus", &s));
    assert_ok(kl_solver_set_text(s, "factorization", factorization));
    return s;
}

// Solves to the default tolerance, judged independently; lambda (dim). Returns iterations.
static int32_t solve(KlSolver *s, const KlProblem *p, const char *what, double *lambda) {
    KlSolution solution;
    assert_ok(kl_solver_solve(s, p, NULL, &solution));
    double natural = (double)judge(p, solution.lambda).natural_relative;
    if (solution.outcome != KL_OUTCOME_CONVERGED || !(natural <= TOLERANCE)) {
        print_error("%s: %s after %d iterations, r_nat_rel %.2e\n", what, kl_outcome_name(solution.outcome),
                    (int)solution.iterations, natural);
    }
    assert_int_equal(solution.outcome, KL_OUTCOME_CONVERGED);
    assert_true(natural <= TOLERANCE);
    memcpy(lambda, solution.lambda, (size_t)p->dim * sizeof *lambda);
    return solution.iterations;
}

static double largest(const double *x, int32_t count) {
    double most = 0.0;
    for (int32_t i = 0; i < count; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// Velocities are unique in all of these, reactions in those that say so. Iterations on jammed spheres change by
// factors with last bits, so that only the others' are compared.
static void gives_what_the_direct_factor_gives(void **state) {
    (void)state;
    struct {
        const char *what;
        KlProblem *problem;
        bool unique, jammed;
    } cases[] = {{"a cube fixed on a pushed one", family_boxes_fixed(2.0, 1.0, 1.5), true, false},
                 {"a chain", family_chain(5, false), true, false},
                 {"a long chain", family_chain(30, false), false, false},
                 {"a closed chain", family_chain(10, true), true, false},
                 {"a wall", family_wall(4, 4), false, false},
                 {"two layers of spheres", family_spheres(4, 2, 1), true, true},
                 {"three layers of spheres", family_spheres(3, 3, 1), true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        KlProblem *p = cases[i].problem;
        size_t dim = (size_t)p->dim;
        double *all = malloc(5 * dim * sizeof *all), *direct = all, *iterated = all + dim;
        double *before = iterated + dim, *after = before + dim, *scale = after + dim;
        KlSolver *factored = create("bodies"), *s = create("iterative");
        int32_t exact = solve(factored, p, cases[i].what, direct), inexact = solve(s, p, cases[i].what, iterated);
        if (!cases[i].jammed) {  // solutions that end too early cost the long chain fifty times as many
            assert_true(inexact <= 3 * exact);
        }
        kl_problem_velocity(p, direct, before);
        kl_problem_velocity(p, iterated, after);
        kl_problem_scale(p, scale);
        for (int32_t k = 0; k < p->dim; k++) {  // r_nat_rel weighs S v against lambda; a thousand times the tolerance
            assert_near(scale[k] * after[k], scale[k] * before[k], 1e-7 * largest(direct, p->dim));
        }
        if (cases[i].unique) {
            assert_near_array(iterated, direct, p->dim, 1e-6 * largest(direct, p->dim));  // the condition of D comes in
        }
        kl_solver_destroy(factored);
        kl_solver_destroy(s);
        kl_problem_destroy(p);
        free(all);
    }
}

// D x of the iterated system beside that of the rows; tells whether contacts became levers.
static bool levers_multiply_as_rows_do(const KlProblem *p) {
    KlScaled rows = {0}, iterated = {0};
    double *x = malloc(3 * (size_t)p->dim * sizeof *x), *want = x + p->dim, *have = want + p->dim;
    assert_ok(kl_scaled_begin(&rows, p, true, KL_FACTOR_SPARSE));
    assert_ok(kl_scaled_begin(&iterated, p, true, KL_FACTOR_ITERATIVE));
    for (int32_t i = 0; i < p->dim; i++) {
        x[i] = 1.0 + 0.3 * (i % 5) - 0.7 * (i % 3);
    }
    kl_scaled_multiply(&rows, x, want);
    kl_scaled_multiply(&iterated, x, have);
    assert_near_array(have, want, p->dim, 1e-14 * p->dim);  // a sum of so many roundings at most, of a unit diagonal
    bool levers = iterated.gradients.levers;
    kl_scaled_release(&rows);
    kl_scaled_release(&iterated);
    free(x);
    return levers;
}

static void levers_of_contacts_give_what_their_rows_give(void **state) {
    (void)state;
    KlProblem *problems[] = {family_boxes_fixed(2.0, 1.0, 1.5), family_four_bar((double[]){1.0, 2.0, 3.0, 4.0}, 0.5),
                             family_wall(4, 4), family_spheres(3, 3, 1)};
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        assert_true(levers_multiply_as_rows_do(problems[i]));
        kl_problem_destroy(problems[i]);
    }
}

static void rows_that_are_no_levers_are_taken_as_they_are(void **state) {
    (void)state;
    KlProblem *p = family_wall(4, 4);
    double *all = malloc(2 * (size_t)p->dim * sizeof *all);
    p->jacobian[12 * 7 + 10] += 1e-3;  // a moment without a force
    assert_false(levers_multiply_as_rows_do(p));
    KlSolver *factored = create("bodies"), *s = create("iterative");
    assert_true(solve(s, p, "iterated", all) <= 3 * solve(factored, p, "with a factor", all + p->dim));
    kl_solver_destroy(factored);
    kl_solver_destroy(s);
    kl_problem_destroy(p);
    free(all);
}

static bool is_iterated(KlProblem *p, bool cholesky) {
    KlScaled scaled = {0};
    assert_ok(kl_scaled_begin(&scaled, p, cholesky, KL_FACTOR_AUTO));
    bool iterated = scaled.iterative;
    kl_scaled_release(&scaled);
    kl_problem_destroy(p);
    return iterated;
}

static void auto_iterates_in_large_piles_alone(void **state) {
    (void)state;
    assert_true(is_iterated(family_spheres(7, 7, 1), true));
    assert_false(is_iterated(family_spheres(7, 7, 1), false));  // Newton's systems are not symmetric
    assert_false(is_iterated(family_spheres(4, 4, 1), true));   // 64 bodies have their room reserved
    assert_false(is_iterated(family_wall(16, 16), true));
    assert_false(is_iterated(family_chain(300, false), true));
}

static void holds_the_rows_of_the_problem_and_no_matrix(void **state) {
    (void)state;
    KlProblem *p = family_spheres(5, 5, 1);
    KlScaled s = {0};
    assert_ok(kl_scaled_begin(&s, p, true, KL_FACTOR_ITERATIVE));
    assert_int_equal(s.pattern.capacity + s.offsets.capacity + s.delassus_values.capacity + s.system_values.capacity,
                     0);
    assert_int_equal(s.body_system.values.capacity, 0);
    size_t wanted = 2 * (size_t)p->dim + 66 * ((size_t)p->body_count + 1);  // buffers grow by half of themselves
    assert_true(s.gradients.numbers.capacity >= wanted && s.gradients.numbers.capacity <= 2 * wanted);
    kl_scaled_release(&s);
    kl_problem_destroy(p);
}

static void a_reserved_solver_allocates_nothing(void **state) {
    (void)state;
    KlProblem *problems[] = {family_spheres(5, 5, 1), family_wall(8, 8), family_spheres(2, 2, 1)};
    KlProblemSize size = {.contact_count = 600, .body_count = 125};
    KlSolver *s = create("iterative");
    assert_ok(kl_solver_set(s, "max_iterations", 20));
    assert_ok(kl_solver_reserve(s, &size));
    uint64_t before = kl_alloc_count();
    for (int32_t i = 0; i < 3; i++) {
        KlSolution solution;
        assert_ok(kl_solver_solve(s, problems[i], NULL, &solution));
        kl_problem_destroy(problems[i]);
    }
    assert_int_equal(kl_alloc_count(), before);
    kl_solver_destroy(s);
}

// The first guess of a solution is the last one's, but never that of another solve.
static void the_same_problem_gives_the_same_bits(void **state) {
    (void)state;
    KlProblem *p = family_spheres(3, 3, 1), *other = family_wall(3, 3);
    double *first = malloc((size_t)p->dim * sizeof *first);
    KlSolver *s = create("iterative");
    KlSolution solution;
    assert_ok(kl_solver_set(s, "max_iterations", 50));
    assert_ok(kl_solver_solve(s, p, NULL, &solution));
    memcpy(first, solution.lambda, (size_t)p->dim * sizeof *first);
    assert_ok(kl_solver_solve(s, other, NULL, &solution));
    assert_ok(kl_solver_solve(s, p, NULL, &solution));
    assert_memory_equal(first, solution.lambda, (size_t)p->dim * sizeof *first);
    kl_solver_destroy(s);
    kl_problem_destroy(p);
    kl_problem_destroy(other);
    free(first);
}

static void what_cannot_be_iterated_is_refused(void **state) {
    (void)state;
    KlProblem *explicit_form = family_random(1, 3);
    KlSolver *s = create("iterative"), *newton;
    KlSolution solution;
    assert_fails(kl_solver_solve(s, explicit_form, NULL, &solution), KL_ERR_ARGUMENT, "factorization = iterative");
    assert_ok(kl_solver_set_text(s, "factorization", "auto"));
    assert_ok(kl_solver_solve(s, explicit_form, NULL, &solution));
    assert_ok(kl_solver_create("newton-ncp", &newton));
    assert_fails(kl_solver_set_text(newton, "factorization", "iterative"), KL_ERR_ARGUMENT, "auto|dense|sparse|bodies");
    kl_solver_destroy(newton);
    kl_solver_destroy(s);
    kl_problem_destroy(explicit_form);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_what_the_direct_factor_gives),
        cmocka_unit_test(levers_of_contacts_give_what_their_rows_give),
        cmocka_unit_test(rows_that_are_no_levers_are_taken_as_they_are),
        cmocka_unit_test(auto_iterates_in_large_piles_alone),
        cmocka_unit_test(holds_the_rows_of_the_problem_and_no_matrix),
        cmocka_unit_test(a_reserved_solver_allocates_nothing),
        cmocka_unit_test(the_same_problem_gives_the_same_bits),
        cmocka_unit_test(what_cannot_be_iterated_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
