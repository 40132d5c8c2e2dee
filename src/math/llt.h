// Dense Cholesky A + shift 1 = L L^T, register-tiled by 4 x 4, for systems up to some thousand rows.
// Every entry of L sums its products in ascending order, whatever the vector width: native and
// WebAssembly give the same bits.
//
// L is kept in panels of four rows, column after column, so that both factor and solves stream:
// panel i starts at 8 i (i + 1) and holds 4 (i + 1) columns of 4 rows. The diagonal holds 1 / L_ii;
// rows past n are those of the identity.
#ifndef KL_MATH_LLT_H
#define KL_MATH_LLT_H

#include <stddef.h>
#include <stdint.h>

// Doubles that a factor of n rows needs (about n^2/2).
static inline size_t kl_llt_size(int32_t n) {
    size_t tiles = ((size_t)n + 3) / 4;
    return 8 * tiles * (tiles + 1);
}

// Reads the upper triangle of A (n x n, row-major, `stride` doubles from row to row), writes `factor`
// (kl_llt_size(n)). Returns -1, or the index of the first pivot that is not > 0 (or not finite): A +
// shift 1 is not positive definite to working precision, and `factor` is of no use.
int32_t kl_llt_factor(const double *a, int32_t n, int32_t stride, double shift, double *factor);
// The same with a shift per row (n).
int32_t kl_llt_factor_shifted(const double *a, int32_t n, int32_t stride, const double *shift, double *factor);

// The smallest pivot, a bound from above on the smallest eigenvalue of A + shift.
double kl_llt_least_pivot(const double *factor, int32_t n);
// The same of S^-1 (A + shift) S^-1, S = diag(size), size (n).
double kl_llt_least_scaled_pivot(const double *factor, int32_t n, const double *size);

// x = (L L^T)^-1 x, and its two halves x = L^-1 x and x = L^-T x, in place. `x` needs room for n
// rounded up to a multiple of four; the entries past n come back as 0.
void kl_llt_solve(const double *factor, int32_t n, double *x);
void kl_llt_solve_lower(const double *factor, int32_t n, double *x);
void kl_llt_solve_upper(const double *factor, int32_t n, double *x);
static inline int32_t kl_llt_padded(int32_t n) { return (n + 3) / 4 * 4; }

#endif
