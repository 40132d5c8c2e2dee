// Reads and writes our HDF5 layout of dual problems.
#include "dataset_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

enum { MAX_DENSE = 8000 };       // rows up to which D is written
enum { MAX_ENTRIES = 1 << 26 };  // of D, as many as h5.h reads

bool dataset_is(const H5File *file) {
    char format[64];
    return h5_has_attribute(file, "/", "format") &&
           h5_attribute_text(file, "/", "format", format, sizeof format) == KL_OK &&
           strcmp(format, DATASET_FORMAT) == 0;
}

KlStatus dataset_create(const char *path, H5File *file) {
    KL_TRY(h5_create(path, file));
    KlStatus status = h5_set_text(file, "/", "format", DATASET_FORMAT);
    if (status == KL_OK) {
        status = h5_set_int(file, "/", "version", DATASET_VERSION);
    }
    if (status == KL_OK) {
        status = h5_set_text(file, "/", "writer", "kinloop " KL_VERSION);
    }
    if (status != KL_OK) {
        h5_close(file);
    }
    return status;
}

// --- writing --------------------------------------------------------------------------------------

static const char *child(char *path, size_t size, const char *group, const char *name) {
    snprintf(path, size, "%s/%s", group, name);
    return path;
}

static KlStatus write_counts(const H5File *file, const char *name, const KlProblem *p) {
    const struct {
        const char *key;
        int64_t value;
    } counts[] = {{"n_d", p->dim},         {"n_jd", p->joint_rows},   {"n_j", p->joint_count},
                  {"n_l", p->limit_count}, {"n_c", p->contact_count}, {"n_b", p->body_count}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        KL_TRY(h5_set_int(file, name, counts[i].key, counts[i].value));
    }
    return h5_set_real(file, name, "dt", p->dt);
}

static KlStatus write_origin(const H5File *file, const char *name, const ProblemRecord *record) {
    KL_TRY(h5_set_text(file, name, "category", record->category));
    KL_TRY(h5_set_text(file, name, "scene", record->scene));
    KL_TRY(h5_set_text(file, name, "run", record->run));
    KL_TRY(h5_set_int(file, name, "seed", record->seed));
    KL_TRY(h5_set_int(file, name, "step", record->step));
    KL_TRY(h5_set_int(file, name, "rank", record->rank));
    return h5_set_real(file, name, "mass_ratio", record->mass_ratio);
}

static KlStatus write_starts(const H5File *file, const char *name, const KlProblem *p) {
    size_t most = (size_t)p->block_count + 1;
    int32_t *rows = kl_alloc(2 * most * sizeof *rows);
    if (rows == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    int32_t *limits = rows + most;
    for (int32_t k = 0; k < p->joint_count; k++) {
        rows[k] = p->block_start[k + 1] - p->block_start[k];
    }
    for (int32_t k = 0; k < p->limit_count; k++) {
        limits[k] = p->joint_rows + k;
    }
    char path[320];
    KlStatus status = h5_write_ints(file, child(path, sizeof path, name, "d_j"), rows, p->joint_count, 0);
    if (status == KL_OK) {
        status = h5_write_ints(file, child(path, sizeof path, name, "i_j"), p->block_start, p->joint_count, 0);
    }
    if (status == KL_OK) {
        status = h5_write_ints(file, child(path, sizeof path, name, "i_l"), limits, p->limit_count, 0);
    }
    kl_free(rows);
    return status;
}

static KlStatus write_vectors(const H5File *file, const char *name, const ProblemRecord *record) {
    const KlProblem *p = record->problem;
    char path[320];
    KL_TRY(h5_write_reals(file, child(path, sizeof path, name, "mu"), p->friction, p->contact_count, 0));
    KL_TRY(h5_write_reals(file, child(path, sizeof path, name, "v_f"), p->free_velocity, p->dim, 0));
    KL_TRY(h5_write_ids(file, child(path, sizeof path, name, "block_id"), p->block_id, p->block_count));
    if (problem_soft_row(p) >= 0) {
        KL_TRY(h5_write_reals(file, child(path, sizeof path, name, "softening"), p->softening, p->dim, 0));
    }
    return KL_OK;
}

static KlStatus write_csr(const H5File *file, const char *name, int32_t dim, const int32_t *start, const int32_t *index,
                          const double *value) {
    char group[256], path[320];
    KL_TRY(h5_make_group(file, child(group, sizeof group, name, "D")));
    KL_TRY(h5_write_ints(file, child(path, sizeof path, group, "start"), start, dim + 1, 0));
    KL_TRY(h5_write_ints(file, child(path, sizeof path, group, "index"), index, start[dim], 0));
    return h5_write_reals(file, child(path, sizeof path, group, "value"), value, start[dim], 0);
}

// D of a body-form problem without its softening, as CSR of the entries that are not zero.
static KlStatus write_dense(const H5File *file, const char *name, const KlProblem *p) {
    KlProblem *hard = NULL;
    KL_TRY(kl_problem_clone(p, &hard));
    size_t dim = (size_t)p->dim;
    memset(hard->softening, 0, dim * sizeof *hard->softening);
    double *dense = kl_alloc((dim * dim + 1) * sizeof *dense);
    int32_t *start = kl_alloc((dim + 1) * sizeof *start), *index = kl_alloc((dim * dim + 1) * sizeof *index);
    KlStatus status = KL_OK;
    if (dense == NULL || start == NULL || index == NULL) {
        status = kl_fail(KL_ERR_MEMORY, "out of memory");
    } else {
        kl_problem_delassus(hard, dense);
        int32_t used = 0;  // values are packed in place: used never passes the entry that is read
        for (size_t i = 0; i < dim * dim; i++) {
            if (dense[i] != 0.0) {
                index[used] = (int32_t)(i % dim);
                dense[used++] = dense[i];
            }
            if (i % dim == dim - 1) {
                start[i / dim + 1] = used;
            }
        }
        status = write_csr(file, name, p->dim, start, index, dense);
    }
    kl_free(dense);
    kl_free(start);
    kl_free(index);
    kl_problem_destroy(hard);
    return status;
}

static KlStatus write_bodies(const H5File *file, const char *name, const KlProblem *p) {
    char path[320];
    KL_TRY(h5_make_group(file, child(path, sizeof path, name, "J")));
    KL_TRY(h5_make_group(file, child(path, sizeof path, name, "M")));
    KL_TRY(h5_write_ints(file, child(path, sizeof path, name, "J/body"), p->block_body, p->block_count, 2));
    KL_TRY(h5_write_reals(file, child(path, sizeof path, name, "J/value"), p->jacobian, p->dim, 12));
    KL_TRY(h5_write_reals(file, child(path, sizeof path, name, "M/mass"), p->mass, p->body_count, 0));
    KL_TRY(h5_write_reals(file, child(path, sizeof path, name, "M/inertia"), p->inertia, p->body_count, 9));
    KL_TRY(h5_write_reals(file, child(path, sizeof path, name, "M/inverse_mass"), p->inverse_mass, p->body_count, 0));
    return h5_write_reals(file, child(path, sizeof path, name, "M/inverse_inertia"), p->inverse_inertia, p->body_count,
                          9);
}

static KlStatus write_solution(const H5File *file, const char *name, const ProblemRecord *record) {
    KlResiduals residuals;
    kl_problem_residuals(record->problem, record->lambda, &residuals);
    char path[320];
    KL_TRY(h5_set_real(file, name, "r_nat", residuals.natural));
    KL_TRY(h5_set_real(file, name, "r_nat_rel", residuals.natural_relative));
    return h5_write_reals(file, child(path, sizeof path, name, "lambda"), record->lambda, record->problem->dim, 0);
}

KlStatus dataset_write(const H5File *file, const char *name, const ProblemRecord *record, bool with_delassus) {
    const KlProblem *p = record->problem;
    KL_TRY(h5_make_group(file, name));
    KL_TRY(write_counts(file, name, p));
    KL_TRY(write_origin(file, name, record));
    KL_TRY(write_starts(file, name, p));
    KL_TRY(write_vectors(file, name, record));
    if (p->body_count == 0) {
        KL_TRY(write_csr(file, name, p->dim, p->delassus_start, p->delassus_index, p->delassus_value));
    } else {
        if (with_delassus && p->dim > 0 && p->dim <= MAX_DENSE) {
            KL_TRY(write_dense(file, name, p));
        }
        KL_TRY(write_bodies(file, name, p));
    }
    return record->lambda != NULL ? write_solution(file, name, record) : KL_OK;
}

// --- reading --------------------------------------------------------------------------------------

static KlStatus read_count(const H5File *file, const char *name, const char *key, int32_t *value) {
    int64_t wide = 0;
    KL_TRY(h5_attribute_int(file, name, key, &wide));
    if (wide < 0 || wide > 1000000) {
        char path[320];
        snprintf(path, sizeof path, "%s@%s", name, key);
        return h5_fail(file, KL_ERR_LIMIT, path, "must be in [0, 1000000] (found %lld)", (long long)wide);
    }
    *value = (int32_t)wide;
    return KL_OK;
}

static KlStatus read_size(const H5File *file, const char *name, KlProblemSize *size) {
    KL_TRY(read_count(file, name, "n_jd", &size->joint_rows));
    KL_TRY(read_count(file, name, "n_j", &size->joint_count));
    KL_TRY(read_count(file, name, "n_l", &size->limit_count));
    KL_TRY(read_count(file, name, "n_c", &size->contact_count));
    KL_TRY(read_count(file, name, "n_b", &size->body_count));
    char path[320];
    if (!h5_has(file, child(path, sizeof path, name, "J"))) {
        size->body_count = 0;  // explicit form keeps n_b as a fact about the system
    }
    int32_t dim = 0;
    KL_TRY(read_count(file, name, "n_d", &dim));
    int64_t rows = (int64_t)size->joint_rows + size->limit_count + 3 * (int64_t)size->contact_count;
    return dim == rows ? KL_OK
                       : h5_fail(file, KL_ERR_FORMAT, name, "n_d is %d, but n_jd + n_l + 3 n_c is %lld", (int)dim,
                                 (long long)rows);
}

static KlStatus read_text_or_empty(const H5File *file, const char *name, const char *key, char *text, size_t size) {
    text[0] = '\0';
    return h5_has_attribute(file, name, key) ? h5_attribute_text(file, name, key, text, size) : KL_OK;
}

static KlStatus read_origin(const H5File *file, const char *name, ProblemRecord *record) {
    KL_TRY(read_text_or_empty(file, name, "category", record->category, sizeof record->category));
    KL_TRY(read_text_or_empty(file, name, "scene", record->scene, sizeof record->scene));
    KL_TRY(read_text_or_empty(file, name, "run", record->run, sizeof record->run));
    const struct {
        const char *key;
        int64_t *value;
    } numbers[] = {{"seed", &record->seed}, {"step", &record->step}};
    for (size_t i = 0; i < 2; i++) {
        if (h5_has_attribute(file, name, numbers[i].key)) {
            KL_TRY(h5_attribute_int(file, name, numbers[i].key, numbers[i].value));
        }
    }
    int64_t rank = -1;
    if (h5_has_attribute(file, name, "rank")) {
        KL_TRY(h5_attribute_int(file, name, "rank", &rank));
    }
    record->rank = rank >= 0 && rank <= INT32_MAX ? (int32_t)rank : -1;
    if (h5_has_attribute(file, name, "mass_ratio")) {
        KL_TRY(h5_attribute_real(file, name, "mass_ratio", &record->mass_ratio));
    }
    return KL_OK;
}

// The nonzeros of D, which kl_problem_create wants beforehand; starts are checked by their last entry.
static KlStatus read_nonzeros(const H5File *file, const char *name, KlProblemSize *size, int32_t dim) {
    char path[320];
    int32_t *start = NULL;
    int64_t count = 0;
    KL_TRY(h5_read_ints(file, child(path, sizeof path, name, "D/start"), &start, &count));
    KlStatus status = KL_OK;
    if (count != (int64_t)dim + 1 || start[0] != 0) {
        status = h5_fail(file, KL_ERR_FORMAT, path, "must hold %d starts from 0", (int)dim + 1);
    }
    for (int32_t i = 0; status == KL_OK && i < dim; i++) {
        if (start[i + 1] < start[i]) {
            status = h5_fail(file, KL_ERR_FORMAT, path, "must ascend (entry %d)", (int)i + 1);
        }
    }
    // Memory is asked for by this number, so it is not believed before it can be true.
    int64_t most = dim < MAX_DENSE ? (int64_t)dim * dim : MAX_ENTRIES;
    if (status == KL_OK && start[dim] > most) {
        status =
            h5_fail(file, KL_ERR_LIMIT, path, "ends at %d; at most %lld entries", (int)start[dim], (long long)most);
    }
    size->nonzeros = status == KL_OK ? start[dim] : 0;
    kl_free(start);
    return status;
}

static KlStatus read_joints(const H5File *file, const char *name, KlProblem *p) {
    char path[320];
    child(path, sizeof path, name, "i_j");
    KL_TRY(h5_read_ints_into(file, path, p->block_start, p->joint_count));
    for (int32_t k = 0; k < p->joint_count; k++) {
        int32_t end = k + 1 < p->joint_count ? p->block_start[k + 1] : p->joint_rows;
        if (p->block_start[k] < 0 || p->block_start[k] >= end || (k == 0 && p->block_start[0] != 0)) {
            return h5_fail(file, KL_ERR_FORMAT, path, "joint %d starts at row %d; starts must ascend from 0", (int)k,
                           (int)p->block_start[k]);
        }
    }
    return KL_OK;
}

static KlStatus read_explicit(const H5File *file, const char *name, KlProblem *p, int32_t nonzeros) {
    char path[320];
    KL_TRY(h5_read_ints_into(file, child(path, sizeof path, name, "D/start"), p->delassus_start, p->dim + 1));
    KL_TRY(h5_read_reals_into(file, child(path, sizeof path, name, "D/value"), p->delassus_value, nonzeros));
    KL_TRY(h5_read_ints_into(file, child(path, sizeof path, name, "D/index"), p->delassus_index, nonzeros));
    for (int32_t i = 0; i < p->dim; i++) {
        for (int32_t k = p->delassus_start[i]; k < p->delassus_start[i + 1]; k++) {
            int32_t previous = k > p->delassus_start[i] ? p->delassus_index[k - 1] : -1;
            if (p->delassus_index[k] <= previous || p->delassus_index[k] >= p->dim) {
                return h5_fail(file, KL_ERR_FORMAT, path,
                               "entry %d is column %d; columns of a row must ascend below %d", (int)k,
                               (int)p->delassus_index[k], (int)p->dim);
            }
        }
    }
    return KL_OK;
}

static KlStatus read_bodies(const H5File *file, const char *name, KlProblem *p) {
    char path[320];
    KL_TRY(h5_read_reals_into(file, child(path, sizeof path, name, "J/value"), p->jacobian, 12 * (int64_t)p->dim));
    KL_TRY(h5_read_reals_into(file, child(path, sizeof path, name, "M/mass"), p->mass, p->body_count));
    KL_TRY(
        h5_read_reals_into(file, child(path, sizeof path, name, "M/inertia"), p->inertia, 9 * (int64_t)p->body_count));
    KL_TRY(h5_read_reals_into(file, child(path, sizeof path, name, "M/inverse_mass"), p->inverse_mass, p->body_count));
    KL_TRY(h5_read_reals_into(file, child(path, sizeof path, name, "M/inverse_inertia"), p->inverse_inertia,
                              9 * (int64_t)p->body_count));
    KL_TRY(
        h5_read_ints_into(file, child(path, sizeof path, name, "J/body"), p->block_body, 2 * (int64_t)p->block_count));
    for (int32_t k = 0; k < 2 * p->block_count; k++) {
        if (p->block_body[k] < -1 || p->block_body[k] >= p->body_count) {
            return h5_fail(file, KL_ERR_FORMAT, path, "entry %d is body %d; bodies are -1 to %d", (int)k,
                           (int)p->block_body[k], (int)p->body_count - 1);
        }
    }
    return KL_OK;
}

static KlStatus read_vectors(const H5File *file, const char *name, ProblemRecord *record) {
    KlProblem *p = record->problem;
    char path[320];
    KL_TRY(h5_read_reals_into(file, child(path, sizeof path, name, "mu"), p->friction, p->contact_count));
    KL_TRY(h5_read_reals_into(file, child(path, sizeof path, name, "v_f"), p->free_velocity, p->dim));
    if (h5_has(file, child(path, sizeof path, name, "block_id"))) {
        KL_TRY(h5_read_ids_into(file, path, p->block_id, p->block_count));
    }
    if (h5_has(file, child(path, sizeof path, name, "softening"))) {
        KL_TRY(h5_read_reals_into(file, path, p->softening, p->dim));
    }
    if (h5_has(file, child(path, sizeof path, name, "lambda"))) {
        record->lambda = kl_alloc(((size_t)p->dim + 1) * sizeof *record->lambda);
        if (record->lambda == NULL) {
            return h5_fail(file, KL_ERR_MEMORY, path, "out of memory");
        }
        KL_TRY(h5_read_reals_into(file, path, record->lambda, p->dim));
        KL_TRY(h5_attribute_real(file, name, "r_nat_rel", &record->lambda_natural));
    }
    return KL_OK;
}

KlStatus dataset_read(const H5File *file, const char *name, ProblemRecord *record) {
    KlProblemSize size = {0};
    KL_TRY(read_size(file, name, &size));
    int32_t dim = size.joint_rows + size.limit_count + 3 * size.contact_count;
    if (size.body_count == 0) {
        KL_TRY(read_nonzeros(file, name, &size, dim));
    }
    KL_TRY(kl_problem_create(&size, &record->problem));
    snprintf(record->name, sizeof record->name, "%s", name + 1);
    KL_TRY(h5_attribute_real(file, name, "dt", &record->problem->dt));
    KL_TRY(read_origin(file, name, record));
    KL_TRY(read_joints(file, name, record->problem));
    KL_TRY(size.body_count > 0 ? read_bodies(file, name, record->problem)
                               : read_explicit(file, name, record->problem, size.nonzeros));
    return read_vectors(file, name, record);
}

// --- names ----------------------------------------------------------------------------------------

typedef struct NameList {
    const H5File *file;
    char group[256];  // the group being listed
    int depth;
    char **names;
    int32_t count, capacity;
} NameList;

static KlStatus add_name(NameList *list, const char *path) {
    if (list->count == list->capacity) {
        int32_t capacity = list->capacity > 0 ? 2 * list->capacity : 256;
        char **names = kl_realloc(list->names, (size_t)capacity * sizeof *names);
        if (names == NULL) {
            return kl_fail(KL_ERR_MEMORY, "out of memory");
        }
        list->names = names;
        list->capacity = capacity;
    }
    size_t size = strlen(path) + 1;
    char *copy = kl_alloc(size);
    if (copy == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    memcpy(copy, path, size);
    list->names[list->count++] = copy;
    return KL_OK;
}

// Systems, categories, problems: three levels, of which the last carries n_d.
static KlStatus visit(void *context, const char *name) {
    NameList *list = context;
    char path[256];
    if (snprintf(path, sizeof path, "%s/%s", list->group, name) >= (int)sizeof path) {
        return h5_fail(list->file, KL_ERR_LIMIT, list->group, "holds a name that is too long");
    }
    if (list->depth == 0 && strcmp(name, "trajectory") == 0) {
        return KL_OK;
    }
    if (!h5_is_group(list->file, path)) {
        return KL_OK;
    }
    if (list->depth == 2) {
        return h5_has_attribute(list->file, path, "n_d")
                   ? add_name(list, path)
                   : h5_fail(list->file, KL_ERR_FORMAT, path, "is no problem: it has no attribute n_d");
    }
    char parent[256];
    memcpy(parent, list->group, sizeof parent);
    memcpy(list->group, path, sizeof path);
    list->depth++;
    KlStatus status = h5_each(list->file, path, visit, list);
    list->depth--;
    memcpy(list->group, parent, sizeof parent);
    return status;
}

KlStatus dataset_names(const H5File *file, char ***names, int32_t *count) {
    int64_t version = 0;
    KL_TRY(h5_attribute_int(file, "/", "version", &version));
    if (version != DATASET_VERSION) {
        return h5_fail(file, KL_ERR_FORMAT, "/@version", "is %lld; this build reads %d", (long long)version,
                       (int)DATASET_VERSION);
    }
    NameList list = {.file = file};
    KlStatus status = h5_each(file, "/", visit, &list);
    if (status != KL_OK) {
        for (int32_t i = 0; i < list.count; i++) {
            kl_free(list.names[i]);
        }
        kl_free(list.names);
        list.names = NULL;
        list.count = 0;
    }
    *names = list.names;
    *count = list.count;
    return status;
}
