// The Delassus matrix by constraint blocks: pattern from shared bodies (or from the entries of D).
#include <string.h>

#include "dual/delassus.h"

KlStatus kl_block_matrix_reserve(KlBlockMatrix *m, const KlProblemSize *size, int64_t pairs, int64_t values) {
    int64_t blocks = kl_size_blocks(size), rows = kl_size_rows(size);
    kl_block_matrix_free(m);
    pairs = pairs > 0 ? pairs : blocks * blocks;
    values = values > 0 ? values : rows * rows;
    if (pairs > INT32_MAX || values > INT32_MAX) {
        return kl_fail(KL_ERR_LIMIT, "a Delassus matrix of %lld couplings and %lld numbers is too large",
                       (long long)pairs, (long long)values);
    }
    KlArena *arena = &m->arena;
    m->capacity = *size;
    m->pair_capacity = (int32_t)pairs;
    m->value_capacity = (int32_t)values;
    m->start = KL_ARENA_ARRAY(arena, int32_t, blocks + 1);
    m->column = KL_ARENA_ARRAY(arena, int32_t, pairs);
    m->offset = KL_ARENA_ARRAY(arena, int32_t, pairs);
    m->value = KL_ARENA_ARRAY(arena, double, values);
    m->cursor = KL_ARENA_ARRAY(arena, int32_t, blocks);
    m->mark = KL_ARENA_ARRAY(arena, int32_t, blocks);
    m->row_block = KL_ARENA_ARRAY(arena, int32_t, rows);
    m->body_start = KL_ARENA_ARRAY(arena, int32_t, size->body_count + 2);
    m->body_block = KL_ARENA_ARRAY(arena, int32_t, 2 * blocks);
    KlStatus status = kl_arena_check(arena);
    if (status != KL_OK) {
        kl_block_matrix_free(m);
    }
    return status;
}

void kl_block_matrix_free(KlBlockMatrix *m) {
    kl_arena_free(&m->arena);
    memset(m, 0, sizeof *m);
}

static bool add_pair(KlBlockMatrix *m, int32_t column, int32_t *pair) {
    if (*pair == m->pair_capacity) {
        return false;
    }
    m->column[(*pair)++] = column;
    return true;
}

// body_block lists the blocks of each body, ascending (counting sort).
static void list_blocks_of_bodies(KlBlockMatrix *m, const KlProblem *p) {
    int32_t *start = m->body_start;
    memset(start, 0, ((size_t)p->body_count + 2) * sizeof *start);
    for (int32_t e = 0; e < 2 * p->block_count; e++) {
        if (p->block_body[e] >= 0) {
            start[p->block_body[e] + 2]++;
        }
    }
    for (int32_t i = 0; i < p->body_count; i++) {
        start[i + 2] += start[i + 1];
    }
    for (int32_t e = 0; e < 2 * p->block_count; e++) {
        if (p->block_body[e] >= 0) {
            m->body_block[start[p->block_body[e] + 1]++] = e / 2;
        }
    }
}

// Merges the two ascending lists of a block's bodies.
static bool add_row_of_bodies(KlBlockMatrix *m, const KlProblem *p, int32_t block, int32_t *pair) {
    int32_t at[2], end[2];
    for (int32_t side = 0; side < 2; side++) {
        int32_t body = p->block_body[2 * block + side];
        at[side] = body >= 0 ? m->body_start[body] : 0;
        end[side] = body >= 0 ? m->body_start[body + 1] : 0;
    }
    while (at[0] < end[0] || at[1] < end[1]) {
        int32_t a = at[0] < end[0] ? m->body_block[at[0]] : INT32_MAX;
        int32_t b = at[1] < end[1] ? m->body_block[at[1]] : INT32_MAX;
        if (!add_pair(m, a < b ? a : b, pair)) {
            return false;
        }
        at[0] += a <= b;
        at[1] += b <= a;
    }
    return true;
}

static void sort_columns(int32_t *column, int32_t count) {
    for (int32_t i = 1; i < count; i++) {
        int32_t value = column[i], j = i;
        for (; j > 0 && column[j - 1] > value; j--) {
            column[j] = column[j - 1];
        }
        column[j] = value;
    }
}

// The blocks that the block's CSR rows reach, and the block itself.
static bool add_row_of_entries(KlBlockMatrix *m, const KlProblem *p, int32_t block, int32_t *pair) {
    int32_t first = *pair;
    m->mark[block] = block + 1;
    if (!add_pair(m, block, pair)) {
        return false;
    }
    for (int32_t row = p->block_start[block]; row < p->block_start[block + 1]; row++) {
        for (int32_t e = p->delassus_start[row]; e < p->delassus_start[row + 1]; e++) {
            int32_t other = m->row_block[p->delassus_index[e]];
            if (m->mark[other] != block + 1) {
                m->mark[other] = block + 1;
                if (!add_pair(m, other, pair)) {
                    return false;
                }
            }
        }
    }
    sort_columns(m->column + first, *pair - first);
    return true;
}

static bool find_pattern(KlBlockMatrix *m, const KlProblem *p) {
    bool bodies = kl_problem_has_bodies(p);
    int32_t pair = 0;
    int64_t value = 0;
    if (bodies) {
        list_blocks_of_bodies(m, p);
    } else {
        memset(m->mark, 0, (size_t)p->block_count * sizeof *m->mark);
        for (int32_t b = 0; b < p->block_count; b++) {
            for (int32_t row = p->block_start[b]; row < p->block_start[b + 1]; row++) {
                m->row_block[row] = b;
            }
        }
    }
    m->start[0] = 0;
    for (int32_t b = 0; b < p->block_count; b++) {
        if (!(bodies ? add_row_of_bodies(m, p, b, &pair) : add_row_of_entries(m, p, b, &pair))) {
            return false;
        }
        m->start[b + 1] = pair;
        for (int32_t e = m->start[b]; e < pair; e++) {
            m->offset[e] = (int32_t)value;
            value += (int64_t)kl_block_rows(p, b) * kl_block_rows(p, m->column[e]);
            if (value > m->value_capacity) {
                return false;
            }
        }
    }
    return true;
}

static void transpose(const double *from, int32_t rows, int32_t columns, double *to) {
    for (int32_t r = 0; r < rows; r++) {
        for (int32_t c = 0; c < columns; c++) {
            to[(size_t)c * (size_t)rows + (size_t)r] = from[(size_t)r * (size_t)columns + (size_t)c];
        }
    }
}

// Below the diagonal the body form mirrors: cursor[k] walks along row k as the rows under it arrive.
static void fill_values(KlBlockMatrix *m, const KlProblem *p) {
    bool mirrored = kl_problem_has_bodies(p);
    for (int32_t j = 0; j < p->block_count; j++) {
        m->cursor[j] = m->start[j + 1];
        for (int32_t e = m->start[j]; e < m->start[j + 1]; e++) {
            int32_t k = m->column[e];
            if (mirrored && k < j) {
                const double *upper = m->value + m->offset[m->cursor[k]++];
                transpose(upper, kl_block_rows(p, k), kl_block_rows(p, j), m->value + m->offset[e]);
                continue;
            }
            m->cursor[j] = k == j ? e + 1 : m->cursor[j];
            kl_problem_block_pair(p, j, k, m->value + m->offset[e]);
        }
    }
}

KlStatus kl_block_matrix_fill(KlBlockMatrix *m, const KlProblem *p) {
    bool fits = p->block_count <= kl_size_blocks(&m->capacity) && p->dim <= kl_size_rows(&m->capacity) &&
                p->body_count <= m->capacity.body_count;
    if (m->start == NULL || !fits || !find_pattern(m, p)) {
        m->block_count = 0;
        return kl_fail(KL_ERR_LIMIT, "the Delassus matrix of %d rows needs more than its reserve (%d couplings)",
                       (int)p->dim, (int)m->pair_capacity);
    }
    m->block_count = p->block_count;
    fill_values(m, p);
    return KL_OK;
}

void kl_block_matrix_row(const KlBlockMatrix *m, const KlProblem *p, int32_t block, const double *x, double *y) {
    int32_t rows = kl_block_rows(p, block);
    memset(y, 0, (size_t)rows * sizeof *y);
    for (int32_t e = m->start[block]; e < m->start[block + 1]; e++) {
        int32_t columns = kl_block_rows(p, m->column[e]);
        const double *d = m->value + m->offset[e], *part = x + kl_block_first(p, m->column[e]);
        for (int32_t r = 0; r < rows; r++) {
            for (int32_t c = 0; c < columns; c++) {
                y[r] += d[(size_t)r * (size_t)columns + (size_t)c] * part[c];
            }
        }
    }
}

void kl_block_matrix_multiply(const KlBlockMatrix *m, const KlProblem *p, const double *x, double *y) {
    for (int32_t b = 0; b < m->block_count; b++) {
        kl_block_matrix_row(m, p, b, x, y + kl_block_first(p, b));
    }
}

const double *kl_block_matrix_diagonal(const KlBlockMatrix *m, int32_t block) {
    int32_t e = m->start[block];
    while (m->column[e] != block) {
        e++;
    }
    return m->value + m->offset[e];
}
