#include "solver/rest.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cone/cone.h"
#include "dual/storage.h"
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

// ---- sweeps ----------------------------------------------------------------------------------------

void kl_rest_place(double friction, double scale, const double v[3], double x[3]) {
    double y[3];
    kl_semismooth_argument(friction, scale, x, v, y);
    kl_project_coulomb(friction, y);
    kl_lanes_copy(y, 3, x);
}

// A row of joints or limits, or a contact.
static void place_rows(const KlProblem *p, int32_t row, const double *v, double *x) {
    double scale = kl_problem_prepare(p)->scale[row];
    if (row >= kl_first_contact_row(p)) {
        kl_rest_place(p->friction[(row - kl_first_contact_row(p)) / 3], scale, v, x);
        return;
    }
    *x -= scale * *v;
    *x = row >= p->joint_rows && *x < 0.0 ? 0.0 : *x;
}

void kl_rest_sweep(const KlTree *t, int32_t sweeps, double *kept, double *velocity) {
    const KlProblem *p = t->rest;
    for (int32_t turn = 0; turn < sweeps; turn++) {
        for (int32_t row = 0, rows; row < p->dim; row += rows) {
            double old[3];
            rows = row < kl_first_contact_row(p) ? 1 : 3;
            kl_lanes_copy(kept + row, rows, old);
            place_rows(p, row, velocity + row, kept + row);
            for (int32_t k = row; k < row + rows; k++) {
                double change = kept[k] - old[k - row];
                kl_lanes_subtract_times(-change, p->delassus_value + k * p->dim, p->dim, velocity);
                velocity[k] += p->softening[k] * change;
            }
        }
    }
}

// ---- faces -----------------------------------------------------------------------------------------

void kl_rest_add_face(KlRest *r, int32_t row, int32_t rows, double x, double y, double z) {
    double *ray = r->ray + 3 * r->faces;
    ray[0] = x, ray[1] = y, ray[2] = z;
    if (rows > 1) {
        r->mix[r->mixed++] = r->faces;
        r->columns += rows == 2;
    }
    r->spring[r->faces] = 0.0;
    r->row[r->faces] = row;
    r->rows[r->faces++] = rows;
}

static void add_rows(KlRest *r, int32_t first, int32_t end) {
    for (int32_t i = first; i < end; i++) {
        kl_rest_add_face(r, i, 1, 1.0, 0.0, 0.0);
    }
}

void kl_rest_hold(KlRest *r, const KlTree *t, const uint8_t *state) {
    const KlProblem *p = t->rest;
    r->kept = t->kept;
    r->faces = r->mixed = r->columns = 0;
    add_rows(r, 0, p->joint_rows);
    for (int32_t k = 0; k < p->limit_count + p->contact_count; k++) {
        if (state[k] == KL_STATE_STICK) {
            add_rows(r, p->block_start[p->joint_count + k], p->block_start[p->joint_count + k + 1]);
        }
    }
}

void kl_rest_add_rays(KlRest *r, const KlTree *t, const uint8_t *state, const double *kept) {
    const KlProblem *p = t->rest;
    for (int32_t k = 0; k < p->contact_count; k++) {
        const double *x = kept + kl_contact_row(p, k);
        if (state[p->limit_count + k] == KL_STATE_SLIP && x[2] > 0.0) {
            double inverse = 1.0 / sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
            kl_rest_add_face(r, kl_contact_row(p, k), 3, inverse * x[0], inverse * x[1], inverse * x[2]);
        }
    }
}

// ---- the factor ------------------------------------------------------------------------------------

// F^T x in place for `count` x, `stride` apart: each face's share where its first row was; of what slides behind it that
// of mu d.
static void combine(const KlRest *r, int32_t count, int32_t stride, double *x) {
    for (int32_t m = 0; m < r->mixed; m++) {
        int32_t face = r->mix[m];
        double one = r->ray[3 * face], two = r->ray[3 * face + 1], three = r->ray[3 * face + 2];
        double *own = x + r->row[face];
        bool ray = r->rows[face] == 3;
        for (int32_t i = 0; i < count; i++, own += stride) {
            double first = own[0], second = own[1], across = one * first + two * second;
            own[0] = ray ? across + three * own[2] : across;
            own[1] = ray ? second : three * (two * first - one * second);
        }
    }
}

// The rows of a face in its first one.
static void combine_rows(const KlRest *r, int32_t face, int32_t count, double *x) {
    const double *ray = r->ray + 3 * face;
    double *own = x + r->row[face] * count;
    for (int32_t j = 0; j < count; j++) {
        double sum = ray[0] * own[j] + ray[1] * own[count + j];
        own[j] = r->rows[face] == 3 ? sum + ray[2] * own[2 * count + j] : sum;
    }
}

// What R adds in a face's own row.
static void add_softening(const KlRest *r, const double *softening, int32_t i, double *row) {
    const double *ray = r->ray + 3 * i, *own = softening + r->row[i];
    row[i] += ray[0] * own[0] * ray[0];
    for (int32_t k = 1; k < r->rows[i]; k++) {
        row[i] += ray[k] * own[k] * ray[k];
    }
    row[i] += r->spring[i];
}

// F^T (D' + R) F, the upper triangle, with the columns.
static void form_matrix(KlRest *r, const KlTree *t) {
    const double *softening = t->rest->softening;
    int32_t n = r->faces, stride = n + r->columns, kept = t->kept;
    double *combined = r->products;
    kl_lanes_copy(t->rest->delassus_value, kept * kept, combined);
    combine(r, kept, kept, combined);
    for (int32_t m = 0; m < r->mixed; m++) {
        combine_rows(r, r->mix[m], kept, combined);
    }
    for (int32_t i = 0; i < n; i++) {
        const double *row = combined + r->row[i] * kept;
        double *to = r->factor + i * stride;
        for (int32_t j = i; j < n; j++) {
            to[j] = row[r->row[j]];
        }
        for (int32_t c = 0; c < r->columns; c++) {
            to[n + c] = row[r->row[r->mix[c]] + 1];
        }
        add_softening(r, softening, i, to);
    }
    for (int32_t c = 0; c < r->columns; c++) {  // where tangents soften differently
        const double *ray = r->ray + 3 * r->mix[c], *own = softening + r->row[r->mix[c]];
        r->factor[r->mix[c] * stride + n + c] += ray[2] * ray[0] * ray[1] * (own[0] - own[1]);
    }
}

static void copy_matrix(KlRest *r, const KlTree *t) {  // where every row holds
    kl_lanes_copy(t->rest->delassus_value, r->faces * r->faces, r->factor);
    for (int32_t i = 0; i < r->faces; i++) {
        add_softening(r, t->rest->softening, i, r->factor + i * r->faces);
    }
}

static void swap(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

// Rows and columns k < m change places in the upper triangle, as far as it is left; in the factor its columns.
static void exchange(KlRest *r, double *left, int32_t k, int32_t m) {
    int32_t width = r->faces + r->columns, kept = r->order[k];
    double *a = r->factor;
    r->order[k] = r->order[m];
    r->order[m] = kept;
    swap(&left[k], &left[m]);
    swap(&a[k * width + k], &a[m * width + m]);
    for (int32_t i = 0; i < k; i++) {
        swap(&a[i * width + k], &a[i * width + m]);
    }
    for (int32_t i = k + 1; i < m; i++) {
        swap(&a[k * width + i], &a[i * width + m]);
    }
    for (int32_t i = m + 1; i < width; i++) {
        swap(&a[k * width + i], &a[m * width + i]);
    }
}

// The first pivot that is left, if it is large beside its own diagonal entry (1 / inverse), else the largest so.
static int32_t choose_pivot(const KlRest *r, const double *inverse) {
    int32_t step = r->faces + r->columns + 1, most = r->rank;
    const double *a = r->factor;
    if (a[most * step] * inverse[most] > GOOD_PIVOT) {
        return most;
    }
    for (int32_t i = most + 1; i < r->faces; i++) {
        most = a[i * step] * inverse[i] > a[most * step] * inverse[most] ? i : most;
    }
    return most;
}

static void multiply_row(double *row, int32_t k, int32_t end, double root) {  // of U, its diagonal entry inverted
    row[k] = root;
    for (int32_t j = k + 1; j < end; j++) {
        row[j] *= root;
    }
}

// The row behind pivot `k`, less its share of that one; whether it is the next pivot at once, since there is more of it
// than of rounding.
static bool take_next(KlRest *r, int32_t k, double inverse, const double *left) {
    int32_t width = r->faces + r->columns;
    const double *pivot = r->factor + k * width;
    double *next = r->factor + (k + 1) * width;
    if (k + 1 == r->faces) {
        return false;
    }
    kl_lanes_subtract_times(inverse * pivot[k + 1], pivot + k + 1, width - k - 1, next + k + 1);
    return next[k + 1] * left[k + 1] > GOOD_PIVOT;
}

// Pivot `k`, and the next one where its inverse is not 0, out of the rows behind them, from row `k` + 2 on. Of two rows
// the second with one number below the diagonal, which nobody reads.
static void subtract_pivots(KlRest *r, int32_t k, double inverse, double next) {
    int32_t n = r->faces, width = n + r->columns, i = k + 2;
    const double *one = r->factor + k * width, *two = one + width;
    for (; i + 2 <= n; i += 2) {
        double *row = r->factor + i * width + i;
        if (next > 0.0) {
            const double first[2] = {inverse * one[i], next * two[i]};
            const double second[2] = {inverse * one[i + 1], next * two[i + 1]};
            kl_lanes_subtract_two_times_two(first, second, one + i, two + i, width - i, row, row + width);
        } else {
            kl_lanes_subtract_times_two(inverse * one[i], inverse * one[i + 1], one + i, width - i, row, row + width);
        }
    }
    if (i < n) {
        double *row = r->factor + i * width + i;
        kl_lanes_subtract_times(inverse * one[i], one + i, width - i, row);
        if (next > 0.0) {
            kl_lanes_subtract_times(next * two[i], two + i, width - i, row);
        }
    }
}

// Pivot `k` and the next one, if that is as good. How many. Nothing waits for their roots.
static int32_t eliminate(KlRest *r, int32_t k, const double *left) {
    int32_t width = r->faces + r->columns;
    double *pivot = r->factor + k * width, inverse = 1.0 / pivot[k], next = 0.0;
    if (take_next(r, k, inverse, left)) {
        next = 1.0 / pivot[width + k + 1];
    }
    subtract_pivots(r, k, inverse, next);
    multiply_row(pivot, k, width, sqrt(inverse));
    if (next > 0.0) {
        multiply_row(pivot + width, k + 1, width, sqrt(next));
    }
    return next > 0.0 ? 2 : 1;
}

// Cholesky by rows, mostly two at a time.
bool kl_rest_factor(KlRest *r, const KlTree *t) {
    int32_t n = r->faces, step = n + r->columns + 1;
    double inverse[KL_TREE_ROWS] = {0.0};
    if (n == t->kept) {  // a sliding contact has one face or two for three rows
        copy_matrix(r, t);
    } else {
        form_matrix(r, t);
    }
    for (int32_t i = 0; i < n; i++) {
        r->order[i] = i;
        inverse[i] = 1.0 / r->factor[i * step];
        if (!isfinite(inverse[i]) || !(inverse[i] > 0.0)) {
            return false;
        }
    }
    for (r->rank = 0; r->rank < n;) {
        int32_t k = r->rank, most = choose_pivot(r, inverse);
        if (!(r->factor[most * step] * inverse[most] > LEAST_PIVOT)) {
            return true;
        }
        if (most > k) {
            exchange(r, inverse, k, most);
        }
        r->rank += eliminate(r, k, inverse);
    }
    return true;
}

static void add_on_face(const KlRest *r, int32_t face, double share, double *kept) {
    for (int32_t k = 0; k < r->rows[face]; k++) {
        kept[r->row[face] + k] += share * r->ray[3 * face + k];
    }
}

void kl_rest_pull(const KlRest *r, const double *velocity, double *x) {
    double own[KL_TREE_ROWS];
    kl_lanes_copy(velocity, r->kept, own);
    combine(r, 1, 0, own);
    for (int32_t i = 0; i < r->faces; i++) {
        x[i] = own[r->row[i]];
    }
}

void kl_rest_solve_lower(const KlRest *r, const double *x, double *y) {
    for (int32_t i = 0; i < r->rank; i++) {
        y[i] = x[r->order[i]];
    }
    kl_upper_solve_transposed(r->factor, r->faces + r->columns, r->rank, y);
}

void kl_rest_solve_upper(const KlRest *r, double *y, double *x) {
    kl_upper_solve(r->factor, r->faces + r->columns, r->rank, y);
    kl_lanes_clear(r->faces, x);
    for (int32_t i = 0; i < r->rank; i++) {
        x[r->order[i]] = y[i];
    }
}

void kl_rest_push(const KlRest *r, const double *x, double *kept) {
    for (int32_t i = 0; i < r->faces; i++) {
        add_on_face(r, i, x[i], kept);
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
