// Constraint softening after MuJoCo (paper, Sec. "Constraint Softening", with corrections): each row
// becomes a damped spring of its own.
//
//   (D + R) lambda + v_f + v_r,   R_jj = c D_jj,   v_r = dt (b v- + k r) - v-
//   c = (1 - d)/d,  b = 2/(d_w T),  k = d/(d_w T beta)^2,  d = impedance(r)
#ifndef KL_SIM_SOFTEN_H
#define KL_SIM_SOFTEN_H

#include "kl.h"

typedef struct KlSoftRow {
    double compliance;  // c, relative to D_jj
    double damping;     // b [1/s]
    double stiffness;   // k [1/s^2]
} KlSoftRow;

KlSoftRow kl_soften_row(const KlSoftening *s, double residual);
double kl_soften_bias(const KlSoftRow *row, double velocity, double residual, double dt);  // v_r

#endif
