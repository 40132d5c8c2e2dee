// Sparse direct solution of A x = b for a matrix of small dense blocks with symmetric pattern:
// multifrontal LU (Duff and Reid, ACM TOMS 9, 1983) ordered by minimum degree on the block graph.
// Rows are exchanged only inside a front, so A must be (nearly) definite in its symmetric part or
// diagonally shifted, which the systems D + B of the solvers are. For a symmetric positive definite
// A, `symmetric` halves the work: Cholesky, blocks on and above the diagonal alone are read. The symbolic part is kept
// while the pattern stays the same. Memory only grows.
#ifndef KL_MATH_BLOCK_LU_H
#define KL_MATH_BLOCK_LU_H

#include "kl.h"

// Row-major dense blocks in compressed block rows. Pattern: symmetric, diagonal present, columns
// ascending.
typedef struct KlBlockMatrix {
    int32_t block_count;
    const int32_t *block_start;  // (block_count + 1) first row of each block
    const int32_t *row_start;    // (block_count + 1) into column
    const int32_t *column;       // (entries) block column
    const int32_t *transpose;    // (entries) index of the mirrored entry
    const size_t *offset;        // (entries) where the block begins in values
    double *values;
} KlBlockMatrix;

int32_t kl_block_matrix_find(const KlBlockMatrix *m, int32_t row, int32_t column);  // an entry that is there
// transpose (entries) of a pattern; `next` (block_count) is scratch.
void kl_block_matrix_mirror(const KlBlockMatrix *m, int32_t *next, int32_t *transpose);
void kl_sort_ascending(int32_t *list, int32_t count);  // by insertion: for rows, short and nearly sorted

typedef struct KlBlockLu KlBlockLu;

KlStatus kl_block_lu_create(KlBlockLu **lu);
void kl_block_lu_destroy(KlBlockLu *lu);

// Room for any matrix of this many rows, blocks and entries (block_count^2 covers all), as if it
// were dense.
KlStatus kl_block_lu_reserve(KlBlockLu *lu, int32_t rows, int32_t blocks, size_t entries);
// Orders and lays out for this pattern; cheap when it is the last one. KL_ERR_MEMORY.
// `dense` takes the whole matrix as one front, in the order given.
KlStatus kl_block_lu_plan(KlBlockLu *lu, const KlBlockMatrix *matrix, bool symmetric, bool dense);
KlStatus kl_block_lu_room(KlBlockLu *lu);  // for the numbers of the factor as planned. KL_ERR_MEMORY
// Both.
KlStatus kl_block_lu_analyze(KlBlockLu *lu, const KlBlockMatrix *matrix, bool symmetric, bool dense);
// False when a pivot vanishes, or is not positive when symmetric. No allocation.
bool kl_block_lu_factor(KlBlockLu *lu, const KlBlockMatrix *matrix);
// The same of A + diag(shift), shift (rows), with zeros for the rows and columns of blocks that left_out
// (block_count) marks. Either may be NULL.
bool kl_block_lu_factor_shifted(KlBlockLu *lu, const KlBlockMatrix *matrix, const double *shift,
                                const uint8_t *left_out);
// The same of a symmetric A whose blocks are asked for where they go, row after row `stride` apart; of a diagonal one
// what lies below the diagonal does not count.
typedef struct KlBlockSource {
    void (*give)(const void *from, int32_t row, int32_t column, size_t stride, double *to);
    const void *from;
} KlBlockSource;
bool kl_block_lu_factor_source(KlBlockLu *lu, const KlBlockSource *source, const double *shift,
                               const uint8_t *left_out);
void kl_block_lu_solve(KlBlockLu *lu, double *x);  // (rows) b in, x out

size_t kl_block_lu_nonzeros(const KlBlockLu *lu);     // entries of the factor, as planned
double kl_block_lu_least_pivot(const KlBlockLu *lu);  // magnitude, of the last factorization that ended well
// The same of S^-1 A S^-1, S = diag(size), size (rows), when symmetric.
double kl_block_lu_least_scaled_pivot(const KlBlockLu *lu, const double *size);
double kl_block_lu_flops(const KlBlockLu *lu);  // multiply-adds of one factorization

#endif
