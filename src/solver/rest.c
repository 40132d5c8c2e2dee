#include "solver/rest.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/lanes.h"
#include "math/llt.h"
#include "math/lu.h"
#include "solver/least_norm.h"
#include "solver/semismooth.h"

static const double INSIDE = 0.99;        // of friction, where a move to least norm ends: contacts stick on then
static const double GOOD_PIVOT = 1e-3;    // of the matrix with a unit diagonal: taken without a look at others
static const double LEAST_PIVOT = 1e-10;  // what is less is rounding

KlStatus kl_rest_reserve(KlRest *r, int32_t kept, int32_t dim) {
    enum { LARGE = 1024 };
    size_t square = (size_t)kept * (size_t)kept, stresses = (size_t)kept * (size_t)(dim < LARGE ? dim : LARGE);
    if (!KL_ROOM(r->numbers, 2 * square + kl_llt_size(kept)) || !KL_ROOM(r->stress, stresses)) {
        return KL_ERR_MEMORY;
    }
    r->factor = r->numbers.at;
    r->products = r->factor + square;
    r->gram = r->products + square;
    return KL_OK;
}

void kl_rest_release(KlRest *r) {
    kl_free(r->stress.at);
    kl_free(r->numbers.at);
    *r = (KlRest){0};
}

// ---- faces -----------------------------------------------------------------------------------------

static void add_face(KlRest *r, int32_t row, int32_t rows, double x, double y, double z) {
    double *ray = r->ray + 3 * r->faces;
    ray[0] = x, ray[1] = y, ray[2] = z;
    r->row[r->faces] = row;
    r->rows[r->faces++] = rows;
}

static void add_rows(KlRest *r, int32_t first, int32_t end) {
    for (int32_t i = first; i < end; i++) {
        add_face(r, i, 1, 1.0, 0.0, 0.0);
    }
}

void kl_rest_face(KlRest *r, const KlTree *t, const uint8_t *state, const double *kept) {
    const KlProblem *p = t->rest;
    r->faces = 0;
    add_rows(r, 0, p->joint_rows);
    for (int32_t k = 0; k < p->limit_count + p->contact_count; k++) {
        int32_t first = p->block_start[p->joint_count + k], end = p->block_start[p->joint_count + k + 1];
        const double *x = kept + first;
        if (state[k] == KL_STATE_STICK) {
            add_rows(r, first, end);
        } else if (state[k] == KL_STATE_SLIP && x[2] > 0.0) {
            double inverse = 1.0 / sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
            add_face(r, first, 3, inverse * x[0], inverse * x[1], inverse * x[2]);
        }
    }
}

// ---- the factor ------------------------------------------------------------------------------------

// F^T (D' + R) F, the upper triangle.
static void form_matrix(KlRest *r, const KlTree *t) {
    const double *d = t->rest->delassus_value, *softening = t->rest->softening;
    int32_t n = r->faces, kept = t->kept;
    for (int32_t i = 0; i < n; i++) {
        const double *own = r->ray + 3 * i;
        for (int32_t j = i; j < n; j++) {
            const double *other = r->ray + 3 * j, *at = d + r->row[i] * kept + r->row[j];
            double sum = 0.0;
            for (int32_t k = 0; k < r->rows[i]; k++) {
                for (int32_t l = 0; l < r->rows[j]; l++) {
                    sum += own[k] * at[k * kept + l] * other[l];
                }
            }
            r->factor[i * n + j] = sum;
        }
        for (int32_t k = 0; k < r->rows[i]; k++) {
            r->factor[i * n + i] += own[k] * softening[r->row[i] + k] * own[k];
        }
    }
}

static void copy_matrix(KlRest *r, const KlTree *t) {  // where every row holds
    kl_lanes_copy(t->rest->delassus_value, r->faces * r->faces, r->factor);
    for (int32_t i = 0; i < r->faces; i++) {
        r->factor[i * r->faces + i] += t->rest->softening[i];
    }
}

static void swap(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

// Rows and columns k < m change places in the upper triangle, as far as it is left; in the factor its columns.
static void exchange(KlRest *r, double *left, int32_t k, int32_t m) {
    int32_t n = r->faces, kept = r->order[k];
    double *a = r->factor;
    r->order[k] = r->order[m];
    r->order[m] = kept;
    swap(&left[k], &left[m]);
    swap(&a[k * n + k], &a[m * n + m]);
    for (int32_t i = 0; i < k; i++) {
        swap(&a[i * n + k], &a[i * n + m]);
    }
    for (int32_t i = k + 1; i < m; i++) {
        swap(&a[k * n + i], &a[i * n + m]);
    }
    for (int32_t i = m + 1; i < n; i++) {
        swap(&a[k * n + i], &a[m * n + i]);
    }
}

// The first pivot that is left, if it is large beside its own diagonal entry (1 / inverse), else the largest so.
static int32_t choose_pivot(const KlRest *r, const double *inverse) {
    int32_t step = r->faces + 1, most = r->rank;
    const double *a = r->factor;
    if (a[most * step] * inverse[most] > GOOD_PIVOT) {
        return most;
    }
    for (int32_t i = most + 1; i < r->faces; i++) {
        most = a[i * step] * inverse[i] > a[most * step] * inverse[most] ? i : most;
    }
    return most;
}

// Cholesky by rows.
bool kl_rest_factor(KlRest *r, const KlTree *t) {
    int32_t n = r->faces;
    double *a = r->factor, inverse[KL_TREE_ROWS] = {0.0};
    if (n == t->kept) {  // a sliding contact has one face for three rows
        copy_matrix(r, t);
    } else {
        form_matrix(r, t);
    }
    for (int32_t i = 0; i < n; i++) {
        r->order[i] = i;
        inverse[i] = 1.0 / a[i * n + i];
        if (!isfinite(inverse[i]) || !(inverse[i] > 0.0)) {
            return false;
        }
    }
    for (r->rank = 0; r->rank < n; r->rank++) {
        int32_t k = r->rank, most = choose_pivot(r, inverse);
        if (!(a[most * n + most] * inverse[most] > LEAST_PIVOT)) {
            return true;
        }
        if (most > k) {
            exchange(r, inverse, k, most);
        }
        double *pivot = a + k * n, scale = 1.0 / sqrt(pivot[k]);
        pivot[k] = scale;
        for (int32_t j = k + 1; j < n; j++) {
            pivot[j] *= scale;
        }
        int32_t i = k + 1;
        for (; i + 2 <= n; i += 2) {  // with one number below the diagonal, which nobody reads
            kl_lanes_subtract_times_two(pivot[i], pivot[i + 1], pivot + i, n - i, a + i * n + i, a + (i + 1) * n + i);
        }
        if (i < n) {
            a[i * n + i] -= pivot[i] * pivot[i];
        }
    }
    return true;
}

static void add_on_face(const KlRest *r, int32_t face, double share, double *kept) {
    for (int32_t k = 0; k < r->rows[face]; k++) {
        kept[r->row[face] + k] += share * r->ray[3 * face + k];
    }
}

void kl_rest_solve(const KlRest *r, const double *velocity, double *kept) {
    double x[KL_TREE_ROWS];
    for (int32_t i = 0; i < r->rank; i++) {
        int32_t face = r->order[i];
        x[i] = 0.0;
        for (int32_t k = 0; k < r->rows[face]; k++) {
            x[i] -= r->ray[3 * face + k] * velocity[r->row[face] + k];
        }
    }
    kl_upper_solve_transposed(r->factor, r->faces, r->rank, x);
    kl_upper_solve(r->factor, r->faces, r->rank, x);
    for (int32_t i = 0; i < r->rank; i++) {
        add_on_face(r, r->order[i], x[i], kept);
    }
}

// ---- least norm ------------------------------------------------------------------------------------

// Stress `k` of those that move nothing, of the whole problem: a dependent face and what balances it. Whether joints
// bear some of it.
static bool find_stress(KlRest *r, KlTree *t, int32_t k, double *stress) {
    double x[KL_TREE_ROWS], kept[KL_TREE_ROWS] = {0.0};
    for (int32_t i = 0; i < r->rank; i++) {
        x[i] = -r->factor[i * r->faces + r->rank + k];
    }
    kl_upper_solve(r->factor, r->faces, r->rank, x);
    for (int32_t i = 0; i < r->rank; i++) {
        add_on_face(r, r->order[i], x[i], kept);
    }
    add_on_face(r, r->order[r->rank + k], 1.0, kept);
    return kl_tree_bear(t, kept, stress);
}

// All of them, and their products, factored. Each begins at its first row that is not 0: joints bear only some.
static bool find_stresses(KlRest *r, KlTree *t, int32_t count, int32_t dim) {
    if (!KL_ROOM(r->stress, (size_t)count * (size_t)dim)) {
        return false;
    }
    for (int32_t k = 0; k < count; k++) {
        double *own = r->stress.at + (size_t)k * (size_t)dim;
        r->first[k] = find_stress(r, t, k, own) ? 0 : t->problem->joint_rows;
        for (int32_t j = 0; j <= k; j++) {
            int32_t first = r->first[j] > r->first[k] ? r->first[j] : r->first[k];
            const double *other = r->stress.at + (size_t)j * (size_t)dim;
            r->products[j * count + k] = kl_lanes_dot(other + first, own + first, dim - first);
        }
    }
    return kl_llt_factor(r->products, count, count, 0.0, r->gram) < 0;
}

bool kl_rest_least_norm(KlRest *r, KlTree *t, bool fresh, double *lambda) {
    enum { TURNS = 2 };  // the second for what rounding has left
    int32_t count = r->faces - r->rank, dim = t->problem->dim;
    if (count == 0 || (fresh && !find_stresses(r, t, count, dim))) {
        return false;
    }
    for (int32_t turn = 0; turn < TURNS; turn++) {
        double share[KL_TREE_ROWS];
        for (int32_t k = 0; k < count; k++) {
            const double *own = r->stress.at + (size_t)k * (size_t)dim;
            share[k] = kl_lanes_dot(own + r->first[k], lambda + r->first[k], dim - r->first[k]);
        }
        kl_llt_solve(r->gram, count, share);
        for (int32_t k = 0; k < count; k++) {
            const double *own = r->stress.at + (size_t)k * (size_t)dim;
            kl_lanes_subtract_times(share[k], own + r->first[k], dim - r->first[k], lambda + r->first[k]);
        }
    }
    return true;
}

static double smaller(double a, double b) { return a < b ? a : b; }

double kl_rest_share(const KlTree *t, const uint8_t *state, const double *lambda, const double *least) {
    const KlProblem *p = t->problem;
    double share = 1.0;
    for (int32_t i = kl_first_limit_row(p); i < kl_first_contact_row(p); i++) {
        share = least[i] < 0.0 ? smaller(share, lambda[i] / (lambda[i] - least[i])) : share;
    }
    for (int32_t k = 0; k < p->contact_count; k++) {
        const double *x = lambda + kl_contact_row(p, k), *y = least + kl_contact_row(p, k);
        double step[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
        if (state[p->limit_count + k] == KL_STATE_STICK) {
            share = smaller(share, kl_share_in_cone(INSIDE * p->friction[k], x, step));
        } else if (y[2] < 0.0) {
            share = smaller(share, x[2] / (x[2] - y[2]));
        }
    }
    return share;
}
