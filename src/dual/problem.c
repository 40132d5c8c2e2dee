// Life of a dual problem: storage, reshaping, copies and the check of every invariant.
#include "dual/problem.h"

#include <math.h>
#include <string.h>

#include "dual/storage.h"

enum { MAX_ROWS = 1000000, MAX_BODIES = 1000000 };

static KlStatus check_size(const KlProblemSize *s) {
    if (s->joint_rows < 0 || s->joint_count < 0 || s->limit_count < 0 || s->contact_count < 0 || s->body_count < 0 ||
        s->nonzeros < 0) {
        return kl_fail(KL_ERR_ARGUMENT, "problem counts must be >= 0");
    }
    int64_t rows = (int64_t)s->joint_rows + s->limit_count + (int64_t)3 * s->contact_count;
    if (rows > MAX_ROWS || s->body_count > MAX_BODIES) {
        return kl_fail(KL_ERR_LIMIT, "a problem has at most %d rows and %d bodies (got %lld and %d)", MAX_ROWS,
                       MAX_BODIES, (long long)rows, (int)s->body_count);
    }
    if (s->joint_count > s->joint_rows || (s->joint_count == 0 && s->joint_rows > 0)) {
        return kl_fail(KL_ERR_ARGUMENT, "%d joints cannot own %d rows", (int)s->joint_count, (int)s->joint_rows);
    }
    return KL_OK;
}

static void shape(KlProblem *p, const KlProblemSize *size) {
    p->dim = kl_size_rows(size);
    p->joint_rows = size->joint_rows;
    p->joint_count = size->joint_count;
    p->limit_count = size->limit_count;
    p->contact_count = size->contact_count;
    p->block_count = kl_size_blocks(size);
    p->body_count = size->body_count;
    int32_t block = p->joint_count, row = p->joint_rows;
    for (int32_t l = 0; l < p->limit_count; l++, row++) {
        p->block_start[block++] = row;
    }
    for (int32_t k = 0; k < p->contact_count; k++, row += 3) {
        p->block_start[block++] = row;
    }
    p->block_start[block] = row;
}

KlStatus kl_problem_create(const KlProblemSize *size, KlProblem **problem) {
    *problem = NULL;
    KL_TRY(check_size(size));
    KlProblemStorage *storage = kl_alloc(sizeof *storage);
    if (storage == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for a problem");
    }
    KlArena *arena = &storage->arena;
    KlProblem *p = &storage->problem;
    int32_t rows = kl_size_rows(size), blocks = kl_size_blocks(size), bodies = size->body_count;
    storage->capacity = *size;
    p->block_start = KL_ARENA_ARRAY(arena, int32_t, blocks + 1);
    p->block_id = KL_ARENA_ARRAY(arena, uint64_t, blocks);
    p->friction = KL_ARENA_ARRAY(arena, double, size->contact_count);
    p->free_velocity = KL_ARENA_ARRAY(arena, double, rows);
    p->softening = KL_ARENA_ARRAY(arena, double, rows);
    storage->velocity = KL_ARENA_ARRAY(arena, double, rows);
    storage->diagonal = KL_ARENA_ARRAY(arena, double, rows);
    storage->scale = KL_ARENA_ARRAY(arena, double, rows);
    if (bodies > 0) {
        storage->twist = KL_ARENA_ARRAY(arena, double, 6 * (size_t)bodies);
        storage->divided = KL_ARENA_ARRAY(arena, double, 12 * (size_t)rows);
        p->block_body = KL_ARENA_ARRAY(arena, int32_t, 2 * (size_t)blocks);
        p->jacobian = KL_ARENA_ARRAY(arena, double, 12 * (size_t)rows);
        p->mass = KL_ARENA_ARRAY(arena, double, bodies);
        p->inertia = KL_ARENA_ARRAY(arena, double, 9 * (size_t)bodies);
        p->inverse_mass = KL_ARENA_ARRAY(arena, double, bodies);
        p->inverse_inertia = KL_ARENA_ARRAY(arena, double, 9 * (size_t)bodies);
    } else {
        p->delassus_start = KL_ARENA_ARRAY(arena, int32_t, rows + 1);
        p->delassus_index = KL_ARENA_ARRAY(arena, int32_t, size->nonzeros);
        p->delassus_value = KL_ARENA_ARRAY(arena, double, size->nonzeros);
    }
    KlStatus status = kl_arena_check(arena);
    if (status != KL_OK) {
        kl_problem_destroy(p);
        return status;
    }
    shape(p, size);
    *problem = p;
    return KL_OK;
}

void kl_problem_destroy(KlProblem *problem) {
    if (problem != NULL) {
        KlProblemStorage *storage = kl_problem_storage(problem);
        kl_arena_free(&storage->arena);
        kl_free(storage);
    }
}

KlProblemSize kl_problem_size(const KlProblem *p) {
    return (KlProblemSize){
        .joint_rows = p->joint_rows,
        .joint_count = p->joint_count,
        .limit_count = p->limit_count,
        .contact_count = p->contact_count,
        .body_count = p->body_count,
        .nonzeros = kl_problem_has_bodies(p) ? 0 : p->delassus_start[p->dim],
    };
}

static void zero(double *x, int32_t count) { memset(x, 0, (size_t)count * sizeof *x); }

KlStatus kl_problem_reshape(KlProblem *p, const KlProblemSize *size) {
    const KlProblemSize *cap = &kl_problem_storage(p)->capacity;
    KL_TRY(check_size(size));
    if (kl_size_rows(size) > kl_size_rows(cap) || kl_size_blocks(size) > kl_size_blocks(cap) ||
        size->contact_count > cap->contact_count || size->body_count > cap->body_count ||
        size->nonzeros > cap->nonzeros || (size->body_count > 0) != (cap->body_count > 0)) {
        return kl_fail(KL_ERR_LIMIT, "a problem made for %d rows, %d contacts and %d bodies cannot hold %d, %d and %d",
                       (int)kl_size_rows(cap), (int)cap->contact_count, (int)cap->body_count, (int)kl_size_rows(size),
                       (int)size->contact_count, (int)size->body_count);
    }
    kl_problem_let_go(p);
    shape(p, size);
    memset(p->block_id, 0, (size_t)p->block_count * sizeof *p->block_id);
    zero(p->friction, p->contact_count);
    zero(p->free_velocity, p->dim);
    zero(p->softening, p->dim);
    return KL_OK;
}

int32_t kl_problem_max_block_rows(const KlProblem *p) {
    int32_t most = 0;
    for (int32_t b = 0; b < p->block_count; b++) {
        most = kl_block_rows(p, b) > most ? kl_block_rows(p, b) : most;
    }
    return most;
}

static void copy(double *to, const double *from, size_t count) {
    if (count > 0) {
        memcpy(to, from, count * sizeof *to);
    }
}

static void copy_indices(int32_t *to, const int32_t *from, int32_t count) {
    if (count > 0) {
        memcpy(to, from, (size_t)count * sizeof *to);
    }
}

KlStatus kl_problem_clone(const KlProblem *problem, KlProblem **copy_out) {
    const KlProblem *p = problem;
    KlProblemSize size = kl_problem_size(p);
    KL_TRY(kl_problem_create(&size, copy_out));
    KlProblem *c = *copy_out;
    size_t dim = (size_t)p->dim, bodies = (size_t)p->body_count;
    c->dt = p->dt;
    copy_indices(c->block_start, p->block_start, p->block_count + 1);
    for (int32_t b = 0; b < p->block_count; b++) {
        c->block_id[b] = p->block_id[b];
    }
    copy(c->friction, p->friction, (size_t)p->contact_count);
    copy(c->free_velocity, p->free_velocity, dim);
    copy(c->softening, p->softening, dim);
    if (kl_problem_has_bodies(p)) {
        copy_indices(c->block_body, p->block_body, 2 * p->block_count);
        copy(c->jacobian, p->jacobian, 12 * dim);
        copy(c->mass, p->mass, bodies);
        copy(c->inertia, p->inertia, 9 * bodies);
        copy(c->inverse_mass, p->inverse_mass, bodies);
        copy(c->inverse_inertia, p->inverse_inertia, 9 * bodies);
    } else {
        copy_indices(c->delassus_start, p->delassus_start, p->dim + 1);
        copy_indices(c->delassus_index, p->delassus_index, size.nonzeros);
        copy(c->delassus_value, p->delassus_value, (size_t)size.nonzeros);
    }
    return KL_OK;
}

KlStatus kl_problem_from_dense(int32_t joint_rows, int32_t limit_count, int32_t contact_count, const double *delassus,
                               const double *free_velocity, const double *friction, double dt, KlProblem **problem) {
    *problem = NULL;
    KlProblemSize size = {.joint_rows = joint_rows,
                          .joint_count = joint_rows > 0 ? 1 : 0,
                          .limit_count = limit_count,
                          .contact_count = contact_count};
    KL_TRY(check_size(&size));
    int32_t dim = kl_size_rows(&size);
    int64_t nonzeros = 0;
    for (int64_t i = 0; i < (int64_t)dim * dim; i++) {
        nonzeros += delassus[i] != 0.0;
    }
    if (nonzeros > INT32_MAX) {
        return kl_fail(KL_ERR_LIMIT, "D has %lld entries, at most %d fit", (long long)nonzeros, INT32_MAX);
    }
    size.nonzeros = (int32_t)nonzeros;
    KL_TRY(kl_problem_create(&size, problem));
    KlProblem *p = *problem;
    p->dt = dt;
    int32_t at = 0;
    for (int32_t i = 0; i < dim; i++) {
        for (int32_t j = 0; j < dim; j++) {
            double d = delassus[(size_t)i * (size_t)dim + (size_t)j];
            if (d != 0.0) {
                p->delassus_index[at] = j;
                p->delassus_value[at++] = d;
            }
        }
        p->delassus_start[i + 1] = at;
    }
    for (int32_t b = 0; b < p->block_count; b++) {
        p->block_id[b] = (uint64_t)b;
    }
    copy(p->free_velocity, free_velocity, (size_t)dim);
    copy(p->friction, friction, (size_t)contact_count);
    return KL_OK;
}

// ---- check -------------------------------------------------------------------------------------

static KlStatus check_finite(const char *name, const double *x, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return kl_fail(KL_ERR_SCENE, "%s[%lld] must be finite (got %g)", name, (long long)i, x[i]);
        }
    }
    return KL_OK;
}

static KlStatus check_nonnegative(const char *name, const double *x, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (!(x[i] >= 0.0) || isinf(x[i])) {
            return kl_fail(KL_ERR_SCENE, "%s[%d] must be finite and >= 0 (got %g)", name, (int)i, x[i]);
        }
    }
    return KL_OK;
}

static KlStatus check_starts(const KlProblem *p) {
    for (int32_t b = 0; b < p->block_count; b++) {
        int32_t first = p->block_start[b], rows = kl_block_rows(p, b);
        KlBlockKind kind = kl_block_kind(p, b);
        int32_t allowed = kind == KL_BLOCK_LIMIT ? 1 : kind == KL_BLOCK_CONTACT ? 3 : rows;
        if (first < 0 || rows < 1 || rows != allowed) {
            return kl_fail(KL_ERR_SCENE, "block_start[%d] = %d gives block %d %d rows", (int)b, (int)first, (int)b,
                           (int)rows);
        }
    }
    if (p->block_start[0] != 0 || p->block_start[p->joint_count] != p->joint_rows ||
        p->block_start[p->block_count] != p->dim) {
        return kl_fail(KL_ERR_SCENE, "block_start must begin at 0, end joints at %d and end at %d", (int)p->joint_rows,
                       (int)p->dim);
    }
    return KL_OK;
}

static KlStatus check_bodies(const KlProblem *p) {
    KL_TRY(check_finite("jacobian", p->jacobian, (int64_t)12 * p->dim));
    KL_TRY(check_finite("inertia", p->inertia, (int64_t)9 * p->body_count));
    KL_TRY(check_finite("inverse_inertia", p->inverse_inertia, (int64_t)9 * p->body_count));
    KL_TRY(check_nonnegative("inverse_mass", p->inverse_mass, p->body_count));
    for (int32_t i = 0; i < p->body_count; i++) {
        if (!(p->mass[i] > 0.0) || isinf(p->mass[i])) {
            return kl_fail(KL_ERR_SCENE, "mass[%d] must be finite and > 0 (got %g)", (int)i, p->mass[i]);
        }
    }
    for (int32_t b = 0; b < p->block_count; b++) {
        int32_t first = p->block_body[2 * b], second = p->block_body[2 * b + 1];
        if (first < -1 || second < -1 || first >= p->body_count || second >= p->body_count ||
            (first == second && first >= 0)) {
            return kl_fail(KL_ERR_SCENE, "block %d joins bodies %d and %d; two of -1 to %d are allowed", (int)b,
                           (int)first, (int)second, (int)p->body_count - 1);
        }
    }
    return KL_OK;
}

static KlStatus check_delassus(const KlProblem *p) {
    if (p->delassus_start[0] != 0) {
        return kl_fail(KL_ERR_SCENE, "delassus_start[0] must be 0 (got %d)", (int)p->delassus_start[0]);
    }
    for (int32_t i = 0; i < p->dim; i++) {
        if (p->delassus_start[i + 1] < p->delassus_start[i]) {
            return kl_fail(KL_ERR_SCENE, "delassus_start must ascend (row %d)", (int)i);
        }
        for (int32_t e = p->delassus_start[i]; e < p->delassus_start[i + 1]; e++) {
            int32_t column = p->delassus_index[e];
            bool ascends = e == p->delassus_start[i] || column > p->delassus_index[e - 1];
            if (column < 0 || column >= p->dim || !ascends) {
                return kl_fail(KL_ERR_SCENE, "D row %d: columns must ascend within 0 to %d (got %d)", (int)i,
                               (int)p->dim - 1, (int)column);
            }
        }
    }
    return check_finite("D", p->delassus_value, p->delassus_start[p->dim]);
}

KlStatus kl_problem_check(const KlProblem *p) {
    KL_TRY(check_starts(p));
    if (!(p->dt > 0.0) || isinf(p->dt)) {
        return kl_fail(KL_ERR_SCENE, "dt must be finite and > 0 (got %g)", p->dt);
    }
    KL_TRY(check_finite("v_f", p->free_velocity, p->dim));
    KL_TRY(check_nonnegative("mu", p->friction, p->contact_count));
    KL_TRY(check_nonnegative("R", p->softening, p->dim));
    KL_TRY(kl_problem_has_bodies(p) ? check_bodies(p) : check_delassus(p));
    const double *diagonal = kl_problem_prepare(p)->diagonal;
    for (int32_t i = 0; i < p->dim; i++) {
        if (!(diagonal[i] > 0.0) || isinf(diagonal[i])) {
            return kl_fail(KL_ERR_SCENE, "row %d: the diagonal of D must be finite and > 0 (got %g)", (int)i,
                           diagonal[i]);
        }
    }
    return KL_OK;
}
