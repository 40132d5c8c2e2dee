// The De Saxce operator Gamma (paper, Sec. "The Dual Problem"): the normal row of contact k gets
// mu_k |v_T,k|, every other row 0. It turns Coulomb's law into a cone complementarity of
// v_hat = v + Gamma(v).
#ifndef KL_DUAL_DESAXCE_H
#define KL_DUAL_DESAXCE_H

#include <math.h>

#include "dual/problem.h"

// mu |v_T| of one contact; v holds its rows (t, o, n).
static inline double kl_desaxce_normal(double friction, const double v[3]) {
    return friction * sqrt(v[0] * v[0] + v[1] * v[1]);
}

// v += Gamma(v) (dim).
static inline void kl_desaxce_augment(const KlProblem *p, double *v) {
    for (int32_t k = 0; k < p->contact_count; k++) {
        double *contact = v + kl_contact_row(p, k);
        contact[2] += kl_desaxce_normal(p->friction[k], contact);
    }
}

// correction = Gamma(v) (dim).
static inline void kl_desaxce(const KlProblem *p, const double *v, double *correction) {
    for (int32_t i = 0; i < p->dim; i++) {
        correction[i] = 0.0;
    }
    for (int32_t k = 0; k < p->contact_count; k++) {
        int32_t row = kl_contact_row(p, k);
        correction[row + 2] = kl_desaxce_normal(p->friction[k], v + row);
    }
}

#endif
