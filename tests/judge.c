#include "judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

KktProblem judge_view(const KlProblem *p, double *delassus) {
    kl_problem_delassus(p, delassus);
    return (KktProblem){.joint_rows = p->joint_rows,
                        .limits = p->limit_count,
                        .contacts = p->contact_count,
                        .delassus = delassus,
                        .free_velocity = p->free_velocity,
                        .friction = p->friction,
                        .joint_count = p->joint_count,
                        .joint_start = p->block_start};
}

KktResiduals judge(const KlProblem *p, const double *lambda) {
    double *delassus = malloc((size_t)p->dim * (size_t)p->dim * sizeof *delassus);
    assert_non_null(delassus);
    KktProblem view = judge_view(p, delassus);
    KktResiduals residuals;
    kkt_check(&view, lambda, &residuals);
    free(delassus);
    return residuals;
}

int32_t judge_solver(const char *id, const KlProblem *p, double tolerance, const char *what, double *lambda) {
    KlSolver *solver;
    KlSolution solution;
    assert_ok(kl_solver_create(id, &solver));
    assert_ok(kl_solver_set(solver, "tolerance", tolerance));
    assert_ok(kl_solver_solve(solver, p, NULL, &solution));
    double natural = (double)judge(p, solution.lambda).natural_relative;
    if (solution.outcome != KL_OUTCOME_CONVERGED || !(natural <= tolerance)) {
        print_error("%s on %s: %s after %d iterations, r_nat_rel %.2e\n", id, what, kl_outcome_name(solution.outcome),
                    (int)solution.iterations, natural);
    }
    assert_int_equal(solution.outcome, KL_OUTCOME_CONVERGED);
    assert_true(natural <= tolerance);
    if (lambda != NULL) {
        memcpy(lambda, solution.lambda, (size_t)p->dim * sizeof *lambda);
    }
    int32_t iterations = solution.iterations;
    kl_solver_destroy(solver);
    return iterations;
}
