// The slipping contact in polar coordinates (paper, appendix "A Semi-Analytical Approach"). A slipping
// reaction lies on the friction cone and on the plane of maximum compression v_n = 0; the two meet in a
// conic section, which the polar angle of lambda_T parametrises:
//
//   lambda_T = r e,  e = (cos phi, sin phi),  r = K / f,  K = -mu v_f,n > 0,  f = D_nn + mu g.e
//   lambda_n = -(v_f,n + g.lambda_T) / D_nn                                    g = D_nT
//   h(phi)   = lambda_T.A lambda_T / 2 + lambda_T.w                  to be minimised where f > 0
//
// A = D_TT - D_Tn g^T / D_nn and w = v_f,T - D_Tn (v_f,n + s) / D_nn are D and v_f + s seen in the plane.
// With t = D_nn e_perp + mu g_perp (the tangent: d lambda_T / d phi = K t / f^2)
//   dh/dphi = (K / f^3) F,   F = t . (K A e + f w),
// so F, a trigonometric polynomial of degree two, has the sign of the slope. It is the paper's
// c0 + c1 cos(phi + phi1) + c2 cos(2 phi + phi2).
#ifndef KL_SOLVER_LOCAL_CONIC_H
#define KL_SOLVER_LOCAL_CONIC_H

#include <math.h>

#include "solver/local/local.h"

typedef struct KlConic {
    double normal, coupling[2];  // D_nn, g = D_nT
    double answer[2];            // D_Tn, g again when D is symmetric
    double friction;             // mu
    double free_normal;          // v_f,n <= 0
    double k;                    // K
    double plane[4];             // A, row-major
    double drive[2];             // w
    double centre[2];            // lambda_T,0 = -A^-1 w: the minimum over the plane
    bool centred;                // A is definite, centre is valid
    double slope[6];             // F = k0 + k1 c + k2 s + k3 c^2 + k4 c s + k5 s^2
    const double *last;          // (t, o) the reaction to begin near, or NULL
} KlConic;

// A local minimum finder: the unit vector e of the slipping reaction. Called only when the minimum
// over the plane lies outside the cone and v_f,n < 0. False when no stationary point was found.
typedef bool (*KlConicSearch)(const KlConic *conic, double e[2]);

// k0 + k1 c + k2 s + k3 c^2 + k4 c s + k5 s^2 at e = (c, s), and its sign changes on the unit circle.
static inline double kl_circle_value(const double k[6], const double e[2]) {
    return k[0] + e[0] * (k[1] + k[3] * e[0] + k[4] * e[1]) + e[1] * (k[2] + k[5] * e[1]);
}
// Its derivative along the circle, and e turned back by a small step (the tangent's, to second order).
static inline double kl_circle_rate(const double k[6], const double e[2]) {
    double c = e[0], s = e[1];
    return -k[1] * s + k[2] * c + 2.0 * (k[5] - k[3]) * c * s + k[4] * (c * c - s * s);
}
static inline void kl_circle_turn(double step, double e[2]) {
    double x = e[0] + step * e[1], y = e[1] - step * e[0], size = sqrt(x * x + y * y);
    e[0] = x / size;
    e[1] = y / size;
}
enum { KL_CIRCLE_ROOTS = 4 };
int32_t kl_circle_roots(const double k[6], double e[KL_CIRCLE_ROOTS][2]);  // their number

double kl_conic_radial(const KlConic *conic, const double e[2]);                // f
static inline double kl_conic_slope(const KlConic *conic, const double e[2]) {  // F
    return kl_circle_value(conic->slope, e);
}
double kl_conic_objective(const KlConic *conic, const double e[2]);  // h, infinite where f <= 0

// Alg. "Nonlinear-Block Local Solver": open, frictionless, stick, touching or slip; `search` does the
// last. `minimum` tells that it seeks the minimum of h. A touching contact (v_f,n = 0) has its plane
// through the apex, where lambda = 0 always obeys Coulomb's law; the minimum may lie on the wedge of
// plane and cone. lambda is output only.
void kl_conic_solve(const KlLocalProblem *local, KlConicSearch search, bool minimum, double lambda[3]);

bool kl_conic_quartic(const KlConic *conic, double e[2]);    // all roots of F, the best of them
bool kl_conic_bisection(const KlConic *conic, double e[2]);  // RAISIM's search in the line of sight
bool kl_conic_coulomb(const KlConic *conic, double e[2]);    // not the minimum: v_T opposite to lambda_T
bool kl_conic_scan(const KlConic *conic, double e[2]);       // every sign change of F on a grid
// The sign change of F between two unit vectors less than half a turn apart, to the last bit.
void kl_conic_halve(const KlConic *conic, const double a[2], const double b[2], double e[2]);

#endif
