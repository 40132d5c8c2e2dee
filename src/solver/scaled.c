#include "solver/scaled.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cone/cone.h"
#include "dual/desaxce.h"
#include "dual/storage.h"
#include "math/lanes.h"
#include "math/lu.h"
#include "math/vec.h"

// One copy of what several places call: a page waits for every kilobyte.
#define KL_APART __attribute__((noinline))

static const double ROUNDING = 1e-13;  // of the unit diagonal

static double larger(double a, double b) { return a > b ? a : b; }

void kl_scaled_release(KlScaled *s) {
    kl_block_lu_destroy(s->lu);
    kl_body_system_release(&s->body_system);
    kl_body_gradients_release(&s->gradients);
    void *buffers[] = {s->vectors.at, s->block_laws.at,      s->pattern.at,       s->offsets.at,
                       s->numbers.at, s->delassus_values.at, s->system_values.at, s->work.at,
                       s->flags.at,   s->graph.at,           s->twists.at};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        kl_free(buffers[i]);
    }
    *s = (KlScaled){0};
}

// ---- pattern of D by blocks --------------------------------------------------------------------

void kl_scaled_list_blocks(const KlProblem *p, int32_t *start, int32_t *list) {
    memset(start, 0, ((size_t)p->body_count + 1) * sizeof *start);
    for (int32_t i = 0; i < 2 * p->block_count; i++) {
        if (p->block_body[i] >= 0) {
            start[p->block_body[i] + 1]++;
        }
    }
    for (int32_t b = 0; b < p->body_count; b++) {
        start[b + 1] += start[b];
    }
    for (int32_t i = 0; i < 2 * p->block_count; i++) {
        if (p->block_body[i] >= 0) {
            list[start[p->block_body[i]]++] = i / 2;
        }
    }
    for (int32_t b = p->body_count; b > 0; b--) {
        start[b] = start[b - 1];
    }
    start[0] = 0;
}

// Block row -> block columns, the same for D as given and for its transpose (a CSR with entries
// (block, block) possibly repeated); each fills `start` and `list`.
typedef struct Neighbours {
    const int32_t *start, *list;  // body form: blocks of bodies; explicit: mirrored entries
    const int32_t *block_of;      // explicit: block of each row
} Neighbours;

static void mark_neighbour(int32_t block, int32_t row, int32_t *mark, int32_t *columns, int32_t *count) {
    if (mark[block] != row) {
        mark[block] = row;
        columns[(*count)++] = block;
    }
}

static void find_neighbours(const KlProblem *p, const Neighbours *n, int32_t block, int32_t *mark, int32_t *columns,
                            int32_t *count) {
    *count = 0;
    mark_neighbour(block, block, mark, columns, count);
    if (kl_problem_has_bodies(p)) {
        for (int32_t side = 0; side < 2; side++) {
            int32_t body = p->block_body[2 * block + side];
            for (int32_t e = body >= 0 ? n->start[body] : 0; body >= 0 && e < n->start[body + 1]; e++) {
                mark_neighbour(n->list[e], block, mark, columns, count);
            }
        }
        return;
    }
    for (int32_t e = p->delassus_start[p->block_start[block]]; e < p->delassus_start[p->block_start[block + 1]]; e++) {
        mark_neighbour(n->block_of[p->delassus_index[e]], block, mark, columns, count);
    }
    for (int32_t e = n->start[block]; e < n->start[block + 1]; e++) {
        mark_neighbour(n->list[e], block, mark, columns, count);
    }
}

// For each block column the block rows that hold it: D may be given with an unsymmetric pattern.
static void mirror_entries(const KlProblem *p, const int32_t *block_of, int32_t *start, int32_t *list) {
    memset(start, 0, ((size_t)p->block_count + 1) * sizeof *start);
    int32_t entries = p->delassus_start[p->dim];
    for (int32_t e = 0; e < entries; e++) {
        start[block_of[p->delassus_index[e]] + 1]++;
    }
    for (int32_t b = 0; b < p->block_count; b++) {
        start[b + 1] += start[b];
    }
    for (int32_t row = 0; row < p->dim; row++) {
        for (int32_t e = p->delassus_start[row]; e < p->delassus_start[row + 1]; e++) {
            list[start[block_of[p->delassus_index[e]]]++] = block_of[row];
        }
    }
    for (int32_t b = p->block_count; b > 0; b--) {
        start[b] = start[b - 1];
    }
    start[0] = 0;
}

static bool prepare_neighbours(KlScaled *s, Neighbours *n, int32_t **mark, int32_t **columns) {
    const KlProblem *p = s->problem;
    size_t blocks = (size_t)p->block_count, bodies = (size_t)p->body_count, dim = (size_t)p->dim;
    size_t entries = bodies > 0 ? 0 : (size_t)p->delassus_start[dim];
    if (!KL_ROOM(s->work, 5 * blocks + bodies + dim + entries + 2)) {
        return false;
    }
    *mark = s->work.at;
    *columns = *mark + blocks;
    int32_t *block_of = *columns + blocks, *start = block_of + dim, *list;
    for (size_t b = 0; b < blocks; b++) {
        (*mark)[b] = -1;
    }
    if (bodies > 0) {
        list = start + bodies + 1;
        kl_scaled_list_blocks(p, start, list);
    } else {
        list = start + blocks + 1;
        for (int32_t b = 0; b < p->block_count; b++) {
            for (int32_t row = p->block_start[b]; row < p->block_start[b + 1]; row++) {
                block_of[row] = b;
            }
        }
        mirror_entries(p, block_of, start, list);
    }
    *n = (Neighbours){start, list, block_of};
    return true;
}

// What the pattern follows from: rows of the blocks, then their bodies, or the pattern of D as given.
enum { GRAPH_PARTS = 3 };
typedef struct GraphPart {
    const int32_t *at;
    size_t count;
} GraphPart;

static size_t list_graph(const KlProblem *p, GraphPart part[GRAPH_PARTS]) {
    size_t blocks = (size_t)p->block_count, rows = (size_t)p->dim;
    part[0] = (GraphPart){p->block_start, blocks + 1};
    if (kl_problem_has_bodies(p)) {
        part[1] = (GraphPart){p->block_body, 2 * blocks};
        part[2] = (GraphPart){&p->body_count, 1};
    } else {
        part[1] = (GraphPart){p->delassus_start, rows + 1};
        part[2] = (GraphPart){p->delassus_index, (size_t)p->delassus_start[rows]};
    }
    return part[0].count + part[1].count + part[2].count;
}

static bool same_graph(const KlScaled *s) {
    GraphPart part[GRAPH_PARTS];
    size_t count = list_graph(s->problem, part);
    const int32_t *kept = s->graph.at;
    bool same = s->graph.used == count && s->graph_bodies == kl_problem_has_bodies(s->problem);
    for (int32_t i = 0; i < GRAPH_PARTS && same; i++) {
        same = part[i].count == 0 || memcmp(kept, part[i].at, part[i].count * sizeof *kept) == 0;
        kept += part[i].count;
    }
    return same;
}

static bool keep_graph(KlScaled *s) {
    GraphPart part[GRAPH_PARTS];
    size_t count = list_graph(s->problem, part);
    if (!KL_ROOM(s->graph, count)) {
        return false;
    }
    int32_t *kept = s->graph.at;
    for (int32_t i = 0; i < GRAPH_PARTS; i++) {
        if (part[i].count > 0) {
            memcpy(kept, part[i].at, part[i].count * sizeof *kept);
        }
        kept += part[i].count;
    }
    s->graph.used = count;
    s->graph_bodies = kl_problem_has_bodies(s->problem);
    return true;
}

static KlStatus make_pattern(KlScaled *s) {
    const KlProblem *p = s->problem;
    if (same_graph(s)) {
        s->delassus.block_start = s->system.block_start = p->block_start;
        return KL_OK;
    }
    Neighbours n;
    int32_t *mark, *columns, count;
    s->graph.used = 0;
    if (!prepare_neighbours(s, &n, &mark, &columns)) {
        return KL_ERR_MEMORY;
    }
    size_t blocks = (size_t)p->block_count, entries = 0;
    s->pattern.used = 0;
    for (int32_t b = 0; b < p->block_count; b++) {
        find_neighbours(p, &n, b, mark, columns, &count);
        entries += (size_t)count;
    }
    for (size_t b = 0; b < blocks; b++) {
        mark[b] = -1;
    }
    if (!KL_ROOM(s->pattern, blocks + 1 + 2 * entries) || !KL_ROOM(s->offsets, entries)) {
        return KL_ERR_MEMORY;
    }
    int32_t *row_start = s->pattern.at, *column = row_start + blocks + 1, *transpose = column + entries;
    size_t used = 0;
    int32_t e = 0;
    for (int32_t b = 0; b < p->block_count; b++) {
        row_start[b] = e;
        find_neighbours(p, &n, b, mark, column + e, &count);
        kl_sort_ascending(column + e, count);
        for (int32_t end = e + count; e < end; e++) {
            s->offsets.at[e] = used;
            used += (size_t)kl_block_rows(p, b) * (size_t)kl_block_rows(p, column[e]);
        }
    }
    row_start[blocks] = e;
    s->value_count = used;
    if (!keep_graph(s) || !KL_ROOM(s->delassus_values, used) || !KL_ROOM(s->system_values, used)) {
        return KL_ERR_MEMORY;
    }
    s->delassus = (KlBlockMatrix){p->block_count, p->block_start,       row_start, column, transpose,
                                  s->offsets.at,  s->delassus_values.at};
    kl_block_matrix_mirror(&s->delassus, columns, transpose);
    s->system = s->delassus;
    s->system.values = s->system_values.at;
    return KL_OK;
}

// ---- values of D -------------------------------------------------------------------------------

static bool reserve_bodies(KlScaled *s, size_t bodies, size_t dim) {
    if (bodies == 0) {
        return true;
    }
    bool ok = KL_ROOM(s->numbers, 24 * dim) && KL_ROOM(s->twists, 6 * bodies);
    s->rows = s->numbers.at;
    s->divided = ok ? s->rows + 12 * dim : NULL;
    return ok;
}

// Not in pairs: builds for wider registers take more at a time.
static inline void scale_row(double scale, const double *restrict from, double *restrict to) {
    for (int32_t k = 0; k < 12; k++) {
        to[k] = scale * from[k];
    }
}

// Body space reads scaled rows many times; elsewhere J and J M^-1 are read as they are.
static void scale_rows(KlScaled *s) {
    const double *scale = s->scale, *jacobian = s->jacobian, *reply = s->replies;
    double *rows = s->rows, *divided = s->divided;
    for (int32_t row = 0, dim = s->dim; row < dim; row++, jacobian += 12, reply += 12, rows += 12, divided += 12) {
        scale_row(scale[row], jacobian, rows);
        scale_row(scale[row], reply, divided);
    }
}

// Rows (12 apart) times columns (12 apart), six or twelve numbers each; two columns at a time. (Rows in locals, since
// what is stored may be anything to the compiler.) `half`: on and above the diagonal, and one before it where that
// makes a pair.
static inline void multiply_rows(const double *rows, int32_t count, const double *columns, int32_t width, bool both,
                                 bool half, bool add, size_t stride, double *to) {
    for (int32_t i = 0; i < count; i++, rows += 12, to += stride) {
        KlSix a = kl_load6(rows), b = both ? kl_load6(rows + 6) : a;
        int32_t j = half ? i & ~1 : 0;
        const double *column = columns + 12 * j;
        for (; j + 2 <= width; j += 2, column += 24) {
            KlPair one = kl_six_times(&a, column), two = kl_six_times(&a, column + 12);
            if (both) {
                one += kl_six_times(&b, column + 6);
                two += kl_six_times(&b, column + 18);
            }
            KlPair product = (KlPair){one[0], two[0]} + (KlPair){one[1], two[1]};
            kl_store(to + j, add ? kl_load(to + j) + product : product);
        }
        if (j < width) {
            KlPair one = kl_six_times(&a, column);
            if (both) {
                one += kl_six_times(&b, column + 6);
            }
            to[j] = add ? to[j] + (one[0] + one[1]) : one[0] + one[1];
        }
    }
}

// Widths that the compiler knows: hinges have five rows, contacts and balls three.
static inline void multiply_wide(const double *rows, int32_t count, const double *columns, int32_t width, bool both,
                                 bool half, size_t stride, double *to) {
    if (width == 5) {
        multiply_rows(rows, count, columns, 5, both, half, false, stride, to);
    } else if (width == 3) {
        multiply_rows(rows, count, columns, 3, both, half, false, stride, to);
    } else {
        multiply_rows(rows, count, columns, width, both, half, false, stride, to);
    }
}

static void multiply_block_rows(const double *rows, int32_t count, const double *columns, int32_t width, bool both,
                                bool half, size_t stride, double *to) {
    if (both && half) {
        multiply_wide(rows, count, columns, width, true, true, stride, to);
    } else if (both) {
        multiply_rows(rows, count, columns, width, true, false, false, stride, to);
    } else if (half) {
        multiply_rows(rows, count, columns, width, false, true, false, stride, to);
    } else {
        multiply_wide(rows, count, columns, width, false, false, stride, to);
    }
}

static void clear_block(int32_t rows, int32_t columns, size_t stride, double *to) {
    for (int32_t i = 0; i < rows; i++, to += stride) {
        kl_lanes_clear(columns, to);
    }
}

// Block (b, c) of J M^-1 J^T: the shares of the bodies that both touch.
KL_APART static void fill_block(const KlScaled *s, int32_t b, int32_t c, bool half, size_t stride, double *to) {
    const int32_t *start = s->problem->block_start, *left = s->problem->block_body + 2 * b;
    const int32_t *right = s->problem->block_body + 2 * c;
    const double *rows = s->jacobian + 12 * (size_t)start[b], *columns = s->replies + 12 * (size_t)start[c];
    int32_t count = start[b + 1] - start[b], width = start[c + 1] - start[c];
    if (left[0] == right[0] && left[1] == right[1] && left[0] >= 0 && left[1] >= 0) {
        multiply_block_rows(rows, count, columns, width, true, half, stride, to);
        return;
    }
    bool first = true;
    for (int32_t side = 0; side < 4; side++) {
        int32_t i = side / 2, j = side % 2;
        if (left[i] != right[j] || left[i] < 0) {
            continue;
        }
        if (first) {
            multiply_block_rows(rows + 6 * i, count, columns + 6 * j, width, false, half, stride, to);
        } else {
            multiply_rows(rows + 6 * i, count, columns + 6 * j, width, false, false, true, stride, to);
        }
        first = false;
    }
    if (first) {
        clear_block(count, width, stride, to);
    }
}

void kl_scaled_give_block(const void *scaled, int32_t b, int32_t c, size_t stride, double *to) {
    fill_block(scaled, b, c, b == c, stride, to);
}

static void scale_block(const double *left, int32_t rows, const double *right, int32_t columns, const double *from,
                        double *to) {
    for (int32_t i = 0; i < rows; i++, from += columns, to += columns) {
        KlPair own = kl_both(left[i]);
        int32_t j = 0;
        for (; j + 2 <= columns; j += 2) {
            kl_store(to + j, own * kl_load(right + j) * kl_load(from + j));
        }
        if (j < columns) {
            to[j] = left[i] * right[j] * from[j];
        }
    }
}

static void mirror_block(const KlBlockMatrix *m, int32_t b, int32_t e) {
    int32_t c = m->column[e], rows = m->block_start[b + 1] - m->block_start[b];
    int32_t columns = m->block_start[c + 1] - m->block_start[c];
    const double *from = m->values + m->offset[e];
    double *to = m->values + m->offset[m->transpose[e]];
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < columns; j++) {
            to[j * rows + i] = from[i * columns + j];
        }
    }
}

static void soften_block(const KlScaled *s, int32_t b, double *diagonal) {
    const double *softness = s->softness + s->problem->block_start[b];
    for (int32_t i = 0, rows = kl_block_rows(s->problem, b); i < rows; i++) {
        diagonal[i * rows + i] += softness[i];
    }
}

// Blocks on and above the diagonal alone; kl_scaled_mirror gives the rest when somebody needs it.
static void fill_from_bodies(KlScaled *s) {
    const KlBlockMatrix *m = &s->delassus;
    for (int32_t b = 0; b < m->block_count; b++) {
        const double *left = s->scale + m->block_start[b];
        int32_t rows = kl_block_rows(s->problem, b);
        for (int32_t e = kl_block_matrix_find(m, b, b); e < m->row_start[b + 1]; e++) {
            int32_t c = m->column[e], columns = kl_block_rows(s->problem, c);
            double *to = m->values + m->offset[e];
            fill_block(s, b, c, false, (size_t)columns, to);
            scale_block(left, rows, s->scale + m->block_start[c], columns, to, to);
            if (c == b) {
                soften_block(s, b, to);
            }
        }
    }
}

void kl_scaled_fill(KlScaled *s) {
    if (!s->filled) {
        fill_from_bodies(s);
        s->filled = true;
        s->mirrored = false;
    }
}

void kl_scaled_mirror(KlScaled *s) {
    const KlBlockMatrix *m = &s->delassus;
    kl_scaled_fill(s);
    for (int32_t b = 0; b < m->block_count && !s->mirrored; b++) {
        for (int32_t e = m->row_start[b]; e < m->row_start[b + 1]; e++) {
            if (m->column[e] > b) {
                mirror_block(m, b, e);
            }
        }
    }
    s->mirrored = true;
}

static void fill_from_entries(KlScaled *s, int32_t *entry_of) {
    const KlProblem *p = s->problem;
    const KlBlockMatrix *m = &s->delassus;
    for (int32_t b = 0; b < p->block_count; b++) {
        for (int32_t e = m->row_start[b]; e < m->row_start[b + 1]; e++) {
            for (int32_t row = p->block_start[m->column[e]]; row < p->block_start[m->column[e] + 1]; row++) {
                entry_of[row] = e;
            }
        }
        int32_t first = p->block_start[b];
        for (int32_t row = first; row < p->block_start[b + 1]; row++) {
            for (int32_t k = p->delassus_start[row]; k < p->delassus_start[row + 1]; k++) {
                int32_t j = p->delassus_index[k], e = entry_of[j], c = m->column[e];
                size_t columns = (size_t)kl_block_rows(p, c);
                m->values[m->offset[e] + (size_t)(row - first) * columns + (size_t)(j - p->block_start[c])] +=
                    s->scale[row] * p->delassus_value[k] * s->scale[j];
            }
        }
    }
}

// The largest entry of D - D^T, as D is given.
static double measure_asymmetry(const KlScaled *s) {
    const KlBlockMatrix *m = &s->delassus;
    double most = 0.0;
    for (int32_t b = 0; b < m->block_count; b++) {
        int32_t rows = m->block_start[b + 1] - m->block_start[b];
        for (int32_t e = m->row_start[b]; e < m->row_start[b + 1]; e++) {
            int32_t c = m->column[e], columns = m->block_start[c + 1] - m->block_start[c];
            const double *here = m->values + m->offset[e], *there = m->values + m->offset[m->transpose[e]];
            for (int32_t i = 0; i < rows && c >= b; i++) {
                for (int32_t j = 0; j < columns; j++) {
                    double difference = fabs(here[i * columns + j] - there[j * rows + i]);
                    most = most >= difference ? most : difference;
                }
            }
        }
    }
    return most;
}

static double *diagonal_block(const KlBlockMatrix *m, int32_t b) {
    return m->values + m->offset[kl_block_matrix_find(m, b, b)];
}

// ---- taking the problem in ---------------------------------------------------------------------

static bool lay_out(KlScaled *s) {
    size_t dim = (size_t)s->dim, limits = (size_t)s->limits, contacts = (size_t)s->contacts;
    // One more than needed: an offset into no array at all would be undefined.
    if (!KL_ROOM(s->vectors, 12 * dim + 1) || !KL_ROOM(s->block_laws, 2 * limits + 27 * contacts + 1) ||
        !KL_ROOM(s->flags, contacts + 1)) {
        return false;
    }
    double *at = s->vectors.at;
    double **vectors[] = {&s->scale,         &s->inverse_scale, &s->weight,     &s->velocity_unit,
                          &s->free_velocity, &s->lambda,        &s->compliance, &s->softness,
                          &s->product,       &s->residual,      &s->reply,      &s->laws.joint_shift};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++, at += dim) {
        *vectors[i] = at;
    }
    at = s->block_laws.at;
    s->laws = (KlLaws){.joint_shift = s->laws.joint_shift,
                       .limit_take = at,
                       .limit_add = at + limits,
                       .contact_take = at + 2 * limits,
                       .contact_add = at + 2 * limits + 9 * contacts,
                       .contact_inverse = at + 2 * limits + 18 * contacts,
                       .contact_exact = s->flags.at};
    return true;
}

KlStatus kl_scaled_reserve(KlScaled *s, const KlCapacity *capacity, KlFactorization where) {
    size_t dim = (size_t)capacity->dim, blocks = (size_t)capacity->block_count;
    size_t bodies = (size_t)capacity->size.body_count;
    if (s->lu == NULL) {
        KL_TRY(kl_block_lu_create(&s->lu));
    }
    s->graph.used = 0;
    s->dim = capacity->dim;
    s->limits = capacity->size.limit_count;
    s->contacts = capacity->size.contact_count;
    if (!lay_out(s) || !KL_ROOM(s->work, 5 * blocks + bodies + dim + (size_t)capacity->size.nonzeros + 2) ||
        !reserve_bodies(s, bodies, dim)) {
        return KL_ERR_MEMORY;
    }
    if (where == KL_FACTOR_SMALL) {
        return KL_ROOM(s->delassus_values, 2 * dim * dim) ? KL_OK : KL_ERR_MEMORY;
    }
    if (where == KL_FACTOR_ITERATIVE || 6 * bodies > KL_SCALED_DENSE) {
        KL_TRY(kl_body_gradients_reserve(&s->gradients, s->dim, s->contacts, capacity->size.body_count));
    }
    if (where == KL_FACTOR_ITERATIVE) {
        return KL_OK;
    }
    if (bodies > 0 && 6 * bodies <= KL_SCALED_DENSE) {
        KL_TRY(kl_body_system_reserve(&s->body_system, capacity));
    }
    int32_t rows = kl_scaled_dense_rows(capacity), dense_blocks = kl_scaled_dense_blocks(capacity);
    size_t entries = (size_t)dense_blocks * (size_t)dense_blocks, values = (size_t)rows * (size_t)rows;
    bool ok = KL_ROOM(s->pattern, (size_t)dense_blocks + 1 + 2 * entries) && KL_ROOM(s->offsets, entries) &&
              KL_ROOM(s->delassus_values, values) && KL_ROOM(s->system_values, values) &&
              KL_ROOM(s->graph, 3 * blocks + dim + (size_t)capacity->size.nonzeros + 2);
    return ok ? kl_block_lu_reserve(s->lu, rows, dense_blocks, entries) : KL_ERR_MEMORY;
}

// Rows of joints in pairs while D's diagonal is positive there; returns how many.
static int32_t choose_joint_scale(KlScaled *s, const KlProblemStorage *storage, KlLargest *largest,
                                  KlLargest *report_size) {
    const double *diagonal = storage->diagonal, *report = storage->scale;
    const double *softening = s->problem->softening, *given = s->problem->free_velocity;
    double *scale = s->scale, *weight = s->weight, *softness = s->softness, *velocity = s->free_velocity;
    double *inverse_scale = s->inverse_scale;
    int32_t i = 0, end = s->first_limit & ~1;
    for (; i < end && diagonal[i] > 0.0 && diagonal[i + 1] > 0.0; i += 2) {
        KlPair d = kl_load(diagonal + i), p = kl_root(kl_both(1.0) / d), inverse = d * p, v = kl_load(given + i);
        KlPair scaled = p * v;
        kl_store(scale + i, p);
        kl_store(weight + i, kl_load(report + i) * inverse);
        kl_store(softness + i, p * kl_load(softening + i) * p);
        kl_store(velocity + i, scaled);
        kl_store(inverse_scale + i, inverse);
        kl_largest_take(largest, scaled);
        kl_largest_take(report_size, kl_load(report + i) * v);
    }
    return i;
}

static void choose_scale(KlScaled *s, const KlProblemStorage *storage) {
    const double *diagonal = storage->diagonal, *report = storage->scale;
    const double *softening = s->problem->softening, *given = s->problem->free_velocity;
    double *scale = s->scale, *weight = s->weight, *softness = s->softness, *velocity = s->free_velocity;
    double *velocity_unit = s->velocity_unit, *inverse_scale = s->inverse_scale;
    KlLargest joints = {0}, joint_report = {0};
    int32_t i = choose_joint_scale(s, storage, &joints, &joint_report);
    double largest = kl_largest(&joints), report_size = larger(kl_largest(&joint_report), DBL_MIN);
    for (; i < s->dim; i++) {
        bool own = i < s->first_limit && diagonal[i] > 0.0;
        double p = sqrt(own ? 1.0 / diagonal[i] : report[i]), inverse = own ? diagonal[i] * p : 1.0 / p;
        scale[i] = p;
        weight[i] = own ? report[i] * inverse : p;
        softness[i] = p * softening[i] * p;
        velocity[i] = p * given[i];
        inverse_scale[i] = inverse;
        largest = larger(largest, fabs(velocity[i]));
        report_size = larger(report_size, report[i] * fabs(given[i]));
    }
    s->report_size = report_size;
    s->unit = largest > 0.0 ? largest : 1.0;
    double unit = s->unit;
    for (i = 0; i + 2 <= s->dim; i += 2) {
        kl_store(velocity + i, kl_load(velocity + i) / kl_both(unit));
        kl_store(velocity_unit + i, kl_load(inverse_scale + i) * kl_both(unit));
    }
    if (i < s->dim) {
        velocity[i] /= unit;
        velocity_unit[i] = inverse_scale[i] * unit;
    }
}

// Measured crossover (docs/performance.md): below, the graph of constraints is as cheap and more
// accurate.
static bool bodies_pay(const KlProblem *p) {
    enum { LEAST_ROWS = 160 };
    bool reserved = 6 * p->body_count <= KL_SCALED_DENSE;  // which the blocks of so many rows are not
    return p->dim > LEAST_ROWS && (p->dim > 8 * p->body_count || (p->dim > KL_SCALED_DENSE && reserved));
}

// Where the factor holds so many numbers more than J, conjugate gradients are faster (measured, piles in space alone).
static bool gradients_pay(const KlScaled *s) {
    enum { FILL = 5 };
    bool contacts = 2 * s->first_contact < s->dim, reserved = 6 * s->problem->body_count <= KL_SCALED_DENSE;
    size_t numbers = kl_block_lu_nonzeros(s->bodies ? s->body_system.lu : s->lu);
    return contacts && !reserved && numbers > FILL * 12 * (size_t)s->dim;
}

static KlStatus begin_gradients(KlScaled *s) {
    bool scaled = s->bodies;
    s->bodies = true;
    if (!kl_problem_has_bodies(s->problem)) {
        return kl_fail(KL_ERR_ARGUMENT, "factorization = iterative needs bodies; this problem has D alone");
    }
    if (!scaled) {
        scale_rows(s);
    }
    return kl_body_gradients_begin(&s->gradients, s);
}

static KlStatus begin_constraints(KlScaled *s, bool cholesky, bool dense) {
    KL_TRY(make_pattern(s));
    if (kl_problem_has_bodies(s->problem)) {
        s->filled = s->mirrored = false;
    } else {
        memset(s->delassus.values, 0, s->value_count * sizeof *s->delassus.values);
        fill_from_entries(s, s->work.at);
        s->asymmetry = measure_asymmetry(s);
        s->symmetric = s->asymmetry <= ROUNDING;
        s->filled = s->mirrored = true;
        for (int32_t b = 0; b < s->problem->block_count; b++) {
            soften_block(s, b, diagonal_block(&s->delassus, b));
        }
    }
    s->cholesky = cholesky && s->symmetric;
    return kl_block_lu_plan(s->lu, &s->system, s->cholesky, dense);
}

static KlStatus begin_small(KlScaled *s) {
    const KlProblem *p = s->problem;
    size_t dim = (size_t)s->dim;
    if (!KL_ROOM(s->delassus_values, 2 * dim * dim) || !KL_ROOM(s->work, dim)) {
        return KL_ERR_MEMORY;
    }
    s->dense = s->delassus_values.at;
    s->dense_system = s->dense + dim * dim;
    s->exchange = s->work.at;
    s->graph.used = 0;
    for (int32_t i = 0; i < s->dim; i++) {
        double *row = s->dense + (size_t)i * dim;
        scale_block(s->scale + i, 1, s->scale, s->dim, p->delassus_value + p->delassus_start[i], row);
        row[i] += s->softness[i];
    }
    return KL_OK;
}

KlStatus kl_scaled_begin(KlScaled *s, const KlProblem *problem, bool cholesky, KlFactorization where) {
    if (s->lu == NULL) {
        KL_TRY(kl_block_lu_create(&s->lu));
    }
    s->problem = problem;
    s->dim = problem->dim;
    s->first_limit = kl_first_limit_row(problem);
    s->first_contact = kl_first_contact_row(problem);
    s->limits = problem->limit_count;
    s->contacts = problem->contact_count;
    s->factorizations = 0;
    s->factored = false;
    s->asymmetry = 0.0;
    if (!lay_out(s)) {
        return KL_ERR_MEMORY;
    }
    const KlProblemStorage *storage = kl_problem_divide(problem);
    choose_scale(s, storage);
    bool has_bodies = kl_problem_has_bodies(problem);
    s->jacobian = problem->jacobian;
    s->replies = storage->divided;
    memset(s->compliance, 0, (size_t)s->dim * sizeof *s->compliance);
    s->symmetric = true;
    s->iterative = where == KL_FACTOR_ITERATIVE;
    s->small = where == KL_FACTOR_SMALL;
    s->bodies = has_bodies && (where == KL_FACTOR_BODIES || (where == KL_FACTOR_AUTO && bodies_pay(problem)));
    s->least_shift = s->bodies ? 1e-10 : 1e-13;  // rounding over the shift is what a solution loses
    if (!reserve_bodies(s, (size_t)problem->body_count, (size_t)s->dim)) {
        return KL_ERR_MEMORY;
    }
    if (s->small) {
        return begin_small(s);
    }
    if (s->bodies) {
        scale_rows(s);
    }
    if (!s->iterative) {
        KL_TRY(s->bodies ? kl_body_system_begin(&s->body_system, s, cholesky)
                         : begin_constraints(s, cholesky, where == KL_FACTOR_DENSE));
        s->iterative = where == KL_FACTOR_AUTO && cholesky && gradients_pay(s);
    }
    return s->iterative ? begin_gradients(s) : kl_block_lu_room(s->bodies ? s->body_system.lu : s->lu);
}

// A joint row moves by its reaction through both its bodies. The lighter one's reply may be a million
// times the heavier one's, which carries the load: the heavier one's tells what counts as small.
KL_APART static double heavier_reply(const KlScaled *s, int32_t row) {
    const double *jacobian = s->jacobian + 12 * (size_t)row, *replies = s->replies + 12 * (size_t)row;
    double reply = INFINITY;
    for (int32_t side = 0; side < 2; side++) {
        double own = kl_lanes_dot6(jacobian + 6 * side, replies + 6 * side);
        reply = own > 0.0 && own < reply ? own : reply;
    }
    return isfinite(reply) ? s->scale[row] * reply * s->scale[row] : 0.0;
}

void kl_scaled_soften_joints(KlScaled *s, double share) {
    const KlProblem *p = s->problem;
    for (int32_t b = 0; b < p->joint_count && kl_problem_has_bodies(p); b++) {
        int32_t rows = kl_block_rows(p, b);
        double *diagonal = s->bodies || !s->filled ? NULL : diagonal_block(&s->delassus, b);
        for (int32_t i = 0; i < rows; i++) {
            int32_t row = p->block_start[b] + i;
            double before = s->compliance[row];
            s->compliance[row] = share > 0.0 ? share * heavier_reply(s, row) : 0.0;
            s->softness[row] = s->scale[row] * p->softening[row] * s->scale[row] + s->compliance[row];
            if (diagonal != NULL) {
                diagonal[i * rows + i] += s->compliance[row] - before;
            }
        }
    }
}

// ---- products ----------------------------------------------------------------------------------

void kl_scaled_from_reaction(const KlScaled *s, const double *lambda, double *x) {
    int32_t i = 0, dim = s->dim;
    const double *scale = s->scale;
    KlPair unit = kl_both(s->unit);
    for (; i + 2 <= dim; i += 2) {
        kl_store(x + i, kl_load(lambda + i) / (kl_load(scale + i) * unit));
    }
    if (i < dim) {
        x[i] = lambda[i] / (scale[i] * s->unit);
    }
}

void kl_scaled_to_reaction(const KlScaled *s, const double *x, double *lambda) {
    int32_t i = 0, dim = s->dim;
    const double *scale = s->scale;
    KlPair unit = kl_both(s->unit);
    for (; i + 2 <= dim; i += 2) {
        kl_store(lambda + i, kl_load(scale + i) * unit * kl_load(x + i));
    }
    if (i < dim) {
        lambda[i] = scale[i] * s->unit * x[i];
    }
}

static void multiply_block(const double *a, int32_t rows, int32_t columns, const double *x, double *y) {
    if (rows == 3 && columns == 3) {
        y[0] += a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
        y[1] += a[3] * x[0] + a[4] * x[1] + a[5] * x[2];
        y[2] += a[6] * x[0] + a[7] * x[1] + a[8] * x[2];
        return;
    }
    for (int32_t i = 0; i < rows; i++, a += columns) {
        double sum = 0.0;
        for (int32_t j = 0; j < columns; j++) {
            sum += a[j] * x[j];
        }
        y[i] += sum;
    }
}

static void multiply_blocks(const KlBlockMatrix *m, const double *x, double *product) {
    const int32_t *start = m->block_start;
    for (int32_t b = 0; b < m->block_count; b++) {
        int32_t rows = start[b + 1] - start[b];
        double *y = product + start[b];
        memset(y, 0, (size_t)rows * sizeof *y);
        for (int32_t e = m->row_start[b]; e < m->row_start[b + 1]; e++) {
            int32_t c = m->column[e];
            multiply_block(m->values + m->offset[e], rows, start[c + 1] - start[c], x + start[c], y);
        }
    }
}

static void multiply_dense(const KlScaled *s, const double *x, double *product) {
    size_t dim = (size_t)s->dim, i = 0;
    for (; i + 2 <= dim; i += 2) {
        kl_store(product + i, kl_lanes_two_dots(x, s->dense + i * dim, s->dense + (i + 1) * dim, s->dim));
    }
    if (i < dim) {
        product[i] = kl_lanes_dot(s->dense + i * dim, x, s->dim);
    }
}

// du += (J M^-1)^T lambda, rows scaled or not
static void push_bodies(KlScaled *s, const double *divided, const double *lambda) {
    const KlProblem *p = s->problem;
    memset(s->twists.at, 0, 6 * (size_t)p->body_count * sizeof *s->twists.at);
    for (int32_t b = 0; b < p->block_count; b++) {
        int32_t first = p->block_start[b], rows = p->block_start[b + 1] - first;
        for (int32_t side = 0; side < 2; side++) {
            int32_t body = p->block_body[2 * b + side];
            if (body >= 0) {
                kl_lanes_push(divided + 12 * (size_t)first + 6 * side, lambda + first, rows,
                              s->twists.at + 6 * (size_t)body);
            }
        }
    }
}

// J du, times p where rows are as given, + R x; rows of J or p J, twists of their two bodies
static inline void pull_block(const KlScaled *s, const double *row, const double *const du[2], bool given,
                              int32_t first, int32_t end, const double *x, double *product) {
    KlSix one = kl_load6(du[0]), two = kl_load6(du[1]);
    const double *scale = s->scale, *softness = s->softness;
    for (int32_t i = first; i < end; i++, row += 12) {
        KlPair moved = kl_six_times(&one, row) + kl_six_times(&two, row + 6);
        double sum = moved[0] + moved[1];
        product[i] = (given ? scale[i] * sum : sum) + softness[i] * x[i];
    }
}

static inline void pull_bodies(const KlScaled *s, const double *rows, bool given, const double *x, double *product) {
    const KlProblem *p = s->problem;
    for (int32_t b = 0; b < p->block_count; b++) {
        int32_t first = p->block_start[b];
        const double *du[2];
        kl_block_twists(p, b, s->twists.at, du);
        pull_block(s, rows + 12 * (size_t)first, du, given, first, p->block_start[b + 1], x, product);
    }
}

// Scaled rows: p J M^-1 J^T p x + R x
static void multiply_scaled(KlScaled *s, const double *x, double *product) {
    push_bodies(s, s->divided, x);
    pull_bodies(s, s->rows, false, x, product);
}

// The same of rows as given.
static void multiply_given(KlScaled *s, const double *x, double *product) {
    const double *scale = s->scale;
    double *lambda = s->lambda;
    int32_t i = 0, dim = s->dim;
    for (; i + 2 <= dim; i += 2) {
        kl_store(lambda + i, kl_load(scale + i) * kl_load(x + i));
    }
    if (i < dim) {
        lambda[i] = scale[i] * x[i];
    }
    push_bodies(s, s->replies, lambda);
    pull_bodies(s, s->jacobian, true, x, product);
}

// Through the bodies where there are any: J M^-1 J^T keeps small sums of large forces that D has
// lost.
void kl_scaled_multiply(KlScaled *s, const double *x, double *product) {
    if (s->small) {
        multiply_dense(s, x, product);
        return;
    }
    if (!kl_problem_has_bodies(s->problem)) {
        multiply_blocks(&s->delassus, x, product);
        return;
    }
    if (s->iterative) {
        kl_body_gradients_multiply(&s->gradients, s, x, product);
        for (int32_t i = 0; i < s->dim; i++) {
            product[i] += s->softness[i] * x[i];
        }
        return;
    }
    if (s->bodies) {
        multiply_scaled(s, x, product);
    } else {
        multiply_given(s, x, product);
    }
}

static bool is_zero(const double *x, int32_t count) {
    int32_t i = 0;
    while (i < count && x[i] == 0.0) {
        i++;
    }
    return i == count;
}

void kl_scaled_velocity(KlScaled *s, const double *x, double *velocity) {
    if (is_zero(x, s->dim)) {  // as every cold start is
        memset(velocity, 0, (size_t)s->dim * sizeof *velocity);
    } else {
        kl_scaled_multiply(s, x, velocity);
    }
    kl_lanes_add(s->free_velocity, s->dim, velocity);
}

// ---- natural map -------------------------------------------------------------------------------

void kl_scaled_project(const KlScaled *s, double *x) {
    kl_project_orthant(x + s->first_limit, s->limits);
    kl_project_coulomb_all(s->problem->friction, x + s->first_contact, s->contacts);
}

double kl_scaled_natural(const KlScaled *s, const double *x, const double *velocity, double *natural) {
    kl_lanes_subtract(x, velocity, s->dim, natural);
    for (int32_t k = 0; k < s->contacts; k++) {
        int32_t row = s->first_contact + 3 * k;
        natural[row + 2] -= kl_desaxce_normal(s->problem->friction[k], velocity + row);
    }
    kl_scaled_project(s, natural);
    kl_lanes_subtract(x, natural, s->dim, natural);
    return sqrt(kl_lanes_dot(natural, natural, s->dim));
}

void kl_scaled_report(const KlScaled *s, const double *x, const double *velocity, KlRun *run) {
    kl_scaled_to_reaction(s, x, run->lambda);
    int32_t i = 0, dim = s->dim;
    const double *compliance = s->compliance, *unit = s->velocity_unit;
    double *given = run->velocity;
    for (; i + 2 <= dim; i += 2) {
        KlPair stiff = kl_load(velocity + i) - kl_load(compliance + i) * kl_load(x + i);
        kl_store(given + i, stiff * kl_load(unit + i));
    }
    if (i < dim) {
        given[i] = (velocity[i] - compliance[i] * x[i]) * unit[i];
    }
    run->velocity_known = true;
    kl_run_residuals(run, given, true);
    run->factorizations = s->factorizations;
}

double kl_scaled_natural_relative(const KlScaled *s, const double *x, const double *natural) {
    KlLargest error = {0}, size = {0};
    int32_t i = 0;
    for (; i + 2 <= s->dim; i += 2) {
        KlPair own = kl_load(x + i), soft = kl_load(s->compliance + i) * own;
        kl_largest_take(&error, kl_load(s->weight + i) * (kl_load(natural + i) - soft));
        kl_largest_take(&size, kl_load(s->scale + i) * own);
    }
    if (i < s->dim) {
        kl_largest_take(&error, kl_both(s->weight[i] * (natural[i] - s->compliance[i] * x[i])));
        kl_largest_take(&size, kl_both(s->scale[i] * x[i]));
    }
    return kl_largest(&error) / larger(kl_largest(&size), s->report_size / s->unit);
}

// ---- linear systems ----------------------------------------------------------------------------

KL_APART static void take_block(const double *take, const double *from, int32_t columns,
                                double *to) {  // 3 x columns
    for (int32_t i = 0; i < 3; i++, take += 3) {
        for (int32_t j = 0; j < columns; j++) {
            *to++ = take[0] * from[j] + take[1] * from[columns + j] + take[2] * from[2 * columns + j];
        }
    }
}

static bool is_identity(const double a[9]) {
    return a[0] == 1.0 && a[4] == 1.0 && a[8] == 1.0 && a[1] == 0.0 && a[2] == 0.0 && a[3] == 0.0 && a[5] == 0.0 &&
           a[6] == 0.0 && a[7] == 0.0;
}

static size_t row_values(const KlBlockMatrix *m, int32_t b,
                         size_t *first) {  // entries of one block row
    int32_t last = m->row_start[b + 1] - 1, c = m->column[last];
    size_t rows = (size_t)(m->block_start[b + 1] - m->block_start[b]);
    *first = m->offset[m->row_start[b]];
    return m->offset[last] + rows * (size_t)(m->block_start[c + 1] - m->block_start[c]) - *first;
}

static void form_contact_row(KlScaled *s, int32_t b, int32_t contact) {
    const KlBlockMatrix *m = &s->system;
    const double *take = s->laws.contact_take + 9 * (size_t)contact;
    const double *add = s->laws.contact_add + 9 * (size_t)contact;
    size_t first, count = row_values(m, b, &first);
    if (is_identity(take)) {
        memcpy(m->values + first, s->delassus.values + first, count * sizeof *m->values);
    } else {
        for (int32_t e = m->row_start[b]; e < m->row_start[b + 1]; e++) {
            int32_t c = m->column[e], columns = m->block_start[c + 1] - m->block_start[c];
            take_block(take, s->delassus.values + m->offset[e], columns, m->values + m->offset[e]);
        }
    }
    double *diagonal = diagonal_block(m, b);
    for (int32_t i = 0; i < 9; i++) {
        diagonal[i] += add[i];
    }
}

static void form_system(KlScaled *s) {
    const KlProblem *p = s->problem;
    const KlBlockMatrix *m = &s->system;
    for (int32_t b = 0; b < p->block_count; b++) {
        KlBlockKind kind = kl_block_kind(p, b);
        if (kind == KL_BLOCK_CONTACT) {
            form_contact_row(s, b, kl_block_contact(p, b));
            continue;
        }
        int32_t limit = b - p->joint_count;
        double take = kind == KL_BLOCK_LIMIT ? s->laws.limit_take[limit] : 1.0;
        const double *add =
            kind == KL_BLOCK_LIMIT ? &s->laws.limit_add[limit] : s->laws.joint_shift + p->block_start[b];
        size_t first, count = row_values(m, b, &first);
        for (size_t i = 0; i < count; i++) {
            m->values[first + i] = take * s->delassus.values[first + i];
        }
        double *diagonal = diagonal_block(m, b);
        for (int32_t i = 0, rows = kl_block_rows(p, b); i < rows; i++) {
            diagonal[i * rows + i] += add[i];
        }
    }
}

// Rows of T D + A of a contact: (3 x dim)
static void form_dense_contact(const KlScaled *s, int32_t contact, const double *from, double *to) {
    const double *take = s->laws.contact_take + 9 * (size_t)contact, *add = s->laws.contact_add + 9 * (size_t)contact;
    int32_t first = s->first_contact + 3 * contact;
    if (is_identity(take)) {
        kl_lanes_copy(from, 3 * s->dim, to);
    } else {
        take_block(take, from, s->dim, to);
    }
    for (int32_t i = 0; i < 9; i++) {
        to[i / 3 * s->dim + first + i % 3] += add[i];
    }
}

static bool factor_dense(KlScaled *s) {
    size_t dim = (size_t)s->dim;
    for (int32_t i = 0; i < s->first_contact; i++) {
        double *row = s->dense_system + (size_t)i * dim;
        bool joint = i < s->first_limit;
        double take = joint ? 1.0 : s->laws.limit_take[i - s->first_limit];
        for (size_t j = 0; j < dim; j++) {
            row[j] = take * s->dense[(size_t)i * dim + j];
        }
        row[i] += joint ? s->laws.joint_shift[i] : s->laws.limit_add[i - s->first_limit];
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        size_t first = (size_t)(s->first_contact + 3 * k) * dim;
        form_dense_contact(s, k, s->dense + first, s->dense_system + first);
    }
    s->least_pivot = kl_lu_factor(s->dense_system, s->dim, s->exchange);
    return s->least_pivot > 0.0;
}

bool kl_scaled_factor(KlScaled *s) {
    s->factorizations++;
    if (s->small) {
        s->factored = factor_dense(s);
        return s->factored;
    }
    if (s->bodies) {
        return kl_body_system_factor(&s->body_system, s);
    }
    kl_scaled_mirror(s);
    form_system(s);
    s->factored = kl_block_lu_factor(s->lu, &s->system);
    return s->factored;
}

// product = (T D + A) x
static void apply_system(KlScaled *s, const double *x, double *product) {
    const KlLaws *laws = &s->laws;
    kl_scaled_multiply(s, x, product);
    for (int32_t i = 0; i < s->first_limit; i++) {
        product[i] += laws->joint_shift[i] * x[i];
    }
    for (int32_t k = 0; k < s->limits; k++) {
        int32_t row = s->first_limit + k;
        product[row] = laws->limit_take[k] * product[row] + laws->limit_add[k] * x[row];
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        const double *t = laws->contact_take + 9 * (size_t)k, *a = laws->contact_add + 9 * (size_t)k;
        double *y = product + s->first_contact + 3 * k;
        const double *z = x + s->first_contact + 3 * k;
        double v[3] = {y[0], y[1], y[2]};
        for (int32_t i = 0; i < 3; i++, t += 3, a += 3) {
            y[i] = (t[0] * v[0] + t[1] * v[1] + t[2] * v[2]) + (a[0] * z[0] + a[1] * z[1] + a[2] * z[2]);
        }
    }
}

static void solve_factored(KlScaled *s, double *x) {
    if (s->small) {
        kl_lu_solve(s->dense_system, s->dim, s->exchange, x);
    } else if (s->bodies) {
        kl_body_system_solve(&s->body_system, s, x);
    } else {
        kl_block_lu_solve(s->lu, x);
    }
}

// b - (T D + A) x into s->residual; returns its size.
static double measure_residual(KlScaled *s, const double *b, const double *x) {
    double largest = 0.0;
    apply_system(s, x, s->product);
    for (int32_t i = 0; i < s->dim; i++) {
        s->residual[i] = b[i] - s->product[i];
        largest = larger(largest, fabs(s->residual[i]));
    }
    return largest;
}

// Body space loses more to rounding (the shift is divided by) and is refined until that is mended.
enum { BODY_REFINEMENTS = 4 };
static const double REFINED = 1e-13;  // of b: what a solution in the space of constraints leaves

void kl_scaled_solve(KlScaled *s, const double *b, int32_t refinements, double *x) {
    memcpy(x, b, (size_t)s->dim * sizeof *x);
    solve_factored(s, x);
    double size = 0.0;
    for (int32_t i = 0; i < s->dim; i++) {
        size = larger(size, fabs(b[i]));
    }
    for (int32_t round = 0; round < (s->bodies ? BODY_REFINEMENTS : refinements); round++) {
        double left = measure_residual(s, b, x);
        if (s->bodies && left <= REFINED * size) {
            return;
        }
        solve_factored(s, s->residual);
        for (int32_t i = 0; i < s->dim; i++) {
            x[i] += s->residual[i];
        }
    }
}

bool kl_scaled_is_regular(const KlScaled *s) {
    return s->factored && (s->small ? s->least_pivot : kl_block_lu_least_pivot(s->lu)) >= KL_REGULAR_PIVOT;
}

bool kl_scaled_factor_shifted(KlScaled *s, double joint_shift, double shift) {
    s->factorizations++;
    s->factored = false;
    if (s->small) {
        kl_lanes_copy(s->dense, s->dim * s->dim, s->dense_system);
        for (int32_t i = 0; i < s->dim; i++) {
            s->dense_system[i * s->dim + i] += i < s->first_limit ? joint_shift : shift;
        }
        return kl_lu_factor(s->dense_system, s->dim, s->exchange) > 0.0;
    }
    if (s->iterative) {
        return kl_body_gradients_shift(&s->gradients, s, joint_shift, shift);
    }
    if (s->bodies) {
        return kl_body_system_factor_shifted(&s->body_system, s, joint_shift, shift);
    }
    kl_scaled_fill(s);
    if (!s->cholesky) {
        kl_scaled_mirror(s);
    }
    for (int32_t i = 0; i < s->dim; i++) {
        s->residual[i] = i < s->first_limit ? joint_shift : shift;
    }
    return kl_block_lu_factor_shifted(s->lu, &s->delassus, s->residual, NULL);
}

void kl_scaled_solve_shifted(KlScaled *s, double accuracy, double *x) {
    if (s->iterative) {
        kl_body_gradients_solve(&s->gradients, s, accuracy, x);
    } else {
        solve_factored(s, x);
    }
}
