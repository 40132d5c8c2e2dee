// Integration on poses: r + h v, q <- exp(h omega / 2) q (paper, eq. "time-stepping-euler" with
// corrections). The quaternion is renormalised, so that round-off does not scale bodies.
#include "math/lanes.h"
#include "math/trig.h"
#include "math/vec.h"
#include "sim/sim.h"

// A product of unit quaternions has length 1 but for rounding. A last bit of it stays, so that what does not turn keeps
// its bits; the series of the root near 1 waits for no root.
static void renormalize(double q[4]) {
    double excess = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) - 1.0;
    if (!(fabs(excess) <= 0x1p-14)) {
        kl_quat_normalize(q);
    } else if (fabs(excess) > 0x1p-51) {
        double scale = 1.0 + excess * (-0.5 + excess * (0.375 - 0.3125 * excess));  // the next term is below 2^-57
        for (int32_t k = 0; k < 4; k++) {
            q[k] *= scale;
        }
    }
}

static void turn_of(double h, const double twist[6], double turn[4]) {
    double rotation[3];
    kl_scale3(h, twist + 3, rotation);
    kl_quat_exp(rotation, turn);
}

static void move(double h, const double pose[7], const double twist[6], const double turn[4], double result[7]) {
    for (int32_t k = 0; k < 3; k++) {
        result[k] = pose[k] + h * twist[k];
    }
    kl_quat_mul(turn, pose + 3, result + 3);
    renormalize(result + 3);
}

enum { TURNS = 8 };  // found before they are used: a product would wait for its turn to be stored

void kl_integrate_poses(int32_t count, double h, const double *pose, const double *twist, double *result) {
    double turn[TURNS][4];
    for (int32_t first = 0; first < count; first += TURNS) {
        int32_t end = first + TURNS < count ? first + TURNS : count;
        for (int32_t i = first; i < end; i++) {
            turn_of(h, twist + 6 * i, turn[i - first]);
        }
        for (int32_t i = first; i < end; i++) {
            move(h, pose + 7 * i, twist + 6 * i, turn[i - first], result + 7 * i);
        }
    }
}

static bool all_finite(const double *x, int32_t count) { return isfinite(kl_lanes_largest(x, count)); }

// Semi-implicit Euler moves the whole step with u+; Moreau's midpoint scheme has moved half of it
// with u- before the forces were evaluated and moves the other half with u+.
KlStatus kl_stage_integrate(KlSim *sim) {
    bool midpoint = sim->settings.integrator == KL_INTEGRATOR_MOREAU;
    double h = midpoint ? 0.5 * sim->settings.dt : sim->settings.dt;
    const double *from = midpoint ? sim->eval_pose : sim->now.pose;
    kl_integrate_poses(sim->body_count, h, from, sim->next.twist, sim->next.pose);
    bool finite = all_finite(sim->next.twist, 6 * sim->body_count) && all_finite(sim->next.pose, 7 * sim->body_count);
    for (int32_t i = 0; !finite && i < sim->body_count; i++) {
        if (!all_finite(sim->next.twist + 6 * i, 6) || !all_finite(sim->next.pose + 7 * i, 7)) {
            return kl_fail(KL_ERR_DIVERGED,
                           "step %lld: the motion of body '%s' is not finite; "
                           "the state before the step is kept",
                           (long long)sim->now.step, sim->model->bodies[i].name);
        }
    }
    return KL_OK;
}
