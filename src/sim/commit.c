// The last stage: the joints of the new state are located, where the next step begins, and it becomes `now`.
#include "math/lanes.h"
#include "sim/sim.h"

#include <string.h>

// Joint coordinates, rates, frames and violations of a state.
static void locate(KlSim *sim, KlState *state) {
    kl_locate_joints(sim, state->pose, state->position, sim->dof_position);
    memcpy(state->position, sim->dof_position, (size_t)sim->dof_count * sizeof *state->position);
    kl_joint_rates(sim, state->twist, sim->joint_velocity);
    for (int32_t j = 0; j < sim->joint_count; j++) {
        int32_t first = sim->row_start[j];
        sim->joint_residual[j] = kl_lanes_largest(sim->residual + first, sim->row_start[j + 1] - first);
        memcpy(sim->joint_frame + 7 * j, sim->frame[j].pose, sizeof sim->frame[j].pose);
    }
}

// Nothing of `now` is measured yet; whether it came from a step tells what can be.
static void show(KlSim *sim, bool stepped) {
    sim->field_time = kl_sim_now(sim);
    sim->stepped = stepped;
    sim->measures->known = 0;
    sim->stage_time[KL_STAGE_MEASURE] = 0.0;
}

KlStatus kl_stage_commit(KlSim *sim) {
    locate(sim, &sim->next);
    sim->next.step = sim->now.step + 1;
    kl_state_swap(sim, &sim->now, &sim->next);
    memset(sim->now.wrench, 0, 6 * (size_t)sim->body_count * sizeof *sim->now.wrench);
    show(sim, true);
    return KL_OK;
}

void kl_settle(KlSim *sim) {
    locate(sim, &sim->now);
    sim->measures->momentum_step = -1;
    show(sim, false);
}
