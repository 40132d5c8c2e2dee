// Integration on poses: r + h v, q <- exp(h omega / 2) q (paper, eq. "time-stepping-euler" with
// corrections). The quaternion is renormalised, so that round-off does not scale bodies.
#include "math/trig.h"
#include "math/vec.h"
#include "sim/sim.h"

#include <string.h>

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

void kl_integrate_poses(int32_t count, double h, const double *pose, const double *twist, double *result) {
    for (int32_t i = 0; i < count; i++) {
        const double *s = pose + 7 * i, *u = twist + 6 * i;
        double rotation[3], turn[4], q[4];
        kl_scale3(h, u + 3, rotation);
        kl_quat_exp(rotation, turn);
        kl_quat_mul(turn, s + 3, q);
        renormalize(q);
        double *out = result + 7 * i;
        for (int32_t k = 0; k < 3; k++) {
            out[k] = s[k] + h * u[k];
        }
        memcpy(out + 3, q, sizeof q);
    }
}

static bool all_finite(const double *x, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

// Semi-implicit Euler moves the whole step with u+; Moreau's midpoint scheme has moved half of it
// with u- before the forces were evaluated and moves the other half with u+.
KlStatus kl_stage_integrate(KlSim *sim) {
    bool midpoint = sim->settings.integrator == KL_INTEGRATOR_MOREAU;
    double h = midpoint ? 0.5 * sim->settings.dt : sim->settings.dt;
    const double *from = midpoint ? sim->eval_pose : sim->now.pose;
    kl_integrate_poses(sim->body_count, h, from, sim->next.twist, sim->next.pose);
    for (int32_t i = 0; i < sim->body_count; i++) {
        if (!all_finite(sim->next.twist + 6 * i, 6) || !all_finite(sim->next.pose + 7 * i, 7)) {
            return kl_fail(KL_ERR_DIVERGED,
                           "step %lld: the motion of body '%s' is not finite; "
                           "the state before the step is kept",
                           (long long)sim->now.step, sim->model->bodies[i].name);
        }
    }
    return KL_OK;
}
