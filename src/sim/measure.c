// What the state and the last step are worth, measured when somebody asks: from `now`, and from contacts, problem and
// reactions while these are still those of the step that led to it. A group is measured once a state.
#include "base/clock.h"
#include "math/vec.h"
#include "sim/sim.h"

#include <string.h>

static const KlMetricInfo metric_table[KL_METRIC_COUNT] = {
#define METRIC_ROW(name, group, caption, unit_text, log, words) \
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

static double joint_violation(const KlSim *sim) {
    double worst = 0.0;
    for (int32_t j = 0; j < sim->joint_count; j++) {
        worst = max2(worst, sim->joint_residual[j]);
    }
    return worst;
}

static double limit_violation(const KlSim *sim) {
    double worst = 0.0;
    for (int32_t j = 0; j < sim->joint_count; j++) {
        const KlJointDef *def = &sim->model->joints[j];
        int32_t first = sim->dof_start[j];
        for (int32_t i = 0; i < sim->dof_start[j + 1] - first; i++) {
            double q = sim->now.position[first + i];
            worst = max2(worst, max2(def->lower[i] - q, q - def->upper[i]));
        }
    }
    return worst;
}

static double contact_violation(const KlSim *sim) {
    double worst = 0.0;
    for (int32_t k = 0; k < sim->contact_count; k++) {
        worst = max2(worst, -sim->contacts[k].gap);
    }
    return worst;
}

static void measure_violation(const KlSim *sim, double *m) {
    double joints = joint_violation(sim), limits = limit_violation(sim);
    m[KL_METRIC_r_pen_joints] = joints;
    m[KL_METRIC_r_pen_limits] = limits;
    if (sim->stepped) {
        double contacts = contact_violation(sim);
        m[KL_METRIC_r_pen_contacts] = contacts;
        m[KL_METRIC_r_pen] = max2(joints, max2(limits, contacts));
    }
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

// What the bodies of a state carry.
typedef struct Motion {
    double kinetic, potential;
    double momentum[6];  // linear, angular about the origin
} Motion;

static Motion motion_of(const KlSim *sim, const KlState *state) {
    Motion motion = {0};
    for (int32_t i = 0; i < sim->body_count; i++) {
        const KlBodyDef *body = &sim->model->bodies[i];
        const double *pose = state->pose + 7 * i, *u = state->twist + 6 * i;
        double orbital[3], spin[3];
        spin_momentum(body, pose, u + 3, spin);
        motion.kinetic += 0.5 * (body->mass * kl_dot3(u, u) + kl_dot3(u + 3, spin));
        motion.potential -= body->mass * kl_dot3(sim->settings.gravity, pose);
        kl_cross3(pose, u, orbital);
        kl_axpy3(body->mass, u, motion.momentum);
        kl_axpy3(body->mass, orbital, motion.momentum + 3);
        kl_add3(motion.momentum + 3, spin, motion.momentum + 3);
    }
    return motion;
}

// Blocks that hang on the world bring momentum in from outside.
static void add_world_reactions(const KlSim *sim, double external[6]) {
    const KlProblem *p = sim->problem;
    for (int32_t block = 0; block < p->block_count; block++) {
        const int32_t *body = p->block_body + 2 * block;
        int32_t side = body[0] < 0 ? 1 : 0;
        if (body[1 - side] >= 0 || body[side] < 0) {
            continue;
        }
        for (int32_t row = p->block_start[block]; row < p->block_start[block + 1]; row++) {
            const double *w = p->jacobian + (size_t)row * KL_ROW + 6 * side;
            double moment[3];
            kl_cross3(sim->eval_pose + 7 * body[side], w, moment);
            kl_axpy3(sim->lambda[row], w, external);
            kl_axpy3(sim->lambda[row], moment, external + 3);
            kl_axpy3(sim->lambda[row], w + 3, external + 3);
        }
    }
}

// The state before is looked at anew unless it was asked about its own motion.
static void momentum_before(const KlSim *sim, double momentum[6]) {
    if (sim->measures->momentum_step == sim->next.step) {
        memcpy(momentum, sim->measures->momentum, sizeof sim->measures->momentum);
    } else {
        Motion before = motion_of(sim, &sim->next);
        memcpy(momentum, before.momentum, sizeof before.momentum);
    }
}

static void measure_motion(const KlSim *sim, double *m) {
    Motion motion = motion_of(sim, &sim->now);
    m[KL_METRIC_kinetic_energy] = motion.kinetic;
    m[KL_METRIC_potential_energy] = motion.potential;
    m[KL_METRIC_total_energy] = motion.kinetic + motion.potential;
    if (sim->stepped) {
        double before[6], external[6], error[6];
        momentum_before(sim, before);
        memcpy(external, sim->external, sizeof external);
        add_world_reactions(sim, external);
        for (int32_t k = 0; k < 6; k++) {
            error[k] = motion.momentum[k] - (before[k] + external[k]);
        }
        m[KL_METRIC_momentum_error] = kl_norm3(error);
        m[KL_METRIC_angular_momentum_error] = kl_norm3(error + 3);
    }
    memcpy(sim->measures->momentum, motion.momentum, sizeof motion.momentum);
    sim->measures->momentum_step = sim->now.step;
}

// ---- solution, all of it of the step -----------------------------------------------------------

static void measure_residual(const KlSim *sim, double *m) {
    KlResiduals r = {0};
    if (sim->velocity_told) {
        kl_problem_residuals(sim->problem, sim->lambda, &r);
    } else {
        kl_problem_residuals_at(sim->problem, sim->lambda, sim->velocity, &r);
    }
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

static void measure_solve(const KlSim *sim, double *m) {
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
        time += sim->stage_time[stage];
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

static void measure_force(const KlSim *sim, double *m) {
    m[KL_METRIC_max_joint_force] = largest_force(sim->joint_wrench, sim->joint_count, 6);
    m[KL_METRIC_max_contact_force] = largest_force(sim->contact_force, sim->contact_count, 3);
}

// ---- asking ------------------------------------------------------------------------------------

static const KlMetricGroup group_of[KL_METRIC_COUNT] = {
#define METRIC_GROUP(name, group, ...) [KL_METRIC_##name] = KL_METRIC_GROUP_##group,
    KL_METRIC_LIST(METRIC_GROUP)
#undef METRIC_GROUP
};

typedef struct Group {
    void (*measure)(const KlSim *sim, double *m);
    bool of_step;  // all of it needs what the step has left
} Group;

static const Group groups[KL_METRIC_GROUP_COUNT] = {
    [KL_METRIC_GROUP_violation] = {measure_violation, false}, [KL_METRIC_GROUP_motion] = {measure_motion, false},
    [KL_METRIC_GROUP_residual] = {measure_residual, true},    [KL_METRIC_GROUP_force] = {measure_force, true},
    [KL_METRIC_GROUP_solve] = {measure_solve, true},
};

enum { ALL_GROUPS = (1u << KL_METRIC_GROUP_COUNT) - 1 };

// Groups as bits; what cannot be had stays unknown. The solve comes last: the time of its step counts the others.
static void measure(const KlSim *sim, uint32_t wanted) {
    KlMeasures *measures = sim->measures;
    wanted &= ~measures->known;
    if (wanted == 0) {
        return;
    }
    double began = kl_clock();
    for (int32_t i = 0; i < KL_METRIC_COUNT; i++) {
        measures->value[i] = (wanted & 1u << group_of[i]) != 0 ? NAN : measures->value[i];
    }
    for (int32_t g = 0; g < KL_METRIC_GROUP_COUNT; g++) {
        if (g == KL_METRIC_GROUP_solve) {
            sim->stage_time[KL_STAGE_MEASURE] += kl_clock() - began;
        }
        if ((wanted & 1u << g) != 0 && (sim->stepped || !groups[g].of_step)) {
            groups[g].measure(sim, measures->value);
        }
    }
    measures->known |= wanted;
}

const double *kl_sim_metrics(const KlSim *sim) {
    measure(sim, ALL_GROUPS);
    return sim->measures->value;
}

double kl_sim_metric(const KlSim *sim, const char *id) {
    int32_t metric = kl_metric_find(id);
    if (metric < 0) {
        return NAN;
    }
    if (metric == KL_METRIC_internal_share) {
        double share = NAN;
        bool known = sim->stepped && sim->dim > 0;
        return known && kl_problem_internal_share(sim->problem, sim->lambda, &share) == KL_OK ? share : NAN;
    }
    measure(sim, 1u << group_of[metric]);
    return sim->measures->value[metric];
}
