// Preconditioned, over-relaxed ADMM with an adaptive penalty and Anderson acceleration on the
// scaled problem: the engine of admm-ncp-plus, and the fallback of newton-ncp.
//   x <- -(D + (eta + rho) 1)^-1 (v_f + Gamma(z) - eta x - rho y - z)
//   y <- P_K(x_r - z/rho),  x_r = omega x + (1 - omega) y;   z <- z - rho (x_r - y)
// On joint rows, where P_K is the identity and z is 0, rho is a tenth.
// Where extrapolation does not pay (the residual falls too little in a window), plain iterations
// take over for a while, each time longer. The state is one vector q = x_r - z/rho: y = P_K(q), z =
// rho (y - q).
#ifndef KL_SOLVER_ADMM_PLUS_H
#define KL_SOLVER_ADMM_PLUS_H

#include "solver/scaled.h"

enum { KL_ANDERSON_MEMORY = 8 };

typedef struct KlAdmmPlus {
    double *x, *y, *z, *q;                                // (dim)
    double *image;                                        // (dim) the plain iteration's q
    double *base;                                         // (dim) x_r
    double *work;                                         // (dim)
    double *differences;                                  // (memory x dim) of residuals image - q
    double *images;                                       // (memory x dim) of images
    double *last_image, *last_residual;                   // (dim)
    double gram[KL_ANDERSON_MEMORY][KL_ANDERSON_MEMORY];  // of the differences, lower triangle by their slots
    double pull[KL_ANDERSON_MEMORY];                      // products of the differences with the last residual
    double penalty, relaxation, proximal;
    double primal, dual;     // |x_r - y|, |eta dx + rho dy| of the last iteration, L2
    double residual;         // |image - q| of the last iteration
    double guard;            // smallest residual since the last restart
    double window_residual;  // fixed-point residual when the window of the stall detector began
    int32_t kept, next, iteration, since_change, restarts;
    int32_t window, rest,
        resting;        // iterations in the window; length of the next rest; left of this one
    int32_t forgotten;  // iterations to come that are not remembered
    bool accelerate, adapt, factored;
    bool split;  // y and z are those of q
    KL_BUFFER(double) memory;
} KlAdmmPlus;

KlStatus kl_admm_plus_reserve(KlAdmmPlus *a, const KlScaled *s);
void kl_admm_plus_release(KlAdmmPlus *a);
// From y = start (dim, scaled), z = v_hat of it. Sets defaults: omega 1.6, eta 1e-6, all on.
void kl_admm_plus_start(KlAdmmPlus *a, KlScaled *s, const double *start, double penalty);
// One iteration. False when the factorization fails.
bool kl_admm_plus_step(KlAdmmPlus *a, KlScaled *s);

#endif
