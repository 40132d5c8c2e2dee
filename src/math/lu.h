// Dense LU with row exchanges for small systems (up to some ten rows), in place.
#ifndef KL_MATH_LU_H
#define KL_MATH_LU_H

#include <stdint.h>

// a (n x n, row-major) becomes L (below the diagonal, unit) and U (inverse diagonal); exchange (n) tells which row
// came to each place. Returns the least pivot's magnitude; 0 when one vanishes or is not finite: the factor is of no
// use then.
double kl_lu_factor(double *a, int32_t n, int32_t *exchange);
void kl_lu_solve(const double *factor, int32_t n, const int32_t *exchange, double *x);  // (n) b in, x out

// U x = b and U^T x = b in place, for an upper triangle (n rows, `stride` apart) whose diagonal is inverted.
void kl_upper_solve(const double *factor, int32_t stride, int32_t n, double *x);
void kl_upper_solve_transposed(const double *factor, int32_t stride, int32_t n, double *x);

#endif
