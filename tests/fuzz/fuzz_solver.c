// Every registered solver on arbitrary problems that pass kl_problem_check: an outcome of the list and
// a finite reaction, whatever the numbers are; the same bits when asked again.
#include "input.h"

enum { MOST_ROWS = 24, MOST_ITERATIONS = 40 };

// D = A A^T + shift, or anything at all; exact symmetry is not demanded of FCLIB's problems.
static void fill_delassus(FuzzInput *in, int32_t dim, double *d) {
    double a[MOST_ROWS * MOST_ROWS];
    bool arbitrary = fuzz_below(in, 8) == 0;
    int32_t rank = 1 + fuzz_below(in, dim);
    for (int32_t i = 0; i < dim * (arbitrary ? dim : rank); i++) {
        a[i] = fuzz_real(in);
    }
    double shift = fabs(fuzz_real(in));
    for (int32_t i = 0; i < dim; i++) {
        for (int32_t j = 0; j < dim; j++) {
            double sum = i == j ? shift : 0.0;
            for (int32_t k = 0; k < rank && !arbitrary; k++) {
                sum += a[i * rank + k] * a[j * rank + k];
            }
            d[i * dim + j] = arbitrary ? a[i * dim + j] : sum;
        }
    }
}

static KlProblem *make_problem(FuzzInput *in) {
    int32_t joints = fuzz_below(in, 7), limits = fuzz_below(in, 4), contacts = fuzz_below(in, 5);
    int32_t dim = joints + limits + 3 * contacts;
    double d[MOST_ROWS * MOST_ROWS], v[MOST_ROWS], mu[4];
    if (dim == 0) {
        return NULL;
    }
    fill_delassus(in, dim, d);
    for (int32_t i = 0; i < dim; i++) {
        v[i] = fuzz_real(in);
    }
    for (int32_t k = 0; k < contacts; k++) {
        mu[k] = fabs(fuzz_real(in));
    }
    KlProblem *problem = NULL;
    KlStatus status = kl_problem_from_dense(joints, limits, contacts, d, v, mu, 1e-3, &problem);
    if (status == KL_OK && fuzz_below(in, 2) == 1) {
        for (int32_t i = 0; i < dim; i++) {
            problem->softening[i] = fabs(fuzz_real(in));
        }
    }
    return problem;
}

static void claim_solved(KlSolver *solver, const KlProblem *problem, double *lambda) {
    KlSolution solution;
    CLAIM(kl_solver_solve(solver, problem, NULL, &solution) == KL_OK);
    CLAIM(solution.outcome >= KL_OUTCOME_CONVERGED && solution.outcome <= KL_OUTCOME_DIVERGED);
    CLAIM(solution.iterations >= 0 && solution.iterations <= MOST_ITERATIONS);
    for (int32_t i = 0; i < problem->dim; i++) {
        CLAIM(isfinite(solution.lambda[i]));
    }
    memcpy(lambda, solution.lambda, (size_t)problem->dim * sizeof *lambda);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FuzzInput in = {data, size, 0};
    int32_t warm = fuzz_below(&in, 3);
    KlProblem *problem = make_problem(&in);
    if (problem == NULL || kl_problem_check(problem) != KL_OK) {
        kl_problem_destroy(problem);
        return 0;
    }
    for (int32_t i = 0; i < kl_solver_kind_count(); i++) {
        KlSolver *solver;
        CLAIM(kl_solver_create(kl_solver_kind(i)->id, &solver) == KL_OK);
        CLAIM(kl_solver_set(solver, "max_iterations", MOST_ITERATIONS) == KL_OK);
        double first[MOST_ROWS], second[MOST_ROWS];
        claim_solved(solver, problem, first);
        kl_solver_forget(solver);
        claim_solved(solver, problem, second);
        CLAIM(memcmp(first, second, (size_t)problem->dim * sizeof *first) == 0);
        CLAIM(kl_solver_set(solver, "warm_start", warm) == KL_OK);
        claim_solved(solver, problem, second);
        kl_solver_destroy(solver);
    }
    KlResiduals residuals;
    double zero[MOST_ROWS] = {0};
    kl_problem_residuals(problem, zero, &residuals);
    kl_problem_destroy(problem);
    return 0;
}
