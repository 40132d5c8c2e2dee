// Rank of the Jacobian's rows, blind to masses and units.
#ifndef KL_DUAL_RANK_H
#define KL_DUAL_RANK_H

#include "dual/problem.h"

// Gram matrix of the first `rows` rows (rows x rows): J J^T in body form; in explicit form, where J is
// not known, D itself without R and symmetrised. Both have the null space of J^T.
void kl_problem_gram(const KlProblem *p, int32_t rows, double *gram);

// Rank of the first `rows` rows of J: Cholesky with diagonal pivoting on the Gram matrix of the rows,
// each scaled to length one; pivots above rows * 2^-52 count. So a loop that closes to about 10^-8
// is still seen as redundant. Costs O(rows^3 / 3); KL_ERR_MEMORY.
KlStatus kl_problem_jacobian_rank(const KlProblem *p, int32_t rows, int32_t *rank);

#endif
