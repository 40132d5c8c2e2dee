// Products with D = J M^-1 J^T + diag(R), whole or by constraint blocks. The body form never builds
// D: a block pushes its impulse into body space (M^-1 J^T) and pulls velocities out of it (J).
#include <float.h>
#include <string.h>

#include "cone/cone_list.h"
#include "dual/problem.h"
#include "dual/storage.h"
#include "math/lanes.h"
#include "math/vec.h"

// ---- body space --------------------------------------------------------------------------------

// wrench (6) += columns of one side (0 or 1) of the block's Jacobian times the impulse.
static void add_wrench(const KlProblem *p, int32_t block, int32_t side, const double *impulse, double wrench[6]) {
    kl_lanes_push(p->jacobian + 12 * (size_t)kl_block_first(p, block) + 6 * side, impulse, kl_block_rows(p, block),
                  wrench);
}

// twist = M_body^-1 wrench; may not alias
static inline void divide(const KlProblem *p, int32_t body, const double wrench[6], double twist[6]) {
    kl_scale3(p->inverse_mass[body], wrench, twist);
    kl_mat3_mul_vec(p->inverse_inertia + 9 * (size_t)body, wrench + 3, twist + 3);
}

void kl_block_push(const KlProblem *p, int32_t block, const double *impulse, double *du) {
    for (int32_t side = 0; side < 2; side++) {
        int32_t body = p->block_body[2 * block + side];
        if (body >= 0) {
            double wrench[6] = {0.0}, twist[6], *own = du + 6 * (size_t)body;
            add_wrench(p, block, side, impulse, wrench);
            divide(p, body, wrench, twist);
            kl_add3(own, twist, own);
            kl_add3(own + 3, twist + 3, own + 3);
        }
    }
}

void kl_block_pull(const KlProblem *p, int32_t block, const double *u, double *velocity) {
    const double *own[2];
    kl_block_twists(p, block, u, own);
    kl_lanes_pull(p->jacobian + 12 * (size_t)kl_block_first(p, block), kl_block_rows(p, block), own[0], own[1],
                  velocity);
}

void kl_problem_add_wrenches(const KlProblem *p, int32_t first, const double *lambda, double *wrench) {
    for (int32_t b = first; b < p->block_count; b++) {
        for (int32_t side = 0; side < 2; side++) {
            int32_t body = p->block_body[2 * b + side];
            if (body >= 0) {
                add_wrench(p, b, side, lambda + kl_block_first(p, b), wrench + 6 * (size_t)body);
            }
        }
    }
}

void kl_problem_body_wrench(const KlProblem *p, const double *lambda, double *wrench) {
    memset(wrench, 0, 6 * (size_t)p->body_count * sizeof *wrench);
    kl_problem_add_wrenches(p, 0, lambda, wrench);
}

void kl_problem_body_velocity(const KlProblem *p, const double *lambda, double *du) {
    kl_problem_body_wrench(p, lambda, du);
    for (int32_t i = 0; i < p->body_count; i++) {
        double wrench[6], *twist = du + 6 * (size_t)i;
        memcpy(wrench, twist, sizeof wrench);
        divide(p, i, wrench, twist);
    }
}

// ---- products ----------------------------------------------------------------------------------

// First entry of a CSR row whose column is >= `column`.
static int32_t csr_lower_bound(const KlProblem *p, int32_t row, int32_t column) {
    int32_t low = p->delassus_start[row], high = p->delassus_start[row + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (p->delassus_index[middle] < column) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Entry of a CSR row at this column, -1 where none is stored. Most rows, or their beginnings, have no gaps.
static int32_t csr_find(const KlProblem *p, int32_t row, int32_t column) {
    int32_t first = p->delassus_start[row], end = p->delassus_start[row + 1];
    const int32_t *index = p->delassus_index;
    int32_t at = first < end ? first + (column - index[first]) : end;
    if (at >= first && at < end && index[at] == column) {
        return at;
    }
    at = csr_lower_bound(p, row, column);
    return at < end && index[at] == column ? at : -1;
}

// A row without gaps is summed in lanes.
static double csr_row(const KlProblem *p, int32_t row, const double *x) {
    int32_t first = p->delassus_start[row], count = p->delassus_start[row + 1] - first;
    const int32_t *index = p->delassus_index + first;
    const double *value = p->delassus_value + first;
    if (count > 0 && index[count - 1] - index[0] == count - 1) {
        return kl_lanes_dot(value, x + index[0], count);
    }
    double sum = 0.0;
    for (int32_t e = 0; e < count; e++) {
        sum += value[e] * x[index[e]];
    }
    return sum;
}

static bool is_full(const KlProblem *p, int32_t row) {
    return p->delassus_start[row + 1] - p->delassus_start[row] == p->dim;
}

// Two rows at once where they are full: the same sums.
static void multiply_rows(const KlProblem *p, const double *x, double *product) {
    int32_t i = 0;
    while (i < p->dim) {
        if (i + 2 <= p->dim && is_full(p, i) && is_full(p, i + 1)) {
            const double *row = p->delassus_value + p->delassus_start[i];
            kl_store(product + i, kl_lanes_two_dots(x, row, row + p->dim, p->dim));
            i += 2;
        } else {
            product[i] = csr_row(p, i, x);
            i++;
        }
    }
}

void kl_problem_multiply(const KlProblem *p, const double *x, double *product) {
    if (kl_problem_has_bodies(p)) {
        double *du = kl_problem_storage(p)->twist;
        kl_problem_body_velocity(p, x, du);
        for (int32_t b = 0; b < p->block_count; b++) {
            kl_block_pull(p, b, du, product + kl_block_first(p, b));
        }
    } else {
        multiply_rows(p, x, product);
    }
    for (int32_t i = 0; i < p->dim; i++) {
        product[i] += p->softening[i] * x[i];
    }
}

void kl_problem_velocity(const KlProblem *p, const double *lambda, double *velocity) {
    kl_problem_multiply(p, lambda, velocity);
    for (int32_t i = 0; i < p->dim; i++) {
        velocity[i] += p->free_velocity[i];
    }
}

void kl_sweep_begin(const KlProblem *p, const double *lambda, double *state) {
    if (kl_problem_has_bodies(p)) {
        kl_problem_body_velocity(p, lambda, state);
    }
}

void kl_sweep_velocity(const KlProblem *p, int32_t block, const double *lambda, const double *state, double *velocity) {
    int32_t first = kl_block_first(p, block), rows = kl_block_rows(p, block);
    bool bodies = kl_problem_has_bodies(p);
    if (bodies) {
        kl_block_pull(p, block, state, velocity);
    }
    for (int32_t i = 0; i < rows; i++) {
        int32_t row = first + i;
        double moved = bodies ? velocity[i] : csr_row(p, row, lambda);
        velocity[i] = moved + p->softening[row] * lambda[row] + p->free_velocity[row];
    }
}

// ---- blocks of D -------------------------------------------------------------------------------

// row_a M_body^-1 row_b^T of two Jacobian rows (6) on one body.
static double coupling(const KlProblem *p, int32_t body, const double a[6], const double b[6]) {
    double turn[3];
    kl_mat3_mul_vec(p->inverse_inertia + 9 * (size_t)body, b + 3, turn);
    return p->inverse_mass[body] * kl_dot3(a, b) + kl_dot3(a + 3, turn);
}

static void body_pair(const KlProblem *p, int32_t j, int32_t k, double *d) {
    int32_t rows = kl_block_rows(p, j), columns = kl_block_rows(p, k);
    for (int32_t sj = 0; sj < 2; sj++) {
        int32_t body = p->block_body[2 * j + sj];
        for (int32_t sk = 0; sk < 2; sk++) {
            if (body < 0 || p->block_body[2 * k + sk] != body) {
                continue;
            }
            for (int32_t r = 0; r < rows; r++) {
                const double *a = p->jacobian + 12 * (size_t)(kl_block_first(p, j) + r) + 6 * sj;
                for (int32_t c = 0; c < columns; c++) {
                    const double *b = p->jacobian + 12 * (size_t)(kl_block_first(p, k) + c) + 6 * sk;
                    d[(size_t)r * (size_t)columns + (size_t)c] += coupling(p, body, a, b);
                }
            }
        }
    }
}

// d (columns): entries of a row from column `left` on.
static void csr_part(const KlProblem *p, int32_t row, int32_t left, int32_t columns, double *d) {
    const int32_t *index = p->delassus_index;
    int32_t at = csr_find(p, row, left), end = p->delassus_start[row + 1];
    if (at >= 0 && at + columns <= end && index[at + columns - 1] == left + columns - 1) {  // no gaps
        kl_lanes_copy(p->delassus_value + at, columns, d);
        return;
    }
    memset(d, 0, (size_t)columns * sizeof *d);
    for (at = at >= 0 ? at : csr_lower_bound(p, row, left); at < end && index[at] < left + columns; at++) {
        d[index[at] - left] = p->delassus_value[at];
    }
}

void kl_problem_block_pair(const KlProblem *p, int32_t j, int32_t k, double *d) {
    int32_t rows = kl_block_rows(p, j), columns = kl_block_rows(p, k);
    if (kl_problem_has_bodies(p)) {
        memset(d, 0, (size_t)rows * (size_t)columns * sizeof *d);
        body_pair(p, j, k, d);
    } else {
        for (int32_t r = 0; r < rows; r++) {
            csr_part(p, kl_block_first(p, j) + r, kl_block_first(p, k), columns, d + (size_t)r * (size_t)columns);
        }
    }
    if (j == k) {
        for (int32_t r = 0; r < rows; r++) {
            d[(size_t)r * (size_t)columns + (size_t)r] += p->softening[kl_block_first(p, j) + r];
        }
    }
}

// ---- what follows from the numbers -------------------------------------------------------------

static double stored_diagonal(const KlProblem *p, int32_t row) {
    int32_t e = csr_find(p, row, row);
    return e >= 0 ? p->delassus_value[e] : 0.0;
}

static inline void store_lanes(const KlPair v[3], double *one, double *two) {
    for (int32_t k = 0; k < 3; k++) {
        one[k] = v[k][0];
        two[k] = v[k][1];
    }
}

// row M^-1 row^T of two rows on one body, a lane each; their row M^-1 into `divided` and twelve places behind, unless NULL.
static inline KlPair divide_two(double inverse_mass, const double m[9], const double *one, const double *two,
                                double *divided) {
    KlPair mass = kl_both(inverse_mass), line[3], turn[3], push[3], twist[3];
    for (int32_t k = 0; k < 3; k++) {
        line[k] = (KlPair){one[k], two[k]};
        turn[k] = (KlPair){one[3 + k], two[3 + k]};
    }
    for (int32_t k = 0; k < 3; k++) {
        push[k] = mass * line[k];
        twist[k] = kl_both(m[3 * k]) * turn[0] + kl_both(m[3 * k + 1]) * turn[1] + kl_both(m[3 * k + 2]) * turn[2];
    }
    if (divided != NULL) {
        store_lanes(push, divided, divided + 12);
        store_lanes(twist, divided + 3, divided + 15);
    }
    return (line[0] * push[0] + line[1] * push[1] + line[2] * push[2]) +
           (turn[0] * twist[0] + turn[1] * twist[1] + turn[2] * twist[2]);
}

// One side of a block: diag J M^-1 J^T +=, and J M^-1 where it is asked for.
static void divide_side(const KlProblem *p, int32_t b, int32_t side, double *divided, double *diagonal) {
    int32_t body = p->block_body[2 * b + side], i = p->block_start[b], end = p->block_start[b + 1];
    const double *row = p->jacobian + 12 * (size_t)i + 6 * side;
    double *to = divided != NULL ? divided + 12 * (size_t)i + 6 * side : NULL, last[24];
    if (body < 0) {
        for (; to != NULL && i < end; i++, to += 12) {
            kl_lanes_clear(6, to);
        }
        return;
    }
    double inverse_mass = p->inverse_mass[body];
    const double *m = p->inverse_inertia + 9 * (size_t)body;
    for (; i + 2 <= end; i += 2, row += 24) {
        kl_store(diagonal + i, kl_load(diagonal + i) + divide_two(inverse_mass, m, row, row + 12, to));
        to = to != NULL ? to + 24 : NULL;
    }
    if (i < end) {
        diagonal[i] += divide_two(inverse_mass, m, row, row, to != NULL ? last : NULL)[0];
        for (int32_t k = 0; k < 6 && to != NULL; k++) {
            to[k] = last[k];
        }
    }
}

static void find_diagonal(const KlProblem *p, double *divided, double *diagonal) {
    if (!kl_problem_has_bodies(p)) {
        for (int32_t i = 0; i < p->dim; i++) {
            diagonal[i] = stored_diagonal(p, i) + p->softening[i];
        }
        return;
    }
    kl_lanes_copy(p->softening, p->dim, diagonal);
    for (int32_t b = 0; b < p->block_count; b++) {
        for (int32_t side = 0; side < 2; side++) {
            divide_side(p, b, side, divided, diagonal);
        }
    }
}

// S = 1 / max diag(D_jj) in every row of block j
static void find_scale(const KlProblem *p, const KlProblemStorage *s) {
    for (int32_t b = 0; b < p->block_count; b++) {
        int32_t first = p->block_start[b], end = p->block_start[b + 1];
        double most = 0.0;
        for (int32_t row = first; row < end; row++) {
            most = s->diagonal[row] > most ? s->diagonal[row] : most;
        }
        double scale = most <= 0.0 ? 1.0 : 1.0 / (most > DBL_MIN ? most : DBL_MIN);  // finite
        for (int32_t row = first; row < end; row++) {
            s->scale[row] = scale;
        }
    }
}

static const KlProblemStorage *prepare(const KlProblem *p, double *divided) {
    KlProblemStorage *s = kl_problem_storage(p);
    find_diagonal(p, divided, s->diagonal);
    find_scale(p, s);
    s->prepared = s->kept;
    return s;
}

const KlProblemStorage *kl_problem_prepare(const KlProblem *p) {
    const KlProblemStorage *s = kl_problem_storage(p);
    return s->prepared ? s : prepare(p, NULL);
}

const KlProblemStorage *kl_problem_divide(const KlProblem *p) {
    KlProblemStorage *s = kl_problem_storage(p);
    if (s->has_divided || !kl_problem_has_bodies(p)) {
        return kl_problem_prepare(p);
    }
    s->has_divided = s->kept;
    return prepare(p, s->divided);
}

bool kl_problem_keep(const KlProblem *p) {
    KlProblemStorage *s = kl_problem_storage(p);
    bool kept = s->kept;
    s->kept = true;
    return !kept;
}

void kl_problem_forget(const KlProblem *p) {
    KlProblemStorage *s = kl_problem_storage(p);
    s->prepared = s->has_divided = false;
}

void kl_problem_let_go(const KlProblem *p) {
    kl_problem_forget(p);
    kl_problem_storage(p)->kept = false;
}

void kl_problem_diagonal(const KlProblem *p, double *diagonal) {
    memcpy(diagonal, kl_problem_prepare(p)->diagonal, (size_t)p->dim * sizeof *diagonal);
}

void kl_problem_scale(const KlProblem *p, double *scale) {
    memcpy(scale, kl_problem_prepare(p)->scale, (size_t)p->dim * sizeof *scale);
}

// ---- projections on K and K* -------------------------------------------------------------------

typedef void (*Projector)(double friction, double *x, int32_t rows);

#define PRIMAL(kind, name, primal, dual) [KL_BLOCK_##kind] = primal,
#define DUAL(kind, name, primal, dual) [KL_BLOCK_##kind] = dual,
static const Projector primal_projectors[] = {KL_CONE_LIST(PRIMAL)};
static const Projector dual_projectors[] = {KL_CONE_LIST(DUAL)};
#undef PRIMAL
#undef DUAL

static void project(const KlProblem *p, const Projector *projectors, double *x) {
    for (int32_t b = 0; b < p->block_count; b++) {
        KlBlockKind kind = kl_block_kind(p, b);
        double friction = kind == KL_BLOCK_CONTACT ? kl_block_friction(p, b) : 0.0;
        projectors[kind](friction, x + kl_block_first(p, b), kl_block_rows(p, b));
    }
}

void kl_problem_project(const KlProblem *problem, double *x) { project(problem, primal_projectors, x); }

void kl_problem_project_dual(const KlProblem *problem, double *x) { project(problem, dual_projectors, x); }
