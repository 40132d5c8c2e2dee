// The systems (T D + A) dx = b of scaled.h in body space: with D = J M^-1 J^T + R and A' = A + T R,
//   dx = A'^-1 (b - T J du),   (M + J^T A'^-1 T J) du = J^T A'^-1 b,
// six rows a body however many contacts touch it. Needs A' regular (the proximal term sees to
// that); what the inverse of a small A' loses to rounding, refinement in scaled.c brings back.
#ifndef KL_SOLVER_BODY_SYSTEM_H
#define KL_SOLVER_BODY_SYSTEM_H

#include "base/buffer.h"
#include "math/block_lu.h"
#include "solver/solver.h"

struct KlScaled;

typedef struct KlBodySystem {
    KlBlockMatrix matrix;
    KlBlockLu *lu;
    int32_t *entry;    // (block_count x 4) entries (a,a), (a,b), (b,a), (b,b) of each constraint, -1 none
    double *inverse;   // A'^-1: one per joint and limit row, nine per contact
    double *response;  // A'^-1 T, the same
    double *wrench;    // (6 bodies)
    KL_BUFFER(int32_t) pattern;
    KL_BUFFER(size_t) offsets;
    KL_BUFFER(double) values, numbers;
    KL_BUFFER(int32_t) work;
} KlBodySystem;

// M of one body (6 x 6).
void kl_body_system_mass(const KlProblem *problem, int32_t body, double *block);
// Room for any problem of this capacity. KL_ERR_MEMORY.
KlStatus kl_body_system_reserve(KlBodySystem *bs, const KlCapacity *capacity);
// For the problem that `scaled` has taken in; the factor is planned and has no room yet. KL_ERR_MEMORY.
KlStatus kl_body_system_begin(KlBodySystem *bs, const struct KlScaled *scaled, bool cholesky);
void kl_body_system_release(KlBodySystem *bs);
bool kl_body_system_factor(KlBodySystem *bs, const struct KlScaled *scaled);  // scaled->laws
bool kl_body_system_factor_shifted(KlBodySystem *bs, const struct KlScaled *scaled, double joint_shift, double shift);
void kl_body_system_solve(KlBodySystem *bs, const struct KlScaled *scaled,
                          double *x);  // b in, dx out

#endif
