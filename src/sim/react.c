// After the solve: u+ = u_free + M^-1 J^T lambda, and what the reactions are in the world.
#include "math/lanes.h"
#include "math/vec.h"
#include "sim/sim.h"

#include <string.h>

static KlStatus check_reactions(const KlSim *sim) {
    bool finite = isfinite(kl_lanes_largest(sim->lambda, sim->dim));
    for (int32_t i = 0; !finite && i < sim->dim; i++) {
        if (!isfinite(sim->lambda[i])) {
            return kl_fail(KL_ERR_DIVERGED,
                           "step %lld: the solver's reaction in row %d of %d is not finite; "
                           "the state before the step is kept",
                           (long long)sim->now.step, (int)i, (int)sim->dim);
        }
    }
    return KL_OK;
}

// Wrench of a joint on its follower about the joint's position p_F, from its impulse about the follower's centre.
static void read_joint_wrench(KlSim *sim, int32_t j, const KlSix *impulse) {
    double force[3] = {impulse->low[0], impulse->low[1], impulse->middle[0]}, moment[3];
    double own[3] = {impulse->middle[1], impulse->high[0], impulse->high[1]};
    double inverse_dt = 1.0 / sim->settings.dt, *w = sim->joint_wrench + 6 * j;
    kl_cross3(sim->frame[j].follower_arm, force, moment);
    kl_sub3(own, moment, moment);
    kl_scale3(inverse_dt, force, w);
    kl_scale3(inverse_dt, moment, w + 3);
}

// J^T lambda, and on the way what joints do to their followers.
static void gather_impulses(KlSim *sim) {
    const KlProblem *p = sim->problem;
    memset(sim->impulse, 0, 6 * (size_t)sim->body_count * sizeof *sim->impulse);
    for (int32_t j = 0; j < sim->joint_count; j++) {
        const KlJointDef *joint = &sim->model->joints[j];
        int32_t first = sim->row_start[j], rows = sim->row_start[j + 1] - first;
        const double *jacobian = p->jacobian + (size_t)first * KL_ROW, *lambda = sim->lambda + first;
        KlSix own = kl_lanes_gather(jacobian + 6, lambda, rows);
        double *impulse = sim->impulse + 6 * joint->follower;
        KlSix sum = kl_load6(impulse);
        kl_six_store(impulse, (KlSix){sum.low + own.low, sum.middle + own.middle, sum.high + own.high});
        read_joint_wrench(sim, j, &own);
        if (joint->base >= 0) {
            kl_lanes_push(jacobian, lambda, rows, sim->impulse + 6 * joint->base);
        }
    }
    kl_problem_add_wrenches(p, sim->joint_count, sim->lambda, sim->impulse);
}

static void move_bodies(KlSim *sim) {
    for (int32_t i = 0; i < sim->body_count; i++) {
        const double *w = sim->impulse + 6 * i, *free = sim->free_twist + 6 * i;
        double inverse_mass = sim->problem->inverse_mass[i], turn[3], *u = sim->next.twist + 6 * i;
        kl_mat3_mul_vec(sim->problem->inverse_inertia + 9 * i, w + 3, turn);
        for (int32_t k = 0; k < 3; k++) {
            u[k] = free[k] + inverse_mass * w[k];
            u[3 + k] = free[3 + k] + turn[k];
        }
    }
}

static void read_drives(KlSim *sim) {
    double inverse_dt = 1.0 / sim->settings.dt;
    int32_t first = sim->row_start[sim->joint_count];
    for (int32_t d = 0; d < sim->drive_count; d++) {
        const KlDrive *drive = &sim->drives[d];
        if (drive->effort) {
            sim->dof_effort[sim->dof_start[drive->joint] + drive->dof] += inverse_dt * sim->lambda[first + d];
        }
    }
    first = sim->problem->joint_rows + sim->limit_count;
    for (int32_t d = 0; d < sim->bounded_drive_count; d++) {
        const KlDrive *drive = &sim->bounded_drives[d];
        double impulse = drive->sign * (sim->lambda[first + d] - drive->bound);
        sim->dof_effort[sim->dof_start[drive->joint] + drive->dof] += inverse_dt * impulse;
    }
}

// Stick below this sliding speed, or while the reaction is this much inside its cone.
static const double slip_speed = 1e-6;   // [m/s] a millimetre in a quarter of an hour
static const double slip_inside = 1e-6;  // relative to mu lambda_N

static KlContactMode contact_mode(double friction, const double lambda[3], const double v[3]) {
    if (lambda[2] <= 0.0) {
        return KL_MODE_OPEN;
    }
    double reaction = sqrt(lambda[0] * lambda[0] + lambda[1] * lambda[1]);
    double speed = sqrt(v[0] * v[0] + v[1] * v[1]);
    bool slips = speed > slip_speed && reaction >= (1.0 - slip_inside) * friction * lambda[2];
    return slips ? KL_MODE_SLIP : KL_MODE_STICK;
}

static void read_contacts(KlSim *sim) {
    const KlProblem *p = sim->problem;
    for (int32_t k = 0; k < sim->contact_count; k++) {
        const KlContact *c = &sim->contacts[k];
        int32_t first = kl_contact_row(p, k);
        const double *lambda = sim->lambda + first;
        double v[3], local[3];
        for (int32_t i = 0; i < 3; i++) {
            const double *row = p->jacobian + (size_t)(first + i) * KL_ROW;
            v[i] = kl_row_velocity(row, c->body_a, c->body_b, sim->next.twist);
        }
        kl_scale3(1.0 / sim->settings.dt, lambda, local);
        kl_mat3_tmul_vec(sim->contact_frame + 9 * k, local, sim->contact_force + 3 * k);
        sim->contact_mode[k] = (int32_t)contact_mode(c->friction, lambda, v);
    }
}

KlStatus kl_stage_react(KlSim *sim) {
    KL_TRY(check_reactions(sim));
    gather_impulses(sim);
    move_bodies(sim);
    read_drives(sim);
    read_contacts(sim);
    return KL_OK;
}
