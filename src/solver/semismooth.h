// One regularised semismooth Newton step on the natural map F(x) = x - P_K(x - v_hat(x)) of the
// scaled problem (Alart and Curnier 1991; Qi and Sun 1993). With P' the generalised Jacobian of the
// projection and G = dv_hat/dv, F' dx = -F reads block by block
//   joint, stick   (D dx) + eta dx = -v
//   open           dx = -x
//   slip           in the frame of the cone: w along the ray of P(y), p across it, m normal to the
//   cone
//                    m: m.dx = -m.F      w: w.G (D + eta 1) dx = -w.F
//                    p: kappa p.(D + eta 1) dx + (1 - kappa) p.dx = -p.F,  kappa the eigenvalue of
//                    P' along p
// eta 1 is a proximal term: it makes rank-deficient D regular, vanishes at a solution and keeps
// steps small.
#ifndef KL_SOLVER_SEMISMOOTH_H
#define KL_SOLVER_SEMISMOOTH_H

#include "solver/scaled.h"

typedef enum KlContactState { KL_STATE_OPEN = 0, KL_STATE_STICK, KL_STATE_SLIP } KlContactState;

// Fills s->laws and right (dim) at x with velocity D x + v_f; state (limits + contacts) tells the
// branches.
void kl_semismooth_linearize(KlScaled *s, const double *x, const double *velocity, double eta, double *right,
                             uint8_t *state);
// What the natural map projects of one contact, x - scale v_hat, and its branch; `scale` takes v to the units of x.
void kl_semismooth_argument(double friction, double scale, const double x[3], const double v[3], double y[3]);
uint8_t kl_semismooth_state(double friction, double scale, const double x[3], const double v[3]);
// The branches alone; returns how many differ from those in `state`, which it updates.
int32_t kl_semismooth_states(const KlScaled *s, const double *x, const double *velocity, uint8_t *state);

#endif
