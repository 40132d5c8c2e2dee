// Left-looking Cholesky on 4 x 4 tiles: L_ij = (A_ij - sum_{k<j} L_ik L_jk^T) L_jj^-T, each tile
// gathered in registers over the whole row before it is stored once.
#include "math/llt.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "math/lanes.h"

// A tile, column by column: rows 0, 1 and rows 2, 3.
typedef struct Tile {
    KlPair top[4], bottom[4];
} Tile;

static inline size_t panel_start(size_t i) { return 8 * i * (i + 1); }

// What a factorisation reads.
typedef struct Source {
    const double *a;
    size_t n, stride;
    const double *shift;
    size_t shift_step;  // 0: one shift for every row
} Source;

// Past the last row: of the identity.
static inline double entry(const Source *source, size_t row, size_t column) {
    bool inside = row < source->n && column < source->n;
    return inside ? source->a[column * source->stride + row] : row == column ? 1.0 : 0.0;
}

static void read_edge_tile(const Source *source, size_t i, size_t j, Tile *tile) {
    for (size_t c = 0; c < 4; c++) {
        size_t row = 4 * i, column = 4 * j + c;
        tile->top[c] = (KlPair){entry(source, row, column), entry(source, row + 1, column)};
        tile->bottom[c] = (KlPair){entry(source, row + 2, column), entry(source, row + 3, column)};
    }
}

// A column of the tile is a piece of a row of the upper triangle. What stands below that does not reach the factor.
static inline void read_tile(const Source *source, size_t i, size_t j, Tile *tile) {
    if (4 * i + 4 > source->n) {
        read_edge_tile(source, i, j, tile);
        return;
    }
    const double *a = source->a + 4 * j * source->stride + 4 * i;
    for (size_t c = 0; c < 4; c++, a += source->stride) {
        tile->top[c] = kl_load(a);
        tile->bottom[c] = kl_load(a + 2);
    }
}

// tile -= left right^T, one column of four rows each.
static inline void subtract_product(const double *left, const double *right, Tile *tile) {
    KlPair top = kl_load(left), bottom = kl_load(left + 2);
    for (size_t c = 0; c < 4; c++) {
        KlPair factor = kl_both(right[c]);
        tile->top[c] -= top * factor;
        tile->bottom[c] -= bottom * factor;
    }
}

// tile -= (left panel) (right panel)^T over their first 4 `count` columns. Four columns a turn: a
// browser's compiler moves the eight sums between registers at the end of every turn.
static inline void subtract_products(const double *left, const double *right, size_t count, Tile *tile) {
    Tile sum = *tile;
    for (size_t k = 0; k < count; k++, left += 16, right += 16) {
        subtract_product(left, right, &sum);
        subtract_product(left + 4, right + 4, &sum);
        subtract_product(left + 8, right + 8, &sum);
        subtract_product(left + 12, right + 12, &sum);
    }
    *tile = sum;
}

// tile = tile L_jj^-T, with L_jj (4 columns of 4 rows, inverse diagonal), stored into `out`.
static inline void solve_tile(const double *diagonal, Tile *tile, double *out) {
    for (size_t c = 0; c < 4; c++) {
        KlPair top = tile->top[c], bottom = tile->bottom[c];
        for (size_t m = 0; m < c; m++) {
            double l = diagonal[4 * m + c];
            KlPair factor = kl_both(l);
            top -= tile->top[m] * factor;
            bottom -= tile->bottom[m] * factor;
        }
        double inverse = diagonal[5 * c];
        KlPair scale = kl_both(inverse);
        tile->top[c] = top * scale;
        tile->bottom[c] = bottom * scale;
        kl_store(out + 4 * c, tile->top[c]);
        kl_store(out + 4 * c + 2, tile->bottom[c]);
    }
}

// Factors a diagonal tile (4 columns of 4 rows in `l`); -1 or the failing column. As L D L^T first: a pivot then
// waits for a division alone, and the roots for nobody.
static int32_t factor_tile(double l[16]) {
    double d0 = l[0], i0 = 1.0 / d0, m10 = l[1] * i0, m20 = l[2] * i0, m30 = l[3] * i0;
    double d1 = l[5] - l[1] * m10, l21 = l[6] - l[2] * m10, l31 = l[7] - l[3] * m10, i1 = 1.0 / d1;
    double m21 = l21 * i1, m31 = l31 * i1;
    double d2 = (l[10] - l[2] * m20) - l21 * m21, l32 = (l[11] - l[3] * m20) - l31 * m21, i2 = 1.0 / d2;
    double d3 = ((l[15] - l[3] * m30) - l31 * m31) - l32 * (l32 * i2), pivots[4] = {d0, d1, d2, d3}, inverse[4];
    for (int32_t c = 0; c < 4; c++) {
        if (!(pivots[c] > 0.0) || isinf(pivots[c])) {
            return c;
        }
        inverse[c] = 1.0 / sqrt(pivots[c]);
    }
    double factor[16] = {inverse[0],
                         l[1] * inverse[0],
                         l[2] * inverse[0],
                         l[3] * inverse[0],
                         0.0,
                         inverse[1],
                         l21 * inverse[1],
                         l31 * inverse[1],
                         0.0,
                         0.0,
                         inverse[2],
                         l32 * inverse[2],
                         0.0,
                         0.0,
                         0.0,
                         inverse[3]};
    memcpy(l, factor, sizeof factor);
    return -1;
}

static inline void make_tile(const Source *source, size_t i, size_t j, double *factor) {
    double *panel = factor + panel_start(i);
    const double *other = factor + panel_start(j);
    Tile tile;
    read_tile(source, i, j, &tile);
    subtract_products(panel, other, j, &tile);
    solve_tile(other + 16 * j, &tile, panel + 16 * j);
}

static void add_shift(const Source *source, size_t i, Tile *tile) {
    for (size_t c = 0; c < 4 && 4 * i + c < source->n; c++) {
        double s = source->shift[source->shift_step * (4 * i + c)];
        KlPair add = {c % 2 == 0 ? s : 0.0, c % 2 == 0 ? 0.0 : s};
        if (c < 2) {
            tile->top[c] += add;
        } else {
            tile->bottom[c] += add;
        }
    }
}

static int32_t make_diagonal(const Source *source, size_t i, double *factor) {
    double *panel = factor + panel_start(i), *diagonal = panel + 16 * i;
    Tile tile;
    read_tile(source, i, i, &tile);
    add_shift(source, i, &tile);
    subtract_products(panel, panel, i, &tile);
    for (size_t c = 0; c < 4; c++) {
        kl_store(diagonal + 4 * c, tile.top[c]);
        kl_store(diagonal + 4 * c + 2, tile.bottom[c]);
    }
    int32_t failed = factor_tile(diagonal);
    return failed >= 0 ? (int32_t)(4 * i) + failed : -1;
}

static int32_t factor_all(const Source *source, double *factor) {
    size_t tiles = (source->n + 3) / 4;
    int32_t failed = -1;
    for (size_t i = 0; i < tiles && failed < 0; i++) {
        for (size_t j = 0; j < i; j++) {
            make_tile(source, i, j, factor);
        }
        failed = make_diagonal(source, i, factor);
    }
    return failed;
}

int32_t kl_llt_factor(const double *a, int32_t n, int32_t stride, double shift, double *factor) {
    return factor_all(&(Source){a, (size_t)n, (size_t)stride, &shift, 0}, factor);
}

int32_t kl_llt_factor_shifted(const double *a, int32_t n, int32_t stride, const double *shift, double *factor) {
    return factor_all(&(Source){a, (size_t)n, (size_t)stride, shift, 1}, factor);
}

static double inverse_root(const double *factor, size_t i) {
    return factor[panel_start(i / 4) + 16 * (i / 4) + 5 * (i % 4)];
}

double kl_llt_least_pivot(const double *factor, int32_t n) {
    double largest = 0.0;
    for (size_t i = 0; i < (size_t)n; i++) {
        double inverse = inverse_root(factor, i);
        largest = inverse > largest ? inverse : largest;
    }
    return 1.0 / (largest * largest);
}

double kl_llt_least_scaled_pivot(const double *factor, int32_t n, const double *size) {
    double largest = 0.0;
    for (size_t i = 0; i < (size_t)n; i++) {
        double scaled = inverse_root(factor, i) * size[i];
        largest = scaled > largest ? scaled : largest;
    }
    return 1.0 / (largest * largest);
}

static void clear_padding(int32_t n, double *x) {
    for (int32_t i = n; i < kl_llt_padded(n); i++) {
        x[i] = 0.0;
    }
}

// Four values stay in registers while their tile is solved: a pair loaded right after its halves were stored
// would wait for both.
void kl_llt_solve_lower(const double *factor, int32_t n, double *x) {
    size_t tiles = ((size_t)n + 3) / 4;
    clear_padding(n, x);
    for (size_t i = 0; i < tiles; i++) {
        const double *l = factor + panel_start(i);
        KlPair top = kl_load(x + 4 * i), bottom = kl_load(x + 4 * i + 2);
        for (size_t k = 0; k < 4 * i; k += 4, l += 16) {
            for (size_t c = 0; c < 4; c++) {
                KlPair known = kl_both(x[k + c]);
                top -= kl_load(l + 4 * c) * known;
                bottom -= kl_load(l + 4 * c + 2) * known;
            }
        }
        double own[4] = {top[0], top[1], bottom[0], bottom[1]};
        for (size_t c = 0; c < 4; c++) {
            own[c] *= l[5 * c];
            for (size_t r = c + 1; r < 4; r++) {
                own[r] -= l[4 * c + r] * own[c];
            }
        }
        kl_store(x + 4 * i, (KlPair){own[0], own[1]});
        kl_store(x + 4 * i + 2, (KlPair){own[2], own[3]});
    }
}

void kl_llt_solve_upper(const double *factor, int32_t n, double *x) {
    size_t tiles = ((size_t)n + 3) / 4;
    clear_padding(n, x);
    for (size_t i = tiles; i-- > 0;) {
        const double *panel = factor + panel_start(i), *l = panel + 16 * i;
        double own[4] = {x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]};
        for (size_t c = 4; c-- > 0;) {
            for (size_t r = c + 1; r < 4; r++) {
                own[c] -= l[4 * c + r] * own[r];
            }
            own[c] *= l[5 * c];
        }
        KlPair top = {own[0], own[1]}, bottom = {own[2], own[3]};
        kl_store(x + 4 * i, top);
        kl_store(x + 4 * i + 2, bottom);
        for (size_t k = 0; k < 4 * i; k += 4, panel += 16) {
            for (size_t c = 0; c < 4; c += 2) {
                const double *column = panel + 4 * c;
                KlPair even = kl_load(column) * top + kl_load(column + 2) * bottom;
                KlPair odd = kl_load(column + 4) * top + kl_load(column + 6) * bottom;
                kl_store(x + k + c, kl_load(x + k + c) - (KlPair){even[0] + even[1], odd[0] + odd[1]});
            }
        }
    }
}

void kl_llt_solve(const double *factor, int32_t n, double *x) {
    kl_llt_solve_lower(factor, n, x);
    kl_llt_solve_upper(factor, n, x);
}
