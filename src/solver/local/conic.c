// The exact single-contact problem: decisions of Alg. "Nonlinear-Block Local Solver" (with the
// corrections: v_f,n <= 0 closes, the stick test uses the point without s), and conic geometry.
#include "solver/local/conic.h"

#include <math.h>

double kl_conic_radial(const KlConic *c, const double e[2]) {
    return c->normal + c->friction * (c->coupling[0] * e[0] + c->coupling[1] * e[1]);
}

static double plane_objective(const KlConic *c, const double x[2]) {
    double ax = c->plane[0] * x[0] + c->plane[1] * x[1];
    double ay = c->plane[2] * x[0] + c->plane[3] * x[1];
    return x[0] * (0.5 * ax + c->drive[0]) + x[1] * (0.5 * ay + c->drive[1]);
}

double kl_conic_objective(const KlConic *c, const double e[2]) {
    double f = kl_conic_radial(c, e);
    if (!(f > 0.0)) {
        return INFINITY;
    }
    double r = c->k / f;
    return plane_objective(c, (const double[2]){r * e[0], r * e[1]});
}

// The point of the plane v_n = 0 above lambda_T.
static void lift(const KlConic *c, const double tangent[2], double lambda[3]) {
    lambda[0] = tangent[0];
    lambda[1] = tangent[1];
    double coupled = c->coupling[0] * tangent[0] + c->coupling[1] * tangent[1];
    lambda[2] = -(c->free_normal + coupled) / c->normal;
}

static bool inside_cone(double friction, const double x[3]) {
    return sqrt(x[0] * x[0] + x[1] * x[1]) <= friction * x[2];
}

// Drive w and the minimum over the plane for a De Saxce term s.
static void set_drive(const KlLocalProblem *local, double s, KlConic *c) {
    double ratio = (c->free_normal + s) / c->normal;
    c->drive[0] = local->free_velocity[0] - c->answer[0] * ratio;
    c->drive[1] = local->free_velocity[1] - c->answer[1] * ratio;
    double det = c->plane[0] * c->plane[3] - c->plane[1] * c->plane[2];
    c->centred = det > 0.0;
    double inverse = c->centred ? 1.0 / det : 0.0;
    c->centre[0] = -inverse * (c->plane[3] * c->drive[0] - c->plane[1] * c->drive[1]);
    c->centre[1] = -inverse * (c->plane[0] * c->drive[1] - c->plane[2] * c->drive[0]);
}

static void set_plane(const KlLocalProblem *local, KlConic *c) {
    const double *d = local->delassus;
    bool lopsided = local->lopsided;
    c->normal = d[8];
    c->coupling[0] = lopsided ? d[6] : d[2];
    c->coupling[1] = lopsided ? d[7] : d[5];
    c->answer[0] = d[2];
    c->answer[1] = d[5];
    c->friction = local->friction;
    c->free_normal = local->free_velocity[2];
    c->k = -c->friction * c->free_normal;
    c->plane[0] = d[0] - d[2] * c->coupling[0] / d[8];
    c->plane[1] = d[1] - d[2] * c->coupling[1] / d[8];
    c->plane[2] = lopsided ? d[3] - d[5] * d[6] / d[8] : c->plane[1];
    c->plane[3] = d[4] - d[5] * c->coupling[1] / d[8];
}

// F = (a e_perp + mu g_perp) . (K A e + f w), a = D_nn, expanded in c = cos phi and s = sin phi.
static void set_slope(KlConic *c) {
    double a = c->normal, gt = c->friction * c->coupling[0], go = c->friction * c->coupling[1];
    double wt = c->drive[0], wo = c->drive[1];
    double tc = c->k * c->plane[0] + gt * wt, ts = c->k * c->plane[1] + go * wt;
    double oc = c->k * c->plane[2] + gt * wo, os = c->k * c->plane[3] + go * wo;
    c->slope[0] = a * (gt * wo - go * wt);
    c->slope[1] = gt * oc - go * tc + a * a * wo;
    c->slope[2] = gt * os - go * ts - a * a * wt;
    c->slope[3] = a * oc;
    c->slope[4] = a * (os - tc);
    c->slope[5] = -a * ts;
}

// Touching, v_f,n = 0: the plane passes through the apex and cuts the cone in nothing else (ellipse) or in the
// wedge f <= 0 between two rays (hyperbola; one ray for a parabola). The minimum lies outside the
// wedge, so it is 0 or on one of its rays.
static void degenerate(const KlConic *c, double tangent[2]) {
    double size = sqrt(c->coupling[0] * c->coupling[0] + c->coupling[1] * c->coupling[1]);
    tangent[0] = tangent[1] = 0.0;
    double reach = c->friction * size;
    if (c->normal > reach) {
        return;
    }
    double cosine = -c->normal / reach, sine = sqrt((1.0 - cosine) * (1.0 + cosine));
    double gx = c->coupling[0] / size, gy = c->coupling[1] / size, best = 0.0;
    for (int32_t side = -1; side <= 1; side += 2) {
        double e[2] = {gx * cosine - side * gy * sine, gy * cosine + side * gx * sine};
        double curvature = c->plane[0] * e[0] * e[0] + 2.0 * c->plane[1] * e[0] * e[1] + c->plane[3] * e[1] * e[1];
        double along = c->drive[0] * e[0] + c->drive[1] * e[1];
        double r = along < 0.0 && curvature > 0.0 ? -along / curvature : 0.0;
        double value = 0.5 * r * along;
        if (value < best) {
            best = value;
            tangent[0] = r * e[0];
            tangent[1] = r * e[1];
        }
    }
}

// Far out on a parabola or hyperbola r = K / f loses digits, because the direction nears the asymptote
// f = 0. Newton's method on the same two conditions in lambda_T keeps them:
//   E_1 = |x|^2 - mu^2 n^2 = 0 (cone),  E_2 = q x p = 0 (stationary),
//   n = -(v_f,n + g.x)/D_nn,  q = grad E_1 / 2,  p = A x + w.
static void refine(const KlConic *c, double x[2]) {
    enum { STEPS = 3 };
    double gt = c->coupling[0] / c->normal, go = c->coupling[1] / c->normal, mu2 = c->friction * c->friction;
    double htt = 1.0 - mu2 * gt * gt, hto = -mu2 * gt * go, hoo = 1.0 - mu2 * go * go;  // dq/dx
    for (int32_t i = 0; i < STEPS; i++) {
        double n = -c->free_normal / c->normal - gt * x[0] - go * x[1];
        double q[2] = {x[0] + mu2 * n * gt, x[1] + mu2 * n * go};
        double p[2] = {c->plane[0] * x[0] + c->plane[1] * x[1] + c->drive[0],
                       c->plane[2] * x[0] + c->plane[3] * x[1] + c->drive[1]};
        double size = sqrt(x[0] * x[0] + x[1] * x[1]), height = c->friction * n;
        double e1 = 0.5 * (size - height) * (size + height), e2 = q[0] * p[1] - q[1] * p[0];
        double jt = htt * p[1] + q[0] * c->plane[2] - hto * p[0] - q[1] * c->plane[0];
        double jo = hto * p[1] + q[0] * c->plane[3] - hoo * p[0] - q[1] * c->plane[1];
        double det = q[0] * jo - q[1] * jt;
        double st = -(e1 * jo - q[1] * e2) / det, so = -(q[0] * e2 - jt * e1) / det;
        if (!(fabs(st) + fabs(so) <= 1e-4 * size)) {  // not near: leave the point as it is
            return;
        }
        x[0] += st;
        x[1] += so;
    }
}

// Minimum on the conic. Without a stationary point (rounding at the extremes) the ray towards the
// minimum over the plane still gives a reaction that keeps v_n = 0 and the cone.
static void slip(KlConic *c, KlConicSearch search, bool minimum, double tangent[2]) {
    set_slope(c);
    double e[2];
    if (!search(c, e) && !kl_conic_scan(c, e)) {
        double size = sqrt(c->centre[0] * c->centre[0] + c->centre[1] * c->centre[1]);
        bool usable =
            size > 0.0 && kl_conic_radial(c, (const double[2]){c->centre[0] / size, c->centre[1] / size}) > 0.0;
        e[0] = usable ? c->centre[0] / size : 1.0;
        e[1] = usable ? c->centre[1] / size : 0.0;
    }
    double f = kl_conic_radial(c, e), r = f > 0.0 ? c->k / f : 0.0;
    tangent[0] = r * e[0];
    tangent[1] = r * e[1];
    if (minimum) {
        refine(c, tangent);
    }
}

static void solve_scaled(const KlLocalProblem *local, KlConicSearch search, bool minimum, double lambda[3]) {
    KlConic c = {.last = local->last};
    set_plane(local, &c);
    lambda[0] = lambda[1] = lambda[2] = 0.0;
    if (c.free_normal > 0.0) {
        return;  // opens
    }
    if (c.friction == 0.0) {
        lambda[2] = -c.free_normal / c.normal;
        return;
    }
    set_drive(local, 0.0, &c);
    lift(&c, c.centre, lambda);
    if (c.centred && inside_cone(c.friction, lambda)) {
        return;  // sticks
    }
    if (local->desaxce > 0.0) {
        set_drive(local, local->desaxce, &c);
        lift(&c, c.centre, lambda);
        if (c.centred && inside_cone(c.friction, lambda)) {
            return;  // minimum of the corrected objective inside the cone
        }
    }
    double tangent[2] = {0.0, 0.0};
    if (c.free_normal < 0.0) {
        slip(&c, search, minimum, tangent);
    } else if (minimum) {
        degenerate(&c, tangent);
    }
    lift(&c, tangent, lambda);
}

static double max_abs3(const double x[3]) {
    double m = fabs(x[0]) > fabs(x[1]) ? fabs(x[0]) : fabs(x[1]);
    return m > fabs(x[2]) ? m : fabs(x[2]);
}

// Scales D and v_f to order one first, so that no unit makes a product over- or underflow.
void kl_conic_solve(const KlLocalProblem *local, KlConicSearch search, bool minimum, double lambda[3]) {
    const double *d = local->delassus;
    double size = max_abs3((const double[3]){d[0], d[4], d[8]}), speed = max_abs3(local->free_velocity);
    lambda[0] = lambda[1] = lambda[2] = 0.0;
    if (speed == 0.0) {
        return;
    }
    KlLocalProblem scaled = *local;
    for (int32_t i = 0; i < 9; i++) {
        scaled.delassus[i] = d[i] / size;
    }
    for (int32_t i = 0; i < 3; i++) {
        scaled.free_velocity[i] = local->free_velocity[i] / speed;
    }
    scaled.desaxce = local->desaxce / speed;
    solve_scaled(&scaled, search, minimum, lambda);
    for (int32_t i = 0; i < 3; i++) {
        lambda[i] *= speed / size;
    }
}

// ---- scan: Alg. "Feasible Region Bisection-Search" ---------------------------------------------

// Halves the arc between a (slope < 0 side) and b, less than half a turn apart, until it cannot shrink.
void kl_conic_halve(const KlConic *c, const double a[2], const double b[2], double e[2]) {
    double low[2] = {a[0], a[1]}, high[2] = {b[0], b[1]};
    double at_low = kl_conic_slope(c, low);
    e[0] = high[0];
    e[1] = high[1];
    for (int32_t i = 0; i < 64; i++) {
        double middle[2] = {low[0] + high[0], low[1] + high[1]};
        double size = sqrt(middle[0] * middle[0] + middle[1] * middle[1]);
        middle[0] /= size;
        middle[1] /= size;
        double at_middle = kl_conic_slope(c, middle);
        bool crosses = (at_low < 0.0) != (at_middle < 0.0);
        double *end = crosses ? high : low;
        if (end[0] == middle[0] && end[1] == middle[1]) {
            break;
        }
        end[0] = e[0] = middle[0];
        end[1] = e[1] = middle[1];
    }
}

bool kl_conic_scan(const KlConic *c, double e[2]) {
    enum { RAYS = 64 };
    double best = INFINITY, turn[2] = {0.99518472667219688624, 0.09801714032956060199};  // 2 pi / 64
    double before[2] = {1.0, 0.0};
    for (int32_t i = 0; i < RAYS; i++) {
        double after[2] = {before[0] * turn[0] - before[1] * turn[1], before[0] * turn[1] + before[1] * turn[0]};
        if (kl_conic_slope(c, before) < 0.0 && kl_conic_slope(c, after) >= 0.0) {
            double candidate[2];
            kl_conic_halve(c, before, after, candidate);
            double value = kl_conic_objective(c, candidate);
            if (value < best) {
                best = value;
                e[0] = candidate[0];
                e[1] = candidate[1];
            }
        }
        before[0] = after[0];
        before[1] = after[1];
    }
    return best < INFINITY;
}
