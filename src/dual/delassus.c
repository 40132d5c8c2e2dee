// The Delassus matrix, assembled from constraint pairs that share a body.
#include "dual/delassus.h"

#include <string.h>

#include "math/vec.h"

enum { STRIP = 6 };  // rows weighted by M^-1 at a time: a joint's rows, two contacts' rows

// weighted (12) = M^-1 row^T for both bodies of the block.
static void weigh_row(const KlProblem *p, int32_t block, int32_t row, double weighted[12]) {
    for (int32_t side = 0; side < 2; side++) {
        const double *a = p->jacobian + 12 * (size_t)row + 6 * side;
        double *w = weighted + 6 * side;
        int32_t body = p->block_body[2 * block + side];
        if (body < 0) {
            memset(w, 0, 6 * sizeof *w);
            continue;
        }
        kl_scale3(p->inverse_mass[body], a, w);
        kl_mat3_mul_vec(p->inverse_inertia + 9 * (size_t)body, a + 3, w + 3);
    }
}

static double dot6(const double a[6], const double b[6]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

// Columns first..end of D (rows of block k, weighted) and block j <= k: the entries on and above the
// diagonal.
static void fill_pair(const KlProblem *p, int32_t j, int32_t k, int32_t first, int32_t end, double weighted[STRIP][12],
                      double *d, size_t stride) {
    for (int32_t sj = 0; sj < 2; sj++) {
        int32_t body = p->block_body[2 * j + sj];
        for (int32_t sk = 0; sk < 2; sk++) {
            if (body < 0 || p->block_body[2 * k + sk] != body) {
                continue;
            }
            for (int32_t row = p->block_start[j]; row < p->block_start[j + 1]; row++) {
                const double *a = p->jacobian + 12 * (size_t)row + 6 * sj;
                for (int32_t column = row > first ? row : first; column < end; column++) {
                    d[(size_t)row * stride + (size_t)column] += dot6(a, weighted[column - first] + 6 * sk);
                }
            }
        }
    }
}

static void fill_from_bodies(const KlProblem *p, double *d, size_t stride) {
    for (int32_t k = 0; k < p->block_count; k++) {
        for (int32_t first = p->block_start[k]; first < p->block_start[k + 1]; first += STRIP) {
            double weighted[STRIP][12];
            int32_t end = first + STRIP < p->block_start[k + 1] ? first + STRIP : p->block_start[k + 1];
            for (int32_t row = first; row < end; row++) {
                weigh_row(p, k, row, weighted[row - first]);
            }
            for (int32_t j = 0; j <= k; j++) {
                fill_pair(p, j, k, first, end, weighted, d, stride);
            }
        }
    }
    for (int32_t i = 0; i < p->dim; i++) {
        for (int32_t j = 0; j < i; j++) {
            d[(size_t)i * stride + (size_t)j] = d[(size_t)j * stride + (size_t)i];
        }
    }
}

static void fill_from_csr(const KlProblem *p, double *d, size_t stride) {
    for (int32_t i = 0; i < p->dim; i++) {
        for (int32_t e = p->delassus_start[i]; e < p->delassus_start[i + 1]; e++) {
            d[(size_t)i * stride + (size_t)p->delassus_index[e]] = p->delassus_value[e];
        }
    }
}

void kl_delassus_dense(const KlProblem *p, double *d, int32_t stride) {
    for (int32_t i = 0; i < p->dim; i++) {
        memset(d + (size_t)i * (size_t)stride, 0, (size_t)p->dim * sizeof *d);
    }
    if (kl_problem_has_bodies(p)) {
        fill_from_bodies(p, d, (size_t)stride);
    } else {
        fill_from_csr(p, d, (size_t)stride);
    }
    for (int32_t i = 0; i < p->dim; i++) {
        d[(size_t)i * (size_t)stride + (size_t)i] += p->softening[i];
    }
}

void kl_problem_delassus(const KlProblem *problem, double *delassus) {
    kl_delassus_dense(problem, delassus, problem->dim);
}
