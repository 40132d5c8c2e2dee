// The independent judge (kkt_check.h) applied to a KlProblem.
#ifndef KL_TESTS_JUDGE_H
#define KL_TESTS_JUDGE_H

#include "kkt_check.h"
#include "kl.h"

// The judge's view of a problem, with D from `delassus` (dim x dim), which is filled.
KktProblem judge_view(const KlProblem *problem, double *delassus);
// All residuals of lambda by the judge; D is formed densely.
KktResiduals judge(const KlProblem *problem, const double *lambda);
// Solves with default parameters but this tolerance (and setting "name=value", NULL: none), asserts
// the outcome converged and the judge's r_nat_rel <= tolerance; lambda (dim) may be NULL. Returns
// iterations.
int32_t judge_solver(const char *solver, const KlProblem *problem, double tolerance, const char *what, double *lambda);

#endif
