// Life of a simulation: everything is sized and allocated here, so that a step allocates nothing.
#include "sim/sim.h"
#include "solver/solver.h"

#include <string.h>

#include "math/vec.h"

static const char default_solver[] = "admm-ncp-fp";
static const char sparse_solver[] = "newton-ncp";
enum { FIRST_DENSE_ROWS = 8192 };

// ---- sizes -------------------------------------------------------------------------------------

static int32_t count_limits(const KlModel *model) {
    int32_t count = 0;
    for (int32_t j = 0; j < model->joint_count; j++) {
        const KlJointDef *joint = &model->joints[j];
        for (int32_t i = 0; i < model->joint_dof_start[j + 1] - model->joint_dof_start[j]; i++) {
            count += isfinite(joint->lower[i]) || isfinite(joint->upper[i]);
        }
    }
    return count;
}

// Degrees of freedom of implicit PD joints: each gives at most two bilateral rows or one of each kind.
static int32_t count_drives(const KlModel *model) {
    int32_t count = 0;
    for (int32_t j = 0; j < model->joint_count; j++) {
        if (model->joints[j].actuation == KL_ACTUATION_PD_IMPLICIT) {
            count += model->joint_dof_start[j + 1] - model->joint_dof_start[j];
        }
    }
    return count;
}

static void measure_model(KlSim *sim) {
    const KlModel *model = sim->model;
    sim->settings = model->settings;
    sim->body_count = model->body_count;
    sim->joint_count = model->joint_count;
    sim->event_count = model->event_count;
    sim->row_start = model->joint_row_start;
    sim->dof_start = model->joint_dof_start;
    sim->dof_count = model->joint_dof_start[model->joint_count];
    sim->limit_capacity = count_limits(model);
    sim->drive_capacity = count_drives(model);
    sim->state_count = kl_state_doubles(sim);
    int32_t drives = sim->drive_capacity;
    sim->capacity = (KlProblemSize){
        .joint_rows = model->joint_row_start[model->joint_count] + 2 * drives,
        .joint_count = model->joint_count + 2 * drives,
        .limit_count = sim->limit_capacity + drives,
        .contact_count = sim->settings.max_contacts,
        .body_count = model->body_count,
    };
}

// ---- memory ------------------------------------------------------------------------------------

static void allocate_state(KlSim *sim, KlState *state) {
    double *block = KL_ARENA_ARRAY(&sim->arena, double, sim->state_count);
    if (block != NULL) {
        kl_state_bind(sim, block, state);
    }
}

#define NEW(field, count) sim->field = kl_arena_alloc(&sim->arena, (size_t)(count), sizeof *sim->field)

static KlStatus allocate(KlSim *sim) {
    int32_t bodies = sim->body_count, joints = sim->joint_count, dofs = sim->dof_count;
    int32_t contacts = sim->settings.max_contacts, rows = kl_size_rows(&sim->capacity);
    allocate_state(sim, &sim->start);
    allocate_state(sim, &sim->now);
    allocate_state(sim, &sim->next);
    NEW(body_inverse_inertia, 9 * bodies);
    NEW(eval_pose, 7 * bodies);
    NEW(free_twist, 6 * bodies);
    NEW(impulse, 6 * bodies);
    NEW(frame, joints);
    NEW(residual, sim->row_start[joints]);
    NEW(joint_row, KL_ROW * sim->row_start[joints]);
    NEW(dof_position, dofs);
    NEW(dof_cosine, dofs);
    NEW(angle_dof, dofs);
    NEW(acting, joints);
    NEW(limited, dofs);
    NEW(dof_velocity, dofs);
    NEW(dof_row, KL_ROW * dofs);
    NEW(dof_effort, dofs);
    NEW(joint_velocity, dofs);
    NEW(joint_wrench, 6 * joints);
    NEW(joint_frame, 7 * joints);
    NEW(joint_residual, joints);
    NEW(limits, sim->limit_capacity);
    NEW(drives, 2 * sim->drive_capacity);
    NEW(bounded_drives, sim->drive_capacity);
    NEW(contacts, contacts);
    NEW(contact_position, 3 * contacts);
    NEW(contact_frame, 9 * contacts);
    NEW(contact_gap, contacts);
    NEW(contact_force, 3 * contacts);
    NEW(contact_friction, contacts);
    NEW(contact_bodies, 2 * contacts);
    NEW(contact_geoms, 2 * contacts);
    NEW(contact_mode, contacts);
    NEW(contact_id, contacts);
    NEW(lambda, rows);
    NEW(velocity, rows);
    NEW(measures, 1);
    NEW(stage_time, KL_STAGE_COUNT);
    return kl_arena_check(&sim->arena);
}

#undef NEW

// ---- the start state ---------------------------------------------------------------------------

static KlStatus fill_bodies(KlSim *sim) {
    for (int32_t i = 0; i < sim->body_count; i++) {
        const KlBodyDef *body = &sim->model->bodies[i];
        memcpy(sim->start.pose + 7 * i, body->pose, sizeof body->pose);
        memcpy(sim->start.twist + 6 * i, body->twist, sizeof body->twist);
        sim->problem->mass[i] = body->mass;
        sim->problem->inverse_mass[i] = 1.0 / body->mass;
        if (!kl_mat3_inverse(body->inertia, sim->body_inverse_inertia + 9 * i)) {
            return kl_fail(KL_ERR_SCENE, "body '%s': the inertia cannot be inverted", body->name);
        }
    }
    return KL_OK;
}

// What a step has to look at: angles, limits, and joints that act.
static void list_freedoms(KlSim *sim) {
    for (int32_t j = 0; j < sim->joint_count; j++) {
        const KlJointDef *joint = &sim->model->joints[j];
        bool acts = joint->actuation != KL_ACTUATION_PASSIVE;
        for (int32_t i = 0; i < sim->dof_start[j + 1] - sim->dof_start[j]; i++) {
            if (kl_joint_unwraps(joint->kind, i)) {
                sim->angle_dof[sim->angle_count++] = sim->dof_start[j] + i;
            }
            if (isfinite(joint->lower[i]) || isfinite(joint->upper[i])) {
                sim->limited[sim->limited_count++] = (KlFreedom){j, i};
            }
            acts = acts || joint->damping[i] > 0.0;
        }
        if (acts) {
            sim->acting[sim->acting_count++] = j;
        }
    }
}

static void fill_joints(KlSim *sim) {
    for (int32_t j = 0; j < sim->joint_count; j++) {
        size_t count = (size_t)(sim->dof_start[j + 1] - sim->dof_start[j]);
        memcpy(sim->start.target + sim->dof_start[j], sim->model->joints[j].target, count * sizeof(double));
    }
    list_freedoms(sim);
    kl_locate_joints(sim, sim->start.pose, NULL, sim->start.position);
    for (int32_t e = 0; e < sim->event_count; e++) {
        sim->start.event_body[e] = -1.0;
    }
}

// A scene that may need so many rows that dense matrices take more than a gigabyte starts with the solver that has none.
static const char *first_solver(const KlSim *sim) {
    return kl_size_rows(&sim->capacity) > FIRST_DENSE_ROWS ? sparse_solver : default_solver;
}

static KlStatus set_up(KlSim *sim) {
    measure_model(sim);
    KL_TRY(allocate(sim));
    KL_TRY(kl_problem_create(&sim->capacity, &sim->problem));
    KL_TRY(kl_collider_create(sim->model, &sim->collider));
    KL_TRY(fill_bodies(sim));
    fill_joints(sim);
    kl_build_fields(sim);
    KL_TRY(kl_sim_set_solver(sim, first_solver(sim)));
    kl_sim_reset(sim);
    return KL_OK;
}

KlStatus kl_sim_create(const KlModel *model, KlSim **sim) {
    *sim = NULL;
    KlSim *s = kl_alloc(sizeof *s);
    if (s == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for a simulation");
    }
    s->model = model;
    KlStatus status = set_up(s);
    if (status != KL_OK) {
        kl_sim_destroy(s);
        return status;
    }
    *sim = s;
    return KL_OK;
}

void kl_sim_destroy(KlSim *sim) {
    if (sim != NULL) {
        kl_solver_destroy(sim->solver);
        kl_collider_destroy(sim->collider);
        kl_problem_destroy(sim->problem);
        kl_arena_free(&sim->arena);
        kl_free(sim);
    }
}

void kl_sim_reset(KlSim *sim) {
    kl_state_copy(sim, &sim->start, &sim->now);
    kl_collider_reset(sim->collider);
    kl_solver_forget(sim->solver);
    sim->begun = false;
    sim->solution = (KlSolution){0};
    sim->contact_count = sim->limit_count = sim->dim = 0;
    memset(sim->joint_wrench, 0, 6 * (size_t)sim->joint_count * sizeof *sim->joint_wrench);
    memset(sim->dof_effort, 0, (size_t)sim->dof_count * sizeof *sim->dof_effort);
    memset(sim->stage_time, 0, KL_STAGE_COUNT * sizeof *sim->stage_time);
    kl_settle(sim);
}

KlStatus kl_sim_set_solver(KlSim *sim, const char *id) {
    KlSolver *solver = NULL;
    KL_TRY(kl_solver_create(id, &solver));
    KlStatus status = kl_solver_reserve(solver, &sim->capacity);
    if (status != KL_OK) {
        kl_solver_destroy(solver);
        return status;
    }
    kl_solver_destroy(sim->solver);
    sim->solver = solver;
    return KL_OK;
}

KlSolver *kl_sim_solver(KlSim *sim) { return sim->solver; }
void kl_sim_set_trace(KlSim *sim, KlTrace *trace) { sim->trace = trace; }
const KlProblem *kl_sim_problem(const KlSim *sim) { return sim->problem; }
const KlSolution *kl_sim_solution(const KlSim *sim) { return &sim->solution; }
double kl_sim_time(const KlSim *sim) { return kl_sim_now(sim); }
int64_t kl_sim_step_index(const KlSim *sim) { return sim->now.step; }
const KlModel *kl_sim_model(const KlSim *sim) { return sim->model; }

// ---- input -------------------------------------------------------------------------------------

static KlStatus check_index(const char *function, const char *what, int32_t index, int32_t count) {
    if (index < 0 || index >= count) {
        return kl_fail(KL_ERR_ARGUMENT, "%s: %s must be in [0, %d) (got %d)", function, what, (int)count, (int)index);
    }
    return KL_OK;
}

static KlStatus check_finite(const char *function, const char *what, const double *x, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return kl_fail(KL_ERR_ARGUMENT, "%s: %s[%d] must be finite (got %g)", function, what, (int)i, x[i]);
        }
    }
    return KL_OK;
}

KlStatus kl_sim_apply_wrench(KlSim *sim, int32_t body, const double wrench[6]) {
    KL_TRY(check_index("kl_sim_apply_wrench", "body", body, sim->body_count));
    KL_TRY(check_finite("kl_sim_apply_wrench", "wrench", wrench, 6));
    for (int32_t k = 0; k < 6; k++) {
        sim->now.wrench[6 * body + k] += wrench[k];
    }
    return KL_OK;
}

static KlStatus set_freedom(KlSim *sim, const char *function, int32_t joint, const double *value, double *to) {
    int32_t first = sim->dof_start[joint], count = sim->dof_start[joint + 1] - first;
    KL_TRY(check_finite(function, "value", value, count));
    memcpy(to + first, value, (size_t)count * sizeof *to);
    return KL_OK;
}

KlStatus kl_sim_set_effort(KlSim *sim, int32_t joint, const double *effort) {
    KL_TRY(check_index("kl_sim_set_effort", "joint", joint, sim->joint_count));
    const KlJointDef *def = &sim->model->joints[joint];
    if (def->actuation != KL_ACTUATION_FORCE) {
        return kl_fail(KL_ERR_ARGUMENT, "kl_sim_set_effort: joint '%s' has no force actuation", def->name);
    }
    return set_freedom(sim, "kl_sim_set_effort", joint, effort, sim->now.effort);
}

KlStatus kl_sim_set_target(KlSim *sim, int32_t joint, const double *target) {
    KL_TRY(check_index("kl_sim_set_target", "joint", joint, sim->joint_count));
    const KlJointDef *def = &sim->model->joints[joint];
    if (def->actuation != KL_ACTUATION_PID && def->actuation != KL_ACTUATION_PD_IMPLICIT) {
        return kl_fail(KL_ERR_ARGUMENT, "kl_sim_set_target: joint '%s' has neither PID nor implicit PD", def->name);
    }
    if (def->reference >= 0) {
        return kl_fail(KL_ERR_ARGUMENT, "kl_sim_set_target: joint '%s' follows reference '%s'", def->name,
                       sim->model->references[def->reference].name);
    }
    return set_freedom(sim, "kl_sim_set_target", joint, target, sim->now.target);
}

KlStatus kl_sim_set_pose(KlSim *sim, int32_t body, const double pose[7]) {
    KL_TRY(check_index("kl_sim_set_pose", "body", body, sim->body_count));
    KL_TRY(check_finite("kl_sim_set_pose", "pose", pose, 7));
    double square = pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5] + pose[6] * pose[6];
    if (!(square > 1e-12)) {
        return kl_fail(KL_ERR_ARGUMENT, "kl_sim_set_pose: the quaternion must not be zero");
    }
    double *to = sim->now.pose + 7 * body;
    memcpy(to, pose, 7 * sizeof *to);
    kl_quat_normalize(to + 3);
    kl_settle(sim);
    return KL_OK;
}

KlStatus kl_sim_set_twist(KlSim *sim, int32_t body, const double twist[6]) {
    KL_TRY(check_index("kl_sim_set_twist", "body", body, sim->body_count));
    KL_TRY(check_finite("kl_sim_set_twist", "twist", twist, 6));
    memcpy(sim->now.twist + 6 * body, twist, 6 * sizeof *twist);
    kl_settle(sim);
    return KL_OK;
}
