#include "solver/held.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/lanes.h"
#include "math/llt.h"
#include "solver/least_norm.h"
#include "solver/semismooth.h"

enum { ROUNDS = 6, DENSE_ROWS = 40 };  // measured: docs/performance.md
static const double ROUNDING = 1e-13;  // of |v_f|: the least that a solution leaves
static const double SLOW = 0.1;        // a round that leaves more than this will not get there

static bool lay_out_dense(KlHeld *h, int32_t dim, int32_t blocks) {
    size_t padded = (size_t)kl_llt_padded(dim), factor = kl_llt_size(dim);
    if (!KL_ROOM(h->dense_memory, padded * padded + factor + 3 * padded) ||
        !KL_ROOM(h->ints, (size_t)dim + (size_t)blocks)) {
        return false;
    }
    h->values = h->dense_memory.at;
    h->factor = h->values + padded * padded;
    h->reduced = h->factor + factor;
    h->diagonal = h->reduced + padded;
    h->size = h->diagonal + padded;
    h->row = h->ints.at;
    h->place = h->row + dim;
    return true;
}

static KlStatus lay_out(KlHeld *h, size_t dim, size_t blocks) {
    if (h->lu == NULL) {
        KL_TRY(kl_block_lu_create(&h->lu));
    }
    if (!KL_ROOM(h->memory, 4 * dim + 1) || !KL_ROOM(h->flags, blocks + 1)) {
        return KL_ERR_MEMORY;
    }
    h->open = h->flags.at;
    double **vectors[] = {&h->x, &h->velocity, &h->shift, &h->step};
    for (size_t i = 0; i < 4; i++) {
        *vectors[i] = h->memory.at + i * dim;
    }
    return KL_OK;
}

KlStatus kl_held_reserve(KlHeld *h, const KlCapacity *capacity) {
    int32_t blocks = kl_scaled_dense_blocks(capacity);
    int32_t rows = capacity->dim < DENSE_ROWS ? capacity->dim : DENSE_ROWS;
    KL_TRY(lay_out(h, (size_t)capacity->dim, (size_t)capacity->block_count));
    if (!lay_out_dense(h, rows, rows)) {
        return KL_ERR_MEMORY;
    }
    return kl_block_lu_reserve(h->lu, kl_scaled_dense_rows(capacity), blocks, (size_t)blocks * (size_t)blocks);
}

KlStatus kl_held_begin(KlHeld *h, const KlScaled *s) {
    KL_TRY(lay_out(h, (size_t)s->dim, (size_t)s->problem->block_count));
    h->dense = s->dim <= DENSE_ROWS;
    h->raw = kl_problem_has_bodies(s->problem);
    if (h->dense) {
        return lay_out_dense(h, s->dim, s->problem->block_count) ? KL_OK : KL_ERR_MEMORY;
    }
    return s->bodies ? KL_OK : kl_block_lu_analyze(h->lu, &s->delassus, true, false);
}

void kl_held_release(KlHeld *h) {
    kl_block_lu_destroy(h->lu);
    kl_free(h->memory.at);
    kl_free(h->dense_memory.at);
    kl_free(h->ints.at);
    kl_free(h->flags.at);
    *h = (KlHeld){0};
}

// ---- the held rows of D + eps W ------------------------------------------------------------------

static void mark_open_blocks(KlHeld *h, const KlScaled *s, const uint8_t *state) {
    const KlProblem *p = s->problem;
    h->held = 0;
    for (int32_t b = 0; b < p->block_count; b++) {
        h->open[b] = b >= p->joint_count && state[b - p->joint_count] != KL_STATE_STICK;
        h->held += h->open[b] ? 0 : kl_block_rows(p, b);
    }
}

static void list_held_rows(KlHeld *h, const KlScaled *s) {
    const int32_t *start = s->problem->block_start;
    int32_t next = 0;
    for (int32_t b = 0; b < s->problem->block_count; b++) {
        h->place[b] = h->open[b] ? -1 : next;
        for (int32_t row = start[b]; row < start[b + 1] && !h->open[b]; row++) {
            h->row[next++] = row;
        }
    }
}

static void copy_block(const double *from, int32_t rows, int32_t columns, size_t stride, double *to) {
    for (int32_t i = 0; i < rows; i++, from += columns, to += stride) {
        kl_lanes_copy(from, columns, to);
    }
}

// The upper triangle of D in held rows, and the shifts.
static void form_dense(KlHeld *h, const KlScaled *s) {
    const KlBlockMatrix *m = &s->delassus;
    const int32_t *start = m->block_start;
    size_t stride = (size_t)kl_llt_padded(h->held);
    memset(h->values, 0, (size_t)h->held * stride * sizeof *h->values);
    for (int32_t b = 0; b < m->block_count; b++) {
        for (int32_t e = m->row_start[b]; e < m->row_start[b + 1]; e++) {
            int32_t c = m->column[e];
            if (c < b || h->place[b] < 0 || h->place[c] < 0) {
                continue;
            }
            double *to = h->values + (size_t)h->place[b] * stride + h->place[c];
            if (h->raw) {
                kl_scaled_give_block(s, b, c, stride, to);
            } else {
                copy_block(m->values + m->offset[e], start[b + 1] - start[b], start[c + 1] - start[c], stride, to);
            }
        }
    }
    for (int32_t i = 0; i < h->held; i++) {
        h->diagonal[i] = h->shift[h->row[i]];
        h->size[i] = s->inverse_scale[h->row[i]];
    }
}

// Rows and columns of open blocks become those of the identity.
static void stand_open_rows_alone(KlHeld *h, const KlScaled *s) {
    const int32_t *start = s->problem->block_start;
    for (int32_t b = s->problem->joint_count; b < s->problem->block_count; b++) {
        for (int32_t row = start[b]; row < start[b + 1] && h->open[b]; row++) {
            h->shift[row] = 1.0;
        }
    }
}

// Shifts of D as given from those of p D p, softness with them.
static void give_shifts(KlHeld *h, const KlScaled *s) {
    const double *inverse = s->inverse_scale, *softness = s->softness;
    double *shift = h->shift;
    int32_t i = 0, dim = s->dim;
    for (; i + 2 <= dim; i += 2) {
        KlPair size = kl_load(inverse + i);
        kl_store(shift + i, size * (kl_load(shift + i) + kl_load(softness + i)) * size);
    }
    if (i < dim) {
        shift[i] = inverse[i] * (shift[i] + softness[i]) * inverse[i];
    }
}

static bool factor(KlHeld *h, KlScaled *s) {
    s->factorizations++;
    if (!h->dense) {
        stand_open_rows_alone(h, s);
    }
    if (h->raw) {
        give_shifts(h, s);
    }
    if (h->dense) {
        form_dense(h, s);
        return kl_llt_factor_shifted(h->values, h->held, kl_llt_padded(h->held), h->diagonal, h->factor) < 0;
    }
    if (h->raw) {
        return kl_block_lu_factor_source(h->lu, &(KlBlockSource){kl_scaled_give_block, s}, h->shift, h->open);
    }
    return kl_block_lu_factor_shifted(h->lu, &s->delassus, h->shift, h->open);
}

static double least_pivot(const KlHeld *h, const KlScaled *s) {
    if (h->dense) {
        return h->raw ? kl_llt_least_scaled_pivot(h->factor, h->held, h->size) : kl_llt_least_pivot(h->factor, h->held);
    }
    return h->raw ? kl_block_lu_least_scaled_pivot(h->lu, s->inverse_scale) : kl_block_lu_least_pivot(h->lu);
}

static void solve_dense(KlHeld *h, const KlScaled *s, double *x) {
    for (int32_t i = 0; i < h->held; i++) {
        h->reduced[i] = x[h->row[i]];
    }
    kl_llt_solve(h->factor, h->held, h->reduced);
    memset(x, 0, (size_t)s->dim * sizeof *x);
    for (int32_t i = 0; i < h->held; i++) {
        x[h->row[i]] = h->reduced[i];
    }
}

static void scale_down(const double *inverse, int32_t count, double *x) {
    int32_t i = 0;
    for (; i + 2 <= count; i += 2) {
        kl_store(x + i, kl_load(inverse + i) * kl_load(x + i));
    }
    if (i < count) {
        x[i] *= inverse[i];
    }
}

// x = (p D p + eps W)^-1 x in held rows, which is p^-1 (D + p^-1 eps W p^-1)^-1 p^-1 x
static void solve(KlHeld *h, const KlScaled *s, double *x) {
    if (h->raw) {
        scale_down(s->inverse_scale, s->dim, x);
    }
    if (h->dense) {
        solve_dense(h, s, x);
    } else {
        kl_block_lu_solve(h->lu, x);
    }
    if (h->raw) {
        scale_down(s->inverse_scale, s->dim, x);
    }
}

// Two held rigid points of one pair of bodies: neither lets go along the line between them, so a row is one too
// many.
static bool has_twin_points(const KlHeld *h, const KlScaled *s) {
    const KlProblem *p = s->problem;
    int32_t last = -1;
    for (int32_t b = p->joint_count + p->limit_count; b < p->block_count && p->body_count > 0; b++) {
        if (h->open[b] || kl_scaled_softness(s, p->block_start[b]) > 0.0) {
            continue;
        }
        if (last >= 0 && memcmp(p->block_body + 2 * b, p->block_body + 2 * last, 2 * sizeof *p->block_body) == 0) {
            return true;
        }
        last = b;
    }
    return false;
}

// Whether the held rows may be independent. More rows than the bodies have freedoms cannot be.
static bool may_be_regular(const KlHeld *h, const KlScaled *s) {
    int32_t bodies = s->problem->body_count;
    return bodies == 0 || (h->held <= 6 * bodies && !has_twin_points(h, s));
}

// With hardly a shift where that is regular: one solution then is exact.
static bool factor_best(KlHeld *h, KlScaled *s) {
    if (may_be_regular(h, s)) {
        for (int32_t i = 0; i < s->dim; i++) {
            h->shift[i] = s->least_shift;
        }
        if (factor(h, s) && least_pivot(h, s) >= KL_REGULAR_PIVOT) {
            return true;
        }
    }
    kl_least_norm_shifts(s, h->shift);
    return factor(h, s);
}

// step = -v in held rows, 0 in open ones; returns the largest of it.
static double pull(KlHeld *h, const KlScaled *s) {
    if (h->held == s->dim) {
        kl_lanes_negate(h->velocity, s->dim, h->step);
        return kl_lanes_largest(h->velocity, s->dim);
    }
    const int32_t *start = s->problem->block_start;
    double largest = 0.0;
    for (int32_t b = 0; b < s->problem->block_count; b++) {
        for (int32_t row = start[b]; row < start[b + 1]; row++) {
            double left = h->open[b] ? 0.0 : -h->velocity[row];
            h->step[row] = left;
            largest = fabs(left) > largest ? fabs(left) : largest;
        }
    }
    return largest;
}

bool kl_held_solve(KlHeld *h, KlScaled *s, const uint8_t *state, double tolerance) {
    size_t bytes = (size_t)s->dim * sizeof *h->x;
    mark_open_blocks(h, s, state);
    if (h->dense) {
        list_held_rows(h, s);
    }
    if (!factor_best(h, s)) {
        return false;
    }
    memset(h->x, 0, bytes);
    memcpy(h->velocity, s->free_velocity, bytes);
    double first = pull(h, s), left = first;
    double goal = (tolerance > ROUNDING ? tolerance : ROUNDING) * first;
    for (int32_t round = 0; round < ROUNDS && left > goal; round++) {
        solve(h, s, h->step);
        kl_lanes_add(h->step, s->dim, h->x);
        kl_scaled_velocity(s, h->x, h->velocity);
        double now = pull(h, s);
        if (!(now <= goal || now < SLOW * left)) {
            return false;
        }
        left = now;
    }
    return left <= goal;
}
