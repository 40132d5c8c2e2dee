// The Delassus matrix D = J M^-1 J^T + diag(R) as numbers, for solvers that factor or read it.
#ifndef KL_DUAL_DELASSUS_H
#define KL_DUAL_DELASSUS_H

#include "dual/problem.h"

// Dense, row-major with `stride` >= dim doubles from row to row. Body form: exactly symmetric.
// Allocates nothing.
void kl_delassus_dense(const KlProblem *p, double *d, int32_t stride);

#endif
