// Rank of the Jacobian's rows.
#include "dual/rank.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/eigen.h"

static double dot6(const double a[6], const double b[6]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

// Adds the products of the rows of blocks b and c on each body that they share.
static void add_pair(const KlProblem *p, int32_t b, int32_t c, int32_t rows, double *gram) {
    for (int32_t side = 0; side < 4; side++) {
        int32_t sb = side / 2, sc = side % 2, body = p->block_body[2 * b + sb];
        if (body < 0 || p->block_body[2 * c + sc] != body) {
            continue;
        }
        for (int32_t i = p->block_start[b]; i < p->block_start[b + 1] && i < rows; i++) {
            for (int32_t j = p->block_start[c]; j < p->block_start[c + 1] && j < rows; j++) {
                gram[(size_t)i * (size_t)rows + (size_t)j] +=
                    dot6(p->jacobian + 12 * (size_t)i + 6 * sb, p->jacobian + 12 * (size_t)j + 6 * sc);
            }
        }
    }
}

static void add_csr_row(const KlProblem *p, int32_t i, int32_t rows, double *gram) {
    for (int32_t e = p->delassus_start[i]; e < p->delassus_start[i + 1]; e++) {
        int32_t j = p->delassus_index[e];
        if (j < rows) {
            gram[(size_t)i * (size_t)rows + (size_t)j] += 0.5 * p->delassus_value[e];
            gram[(size_t)j * (size_t)rows + (size_t)i] += 0.5 * p->delassus_value[e];
        }
    }
}

void kl_problem_gram(const KlProblem *p, int32_t rows, double *gram) {
    memset(gram, 0, (size_t)rows * (size_t)rows * sizeof *gram);
    if (!kl_problem_has_bodies(p)) {
        for (int32_t i = 0; i < rows; i++) {
            add_csr_row(p, i, rows, gram);
        }
        return;
    }
    for (int32_t b = 0; b < p->block_count && p->block_start[b] < rows; b++) {
        for (int32_t c = 0; c < p->block_count && p->block_start[c] < rows; c++) {
            add_pair(p, b, c, rows, gram);
        }
    }
}

static void scale_to_unit_diagonal(double *a, size_t n, double *scale) {
    for (size_t i = 0; i < n; i++) {
        scale[i] = a[i * n + i] > 0.0 ? 1.0 / sqrt(a[i * n + i]) : 0.0;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            a[i * n + j] *= scale[i] * scale[j];
        }
    }
}

KlStatus kl_problem_jacobian_rank(const KlProblem *p, int32_t rows, int32_t *rank) {
    size_t n = (size_t)rows;
    double *gram = kl_alloc((n * n + n) * sizeof *gram);
    if (gram == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for the rank of %d rows", (int)rows);
    }
    kl_problem_gram(p, rows, gram);
    scale_to_unit_diagonal(gram, n, gram + n * n);
    *rank = kl_rank_semidefinite(gram, rows, rows * DBL_EPSILON, gram + n * n);
    kl_free(gram);
    return KL_OK;
}
