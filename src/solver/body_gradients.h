// The shifted systems (D + S) x = b of ADMM, S diagonal, by conjugate gradients in body space:
//   x = S^-1 (b - J u),   (M + J^T S^-1 J) u = J^T S^-1 b,
// which body_system.h factors. Here nothing is formed but each body's own 6 x 6 block, whose inverse is the
// preconditioner: memory and time of a step are those of J. The first guess of u is the last solution's.
// J is the scaled p J; S holds the shifts and the softening.
#ifndef KL_SOLVER_BODY_GRADIENTS_H
#define KL_SOLVER_BODY_GRADIENTS_H

#include "base/buffer.h"
#include "solver/solver.h"

struct KlScaled;

typedef struct KlBodyGradients {
    double *weight;                            // (dim) S^-1
    double *right;                             // (dim)
    double *block;                             // (36 bodies) inverses of the own blocks
    double *twist;                             // (6 bodies + 6) u; the world is the last body and stays at 0
    double *residual, *turned, *step, *image;  // (6 bodies + 6)
    double most;                               // largest weight
    double longest;                            // step since the last shift
    double energy;                             // b . S^-1 b
    int32_t steps;                             // of the last solution
    KL_BUFFER(double) numbers;
} KlBodyGradients;

// Room for problems of this size; u becomes 0. KL_ERR_MEMORY.
KlStatus kl_body_gradients_reserve(KlBodyGradients *g, int32_t dim, int32_t bodies);
void kl_body_gradients_release(KlBodyGradients *g);
// False when the own block of a body is singular to working precision.
bool kl_body_gradients_shift(KlBodyGradients *g, const struct KlScaled *scaled, double joint_shift, double shift);
// b in, x out, with an error of about `accuracy` (L2), or of rounding if that is more.
void kl_body_gradients_solve(KlBodyGradients *g, const struct KlScaled *scaled, double accuracy, double *x);

#endif
