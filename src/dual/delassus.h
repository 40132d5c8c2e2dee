// The Delassus matrix D = J M^-1 J^T + diag(R) as numbers, for solvers that factor or read it.
#ifndef KL_DUAL_DELASSUS_H
#define KL_DUAL_DELASSUS_H

#include "base/memory.h"
#include "dual/problem.h"

// Dense, row-major with `stride` >= dim doubles from row to row. Body form: exactly symmetric.
// Allocates nothing.
void kl_delassus_dense(const KlProblem *p, double *d, int32_t stride);

// Block-sparse: compressed rows over constraint blocks. Pair e = start[j] ... start[j + 1] - 1 of block
// row j couples it with block column[e] (ascending, the own block always among them); its numbers are
// value[offset[e]] on, rows_j x rows_k, row-major, R included. Body form: exactly symmetric.
typedef struct KlBlockMatrix {
    int32_t block_count;
    int32_t *start;   // (block_count + 1)
    int32_t *column;  // (pairs)
    int32_t *offset;  // (pairs)
    double *value;
    // Capacities and scratch.
    KlProblemSize capacity;
    int32_t pair_capacity, value_capacity;
    int32_t *cursor, *mark, *row_block, *body_start, *body_block;
    KlArena arena;
} KlBlockMatrix;

// Makes room for every problem up to `size`, `pairs` couplings and `values` numbers (0, 0: the worst case,
// where every constraint meets every other). Zero-initialise before the first call; earlier content is
// lost. KL_ERR_MEMORY, KL_ERR_LIMIT above 2^31 numbers.
KlStatus kl_block_matrix_reserve(KlBlockMatrix *m, const KlProblemSize *size, int64_t pairs, int64_t values);
void kl_block_matrix_free(KlBlockMatrix *m);

// Finds pattern and numbers of D. Allocates nothing; KL_ERR_LIMIT when the reserve does not suffice.
KlStatus kl_block_matrix_fill(KlBlockMatrix *m, const KlProblem *p);

// y = D x, and the rows of one block of it: y (rows of the block) = sum_k D_jk x_k.
void kl_block_matrix_multiply(const KlBlockMatrix *m, const KlProblem *p, const double *x, double *y);
void kl_block_matrix_row(const KlBlockMatrix *m, const KlProblem *p, int32_t block, const double *x, double *y);
// D_jj (loan until the next fill).
const double *kl_block_matrix_diagonal(const KlBlockMatrix *m, int32_t block);

#endif
