// The exact local solvers by name, and Coulomb's law solved exactly for one contact.
//
// A De Saxce term s frozen in the objective does not suffice for the latter: with the multiplier gamma
// of the plane v_n = 0 a minimum has v_T = gamma g - beta lambda_T/|lambda_T| and
// s = gamma D_nn + beta mu, and s = mu |v_T| also holds at points with gamma != 0 whenever
// gamma (|g|^2 - D_nn^2/mu^2) = 2 beta f / mu. Coulomb's law asks for gamma = 0: on the conic,
//   v_T = (K A e + f w) / f = -beta e,  so  e_perp . (K A e + f w) = 0  and  e . (K A e + f w) <= 0,
// again a trigonometric polynomial of degree two (w without s), whether D is symmetric or not.
#include <math.h>
#include <stddef.h>

#include "solver/local/conic.h"

typedef struct Slide {
    double parallel[6];        // e_perp . (K A e + f w), as KlConic's slope
    double drive[2], side[4];  // e . (K A e + f w) = e . drive + e . side e
} Slide;

static Slide make_slide(const KlConic *c) {
    double a = c->normal, gt = c->friction * c->coupling[0], go = c->friction * c->coupling[1];
    double wt = c->drive[0], wo = c->drive[1];
    double tc = c->k * c->plane[0] + gt * wt, ts = c->k * c->plane[1] + go * wt;
    double oc = c->k * c->plane[2] + gt * wo, os = c->k * c->plane[3] + go * wo;
    return (Slide){{0.0, a * wo, -a * wt, oc, os - tc, -ts}, {a * wt, a * wo}, {tc, ts, oc, os}};
}

// Whether v_T opposes the reaction along e, as a root of `parallel` may fail to.
static bool opposes(const Slide *slide, const double e[2]) {
    const double *d = slide->drive, *m = slide->side;
    double x = e[0], y = e[1];
    return x * (d[0] + m[0] * x + m[1] * y) + y * (d[1] + m[2] * x + m[3] * y) <= 0.0;
}

// Newton's method on the circle from the last reaction, or from where the drive pushes. True when it ends at
// a slipping reaction.
static bool follow(const KlConic *c, const Slide *slide, double e[2]) {
    enum { STEPS = 8 };
    const double *k = slide->parallel, near = 1e-9;  // squared by the last step: below rounding
    bool pushed = c->last[0] == 0.0 && c->last[1] == 0.0;
    double x = pushed ? -c->drive[0] : c->last[0], y = pushed ? -c->drive[1] : c->last[1], step = 1.0;
    double size = sqrt(x * x + y * y);
    if (!(size > 0.0)) {
        return false;
    }
    e[0] = x / size;
    e[1] = y / size;
    for (int32_t i = 0; i < STEPS && fabs(step) > near; i++) {
        step = kl_circle_value(k, e) / kl_circle_rate(k, e);
        if (!(fabs(step) < 1.0)) {
            return false;
        }
        kl_circle_turn(step, e);
    }
    return fabs(step) <= near && kl_conic_radial(c, e) > 0.0 && opposes(slide, e);
}

bool kl_conic_coulomb(const KlConic *c, double e[2]) {
    Slide slide = make_slide(c);
    if (c->last != NULL && follow(c, &slide, e)) {
        return true;
    }
    double roots[KL_CIRCLE_ROOTS][2], best = INFINITY;
    int32_t count = kl_circle_roots(slide.parallel, roots);
    for (int32_t i = 0; i < count && i < KL_CIRCLE_ROOTS; i++) {
        double value = opposes(&slide, roots[i]) ? kl_conic_objective(c, roots[i]) : INFINITY;
        if (value < best) {
            best = value;
            e[0] = roots[i][0];
            e[1] = roots[i][1];
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
