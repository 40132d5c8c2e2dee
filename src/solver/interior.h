// Primal-dual interior point method on the scaled problem, De Saxce term included: Newton's method
// on
//   v = D x + v_f,  s = v_hat(v),  x o s = tau 1   (o: Jordan product of the second-order cone)
// with Nesterov-Todd scaling and Mehrotra's predictor and corrector (for convex cones: Andersen,
// Roos, Terlaky 2003; for friction: Acary, Armand, Nguyen, Shpakovych 2022). In cone coordinates
//   contact   x = (mu x_n, x_t),  s = (v_n / mu + |v_t|, v_t)     both in the Lorentz cone
// so s_0 = v_n / mu + |s_t|: the De Saxce term needs no mu. The system of each iteration is T D + A
// with T = 1 and A = (1 - E) W^2, W the scaling and E = d|s_t|/ds.
#ifndef KL_SOLVER_INTERIOR_H
#define KL_SOLVER_INTERIOR_H

#include "solver/scaled.h"

typedef struct KlInterior {
    double *x, *s;             // (dim) cone coordinates; joints: x alone
    double *dx, *ds;           // (dim) step
    double *velocity;          // (dim) D x + v_f of the present x, scaled rows of the problem
    double *gap;               // (dim) residual of s = v_hat(v)
    double *right, *solution;  // (dim)
    double *aim;               // (dim) w of ds = w - B dx
    double *scaling;           // (contacts x 4) w_0, w_1, w_2, eta of each Nesterov-Todd point
    double tau, step;          // mean complementarity, last step length
    KL_BUFFER(double) memory;
} KlInterior;

KlStatus kl_interior_reserve(KlInterior *ip, const KlScaled *s);
void kl_interior_release(KlInterior *ip);
void kl_interior_start(KlInterior *ip, KlScaled *s);
// One iteration: one factorization, two solutions. False when it can go no further.
bool kl_interior_step(KlInterior *ip, KlScaled *s);
void kl_interior_reaction(const KlInterior *ip, const KlScaled *s,
                          double *x);  // scaled lambda, in K

#endif
