// Reads and writes FCLIB.
#include "fclib.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "sparse.h"

enum { MAX_ROWS = 1000000, MAX_BLOCK = 4000, MAX_ENTRIES = 1 << 26 };

// --- matrices -------------------------------------------------------------------------------------

// FCLIB's sparse matrix: nz = -1 compressed columns, -2 compressed rows, >= 0 that many triplets.
typedef struct Stored {
    int32_t rows, columns, nz;
    int32_t *p, *i;
    double *x;
    int64_t p_count, i_count, x_count;
} Stored;

static void stored_free(Stored *stored) {
    kl_free(stored->p);
    kl_free(stored->i);
    kl_free(stored->x);
}

static const char *child(char *path, size_t size, const char *group, const char *name) {
    snprintf(path, size, "%s/%s", group, name);
    return path;
}

static KlStatus read_stored(const H5File *file, const char *group, Stored *stored) {
    char path[256];
    if (!h5_has(file, group)) {
        return h5_fail(file, KL_ERR_FORMAT, group, "is missing");
    }
    KL_TRY(h5_read_int(file, child(path, sizeof path, group, "m"), &stored->rows));
    KL_TRY(h5_read_int(file, child(path, sizeof path, group, "n"), &stored->columns));
    KL_TRY(h5_read_int(file, child(path, sizeof path, group, "nz"), &stored->nz));
    KL_TRY(h5_read_ints(file, child(path, sizeof path, group, "p"), &stored->p, &stored->p_count));
    KL_TRY(h5_read_ints(file, child(path, sizeof path, group, "i"), &stored->i, &stored->i_count));
    KL_TRY(h5_read_reals(file, child(path, sizeof path, group, "x"), &stored->x, &stored->x_count));
    if (stored->rows < 0 || stored->columns < 0 || stored->rows > MAX_ROWS || stored->columns > MAX_ROWS) {
        return h5_fail(file, KL_ERR_LIMIT, group, "has shape %d x %d; at most %d each way", (int)stored->rows,
                       (int)stored->columns, (int)MAX_ROWS);
    }
    if (stored->nz < -2) {
        return h5_fail(file, KL_ERR_FORMAT, child(path, sizeof path, group, "nz"),
                       "must be -1 (columns), -2 (rows) or a count (found %d)", (int)stored->nz);
    }
    return KL_OK;
}

static KlStatus add_entry(const H5File *file, const char *group, const Stored *stored, int64_t at, int32_t row,
                          int32_t column, Triplets *list) {
    if (row < 0 || row >= stored->rows || column < 0 || column >= stored->columns) {
        return h5_fail(file, KL_ERR_FORMAT, group, "entry %lld lies at (%d, %d), outside %d x %d", (long long)at,
                       (int)row, (int)column, (int)stored->rows, (int)stored->columns);
    }
    triplets_add(list, row, column, stored->x[at]);
    return KL_OK;
}

static KlStatus expand_triplets(const H5File *file, const char *group, const Stored *stored, Triplets *list) {
    if (stored->nz > stored->i_count || stored->nz > stored->p_count || stored->nz > stored->x_count) {
        return h5_fail(file, KL_ERR_FORMAT, group, "nz says %d triplets, but i, p and x hold %lld, %lld and %lld",
                       (int)stored->nz, (long long)stored->i_count, (long long)stored->p_count,
                       (long long)stored->x_count);
    }
    for (int32_t k = 0; k < stored->nz; k++) {
        KL_TRY(add_entry(file, group, stored, k, stored->i[k], stored->p[k], list));
    }
    return KL_OK;
}

static KlStatus expand_compressed(const H5File *file, const char *group, const Stored *stored, Triplets *list) {
    bool by_row = stored->nz == -2;
    int32_t lines = by_row ? stored->rows : stored->columns;
    if (stored->p_count < (int64_t)lines + 1) {
        return h5_fail(file, KL_ERR_FORMAT, group, "p must hold %d starts (found %lld)", (int)lines + 1,
                       (long long)stored->p_count);
    }
    for (int32_t line = 0; line < lines; line++) {
        int32_t from = stored->p[line], to = stored->p[line + 1];
        if (from < 0 || to < from || to > stored->i_count || to > stored->x_count) {
            return h5_fail(file, KL_ERR_FORMAT, group, "p[%d] = %d and p[%d] = %d must ascend within the %lld entries",
                           (int)line, (int)from, (int)line + 1, (int)to, (long long)stored->x_count);
        }
        for (int32_t k = from; k < to; k++) {
            int32_t row = by_row ? line : stored->i[k], column = by_row ? stored->i[k] : line;
            KL_TRY(add_entry(file, group, stored, k, row, column, list));
        }
    }
    return KL_OK;
}

// The entries of a matrix of the file. rows, columns -1: any.
static KlStatus read_entries(const H5File *file, const char *group, int32_t rows, int32_t columns, Triplets *list,
                             int32_t shape[2]) {
    Stored stored = {0};
    KlStatus status = read_stored(file, group, &stored);
    if (status == KL_OK && ((rows >= 0 && stored.rows != rows) || (columns >= 0 && stored.columns != columns))) {
        status = h5_fail(file, KL_ERR_FORMAT, group, "has shape %d x %d; the vectors ask for %d x %d", (int)stored.rows,
                         (int)stored.columns, (int)rows, (int)columns);
    }
    if (status == KL_OK) {
        status = stored.nz >= 0 ? expand_triplets(file, group, &stored, list)
                                : expand_compressed(file, group, &stored, list);
    }
    if (shape != NULL) {
        shape[0] = stored.rows;
        shape[1] = stored.columns;
    }
    stored_free(&stored);
    return status;
}

static KlStatus read_matrix(const H5File *file, const char *group, int32_t rows, int32_t columns, Sparse *matrix) {
    Triplets list = {0};
    int32_t shape[2] = {0, 0};
    KlStatus status = read_entries(file, group, rows, columns, &list, shape);
    if (status == KL_OK) {
        status = sparse_from_triplets(&list, shape[0], shape[1], matrix);
    }
    triplets_free(&list);
    return status;
}

// --- order of rows --------------------------------------------------------------------------------

// Our row of FCLIB's contact row: theirs (n, t, o), ours (t, o, n) behind `joints` rows.
static int32_t our_row(int32_t joints, int32_t row) {
    int32_t contact = row / 3, component = row % 3;
    return joints + 3 * contact + (component + 2) % 3;
}

static void reorder(const double *theirs, int32_t contacts, double *ours) {
    for (int32_t i = 0; i < 3 * contacts; i++) {
        ours[our_row(0, i)] = theirs[i];
    }
}

// --- what both kinds share ------------------------------------------------------------------------

typedef struct Header {
    const char *group;  // "/fclib_local" or "/fclib_global"
    int32_t contacts, joints;
    double *friction;  // (contacts)
} Header;

static KlStatus read_header(const H5File *file, Header *header) {
    char path[256];
    int32_t space = 0;
    int64_t contacts = 0;
    KL_TRY(h5_read_int(file, child(path, sizeof path, header->group, "spacedim"), &space));
    if (space != 3) {
        return h5_fail(file, KL_ERR_SCENE, path, "must be 3 (found %d): contacts have three rows", (int)space);
    }
    KL_TRY(h5_read_reals(file, child(path, sizeof path, header->group, "vectors/mu"), &header->friction, &contacts));
    if (contacts > MAX_ROWS / 3) {
        return h5_fail(file, KL_ERR_LIMIT, path, "holds %lld contacts; at most %d", (long long)contacts,
                       (int)MAX_ROWS / 3);
    }
    header->contacts = (int32_t)contacts;
    return KL_OK;
}

static void read_title(const H5File *file, const char *group, ProblemRecord *record) {
    char path[256];
    if (h5_read_text(file, child(path, sizeof path, group, "info/title"), record->name, sizeof record->name) != KL_OK) {
        record->name[0] = '\0';  // a file may go without
    }
    for (char *c = record->name; *c != '\0'; c++) {
        if (*c == '\n' || *c == '\r' || *c == '\t') {
            *c = ' ';
        }
    }
}

static void read_solution(const H5File *file, const Header *header, ProblemRecord *record) {
    int64_t rows = header->joints + 3 * (int64_t)header->contacts;
    double *lambda = kl_alloc(((size_t)rows + 1) * sizeof *lambda);
    double *reaction = kl_alloc((3 * (size_t)header->contacts + 1) * sizeof *reaction);
    if (lambda != NULL && reaction != NULL &&
        h5_read_reals_into(file, "/solution/r", reaction, 3 * (int64_t)header->contacts) == KL_OK &&
        (header->joints == 0 || h5_read_reals_into(file, "/solution/l", lambda, header->joints) == KL_OK)) {
        reorder(reaction, header->contacts, lambda + header->joints);
        record->lambda = lambda;
        lambda = NULL;
    }
    kl_free(lambda);
    kl_free(reaction);
}

// An explicit problem from D's entries in our row order.
static KlStatus create_explicit(const Header *header, const Triplets *entries, const double *velocity,
                                KlProblem **result) {
    int32_t dim = header->joints + 3 * header->contacts;
    Sparse delassus;
    KL_TRY(sparse_from_triplets(entries, dim, dim, &delassus));
    KlProblemSize size = {.joint_rows = header->joints,
                          .joint_count = header->joints > 0 ? 1 : 0,
                          .contact_count = header->contacts,
                          .nonzeros = (int32_t)delassus.nonzeros};
    KlStatus status = delassus.nonzeros > MAX_ENTRIES
                          ? kl_fail(KL_ERR_LIMIT, "the Delassus matrix has %lld entries; at most %d",
                                    (long long)delassus.nonzeros, (int)MAX_ENTRIES)
                          : kl_problem_create(&size, result);
    if (status == KL_OK) {
        KlProblem *problem = *result;
        if (header->joints > 0) {
            problem->block_start[0] = 0;
        }
        problem->dt = 1.0;  // FCLIB keeps no time step; reactions are impulses
        for (int32_t i = 0; i <= dim; i++) {
            problem->delassus_start[i] = (int32_t)delassus.start[i];
        }
        for (int64_t k = 0; k < delassus.nonzeros; k++) {
            problem->delassus_index[k] = delassus.index[k];
            problem->delassus_value[k] = delassus.value[k];
        }
        memcpy(problem->free_velocity, velocity, (size_t)dim * sizeof *velocity);
        if (header->contacts > 0) {
            memcpy(problem->friction, header->friction, (size_t)header->contacts * sizeof(double));
        }
    }
    sparse_free(&delassus);
    return status;
}

static void number_blocks(KlProblem *problem) {
    for (int32_t i = 0; i < problem->block_count; i++) {
        problem->block_id[i] = (uint64_t)i + 1;
    }
}

// --- local ----------------------------------------------------------------------------------------

// Adds a part of W, V or R to D's entries, rows and columns in our order.
typedef enum Side { SIDE_JOINT, SIDE_CONTACT } Side;

static int32_t place(Side side, int32_t joints, int32_t row) { return side == SIDE_JOINT ? row : our_row(joints, row); }

static void add_part(const Triplets *part, Side rows, Side columns, int32_t joints, bool transposed,
                     Triplets *entries) {
    for (int64_t k = 0; k < part->count; k++) {
        int32_t row = place(rows, joints, part->entries[k].row);
        int32_t column = place(columns, joints, part->entries[k].column);
        triplets_add(entries, transposed ? column : row, transposed ? row : column, part->entries[k].value);
    }
}

static KlStatus read_local_joints(const H5File *file, Header *header, Triplets *entries, Triplets *coupling) {
    int32_t shape[2];
    KL_TRY(read_entries(file, "/fclib_local/V", 3 * header->contacts, -1, coupling, shape));
    header->joints = shape[1];
    Triplets block = {0};
    KlStatus status = read_entries(file, "/fclib_local/R", shape[1], shape[1], &block, NULL);
    if (status == KL_OK) {
        add_part(&block, SIDE_JOINT, SIDE_JOINT, header->joints, false, entries);
        add_part(coupling, SIDE_CONTACT, SIDE_JOINT, header->joints, false, entries);
        add_part(coupling, SIDE_CONTACT, SIDE_JOINT, header->joints, true, entries);
    }
    triplets_free(&block);
    return status;
}

static KlStatus read_local_entries(const H5File *file, Header *header, Triplets *entries) {
    Triplets part = {0};
    KlStatus status = KL_OK;
    if (h5_has(file, "/fclib_local/V")) {
        status = read_local_joints(file, header, entries, &part);
    }
    triplets_free(&part);
    if (status == KL_OK) {
        int32_t rows = 3 * header->contacts;
        status = read_entries(file, "/fclib_local/W", rows, rows, &part, NULL);
        add_part(&part, SIDE_CONTACT, SIDE_CONTACT, header->joints, false, entries);
        triplets_free(&part);
    }
    return status;
}

static KlStatus read_local_velocity(const H5File *file, const Header *header, double *velocity, double *scratch) {
    KL_TRY(h5_read_reals_into(file, "/fclib_local/vectors/q", scratch, 3 * (int64_t)header->contacts));
    reorder(scratch, header->contacts, velocity + header->joints);
    if (header->joints > 0) {
        KL_TRY(h5_read_reals_into(file, "/fclib_local/vectors/s", velocity, header->joints));
    }
    return KL_OK;
}

static void note_asymmetry(ProblemRecord *record) {
    const KlProblem *p = record->problem;
    double largest = 0.0, difference = 0.0;
    for (int32_t i = 0; i < p->dim; i++) {
        for (int32_t k = p->delassus_start[i]; k < p->delassus_start[i + 1]; k++) {
            int32_t j = p->delassus_index[k];
            double mirrored = 0.0;
            int32_t low = p->delassus_start[j], high = p->delassus_start[j + 1];
            while (low < high) {
                int32_t middle = low + (high - low) / 2;
                if (p->delassus_index[middle] < i) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            if (low < p->delassus_start[j + 1] && p->delassus_index[low] == i) {
                mirrored = p->delassus_value[low];
            }
            double value = p->delassus_value[k];
            largest = fabs(value) > largest ? fabs(value) : largest;
            difference = fabs(value - mirrored) > difference ? fabs(value - mirrored) : difference;
        }
    }
    if (difference > 1e-12 * largest) {  // beyond rounding of a product
        size_t used = strlen(record->note);
        snprintf(record->note + used, sizeof record->note - used,
                 "%sW is not symmetric (%.1e of its largest entry) and is solved as given", used > 0 ? "; " : "",
                 difference / largest);
    }
}

static KlStatus read_local(const H5File *file, Header *header, ProblemRecord *record) {
    Triplets entries = {0};
    KlStatus status = read_local_entries(file, header, &entries);
    size_t rows = (size_t)header->joints + 3 * (size_t)header->contacts;
    double *velocity = kl_alloc((2 * rows + 1) * sizeof *velocity);
    if (status == KL_OK && velocity == NULL) {
        status = h5_fail(file, KL_ERR_MEMORY, header->group, "out of memory");
    }
    if (status == KL_OK) {
        status = read_local_velocity(file, header, velocity, velocity + rows);
    }
    if (status == KL_OK) {
        status = create_explicit(header, &entries, velocity, &record->problem);
    }
    if (status == KL_OK) {
        note_asymmetry(record);
    }
    kl_free(velocity);
    triplets_free(&entries);
    return status;
}

// --- global ---------------------------------------------------------------------------------------

typedef struct Global {
    Sparse mass;      // (dofs x dofs)
    Sparse jacobian;  // (rows x dofs) [G H]' in our row order
    double *force;    // (dofs) f
    double *bias;     // (rows) b and w in our row order
    int32_t dofs;
} Global;

static void global_free(Global *global) {
    sparse_free(&global->mass);
    sparse_free(&global->jacobian);
    kl_free(global->force);
    kl_free(global->bias);
}

static KlStatus read_global_jacobian(const H5File *file, Header *header, Global *global) {
    Triplets part = {0}, entries = {0};
    int32_t shape[2] = {0, 0};
    KlStatus status = KL_OK;
    if (h5_has(file, "/fclib_global/G")) {
        status = read_entries(file, "/fclib_global/G", global->dofs, -1, &part, shape);
        header->joints = shape[1];
        for (int64_t k = 0; k < part.count; k++) {
            triplets_add(&entries, part.entries[k].column, part.entries[k].row, part.entries[k].value);
        }
        triplets_free(&part);
    }
    if (status == KL_OK) {
        status = read_entries(file, "/fclib_global/H", global->dofs, 3 * header->contacts, &part, NULL);
        for (int64_t k = 0; k < part.count; k++) {
            triplets_add(&entries, our_row(header->joints, part.entries[k].column), part.entries[k].row,
                         part.entries[k].value);
        }
        triplets_free(&part);
    }
    if (status == KL_OK) {
        status = sparse_from_triplets(&entries, header->joints + 3 * header->contacts, global->dofs, &global->jacobian);
    }
    triplets_free(&entries);
    return status;
}

static KlStatus read_global_vectors(const H5File *file, const Header *header, Global *global) {
    size_t rows = (size_t)header->joints + 3 * (size_t)header->contacts;
    global->force = kl_alloc(((size_t)global->dofs + 1) * sizeof(double));
    global->bias = kl_alloc((2 * rows + 1) * sizeof(double));
    if (global->force == NULL || global->bias == NULL) {
        return h5_fail(file, KL_ERR_MEMORY, header->group, "out of memory");
    }
    double *theirs = global->bias + rows;
    KL_TRY(h5_read_reals_into(file, "/fclib_global/vectors/f", global->force, global->dofs));
    KL_TRY(h5_read_reals_into(file, "/fclib_global/vectors/w", theirs, 3 * (int64_t)header->contacts));
    reorder(theirs, header->contacts, global->bias + header->joints);
    if (header->joints > 0) {
        KL_TRY(h5_read_reals_into(file, "/fclib_global/vectors/b", global->bias, header->joints));
    }
    return KL_OK;
}

static KlStatus read_global_parts(const H5File *file, Header *header, Global *global) {
    KL_TRY(read_matrix(file, "/fclib_global/M", -1, -1, &global->mass));
    global->dofs = global->mass.rows;
    if (global->mass.rows != global->mass.columns) {
        return h5_fail(file, KL_ERR_FORMAT, "/fclib_global/M", "must be square (found %d x %d)", (int)global->mass.rows,
                       (int)global->mass.columns);
    }
    KL_TRY(read_global_jacobian(file, header, global));
    return read_global_vectors(file, header, global);
}

// --- global, body form ----------------------------------------------------------------------------

// M_body into (6 x 6); false when an entry couples two bodies.
static bool body_block(const Sparse *mass, int32_t body, double block[36]) {
    memset(block, 0, 36 * sizeof *block);
    for (int32_t row = 6 * body; row < 6 * body + 6; row++) {
        for (int64_t k = mass->start[row]; k < mass->start[row + 1]; k++) {
            int32_t column = mass->index[k] - 6 * body;
            if (column < 0 || column >= 6) {
                if (mass->value[k] != 0.0) {
                    return false;
                }
                continue;
            }
            block[6 * (row - 6 * body) + column] = mass->value[k];
        }
    }
    return true;
}

// Is the block diag(m 1, I) with m > 0 and I symmetric positive definite?
static bool is_rigid(const double block[36]) {
    double m = block[0];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            if (block[6 * i + j] != (i == j ? m : 0.0) || block[6 * i + 3 + j] != 0.0 ||
                block[6 * (3 + i) + j] != 0.0 || block[6 * (3 + i) + 3 + j] != block[6 * (3 + j) + 3 + i]) {
                return false;
            }
        }
    }
    const double *a = block + 21;
    double minor = a[0] * a[7] - a[1] * a[6];
    double determinant = a[0] * (a[7] * a[14] - a[8] * a[13]) - a[1] * (a[6] * a[14] - a[8] * a[12]) +
                         a[2] * (a[6] * a[13] - a[7] * a[12]);
    return m > 0.0 && a[0] > 0.0 && minor > 0.0 && determinant > 0.0;
}

// The bodies that rows [first, first + rows) touch; false when more than two.
static bool bodies_of(const Sparse *jacobian, int32_t first, int32_t rows, int32_t bodies[2]) {
    bodies[0] = bodies[1] = -1;
    for (int64_t k = jacobian->start[first]; k < jacobian->start[first + rows]; k++) {
        int32_t body = jacobian->index[k] / 6;
        if (jacobian->value[k] == 0.0 || body == bodies[0] || body == bodies[1]) {
            continue;
        }
        if (bodies[1] >= 0) {
            return false;
        }
        bodies[bodies[0] >= 0 ? 1 : 0] = body;
    }
    return true;
}

// Joint rows in sequence that touch the same bodies make one joint, of six rows at most. Writes the
// first row of each joint and the end; returns the number of joints.
static int32_t split_joints(const Sparse *jacobian, int32_t joint_rows, int32_t *starts) {
    int32_t count = 0, bodies[2], last[2] = {-2, -2};
    for (int32_t row = 0; row < joint_rows; row++) {
        bodies_of(jacobian, row, 1, bodies);
        bool same = count > 0 && bodies[0] == last[0] && bodies[1] == last[1] && row - starts[count - 1] < 6;
        if (!same) {
            starts[count++] = row;
        }
        last[0] = bodies[0];
        last[1] = bodies[1];
    }
    starts[count] = joint_rows;
    return count;
}

static bool keeps_bodies(const Global *global, const Header *header, const int32_t *starts, int32_t joints) {
    if (global->dofs == 0 || global->dofs % 6 != 0) {
        return false;
    }
    double block[36];
    for (int32_t body = 0; body < global->dofs / 6; body++) {
        if (!body_block(&global->mass, body, block) || !is_rigid(block)) {
            return false;
        }
    }
    int32_t bodies[2];
    for (int32_t k = 0; k < joints; k++) {
        if (!bodies_of(&global->jacobian, starts[k], starts[k + 1] - starts[k], bodies)) {
            return false;
        }
    }
    for (int32_t k = 0; k < header->contacts; k++) {
        if (!bodies_of(&global->jacobian, header->joints + 3 * k, 3, bodies)) {
            return false;
        }
    }
    return true;
}

static void fill_bodies(const Global *global, KlProblem *problem) {
    for (int32_t body = 0; body < problem->body_count; body++) {
        double block[36], inertia[9], inverse[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        body_block(&global->mass, body, block);
        for (int i = 0; i < 9; i++) {
            inertia[i] = block[6 * (3 + i / 3) + 3 + i % 3];
        }
        memcpy(problem->inertia + 9 * body, inertia, sizeof inertia);
        dense_solve(inertia, 3, inverse, 3);  // positive definite: is_rigid
        memcpy(problem->inverse_inertia + 9 * body, inverse, sizeof inverse);
        problem->mass[body] = block[0];
        problem->inverse_mass[body] = 1.0 / block[0];
    }
}

static void fill_jacobian(const Global *global, KlProblem *problem) {
    for (int32_t block = 0; block < problem->block_count; block++) {
        int32_t first = problem->block_start[block], last = problem->block_start[block + 1];
        int32_t *bodies = problem->block_body + 2 * block;
        bodies_of(&global->jacobian, first, last - first, bodies);
        for (int32_t row = first; row < last; row++) {
            for (int64_t k = global->jacobian.start[row]; k < global->jacobian.start[row + 1]; k++) {
                int32_t body = global->jacobian.index[k] / 6, column = global->jacobian.index[k] % 6;
                if (body == bodies[0] || body == bodies[1]) {
                    problem->jacobian[12 * (int64_t)row + (body == bodies[0] ? 0 : 6) + column] =
                        global->jacobian.value[k];
                }
            }
        }
    }
}

// v_f = J M^-1 f + bias.
static void fill_velocity(const Global *global, KlProblem *problem, double *accelerated) {
    for (int32_t body = 0; body < problem->body_count; body++) {
        const double *force = global->force + 6 * body, *inverse = problem->inverse_inertia + 9 * body;
        for (int i = 0; i < 3; i++) {
            accelerated[6 * body + i] = problem->inverse_mass[body] * force[i];
            accelerated[6 * body + 3 + i] =
                inverse[3 * i] * force[3] + inverse[3 * i + 1] * force[4] + inverse[3 * i + 2] * force[5];
        }
    }
    sparse_multiply(&global->jacobian, accelerated, problem->free_velocity);
    for (int32_t row = 0; row < problem->dim; row++) {
        problem->free_velocity[row] += global->bias[row];
    }
}

static KlStatus create_bodies(const Global *global, const Header *header, const int32_t *starts, int32_t joints,
                              ProblemRecord *record) {
    KlProblemSize size = {.joint_rows = header->joints,
                          .joint_count = joints,
                          .contact_count = header->contacts,
                          .body_count = global->dofs / 6};
    KL_TRY(kl_problem_create(&size, &record->problem));
    KlProblem *problem = record->problem;
    for (int32_t k = 0; k < joints; k++) {
        problem->block_start[k] = starts[k];
    }
    problem->dt = 1.0;  // FCLIB keeps no time step; reactions are impulses
    if (header->contacts > 0) {
        memcpy(problem->friction, header->friction, (size_t)header->contacts * sizeof(double));
    }
    fill_bodies(global, problem);
    fill_jacobian(global, problem);
    double *accelerated = kl_alloc(((size_t)global->dofs + 1) * sizeof *accelerated);
    if (accelerated == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    fill_velocity(global, problem, accelerated);
    kl_free(accelerated);
    snprintf(record->note, sizeof record->note, "global problem kept in body form (%d bodies)",
             (int)problem->body_count);
    return KL_OK;
}

// --- global, reduced ------------------------------------------------------------------------------

// Connected components of M's graph, so that M^-1 can be applied one at a time.
static int32_t root_of(int32_t *parent, int32_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join_components(const Sparse *mass, int32_t *parent) {
    for (int32_t i = 0; i < mass->rows; i++) {
        parent[i] = i;
    }
    for (int32_t i = 0; i < mass->rows; i++) {
        for (int64_t k = mass->start[i]; k < mass->start[i + 1]; k++) {
            int32_t a = root_of(parent, i), b = root_of(parent, mass->index[k]);
            if (mass->value[k] != 0.0 && a != b) {
                parent[a > b ? a : b] = a > b ? b : a;
            }
        }
    }
}

// Work space of the reduction. A component is `count` unknowns `dof[...]` and the rows `touched` of
// J that reach them.
typedef struct Reduction {
    const Global *global;
    Sparse transposed;        // (dofs x rows) J'
    int32_t *parent, *local;  // (dofs) root of the component; position within it
    int32_t *dof, *touched;   // (dofs), (rows)
    int32_t *slot;            // (rows) position in `touched`, -1
    int32_t count, touching;
    double *velocity;  // (rows) J M^-1 f
} Reduction;

static void reduction_free(Reduction *work) {
    sparse_free(&work->transposed);
    kl_free(work->parent);
    kl_free(work->local);
    kl_free(work->dof);
    kl_free(work->touched);
    kl_free(work->slot);
    kl_free(work->velocity);
}

static KlStatus reduction_begin(const Global *global, Reduction *work) {
    size_t dofs = (size_t)global->dofs, rows = (size_t)global->jacobian.rows;
    *work = (Reduction){.global = global};
    work->parent = kl_alloc((dofs + 1) * sizeof(int32_t));
    work->local = kl_alloc((dofs + 1) * sizeof(int32_t));
    work->dof = kl_alloc((dofs + 1) * sizeof(int32_t));
    work->touched = kl_alloc((rows + 1) * sizeof(int32_t));
    work->slot = kl_alloc((rows + 1) * sizeof(int32_t));
    work->velocity = kl_alloc((rows + 1) * sizeof(double));
    if (work->parent == NULL || work->local == NULL || work->dof == NULL || work->touched == NULL ||
        work->slot == NULL || work->velocity == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    Triplets entries = {0};
    for (int32_t row = 0; row < global->jacobian.rows; row++) {
        work->slot[row] = -1;
        for (int64_t k = global->jacobian.start[row]; k < global->jacobian.start[row + 1]; k++) {
            triplets_add(&entries, global->jacobian.index[k], row, global->jacobian.value[k]);
        }
    }
    KlStatus status = sparse_from_triplets(&entries, global->dofs, global->jacobian.rows, &work->transposed);
    triplets_free(&entries);
    join_components(&global->mass, work->parent);
    return status;
}

static void collect_touched(Reduction *work) {
    work->touching = 0;
    for (int32_t i = 0; i < work->count; i++) {
        int32_t dof = work->dof[i];
        for (int64_t k = work->transposed.start[dof]; k < work->transposed.start[dof + 1]; k++) {
            int32_t row = work->transposed.index[k];
            if (work->slot[row] < 0) {
                work->slot[row] = work->touching;
                work->touched[work->touching++] = row;
            }
        }
    }
}

// A = M of the component, B = its rows of [J' f], row-major.
static void fill_component(const Reduction *work, double *a, double *b) {
    int32_t width = work->touching + 1;
    for (int32_t i = 0; i < work->count; i++) {
        int32_t dof = work->dof[i];
        const Sparse *mass = &work->global->mass;
        for (int64_t k = mass->start[dof]; k < mass->start[dof + 1]; k++) {
            if (mass->value[k] != 0.0) {
                a[(size_t)i * (size_t)work->count + (size_t)work->local[mass->index[k]]] = mass->value[k];
            }
        }
        for (int64_t k = work->transposed.start[dof]; k < work->transposed.start[dof + 1]; k++) {
            b[(size_t)i * (size_t)width + (size_t)work->slot[work->transposed.index[k]]] = work->transposed.value[k];
        }
        b[(size_t)i * (size_t)width + (size_t)work->touching] = work->global->force[dof];
    }
}

// Adds J_c X to D, with X = M_c^-1 [J_c' f_c] in b.
static void add_component(Reduction *work, const double *x, Triplets *entries, double *sums) {
    int32_t width = work->touching + 1;
    for (int32_t r = 0; r < work->touching; r++) {
        int32_t row = work->touched[r];
        memset(sums, 0, (size_t)width * sizeof *sums);
        const Sparse *jacobian = &work->global->jacobian;
        for (int64_t k = jacobian->start[row]; k < jacobian->start[row + 1]; k++) {
            int32_t dof = jacobian->index[k];
            if (root_of(work->parent, dof) != root_of(work->parent, work->dof[0])) {
                continue;
            }
            const double *line = x + (size_t)work->local[dof] * (size_t)width;
            for (int32_t j = 0; j < width; j++) {
                sums[j] += jacobian->value[k] * line[j];
            }
        }
        for (int32_t j = 0; j < work->touching; j++) {
            triplets_add(entries, row, work->touched[j], sums[j]);
        }
        work->velocity[row] += sums[work->touching];
    }
}

static KlStatus reduce_component(Reduction *work, Triplets *entries) {
    collect_touched(work);
    KlStatus status = KL_OK;
    size_t n = (size_t)work->count, width = (size_t)work->touching + 1;
    if (work->touching > 0) {
        if (work->count > MAX_BLOCK) {
            status = kl_fail(KL_ERR_LIMIT, "M couples %d unknowns; blocks of at most %d are reduced", (int)work->count,
                             (int)MAX_BLOCK);
        } else if (entries->count + (int64_t)(width * width) > MAX_ENTRIES) {
            status = kl_fail(KL_ERR_LIMIT, "the reduced problem has more than %d entries", (int)MAX_ENTRIES);
        }
        double *a = status == KL_OK ? kl_alloc((n * n + n * width + width) * sizeof *a) : NULL;
        if (a != NULL) {
            fill_component(work, a, a + n * n);
            if (dense_solve(a, work->count, a + n * n, (int32_t)width)) {
                add_component(work, a + n * n, entries, a + n * n + n * width);
            } else {
                status = kl_fail(KL_ERR_SCENE, "M is singular around unknown %d", (int)work->dof[0]);
            }
        } else if (status == KL_OK) {
            status = kl_fail(KL_ERR_MEMORY, "out of memory");
        }
        kl_free(a);
    }
    for (int32_t r = 0; r < work->touching; r++) {
        work->slot[work->touched[r]] = -1;
    }
    return status;
}

// Unknowns ordered by component: order (dofs), via a counting sort of the roots.
static KlStatus reduce_components(Reduction *work, Triplets *entries, int32_t *components) {
    int32_t dofs = work->global->dofs;
    int32_t *next = kl_alloc(((size_t)dofs + 1) * sizeof *next);
    int32_t *head = kl_alloc(((size_t)dofs + 1) * sizeof *head);
    KlStatus status = next != NULL && head != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory");
    for (int32_t i = 0; status == KL_OK && i < dofs; i++) {
        head[i] = -1;
    }
    for (int32_t i = dofs - 1; status == KL_OK && i >= 0; i--) {
        int32_t root = root_of(work->parent, i);
        next[i] = head[root];
        head[root] = i;
    }
    for (int32_t root = 0; status == KL_OK && root < dofs; root++) {
        work->count = 0;
        for (int32_t i = head[root]; i >= 0; i = next[i]) {
            work->local[i] = work->count;
            work->dof[work->count++] = i;
        }
        if (work->count > 0) {
            (*components)++;
            status = reduce_component(work, entries);
        }
    }
    kl_free(next);
    kl_free(head);
    return status;
}

static KlStatus create_reduced(const Global *global, const Header *header, ProblemRecord *record) {
    Reduction work;
    Triplets entries = {0};
    int32_t components = 0;
    KlStatus status = reduction_begin(global, &work);
    if (status == KL_OK) {
        status = reduce_components(&work, &entries, &components);
    }
    if (status == KL_OK) {
        for (int32_t row = 0; row < global->jacobian.rows; row++) {
            work.velocity[row] += global->bias[row];
        }
        status = create_explicit(header, &entries, work.velocity, &record->problem);
    }
    if (status == KL_OK) {
        snprintf(record->note, sizeof record->note, "global problem reduced to W = H' M^-1 H (%d blocks of M)",
                 (int)components);
        note_asymmetry(record);
    }
    triplets_free(&entries);
    reduction_free(&work);
    return status;
}

static KlStatus create_global(const Global *global, const Header *header, ProblemRecord *record) {
    int32_t *starts = kl_alloc(((size_t)header->joints + 1) * sizeof *starts);
    if (starts == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    int32_t joints = split_joints(&global->jacobian, header->joints, starts);
    KlStatus status = keeps_bodies(global, header, starts, joints)
                          ? create_bodies(global, header, starts, joints, record)
                          : create_reduced(global, header, record);
    kl_free(starts);
    return status;
}

static KlStatus read_global(const H5File *file, Header *header, ProblemRecord *record) {
    Global global = {0};
    KlStatus status = read_global_parts(file, header, &global);
    if (status == KL_OK && create_global(&global, header, record) != KL_OK) {
        char what[256];
        const KlError *error = kl_last_error();
        KlStatus kind = error->status;
        snprintf(what, sizeof what, "%.255s", error->message);
        status = h5_fail(file, kind, header->group, "%s", what);
    }
    global_free(&global);
    return status;
}

KlStatus fclib_read(const H5File *file, bool global, ProblemRecord *record) {
    Header header = {.group = global ? "/fclib_global" : "/fclib_local"};
    KlStatus status = read_header(file, &header);
    if (status == KL_OK) {
        status = global ? read_global(file, &header, record) : read_local(file, &header, record);
    }
    if (status == KL_OK) {
        number_blocks(record->problem);
        read_title(file, header.group, record);
        read_solution(file, &header, record);
    }
    kl_free(header.friction);
    return status;
}

// --- writing --------------------------------------------------------------------------------------

// FCLIB's row of our contact row (without the joint rows).
static int32_t their_row(int32_t row) {
    int32_t contact = row / 3, component = row % 3;
    return 3 * contact + (component + 1) % 3;
}

static KlStatus write_part(const H5File *file, const char *group, const Triplets *entries, int32_t rows,
                           int32_t columns) {
    Sparse matrix;
    KL_TRY(sparse_from_triplets(entries, rows, columns, &matrix));
    int32_t nonzeros = (int32_t)matrix.nonzeros, nz = -2;
    int32_t *starts = kl_alloc(((size_t)rows + 1) * sizeof *starts);
    KlStatus status = starts != NULL ? h5_make_group(file, group) : kl_fail(KL_ERR_MEMORY, "out of memory");
    for (int32_t i = 0; starts != NULL && i <= rows; i++) {
        starts[i] = (int32_t)matrix.start[i];
    }
    const struct {
        const char *name;
        const int32_t *values;
        int64_t count;
    } integers[] = {{"m", &rows, 1},         {"n", &columns, 1},      {"nz", &nz, 1},
                    {"nzmax", &nonzeros, 1}, {"p", starts, rows + 1}, {"i", matrix.index, nonzeros}};
    char path[256];
    for (size_t k = 0; status == KL_OK && k < sizeof integers / sizeof integers[0]; k++) {
        status = h5_write_ints(file, child(path, sizeof path, group, integers[k].name), integers[k].values,
                               integers[k].count, 0);
    }
    if (status == KL_OK) {
        status = h5_write_reals(file, child(path, sizeof path, group, "x"), matrix.value, nonzeros, 0);
    }
    kl_free(starts);
    sparse_free(&matrix);
    return status;
}

// Rows and columns [from, to) of D as one of FCLIB's parts; contact rows change their order.
typedef struct Range {
    int32_t from, to;
    Side side;
} Range;

static KlStatus write_block(const H5File *file, const char *group, const double *delassus, int32_t dim, Range rows,
                            Range columns) {
    Triplets entries = {0};
    for (int32_t i = 0; i < rows.to - rows.from; i++) {
        for (int32_t j = 0; j < columns.to - columns.from; j++) {
            double value = delassus[(size_t)(rows.from + i) * (size_t)dim + (size_t)(columns.from + j)];
            if (value != 0.0) {
                triplets_add(&entries, rows.side == SIDE_CONTACT ? their_row(i) : i,
                             columns.side == SIDE_CONTACT ? their_row(j) : j, value);
            }
        }
    }
    KlStatus status = write_part(file, group, &entries, rows.to - rows.from, columns.to - columns.from);
    triplets_free(&entries);
    return status;
}

static KlStatus write_contacts(const H5File *file, const char *path, const double *values, int32_t contacts) {
    double *theirs = kl_alloc((3 * (size_t)contacts + 1) * sizeof *theirs);
    if (theirs == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < 3 * contacts; i++) {
        theirs[their_row(i)] = values[i];
    }
    KlStatus status = h5_write_reals(file, path, theirs, 3 * (int64_t)contacts, 0);
    kl_free(theirs);
    return status;
}

static KlStatus write_matrices(const H5File *file, const KlProblem *p, const double *delassus) {
    Range joints = {0, p->joint_rows, SIDE_JOINT}, contacts = {p->joint_rows, p->dim, SIDE_CONTACT};
    KL_TRY(write_block(file, "/fclib_local/W", delassus, p->dim, contacts, contacts));
    if (p->joint_rows == 0) {
        return KL_OK;
    }
    KL_TRY(write_block(file, "/fclib_local/V", delassus, p->dim, contacts, joints));
    return write_block(file, "/fclib_local/R", delassus, p->dim, joints, joints);
}

static KlStatus write_names(const H5File *file, const char *group, const ProblemRecord *record) {
    char path[256];
    int32_t space = 3;
    KL_TRY(h5_make_group(file, child(path, sizeof path, group, "vectors")));
    KL_TRY(h5_make_group(file, child(path, sizeof path, group, "info")));
    KL_TRY(h5_write_ints(file, child(path, sizeof path, group, "spacedim"), &space, 1, 0));
    KL_TRY(h5_write_text(file, child(path, sizeof path, group, "info/title"), record->name));
    KL_TRY(h5_write_text(file, child(path, sizeof path, group, "info/description"), "written by kinloop " KL_VERSION));
    KL_TRY(h5_write_text(file, child(path, sizeof path, group, "info/math_info"), ""));
    return h5_write_reals(file, child(path, sizeof path, group, "vectors/mu"), record->problem->friction,
                          record->problem->contact_count, 0);
}

static KlStatus write_solution(const H5File *file, const ProblemRecord *record) {
    const KlProblem *p = record->problem;
    if (record->lambda == NULL) {
        return KL_OK;
    }
    KL_TRY(h5_make_group(file, "/solution"));
    KL_TRY(write_contacts(file, "/solution/r", record->lambda + p->joint_rows, p->contact_count));
    return p->joint_rows > 0 ? h5_write_reals(file, "/solution/l", record->lambda, p->joint_rows, 0) : KL_OK;
}

static KlStatus write_local(const H5File *file, const ProblemRecord *record) {
    const KlProblem *p = record->problem;
    double *delassus = kl_alloc(((size_t)p->dim * (size_t)p->dim + 1) * sizeof *delassus);
    if (delassus == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    kl_problem_delassus(p, delassus);
    KlStatus status = write_matrices(file, p, delassus);
    kl_free(delassus);
    KL_TRY(status);
    KL_TRY(write_contacts(file, "/fclib_local/vectors/q", p->free_velocity + p->joint_rows, p->contact_count));
    return p->joint_rows > 0 ? h5_write_reals(file, "/fclib_local/vectors/s", p->free_velocity, p->joint_rows, 0)
                             : KL_OK;
}

static KlStatus write_mass(const H5File *file, const KlProblem *p) {
    Triplets entries = {0};
    for (int32_t body = 0; body < p->body_count; body++) {
        for (int32_t i = 0; i < 3; i++) {
            triplets_add(&entries, 6 * body + i, 6 * body + i, p->mass[body]);
            for (int32_t j = 0; j < 3; j++) {
                triplets_add(&entries, 6 * body + 3 + i, 6 * body + 3 + j, p->inertia[9 * body + 3 * i + j]);
            }
        }
    }
    KlStatus status = write_part(file, "/fclib_global/M", &entries, 6 * p->body_count, 6 * p->body_count);
    triplets_free(&entries);
    return status;
}

// Rows of J as columns: of joints G, of contacts H.
static KlStatus write_columns(const H5File *file, const char *group, const KlProblem *p, Range rows) {
    Triplets entries = {0};
    for (int32_t b = 0; b < p->block_count; b++) {
        for (int32_t i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            if (i < rows.from || i >= rows.to) {
                continue;
            }
            int32_t column = rows.side == SIDE_CONTACT ? their_row(i - rows.from) : i - rows.from;
            for (int32_t k = 0; k < 12; k++) {
                int32_t body = p->block_body[2 * b + k / 6];
                double value = p->jacobian[12 * (size_t)i + (size_t)k];
                if (body >= 0 && value != 0.0) {
                    triplets_add(&entries, 6 * body + k % 6, column, value);
                }
            }
        }
    }
    KlStatus status = write_part(file, group, &entries, 6 * p->body_count, rows.to - rows.from);
    triplets_free(&entries);
    return status;
}

// v_f stands in w and b, so that f = 0 and v is what the reactions add to the free motion.
static KlStatus write_global(const H5File *file, const ProblemRecord *record) {
    const KlProblem *p = record->problem;
    Range joints = {0, p->joint_rows, SIDE_JOINT}, contacts = {p->joint_rows, p->dim, SIDE_CONTACT};
    double *force = kl_alloc(6 * (size_t)p->body_count * sizeof *force);
    if (force == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    KlStatus status = h5_write_reals(file, "/fclib_global/vectors/f", force, 6 * (int64_t)p->body_count, 0);
    kl_free(force);
    KL_TRY(status);
    KL_TRY(write_mass(file, p));
    KL_TRY(write_columns(file, "/fclib_global/H", p, contacts));
    KL_TRY(write_contacts(file, "/fclib_global/vectors/w", p->free_velocity + p->joint_rows, p->contact_count));
    if (p->joint_rows == 0) {
        return KL_OK;
    }
    KL_TRY(write_columns(file, "/fclib_global/G", p, joints));
    return h5_write_reals(file, "/fclib_global/vectors/b", p->free_velocity, p->joint_rows, 0);
}

static KlStatus check_writable(const ProblemRecord *record, bool global) {
    const KlProblem *p = record->problem;
    if (p->limit_count > 0) {
        return kl_fail(KL_ERR_SCENE, "%s: FCLIB has no rows for the %d joint limits of this problem", record->name,
                       (int)p->limit_count);
    }
    if (!global) {
        return p->dim <= 8000
                   ? KL_OK
                   : kl_fail(KL_ERR_LIMIT, "%s: %d rows; at most 8000 are converted", record->name, (int)p->dim);
    }
    if (p->body_count == 0) {
        return kl_fail(KL_ERR_SCENE, "%s: a global problem needs J and M; this one knows D alone", record->name);
    }
    int32_t soft = problem_soft_row(p);
    if (soft >= 0) {
        return kl_fail(KL_ERR_SCENE, "%s: FCLIB's global form has no softening (R[%d] = %g); a local one adds it to W",
                       record->name, (int)soft, p->softening[soft]);
    }
    return KL_OK;
}

KlStatus fclib_write(const char *path, bool global, const ProblemRecord *record) {
    H5File file;
    KL_TRY(check_writable(record, global));
    KL_TRY(h5_create(path, &file));
    KlStatus status = write_names(&file, global ? "/fclib_global" : "/fclib_local", record);
    if (status == KL_OK) {
        status = global ? write_global(&file, record) : write_local(&file, record);
    }
    if (status == KL_OK) {
        status = write_solution(&file, record);
    }
    if (status == KL_OK) {
        return h5_finish(&file);
    }
    h5_close(&file);
    return status;
}
