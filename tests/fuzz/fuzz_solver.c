// A registered solver on arbitrary problems that pass kl_problem_check: an outcome of the list and a finite
// reaction, whatever the numbers are. Solvers live on from input to input, so their memory has held problems of
// other sizes; a solver that forgets, and now and then a new one, gives the same bits. The last byte of an input
// chooses the form of the problem and the factorization.
#include "dual/problem.h"
#include "input.h"

enum { MOST_ROWS = 24, MOST_ITERATIONS = 40, FACTORIZATIONS = 5 };

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

// Masses need not belong to their inverses, nor inertias be definite.
static void fill_bodies(FuzzInput *in, KlProblem *p) {
    for (int32_t b = 0; b < p->body_count; b++) {
        p->mass[b] = fabs(fuzz_real(in));
        p->inverse_mass[b] = fuzz_below(in, 8) == 0 ? fabs(fuzz_real(in)) : 1.0 / p->mass[b];
        for (int32_t k = 0; k < 3; k++) {
            p->inertia[9 * b + 4 * k] = fabs(fuzz_real(in));
            p->inverse_inertia[9 * b + 4 * k] = 1.0 / p->inertia[9 * b + 4 * k];
        }
    }
    for (int32_t b = 0; b < p->block_count; b++) {
        for (int32_t side = 0; side < 2; side++) {
            int32_t body = fuzz_below(in, p->body_count + 1) - 1;
            p->block_body[2 * b + side] = body;
            for (int32_t row = p->block_start[b]; body >= 0 && row < p->block_start[b + 1]; row++) {
                for (int32_t k = 0; k < 6; k++) {
                    p->jacobian[12 * row + 6 * side + k] = fuzz_real(in);
                }
            }
        }
    }
}

static KlProblem *make_body_problem(FuzzInput *in) {
    int32_t joints = fuzz_below(in, 7), limits = fuzz_below(in, 4), contacts = fuzz_below(in, 5);
    KlProblemSize size = {joints, joints, limits, contacts, 1 + fuzz_below(in, 4), 0};
    KlProblem *p = NULL;
    if (joints + limits + contacts == 0 || kl_problem_create(&size, &p) != KL_OK) {
        return NULL;
    }
    p->dt = 1e-3;
    for (int32_t j = 0; j <= joints; j++) {
        p->block_start[j] = j;
    }
    for (int32_t b = 0; b < p->block_count; b++) {
        p->block_id[b] = (uint64_t)b + 1;
    }
    fill_bodies(in, p);
    for (int32_t i = 0; i < p->dim; i++) {
        p->free_velocity[i] = fuzz_real(in);
        p->softening[i] = fuzz_below(in, 4) == 0 ? fabs(fuzz_real(in)) : 0.0;
    }
    for (int32_t k = 0; k < contacts; k++) {
        p->friction[k] = fabs(fuzz_real(in));
    }
    return p;
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

static KlSolver *new_solver(int32_t kind) {
    KlSolver *solver;
    CLAIM(kl_solver_create(kl_solver_kind(kind)->id, &solver) == KL_OK);
    CLAIM(kl_solver_set(solver, "max_iterations", MOST_ITERATIONS) == KL_OK);
    return solver;
}

// No square of a scaled velocity or of a coefficient of friction overflows in the judge of residuals.
static bool judgeable(const KlProblem *problem, const double *lambda) {
    double scale[MOST_ROWS], velocity[MOST_ROWS];
    kl_problem_scale(problem, scale);
    kl_problem_velocity(problem, lambda, velocity);
    for (int32_t i = 0; i < problem->dim; i++) {
        double size = fabs(velocity[i]) + fabs(problem->free_velocity[i]) + fabs(lambda[i] / scale[i]);
        if (!(size < 1e140 && size * scale[i] < 1e140)) {
            return false;
        }
    }
    for (int32_t k = 0; k < problem->contact_count; k++) {
        if (problem->friction[k] > 1e140) {
            return false;
        }
    }
    return true;
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
    if (solution.outcome == KL_OUTCOME_CONVERGED && judgeable(problem, lambda)) {
        KlResiduals residuals;
        kl_problem_residuals(problem, lambda, &residuals);
        CLAIM(!isnan(residuals.natural_relative));
    }
}

static void claim_same(KlSolver *solver, const KlProblem *problem, const double *wanted) {
    double lambda[MOST_ROWS];
    claim_solved(solver, problem, lambda);
    CLAIM(memcmp(lambda, wanted, (size_t)problem->dim * sizeof *lambda) == 0);
}

// Sets the factorization where the solver knows it, else auto; tells whether the problem lacks what it needs.
static bool choose_factorization(KlSolver *solver, int32_t factorization, const KlProblem *problem) {
    static const char *const param = "factorization";
    if (kl_solver_set(solver, param, factorization) != KL_OK) {
        (void)kl_solver_set(solver, param, 0.0);
        return false;
    }
    return factorization == FACTORIZATIONS - 1 && problem->body_count == 0;  // the last is iterative
}

enum { MOST_KINDS = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static KlSolver *solvers[MOST_KINDS];  // reachable at exit, so no leak
    CLAIM(kl_solver_kind_count() <= MOST_KINDS);
    FuzzInput in = {data, size, 0};
    int32_t kind = fuzz_below(&in, kl_solver_kind_count()), mode = fuzz_below(&in, 16);
    int32_t choice = size > 0 ? data[size - 1] : 0;
    KlProblem *problem = choice / FACTORIZATIONS % 2 == 1 ? make_body_problem(&in) : make_problem(&in);
    if (problem == NULL || kl_problem_check(problem) != KL_OK) {
        kl_problem_destroy(problem);
        return 0;
    }
    if (solvers[kind] == NULL) {
        solvers[kind] = new_solver(kind);
    }
    KlSolver *solver = solvers[kind];
    double lambda[MOST_ROWS], warm[MOST_ROWS];
    kl_solver_forget(solver);
    CLAIM(kl_solver_set(solver, "warm_start", mode % 3) == KL_OK);
    if (choose_factorization(solver, choice % FACTORIZATIONS, problem)) {
        KlSolution none;
        CLAIM(kl_solver_solve(solver, problem, NULL, &none) == KL_ERR_ARGUMENT);
        kl_problem_destroy(problem);
        return 0;
    }
    claim_solved(solver, problem, lambda);
    if (mode >= 14) {
        KlSolver *fresh = new_solver(kind);
        CLAIM(kl_solver_set(fresh, "warm_start", mode % 3) == KL_OK);
        (void)choose_factorization(fresh, choice % FACTORIZATIONS, problem);
        claim_same(fresh, problem, lambda);
        kl_solver_destroy(fresh);
    } else if (mode >= 11) {
        kl_solver_forget(solver);
        claim_same(solver, problem, lambda);
    } else if (mode >= 8) {
        claim_solved(solver, problem, warm);
    }
    kl_problem_destroy(problem);
    return 0;
}
