// Joint actuation.
//
// Force and PID efforts are explicit: an impulse dt tau along the degree of freedom, cut at the effort
// limit. Passive damping is linearly implicit on the two bodies of its joint, one joint after the
// other: -dt b q' / (1 + dt b J M^-1 J^T). Each such push only takes energy out, whatever b and dt.
//
// Implicit PD becomes rows of the dual problem ("drives"), with compliance R = 1/m and bias v*:
//     lambda = -m (q'+ + v*),   m = dt (k_d + h k_p),   m v* = -dt (k_p (q_ref - q) + k_d q'_ref)
// which is the impulse of the PD law at the end of the step, q+ = q + h q'+. Armature a and damping b
// are a second row, m = a + dt b, m v* = -a q'-. Both are bilateral, behind the joints' rows.
// With an effort limit tau the motor's row becomes unilateral, behind the limits' rows: with s the
// direction of the drive and B = dt tau, the impulse s B is given beforehand and lambda' >= 0 takes
// back what is too much, lambda = s (B - lambda'). This is the exact saturated law in the direction of
// the drive, a row like a joint limit with R > 0, so that bounds never make the problem infeasible. The
// opposite bound is not enforced within a step: an impact that reverses the drive may brake harder for
// one step.
#include "math/vec.h"
#include "sim/sim.h"

static double clamp(double x, double bound) { return x > bound ? bound : x < -bound ? -bound : x; }

double kl_row_mobility(const KlSim *sim, int32_t base, int32_t follower, const double *row) {
    const int32_t body[2] = {base, follower};
    double sum = 0.0;
    for (int32_t side = 0; side < 2; side++) {
        if (body[side] >= 0) {
            const double *w = row + 6 * side;
            double turn[3];
            kl_mat3_mul_vec(sim->problem->inverse_inertia + 9 * body[side], w + 3, turn);
            sum += sim->problem->inverse_mass[body[side]] * kl_dot3(w, w) + kl_dot3(w + 3, turn);
        }
    }
    return sum;
}

// What one joint should do: its reference at time t, or the target it holds.
static void desired(const KlSim *sim, int32_t joint, double t, double *q, double *rate) {
    const KlJointDef *def = &sim->model->joints[joint];
    if (def->reference >= 0) {
        kl_reference_sample(&sim->model->references[def->reference], t, q, rate);
        return;
    }
    int32_t first = sim->dof_start[joint];
    for (int32_t i = 0; i < sim->dof_start[joint + 1] - first; i++) {
        q[i] = sim->now.target[first + i];
        rate[i] = 0.0;
    }
}

// tau = k_p e + k_i int e + k_d e'. At the effort limit the integral does not grow further.
static double pid_effort(KlSim *sim, const KlJointDef *def, int32_t i, int32_t dof, double q, double rate) {
    double error = q - sim->dof_position[dof], error_rate = rate - sim->dof_velocity[dof];
    double integral = sim->now.integral[dof] + sim->settings.dt * error;
    double effort = def->kp[i] * error + def->ki[i] * integral + def->kd[i] * error_rate;
    double bounded = clamp(effort, def->effort_limit[i]);
    bool winding = effort != bounded && effort * error > 0.0;
    if (!winding) {
        sim->next.integral[dof] = integral;
    }
    return bounded;
}

static void push_effort(KlSim *sim, int32_t joint, int32_t dof, double effort) {
    sim->dof_effort[dof] = effort;
    kl_push_row(sim, joint, sim->dof_row + dof * KL_ROW, sim->settings.dt * effort);
}

static void explicit_efforts(KlSim *sim, int32_t joint) {
    const KlJointDef *def = &sim->model->joints[joint];
    double q[KL_JOINT_MAX_DOFS] = {0}, rate[KL_JOINT_MAX_DOFS] = {0};
    if (def->actuation == KL_ACTUATION_PID) {
        desired(sim, joint, kl_sim_now(sim), q, rate);
    }
    int32_t first = sim->dof_start[joint];
    for (int32_t dof = first; dof < sim->dof_start[joint + 1]; dof++) {
        int32_t i = dof - first;
        if (def->actuation == KL_ACTUATION_PID) {
            push_effort(sim, joint, dof, pid_effort(sim, def, i, dof, q[i], rate[i]));
        } else if (def->actuation == KL_ACTUATION_FORCE) {
            push_effort(sim, joint, dof, clamp(sim->now.effort[dof], def->effort_limit[i]));
        }
    }
}

static void damp(KlSim *sim, int32_t joint) {
    const KlJointDef *def = &sim->model->joints[joint];
    int32_t first = sim->dof_start[joint];
    for (int32_t dof = first; dof < sim->dof_start[joint + 1]; dof++) {
        double b = sim->settings.dt * def->damping[dof - first];
        if (b > 0.0) {
            const double *row = sim->dof_row + dof * KL_ROW;
            double rate = kl_row_velocity(row, def->base, def->follower, sim->free_twist);
            double mobility = kl_row_mobility(sim, def->base, def->follower, row);
            kl_push_row(sim, joint, row, -b * rate / (1.0 + b * mobility));
        }
    }
}

// ---- implicit PD -------------------------------------------------------------------------------

// lambda = -m q'+ + p: the impulse that a linear law gives, m and p summed over its parts.
typedef struct Law {
    double m, p;
} Law;

static void add_bilateral(KlSim *sim, int32_t joint, int32_t i, Law law, bool effort) {
    if (law.m > 0.0) {
        sim->drives[sim->drive_count++] = (KlDrive){
            .joint = joint, .dof = i, .compliance = 1.0 / law.m, .bias = -law.p / law.m, .sign = 1.0, .effort = effort};
    }
}

static void add_bounded(KlSim *sim, int32_t joint, int32_t i, Law law, double bound) {
    const KlJointDef *def = &sim->model->joints[joint];
    if (law.m <= 0.0) {
        return;
    }
    const double *row = sim->dof_row + (sim->dof_start[joint] + i) * KL_ROW;
    double rate = kl_row_velocity(row, def->base, def->follower, sim->free_twist);
    double s = law.p - law.m * rate >= 0.0 ? 1.0 : -1.0;
    sim->bounded_drives[sim->bounded_drive_count++] = (KlDrive){.joint = joint,
                                                                .dof = i,
                                                                .compliance = 1.0 / law.m,
                                                                .bias = (s * law.p - bound) / law.m,
                                                                .sign = -s,
                                                                .bound = bound,
                                                                .effort = true};
}

static void implicit_drives(KlSim *sim, int32_t joint) {
    const KlJointDef *def = &sim->model->joints[joint];
    double dt = sim->settings.dt, q[KL_JOINT_MAX_DOFS] = {0}, rate[KL_JOINT_MAX_DOFS] = {0};
    double h = sim->settings.integrator == KL_INTEGRATOR_MOREAU ? 0.5 * dt : dt;
    desired(sim, joint, kl_sim_now(sim) + dt, q, rate);
    int32_t first = sim->dof_start[joint];
    for (int32_t dof = first; dof < sim->dof_start[joint + 1]; dof++) {
        int32_t i = dof - first;
        Law body = {.m = def->armature[i] + dt * def->damping[i], .p = def->armature[i] * sim->dof_velocity[dof]};
        Law motor = {.m = dt * (def->kd[i] + h * def->kp[i]),
                     .p = dt * (def->kp[i] * (q[i] - sim->dof_position[dof]) + def->kd[i] * rate[i])};
        add_bilateral(sim, joint, i, body, false);
        if (isfinite(def->effort_limit[i])) {
            add_bounded(sim, joint, i, motor, dt * def->effort_limit[i]);
        } else {
            add_bilateral(sim, joint, i, motor, true);
        }
    }
}

// After every direction is known: the pushes would disturb the rates that the directions come from.
static void push_bounds(KlSim *sim) {
    for (int32_t d = 0; d < sim->bounded_drive_count; d++) {
        const KlDrive *drive = &sim->bounded_drives[d];
        const double *row = sim->dof_row + (sim->dof_start[drive->joint] + drive->dof) * KL_ROW;
        kl_push_row(sim, drive->joint, row, -drive->sign * drive->bound);
    }
}

void kl_apply_actuation(KlSim *sim) {
    const int32_t *acting = sim->acting;
    sim->drive_count = sim->bounded_drive_count = 0;
    for (int32_t dof = 0; dof < sim->dof_count; dof++) {
        sim->dof_effort[dof] = 0.0;
    }
    for (int32_t k = 0; k < sim->acting_count; k++) {
        explicit_efforts(sim, acting[k]);
    }
    for (int32_t k = 0; k < sim->acting_count; k++) {
        if (sim->model->joints[acting[k]].actuation != KL_ACTUATION_PD_IMPLICIT) {
            damp(sim, acting[k]);
        }
    }
    for (int32_t k = 0; k < sim->acting_count; k++) {
        if (sim->model->joints[acting[k]].actuation == KL_ACTUATION_PD_IMPLICIT) {
            implicit_drives(sim, acting[k]);
        }
    }
    push_bounds(sim);
}
