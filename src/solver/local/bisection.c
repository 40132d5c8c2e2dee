// RAISIM's search (paper, Alg. "Bisection-Based Optimal Polar-Angle Search"). From the ray towards the
// minimum over the plane it steps downhill along the conic, doubling the step, until the slope changes
// sign or the line of sight ends; the arc of the last step is then halved. On unit vectors halving needs
// no trigonometric function.
//
// The line of sight from lambda_0 ends where the tangent t passes through lambda_0; with the polar line
// of the conic that is exactly cos(phi - phi_E) = (K - mu g.lambda_0) / (D_nn |lambda_0|), the corrected
// acos(r_E / |lambda_0|) when g = 0. A stationary point in sight is the minimum and there is one only:
// at it, grad h = A (lambda - lambda_0) is normal to the conic and points away from lambda_0.
#include <math.h>

#include "math/trig.h"
#include "solver/local/conic.h"

static const double FIRST_STEP = 0.1;  // [rad] beta_1
static const double GROWTH = 2.0;      // beta_2

static void rotate(const double e[2], double angle, double turned[2]) {
    double sine, cosine;
    kl_sincos(angle, &sine, &cosine);
    turned[0] = e[0] * cosine - e[1] * sine;
    turned[1] = e[0] * sine + e[1] * cosine;
}

// Angle from phi_E at which the line of sight or the feasible range f > 0 ends, on the side `way`.
static double sight(const KlConic *c, const double start[2], double radius, double way) {
    double towards = c->coupling[0] * c->centre[0] + c->coupling[1] * c->centre[1];
    double angle = kl_acos((c->k - c->friction * towards) / (c->normal * radius));
    double size = sqrt(c->coupling[0] * c->coupling[0] + c->coupling[1] * c->coupling[1]);
    double reach = c->friction * size;
    if (reach <= c->normal) {
        return angle;
    }
    // feasible: |phi - phi_0| < acos(-D_nn / reach); phi_E lies at `offset` from phi_0
    double cross = c->coupling[0] * start[1] - c->coupling[1] * start[0];
    double along = c->coupling[0] * start[0] + c->coupling[1] * start[1];
    double room = kl_acos(-c->normal / reach) - way * kl_atan2(cross, along);
    return room < angle ? room : angle;
}

bool kl_conic_bisection(const KlConic *c, double e[2]) {
    double radius = sqrt(c->centre[0] * c->centre[0] + c->centre[1] * c->centre[1]);
    if (!c->centred || !(radius > 0.0)) {
        return false;
    }
    double start[2] = {c->centre[0] / radius, c->centre[1] / radius};
    double slope = kl_conic_slope(c, start);
    if (slope == 0.0) {
        e[0] = start[0];
        e[1] = start[1];
        return true;
    }
    double way = slope > 0.0 ? -1.0 : 1.0, end = sight(c, start, radius, way);
    double reached[2] = {start[0], start[1]}, angle = 0.0, step = FIRST_STEP;
    while (angle < end) {
        angle = angle + step < end ? angle + step : end;
        step *= GROWTH;
        double ahead[2];
        rotate(start, way * angle, ahead);
        if ((kl_conic_slope(c, ahead) > 0.0) != (slope > 0.0)) {
            kl_conic_halve(c, reached, ahead, e);
            return kl_conic_radial(c, e) > 0.0;
        }
        reached[0] = ahead[0];
        reached[1] = ahead[1];
    }
    return false;
}
