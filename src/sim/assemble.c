// The dual problem of this step (paper, Sec. "Constructing The Dual Problem"): rows of joints (then
// bilateral drives), limits (then bounded drives) and contacts, with
//   v_f = J u_free + v*,   v* = stabilisation + restitution + softening,   R = c diag(D)
#include "base/hash.h"
#include "math/vec.h"
#include "sim/sim.h"
#include "sim/soften.h"

#include <string.h>

// Block ids: kind in the top four bits, so that warm starts never mix kinds.
enum { ID_JOINT = 1, ID_DRIVE, ID_LIMIT, ID_BOUNDED_DRIVE, ID_CONTACT };

static uint64_t tagged(uint64_t kind, uint64_t id) { return kind << 60 | (id & 0x0fffffffffffffffu); }
static uint64_t freedom_id(uint64_t kind, int32_t joint, int32_t dof, int32_t side) {
    return tagged(kind, (uint64_t)joint << 8 | (uint64_t)dof << 1 | (uint64_t)side);
}
// Every bit of the collider's id and of the pair counts, also after the cut to 60 bits.
static uint64_t contact_id(const KlContact *c) {
    uint64_t pair = (uint64_t)(uint32_t)c->geom_a << 32 | (uint32_t)c->geom_b;
    return tagged(ID_CONTACT, kl_hash_word(kl_hash_word(KL_HASH_START, pair), c->id) >> 4);
}

// Where the next block goes.
typedef struct Cursor {
    int32_t row, block;
} Cursor;

static double *row_at(KlProblem *p, int32_t row) { return p->jacobian + (size_t)row * KL_ROW; }

// Names the block at the cursor and moves past it; returns its first row.
static int32_t place_block(KlProblem *p, Cursor *at, int32_t rows, uint64_t id, int32_t a, int32_t b) {
    int32_t first = at->row;
    p->block_start[at->block] = first;
    p->block_id[at->block] = id;
    p->block_body[2 * at->block] = a;
    p->block_body[2 * at->block + 1] = b;
    at->row += rows;
    at->block++;
    p->block_start[at->block] = at->row;
    return first;
}

// Softening of one row; `spring` is the residual that its stiffness sees.
static void soften(const KlSim *sim, const KlSoftening *s, int32_t row, int32_t a, int32_t b, double residual,
                   double spring, double velocity) {
    KlProblem *p = sim->problem;
    KlSoftRow soft = kl_soften_row(s, residual);
    p->softening[row] = soft.compliance * kl_row_mobility(sim, a, b, row_at(p, row));
    p->free_velocity[row] += kl_soften_bias(&soft, velocity, spring, sim->settings.dt);
}

static void add_joint(KlSim *sim, Cursor *at, int32_t j) {  // whose rows are there already
    KlProblem *p = sim->problem;
    const KlSettings *set = &sim->settings;
    const KlJointDef *def = &sim->model->joints[j];
    const double *residual = sim->residual + sim->row_start[j];
    int32_t rows = sim->row_start[j + 1] - sim->row_start[j];
    int32_t first = place_block(p, at, rows, tagged(ID_JOINT, (uint64_t)j), def->base, def->follower);
    const double *source = sim->joint_row + sim->row_start[j] * KL_ROW;
    double *velocities = p->free_velocity + first;
    kl_rows_velocity(source, rows, def->base, def->follower, sim->free_twist, velocities);
    for (int32_t i = 0; i < rows; i++) {
        velocities[i] += kl_bias_joint(set->baumgarte_joint, residual[i], set->dt);
        if (set->soft_joint.on) {
            double velocity = kl_row_velocity(source + i * KL_ROW, def->base, def->follower, sim->now.twist);
            soften(sim, &set->soft_joint, first + i, def->base, def->follower, residual[i], residual[i], velocity);
        }
    }
}

// A row `sign` times that of a degree of freedom; returns its number.
static int32_t add_freedom(KlSim *sim, Cursor *at, int32_t joint, int32_t dof, double sign, uint64_t id) {
    KlProblem *p = sim->problem;
    const KlJointDef *def = &sim->model->joints[joint];
    const double *source = sim->dof_row + (sim->dof_start[joint] + dof) * KL_ROW;
    int32_t first = place_block(p, at, 1, id, def->base, def->follower);
    double *row = row_at(p, first);
    for (int32_t k = 0; k < KL_ROW; k++) {
        row[k] = sign * source[k];
    }
    p->free_velocity[first] = kl_row_velocity(row, def->base, def->follower, sim->free_twist);
    return first;
}

static void add_drive(KlSim *sim, Cursor *at, const KlDrive *drive, uint64_t kind) {
    uint64_t id = freedom_id(kind, drive->joint, drive->dof, drive->effort);
    int32_t row = add_freedom(sim, at, drive->joint, drive->dof, drive->sign, id);
    sim->problem->free_velocity[row] += drive->bias;
    sim->problem->softening[row] = drive->compliance;
}

static void add_limit(KlSim *sim, Cursor *at, const KlLimit *limit) {
    const KlSettings *set = &sim->settings;
    const KlJointDef *def = &sim->model->joints[limit->joint];
    double sign = limit->upper ? -1.0 : 1.0;
    uint64_t id = freedom_id(ID_LIMIT, limit->joint, limit->dof, limit->upper);
    int32_t row = add_freedom(sim, at, limit->joint, limit->dof, sign, id);
    sim->problem->free_velocity[row] += kl_bias_limit(set->baumgarte_limit, limit->gap, set->dt);
    if (set->soft_limit.on) {
        double velocity = sign * sim->dof_velocity[sim->dof_start[limit->joint] + limit->dof];
        soften(sim, &set->soft_limit, row, def->base, def->follower, limit->gap, limit->gap, velocity);
    }
}

// v* of the normal row: Newton's rebound where the contact closes, else the two-sided rule.
static double normal_bias(const KlSettings *set, const KlContact *c, double residual, double velocity) {
    double rebound = kl_bias_restitution(c->restitution, velocity, residual, set->dt);
    double gap = kl_bias_contact(set->baumgarte_contact, residual, set->dt);
    return rebound < 0.0 && residual > 0.0 ? rebound : rebound + gap;
}

// Tangents share the normal's impedance and have no spring (MuJoCo's elliptic cones).
static void add_contact(KlSim *sim, Cursor *at, int32_t k) {
    KlProblem *p = sim->problem;
    const KlSettings *set = &sim->settings;
    const KlContact *c = &sim->contacts[k];
    double *axes = sim->contact_frame + 9 * k, residual = c->gap + set->margin;
    int32_t first = place_block(p, at, 3, contact_id(c), c->body_a, c->body_b);
    kl_contact_axes(c->normal, axes);
    kl_contact_rows(c, axes, sim->eval_pose, row_at(p, first));
    p->friction[k] = c->friction;
    for (int32_t i = 0; i < 3; i++) {
        const double *row = row_at(p, first + i);
        double velocity = kl_row_velocity(row, c->body_a, c->body_b, sim->now.twist);
        p->free_velocity[first + i] = kl_row_velocity(row, c->body_a, c->body_b, sim->free_twist) +
                                      (i == 2 ? normal_bias(set, c, residual, velocity) : 0.0);
        if (set->soft_contact.on) {
            soften(sim, &set->soft_contact, first + i, c->body_a, c->body_b, residual, i == 2 ? residual : 0.0,
                   velocity);
        }
    }
}

KlStatus kl_stage_assemble(KlSim *sim) {
    kl_find_limits(sim);
    KlProblemSize size = {
        .joint_rows = sim->row_start[sim->joint_count] + sim->drive_count,
        .joint_count = sim->joint_count + sim->drive_count,
        .limit_count = sim->limit_count + sim->bounded_drive_count,
        .contact_count = sim->contact_count,
        .body_count = sim->body_count,
    };
    KL_TRY(kl_problem_reshape(sim->problem, &size));
    sim->problem->dt = sim->settings.dt;
    Cursor at = {0, 0};
    size_t joint_rows = (size_t)sim->row_start[sim->joint_count];
    if (joint_rows > 0) {
        memcpy(sim->problem->jacobian, sim->joint_row, joint_rows * KL_ROW * sizeof *sim->joint_row);
    }
    for (int32_t j = 0; j < sim->joint_count; j++) {
        add_joint(sim, &at, j);
    }
    for (int32_t d = 0; d < sim->drive_count; d++) {
        add_drive(sim, &at, &sim->drives[d], ID_DRIVE);
    }
    for (int32_t l = 0; l < sim->limit_count; l++) {
        add_limit(sim, &at, &sim->limits[l]);
    }
    for (int32_t d = 0; d < sim->bounded_drive_count; d++) {
        add_drive(sim, &at, &sim->bounded_drives[d], ID_BOUNDED_DRIVE);
    }
    for (int32_t k = 0; k < sim->contact_count; k++) {
        add_contact(sim, &at, k);
    }
    (void)kl_problem_keep(sim->problem);
    return KL_OK;
}
