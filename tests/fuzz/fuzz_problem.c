// Dual problems as JSON: what is accepted passes the check and can be judged and solved.
#include "input.h"

enum { MOST_ROWS = 60, MOST_ITERATIONS = 20 };

static void solve(const KlProblem *problem) {
    KlSolver *solver;
    CLAIM(kl_solver_create("admm-ncp-fp", &solver) == KL_OK);
    CLAIM(kl_solver_set(solver, "max_iterations", MOST_ITERATIONS) == KL_OK);
    KlSolution solution;
    CLAIM(kl_solver_solve(solver, problem, NULL, &solution) == KL_OK);
    kl_solver_destroy(solver);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    KlProblem *problem;
    int32_t count = 0;
    for (int32_t index = 0; index == 0 || (index < count && index < 3); index++) {
        KlStatus status = kl_problem_parse_json((const char *)data, size, "fuzz.json", index, &count, &problem);
        if (status != KL_OK) {
            CLAIM(problem == NULL);
            claim_failure(status);
            continue;
        }
        CLAIM(kl_problem_check(problem) == KL_OK);
        if (problem->dim <= MOST_ROWS) {
            solve(problem);
            KlCategory category;
            status = kl_problem_category(problem, &category);
            status == KL_OK ? (void)0 : claim_failure(status);
        }
        kl_problem_destroy(problem);
    }
    return 0;
}
