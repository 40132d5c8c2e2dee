#include "solver/held.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solver/least_norm.h"
#include "solver/semismooth.h"

enum { ROUNDS = 6 };
static const double ROUNDING = 1e-13;  // of |v_f|: the least that a solution leaves
static const double SLOW = 0.1;        // a round that leaves more than this will not get there

static KlStatus lay_out(KlHeld *h, size_t dim) {
    if (h->lu == NULL) {
        KL_TRY(kl_block_lu_create(&h->lu));
    }
    if (!KL_ROOM(h->memory, 4 * dim + 1)) {
        return KL_ERR_MEMORY;
    }
    double **vectors[] = {&h->x, &h->velocity, &h->shift, &h->step};
    for (size_t i = 0; i < 4; i++) {
        *vectors[i] = h->memory.at + i * dim;
    }
    return KL_OK;
}

KlStatus kl_held_reserve(KlHeld *h, const KlCapacity *capacity) {
    size_t blocks = (size_t)capacity->block_count;
    KL_TRY(lay_out(h, (size_t)capacity->dim));
    return capacity->dim <= KL_SCALED_DENSE
               ? kl_block_lu_reserve(h->lu, capacity->dim, capacity->block_count, blocks * blocks)
               : KL_OK;
}

KlStatus kl_held_begin(KlHeld *h, const KlScaled *s) {
    KL_TRY(lay_out(h, (size_t)s->dim));
    return s->bodies ? KL_OK : kl_block_lu_analyze(h->lu, &s->delassus, true, false);
}

void kl_held_release(KlHeld *h) {
    kl_block_lu_destroy(h->lu);
    kl_free(h->memory.at);
    *h = (KlHeld){0};
}

// ---- the held rows of D + eps W ------------------------------------------------------------------

static bool is_held(const KlScaled *s, const uint8_t *state, int32_t block) {
    int32_t joints = s->problem->joint_count;
    return block < joints || state[block - joints] == KL_STATE_STICK;
}

// Rows and columns of open blocks become those of the identity.
static void form_held(const KlHeld *h, KlScaled *s, const uint8_t *state) {
    const KlBlockMatrix *m = &s->system;
    const int32_t *start = m->block_start;
    for (int32_t b = 0; b < m->block_count; b++) {
        bool held = is_held(s, state, b);
        int32_t rows = start[b + 1] - start[b];
        for (int32_t e = m->row_start[b]; e < m->row_start[b + 1]; e++) {
            int32_t c = m->column[e];
            size_t size = (size_t)rows * (size_t)(start[c + 1] - start[c]);
            double *to = m->values + m->offset[e];
            if (held && is_held(s, state, c)) {
                memcpy(to, s->delassus.values + m->offset[e], size * sizeof *to);
            } else {
                memset(to, 0, size * sizeof *to);
            }
            for (int32_t i = 0; i < rows && c == b; i++) {
                to[i * rows + i] = held ? to[i * rows + i] + h->shift[start[b] + i] : 1.0;
            }
        }
    }
}

// step = -v in held rows, 0 in open ones; returns the largest of it.
static double pull(KlHeld *h, const KlScaled *s, const uint8_t *state) {
    const int32_t *start = s->problem->block_start;
    double largest = 0.0;
    for (int32_t b = 0; b < s->problem->block_count; b++) {
        bool held = is_held(s, state, b);
        for (int32_t row = start[b]; row < start[b + 1]; row++) {
            h->step[row] = held ? -h->velocity[row] : 0.0;
            largest = fabs(h->step[row]) > largest ? fabs(h->step[row]) : largest;
        }
    }
    return largest;
}

bool kl_held_solve(KlHeld *h, KlScaled *s, const uint8_t *state, double tolerance) {
    size_t bytes = (size_t)s->dim * sizeof *h->x;
    kl_least_norm_shifts(s, h->shift);
    form_held(h, s, state);
    s->factorizations++;
    if (!kl_block_lu_factor(h->lu, &s->system)) {
        return false;
    }
    memset(h->x, 0, bytes);
    memcpy(h->velocity, s->free_velocity, bytes);
    double first = pull(h, s, state), left = first;
    double goal = (tolerance > ROUNDING ? tolerance : ROUNDING) * first;
    for (int32_t round = 0; round < ROUNDS && left > goal; round++) {
        kl_block_lu_solve(h->lu, h->step);
        for (int32_t i = 0; i < s->dim; i++) {
            h->x[i] += h->step[i];
        }
        kl_scaled_velocity(s, h->x, h->velocity);
        double now = pull(h, s, state);
        if (!(now <= goal || now < SLOW * left)) {
            return false;
        }
        left = now;
    }
    return left <= goal;
}
