// The exact local solvers by name, and Coulomb's law solved exactly for one contact.
//
// A De Saxce term s frozen in the objective does not suffice for the latter: with the multiplier gamma
// of the plane v_n = 0 a minimum has v_T = gamma g - beta lambda_T/|lambda_T| and
// s = gamma D_nn + beta mu, and s = mu |v_T| also holds at points with gamma != 0 whenever
// gamma (|g|^2 - D_nn^2/mu^2) = 2 beta f / mu. Coulomb's law asks for gamma = 0: on the conic,
//   v_T = (K A e + f w) / f = -beta e,  so  e_perp . (K A e + f w) = 0  and  e . (K A e + f w) <= 0,
// again a trigonometric polynomial of degree two (w without s).
#include <math.h>

#include "solver/local/conic.h"

bool kl_conic_coulomb(const KlConic *c, double e[2]) {
    double a = c->normal, gt = c->friction * c->coupling[0], go = c->friction * c->coupling[1];
    double wt = c->drive[0], wo = c->drive[1];
    double tc = c->k * c->plane[0] + gt * wt, ts = c->k * c->plane[1] + go * wt;
    double oc = c->k * c->plane[1] + gt * wo, os = c->k * c->plane[2] + go * wo;
    double parallel[6] = {0.0, a * wo, -a * wt, oc, os - tc, -ts}, roots[KL_CIRCLE_ROOTS][2], best = INFINITY;
    int32_t count = kl_circle_roots(parallel, roots);
    for (int32_t i = 0; i < count && i < KL_CIRCLE_ROOTS; i++) {
        double x = roots[i][0], y = roots[i][1];
        double along = x * (a * wt + tc * x + ts * y) + y * (a * wo + oc * x + os * y);
        double value = along <= 0.0 ? kl_conic_objective(c, roots[i]) : INFINITY;
        if (value < best) {
            best = value;
            e[0] = x;
            e[1] = y;
        }
    }
    return best < INFINITY;
}

void kl_local_quartic(const KlLocalProblem *local, double lambda[3]) {
    kl_conic_solve(local, kl_conic_quartic, true, lambda);
}

void kl_local_bisection(const KlLocalProblem *local, double lambda[3]) {
    kl_conic_solve(local, kl_conic_bisection, true, lambda);
}

void kl_local_coulomb(const KlLocalProblem *local, double lambda[3]) {
    KlLocalProblem uncorrected = *local;
    uncorrected.desaxce = 0.0;
    kl_conic_solve(&uncorrected, kl_conic_coulomb, false, lambda);
}
