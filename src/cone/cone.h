// Euclidean projectors, one convex cone (or set) a file (paper, Sec. "Projectors & Local Solvers").
// All work in place and use only + - * / sqrt. Contact vectors are (t, o, n).
#ifndef KL_CONE_CONE_H
#define KL_CONE_CONE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "math/lanes.h"

// R^n: bilateral reactions. Its dual is {0}.
static inline void kl_project_free(double *x, int32_t count) {
    (void)x;
    (void)count;
}
void kl_project_zero(double *x, int32_t count);
// R_+^n, self-dual.
void kl_project_orthant(double *x, int32_t count);
// Disk of radius r >= 0 in R^2.
void kl_project_disk(double radius, double x[2]);

// Where a point lies with respect to K_mu: the three cases of the projection, which partition R^3.
typedef enum KlConeRegion {
    KL_CONE_INSIDE = 0,  // |x_t| <= mu x_n             P(x) = x      (stick)
    KL_CONE_SURFACE,     // otherwise                   P(x) on the surface (slip)
    KL_CONE_POLAR,       // mu |x_t| <= -x_n            P(x) = 0      (open)
} KlConeRegion;

// K_mu = {|x_t| <= mu x_n}, mu >= 0. K_0 is the normal half line.
KlConeRegion kl_coulomb_region(double friction, const double x[3]);
void kl_project_coulomb(double friction, double x[3]);
// K_mu* = {mu |x_t| <= x_n}; mu = 0 gives the half space x_n >= 0.
void kl_project_coulomb_dual(double friction, double x[3]);

// K_mu of `contacts` in a row; friction (contacts), x (3 contacts). From KL_MANY_CONTACTS on in pairs (below).
enum { KL_MANY_CONTACTS = 800 };  // measured
void kl_project_coulomb_all(const double *friction, double *x, int32_t contacts);

// An element of the generalised Jacobian of P_{K_mu} at x, 3x3 row-major, symmetric:
//   inside: 1,  polar: 0,  surface: derivative of (mu|x_t| + x_n)/(1 + mu^2) (mu x_t/|x_t|, 1).
// On the seams it is the element of the case that the region above names.
void kl_coulomb_jacobian(double friction, const double x[3], double jacobian[9]);

// Two contacts at once, x[0] to x[2] their t, o and n: the same bits without a branch. Of some thousand contacts no
// processor remembers where each one lay, and a wrong guess takes longer than both projections.

// x where `keep`, fresh where `change`, 0 elsewhere
static inline KlPair kl_cone_choose(KlMask keep, KlPair x, KlMask change, KlPair fresh) {
    return (KlPair)((keep & (KlMask)x) | (change & (KlMask)fresh));
}

static inline KlPair kl_cone_tangent(const KlPair x[3]) {
    KlPair square = x[0] * x[0] + x[1] * x[1];
    return (KlPair){sqrt(square[0]), sqrt(square[1])};
}

static inline void kl_project_coulomb_pair(KlPair friction, KlPair x[3]) {
    KlPair tangent = kl_cone_tangent(x), normal = (friction * tangent + x[2]) / (friction * friction + kl_both(1.0));
    KlPair s = friction * normal / tangent;  // not a number on the axis, where it is not chosen
    KlMask polar = friction * tangent <= -x[2], inside = ~polar & (tangent <= friction * x[2]);
    KlMask surface = ~(polar | inside);
    x[0] = kl_cone_choose(inside, x[0], surface, x[0] * s);
    x[1] = kl_cone_choose(inside, x[1], surface, x[1] * s);
    x[2] = kl_cone_choose(inside, x[2], surface, normal);
}

static inline void kl_project_coulomb_dual_pair(KlPair friction, KlPair x[3]) {
    KlPair tangent = kl_cone_tangent(x), along = (tangent + friction * x[2]) / (friction * friction + kl_both(1.0));
    KlPair s = along / tangent;
    KlMask inside = friction * tangent <= x[2], polar = ~inside & (tangent <= -friction * x[2]);
    KlMask surface = ~(polar | inside);
    x[0] = kl_cone_choose(inside, x[0], surface, x[0] * s);
    x[1] = kl_cone_choose(inside, x[1], surface, x[1] * s);
    x[2] = kl_cone_choose(inside, x[2], surface, friction * along);
}

#endif
