// The last stage: what the new state and the solution are worth, then the commit.
#include "math/vec.h"
#include "sim/sim.h"

#include <string.h>

static const KlMetricInfo metric_table[KL_METRIC_COUNT] = {
#define METRIC_ROW(name, caption, unit_text, log, words) \
    {.id = #name, .title = caption, .unit = unit_text, .text = words, .log_scale = log},
    KL_METRIC_LIST(METRIC_ROW)
#undef METRIC_ROW
};

int32_t kl_metric_count(void) { return KL_METRIC_COUNT; }

const KlMetricInfo *kl_metric_kind(int32_t index) {
    return index >= 0 && index < KL_METRIC_COUNT ? &metric_table[index] : NULL;
}

int32_t kl_metric_find(const char *id) {
    for (int32_t i = 0; i < KL_METRIC_COUNT; i++) {
        if (strcmp(metric_table[i].id, id) == 0) {
            return i;
        }
    }
    return -1;
}

static double max2(double a, double b) { return a >= b ? a : b; }

// ---- configuration -----------------------------------------------------------------------------

// Joint coordinates, rates, frames and violations of a state.
static void measure_joints(KlSim *sim, KlState *state) {
    kl_locate_joints(sim, state->pose, state->position, sim->dof_position);
    memcpy(state->position, sim->dof_position, (size_t)sim->dof_count * sizeof *state->position);
    kl_joint_rates(sim, state->twist, sim->joint_velocity);
    double worst = 0.0;
    for (int32_t j = 0; j < sim->joint_count; j++) {
        sim->joint_residual[j] = 0.0;
        for (int32_t row = sim->row_start[j]; row < sim->row_start[j + 1]; row++) {
            sim->joint_residual[j] = max2(sim->joint_residual[j], fabs(sim->residual[row]));
        }
        worst = max2(worst, sim->joint_residual[j]);
        memcpy(sim->joint_frame + 7 * j, sim->frame[j].pose, sizeof sim->frame[j].pose);
    }
    sim->metrics[KL_METRIC_r_pen_joints] = worst;
}

static void measure_limits(KlSim *sim, const KlState *state) {
    double worst = 0.0;
    for (int32_t j = 0; j < sim->joint_count; j++) {
        const KlJointDef *def = &sim->model->joints[j];
        int32_t first = sim->dof_start[j];
        for (int32_t i = 0; i < sim->dof_start[j + 1] - first; i++) {
            double q = state->position[first + i];
            worst = max2(worst, max2(def->lower[i] - q, q - def->upper[i]));
        }
    }
    sim->metrics[KL_METRIC_r_pen_limits] = worst;
}

static void measure_penetration(KlSim *sim) {
    double worst = 0.0;
    for (int32_t k = 0; k < sim->contact_count; k++) {
        worst = max2(worst, -sim->contacts[k].gap);
    }
    double *m = sim->metrics;
    m[KL_METRIC_r_pen_contacts] = worst;
    m[KL_METRIC_r_pen] = max2(m[KL_METRIC_r_pen_joints], max2(m[KL_METRIC_r_pen_limits], worst));
}

// ---- energy and momentum -----------------------------------------------------------------------

// I omega in the world, by way of the body's frame.
static void spin_momentum(const KlBodyDef *body, const double *pose, const double omega[3], double l[3]) {
    double r[9], local[3], turned[3];
    kl_quat_to_mat3(pose + 3, r);
    kl_mat3_tmul_vec(r, omega, local);
    kl_mat3_mul_vec(body->inertia, local, turned);
    kl_mat3_mul_vec(r, turned, l);
}

// Energy, and momentum (linear, angular about the origin).
static void measure_bodies(KlSim *sim, const KlState *state, double momentum[6]) {
    double kinetic = 0.0, potential = 0.0;
    memset(momentum, 0, 6 * sizeof *momentum);
    for (int32_t i = 0; i < sim->body_count; i++) {
        const KlBodyDef *body = &sim->model->bodies[i];
        const double *pose = state->pose + 7 * i, *u = state->twist + 6 * i;
        double orbital[3], spin[3];
        spin_momentum(body, pose, u + 3, spin);
        kinetic += 0.5 * (body->mass * kl_dot3(u, u) + kl_dot3(u + 3, spin));
        potential -= body->mass * kl_dot3(sim->settings.gravity, pose);
        kl_cross3(pose, u, orbital);
        kl_axpy3(body->mass, u, momentum);
        kl_axpy3(body->mass, orbital, momentum + 3);
        kl_add3(momentum + 3, spin, momentum + 3);
    }
    sim->metrics[KL_METRIC_kinetic_energy] = kinetic;
    sim->metrics[KL_METRIC_potential_energy] = potential;
    sim->metrics[KL_METRIC_total_energy] = kinetic + potential;
}

static void measure_motion(KlSim *sim) {
    double after[6], error[6];
    measure_bodies(sim, &sim->next, after);
    for (int32_t k = 0; k < 6; k++) {
        error[k] = after[k] - (sim->momentum[k] + sim->external[k]);
        sim->momentum[k] = after[k];
    }
    sim->metrics[KL_METRIC_momentum_error] = kl_norm3(error);
    sim->metrics[KL_METRIC_angular_momentum_error] = kl_norm3(error + 3);
}

// ---- solution ----------------------------------------------------------------------------------

static void measure_residuals(KlSim *sim) {
    double *m = sim->metrics;
    KlResiduals r = {0};
    kl_problem_residuals_at(sim->problem, sim->lambda, sim->velocity, &r);
    m[KL_METRIC_r_dual] = r.dual;
    m[KL_METRIC_r_ncp] = r.complementarity;
    m[KL_METRIC_r_nat] = r.natural;
    m[KL_METRIC_r_nat_rel] = r.natural_relative;
    m[KL_METRIC_r_p] = r.primal;
    m[KL_METRIC_r_dual_ccp] = r.dual_ccp;
    m[KL_METRIC_r_ccp] = r.complementarity_ccp;
    m[KL_METRIC_r_nat_ccp] = r.natural_ccp;
    m[KL_METRIC_f] = r.objective;
    m[KL_METRIC_f_ds] = r.objective_desaxce;
    m[KL_METRIC_f_ncp] = r.objective_ncp;
}

static void measure_solve(KlSim *sim) {
    double *m = sim->metrics;
    const KlSolution *s = &sim->solution;
    m[KL_METRIC_iterations] = s->iterations;
    m[KL_METRIC_t_solve] = s->time;
    m[KL_METRIC_t_iter] = s->iterations > 0 ? s->time / s->iterations : 0.0;
    m[KL_METRIC_outcome] = s->outcome;
    m[KL_METRIC_factorizations] = s->factorizations;
    m[KL_METRIC_penalty] = s->penalty;
    m[KL_METRIC_internal_share] = NAN;
    m[KL_METRIC_n_d] = sim->problem->dim;
    m[KL_METRIC_n_jd] = sim->problem->joint_rows;
    m[KL_METRIC_n_l] = sim->problem->limit_count;
    m[KL_METRIC_n_c] = sim->problem->contact_count;
    double time = 0.0;
    for (int32_t stage = 0; stage < kl_stage_count(); stage++) {
        time += sim->stage_time[stage];  // the measure stage counts with its time of the step before
    }
    m[KL_METRIC_t_step] = time;
}

static double largest_force(const double *forces, int32_t count, int32_t stride) {
    double worst = 0.0;
    for (int32_t i = 0; i < count; i++) {
        worst = max2(worst, kl_norm3(forces + i * stride));
    }
    return worst;
}

static void show_clock(KlSim *sim) { sim->field_time = kl_sim_now(sim); }

static void commit(KlSim *sim) {
    sim->next.step = sim->now.step + 1;
    memset(sim->next.wrench, 0, 6 * (size_t)sim->body_count * sizeof *sim->next.wrench);
    kl_state_copy(sim, &sim->next, &sim->now);
    show_clock(sim);
}

KlStatus kl_stage_measure(KlSim *sim) {
    measure_joints(sim, &sim->next);
    measure_limits(sim, &sim->next);
    measure_penetration(sim);
    measure_motion(sim);
    measure_residuals(sim);
    measure_solve(sim);
    sim->metrics[KL_METRIC_max_joint_force] = largest_force(sim->joint_wrench, sim->joint_count, 6);
    sim->metrics[KL_METRIC_max_contact_force] = largest_force(sim->contact_force, sim->contact_count, 3);
    commit(sim);
    return KL_OK;
}

void kl_measure_state(KlSim *sim) {
    for (int32_t m = 0; m < KL_METRIC_COUNT; m++) {
        sim->metrics[m] = NAN;
    }
    measure_joints(sim, &sim->now);
    measure_limits(sim, &sim->now);
    measure_bodies(sim, &sim->now, sim->momentum);
    show_clock(sim);
}

double kl_sim_metric(const KlSim *sim, const char *id) {
    int32_t metric = kl_metric_find(id);
    if (metric < 0) {
        return NAN;
    }
    if (metric == KL_METRIC_internal_share && sim->dim > 0) {
        double share = NAN;
        return kl_problem_internal_share(sim->problem, sim->lambda, &share) == KL_OK ? share : NAN;
    }
    return sim->metrics[metric];
}
