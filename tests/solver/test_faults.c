// Out of memory in solvers: every single allocation of create, reserve and solve fails once, for every
// solver of the list, and a solver that failed solves once there is memory.
#include "base/status.h"
#include "faults.h"

#include <stdlib.h>

typedef struct Trial {
    const char *id;
    KlProblem *problem;
} Trial;

static KlStatus run_solver(KlSolver *solver, const KlProblem *problem) {
    KlProblemSize size = {.joint_rows = 12, .joint_count = 2, .limit_count = 3, .contact_count = 4, .body_count = 3};
    KlSolution solution;
    KlStatus status = kl_solver_set(solver, "max_iterations", 30.0);
    status = status == KL_OK ? kl_solver_reserve(solver, &size) : status;
    return status == KL_OK ? kl_solver_solve(solver, problem, NULL, &solution) : status;
}

static KlStatus whole_life(void *context) {
    const Trial *trial = context;
    KlSolver *solver;
    KlStatus status = kl_solver_create(trial->id, &solver);
    if (status != KL_OK) {
        assert_null(solver);
        return status;
    }
    status = run_solver(solver, trial->problem);
    if (status != KL_OK) {  // the gate has fired: there is memory now
        KlError told = *kl_last_error();
        assert_int_equal(told.status, status);
        assert_ok(run_solver(solver, trial->problem));
        (void)kl_solver_set(solver, "no such parameter", 0.0);
        KlSolution solution;
        assert_ok(kl_solver_solve(solver, trial->problem, NULL, &solution));
        (void)kl_fail(told.status, "%s", told.message);
    }
    kl_solver_destroy(solver);
    return status;
}

static void every_solver_solves_or_memory_is_missing(void **state) {
    (void)state;
    size_t size;
    char *text = kl_test_read(KL_TEST_DATA "/../fuzz/corpus/problem/both_forms.json", &size);
    for (int32_t form = 0; form < 2; form++) {
        Trial trial;
        assert_ok(kl_problem_parse_json(text, size, "both.json", form, NULL, &trial.problem));
        for (int32_t i = 0; i < kl_solver_kind_count(); i++) {
            trial.id = kl_solver_kind(i)->id;
            assert_true(faults_each(whole_life, &trial) > 0);
        }
        kl_problem_destroy(trial.problem);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_solver_solves_or_memory_is_missing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
