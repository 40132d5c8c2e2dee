// The judge. Every projection is found as the nearest of its candidate points (the point itself if it
// lies in the set, the apex, the foot on the boundary ray in the plane of the point), which needs none
// of the case formulas under test.
#include "kkt_check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static int rows_of(const KktProblem *p) { return p->joint_rows + p->limits + 3 * p->contacts; }

static long double worst(long double a, long double b) {
    if (isnan(a) || isnan(b)) {
        return NAN;
    }
    b = fabsl(b);
    return a > b ? a : b;
}

// Nearest point to x of the cone around the normal whose boundary direction is (radial, normal) =
// (sine, cosine) of its half angle, times any length.
static void nearest_in_cone(long double sine, long double cosine, const long double x[3], long double y[3]) {
    long double radius = hypotl(x[0], x[1]), height = x[2];
    int inside = height >= 0 && radius * cosine <= height * sine;
    if (inside) {
        for (int i = 0; i < 3; i++) {
            y[i] = x[i];
        }
        return;
    }
    long double length = radius * sine + height * cosine;  // foot on the boundary ray
    if (length <= 0) {
        y[0] = y[1] = y[2] = 0;
        return;
    }
    long double ex = radius > 0 ? x[0] / radius : 1, ey = radius > 0 ? x[1] / radius : 0;
    y[0] = length * sine * ex;
    y[1] = length * sine * ey;
    y[2] = length * cosine;
}

// K_mu has the half angle atan(mu), its dual the complement.
static void into_friction_cone(double mu, const long double x[3], long double y[3]) {
    long double norm = sqrtl(1 + (long double)mu * mu);
    nearest_in_cone(mu / norm, 1 / norm, x, y);
}
static void into_dual_cone(double mu, const long double x[3], long double y[3]) {
    long double norm = sqrtl(1 + (long double)mu * mu);
    nearest_in_cone(1 / norm, mu / norm, x, y);
}

static long double distance(void (*into)(double, const long double *, long double *), double mu,
                            const long double from[3], const long double point[3]) {
    long double y[3];
    into(mu, from, y);
    return worst(worst(worst(0, point[0] - y[0]), point[1] - y[1]), point[2] - y[2]);
}

void kkt_velocity(const KktProblem *p, const double *lambda, long double *velocity) {
    int n = rows_of(p);
    for (int i = 0; i < n; i++) {
        long double sum = p->free_velocity[i];
        for (int j = 0; j < n; j++) {
            sum += (long double)p->delassus[(size_t)i * (size_t)n + (size_t)j] * lambda[j];
        }
        velocity[i] = sum;
    }
}

static long double inverse_of_largest(const KktProblem *p, int first, int end) {
    size_t n = (size_t)rows_of(p);
    long double most = 0;
    for (int i = first; i < end; i++) {
        most = worst(most, p->delassus[(size_t)i * n + (size_t)i]);
    }
    return most > 0 ? 1 / most : 1;
}

static void fill_scale(const KktProblem *p, long double *scale) {
    for (int j = 0; j < (p->joint_count > 0 ? p->joint_count : 1); j++) {
        int first = p->joint_count > 0 ? p->joint_start[j] : 0;
        int end = p->joint_count > 0 ? p->joint_start[j + 1] : p->joint_rows;
        for (int i = first; i < end; i++) {
            scale[i] = inverse_of_largest(p, first, end);
        }
    }
    for (int l = 0; l < p->limits; l++) {
        int row = p->joint_rows + l;
        scale[row] = inverse_of_largest(p, row, row + 1);
    }
    for (int k = 0; k < p->contacts; k++) {
        int row = p->joint_rows + p->limits + 3 * k;
        scale[row] = scale[row + 1] = scale[row + 2] = inverse_of_largest(p, row, row + 3);
    }
}

static void judge_limit(double lambda, long double v, long double s, KktResiduals *r) {
    long double l = lambda;
    r->primal = worst(r->primal, fminl(l, 0));
    r->dual = worst(r->dual, fminl(v, 0));
    r->complementarity = worst(r->complementarity, l * v);
    r->natural = worst(r->natural, fminl(l, v));  // l - max(0, l - v)
    r->natural_relative = worst(r->natural_relative, fminl(l, s * v));
}

static void judge_contact(double mu, const double *lambda, const long double *v, int relaxed, long double s,
                          KktResiduals *r) {
    long double l[3], v_hat[3] = {v[0], v[1], v[2] + (relaxed ? 0 : mu * hypotl(v[0], v[1]))};
    long double moved[3], moved_scaled[3], work = 0;
    for (int i = 0; i < 3; i++) {
        l[i] = lambda[i];
        moved[i] = l[i] - v_hat[i];
        moved_scaled[i] = l[i] - s * v_hat[i];
        work += l[i] * v_hat[i];
    }
    r->primal = worst(r->primal, distance(into_friction_cone, mu, l, l));
    r->dual = worst(r->dual, distance(into_dual_cone, mu, v_hat, v_hat));
    r->complementarity = worst(r->complementarity, work);
    r->natural = worst(r->natural, distance(into_friction_cone, mu, moved, l));
    r->natural_relative = worst(r->natural_relative, distance(into_friction_cone, mu, moved_scaled, l));
}

void kkt_check(const KktProblem *p, const double *lambda, KktResiduals *residuals) {
    int n = rows_of(p);
    long double *v = calloc((size_t)n + 1, sizeof *v), *scale = calloc((size_t)n + 1, sizeof *scale);
    long double size = DBL_MIN;
    KktResiduals r = {0};
    if (v == NULL || scale == NULL) {
        abort();
    }
    kkt_velocity(p, lambda, v);
    fill_scale(p, scale);
    for (int i = 0; i < n; i++) {
        size = worst(worst(size, lambda[i]), scale[i] * p->free_velocity[i]);
        if (isnan(lambda[i])) {
            r = (KktResiduals){NAN, NAN, NAN, NAN, NAN};
        }
    }
    for (int i = 0; i < p->joint_rows; i++) {
        r.dual = worst(r.dual, v[i]);
        r.natural = worst(r.natural, v[i]);
        r.natural_relative = worst(r.natural_relative, scale[i] * v[i]);
    }
    for (int l = 0; l < p->limits; l++) {
        int row = p->joint_rows + l;
        judge_limit(lambda[row], v[row], scale[row], &r);
    }
    for (int k = 0; k < p->contacts; k++) {
        int row = p->joint_rows + p->limits + 3 * k;
        judge_contact(p->friction[k], lambda + row, v + row, p->relaxed, scale[row], &r);
    }
    r.natural_relative /= size;
    *residuals = r;
    free(v);
    free(scale);
}
