// Where lambda is not unique: moves a solution x* towards the one of least |lambda| that moves the
// bodies the same way, on the faces of K that x* lies on (joints and sticking contacts: all
// directions; slipping: the ray; open: none). Iterated Tikhonov from 0 (Engl, Hanke, Neubauer
// 1996), one factorization,
//   x <- x + (T D + A)^-1 T D (x* - x),  A = eps W,  W the weights that turn |x| into |lambda|,
// converges to the least-norm point of the affine hull; the line from x* to it is followed as far
// as K allows. The result is the least-norm solution when that point lies in K; otherwise it is
// nearer to it than x*.
#ifndef KL_SOLVER_LEAST_NORM_H
#define KL_SOLVER_LEAST_NORM_H

#include "solver/scaled.h"

typedef struct KlLeastNorm {
    double *x, *image, *goal, *right, *step;  // (dim)
    KL_BUFFER(double) memory;
} KlLeastNorm;

KlStatus kl_least_norm_reserve(KlLeastNorm *ln, const KlScaled *s);
void kl_least_norm_release(KlLeastNorm *ln);
// x (dim) with velocity D x + v_f, a solution in K; ln->x receives the new one. False when there is
// nothing to gain or rounding stands against it; then x stays what it is.
bool kl_least_norm(KlLeastNorm *ln, KlScaled *s, const double *x, const double *velocity);

// Largest share of the way from x along d that stays in Coulomb's cone.
double kl_share_in_cone(double friction, const double x[3], const double d[3]);

// A of held rows (dim): eps W.
void kl_least_norm_shifts(const KlScaled *s, double *shift);

#endif
