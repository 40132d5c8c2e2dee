#include "problem_json.h"

#include <jansson.h>
#include <string.h>

#include "base/json_load.h"
#include "base/memory.h"
#include "base/status.h"

enum { MAX_ROWS = 2000 };

static json_t *reals(const double *values, int32_t count) {
    json_t *list = json_array();
    for (int32_t i = 0; i < count; i++) {
        json_array_append_new(list, json_real(values[i]));
    }
    return list;
}

static json_t *matrix(const double *values, int32_t rows, int32_t columns) {
    json_t *list = json_array();
    for (int32_t i = 0; i < rows; i++) {
        json_array_append_new(list, reals(values + (size_t)i * (size_t)columns, columns));
    }
    return list;
}

static json_t *joint_rows(const KlProblem *p) {
    json_t *list = json_array();
    for (int32_t j = 0; j < p->joint_count; j++) {
        json_array_append_new(list, json_integer(p->block_start[j + 1] - p->block_start[j]));
    }
    return list;
}

static void set_bodies(const KlProblem *p, double *row, json_t *object) {
    json_t *jacobian = json_array(), *bodies = json_array();
    for (int32_t b = 0; b < p->block_count; b++) {
        for (int32_t i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            memset(row, 0, 6 * (size_t)p->body_count * sizeof *row);
            for (int32_t side = 0; side < 2; side++) {
                int32_t body = p->block_body[2 * b + side];
                for (int32_t c = 0; body >= 0 && c < 6; c++) {
                    row[6 * body + c] += p->jacobian[12 * (size_t)i + 6 * (size_t)side + (size_t)c];
                }
            }
            json_array_append_new(jacobian, reals(row, 6 * p->body_count));
        }
    }
    for (int32_t i = 0; i < p->body_count; i++) {
        json_array_append_new(
            bodies, json_pack("{s:f, s:o}", "mass", p->mass[i], "inertia", matrix(p->inertia + 9 * (size_t)i, 3, 3)));
    }
    json_object_set_new(object, "J", jacobian);
    json_object_set_new(object, "M", bodies);
}

static void set_delassus(const KlProblem *p, double *row, json_t *object) {
    json_t *rows = json_array();
    for (int32_t i = 0; i < p->dim; i++) {
        memset(row, 0, (size_t)p->dim * sizeof *row);
        for (int32_t k = p->delassus_start[i]; k < p->delassus_start[i + 1]; k++) {
            row[p->delassus_index[k]] = p->delassus_value[k];
        }
        json_array_append_new(rows, reals(row, p->dim));
    }
    json_object_set_new(object, "D", rows);
}

KlStatus problem_json_write(const ProblemRecord *record, FILE *file) {
    const KlProblem *p = record->problem;
    if (p->dim > MAX_ROWS) {
        return kl_fail(KL_ERR_LIMIT, "%s: %d rows; at most %d are written as JSON", record->name, (int)p->dim,
                       MAX_ROWS);
    }
    size_t columns = (size_t)(p->body_count > 0 ? 6 * p->body_count : p->dim);
    double *row = kl_alloc((columns + 1) * sizeof *row);
    json_t *object =
        json_pack("{s:s, s:i, s:i, s:i, s:o, s:f, s:o, s:o}", "name", record->name, "joint_rows", (int)p->joint_rows,
                  "limits", (int)p->limit_count, "contacts", (int)p->contact_count, "joints", joint_rows(p), "dt",
                  p->dt, "mu", reals(p->friction, p->contact_count), "v_f", reals(p->free_velocity, p->dim));
    if (row == NULL || object == NULL) {
        kl_free(row);
        json_decref(object);
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    if (problem_soft_row(p) >= 0) {
        json_object_set_new(object, "R", reals(p->softening, p->dim));
    }
    if (record->lambda != NULL) {
        json_object_set_new(object, "lambda", reals(record->lambda, p->dim));
    }
    if (p->body_count > 0) {
        set_bodies(p, row, object);
    } else {
        set_delassus(p, row, object);
    }
    bool failed = json_dumpf(object, file, JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0;
    json_decref(object);
    kl_free(row);
    return failed && !ferror(file) ? kl_fail(KL_ERR_MEMORY, "out of memory") : KL_OK;
}

static KlStatus read_lambda(const json_t *list, ProblemRecord *record) {
    int32_t dim = record->problem->dim;
    if (!json_is_array(list) || json_array_size(list) != (size_t)dim) {
        return KL_OK;
    }
    double *lambda = kl_alloc(((size_t)dim + 1) * sizeof *lambda);
    if (lambda == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < dim; i++) {
        lambda[i] = json_number_value(json_array_get(list, (size_t)i));  // 0 for what is no number
    }
    record->lambda = lambda;
    return KL_OK;
}

KlStatus problem_json_remarks(const char *text, size_t size, const char *file, int32_t index, ProblemRecord *record) {
    json_t *root;
    KL_TRY(kl_json_load(text, size, file, &root));
    const json_t *object = json_is_array(root) ? json_array_get(root, (size_t)index) : root;
    const char *name = json_string_value(json_object_get(object, "name"));
    snprintf(record->name, sizeof record->name, "%s", name != NULL ? name : "");
    KlStatus status = read_lambda(json_object_get(object, "lambda"), record);
    json_decref(root);
    return status;
}
