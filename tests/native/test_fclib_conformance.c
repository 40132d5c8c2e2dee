// Every solver of the registry on every public FCLIB problem we hold: what it says of its solution is held
// against the judge (promise.h). That ours converge on all of them is test_fclib_solvers.c.
#include "promise.h"
#include "public_problems.h"

static void solvers_keep_their_promise_on_public_problems(void **state) {
    (void)state;
    for (int i = 0; i < PUBLIC_PROBLEM_COUNT; i++) {
        PublicProblem problem = public_problem_open(i);
        for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
            KlSolver *solver;
            assert_ok(kl_solver_create(kl_solver_kind(k)->id, &solver));
            assert_ok(kl_solver_set(solver, "max_iterations", 200));
            KlSolution s = solve_and_hold_to_promise(solver, problem.record.problem, problem.name);
            print_message("%-40s %-14s %-14s %d\n", problem.name, kl_solver_kind(k)->id, kl_outcome_name(s.outcome),
                          (int)s.iterations);
            kl_solver_destroy(solver);
        }
        public_problem_close(&problem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solvers_keep_their_promise_on_public_problems)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
