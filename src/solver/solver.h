// What a solver's file sees. A method is a table of functions; the framework (solver.c) owns memory,
// parameters, warm starts, the loop, the stop test, the trace and the outcome. `iterate` does ONE
// iteration of the method's algorithm box, so that a solver's file reads like the box
// (paper, Alg. "Generic First-Order Dual Solver").
//
// A new solver is one file that defines `const KlMethod kl_method_NAME` and one line in solver_list.h;
// docs/adding-a-solver.md walks through one.
#ifndef KL_SOLVER_SOLVER_H
#define KL_SOLVER_SOLVER_H

#include "base/memory.h"
#include "base/status.h"
#include "dual/problem.h"
#include "kl.h"

// The rows that open every solver's parameter table, and their places.
enum { KL_PARAM_MAX_ITERATIONS = 0, KL_PARAM_TOLERANCE, KL_PARAM_WARM_START, KL_COMMON_PARAM_COUNT };

#define KL_COMMON_PARAMS       \
    KL_COMMON_PARAMS_OF(1e-12, \
                        "The solve ends when each stopping residual is below this (epsilon). 0 never stops early.")

// The same for a method that stops on something else: its own tolerance, and what that bounds.
#define KL_COMMON_PARAMS_OF(tolerance, tolerance_text)                                                    \
    {"max_iterations",                                                                                    \
     "Iteration limit",                                                                                   \
     "",                                                                                                  \
     "Iterations after which the solve ends with the outcome max-iterations (N_max).",                    \
     KL_PARAM_INT,                                                                                        \
     10000.0,                                                                                             \
     1.0,                                                                                                 \
     1e7,                                                                                                 \
     true,                                                                                                \
     NULL},                                                                                               \
        {"tolerance", "Tolerance", "", tolerance_text, KL_PARAM_REAL, tolerance, 0.0, 1.0, true, NULL}, { \
        "warm_start", "Warm start", "",                                                                   \
            "First guess: zero, the last solution of the same constraints, or that scaled by the best "   \
            "multiple for the new problem.",                                                              \
            KL_PARAM_CHOICE, KL_WARM_NONE, 0.0, 2.0, false, "none|previous|rescaled"                      \
    }

#define KL_PARAM_TABLE(table) .params = (table), .param_count = (int32_t)(sizeof(table) / sizeof((table)[0]))

// The largest problem that a workspace must hold.
typedef struct KlCapacity {
    KlProblemSize size;
    int32_t dim, block_count;
    size_t joint_squares;  // sum over joint blocks of rows^2
} KlCapacity;

// One solve as the method sees it.
typedef struct KlRun {
    const KlProblem *problem;              // unchanged from begin to finish
    const double *param;                   // the method's table, values frozen at begin
    void *state;                           // the method's own, state_size bytes
    double *lambda;                        // (dim) begin: the first guess, in K; iterate: the new iterate
    double *velocity;                      // (dim) room for v+ of the iterate
    bool velocity_known;                   // set by a method that has filled it, else it is found at the end
    double primal, dual, complementarity;  // stopping residuals of the iterate, set by iterate
    double penalty;                        // rho or omega of this iteration, set by iterate
    int32_t iteration;                     // 1, 2, ... during iterate; 0 during begin
    int32_t factorizations;                // counted up by the method
    bool broken;                           // set by the method when it cannot go on (a factorization fails)
    bool silent;                           // a method's own run, whose residuals nobody reads
} KlRun;

// The stopping residuals, v+ of the iterate (dim) given.
static inline void kl_run_residuals(KlRun *run, const double *velocity, bool de_saxce) {
    if (run->silent) {
        return;
    }
    KlLoopResiduals r = kl_problem_loop_residuals(run->problem, run->lambda, velocity, de_saxce);
    run->primal = r.primal;
    run->dual = r.dual;
    run->complementarity = r.complementarity;
}

typedef struct KlMethod {
    KlSolverInfo info;
    size_t state_size;
    // Lays the arrays of `state` out in the arena for problems up to `capacity`; the arena remembers
    // a failure. Called anew, on zeroed state, when the capacity grows or one of the method's own
    // choices or switches changes (numbers must not change the layout).
    void (*reserve)(void *state, const KlCapacity *capacity, const double *param, KlArena *arena);
    KlStatus (*begin)(KlRun *run);  // sets up D, factors; no allocation
    // Frees what `state` owns outside the arena (growing factors); called before the state is zeroed or
    // dies. NULL when there is nothing.
    void (*release)(void *state);
    void (*iterate)(KlRun *run);          // one iteration
    bool (*converged)(const KlRun *run);  // NULL: the three residuals below the tolerance
} KlMethod;

// Room for a dense (dim x dim) matrix. Above KL_DENSE_DIM_MAX rows (2 GiB) the arena is marked as
// failed instead, so that reserving or solving returns KL_ERR_MEMORY.
enum { KL_DENSE_DIM_MAX = 16384 };
double *kl_dense_alloc(KlArena *arena, int32_t dim);

// The paper's stop test: r_p, r_d, r_cp each below the tolerance.
bool kl_converged_residuals(const KlRun *run);

// kl_solver_solve without reading the clock, which takes as long as a small solve's products: `time` is 0.
KlStatus kl_solver_run(KlSolver *solver, const KlProblem *problem, KlTrace *trace, KlSolution *solution);

// What a checkpoint of a running simulation must carry: the warm-start memory. The size is that of the
// reserved capacity; a state loads into a solver of the same kind and capacity.
size_t kl_solver_state_size(const KlSolver *solver);
void kl_solver_save(const KlSolver *solver, void *state);
void kl_solver_load(KlSolver *solver, const void *state);

static inline double kl_param(const KlRun *run, int32_t index) { return run->param[index]; }
static inline int32_t kl_param_int(const KlRun *run, int32_t index) { return (int32_t)run->param[index]; }

#endif
