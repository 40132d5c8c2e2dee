#include "solver/body_system.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/lanes.h"
#include "math/vec.h"
#include "solver/scaled.h"

void kl_body_system_release(KlBodySystem *bs) {
    kl_block_lu_destroy(bs->lu);
    void *buffers[] = {bs->pattern.at, bs->offsets.at, bs->values.at, bs->numbers.at, bs->work.at};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        kl_free(buffers[i]);
    }
    *bs = (KlBodySystem){0};
}

// ---- pattern: bodies that share a constraint ---------------------------------------------------

static void partners(const KlProblem *p, const int32_t *start, const int32_t *list, int32_t body, int32_t *mark,
                     int32_t *columns, int32_t *count) {
    *count = 0;
    mark[body] = body;
    columns[(*count)++] = body;
    for (int32_t e = start[body]; e < start[body + 1]; e++) {
        for (int32_t side = 0; side < 2; side++) {
            int32_t other = p->block_body[2 * list[e] + side];
            if (other >= 0 && mark[other] != body) {
                mark[other] = body;
                columns[(*count)++] = other;
            }
        }
    }
}

static KlStatus make_pattern(KlBodySystem *bs, const KlProblem *p) {
    size_t bodies = (size_t)p->body_count, blocks = (size_t)p->block_count;
    if (!KL_ROOM(bs->work, 3 * bodies + 2 * blocks + 1)) {
        return KL_ERR_MEMORY;
    }
    int32_t *start = bs->work.at, *list = start + bodies + 1, *mark = list + 2 * blocks, *columns = mark + bodies;
    int32_t count;
    size_t entries = 0;
    kl_scaled_list_blocks(p, start, list);
    for (int32_t pass = 0; pass < 2; pass++) {  // count, then fill
        for (size_t b = 0; b < bodies; b++) {
            mark[b] = -1;
        }
        if (pass == 1 && (!KL_ROOM(bs->pattern, 2 * (bodies + 1) + 2 * entries + 4 * blocks) ||
                          !KL_ROOM(bs->offsets, entries) || !KL_ROOM(bs->values, 36 * entries))) {
            return KL_ERR_MEMORY;
        }
        int32_t *block_start = bs->pattern.at, *row_start = pass == 1 ? block_start + bodies + 1 : NULL;
        int32_t *column = pass == 1 ? row_start + bodies + 1 : NULL, e = 0;
        for (int32_t b = 0; b < p->body_count; b++) {
            partners(p, start, list, b, mark, columns, &count);
            if (pass == 0) {
                entries += (size_t)count;
                continue;
            }
            kl_sort_ascending(columns, count);
            block_start[b] = 6 * b;
            row_start[b] = e;
            for (int32_t k = 0; k < count; k++, e++) {
                column[e] = columns[k];
                bs->offsets.at[e] = 36 * (size_t)e;
            }
        }
        if (pass == 1) {
            block_start[bodies] = 6 * p->body_count;
            row_start[bodies] = e;
            int32_t *transpose = column + entries;
            bs->entry = transpose + entries;
            bs->matrix = (KlBlockMatrix){p->body_count, block_start,    row_start,    column,
                                         transpose,     bs->offsets.at, bs->values.at};
            kl_block_matrix_mirror(&bs->matrix, mark, transpose);
        }
    }
    for (int32_t b = 0; b < p->block_count; b++) {
        for (int32_t k = 0; k < 4; k++) {
            int32_t row = p->block_body[2 * b + k / 2], column = p->block_body[2 * b + k % 2];
            bs->entry[4 * b + k] = row >= 0 && column >= 0 ? kl_block_matrix_find(&bs->matrix, row, column) : -1;
        }
    }
    return KL_OK;
}

KlStatus kl_body_system_reserve(KlBodySystem *bs, const KlCapacity *capacity) {
    size_t bodies = (size_t)capacity->size.body_count, blocks = (size_t)capacity->block_count,
           entries = bodies * bodies;
    size_t numbers = (size_t)capacity->dim + 9 * (size_t)capacity->size.contact_count;
    if (bs->lu == NULL) {
        KL_TRY(kl_block_lu_create(&bs->lu));
    }
    bool ok = KL_ROOM(bs->work, 3 * bodies + 2 * blocks + 1) && KL_ROOM(bs->numbers, 2 * numbers + 6 * bodies) &&
              KL_ROOM(bs->pattern, 2 * (bodies + 1) + 2 * entries + 4 * blocks) && KL_ROOM(bs->offsets, entries) &&
              KL_ROOM(bs->values, 36 * entries);
    return ok ? kl_block_lu_reserve(bs->lu, 6 * capacity->size.body_count, capacity->size.body_count, entries)
              : KL_ERR_MEMORY;
}

KlStatus kl_body_system_begin(KlBodySystem *bs, const KlScaled *s, bool cholesky) {
    const KlProblem *p = s->problem;
    if (bs->lu == NULL) {
        KL_TRY(kl_block_lu_create(&bs->lu));
    }
    size_t numbers = (size_t)s->first_contact + 9 * (size_t)s->contacts;
    if (!KL_ROOM(bs->numbers, 2 * numbers + 6 * (size_t)p->body_count)) {
        return KL_ERR_MEMORY;
    }
    bs->inverse = bs->numbers.at;
    bs->response = bs->inverse + numbers;
    bs->wrench = bs->response + numbers;
    KL_TRY(make_pattern(bs, p));
    return kl_block_lu_plan(bs->lu, &bs->matrix, cholesky, false);
}

// ---- the laws, inverted ------------------------------------------------------------------------

// Inverse with rows brought to one size first: they may be 1 and eta.
static bool invert_rows(const double a[9], double inverse[9]) {
    double scaled[9], factor[3];
    for (int32_t i = 0; i < 3; i++) {
        double size = fabs(a[3 * i]) + fabs(a[3 * i + 1]) + fabs(a[3 * i + 2]);
        if (!(size > 0.0)) {
            return false;
        }
        factor[i] = 1.0 / size;
        for (int32_t j = 0; j < 3; j++) {
            scaled[3 * i + j] = factor[i] * a[3 * i + j];
        }
    }
    if (!kl_mat3_inverse(scaled, inverse)) {
        return false;
    }
    for (int32_t i = 0; i < 9; i++) {
        inverse[i] *= factor[i % 3];
    }
    return true;
}

static bool invert_contact(const KlScaled *s, int32_t k, double *inverse, double *response) {
    const KlLaws *laws = &s->laws;
    const double *take = laws->contact_take + 9 * (size_t)k, *add = laws->contact_add + 9 * (size_t)k;
    int32_t row = s->first_contact + 3 * k;
    double sum[9];
    if (laws->inverse_given && laws->contact_exact[k]) {
        memcpy(inverse, laws->contact_inverse + 9 * (size_t)k, 9 * sizeof *inverse);
    } else {
        for (int32_t i = 0; i < 9; i++) {
            sum[i] = add[i] + take[i] * kl_scaled_softness(s, row + i % 3);
        }
        if (!invert_rows(sum, inverse)) {
            return false;
        }
    }
    kl_mat3_mul(inverse, take, response);
    return true;
}

static bool invert_laws(KlBodySystem *bs, const KlScaled *s) {
    for (int32_t i = 0; i < s->first_contact; i++) {
        bool limit = i >= s->first_limit;
        double take = limit ? s->laws.limit_take[i - s->first_limit] : 1.0;
        double add =
            (limit ? s->laws.limit_add[i - s->first_limit] : s->laws.joint_shift[i]) + take * kl_scaled_softness(s, i);
        if (!(add > 0.0)) {
            return false;
        }
        bs->inverse[i] = 1.0 / add;
        bs->response[i] = take / add;
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        size_t at = (size_t)s->first_contact + 9 * (size_t)k;
        if (!invert_contact(s, k, bs->inverse + at, bs->response + at)) {
            return false;
        }
    }
    return true;
}

// ---- M + J^T C J -------------------------------------------------------------------------------

void kl_body_system_mass(const KlProblem *p, int32_t body, double *block) {
    memset(block, 0, 36 * sizeof *block);
    for (int32_t i = 0; i < 3; i++) {
        block[7 * i] = p->mass[body];
        for (int32_t j = 0; j < 3; j++) {
            block[6 * (3 + i) + 3 + j] = p->inertia[9 * (size_t)body + 3 * (size_t)i + (size_t)j];
        }
    }
}

static void add_masses(KlBodySystem *bs, const KlProblem *p) {
    const KlBlockMatrix *m = &bs->matrix;
    memset(m->values, 0, 36 * (size_t)m->row_start[p->body_count] * sizeof *m->values);
    for (int32_t b = 0; b < p->body_count; b++) {
        kl_body_system_mass(p, b, m->values + m->offset[kl_block_matrix_find(m, b, b)]);
    }
}

// value(row, column) += J_side^T (C J)_other, `count` rows
static void add_product(const double *jacobian, const double *response, int32_t count, double *block) {
    for (int32_t r = 0; r < count; r++, jacobian += 12, response += 12) {
        for (int32_t i = 0; i < 6; i++) {
            kl_lanes_add6(jacobian[i], response, block + 6 * i);
        }
    }
}

static void add_rows(KlBodySystem *bs, int32_t block, const double *jacobian, const double *response, int32_t count) {
    for (int32_t k = 0; k < 4; k++) {
        int32_t e = bs->entry[4 * block + k];
        if (e >= 0) {
            add_product(jacobian + 6 * (k / 2), response + 6 * (k % 2), count, bs->values.at + bs->matrix.offset[e]);
        }
    }
}

static void add_constraint(KlBodySystem *bs, const KlScaled *s, int32_t block) {
    const KlProblem *p = s->problem;
    int32_t first = p->block_start[block], rows = kl_block_rows(p, block);
    double response[3 * 12];
    const double *jacobian = s->rows + 12 * (size_t)first;
    if (kl_block_kind(p, block) != KL_BLOCK_CONTACT) {
        for (int32_t r = 0; r < rows; r++, jacobian += 12) {
            for (int32_t j = 0; j < 12; j++) {
                response[j] = bs->response[first + r] * jacobian[j];
            }
            add_rows(bs, block, jacobian, response, 1);
        }
        return;
    }
    const double *c = bs->response + s->first_contact + 9 * (size_t)kl_block_contact(p, block);
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 12; j++) {
            response[12 * i + j] =
                c[3 * i] * jacobian[j] + c[3 * i + 1] * jacobian[12 + j] + c[3 * i + 2] * jacobian[24 + j];
        }
    }
    add_rows(bs, block, jacobian, response, 3);
}

static bool factor(KlBodySystem *bs, const KlScaled *s) {
    add_masses(bs, s->problem);
    for (int32_t b = 0; b < s->problem->block_count; b++) {
        add_constraint(bs, s, b);
    }
    return kl_block_lu_factor(bs->lu, &bs->matrix);
}

bool kl_body_system_factor(KlBodySystem *bs, const KlScaled *s) { return invert_laws(bs, s) && factor(bs, s); }

bool kl_body_system_factor_shifted(KlBodySystem *bs, const KlScaled *s, double joint_shift, double shift) {
    memset(bs->inverse, 0, ((size_t)s->first_contact + 9 * (size_t)s->contacts) * sizeof *bs->inverse);
    for (int32_t i = 0; i < s->dim; i++) {
        int32_t contact = i - s->first_contact;
        int32_t at = contact < 0 ? i : s->first_contact + 9 * (contact / 3) + 4 * (contact % 3);
        double own = i < s->first_limit ? joint_shift : shift;
        bs->inverse[at] = 1.0 / (own + kl_scaled_softness(s, i));
    }
    memcpy(bs->response, bs->inverse, ((size_t)s->first_contact + 9 * (size_t)s->contacts) * sizeof *bs->inverse);
    return factor(bs, s);
}

// ---- solution ----------------------------------------------------------------------------------

static void times_laws(const KlScaled *s, const double *blocks, const double *x, double *y) {
    for (int32_t i = 0; i < s->first_contact; i++) {
        y[i] = blocks[i] * x[i];
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        int32_t row = s->first_contact + 3 * k;
        double in[3] = {x[row], x[row + 1], x[row + 2]};
        kl_mat3_mul_vec(blocks + s->first_contact + 9 * (size_t)k, in, y + row);
    }
}

static void gather_wrench(const KlScaled *s, const double *x, double *wrench) {  // J^T x
    const KlProblem *p = s->problem;
    memset(wrench, 0, 6 * (size_t)p->body_count * sizeof *wrench);
    for (int32_t b = 0; b < p->block_count; b++) {
        for (int32_t side = 0; side < 2; side++) {
            int32_t body = p->block_body[2 * b + side];
            if (body >= 0) {
                int32_t row = p->block_start[b];
                kl_lanes_push(s->rows + 12 * (size_t)row + 6 * side, x + row, kl_block_rows(p, b),
                              wrench + 6 * (size_t)body);
            }
        }
    }
}

static void subtract_velocity(const KlScaled *s, const double *u, double *x) {  // x = -J u
    const KlProblem *p = s->problem;
    for (int32_t b = 0; b < p->block_count; b++) {
        const double *own[2];
        kl_block_twists(p, b, u, own);
        for (int32_t row = p->block_start[b]; row < p->block_start[b + 1]; row++) {
            const double *jacobian = s->rows + 12 * (size_t)row;
            x[row] = -(kl_lanes_dot6(jacobian, own[0]) + kl_lanes_dot6(jacobian + 6, own[1]));
        }
    }
}

void kl_body_system_solve(KlBodySystem *bs, const KlScaled *s, double *x) {
    double *own = s->lambda, *reply = s->reply;
    times_laws(s, bs->inverse, x, own);
    gather_wrench(s, own, bs->wrench);
    kl_block_lu_solve(bs->lu, bs->wrench);
    subtract_velocity(s, bs->wrench, reply);
    times_laws(s, bs->response, reply, x);
    for (int32_t i = 0; i < s->dim; i++) {
        x[i] += own[i];
    }
}
