// External wrenches: force events of the scene, evaluated at the start of the step, and the user's.
#include "math/lanes.h"
#include "math/vec.h"
#include "sim/sim.h"

// The body whose centre of mass is highest: against gravity, along +z without gravity; ties go to the
// lower index.
static int32_t highest_body(const KlSim *sim) {
    static const double up_z[3] = {0.0, 0.0, -1.0};
    const double *down = kl_norm3(sim->settings.gravity) > 0.0 ? sim->settings.gravity : up_z;
    int32_t best = 0;
    for (int32_t i = 1; i < sim->body_count; i++) {
        if (kl_dot3(down, sim->now.pose + 7 * i) < kl_dot3(down, sim->now.pose + 7 * best)) {
            best = i;
        }
    }
    return best;
}

// A KL_BODY_HIGHEST event chooses its body in the first step it is active in and keeps it.
static int32_t event_body(KlSim *sim, int32_t event, int32_t named) {
    if (named != KL_BODY_HIGHEST) {
        return named;
    }
    double *chosen = &sim->next.event_body[event];
    if (*chosen < 0.0) {
        *chosen = highest_body(sim);
    }
    return (int32_t)*chosen;
}

static void apply_event(KlSim *sim, int32_t index, const KlForceEvent *event, double t) {
    int32_t body = event_body(sim, index, event->body);
    double share = (t - event->start) / (event->end - event->start);
    double wrench[6], arm[3], moment[3];
    for (int32_t k = 0; k < 6; k++) {
        wrench[k] = sim->settings.dt * (event->from[k] + share * (event->to[k] - event->from[k]));
    }
    kl_quat_rotate(sim->eval_pose + 7 * body + 3, event->point, arm);
    kl_cross3(arm, wrench, moment);
    kl_add3(wrench + 3, moment, wrench + 3);
    kl_add_impulse(sim, body, wrench, wrench + 3);
}

void kl_apply_events(KlSim *sim) {
    double t = kl_sim_now(sim);
    for (int32_t e = 0; e < sim->event_count; e++) {
        const KlForceEvent *event = &sim->model->events[e];
        if (event->start <= t && t < event->end) {
            apply_event(sim, e, event, t);
        }
    }
    if (kl_lanes_largest(sim->now.wrench, 6 * sim->body_count) == 0.0) {  // as in most steps
        return;
    }
    for (int32_t i = 0; i < sim->body_count; i++) {
        const double *given = sim->now.wrench + 6 * i;
        double wrench[6], most = kl_lanes_largest(given, 6);
        if (most == 0.0) {
            continue;
        }
        for (int32_t k = 0; k < 6; k++) {
            wrench[k] = sim->settings.dt * given[k];
        }
        kl_add_impulse(sim, i, wrench, wrench + 3);
    }
}
