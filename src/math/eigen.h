// Eigenvalues of dense symmetric matrices: Householder reduction to tridiagonal form, then QL with
// implicit shifts (Golub and Van Loan, ch. 8). Fixed order of every sum, no libm but sqrt. And the rank
// of a semidefinite matrix by diagonally pivoted Cholesky (Higham, Accuracy and Stability, ch. 10).
#ifndef KL_MATH_EIGEN_H
#define KL_MATH_EIGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// `a` (n x n, row-major, symmetric, full) is destroyed. values (n) come ascending. With `vectors`
// (n x n) row i is the unit eigenvector of values[i]; NULL leaves them out. `work` holds 2 n doubles.
// False when QL has not converged in 60 turns for one value (entries that are not finite).
bool kl_eigen_symmetric(double *a, int32_t n, double *values, double *vectors, double *work);

// Rank of a positive semidefinite `a` (n x n, row-major, full; destroyed): pivots above
// tolerance * (largest diagonal entry). `work` holds n doubles. A tolerance of n * 2^-52 is the usual one.
int32_t kl_rank_semidefinite(double *a, int32_t n, double tolerance, double *work);

#endif
