// MDP's search (Preclik; paper, eq. polar-angle-trigonometric-equation): every root of F, then the one
// of least objective. Instead of complex roots of the quartic in e^{i phi}, the half-angle quartic in
// t = tan((phi - phi_r) / 2) is taken, turned so that phi_r + pi is far from a root; its real roots are
// bracketed by those of its derivatives, degree by degree, so none can be missed. Sought are sign
// changes (a minimum is one), so touching double roots do not matter.
#include <math.h>

#include "solver/local/conic.h"

static double polynomial(const double *p, int32_t degree, double t) {
    double value = p[degree];
    for (int32_t k = degree - 1; k >= 0; k--) {
        value = value * t + p[k];
    }
    return value;
}

// The root in [low, high], whose ends differ in sign: Newton steps, halving when they leave the bracket.
static double bracketed_root(const double *p, const double *derivative, int32_t degree, double low, double high) {
    bool rises = polynomial(p, degree, low) < 0.0;
    double t = 0.5 * (low + high);
    for (int32_t i = 0; i < 100; i++) {
        double value = polynomial(p, degree, t);
        if (value == 0.0) {
            return t;
        }
        if ((value < 0.0) == rises) {
            low = t;
        } else {
            high = t;
        }
        double next = t - value / polynomial(derivative, degree - 1, t);
        if (!(next > low && next < high)) {
            next = 0.5 * (low + high);
        }
        if (next == t || next == low || next == high) {
            return next;
        }
        t = next;
    }
    return t;
}

// Ascending sign changes of p (leading coefficient not 0): each lies between two of its derivative.
static int32_t real_roots(const double *p, int32_t degree, double bound, double *roots) {
    if (degree <= 1) {
        roots[0] = -p[0] / p[1];
        return 1;
    }
    double derivative[4], turning[4];
    for (int32_t k = 0; k < degree; k++) {
        derivative[k] = (k + 1) * p[k + 1];
    }
    int32_t turns = real_roots(derivative, degree - 1, bound, turning), count = 0;
    double low = -bound;
    for (int32_t i = 0; i <= turns; i++) {
        double high = i < turns ? turning[i] : bound;
        if ((polynomial(p, degree, low) < 0.0) != (polynomial(p, degree, high) < 0.0)) {
            roots[count++] = bracketed_root(p, derivative, degree, low, high);
        }
        low = high;
    }
    return count;
}

// F in the frame turned by (c, s) = (cos phi_r, sin phi_r).
static void turn(const double k[6], double c, double s, double turned[6]) {
    turned[0] = k[0];
    turned[1] = k[1] * c + k[2] * s;
    turned[2] = k[2] * c - k[1] * s;
    turned[3] = k[3] * c * c + k[4] * c * s + k[5] * s * s;
    turned[4] = 2.0 * (k[5] - k[3]) * c * s + k[4] * (c * c - s * s);
    turned[5] = k[3] * s * s - k[4] * c * s + k[5] * c * c;
}

// (1 + t^2)^2 F with cos = (1 - t^2)/(1 + t^2), sin = 2 t/(1 + t^2), divided by the leading
// coefficient. False when that is 0, which means F = 0 everywhere.
static bool half_angle(const double k[6], double p[5]) {
    double leading = k[0] - k[1] + k[3];
    p[4] = 1.0;
    p[3] = 2.0 * (k[2] - k[4]) / leading;
    p[2] = (2.0 * (k[0] - k[3]) + 4.0 * k[5]) / leading;
    p[1] = 2.0 * (k[2] + k[4]) / leading;
    p[0] = (k[0] + k[1] + k[3]) / leading;
    return leading != 0.0;
}

// The direction opposite to the largest |F| of eight.
static void far_from_roots(const double k[6], double e[2]) {
    static const double half = 0.70710678118654752440;
    static const double rays[8][2] = {{1, 0},  {half, half},   {0, 1},  {-half, half},
                                      {-1, 0}, {-half, -half}, {0, -1}, {half, -half}};
    double largest = fabs(kl_circle_value(k, rays[0]));
    e[0] = -rays[0][0];
    e[1] = -rays[0][1];
    for (int32_t i = 1; i < 8; i++) {
        double value = fabs(kl_circle_value(k, rays[i]));
        if (value > largest) {
            largest = value;
            e[0] = -rays[i][0];
            e[1] = -rays[i][1];
        }
    }
}

// Two Newton steps on the circle remove the rounding of the half-angle form.
static void polish(const double k[6], double e[2]) {
    for (int32_t i = 0; i < 2; i++) {
        double step = kl_circle_value(k, e) / kl_circle_rate(k, e);
        if (!(fabs(step) < 1e-6)) {
            return;
        }
        kl_circle_turn(step, e);
    }
}

int32_t kl_circle_roots(const double k[6], double e[KL_CIRCLE_ROOTS][2]) {
    double frame[2], turned[6], p[5], roots[4], bound = 1.0;
    far_from_roots(k, frame);
    turn(k, frame[0], frame[1], turned);
    if (!half_angle(turned, p)) {
        return 0;
    }
    for (int32_t i = 0; i < 4; i++) {  // Cauchy's bound
        bound = 1.0 + fabs(p[i]) > bound ? 1.0 + fabs(p[i]) : bound;
    }
    int32_t count = isfinite(bound) ? real_roots(p, 4, bound, roots) : 0;
    for (int32_t i = 0; i < count; i++) {
        double t = roots[i], size = 1.0 + t * t, c = (1.0 - t * t) / size, s = 2.0 * t / size;
        e[i][0] = c * frame[0] - s * frame[1];
        e[i][1] = s * frame[0] + c * frame[1];
        polish(k, e[i]);
    }
    return count;
}

bool kl_conic_quartic(const KlConic *conic, double e[2]) {
    double roots[KL_CIRCLE_ROOTS][2], best = INFINITY;
    int32_t count = kl_circle_roots(conic->slope, roots);
    for (int32_t i = 0; i < count && i < KL_CIRCLE_ROOTS; i++) {
        double value = kl_conic_objective(conic, roots[i]);
        if (value < best) {
            best = value;
            e[0] = roots[i][0];
            e[1] = roots[i][1];
        }
    }
    return best < INFINITY;
}
