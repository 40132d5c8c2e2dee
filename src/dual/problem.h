// The dual problem for those who solve it: what a block is, its share of D, and products with D
// block by block. A KlProblem always comes from kl_problem_create (or a function built on it):
// behind the public fields it owns scratch memory, so that nothing below allocates.
//
//   lambda reaction [N s]   v = (D + R) lambda + v_f [m/s]   D = J M^-1 J^T   du = M^-1 J^T lambda
#ifndef KL_DUAL_PROBLEM_H
#define KL_DUAL_PROBLEM_H

#include "base/status.h"
#include "kl.h"

// ---- blocks: joints, then limits, then contacts ------------------------------------------------

typedef enum KlBlockKind { KL_BLOCK_JOINT = 0, KL_BLOCK_LIMIT, KL_BLOCK_CONTACT } KlBlockKind;

static inline KlBlockKind kl_block_kind(const KlProblem *p, int32_t block) {
    return block < p->joint_count                    ? KL_BLOCK_JOINT
           : block < p->joint_count + p->limit_count ? KL_BLOCK_LIMIT
                                                     : KL_BLOCK_CONTACT;
}
static inline int32_t kl_block_first(const KlProblem *p, int32_t block) { return p->block_start[block]; }
static inline int32_t kl_block_rows(const KlProblem *p, int32_t block) {
    return p->block_start[block + 1] - p->block_start[block];
}
// Contact number of a contact block, block of a contact, its first row (t, o, n follow).
static inline int32_t kl_block_contact(const KlProblem *p, int32_t block) {
    return block - p->joint_count - p->limit_count;
}
static inline int32_t kl_contact_block(const KlProblem *p, int32_t contact) {
    return p->joint_count + p->limit_count + contact;
}
static inline int32_t kl_first_limit_row(const KlProblem *p) { return p->joint_rows; }
static inline int32_t kl_first_contact_row(const KlProblem *p) { return p->joint_rows + p->limit_count; }
static inline int32_t kl_contact_row(const KlProblem *p, int32_t contact) {
    return p->joint_rows + p->limit_count + 3 * contact;
}
// mu of a contact block.
static inline double kl_block_friction(const KlProblem *p, int32_t block) {
    return p->friction[kl_block_contact(p, block)];
}
static inline bool kl_problem_has_bodies(const KlProblem *p) { return p->body_count > 0; }
int32_t kl_problem_max_block_rows(const KlProblem *p);  // rows of the largest block, 0 when empty

// ---- storage that a step refills ---------------------------------------------------------------

// The rows and blocks that a size asks for.
static inline int32_t kl_size_rows(const KlProblemSize *s) {
    return s->joint_rows + s->limit_count + 3 * s->contact_count;
}
static inline int32_t kl_size_blocks(const KlProblemSize *s) {
    return s->joint_count + s->limit_count + s->contact_count;
}
KlProblemSize kl_problem_size(const KlProblem *p);

// Gives the problem new counts inside the size it was created with, without allocating; fills
// block_start for limits and contacts and zeroes friction, free_velocity, softening and block_id of the
// rows in use. KL_ERR_LIMIT past the created size. A step calls this, then fills, the jacobian whole.
KlStatus kl_problem_reshape(KlProblem *p, const KlProblemSize *size);
// Says that the numbers stay as they are until let go, or the next reshape: what follows from them is then found once.
// False where that was said before.
bool kl_problem_keep(const KlProblem *p);
void kl_problem_let_go(const KlProblem *p);
void kl_problem_forget(const KlProblem *p);  // what was found; the numbers still stay

// ---- D and its blocks (all include diag(R)) ----------------------------------------------------

void kl_problem_diagonal(const KlProblem *p, double *diagonal);  // (dim)
// D_jk, rows_j x rows_k, row-major; zeros where the blocks share no body.
void kl_problem_block_pair(const KlProblem *p, int32_t j, int32_t k, double *d);
static inline void kl_problem_block_delassus(const KlProblem *p, int32_t block, double *d) {
    kl_problem_block_pair(p, block, block, d);
}
// S of the scale-free natural map: 1 / max diag(D_jj) for every row of block j (dim).
void kl_problem_scale(const KlProblem *p, double *scale);

// ---- body space: du = M^-1 J^T lambda (body_count x 6) -----------------------------------------

// The twists of the two bodies of a block, zeros for the world.
static inline void kl_block_twists(const KlProblem *p, int32_t block, const double *u, const double *own[2]) {
    static const double rest[6] = {0.0};
    for (int32_t side = 0; side < 2; side++) {
        int32_t body = p->block_body[2 * block + side];
        own[side] = body >= 0 ? u + 6 * (size_t)body : rest;
    }
}
// du += M^-1 J_block^T impulse, impulse (rows of the block).
void kl_block_push(const KlProblem *p, int32_t block, const double *impulse, double *du);
// velocity = J_block u  (rows of the block).
void kl_block_pull(const KlProblem *p, int32_t block, const double *u, double *velocity);
void kl_problem_body_velocity(const KlProblem *p, const double *lambda, double *du);    // M^-1 J^T lambda
void kl_problem_body_wrench(const KlProblem *p, const double *lambda, double *wrench);  // J^T lambda
// Adds the wrenches of the blocks from `first` on.
void kl_problem_add_wrenches(const KlProblem *p, int32_t first, const double *lambda, double *wrench);

// ---- Gauss-Seidel sweeps, one code for both forms ----------------------------------------------
// `state` is the caller's: body form (6 body_count) keeps du and makes a sweep O(dim); explicit form
// needs none (0) and reads the rows of D. Reserve kl_sweep_state_size doubles.
//
//   kl_sweep_begin(p, lambda, state);
//   for each block: kl_sweep_velocity(p, block, lambda, state, v);  choose delta;
//                   lambda_block += delta;  kl_sweep_add(p, block, delta, state);

static inline int32_t kl_sweep_state_size(const KlProblem *p) { return 6 * p->body_count; }
void kl_sweep_begin(const KlProblem *p, const double *lambda, double *state);
// v+ of the block for the present lambda: ((D + R) lambda + v_f)_block.
void kl_sweep_velocity(const KlProblem *p, int32_t block, const double *lambda, const double *state, double *velocity);
static inline void kl_sweep_add(const KlProblem *p, int32_t block, const double *delta, double *state) {
    if (kl_problem_has_bodies(p)) {
        kl_block_push(p, block, delta, state);
    }
}

// ---- products and residuals --------------------------------------------------------------------

// product = (D + R) x, without v_f (dim). May not alias.
void kl_problem_multiply(const KlProblem *p, const double *x, double *product);
// Residuals when v+ of this lambda is known already (saves the product with D).
void kl_problem_residuals_at(const KlProblem *p, const double *lambda, const double *velocity, KlResiduals *residuals);
// r_p, r_dual and r_ncp alone, in one passage: what an iteration of a solver reports. Without the De Saxce term those
// of the CCP.
typedef struct KlLoopResiduals {
    double primal, dual, complementarity;
} KlLoopResiduals;
KlLoopResiduals kl_problem_loop_residuals(const KlProblem *p, const double *lambda, const double *velocity,
                                          bool de_saxce);
// r_nat_rel alone, v+ known: what our solvers stop on; and in `strict` the same natural map over |S v_f| alone.
double kl_natural_relative(const KlProblem *p, const double *lambda, const double *velocity, double *strict);
double kl_problem_given_size(const KlProblem *p);  // that |S v_f|

#endif
