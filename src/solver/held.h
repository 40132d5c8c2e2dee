// The problem when nothing slides: joints, held limits and sticking contacts let nothing move (v = 0
// in their rows), open limits and contacts do not push (lambda = 0). One Cholesky factorization of
// the held rows of D and a few solutions with it, iterated Tikhonov from 0 (least_norm.h),
//   x <- x - (D + eps W)^-1 (D x + v_f),
// give the reaction of least norm. It solves the NCP when it lies in K and the open ones part, which
// the natural map tells: so in most steps of a mechanism at rest or rolling.
#ifndef KL_SOLVER_HELD_H
#define KL_SOLVER_HELD_H

#include "solver/scaled.h"

typedef struct KlHeld {
    double *x, *velocity;  // (dim) what kl_held_solve found, and D x + v_f
    double *shift, *step;  // (dim) eps W; scratch
    KlBlockLu *lu;         // its own: symmetric, so laid out for Cholesky
    uint8_t *open;         // (block_count) not held
    int32_t held;          // rows
    bool raw;  // problems with bodies: D is factored as given, scaling would change its factor by rounding alone
    // Few rows: held rows alone, dense (math/llt.h).
    bool dense;
    int32_t *row;      // (held) in the problem
    int32_t *place;    // (block_count) first held row of each block, -1 when open
    double *values;    // (held x padded) upper triangle
    double *factor;    // (kl_llt_size)
    double *reduced;   // (padded) right-hand side
    double *diagonal;  // (padded) shifts
    double *size;      // (padded) 1 / p
    KL_BUFFER(double) memory, dense_memory;
    KL_BUFFER(int32_t) ints;
    KL_BUFFER(uint8_t) flags;
} KlHeld;

// Room for problems up to a capacity (the factor: up to KL_SCALED_DENSE rows), or for the problem
// that `scaled` has taken in. KL_ERR_MEMORY.
KlStatus kl_held_reserve(KlHeld *h, const KlCapacity *capacity);
KlStatus kl_held_begin(KlHeld *h, const KlScaled *s);
void kl_held_release(KlHeld *h);

// Solves for these states (limits, then contacts; none may be KL_STATE_SLIP) until what is left is
// `tolerance` of |v_f|. Needs the blocks of D, so not s->bodies. False when a pivot fails, or when
// rounding or a small eigenvalue of D stands against it.
bool kl_held_solve(KlHeld *h, KlScaled *s, const uint8_t *state, double tolerance);

#endif
