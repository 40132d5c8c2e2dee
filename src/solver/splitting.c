// The projective splitting scheme, sweep by sweep.
//
//   lambda reaction [N s]   D Delassus [1/kg]   v = D lambda + v_f [m/s]   omega relaxation factor
//
// Velocities are those of the present iterate, own reaction included: with m < j already new,
//   v_j = v_f,j + sum_m D_jm lambda_m,   local free velocity  v_f,j_bar = v_j - D_jj lambda_j.
#include "solver/splitting.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "dual/desaxce.h"
#include "math/lanes.h"
#include "math/vec.h"

enum {
    AUTO_DENSE_DIM = 48,  // up to here a dense sweep costs less than one in body space
    REFRESH = 16,         // sweeps between fresh sums of u = M^-1 J^T lambda, which drifts by rounding
};

void kl_splitting_reserve(void *state, const KlCapacity *capacity, const double *param, KlArena *arena) {
    KlSplitting *s = state;
    KlSweep sweep = (KlSweep)(int32_t)param[KL_PARAM_SWEEP];
    int32_t dense_dim = sweep == KL_SWEEP_DELASSUS ? capacity->dim : sweep == KL_SWEEP_AUTO ? AUTO_DENSE_DIM : 0;
    s->delassus = kl_dense_alloc(arena, dense_dim);
    s->joint_factor = KL_ARENA_ARRAY(arena, double, capacity->joint_squares);
    s->joint_start = KL_ARENA_ARRAY(arena, size_t, capacity->size.joint_count);
    s->limit_diagonal = KL_ARENA_ARRAY(arena, double, capacity->size.limit_count);
    s->local = KL_ARENA_ARRAY(arena, KlLocalProblem, capacity->size.contact_count);
    s->order = KL_ARENA_ARRAY(arena, int32_t, capacity->block_count);
    s->sweep_state = KL_ARENA_ARRAY(arena, double, 6 * (size_t)capacity->size.body_count);
    s->block_velocity = KL_ARENA_ARRAY(arena, double, capacity->size.joint_rows + 3);
    s->velocity = KL_ARENA_ARRAY(arena, double, capacity->dim);
    s->residual = KL_ARENA_ARRAY(arena, double, capacity->dim);
}

// ---- joint blocks ------------------------------------------------------------------------------

// In place A = L D L^T: L below the diagonal, 1/D on it. A pivot at rounding level marks a row that
// depends on the ones before (a redundant joint); 1/D = 0 leaves its reaction as it is.
static void factor_ldlt(int32_t n, double *a) {
    for (int32_t j = 0; j < n; j++) {
        double *row = a + (size_t)j * (size_t)n;
        double diagonal = row[j], pivot = row[j];
        for (int32_t k = 0; k < j; k++) {
            const double *above = a + (size_t)k * (size_t)n;
            double l = row[k];
            for (int32_t m = 0; m < k; m++) {
                l -= row[m] * above[m];  // row[m] holds L_jm D_m until the end of this row
            }
            row[k] = l;
        }
        for (int32_t k = 0; k < j; k++) {
            double scaled = row[k] * a[(size_t)k * (size_t)n + (size_t)k];
            pivot -= row[k] * scaled;
            row[k] = scaled;
        }
        row[j] = pivot > 16.0 * n * 0x1p-52 * diagonal ? 1.0 / pivot : 0.0;
    }
}

// x <- A^-1 x
static void solve_ldlt(int32_t n, const double *a, double *x) {
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < i; k++) {
            x[i] -= a[(size_t)i * (size_t)n + (size_t)k] * x[k];
        }
    }
    for (int32_t i = 0; i < n; i++) {
        x[i] *= a[(size_t)i * (size_t)n + (size_t)i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < n; k++) {
            x[i] -= a[(size_t)k * (size_t)n + (size_t)i] * x[k];
        }
    }
}

// ---- begin -------------------------------------------------------------------------------------

static void prepare_joints(KlSplitting *s, const KlProblem *p) {
    size_t at = 0;
    for (int32_t j = 0; j < p->joint_count; j++) {
        int32_t rows = kl_block_rows(p, j);
        s->joint_start[j] = at;
        kl_problem_block_delassus(p, j, s->joint_factor + at);
        factor_ldlt(rows, s->joint_factor + at);
        at += (size_t)rows * (size_t)rows;
    }
}

static void prepare_contacts(KlSplitting *s, const KlProblem *p, bool safe_step) {
    for (int32_t k = 0; k < p->contact_count; k++) {
        KlLocalProblem *local = &s->local[k];
        *local = (KlLocalProblem){.friction = p->friction[k]};
        kl_problem_block_delassus(p, kl_contact_block(p, k), local->delassus);
        local->step = s->kind->step != NULL ? s->kind->step(local->delassus, safe_step) : 0.0;
    }
}

static void shuffle(KlRng *rng, int32_t count, int32_t *order) {
    for (int32_t i = count - 1; i > 0; i--) {
        int32_t j = kl_rng_index(rng, i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

static void order_blocks(KlSplitting *s, const KlProblem *p, KlOrder order) {
    enum { JOINTS, LIMITS, CONTACTS };
    static const uint8_t first_to_last[][3] = {[KL_ORDER_FORWARD] = {JOINTS, LIMITS, CONTACTS},
                                               [KL_ORDER_JCL] = {JOINTS, CONTACTS, LIMITS},
                                               [KL_ORDER_LJC] = {LIMITS, JOINTS, CONTACTS},
                                               [KL_ORDER_LCJ] = {LIMITS, CONTACTS, JOINTS},
                                               [KL_ORDER_CJL] = {CONTACTS, JOINTS, LIMITS},
                                               [KL_ORDER_CLJ] = {CONTACTS, LIMITS, JOINTS},
                                               [KL_ORDER_CONTACTS_SHUFFLED] = {JOINTS, LIMITS, CONTACTS}};
    const int32_t start[] = {0, p->joint_count, p->joint_count + p->limit_count, p->block_count};
    const uint8_t *sets = first_to_last[order < KL_ORDER_JCL ? KL_ORDER_FORWARD : order];
    int32_t at = 0;
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t b = start[sets[i]]; b < start[sets[i] + 1]; b++) {
            s->order[at++] = b;
        }
    }
    if (order ==
        KL_ORDER_CONTACTS_SHUFFLED) {  // v_f: another order in the next step, the same one for the same problem
        s->rng.state = kl_hash_doubles(s->rng.state, p->free_velocity, (size_t)p->dim);
        shuffle(&s->rng, p->contact_count, s->order + start[CONTACTS]);
    }
}

KlStatus kl_splitting_begin(KlRun *run, const KlSplittingKind *kind, bool safe_step) {
    KlSplitting *s = run->state;
    const KlProblem *p = run->problem;
    s->kind = kind;
    KlSweep sweep = (KlSweep)kl_param_int(run, KL_PARAM_SWEEP);
    s->dense = sweep == KL_SWEEP_DELASSUS || (sweep == KL_SWEEP_AUTO && p->dim <= AUTO_DENSE_DIM);
    s->omega = kl_param(run, KL_PARAM_OMEGA);
    s->rng.state = (uint64_t)kl_param(run, KL_PARAM_SEED);
    if (s->dense) {
        kl_problem_delassus(p, s->delassus);
    }
    prepare_joints(s, p);
    for (int32_t l = 0; l < p->limit_count; l++) {
        kl_problem_block_delassus(p, p->joint_count + l, &s->limit_diagonal[l]);
    }
    prepare_contacts(s, p, safe_step);
    order_blocks(s, p, (KlOrder)kl_param_int(run, KL_PARAM_ORDER));
    if (!s->dense) {
        kl_sweep_begin(p, run->lambda, s->sweep_state);
    }
    return KL_OK;
}

// ---- one sweep ---------------------------------------------------------------------------------

static void dense_rows(const KlSplitting *s, const KlProblem *p, int32_t first, int32_t rows, const double *lambda,
                       double *velocity) {
    for (int32_t i = 0; i < rows; i++) {
        const double *row = s->delassus + (size_t)(first + i) * (size_t)p->dim;
        velocity[i] = p->free_velocity[first + i] + kl_lanes_dot(row, lambda, p->dim);
    }
}

static void block_velocity(const KlSplitting *s, const KlProblem *p, int32_t block, const double *lambda,
                           double *velocity) {
    if (s->dense) {
        dense_rows(s, p, kl_block_first(p, block), kl_block_rows(p, block), lambda, velocity);
    } else {
        kl_sweep_velocity(p, block, lambda, s->sweep_state, velocity);
    }
}

// Each turns v of the block into the change of its reaction; lambda is the reaction before.
typedef void (*BlockChange)(const KlSplitting *s, const KlProblem *p, int32_t block, const double *lambda, double *v);

// lambda_j0 = -D_jj^-1 v_f_bar = lambda - D_jj^-1 v
static void joint_change(const KlSplitting *s, const KlProblem *p, int32_t block, const double *lambda, double *v) {
    (void)lambda;
    int32_t rows = kl_block_rows(p, block);
    solve_ldlt(rows, s->joint_factor + s->joint_start[block], v);
    for (int32_t i = 0; i < rows; i++) {
        v[i] *= -s->omega;
    }
}

static void limit_change(const KlSplitting *s, const KlProblem *p, int32_t block, const double *lambda, double *v) {
    double fresh = lambda[0] - v[0] / s->limit_diagonal[block - p->joint_count];
    v[0] = s->omega * ((fresh > 0.0 ? fresh : 0.0) - lambda[0]);
}

static void contact_change(const KlSplitting *s, const KlProblem *p, int32_t block, const double *lambda, double *v) {
    KlLocalProblem *local = &s->local[kl_block_contact(p, block)];
    double own[3], fresh[3];
    kl_mat3_mul_vec(local->delassus, lambda, own);
    kl_sub3(v, own, local->free_velocity);
    local->desaxce = s->kind->de_saxce ? kl_desaxce_normal(local->friction, v) : 0.0;
    kl_copy3(lambda, fresh);
    s->kind->local(local, fresh);
    kl_sub3(fresh, lambda, v);
    kl_scale3(s->omega, v, v);
}

static void update_block(KlSplitting *s, const KlProblem *p, int32_t block, double *lambda) {
    static const BlockChange change[] = {
        [KL_BLOCK_JOINT] = joint_change, [KL_BLOCK_LIMIT] = limit_change, [KL_BLOCK_CONTACT] = contact_change};
    double *own = lambda + kl_block_first(p, block), *v = s->block_velocity;
    block_velocity(s, p, block, lambda, v);
    change[kl_block_kind(p, block)](s, p, block, own, v);
    int32_t rows = kl_block_rows(p, block);
    for (int32_t i = 0; i < rows; i++) {
        own[i] += v[i];
    }
    if (!s->dense) {
        kl_sweep_add(p, block, v, s->sweep_state);
    }
}

void kl_splitting_sweep(KlRun *run) {
    KlSplitting *s = run->state;
    const KlProblem *p = run->problem;
    KlOrder order = (KlOrder)kl_param_int(run, KL_PARAM_ORDER);
    if (order == KL_ORDER_RANDOM) {
        shuffle(&s->rng, p->block_count, s->order);
    }
    bool backward = order == KL_ORDER_BACKWARD || (order == KL_ORDER_FORWARD_BACKWARD && run->iteration % 2 == 0);
    if (!s->dense && run->iteration % REFRESH == 0) {
        kl_sweep_begin(p, run->lambda, s->sweep_state);
    }
    for (int32_t i = 0; i < p->block_count; i++) {
        update_block(s, p, s->order[backward ? p->block_count - 1 - i : i], run->lambda);
    }
}

// ---- residuals ---------------------------------------------------------------------------------

static void current_velocity(const KlSplitting *s, const KlProblem *p, const double *lambda, double *velocity) {
    if (s->dense) {
        dense_rows(s, p, 0, p->dim, lambda, velocity);
        return;
    }
    for (int32_t b = 0; b < p->block_count; b++) {
        kl_sweep_velocity(p, b, lambda, s->sweep_state, velocity + kl_block_first(p, b));
    }
}

void kl_splitting_residuals(KlRun *run) {
    KlSplitting *s = run->state;
    const KlProblem *p = run->problem;
    current_velocity(s, p, run->lambda, s->velocity);
    s->objective =
        0.5 * (kl_lanes_dot(run->lambda, s->velocity, p->dim) + kl_lanes_dot(run->lambda, p->free_velocity, p->dim));
    kl_run_residuals(run, s->velocity, !s->kind->ccp_residuals);
}

// ---- the algorithm box -------------------------------------------------------------------------

void kl_splitting_iterate(KlRun *run) {
    KlSplitting *s = run->state;
    run->penalty = s->omega;
    kl_splitting_sweep(run);
    kl_splitting_residuals(run);
    double decayed = kl_param(run, KL_PARAM_GAMMA) * s->omega;
    double least = kl_param(run, KL_PARAM_OMEGA_MIN);
    s->omega = decayed > least ? decayed : least;
}
