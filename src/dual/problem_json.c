// Dual problems as JSON: one object, or a list of them. Members:
//   joint_rows, limits, contacts   counts; absent means 0
//   joints      rows of each joint, e.g. [5, 5, 3]; absent: all joint rows are one block
//   mu          one number for every contact, or a list (contacts)
//   dt          [s]
//   v_f         (dim)        R  (dim) softening, optional
//   D           (dim x dim)                              explicit form, or
//   J, M        (dim x 6 n_b), a list of n_b {"mass", "inertia" (3 x 3, world)}   body form
// Rows are joints, limits, contacts; a contact has (t, o, n). Other members are ignored.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json_load.h"
#include "base/json_place.h"
#include "base/memory.h"
#include "dual/problem.h"
#include "math/vec.h"

typedef struct Document {
    const char *text, *name;
    size_t size;
    char path[96];  // of the problem: "" or "[3]"
} Document;

static KlStatus fail(const Document *d, const char *member, const char *format, ...) KL_PRINTF(3, 4);

static KlStatus fail(const Document *d, const char *member, const char *format, ...) {
    char path[256], message[400];
    snprintf(path, sizeof path, "%s%s%s", d->path, d->path[0] != '\0' && member[0] != '\0' ? "." : "", member);
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return kl_json_fail(KL_ERR_SCENE, d->name, d->text, d->size, path, "%s", message);
}

static KlStatus read_count(const Document *d, const json_t *object, const char *key, int32_t *count) {
    const json_t *value = json_object_get(object, key);
    *count = 0;
    if (value == NULL) {
        return KL_OK;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > 1000000) {
        return fail(d, key, "must be an integer from 0 to 1000000");
    }
    *count = (int32_t)json_integer_value(value);
    return KL_OK;
}

// `member` is the path of `value` inside the problem.
static KlStatus read_vector(const Document *d, const json_t *value, const char *member, int32_t count, double *x) {
    if (!json_is_array(value) || json_array_size(value) != (size_t)count) {
        return fail(d, member, "must be a list of %d numbers%s", (int)count, value == NULL ? " (it is missing)" : "");
    }
    for (int32_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(value, (size_t)i);
        if (!json_is_number(entry)) {
            char path[80];
            snprintf(path, sizeof path, "%.60s[%d]", member, (int)i);
            return fail(d, path, "must be a number");
        }
        x[i] = json_number_value(entry);
    }
    return KL_OK;
}

// Row `i` of a matrix member of `rows` lists.
static KlStatus read_row(const Document *d, const json_t *matrix, const char *member, int32_t i, int32_t columns,
                         double *x) {
    char path[80];
    snprintf(path, sizeof path, "%.60s[%d]", member, (int)i);
    return read_vector(d, json_array_get(matrix, (size_t)i), path, columns, x);
}

static KlStatus check_rows(const Document *d, const json_t *matrix, const char *member, int32_t rows) {
    if (!json_is_array(matrix) || json_array_size(matrix) != (size_t)rows) {
        return fail(d, member, "must be a list of %d rows", (int)rows);
    }
    return KL_OK;
}

static KlStatus read_sizes(const Document *d, const json_t *object, KlProblemSize *size) {
    KL_TRY(read_count(d, object, "joint_rows", &size->joint_rows));
    KL_TRY(read_count(d, object, "limits", &size->limit_count));
    KL_TRY(read_count(d, object, "contacts", &size->contact_count));
    const json_t *joints = json_object_get(object, "joints");
    size->joint_count = size->joint_rows > 0 ? 1 : 0;
    if (joints != NULL) {
        if (!json_is_array(joints) || json_array_size(joints) > (size_t)size->joint_rows) {
            return fail(d, "joints", "must be the rows of each joint, e.g. [5, 5, 3]");
        }
        size->joint_count = (int32_t)json_array_size(joints);
    }
    const json_t *dense = json_object_get(object, "D"), *bodies = json_object_get(object, "M");
    if ((dense != NULL) == (bodies != NULL)) {
        return fail(d, "", "needs either D, or J and M");
    }
    if (bodies != NULL) {
        if (!json_is_array(bodies) || json_array_size(bodies) < 1 || json_array_size(bodies) > 1000000) {
            return fail(d, "M", "must be a list of bodies {\"mass\", \"inertia\"}");
        }
        size->body_count = (int32_t)json_array_size(bodies);
    }
    return KL_OK;
}

static KlStatus read_joints(const Document *d, const json_t *object, KlProblem *p) {
    const json_t *joints = json_object_get(object, "joints");
    int64_t row = 0;
    for (int32_t j = 0; joints != NULL && j < p->joint_count; j++) {
        const json_t *rows = json_array_get(joints, (size_t)j);
        if (!json_is_integer(rows) || json_integer_value(rows) < 1 || json_integer_value(rows) > p->joint_rows) {
            return fail(d, "joints", "must be the rows of each joint, e.g. [5, 5, 3]");
        }
        p->block_start[j] = (int32_t)row;
        row += json_integer_value(rows);
        if (row > p->joint_rows) {
            break;
        }
    }
    if (joints != NULL && row != p->joint_rows) {
        return fail(d, "joints", "must add up to joint_rows = %d", (int)p->joint_rows);
    }
    return KL_OK;
}

// Counts the entries that are not 0, or (with p) stores them.
static KlStatus read_dense(const Document *d, const json_t *matrix, int32_t dim, double *row, KlProblem *p,
                           int32_t *nonzeros) {
    KL_TRY(check_rows(d, matrix, "D", dim));
    int32_t at = 0;
    for (int32_t i = 0; i < dim; i++) {
        KL_TRY(read_row(d, matrix, "D", i, dim, row));
        for (int32_t j = 0; j < dim; j++) {
            if (row[j] == 0.0) {
                continue;
            }
            if (at == INT32_MAX) {
                return fail(d, "D", "has too many entries");
            }
            if (p != NULL) {
                p->delassus_index[at] = j;
                p->delassus_value[at] = row[j];
            }
            at++;
        }
        if (p != NULL) {
            p->delassus_start[i + 1] = at;
        }
    }
    *nonzeros = at;
    return KL_OK;
}

static KlStatus read_masses(const Document *d, const json_t *bodies, KlProblem *p) {
    for (int32_t i = 0; i < p->body_count; i++) {
        char path[80];
        const json_t *body = json_array_get(bodies, (size_t)i);
        const json_t *mass = json_object_get(body, "mass"), *inertia = json_object_get(body, "inertia");
        snprintf(path, sizeof path, "M[%d].mass", (int)i);
        if (!json_is_number(mass) || !(json_number_value(mass) > 0.0)) {
            return fail(d, path, "must be a number > 0");
        }
        p->mass[i] = json_number_value(mass);
        p->inverse_mass[i] = 1.0 / p->mass[i];
        snprintf(path, sizeof path, "M[%d].inertia", (int)i);
        KL_TRY(check_rows(d, inertia, path, 3));
        for (int32_t r = 0; r < 3; r++) {
            KL_TRY(read_row(d, inertia, path, r, 3, p->inertia + 9 * (size_t)i + 3 * r));
        }
        if (!kl_mat3_inverse(p->inertia + 9 * (size_t)i, p->inverse_inertia + 9 * (size_t)i)) {
            return fail(d, path, "must have an inverse");
        }
    }
    return KL_OK;
}

// Puts a dense Jacobian row (6 n_b) into the two body slots of its block.
static KlStatus place_row(const Document *d, const double *dense, int32_t block, int32_t row, KlProblem *p) {
    int32_t *bodies = p->block_body + 2 * block;
    for (int32_t body = 0; body < p->body_count; body++) {
        const double *part = dense + 6 * (size_t)body;
        bool used = false;
        for (int32_t c = 0; c < 6; c++) {
            used = used || part[c] != 0.0;
        }
        if (!used) {
            continue;
        }
        int32_t side = bodies[0] == body || bodies[0] < 0 ? 0 : 1;
        if (side == 1 && bodies[1] >= 0 && bodies[1] != body) {
            char path[80];
            snprintf(path, sizeof path, "J[%d]", (int)row);
            return fail(d, path, "a constraint may involve two bodies (found %d, %d and %d)", (int)bodies[0],
                        (int)bodies[1], (int)body);
        }
        bodies[side] = body;
        memcpy(p->jacobian + 12 * (size_t)row + 6 * side, part, 6 * sizeof *part);
    }
    return KL_OK;
}

static KlStatus read_jacobian(const Document *d, const json_t *matrix, double *row, KlProblem *p) {
    KL_TRY(check_rows(d, matrix, "J", p->dim));
    for (int32_t b = 0; b < p->block_count; b++) {
        p->block_body[2 * b] = p->block_body[2 * b + 1] = -1;
        for (int32_t i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            KL_TRY(read_row(d, matrix, "J", i, 6 * p->body_count, row));
            KL_TRY(place_row(d, row, b, i, p));
        }
    }
    return KL_OK;
}

static KlStatus read_friction(const Document *d, const json_t *object, KlProblem *p) {
    const json_t *mu = json_object_get(object, "mu");
    if (json_is_number(mu)) {
        for (int32_t k = 0; k < p->contact_count; k++) {
            p->friction[k] = json_number_value(mu);
        }
        return KL_OK;
    }
    return p->contact_count > 0 || mu != NULL ? read_vector(d, mu, "mu", p->contact_count, p->friction) : KL_OK;
}

static KlStatus read_members(const Document *d, const json_t *object, double *row, KlProblem *p) {
    KL_TRY(read_joints(d, object, p));
    const json_t *dt = json_object_get(object, "dt"), *softening = json_object_get(object, "R");
    if (!json_is_number(dt)) {
        return fail(d, "dt", "must be a number > 0 [s]%s", dt == NULL ? " (it is missing)" : "");
    }
    p->dt = json_number_value(dt);
    KL_TRY(read_friction(d, object, p));
    KL_TRY(read_vector(d, json_object_get(object, "v_f"), "v_f", p->dim, p->free_velocity));
    if (softening != NULL) {
        KL_TRY(read_vector(d, softening, "R", p->dim, p->softening));
    }
    for (int32_t b = 0; b < p->block_count; b++) {
        p->block_id[b] = (uint64_t)b;
    }
    if (kl_problem_has_bodies(p)) {
        KL_TRY(read_masses(d, json_object_get(object, "M"), p));
        KL_TRY(read_jacobian(d, json_object_get(object, "J"), row, p));
    } else {
        int32_t nonzeros;
        KL_TRY(read_dense(d, json_object_get(object, "D"), p->dim, row, p, &nonzeros));
    }
    if (kl_problem_check(p) != KL_OK) {
        char reason[400];
        snprintf(reason, sizeof reason, "%.390s", kl_last_error()->message);
        return fail(d, "", "%s", reason);
    }
    return KL_OK;
}

static KlStatus read_problem(const Document *d, const json_t *object, KlProblem **problem) {
    KlProblemSize size = {0};
    if (!json_is_object(object)) {
        return fail(d, "", "must be a problem object");
    }
    KL_TRY(read_sizes(d, object, &size));
    int64_t dim = (int64_t)size.joint_rows + size.limit_count + (int64_t)3 * size.contact_count;
    int64_t columns = size.body_count > 0 ? (int64_t)6 * size.body_count : dim;
    double *row = kl_alloc((size_t)columns * sizeof *row);
    if (row == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for a row of the problem");
    }
    KlStatus status = size.body_count > 0
                          ? KL_OK
                          : read_dense(d, json_object_get(object, "D"), (int32_t)dim, row, NULL, &size.nonzeros);
    KlProblem *p = NULL;
    if (status == KL_OK) {
        status = kl_problem_create(&size, &p);
    }
    if (status == KL_OK) {
        status = read_members(d, object, row, p);
    }
    kl_free(row);
    if (status != KL_OK) {
        kl_problem_destroy(p);
        return status;
    }
    *problem = p;
    return KL_OK;
}

KlStatus kl_problem_parse_json(const char *text, size_t size, const char *name, int32_t index, int32_t *count,
                               KlProblem **problem) {
    *problem = NULL;
    if (count != NULL) {
        *count = 0;
    }
    json_t *root;
    KL_TRY(kl_json_load(text, size, name, &root));
    Document d = {.text = text, .name = name, .size = size};
    bool list = json_is_array(root);
    int32_t found = list ? (int32_t)json_array_size(root) : 1;
    KlStatus status;
    if (count != NULL) {
        *count = found;
    }
    if (found == 0) {
        status = kl_json_fail(KL_ERR_NOT_FOUND, name, text, size, "", "holds no problem: the list is empty");
    } else if (index < 0 || index >= found) {
        status = kl_fail(KL_ERR_NOT_FOUND, "%s holds %d problems: there is no number %d", name, (int)found, (int)index);
    } else {
        if (list) {
            snprintf(d.path, sizeof d.path, "[%d]", (int)index);
        }
        status = read_problem(&d, list ? json_array_get(root, (size_t)index) : root, problem);
    }
    json_decref(root);
    return status;
}
