// The shifted systems (D + S) x = b of ADMM, S diagonal, by conjugate gradients in body space:
//   x = S^-1 (b - J u),   (M + J^T S^-1 J) u = J^T S^-1 b,
// which body_system.h factors. Here nothing is formed but each body's own 6 x 6 block, whose inverse is the
// preconditioner: memory and time of a step are those of J. The first guess of u is the last solution's.
// J is the scaled p J; S holds the shifts and the softening. Rows of contacts are a frame and two arms, 15 numbers in
// place of 36, where they have that form: large piles wait for J.
#ifndef KL_SOLVER_BODY_GRADIENTS_H
#define KL_SOLVER_BODY_GRADIENTS_H

#include "base/buffer.h"
#include "solver/solver.h"

struct KlScaled;

// J of a contact between bodies a and b: row k is (-f_k, -left x f_k) for a and (f_k, right x f_k) for b.
typedef struct KlLever {
    double tangents[6];  // the scaled frame: t_x, o_x, t_y, o_y, t_z, o_z
    double normal[3];
    double arms[6];  // from the centres of mass to the contact, 0 for the world: left_x, right_x, left_y, right_y ...
} KlLever;

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
    KL_BUFFER(KlLever) lever;  // (contacts)
    bool levers;               // all contacts have that form
} KlBodyGradients;

// Room for problems of this size. KL_ERR_MEMORY.
KlStatus kl_body_gradients_reserve(KlBodyGradients *g, int32_t dim, int32_t contacts, int32_t bodies);
// Takes in the rows; u becomes 0. KL_ERR_MEMORY.
KlStatus kl_body_gradients_begin(KlBodyGradients *g, const struct KlScaled *scaled);
void kl_body_gradients_release(KlBodyGradients *g);
// False when the own block of a body is singular to working precision.
bool kl_body_gradients_shift(KlBodyGradients *g, const struct KlScaled *scaled, double joint_shift, double shift);
// product = J M^-1 J^T x (dim)
void kl_body_gradients_multiply(KlBodyGradients *g, const struct KlScaled *scaled, const double *x, double *product);
// b in, x out, with an error of about `accuracy` (L2), or of rounding if that is more.
void kl_body_gradients_solve(KlBodyGradients *g, const struct KlScaled *scaled, double accuracy, double *x);

#endif
