// The solvers that a command line names, made with its settings. Shared by run, solve, bench ...
#ifndef KINLOOP_SOLVER_CHOICE_H
#define KINLOOP_SOLVER_CHOICE_H

#include "kl.h"
#include "options.h"

#define CLI_OPTIONS_SOLVER                                                                                             \
    {"solver", 's', CLI_TEXT, "ID[,ID...]", "solvers to use; all takes every one", 0, 0, "solvers"},                   \
        {"preset",                                                                                                     \
         0,                                                                                                            \
         CLI_TEXT,                                                                                                     \
         "NAME",                                                                                                       \
         "high-precision (10^4 iterations, the solver's own tolerance) or high-throughput (10^3, 1e-6)",               \
         0,                                                                                                            \
         0,                                                                                                            \
         "high-precision|high-throughput"},                                                                            \
        {"tol", 0, CLI_REAL, "EPS", "tolerance of the stopping test", 0, 1, NULL},                                     \
        {"max-iter", 0, CLI_INT, "N", "iteration limit", 1, 10000000, NULL}, {                                         \
        "set", 0, CLI_TEXT, "[SOLVER.]PARAM=VALUE", "a solver's own parameter; may be repeated (kinloop list params)", \
            0, 0, "params"                                                                                             \
    }

#define CLI_OPTION_STRICT \
    { "strict", 0, CLI_FLAG, NULL, "exit 1 when a run fails, diverges or does not converge", 0, 0, NULL }

enum { MAX_CHOSEN = 64 };

typedef struct SolverChoice {
    int32_t kinds[MAX_CHOSEN];  // (count) indices of kl_solver_kind, each once
    int32_t count;
} SolverChoice;

// From --solver, else from `fallback` (comma-separated). KL_ERR_NOT_FOUND names the nearest id.
KlStatus solver_choice(const CliArgs *args, const char *fallback, SolverChoice *choice);
const char *solver_default(void);  // the solver when none is named

// What holds where the command line says nothing.
typedef struct SolverDefaults {
    const char *preset;
    int32_t max_iterations;  // 0 = the preset's
    double tolerance;        // 0 = the preset's
} SolverDefaults;

// A solver with preset, --tol, --max-iter and --set applied over the defaults. A --set that names another
// solver is left out; one that no chosen solver knows fails in solver_choice_check.
KlStatus solver_make(const CliArgs *args, int32_t kind, const SolverDefaults *defaults, KlSolver **solver);
// Applies the same to a solver that exists (a simulation's own).
KlStatus solver_apply(const CliArgs *args, const SolverDefaults *defaults, KlSolver *solver);
// Every --set must reach at least one chosen solver.
KlStatus solver_choice_check(const CliArgs *args, const SolverChoice *choice);

#endif
