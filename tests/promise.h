// What a solver says of its solution, held against the independent judge (kkt_check.h).
#ifndef KL_TESTS_PROMISE_H
#define KL_TESTS_PROMISE_H

#include "kl.h"

// Solves with the solver as it is set. Asserts that the reactions are finite and in K whatever the
// outcome, and where it says converged, that the judge finds exactly what the stop test promises. `what`
// names the problem in messages. The arrays of the result are the solver's.
KlSolution solve_and_hold_to_promise(KlSolver *solver, const KlProblem *problem, const char *what);

// Whether the solver's tolerance bounds the paper's three residuals, r_nat_rel, or the plateau of the objective:
// what its own table says.
typedef enum Stop { STOP_RESIDUALS, STOP_RELATIVE, STOP_PLATEAU } Stop;
Stop stop_of(const KlSolverInfo *info);

#endif
