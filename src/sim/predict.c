// The prediction: where constraints are evaluated, the inertia there, and the twist that the bodies
// would have without constraints, u_free = u- + dt M^-1 h (paper, Sec. "Constructing The Dual Problem").
#include "math/lanes.h"
#include "math/trig.h"
#include "math/vec.h"
#include "sim/sim.h"

#include <string.h>

double kl_sim_now(const KlSim *sim) { return (double)sim->now.step * sim->settings.dt; }

// R A R^T and R B R^T, a lane each
static void rotate_tensors(const double r[9], const double a[9], const double b[9], double out_a[9], double out_b[9]) {
    KlPair both[9], turned[9];
    for (int32_t k = 0; k < 9; k++) {
        both[k] = (KlPair){a[k], b[k]};
    }
    for (int32_t i = 0; i < 9; i += 3) {
        for (int32_t j = 0; j < 3; j++) {
            turned[i + j] = kl_both(r[i]) * both[j] + kl_both(r[i + 1]) * both[3 + j] + kl_both(r[i + 2]) * both[6 + j];
        }
    }
    for (int32_t i = 0; i < 9; i += 3) {
        for (int32_t j = 0; j < 3; j++) {
            KlPair entry = turned[i] * kl_both(r[3 * j]) + turned[i + 1] * kl_both(r[3 * j + 1]) +
                           turned[i + 2] * kl_both(r[3 * j + 2]);
            out_a[i + j] = entry[0];
            out_b[i + j] = entry[1];
        }
    }
}

static void place_bodies(KlSim *sim) {
    if (sim->settings.integrator == KL_INTEGRATOR_MOREAU) {
        kl_integrate_poses(sim->body_count, 0.5 * sim->settings.dt, sim->now.pose, sim->now.twist, sim->eval_pose);
    } else {
        memcpy(sim->eval_pose, sim->now.pose, 7 * (size_t)sim->body_count * sizeof *sim->eval_pose);
    }
    for (int32_t i = 0; i < sim->body_count; i++) {
        double r[9];
        kl_quat_to_mat3(sim->eval_pose + 7 * i + 3, r);
        rotate_tensors(r, sim->model->bodies[i].inertia, sim->body_inverse_inertia + 9 * i,
                       sim->problem->inertia + 9 * i, sim->problem->inverse_inertia + 9 * i);
    }
}

static void turn_body(KlSim *sim, int32_t body, const double torque[3]) {
    double *u = sim->free_twist + 6 * body, turn[3];
    kl_mat3_mul_vec(sim->problem->inverse_inertia + 9 * body, torque, turn);
    kl_add3(u + 3, turn, u + 3);
}

// free_twist += M^-1 (force, torque), both already times dt.
static void push_body(KlSim *sim, int32_t body, const double force[3], const double torque[3]) {
    kl_axpy3(sim->problem->inverse_mass[body], force, sim->free_twist + 6 * body);
    turn_body(sim, body, torque);
}

static void count_external(KlSim *sim, int32_t body, const double force[3]) {
    double moment[3];
    kl_cross3(sim->eval_pose + 7 * body, force, moment);
    kl_add3(sim->external, force, sim->external);
    kl_add3(sim->external + 3, moment, sim->external + 3);
}

void kl_add_impulse(KlSim *sim, int32_t body, const double force[3], const double torque[3]) {
    push_body(sim, body, force, torque);
    count_external(sim, body, force);
    kl_add3(sim->external + 3, torque, sim->external + 3);
}

void kl_push_row(KlSim *sim, int32_t joint, const double *row, double impulse) {
    const KlJointDef *def = &sim->model->joints[joint];
    double w[KL_ROW];
    for (int32_t k = 0; k < KL_ROW; k++) {
        w[k] = impulse * row[k];
    }
    if (def->base >= 0) {
        push_body(sim, def->base, w, w + 3);
        push_body(sim, def->follower, w + 6, w + 9);
    } else {
        kl_add_impulse(sim, def->follower, w + 6, w + 9);
    }
}

// h: gravity and the gyroscopic torque -omega x I omega.
static void apply_gravity_and_spin(KlSim *sim) {
    double dt = sim->settings.dt;
    for (int32_t i = 0; i < sim->body_count; i++) {
        const double *omega = sim->now.twist + 6 * i + 3;
        double weight[3], spin[3], gyro[3];
        kl_scale3(dt * sim->problem->mass[i], sim->settings.gravity, weight);
        kl_axpy3(sim->problem->inverse_mass[i], weight, sim->free_twist + 6 * i);
        count_external(sim, i, weight);
        kl_mat3_mul_vec(sim->problem->inertia + 9 * i, omega, spin);
        kl_cross3(spin, omega, gyro);
        kl_scale3(dt, gyro, gyro);
        turn_body(sim, i, gyro);
    }
}

// Principal values of the angles among the coordinates from sines, two at a time, then those nearest to `previous`.
static void find_angles(const KlSim *sim, const double *previous, double *position) {
    const int32_t *angle = sim->angle_dof;
    int32_t count = sim->angle_count;
    for (int32_t i = 0; i < count; i += 2) {
        int32_t one = angle[i], two = angle[i + 1 < count ? i + 1 : i];
        KlPair found =
            kl_atan2_two((KlPair){position[one], position[two]}, (KlPair){sim->dof_cosine[one], sim->dof_cosine[two]});
        position[one] = found[0];
        position[two] = found[1];
    }
    for (int32_t i = 0; previous != NULL && i < count; i++) {
        position[angle[i]] = kl_unwrap_angle(position[angle[i]], previous[angle[i]]);
    }
}

void kl_locate_joints(KlSim *sim, const double *pose, const double *previous, double *position) {
    // All frames first: pairs would wait for numbers just stored one by one.
    for (int32_t j = 0; j < sim->joint_count; j++) {
        kl_joint_frame(&sim->model->joints[j], pose, &sim->frame[j]);
    }
    for (int32_t j = 0; j < sim->joint_count; j++) {
        const KlJointDef *joint = &sim->model->joints[j];
        const KlJointFrame *frame = &sim->frame[j];
        int32_t first = sim->dof_start[j], row = sim->row_start[j];
        kl_joint_constraint(joint->kind, frame, sim->residual + row, sim->joint_row + row * KL_ROW);
        kl_joint_freedom(joint->kind, frame, position + first, sim->dof_cosine + first, sim->dof_row + first * KL_ROW);
    }
    find_angles(sim, previous, position);
}

void kl_joint_rates(const KlSim *sim, const double *twist, double *rate) {
    for (int32_t j = 0; j < sim->joint_count; j++) {
        const KlJointDef *joint = &sim->model->joints[j];
        int32_t first = sim->dof_start[j], count = sim->dof_start[j + 1] - first;
        kl_rows_velocity(sim->dof_row + first * KL_ROW, count, joint->base, joint->follower, twist, rate + first);
    }
}

// Whoever sets `now` measures it: without a midpoint its joints have been located by the step before.
static void measure_freedom(KlSim *sim) {
    if (sim->settings.integrator == KL_INTEGRATOR_MOREAU) {
        kl_locate_joints(sim, sim->eval_pose, sim->now.position, sim->dof_position);
        kl_joint_rates(sim, sim->now.twist, sim->dof_velocity);
    } else {
        memcpy(sim->dof_velocity, sim->joint_velocity, (size_t)sim->dof_count * sizeof *sim->dof_velocity);
    }
}

KlStatus kl_stage_predict(KlSim *sim) {
    kl_state_copy(sim, &sim->now, &sim->next);
    memset(sim->external, 0, sizeof sim->external);
    memcpy(sim->free_twist, sim->now.twist, 6 * (size_t)sim->body_count * sizeof *sim->free_twist);
    place_bodies(sim);
    measure_freedom(sim);
    apply_gravity_and_spin(sim);
    kl_apply_events(sim);
    kl_apply_actuation(sim);
    return KL_OK;
}
