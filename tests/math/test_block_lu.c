// The sparse factor agrees with the dense one on chains, stars, grids and random blocks, and on D +
// shift 1 of a rank-deficient D; the order it uses is a permutation that keeps a chain's factor
// linear.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "math/block_lu.h"
#include "math/llt.h"
#include "math/ordering.h"
#include "support.h"

typedef struct Sample {
    KlBlockMatrix matrix;
    int32_t *start, *row_start, *column, *transpose;
    size_t *offset;
    double *dense;
    int32_t rows;
} Sample;

typedef bool (*Joined)(int32_t i, int32_t j, int32_t count);

static bool chain(int32_t i, int32_t j, int32_t count) {
    (void)count;
    return abs(i - j) <= 1;
}
static bool star(int32_t i, int32_t j, int32_t count) {
    (void)count;
    return i == j || i == 0 || j == 0;
}
static bool ring(int32_t i, int32_t j, int32_t count) { return abs(i - j) <= 1 || abs(i - j) == count - 1; }
static bool grid(int32_t i, int32_t j, int32_t count) {
    int32_t side = (int32_t)sqrt((double)count);
    return i == j || (abs(i - j) == 1 && i / side == j / side) || abs(i - j) == side;
}
static bool scattered(int32_t i, int32_t j, int32_t count) {
    int32_t low = i < j ? i : j, high = i < j ? j : i;
    return i == j || (low * 7 + high * 13) % count < 2;
}
static bool full(int32_t i, int32_t j, int32_t count) { return i >= 0 && j >= 0 && count > 0; }

// Blocks of 1 to 6 rows. Symmetric: B B^T plus the diagonal when definite; else dominant in its
// diagonal.
static Sample make(int32_t count, Joined joined, bool symmetric) {
    Sample s = {0};
    KlRng rng = {42};
    size_t entries = 0, values = 0, blocks = (size_t)count;
    s.start = calloc(blocks + 1, sizeof *s.start);
    s.row_start = calloc(blocks + 1, sizeof *s.row_start);
    for (int32_t b = 0; b < count; b++) {
        s.start[b + 1] = s.start[b] + 1 + (b * 5) % 6;
    }
    s.rows = s.start[count];
    s.column = calloc(blocks * blocks, sizeof *s.column);
    s.transpose = calloc(blocks * blocks, sizeof *s.transpose);
    s.offset = calloc(blocks * blocks, sizeof *s.offset);
    for (int32_t i = 0; i < count; i++) {
        for (int32_t j = 0; j < count; j++) {
            if (joined(i, j, count)) {
                s.column[entries] = j;
                s.offset[entries++] = values;
                values += (size_t)(s.start[i + 1] - s.start[i]) * (size_t)(s.start[j + 1] - s.start[j]);
            }
        }
        s.row_start[i + 1] = (int32_t)entries;
    }
    for (int32_t i = 0; i < count; i++) {
        for (int32_t e = s.row_start[i]; e < s.row_start[i + 1]; e++) {
            for (int32_t m = s.row_start[s.column[e]]; m < s.row_start[s.column[e] + 1]; m++) {
                s.transpose[e] = s.column[m] == i ? m : s.transpose[e];
            }
        }
    }
    size_t n = (size_t)s.rows;
    s.dense = calloc(n * n, sizeof *s.dense);
    s.matrix =
        (KlBlockMatrix){count, s.start, s.row_start, s.column, s.transpose, s.offset, calloc(values, sizeof(double))};
    for (int32_t i = 0; i < count; i++) {
        for (int32_t e = s.row_start[i]; e < s.row_start[i + 1]; e++) {
            double *v = s.matrix.values + s.offset[e];
            for (int32_t r = s.start[i]; r < s.start[i + 1]; r++) {
                for (int32_t c = s.start[s.column[e]]; c < s.start[s.column[e] + 1]; c++) {
                    double *here = &s.dense[(size_t)r * n + (size_t)c];
                    bool mirrored = symmetric && c < r;
                    *here = mirrored ? s.dense[(size_t)c * n + (size_t)r] : kl_rng_range(&rng, -1.0, 1.0);
                    *here += r == c ? s.rows : 0.0;
                    *v++ = *here;
                }
            }
        }
    }
    return s;
}

static void drop(Sample *s) {
    free(s->start);
    free(s->row_start);
    free(s->column);
    free(s->transpose);
    free(s->offset);
    free(s->dense);
    free(s->matrix.values);
}

static double worst_residual(const Sample *s, const double *x, const double *b) {
    double worst = 0.0;
    for (int32_t i = 0; i < s->rows; i++) {
        double sum = -b[i];
        for (int32_t j = 0; j < s->rows; j++) {
            sum += s->dense[(size_t)i * (size_t)s->rows + (size_t)j] * x[j];
        }
        worst = fabs(sum) > worst ? fabs(sum) : worst;
    }
    return worst;
}

static void solves(int32_t count, Joined joined, bool symmetric, bool dense) {
    Sample s = make(count, joined, symmetric);
    KlBlockLu *lu;
    size_t n = (size_t)s.rows;
    double *b = calloc(n, sizeof *b), *x = calloc(n, sizeof *x);
    for (size_t i = 0; i < n; i++) {
        b[i] = x[i] = (double)(i % 7) - 3.0;
    }
    assert_ok(kl_block_lu_create(&lu));
    assert_ok(kl_block_lu_analyze(lu, &s.matrix, symmetric, dense));
    assert_true(kl_block_lu_factor(lu, &s.matrix));
    kl_block_lu_solve(lu, x);
    assert_near(worst_residual(&s, x, b), 0.0, 1e-12);  // |b| = 3, a few hundred roundings
    kl_block_lu_destroy(lu);
    free(b);
    free(x);
    drop(&s);
}

static void solves_every_pattern(void **state) {
    (void)state;
    static const Joined patterns[] = {chain, star, ring, grid, scattered, full};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        for (int32_t count = 1; count <= 49; count = 3 * count + 1) {
            solves(count, patterns[i], false, false);
            solves(count, patterns[i], true, false);
            solves(count, patterns[i], false, true);
            solves(count, patterns[i], true, true);
        }
        solves(49, patterns[i], false, false);
        solves(49, patterns[i], true, false);
    }
}

static void agrees_with_the_dense_factor(void **state) {
    (void)state;
    Sample s = make(30, grid, true);
    KlBlockLu *lu;
    size_t n = (size_t)s.rows;
    double *x = calloc(n, sizeof *x), *y = calloc(n + 4, sizeof *y),
           *factor = calloc(kl_llt_size(s.rows), sizeof *factor);
    for (size_t i = 0; i < n; i++) {
        x[i] = y[i] = 1.0 / (double)(i + 1);
    }
    assert_ok(kl_block_lu_create(&lu));
    assert_ok(kl_block_lu_analyze(lu, &s.matrix, true, false));
    assert_true(kl_block_lu_factor(lu, &s.matrix));
    kl_block_lu_solve(lu, x);
    assert_int_equal(kl_llt_factor(s.dense, s.rows, s.rows, 0.0, factor), -1);
    kl_llt_solve(factor, s.rows, y);
    assert_near_array(x, y, s.rows, 1e-15);
    kl_block_lu_destroy(lu);
    free(x);
    free(y);
    free(factor);
    drop(&s);
}

// A A^T of rank 2 in every 6 rows plus a small shift: the residual stays at rounding of |x|.
static void solves_a_shifted_rank_deficient_matrix(void **state) {
    (void)state;
    int32_t start[] = {0, 3, 6}, row_start[] = {0, 2, 4}, column[] = {0, 1, 0, 1}, transpose[] = {0, 2, 1, 3};
    size_t offset[] = {0, 9, 18, 27};
    double a[6][2] = {{1, 2}, {0, 1}, {3, -1}, {1, 1}, {-2, 0.5}, {0.3, 0.7}}, values[36], shift = 1e-10;
    KlBlockMatrix m = {2, start, row_start, column, transpose, offset, values};
    for (int32_t i = 0; i < 6; i++) {
        for (int32_t j = 0; j < 6; j++) {
            values[18 * (i / 3) + 9 * (j / 3) + 3 * (i % 3) + j % 3] =
                a[i][0] * a[j][0] + a[i][1] * a[j][1] + (i == j ? shift : 0.0);
        }
    }
    double x[6], b[6];  // b in the range: x is near the least-norm solution
    for (int32_t i = 0; i < 6; i++) {
        x[i] = b[i] = a[i][0] - 2.0 * a[i][1];
    }
    KlBlockLu *lu;
    assert_ok(kl_block_lu_create(&lu));
    for (int32_t symmetric = 0; symmetric < 2; symmetric++) {
        memcpy(x, b, sizeof x);
        assert_ok(kl_block_lu_analyze(lu, &m, symmetric == 1, false));
        assert_true(kl_block_lu_factor(lu, &m));
        kl_block_lu_solve(lu, x);
        double moved[2] = {0.0, 0.0};
        for (int32_t i = 0; i < 6; i++) {
            moved[0] += a[i][0] * x[i];
            moved[1] += a[i][1] * x[i];
        }
        assert_near(moved[0], 1.0,
                    1e-4);  // rounding over the shift: 1e-16 / 1e-10, times the size of A
        assert_near(moved[1], -2.0, 1e-4);
    }
    kl_block_lu_destroy(lu);
}

static void refuses_a_singular_matrix(void **state) {
    (void)state;
    int32_t start[] = {0, 2}, row_start[] = {0, 1}, column[] = {0}, transpose[] = {0};
    size_t offset[] = {0};
    double values[] = {1.0, 2.0, 2.0, 4.0};
    KlBlockMatrix m = {1, start, row_start, column, transpose, offset, values};
    KlBlockLu *lu;
    assert_ok(kl_block_lu_create(&lu));
    assert_ok(kl_block_lu_analyze(lu, &m, true, false));
    assert_false(kl_block_lu_factor(lu, &m));
    assert_ok(kl_block_lu_analyze(lu, &m, false, false));
    assert_false(kl_block_lu_factor(lu, &m));
    kl_block_lu_destroy(lu);
}

static void a_chain_fills_in_linearly(void **state) {
    (void)state;
    Sample s = make(49, chain, true);
    KlBlockLu *lu;
    assert_ok(kl_block_lu_create(&lu));
    assert_ok(kl_block_lu_analyze(lu, &s.matrix, true, false));
    assert_true(kl_block_lu_nonzeros(lu) < 49 * 3 * 36);
    kl_block_lu_destroy(lu);
    drop(&s);
}

static void the_order_is_a_permutation(void **state) {
    (void)state;
    Sample s = make(49, scattered, true);
    int32_t order[49], weight[49];
    bool met[49] = {false};
    KlOrderingWork work = {0};
    for (int32_t i = 0; i < 49; i++) {
        weight[i] = s.start[i + 1] - s.start[i];
    }
    KlGraph graph = {49, s.row_start, s.column, weight};
    assert_ok(kl_minimum_degree(&graph, &work, order));
    for (int32_t i = 0; i < 49; i++) {
        assert_in_range(order[i], 0, 48);
        assert_false(met[order[i]]);
        met[order[i]] = true;
    }
    kl_ordering_release(&work);
    drop(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_every_pattern),
        cmocka_unit_test(agrees_with_the_dense_factor),
        cmocka_unit_test(solves_a_shifted_rank_deficient_matrix),
        cmocka_unit_test(refuses_a_singular_matrix),
        cmocka_unit_test(a_chain_fills_in_linearly),
        cmocka_unit_test(the_order_is_a_permutation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
