// Products with D = J M^-1 J^T + diag(R), whole or by constraint blocks. The body form never builds
// D: a block pushes its impulse into body space (M^-1 J^T) and pulls velocities out of it (J).
#include <float.h>
#include <string.h>

#include "cone/cone_list.h"
#include "dual/problem.h"
#include "dual/storage.h"
#include "math/vec.h"

// ---- body space --------------------------------------------------------------------------------

// wrench (6) = columns of one side (0 or 1) of the block's Jacobian times the impulse.
static void side_wrench(const KlProblem *p, int32_t block, int32_t side, const double *impulse, double wrench[6]) {
    int32_t first = kl_block_first(p, block), rows = kl_block_rows(p, block);
    for (int32_t c = 0; c < 6; c++) {
        wrench[c] = 0.0;
    }
    for (int32_t i = 0; i < rows; i++) {
        const double *row = p->jacobian + 12 * (size_t)(first + i) + 6 * side;
        for (int32_t c = 0; c < 6; c++) {
            wrench[c] += row[c] * impulse[i];
        }
    }
}

// twist += M_body^-1 wrench
static void accelerate(const KlProblem *p, int32_t body, const double wrench[6], double twist[6]) {
    double turn[3];
    kl_mat3_mul_vec(p->inverse_inertia + 9 * (size_t)body, wrench + 3, turn);
    kl_axpy3(p->inverse_mass[body], wrench, twist);
    kl_add3(twist + 3, turn, twist + 3);
}

void kl_block_push(const KlProblem *p, int32_t block, const double *impulse, double *du) {
    for (int32_t side = 0; side < 2; side++) {
        int32_t body = p->block_body[2 * block + side];
        if (body >= 0) {
            double wrench[6];
            side_wrench(p, block, side, impulse, wrench);
            accelerate(p, body, wrench, du + 6 * (size_t)body);
        }
    }
}

static double dot6(const double a[6], const double b[6]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

void kl_block_pull(const KlProblem *p, int32_t block, const double *u, double *velocity) {
    int32_t first = kl_block_first(p, block), rows = kl_block_rows(p, block);
    int32_t a = p->block_body[2 * block], b = p->block_body[2 * block + 1];
    for (int32_t i = 0; i < rows; i++) {
        const double *row = p->jacobian + 12 * (size_t)(first + i);
        velocity[i] = (a >= 0 ? dot6(row, u + 6 * (size_t)a) : 0.0) + (b >= 0 ? dot6(row + 6, u + 6 * (size_t)b) : 0.0);
    }
}

void kl_problem_body_wrench(const KlProblem *p, const double *lambda, double *wrench) {
    memset(wrench, 0, 6 * (size_t)p->body_count * sizeof *wrench);
    for (int32_t b = 0; b < p->block_count; b++) {
        for (int32_t side = 0; side < 2; side++) {
            int32_t body = p->block_body[2 * b + side];
            if (body >= 0) {
                double part[6];
                side_wrench(p, b, side, lambda + kl_block_first(p, b), part);
                kl_add3(wrench + 6 * (size_t)body, part, wrench + 6 * (size_t)body);
                kl_add3(wrench + 6 * (size_t)body + 3, part + 3, wrench + 6 * (size_t)body + 3);
            }
        }
    }
}

void kl_problem_body_velocity(const KlProblem *p, const double *lambda, double *du) {
    memset(du, 0, 6 * (size_t)p->body_count * sizeof *du);
    for (int32_t b = 0; b < p->block_count; b++) {
        kl_block_push(p, b, lambda + kl_block_first(p, b), du);
    }
}

// ---- products ----------------------------------------------------------------------------------

static double csr_row(const KlProblem *p, int32_t row, const double *x) {
    double sum = 0.0;
    for (int32_t e = p->delassus_start[row]; e < p->delassus_start[row + 1]; e++) {
        sum += p->delassus_value[e] * x[p->delassus_index[e]];
    }
    return sum;
}

void kl_problem_multiply(const KlProblem *p, const double *x, double *product) {
    if (kl_problem_has_bodies(p)) {
        double *du = kl_problem_storage(p)->twist;
        kl_problem_body_velocity(p, x, du);
        for (int32_t b = 0; b < p->block_count; b++) {
            kl_block_pull(p, b, du, product + kl_block_first(p, b));
        }
    } else {
        for (int32_t i = 0; i < p->dim; i++) {
            product[i] = csr_row(p, i, x);
        }
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

static void csr_pair(const KlProblem *p, int32_t j, int32_t k, double *d) {
    int32_t rows = kl_block_rows(p, j), columns = kl_block_rows(p, k), left = kl_block_first(p, k);
    for (int32_t r = 0; r < rows; r++) {
        int32_t row = kl_block_first(p, j) + r;
        for (int32_t e = csr_lower_bound(p, row, left); e < p->delassus_start[row + 1]; e++) {
            int32_t c = p->delassus_index[e] - left;
            if (c >= columns) {
                break;
            }
            d[(size_t)r * (size_t)columns + (size_t)c] = p->delassus_value[e];
        }
    }
}

void kl_problem_block_pair(const KlProblem *p, int32_t j, int32_t k, double *d) {
    int32_t rows = kl_block_rows(p, j), columns = kl_block_rows(p, k);
    memset(d, 0, (size_t)rows * (size_t)columns * sizeof *d);
    if (kl_problem_has_bodies(p)) {
        body_pair(p, j, k, d);
    } else {
        csr_pair(p, j, k, d);
    }
    if (j == k) {
        for (int32_t r = 0; r < rows; r++) {
            d[(size_t)r * (size_t)columns + (size_t)r] += p->softening[kl_block_first(p, j) + r];
        }
    }
}

static double diagonal_entry(const KlProblem *p, int32_t block, int32_t row) {
    if (!kl_problem_has_bodies(p)) {
        int32_t e = csr_lower_bound(p, row, row);
        bool stored = e < p->delassus_start[row + 1] && p->delassus_index[e] == row;
        return stored ? p->delassus_value[e] : 0.0;
    }
    double sum = 0.0;
    for (int32_t side = 0; side < 2; side++) {
        int32_t body = p->block_body[2 * block + side];
        const double *a = p->jacobian + 12 * (size_t)row + 6 * side;
        sum += body >= 0 ? coupling(p, body, a, a) : 0.0;
    }
    return sum;
}

void kl_problem_diagonal(const KlProblem *p, double *diagonal) {
    for (int32_t b = 0; b < p->block_count; b++) {
        for (int32_t row = p->block_start[b]; row < p->block_start[b + 1]; row++) {
            diagonal[row] = diagonal_entry(p, b, row) + p->softening[row];
        }
    }
}

void kl_problem_scale_from_diagonal(const KlProblem *p, double *scale) {
    for (int32_t b = 0; b < p->block_count; b++) {
        int32_t first = p->block_start[b], end = p->block_start[b + 1];
        double most = 0.0;
        for (int32_t row = first; row < end; row++) {
            most = scale[row] > most ? scale[row] : most;
        }
        for (int32_t row = first; row < end; row++) {
            scale[row] = most <= 0.0 ? 1.0 : 1.0 / (most > DBL_MIN ? most : DBL_MIN);  // finite
        }
    }
}

void kl_problem_scale(const KlProblem *p, double *scale) {
    kl_problem_diagonal(p, scale);
    kl_problem_scale_from_diagonal(p, scale);
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
