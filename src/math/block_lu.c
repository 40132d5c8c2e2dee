// Multifrontal LU and Cholesky on blocks. Vocabulary: a front is a dense matrix over the rows that
// one group of pivots touches; eliminating its pivots leaves an update matrix, which the parent
// front adds in.
#include "math/block_lu.h"

#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/status.h"
#include "math/lanes.h"
#include "math/ordering.h"

enum { TREE_ARRAYS = 9, WORK_ARRAYS = TREE_ARRAYS + 3 };  // ints per block during analysis
// Pivots eliminated together: their rows stay in cache while the rest is updated.
enum { PANEL = 8, SMALL_PANEL = 4, SMALL_FRONT = 48 };

typedef struct Front {
    int32_t first,
        pivot_blocks;               // pivot blocks first .. first + pivot_blocks - 1 in elimination order
    int32_t row_begin, row_blocks;  // in rows: the blocks below the pivots
    int32_t pivots, size;           // scalar rows: of the pivots, of the front
    int32_t stride;                 // of its rows: size made even, so that all begin where pairs are loaded
    int32_t parent;                 // front, -1 at a root
    int32_t scalar_first;           // elimination position of the first pivot row
    int32_t scalar_begin;           // in scalar_rows: positions of the rows below
    int32_t plan_begin, plan_end;   // entries of A that this front assembles
    int32_t run_begin, run_end;     // how its update matrix lands in the parent
    size_t upper, lower;            // in factor: (pivots x stride) and (size - pivots x pivots)
    size_t update, children;        // in stack: where the update matrix waits; entries of the children's
} Front;

typedef struct Plan {      // one block of A in a front
    int32_t entry;         // of the matrix
    int32_t block, other;  // its row and column of blocks; of a symmetric one below the diagonal the transpose is read
    int32_t row, column;   // scalar place in the front
} Plan;

typedef struct Run {  // consecutive rows of the update matrix that stay consecutive in the parent
    int32_t from, to, count;
} Run;

struct KlBlockLu {
    bool analyzed, symmetric, whole;
    int32_t blocks, rows, fronts;
    KL_BUFFER(int32_t) pattern;      // a copy: block_start, row_start, column
    KL_BUFFER(int32_t) ints;         // work per block
    KL_BUFFER(int32_t) structure;    // column structures during analysis
    KL_BUFFER(int32_t) block_rows;   // rows of the fronts, as block positions
    KL_BUFFER(int32_t) scalar_rows;  // the same as scalar positions
    KL_BUFFER(Front) front;
    KL_BUFFER(Plan) plan;
    KL_BUFFER(Run) run;
    KL_BUFFER(double) factor;
    KL_BUFFER(double) dense;                      // the front in work
    KL_BUFFER(double) stack;                      // update matrices waiting for their parents
    KL_BUFFER(double) vector;                     // right-hand side in elimination order, then a front's rows
    KL_BUFFER(int32_t) exchange;                  // (rows) row taken as pivot, inside its front
    KL_BUFFER(int32_t) scalar_order;              // (rows) row of A at each elimination position
    int32_t *position, *order, *scalar_position;  // in ints
    KlOrderingWork ordering;
    size_t numbers, room, largest,
        deepest;  // entries of the factor, with room for its last fronts; of dense and of stack
    double flops, least_pivot;
};

// ---- patterns ----------------------------------------------------------------------------------

int32_t kl_block_matrix_find(const KlBlockMatrix *m, int32_t row, int32_t column) {
    int32_t low = m->row_start[row], high = m->row_start[row + 1];
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (m->column[middle] <= column) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

void kl_block_matrix_mirror(const KlBlockMatrix *m, int32_t *next, int32_t *transpose) {
    memcpy(next, m->row_start, (size_t)m->block_count * sizeof *next);
    for (int32_t e = 0; e < m->row_start[m->block_count]; e++) {  // rows ascend, so mirrored entries come in order
        transpose[e] = next[m->column[e]]++;
    }
}

void kl_sort_ascending(int32_t *list, int32_t count) {
    for (int32_t i = 1; i < count; i++) {
        int32_t value = list[i], j = i;
        for (; j > 0 && list[j - 1] > value; j--) {
            list[j] = list[j - 1];
        }
        list[j] = value;
    }
}

// ---- memory ------------------------------------------------------------------------------------

KlStatus kl_block_lu_create(KlBlockLu **lu) {
    *lu = kl_alloc(sizeof **lu);
    return *lu != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory for a factor");
}

void kl_block_lu_destroy(KlBlockLu *lu) {
    if (lu == NULL) {
        return;
    }
    void *buffers[] = {lu->pattern.at, lu->ints.at,   lu->structure.at, lu->block_rows.at,  lu->scalar_rows.at,
                       lu->front.at,   lu->plan.at,   lu->run.at,       lu->factor.at,      lu->dense.at,
                       lu->stack.at,   lu->vector.at, lu->exchange.at,  lu->scalar_order.at};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        kl_free(buffers[i]);
    }
    kl_ordering_release(&lu->ordering);
    kl_free(lu);
}

KlStatus kl_block_lu_reserve(KlBlockLu *lu, int32_t rows, int32_t blocks, size_t entries) {
    size_t n = (size_t)rows, b = (size_t)blocks, squares = b * b;
    bool ok = KL_ROOM(lu->pattern, 2 * (b + 1) + entries) && KL_ROOM(lu->ints, WORK_ARRAYS * b) &&
              KL_ROOM(lu->structure, squares + b) && KL_ROOM(lu->block_rows, squares) &&
              KL_ROOM(lu->scalar_rows, b * n) && KL_ROOM(lu->front, b) && KL_ROOM(lu->plan, entries + 2) &&
              KL_ROOM(lu->run, squares) && KL_ROOM(lu->factor, n * (n + 1)) && KL_ROOM(lu->dense, n * (n + 1)) &&
              KL_ROOM(lu->stack, 2 * n * n) && KL_ROOM(lu->vector, 2 * n + 1) && KL_ROOM(lu->exchange, n) &&
              KL_ROOM(lu->scalar_order, n);
    return ok ? kl_ordering_reserve(&lu->ordering, blocks, entries, rows) : KL_ERR_MEMORY;
}

size_t kl_block_lu_nonzeros(const KlBlockLu *lu) { return lu->numbers; }
double kl_block_lu_least_pivot(const KlBlockLu *lu) { return lu->least_pivot; }
double kl_block_lu_flops(const KlBlockLu *lu) { return lu->flops; }

// ---- symbolic ----------------------------------------------------------------------------------

static bool same_pattern(const KlBlockLu *lu, const KlBlockMatrix *m, bool symmetric, bool dense) {
    size_t blocks = (size_t)m->block_count, entries = (size_t)m->row_start[blocks];
    if (!lu->analyzed || lu->symmetric != symmetric || lu->whole != dense || lu->blocks != m->block_count ||
        lu->pattern.used != 2 * (blocks + 1) + entries) {
        return false;
    }
    const int32_t *kept = lu->pattern.at;
    return memcmp(kept, m->block_start, (blocks + 1) * sizeof *kept) == 0 &&
           memcmp(kept + blocks + 1, m->row_start, (blocks + 1) * sizeof *kept) == 0 &&
           memcmp(kept + 2 * (blocks + 1), m->column, entries * sizeof *kept) == 0;
}

static bool keep_pattern(KlBlockLu *lu, const KlBlockMatrix *m) {
    size_t blocks = (size_t)m->block_count, entries = (size_t)m->row_start[blocks];
    lu->pattern.used = 0;
    if (!KL_ROOM(lu->pattern, 2 * (blocks + 1) + entries)) {
        return false;
    }
    int32_t *kept = lu->pattern.at;
    memcpy(kept, m->block_start, (blocks + 1) * sizeof *kept);
    memcpy(kept + blocks + 1, m->row_start, (blocks + 1) * sizeof *kept);
    memcpy(kept + 2 * (blocks + 1), m->column, entries * sizeof *kept);
    lu->pattern.used = 2 * (blocks + 1) + entries;
    return true;
}

static int32_t block_rows(const KlBlockMatrix *m, int32_t b) { return m->block_start[b + 1] - m->block_start[b]; }

// Work arrays of one int per block during analysis.
typedef struct Tree {
    int32_t *parent, *ancestor, *child, *sibling, *stack, *mark, *begin, *count, *weight;
} Tree;

// Elimination tree of the permuted pattern (Liu, 1990), with path compression.
static void elimination_tree(const KlBlockLu *lu, const KlBlockMatrix *m, Tree *t) {
    for (int32_t k = 0; k < lu->blocks; k++) {
        int32_t b = lu->order[k];
        t->parent[k] = -1;
        t->ancestor[k] = -1;
        for (int32_t e = m->row_start[b]; e < m->row_start[b + 1]; e++) {
            int32_t i = lu->position[m->column[e]];
            while (i >= 0 && i < k) {
                int32_t next = t->ancestor[i];
                t->ancestor[i] = k;
                if (next < 0) {
                    t->parent[i] = k;
                }
                i = next;
            }
        }
    }
}

static void invert_order(KlBlockLu *lu) {
    for (int32_t k = 0; k < lu->blocks; k++) {
        lu->position[lu->order[k]] = k;
    }
}

// Renumbers so that each subtree is contiguous: fronts can then use a stack.
static void postorder(KlBlockLu *lu, Tree *t) {
    int32_t count = lu->blocks, *renumbered = t->mark, done = 0;
    for (int32_t k = 0; k < count; k++) {
        t->child[k] = -1;
    }
    for (int32_t k = count - 1; k >= 0; k--) {
        if (t->parent[k] >= 0) {
            t->sibling[k] = t->child[t->parent[k]];
            t->child[t->parent[k]] = k;
        }
    }
    for (int32_t root = 0; root < count; root++) {
        if (t->parent[root] >= 0) {
            continue;
        }
        int32_t depth = 0;
        t->stack[depth++] = root;
        while (depth > 0) {
            int32_t k = t->stack[depth - 1], c = t->child[k];
            if (c >= 0) {
                t->child[k] = t->sibling[c];
                t->stack[depth++] = c;
            } else {
                renumbered[done++] = lu->order[k];
                depth--;
            }
        }
    }
    memcpy(lu->order, renumbered, (size_t)count * sizeof *lu->order);
    invert_order(lu);
}

static void sort_positions(int32_t *list, int32_t count) {  // heap sort: in place, no libc callback
    for (int32_t end = count, begin = count / 2; end > 1;) {
        int32_t root, value;
        if (begin > 0) {
            root = --begin;
            value = list[root];
        } else {
            value = list[--end];
            list[end] = list[0];
            root = 0;
        }
        for (int32_t child = 2 * root + 1; child < end; child = 2 * root + 1) {
            if (child + 1 < end && list[child + 1] > list[child]) {
                child++;
            }
            if (list[child] <= value) {
                break;
            }
            list[root] = list[child];
            root = child;
        }
        list[root] = value;
    }
}

// Structure below the diagonal of every block column, as positions.
static bool column_structures(KlBlockLu *lu, const KlBlockMatrix *m, Tree *t) {
    int32_t count = lu->blocks;
    lu->structure.used = 0;
    for (int32_t k = 0; k < count; k++) {
        t->child[k] = -1;
        t->mark[k] = -1;
    }
    for (int32_t k = 0; k < count; k++) {
        size_t bound = lu->structure.used + (size_t)count;
        if (!KL_ROOM(lu->structure, bound)) {
            return false;
        }
        int32_t *list = lu->structure.at + lu->structure.used, size = 0;
        int32_t b = lu->order[k];
        t->mark[k] = k;
        t->weight[k] = 0;
        for (int32_t e = m->row_start[b]; e < m->row_start[b + 1]; e++) {
            int32_t i = lu->position[m->column[e]];
            if (i > k && t->mark[i] != k) {
                t->mark[i] = k;
                list[size++] = i;
            }
        }
        for (int32_t c = t->child[k]; c >= 0; c = t->sibling[c]) {
            const int32_t *below = lu->structure.at + t->begin[c];
            for (int32_t s = 0; s < t->count[c]; s++) {
                if (t->mark[below[s]] != k) {
                    t->mark[below[s]] = k;
                    list[size++] = below[s];
                }
            }
        }
        sort_positions(list, size);
        for (int32_t s = 0; s < size; s++) {
            t->weight[k] += block_rows(m, lu->order[list[s]]);
        }
        t->begin[k] = (int32_t)lu->structure.used;
        t->count[k] = size;
        t->parent[k] = size > 0 ? list[0] : -1;
        if (size > 0) {
            t->sibling[k] = t->child[list[0]];
            t->child[list[0]] = k;
        }
        lu->structure.used += (size_t)size;
    }
    return true;
}

// May the pivots first .. k - 1 and k form one front? Exactly when no zero is stored, and also when
// the zeros are few: small fronts cost more in bookkeeping than in arithmetic.
static bool joins(const KlBlockMatrix *m, const KlBlockLu *lu, const Tree *t, int32_t k, int32_t pivots, double zeros,
                  double *more) {
    if (t->parent[k - 1] != k) {
        return false;
    }
    int32_t rows = block_rows(m, lu->order[k]);
    int32_t extra = rows + t->weight[k] - t->weight[k - 1];
    *more = (double)extra * pivots;
    double size = (double)(pivots + rows) * (pivots + rows + t->weight[k]);
    return extra == 0 || zeros + *more <= 0.15 * size || (pivots + rows <= 6 && zeros + *more <= 0.4 * size);
}

static bool make_fronts(KlBlockLu *lu, const KlBlockMatrix *m, Tree *t) {
    if (!KL_ROOM(lu->front, lu->blocks) || !KL_ROOM(lu->block_rows, lu->structure.used) ||
        !KL_ROOM(lu->exchange, lu->rows)) {
        return false;
    }
    int32_t *front_of = t->ancestor;
    lu->fronts = 0;
    lu->block_rows.used = 0;
    int32_t scalar = 0;
    for (int32_t first = 0, end; first < lu->blocks; first = end) {
        int32_t pivots = block_rows(m, lu->order[first]);
        double zeros = 0.0, more = 0.0;
        for (end = first + 1; end < lu->blocks && joins(m, lu, t, end, pivots, zeros, &more); end++) {
            pivots += block_rows(m, lu->order[end]);
            zeros += more;
        }
        Front *f = &lu->front.at[lu->fronts];
        *f = (Front){.first = first, .pivot_blocks = end - first, .pivots = pivots, .scalar_first = scalar};
        f->row_begin = (int32_t)lu->block_rows.used;
        f->row_blocks = t->count[end - 1];
        f->size = pivots + t->weight[end - 1];
        f->parent = t->parent[end - 1];  // a pivot for now
        memcpy(lu->block_rows.at + f->row_begin, lu->structure.at + t->begin[end - 1],
               (size_t)f->row_blocks * sizeof *lu->block_rows.at);
        lu->block_rows.used += (size_t)f->row_blocks;
        for (int32_t k = first; k < end; k++) {
            front_of[k] = lu->fronts;
        }
        scalar += pivots;
        lu->fronts++;
    }
    for (int32_t i = 0; i < lu->fronts; i++) {
        Front *f = &lu->front.at[i];
        f->parent = f->parent >= 0 ? front_of[f->parent] : -1;
    }
    return true;
}

static bool one_front(KlBlockLu *lu) {
    if (!KL_ROOM(lu->front, 1) || !KL_ROOM(lu->exchange, lu->rows)) {
        return false;
    }
    lu->front.at[0] = (Front){.pivot_blocks = lu->blocks, .pivots = lu->rows, .size = lu->rows, .parent = -1};
    lu->fronts = lu->blocks > 0 ? 1 : 0;
    return true;
}

static void number_rows(KlBlockLu *lu, const KlBlockMatrix *m) {
    int32_t next = 0;
    for (int32_t k = 0; k < lu->blocks; k++) {
        int32_t b = lu->order[k];
        lu->scalar_position[k] = next;
        for (int32_t row = m->block_start[b]; row < m->block_start[b + 1]; row++) {
            lu->scalar_order.at[next++] = row;
        }
    }
}

// place[k] = scalar row of block position k inside the front.
static void place_blocks(const KlBlockLu *lu, const KlBlockMatrix *m, const Front *f, int32_t *place) {
    int32_t at = 0;
    for (int32_t k = f->first; k < f->first + f->pivot_blocks; k++) {
        place[k] = at;
        at += block_rows(m, lu->order[k]);
    }
    for (int32_t s = 0; s < f->row_blocks; s++) {
        int32_t k = lu->block_rows.at[f->row_begin + s];
        place[k] = at;
        at += block_rows(m, lu->order[k]);
    }
}

static bool plan_front(KlBlockLu *lu, const KlBlockMatrix *m, Front *f, const int32_t *place) {
    f->plan_begin = (int32_t)lu->plan.used;
    for (int32_t k = f->first; k < f->first + f->pivot_blocks; k++) {
        int32_t b = lu->order[k];
        for (int32_t e = m->row_start[b]; e < m->row_start[b + 1]; e++) {
            int32_t c = m->column[e], j = lu->position[c];
            if (j < k) {
                continue;
            }
            if (!KL_ROOM(lu->plan, lu->plan.used + 2)) {
                return false;
            }
            bool below = lu->symmetric && c < b;
            lu->plan.at[lu->plan.used++] = (Plan){below ? m->transpose[e] : e, b, c, place[k], place[j]};
            if (j > k && !lu->symmetric) {
                lu->plan.at[lu->plan.used++] = (Plan){m->transpose[e], c, b, place[j], place[k]};
            }
        }
    }
    f->plan_end = (int32_t)lu->plan.used;
    return true;
}

// Adds the runs of child front c into its parent, whose blocks `place` holds.
static bool plan_child(KlBlockLu *lu, const KlBlockMatrix *m, Front *c, const int32_t *place) {
    c->run_begin = (int32_t)lu->run.used;
    int32_t from = 0;
    for (int32_t s = 0; s < c->row_blocks; s++) {
        int32_t k = lu->block_rows.at[c->row_begin + s], rows = block_rows(m, lu->order[k]);
        Run *last = lu->run.used > (size_t)c->run_begin ? &lu->run.at[lu->run.used - 1] : NULL;
        if (last != NULL && last->to + last->count == place[k]) {
            last->count += rows;
        } else {
            if (!KL_ROOM(lu->run, lu->run.used + 1)) {
                return false;
            }
            lu->run.at[lu->run.used++] = (Run){from, place[k], rows};
        }
        from += rows;
    }
    c->run_end = (int32_t)lu->run.used;
    return true;
}

static bool plan_fronts(KlBlockLu *lu, const KlBlockMatrix *m, Tree *t) {
    int32_t *first_child = t->child, *next_child = t->sibling, *place = t->mark;
    lu->plan.used = 0;
    lu->run.used = 0;
    for (int32_t i = 0; i < lu->fronts; i++) {
        first_child[i] = -1;
    }
    for (int32_t i = lu->fronts - 1; i >= 0; i--) {
        int32_t parent = lu->front.at[i].parent;
        if (parent >= 0) {
            next_child[i] = first_child[parent];
            first_child[parent] = i;
        }
    }
    for (int32_t i = 0; i < lu->fronts; i++) {
        Front *f = &lu->front.at[i];
        place_blocks(lu, m, f, place);
        if (!plan_front(lu, m, f, place)) {
            return false;
        }
        for (int32_t c = first_child[i]; c >= 0; c = next_child[c]) {
            if (!plan_child(lu, m, &lu->front.at[c], place)) {
                return false;
            }
        }
    }
    return true;
}

// Places in the factor and on the stack, and the arithmetic.
static bool lay_out_numbers(KlBlockLu *lu) {
    size_t factor = 0, scalars = 0, depth = 0;
    lu->room = lu->largest = lu->deepest = 0;
    lu->flops = 0.0;
    for (int32_t i = 0; i < lu->fronts; i++) {
        Front *f = &lu->front.at[i];
        size_t below = (size_t)(f->size - f->pivots), numbers;
        f->stride = f->size + f->size % 2;
        numbers = (size_t)f->size * (size_t)f->stride;
        f->upper = factor;
        lu->room = lu->room > factor + numbers ? lu->room : factor + numbers;
        factor += (size_t)f->pivots * (size_t)f->stride;
        f->lower = factor;
        factor += lu->symmetric ? 0 : below * (size_t)f->pivots;
        f->scalar_begin = (int32_t)scalars;
        scalars += below;
        lu->largest = lu->largest > numbers || lu->symmetric ? lu->largest : numbers;
        f->update = depth - f->children;
        depth = f->update + below * below;
        lu->deepest = lu->deepest > depth ? lu->deepest : depth;
        if (f->parent >= 0) {
            lu->front.at[f->parent].children += below * below;
        }
        double p = f->pivots, n = f->size;
        lu->flops += (lu->symmetric ? 0.5 : 1.0) * (p * n * n - p * p * n + p * p * p / 3.0);
    }
    lu->numbers = factor;
    lu->room = lu->symmetric ? lu->room : factor;
    return KL_ROOM(lu->scalar_rows, scalars) && KL_ROOM(lu->vector, 2 * (size_t)lu->rows + 1) &&
           KL_ROOM(lu->scalar_order, lu->rows);
}

static void list_scalar_rows(KlBlockLu *lu, const KlBlockMatrix *m) {
    for (int32_t i = 0; i < lu->fronts; i++) {
        const Front *f = &lu->front.at[i];
        int32_t *out = lu->scalar_rows.at + f->scalar_begin;
        for (int32_t s = 0; s < f->row_blocks; s++) {
            int32_t k = lu->block_rows.at[f->row_begin + s];
            for (int32_t r = 0; r < block_rows(m, lu->order[k]); r++) {
                *out++ = lu->scalar_position[k] + r;
            }
        }
    }
}

KlStatus kl_block_lu_plan(KlBlockLu *lu, const KlBlockMatrix *matrix, bool symmetric, bool dense) {
    if (same_pattern(lu, matrix, symmetric, dense)) {
        return KL_OK;
    }
    lu->analyzed = false;
    lu->symmetric = symmetric;
    lu->whole = dense;
    lu->blocks = matrix->block_count;
    lu->rows = matrix->block_start[matrix->block_count];
    size_t blocks = (size_t)lu->blocks;
    if (!keep_pattern(lu, matrix) || !KL_ROOM(lu->ints, WORK_ARRAYS * blocks)) {
        return KL_ERR_MEMORY;
    }
    int32_t *ints = lu->ints.at;
    lu->position = ints;
    lu->order = ints + blocks;
    lu->scalar_position = ints + 2 * blocks;
    int32_t *w = ints + 3 * blocks;
    Tree t = {w,
              w + blocks,
              w + 2 * blocks,
              w + 3 * blocks,
              w + 4 * blocks,
              w + 5 * blocks,
              w + 6 * blocks,
              w + 7 * blocks,
              w + 8 * blocks};
    for (int32_t b = 0; b < lu->blocks; b++) {
        t.weight[b] = block_rows(matrix, b);
    }
    KlGraph graph = {lu->blocks, matrix->row_start, matrix->column, t.weight};
    if (dense) {
        for (int32_t b = 0; b < lu->blocks; b++) {
            lu->order[b] = b;
        }
        invert_order(lu);
    } else {
        KL_TRY(kl_minimum_degree(&graph, &lu->ordering, lu->order));
        invert_order(lu);
        elimination_tree(lu, matrix, &t);
        postorder(lu, &t);
    }
    if (!(dense ? one_front(lu) : column_structures(lu, matrix, &t) && make_fronts(lu, matrix, &t)) ||
        !plan_fronts(lu, matrix, &t) || !lay_out_numbers(lu)) {
        return KL_ERR_MEMORY;
    }
    number_rows(lu, matrix);
    list_scalar_rows(lu, matrix);
    lu->analyzed = true;
    return KL_OK;
}

KlStatus kl_block_lu_room(KlBlockLu *lu) {
    bool ok = KL_ROOM(lu->factor, lu->room) && KL_ROOM(lu->dense, lu->largest) && KL_ROOM(lu->stack, lu->deepest);
    return ok ? KL_OK : KL_ERR_MEMORY;
}

KlStatus kl_block_lu_analyze(KlBlockLu *lu, const KlBlockMatrix *matrix, bool symmetric, bool dense) {
    KL_TRY(kl_block_lu_plan(lu, matrix, symmetric, dense));
    return kl_block_lu_room(lu);
}

// ---- numeric: a front --------------------------------------------------------------------------

static inline void copy_rows(const double *from, int32_t rows, int32_t columns, int32_t stride, double *to) {
    for (int32_t r = 0; r < rows; r++, from += columns, to += stride) {
        kl_lanes_copy(from, columns, to);
    }
}

// The transpose of `columns` rows, two of them at a time.
static inline void copy_turned(const double *from, int32_t rows, int32_t columns, int32_t stride, double *to) {
    int32_t c = 0;
    for (; c + 2 <= columns; c += 2, from += 2 * rows, to += 2) {
        double *row = to;
        for (int32_t r = 0; r < rows; r++, row += stride) {
            kl_store(row, (KlPair){from[r], from[rows + r]});
        }
    }
    for (int32_t r = 0; r < rows && c < columns; r++, to += stride) {
        *to = from[r];
    }
}

// Sizes that the compiler knows where most joints have them: five rows.
static void copy_block(const Plan *plan, const KlBlockMatrix *m, bool symmetric, int32_t stride, double *dense) {
    const double *from = m->values + m->offset[plan->entry];
    double *to = dense + (size_t)plan->row * (size_t)stride + plan->column;
    int32_t rows = block_rows(m, plan->block), columns = block_rows(m, plan->other);
    bool turned = symmetric && plan->other < plan->block, five = rows == 5 && columns == 5;
    if (turned && five) {
        copy_turned(from, 5, 5, stride, to);
    } else if (turned) {
        copy_turned(from, rows, columns, stride, to);
    } else if (five) {
        copy_rows(from, 5, 5, stride, to);
    } else {
        copy_rows(from, rows, columns, stride, to);
    }
}

// The parent's front takes the update matrix in; when symmetric only what lies on or above the
// diagonal counts.
static void add_child(const KlBlockLu *lu, const Front *c, int32_t stride, double *dense) {
    int32_t below = c->size - c->pivots;
    const double *update = lu->stack.at + c->update;
    const Run *begin = lu->run.at + c->run_begin, *end = lu->run.at + c->run_end;
    bool symmetric = lu->symmetric;
    for (const Run *rows = begin; rows < end; rows++) {
        for (int32_t r = 0, count = rows->count, row = rows->from, place = rows->to; r < count; r++) {
            const double *from = update + (size_t)(row + r) * (size_t)below;
            double *to = dense + (size_t)(place + r) * (size_t)stride;
            for (const Run *columns = symmetric ? rows : begin; columns < end; columns++) {
                kl_lanes_add(from + columns->from, columns->count, to + columns->to);
            }
        }
    }
}

// row[begin..end) -= sum over k of c[k] * pivot row k, for eight, four, two and one pivot
static inline void subtract_eight(double *row, const double *u, size_t n, const double *c, int32_t begin, int32_t end) {
    KlPair c0 = kl_both(c[0]), c1 = kl_both(c[1]), c2 = kl_both(c[2]), c3 = kl_both(c[3]);
    KlPair c4 = kl_both(c[4]), c5 = kl_both(c[5]), c6 = kl_both(c[6]), c7 = kl_both(c[7]);
    int32_t j = begin;
    for (; j + 2 <= end; j += 2) {
        const double *v = u + j;
        KlPair low = (c0 * kl_load(v) + c1 * kl_load(v + n)) + (c2 * kl_load(v + 2 * n) + c3 * kl_load(v + 3 * n));
        KlPair high =
            (c4 * kl_load(v + 4 * n) + c5 * kl_load(v + 5 * n)) + (c6 * kl_load(v + 6 * n) + c7 * kl_load(v + 7 * n));
        kl_store(row + j, kl_load(row + j) - (low + high));
    }
    if (j < end) {
        const double *v = u + j;
        double low = (c[0] * v[0] + c[1] * v[n]) + (c[2] * v[2 * n] + c[3] * v[3 * n]);
        double high = (c[4] * v[4 * n] + c[5] * v[5 * n]) + (c[6] * v[6 * n] + c[7] * v[7 * n]);
        row[j] -= low + high;
    }
}

static inline void subtract_four(double *row, const double *u, size_t n, const double *c, int32_t begin, int32_t end) {
    KlPair c0 = kl_both(c[0]), c1 = kl_both(c[1]), c2 = kl_both(c[2]), c3 = kl_both(c[3]);
    int32_t j = begin;
    for (; j + 2 <= end; j += 2) {
        const double *v = u + j;
        KlPair sum = (c0 * kl_load(v) + c1 * kl_load(v + n)) + (c2 * kl_load(v + 2 * n) + c3 * kl_load(v + 3 * n));
        kl_store(row + j, kl_load(row + j) - sum);
    }
    if (j < end) {
        const double *v = u + j;
        row[j] -= (c[0] * v[0] + c[1] * v[n]) + (c[2] * v[2 * n] + c[3] * v[3 * n]);
    }
}

static inline void subtract_two(double *row, const double *u, size_t n, const double *c, int32_t begin, int32_t end) {
    KlPair c0 = kl_both(c[0]), c1 = kl_both(c[1]);
    int32_t j = begin;
    for (; j + 2 <= end; j += 2) {
        kl_store(row + j, kl_load(row + j) - (c0 * kl_load(u + j) + c1 * kl_load(u + n + j)));
    }
    if (j < end) {
        row[j] -= c[0] * u[j] + c[1] * u[n + (size_t)j];
    }
}

static inline void subtract_one(double *row, const double *u, double c, int32_t begin, int32_t end) {
    KlPair factor = kl_both(c);
    int32_t j = begin;
    for (; j + 2 <= end; j += 2) {
        kl_store(row + j, kl_load(row + j) - factor * kl_load(u + j));
    }
    if (j < end) {
        row[j] -= c * u[j];
    }
}

static inline void subtract_rows(double *row, const double *pivot, size_t stride, const double *coefficient,
                                 int32_t count, int32_t begin, int32_t end) {
    int32_t k = 0;
    for (; k + 8 <= count; k += 8) {
        subtract_eight(row, pivot + (size_t)k * stride, stride, coefficient + k, begin, end);
    }
    if (k + 4 <= count) {
        subtract_four(row, pivot + (size_t)k * stride, stride, coefficient + k, begin, end);
        k += 4;
    }
    if (k + 2 <= count) {
        subtract_two(row, pivot + (size_t)k * stride, stride, coefficient + k, begin, end);
        k += 2;
    }
    if (k < count) {
        subtract_one(row, pivot + (size_t)k * stride, coefficient[k], begin, end);
    }
}

static int32_t panel_width(int32_t size, int32_t left) {
    int32_t width = size <= SMALL_FRONT ? SMALL_PANEL : PANEL;
    return left < width ? left : width;
}

static void swap_rows(double *a, double *b, int32_t count) {
    for (int32_t j = 0; j < count; j++) {
        double kept = a[j];
        a[j] = b[j];
        b[j] = kept;
    }
}

// Pivots of a panel: inverse[m] of pivot m, and its row by columns c > m of the panel, over the pivot.
typedef struct Panel {
    double inverse[PANEL], share[PANEL][PANEL];  // share[c][m]
} Panel;

// What the first `count` pivots leave of column c. A row holds multipliers times pivots so far, so that a column
// is met once, when its turn comes.
static inline double leave(const Panel *panel, const double *row, int32_t c, int32_t count) {
    double left = row[c];
    for (int32_t m = 0; m < count; m++) {
        left -= row[m] * panel->share[c][m];
    }
    return left;
}

// Column c of the panel in all rows that may be its pivot; the one with the largest entry.
static inline int32_t meet(double *rows, const Front *f, const Panel *panel, int32_t first, int32_t c) {
    int32_t best = first + c;
    double largest = 0.0, *row = rows + (size_t)c * (size_t)f->stride;
    for (int32_t i = first + c; i < f->pivots; i++, row += f->stride) {
        row[c] = leave(panel, row, c, c);
        if (fabs(row[c]) > largest) {
            largest = fabs(row[c]);
            best = i;
        }
    }
    return best;
}

static int32_t meet_column(double *rows, const Front *f, const Panel *panel, int32_t first, int32_t c) {
    switch (c) {  // counts that the compiler knows: most panels have four columns
        case 0: return meet(rows, f, panel, first, 0);
        case 1: return meet(rows, f, panel, first, 1);
        case 2: return meet(rows, f, panel, first, 2);
        case 3: return meet(rows, f, panel, first, 3);
        default: return meet(rows, f, panel, first, c);
    }
}

// The multipliers of a row below the panel's; `fresh`: its columns have not been met.
static inline void finish_row(const Panel *panel, int32_t width, bool fresh, double *row) {
    for (int32_t c = 1; c < width && fresh; c++) {
        row[c] = leave(panel, row, c, c);
    }
    for (int32_t m = 0; m < width; m++) {
        row[m] *= panel->inverse[m];
    }
}

// Columns first .. first + width - 1 of the rows that hold pivots. False on a zero pivot.
static bool lu_columns(double *dense, const Front *f, int32_t first, int32_t width, int32_t *exchange, Panel *panel,
                       double *least) {
    size_t stride = (size_t)f->stride;
    double *rows = dense + (size_t)first * (stride + 1), *row = rows;
    for (int32_t c = 0; c < width; c++, row += stride) {
        int32_t best = exchange[first + c] = meet_column(rows, f, panel, first, c);
        if (best != first + c) {
            swap_rows(row - first, dense + (size_t)best * stride, f->size);
        }
        if (!(fabs(row[c]) > 0.0)) {
            return false;
        }
        *least = fabs(row[c]) < *least ? fabs(row[c]) : *least;
        row[c] = panel->inverse[c] = 1.0 / row[c];  // all that solutions need
        for (int32_t j = c + 1; j < width; j++) {
            row[j] = leave(panel, row, j, c);
            panel->share[j][c] = row[j] * row[c];
        }
    }
    return true;
}

// The pivots of one front: unit lower L below the diagonal, U above it, the inverse of its diagonal
// on it, the update matrix in the corner.
static bool lu_front(double *dense, const Front *f, int32_t *exchange, double *least) {
    size_t stride = (size_t)f->stride;
    Panel panel;
    for (int32_t first = 0, width; first < f->pivots; first += width) {
        width = panel_width(f->size, f->pivots - first);
        if (!lu_columns(dense, f, first, width, exchange, &panel, least)) {
            return false;
        }
        const double *pivots = dense + (size_t)first * stride;
        for (int32_t i = first + 1; i < f->size; i++) {
            double *row = dense + (size_t)i * stride, *own = row + first;
            int32_t count = i < first + width ? i - first : width;
            if (count == 4) {
                finish_row(&panel, 4, i >= f->pivots, own);
            } else {
                finish_row(&panel, count, i >= f->pivots, own);
            }
            subtract_rows(row, pivots, stride, own, count, first + width, f->size);
        }
    }
    return true;
}

// Cholesky keeps the upper triangle alone: rows of U with A = U^T U, its diagonal inverted. Columns go in pairs that
// begin at even ones, also where that takes one below the diagonal or past the end along: nobody reads those, and
// what one row has stored as a pair the next loads as a pair.

static inline double inverse_root(double pivot) { return 1.0 / sqrt(pivot); }

static inline bool is_positive(double pivot, double *least) {
    *least = pivot < *least ? pivot : *least;
    return pivot > 0.0;
}

// The row of U of the pivot whose diagonal `a` begins.
static bool cholesky_row(double *a, int32_t columns, double *least) {
    double aa = a[0], pa = inverse_root(aa);
    for (int32_t j = 0; j < columns; j += 2) {
        kl_store(a + j, kl_load(a + j) * kl_both(pa));
    }
    a[0] = pa;  // the inverse of the diagonal is all that solutions need
    return is_positive(aa, least);
}

// The same for two pivots and for four, in one passage: the triangle first, then each pair of columns.
static bool cholesky_two_rows(double *a, size_t n, int32_t columns, double *least) {
    double *b = a + n;
    double aa = a[0], pa = inverse_root(aa), ab = a[1] * pa;
    double bb = b[1] - ab * ab, pb = inverse_root(bb);
    if (!is_positive(aa, least) || !is_positive(bb, least)) {
        return false;
    }
    a[0] = pa, a[1] = ab;
    b[1] = pb;
    for (int32_t j = 2; j < columns; j += 2) {
        KlPair x = kl_load(a + j) * kl_both(pa);
        kl_store(a + j, x);
        kl_store(b + j, (kl_load(b + j) - kl_both(ab) * x) * kl_both(pb));
    }
    return true;
}

static bool cholesky_four_rows(double *a, size_t n, int32_t columns, double *least) {
    double *b = a + n, *c = b + n, *d = c + n;
    double aa = a[0], over_a = 1.0 / aa, mb = a[1] * over_a, mc = a[2] * over_a, md = a[3] * over_a;
    double bb = b[1] - a[1] * mb, bc = b[2] - a[2] * mb, bd = b[3] - a[3] * mb, over_b = 1.0 / bb;
    double nc = bc * over_b, nd = bd * over_b;
    double cc = (c[2] - a[2] * mc) - bc * nc, cd = (c[3] - a[3] * mc) - bd * nc;
    double dd = ((d[3] - a[3] * md) - bd * nd) - cd * (cd / cc);
    if (!is_positive(aa, least) || !is_positive(bb, least) || !is_positive(cc, least) || !is_positive(dd, least)) {
        return false;
    }
    double pa = inverse_root(aa), pb = inverse_root(bb), pc = inverse_root(cc), pd = inverse_root(dd);
    double ab = a[1] * pa, ac = a[2] * pa, ad = a[3] * pa;
    bc *= pb, bd *= pb, cd *= pc;
    a[0] = pa, a[1] = ab, a[2] = ac, a[3] = ad;
    b[1] = pb, b[2] = bc, b[3] = bd;
    c[2] = pc, c[3] = cd;
    d[3] = pd;
    for (int32_t j = 4; j < columns; j += 2) {
        KlPair x = kl_load(a + j) * kl_both(pa);
        KlPair y = (kl_load(b + j) - kl_both(ab) * x) * kl_both(pb);
        KlPair z = (kl_load(c + j) - (kl_both(ac) * x + kl_both(bc) * y)) * kl_both(pc);
        kl_store(a + j, x);
        kl_store(b + j, y);
        kl_store(c + j, z);
        kl_store(d + j, ((kl_load(d + j) - (kl_both(ad) * x + kl_both(bd) * y)) - kl_both(cd) * z) * kl_both(pd));
    }
    return true;
}

// Two rows below four pivots; u points into the first pivot's row above them, which holds their multipliers too.
static void subtract_four_from_two(double *row, const double *u, size_t n, int32_t columns) {
    double *next = row + n;
    KlPair c0 = kl_both(u[0]), c1 = kl_both(u[n]), c2 = kl_both(u[2 * n]), c3 = kl_both(u[3 * n]);
    KlPair d0 = kl_both(u[1]), d1 = kl_both(u[n + 1]), d2 = kl_both(u[2 * n + 1]), d3 = kl_both(u[3 * n + 1]);
    for (int32_t j = 0; j < columns; j += 2) {
        const double *v = u + j;
        KlPair v0 = kl_load(v), v1 = kl_load(v + n), v2 = kl_load(v + 2 * n), v3 = kl_load(v + 3 * n);
        kl_store(row + j, kl_load(row + j) - ((c0 * v0 + c1 * v1) + (c2 * v2 + c3 * v3)));
        kl_store(next + j, kl_load(next + j) - ((d0 * v0 + d1 * v1) + (d2 * v2 + d3 * v3)));
    }
}

static void subtract_two_from_two(double *row, const double *u, size_t n, int32_t columns) {
    double *next = row + n;
    KlPair c0 = kl_both(u[0]), c1 = kl_both(u[n]), d0 = kl_both(u[1]), d1 = kl_both(u[n + 1]);
    for (int32_t j = 0; j < columns; j += 2) {
        KlPair v0 = kl_load(u + j), v1 = kl_load(u + n + j);
        kl_store(row + j, kl_load(row + j) - (c0 * v0 + c1 * v1));
        kl_store(next + j, kl_load(next + j) - (d0 * v0 + d1 * v1));
    }
}

static void subtract_one_from_two(double *row, const double *u, size_t n, int32_t columns) {
    double *next = row + n;
    KlPair c = kl_both(u[0]), d = kl_both(u[1]);
    for (int32_t j = 0; j < columns; j += 2) {
        KlPair v = kl_load(u + j);
        kl_store(row + j, kl_load(row + j) - c * v);
        kl_store(next + j, kl_load(next + j) - d * v);
    }
}

// Rows of U for one, two or four pivots.
static bool cholesky_rows(double *a, size_t n, int32_t rows, int32_t columns, double *least) {
    return rows == 4   ? cholesky_four_rows(a, n, columns, least)
           : rows == 2 ? cholesky_two_rows(a, n, columns, least)
                       : cholesky_row(a, columns, least);
}

// One row; its multipliers stand in the pivots' rows in the first of the columns, or in the second of them.
static void subtract_from_one(double *row, const double *u, size_t n, int32_t count, int32_t second, int32_t columns) {
    double coefficient[PANEL];
    for (int32_t k = 0; k < count; k++) {
        coefficient[k] = u[(size_t)k * n + (size_t)second];
    }
    subtract_rows(row, u, n, coefficient, count, 0, columns);
}

// Two rows, the first of which is even.
static void subtract_from_two(double *row, const double *u, size_t n, int32_t count, int32_t columns) {
    if (count == 4) {
        subtract_four_from_two(row, u, n, columns);
    } else if (count == 2) {
        subtract_two_from_two(row, u, n, columns);
    } else if (count == 1) {
        subtract_one_from_two(row, u, n, columns);
    } else {
        subtract_from_one(row, u, n, count, 0, columns);
        subtract_from_one(row + n, u, n, count, 1, columns);
    }
}

// Takes the `count` pivots from `first` on out of rows begin .. end - 1.
static void subtract_panel(double *dense, const Front *f, int32_t first, int32_t count, int32_t begin, int32_t end) {
    size_t stride = (size_t)f->stride;
    const double *panel = dense + (size_t)first * stride;
    int32_t i = begin;
    if (i % 2 == 1 && i < end) {
        subtract_from_one(dense + (size_t)i * stride + (i - 1), panel + (i - 1), stride, count, 1, f->stride - (i - 1));
        i++;
    }
    for (; i + 2 <= end; i += 2) {
        subtract_from_two(dense + (size_t)i * (stride + 1), panel + i, stride, count, f->stride - i);
    }
    if (i < end) {
        subtract_from_one(dense + (size_t)i * (stride + 1), panel + i, stride, count, 0, f->stride - i);
    }
}

static int32_t group(int32_t left) { return left >= 4 ? 4 : left >= 2 ? 2 : 1; }

static bool cholesky_front(double *dense, const Front *f, double *least) {
    size_t stride = (size_t)f->stride;
    for (int32_t first = 0, end; first < f->pivots; first = end) {
        end = first + panel_width(f->size, f->pivots - first);
        for (int32_t i = first, count; i < end; i += count) {
            count = group(end - i);
            if (!cholesky_rows(dense + (size_t)i * (stride + 1), stride, count, f->stride - i, least)) {
                return false;
            }
            subtract_panel(dense, f, i, count, i + count, end);
        }
        for (int32_t i = first, count; i < end; i += count) {
            count = end - i == PANEL ? PANEL : group(end - i);
            subtract_panel(dense, f, i, count, end, f->size);
        }
    }
    return true;
}

// Where a front is worked on. A symmetric one lies where its pivots' rows stay, its others' over those of the fronts to
// come: an update matrix moves to the stack before.
static double *place_of(const KlBlockLu *lu, const Front *f) {
    return lu->symmetric ? lu->factor.at + f->upper : lu->dense.at;
}

// Takes L and U out of the front and leaves the update matrix on the stack.
static void store_front(KlBlockLu *lu, const Front *f, const double *dense) {
    size_t stride = (size_t)f->stride, pivots = (size_t)f->pivots;
    int32_t below = f->size - f->pivots;
    bool symmetric = lu->symmetric;
    if (!symmetric) {
        memcpy(lu->factor.at + f->upper, dense, pivots * stride * sizeof *dense);
    }
    double *lower = lu->factor.at + f->lower, *update = lu->stack.at + f->update;
    const double *row = dense + pivots * stride;
    for (int32_t i = 0; i < below; i++, row += stride, update += below, lower += pivots) {
        int32_t from = symmetric ? i : 0;
        if (!symmetric) {
            kl_lanes_copy(row, (int32_t)pivots, lower);
        }
        kl_lanes_copy(row + pivots + from, below - from, update + from);
    }
}

static void add_shift(const KlBlockLu *lu, const Front *f, const double *shift, double *dense) {
    const int32_t *row = lu->scalar_order.at + f->scalar_first;
    for (int32_t i = 0; i < f->pivots; i++) {
        dense[(size_t)i * (size_t)(f->stride + 1)] += shift[row[i]];
    }
}

// The blocks of a front, from the matrix or from a source.
static void take_blocks(const KlBlockLu *lu, const Front *f, const KlBlockMatrix *m, const KlBlockSource *source,
                        const uint8_t *left_out, double *dense) {
    size_t stride = (size_t)f->stride;
    for (int32_t p = f->plan_begin; p < f->plan_end; p++) {
        const Plan *plan = &lu->plan.at[p];
        if (left_out != NULL && (left_out[plan->block] || left_out[plan->other])) {
            continue;
        }
        if (source != NULL) {
            source->give(source->from, plan->block, plan->other, stride,
                         dense + (size_t)plan->row * stride + plan->column);
        } else {
            copy_block(plan, m, lu->symmetric, f->stride, dense);
        }
    }
}

static bool factor(KlBlockLu *lu, const KlBlockMatrix *m, const KlBlockSource *source, const double *shift,
                   const uint8_t *left_out) {
    lu->least_pivot = INFINITY;
    int32_t *waiting = lu->ints.at + 3 * (size_t)lu->blocks, depth = 0;  // fronts on the stack
    for (int32_t i = 0; i < lu->fronts; i++) {
        const Front *f = &lu->front.at[i];
        double *dense = place_of(lu, f);
        memset(dense, 0, (size_t)f->size * (size_t)f->stride * sizeof *dense);
        take_blocks(lu, f, m, source, left_out, dense);
        if (shift != NULL) {
            add_shift(lu, f, shift, dense);
        }
        while (depth > 0 && lu->front.at[waiting[depth - 1]].parent == i) {
            add_child(lu, &lu->front.at[waiting[--depth]], f->stride, dense);
        }
        bool ok = lu->symmetric ? cholesky_front(dense, f, &lu->least_pivot)
                                : lu_front(dense, f, lu->exchange.at + f->scalar_first, &lu->least_pivot);
        if (!ok) {
            lu->least_pivot = 0.0;
            return false;
        }
        store_front(lu, f, dense);
        waiting[depth++] = i;
    }
    return true;
}

bool kl_block_lu_factor(KlBlockLu *lu, const KlBlockMatrix *m) { return factor(lu, m, NULL, NULL, NULL); }

bool kl_block_lu_factor_shifted(KlBlockLu *lu, const KlBlockMatrix *m, const double *shift, const uint8_t *left_out) {
    return factor(lu, m, NULL, shift, left_out);
}

bool kl_block_lu_factor_source(KlBlockLu *lu, const KlBlockSource *source, const double *shift,
                               const uint8_t *left_out) {
    KL_ASSERT(source != NULL && lu->symmetric, "a source gives blocks of a symmetric matrix");
    return factor(lu, NULL, source, shift, left_out);
}

double kl_block_lu_least_scaled_pivot(const KlBlockLu *lu, const double *size) {
    double most = 0.0, other = 0.0;  // by turns, since each waits for what it was
    for (int32_t i = 0; i < lu->fronts; i++) {
        const Front *f = &lu->front.at[i];
        const double *inverse_root = lu->factor.at + f->upper;
        const int32_t *row = lu->scalar_order.at + f->scalar_first;
        size_t next = (size_t)f->stride + 1;
        int32_t k = 0;
        for (; k + 2 <= f->pivots; k += 2, inverse_root += 2 * next) {
            double a = inverse_root[0] * size[row[k]], b = inverse_root[next] * size[row[k + 1]];
            most = a > most ? a : most;
            other = b > other ? b : other;
        }
        if (k < f->pivots) {
            double a = *inverse_root * size[row[k]];
            most = a > most ? a : most;
        }
    }
    most = most > other ? most : other;
    return 1.0 / (most * most);
}

// ---- numeric: solutions ------------------------------------------------------------------------

static inline double lane_sum(KlPair pair) { return pair[0] + pair[1]; }

// The rows of a front, pivots first, are gathered for a solution. Pairs of pivots are solved together and lie
// where pairs are loaded, since a load across two fresh stores waits for both: an odd number of pivots begins
// one place later, with one alone, and what other fronts have left is loaded one by one.
static double *gather_pivots(const Front *f, const double *x, double *memory) {
    int32_t i = f->pivots % 2, pivots = f->pivots;
    double *own = memory + i;
    const double *from = x + f->scalar_first;
    own[0] = from[0];
    for (; i < pivots; i += 2) {
        kl_store(own + i, (KlPair){from[i], from[i + 1]});
    }
    return own;
}

static void scatter_pivots(const Front *f, const double *own, double *x) {
    int32_t i = f->pivots % 2, pivots = f->pivots;
    double *to = x + f->scalar_first;
    to[0] = own[0];
    for (; i < pivots; i += 2) {
        kl_store(to + i, kl_load(own + i));
    }
}

// Four pivots of unit lower L, whose rows begin with `a`: first what the `known` ones before them take off.
static void lu_forward_four(const double *a, size_t n, int32_t known, double *x) {
    const double *b = a + n, *c = b + n, *d = c + n;
    KlPair sum_a = {0.0, 0.0}, sum_b = sum_a, sum_c = sum_a, sum_d = sum_a;
    for (int32_t k = 0; k < known; k += 2) {
        KlPair both = kl_load(x + k);
        sum_a += kl_load(a + k) * both;
        sum_b += kl_load(b + k) * both;
        sum_c += kl_load(c + k) * both;
        sum_d += kl_load(d + k) * both;
    }
    b += known, c += known, d += known, x += known;
    double x0 = x[0] - lane_sum(sum_a), x1 = (x[1] - lane_sum(sum_b)) - b[0] * x0;
    double x2 = (x[2] - lane_sum(sum_c)) - (c[0] * x0 + c[1] * x1);
    double x3 = ((x[3] - lane_sum(sum_d)) - (d[0] * x0 + d[1] * x1)) - d[2] * x2;
    kl_store(x, (KlPair){x0, x1});
    kl_store(x + 2, (KlPair){x2, x3});
}

static void lu_forward(const KlBlockLu *lu, const Front *f, double *memory, double *x) {
    const double *upper = lu->factor.at + f->upper, *lower = lu->factor.at + f->lower;
    const int32_t *exchange = lu->exchange.at + f->scalar_first;
    double *own = gather_pivots(f, x, memory);
    for (int32_t k = 0; k < f->pivots; k++) {
        double kept = own[k];
        own[k] = own[exchange[k]];
        own[exchange[k]] = kept;
    }
    int32_t i = 0;
    for (; i + 4 <= f->pivots; i += 4) {
        lu_forward_four(upper + (size_t)i * (size_t)f->stride, (size_t)f->stride, i, own);
    }
    for (; i < f->pivots; i++) {
        own[i] -= kl_lanes_dot(upper + (size_t)i * (size_t)f->stride, own, i);
    }
    kl_lanes_copy(own, f->pivots, x + f->scalar_first);
    const int32_t *rows = lu->scalar_rows.at + f->scalar_begin;
    for (i = 0; i < f->size - f->pivots; i++) {
        x[rows[i]] -= kl_lanes_dot(lower + (size_t)i * (size_t)f->pivots, own, f->pivots);
    }
}

static void gather(const int32_t *rows, int32_t count, const double *x, double *gathered) {
    int32_t j = 0;
    for (; j + 2 <= count; j += 2) {
        kl_store(gathered + j, (KlPair){x[rows[j]], x[rows[j + 1]]});
    }
    if (j < count) {
        gathered[j] = x[rows[j]];
    }
}

// Two pivots whose diagonal `row` begins, taken out of the `count` numbers of x from theirs on.
static void forward_two(const double *row, size_t n, int32_t count, double *x) {
    x[0] *= row[0];
    x[1] = (x[1] - x[0] * row[1]) * row[n + 1];
    subtract_two(x, row, n, x, 2, count);
}

// The same for four: what the first two leave is not stored in between.
static void forward_four(const double *a, size_t n, int32_t count, double *x) {
    const double *b = a + n, *c = b + n, *d = c + n;
    double x0 = x[0] * a[0], x1 = (x[1] - x0 * a[1]) * b[1];
    double x2 = (x[2] - (x0 * a[2] + x1 * b[2])) * c[2];
    double x3 = ((x[3] - (x0 * a[3] + x1 * b[3])) - x2 * c[3]) * d[3];
    kl_store(x, (KlPair){x0, x1});
    kl_store(x + 2, (KlPair){x2, x3});
    KlPair p0 = kl_both(x0), p1 = kl_both(x1), p2 = kl_both(x2), p3 = kl_both(x3);
    int32_t j = 4;
    for (; j + 2 <= count; j += 2) {
        KlPair left = kl_load(x + j) - (p0 * kl_load(a + j) + p1 * kl_load(b + j));
        kl_store(x + j, left - (p2 * kl_load(c + j) + p3 * kl_load(d + j)));
    }
    if (j < count) {
        x[j] = (x[j] - (x0 * a[j] + x1 * b[j])) - (x2 * c[j] + x3 * d[j]);
    }
}

static void cholesky_forward(const KlBlockLu *lu, const Front *f, double *memory, double *x) {
    const double *row = lu->factor.at + f->upper;
    size_t stride = (size_t)f->stride;
    double *own = gather_pivots(f, x, memory);
    const int32_t *rows = lu->scalar_rows.at + f->scalar_begin;
    gather(rows, f->size - f->pivots, x, own + f->pivots);
    int32_t k = f->pivots % 2;
    if (k == 1) {
        own[0] *= row[0];
        subtract_one(own, row, own[0], 1, f->size);
        row += stride + 1;
    }
    for (; k + 4 <= f->pivots; k += 4, row += 4 * (stride + 1)) {
        forward_four(row, stride, f->size - k, own + k);
    }
    if (k < f->pivots) {
        forward_two(row, stride, f->size - k, own + k);
    }
    scatter_pivots(f, own, x);
    for (int32_t j = f->pivots; j < f->size; j++) {
        x[rows[j - f->pivots]] = own[j];
    }
}

// Two pivots from the `count` numbers of x from theirs on. Products are summed from the last number down: the
// newest come first in memory.
static void backward_two(const double *a, size_t n, int32_t count, double *x) {
    const double *b = a + n;
    int32_t j = count & ~1;
    KlPair sum_a = {count > j ? a[j] * x[j] : 0.0, 0.0}, sum_b = {count > j ? b[j] * x[j] : 0.0, 0.0};
    while (j > 2) {
        j -= 2;
        KlPair both = kl_load(x + j);
        sum_a += kl_load(a + j) * both;
        sum_b += kl_load(b + j) * both;
    }
    double x1 = (x[1] - lane_sum(sum_b)) * b[1];
    kl_store(x, (KlPair){((x[0] - lane_sum(sum_a)) - a[1] * x1) * a[0], x1});
}

static void backward_four(const double *a, size_t n, int32_t count, double *x) {
    const double *b = a + n, *c = b + n, *d = c + n;
    int32_t j = count & ~1;
    double last = count > j ? x[j] : 0.0;
    KlPair sum_a = {0.0, 0.0}, sum_b = sum_a, sum_c = sum_a, sum_d = sum_a;
    if (count > j) {
        sum_a[0] = a[j] * last, sum_b[0] = b[j] * last, sum_c[0] = c[j] * last, sum_d[0] = d[j] * last;
    }
    while (j > 4) {
        j -= 2;
        KlPair both = kl_load(x + j);
        sum_a += kl_load(a + j) * both;
        sum_b += kl_load(b + j) * both;
        sum_c += kl_load(c + j) * both;
        sum_d += kl_load(d + j) * both;
    }
    double x3 = (x[3] - lane_sum(sum_d)) * d[3], x2 = ((x[2] - lane_sum(sum_c)) - c[3] * x3) * c[2];
    KlPair upper = {x2, x3};
    sum_a += kl_load(a + 2) * upper;
    sum_b += kl_load(b + 2) * upper;
    double x1 = (x[1] - lane_sum(sum_b)) * b[1];
    kl_store(x, (KlPair){((x[0] - lane_sum(sum_a)) - a[1] * x1) * a[0], x1});
    kl_store(x + 2, upper);
}

static void backward(const KlBlockLu *lu, const Front *f, double *memory, double *x) {
    const double *upper = lu->factor.at + f->upper;
    size_t stride = (size_t)f->stride;
    double *own = gather_pivots(f, x, memory);
    gather(lu->scalar_rows.at + f->scalar_begin, f->size - f->pivots, x, own + f->pivots);
    int32_t k = f->pivots;
    for (; k >= 4; k -= 4) {
        backward_four(upper + (size_t)(k - 4) * (stride + 1), stride, f->size - (k - 4), own + k - 4);
    }
    if (k >= 2) {
        k -= 2;
        backward_two(upper + (size_t)k * (stride + 1), stride, f->size - k, own + k);
    }
    if (k == 1) {
        own[0] = (own[0] - kl_lanes_dot(upper + 1, own + 1, f->size - 1)) * upper[0];
    }
    scatter_pivots(f, own, x);
}

void kl_block_lu_solve(KlBlockLu *lu, double *x) {
    double *permuted = lu->vector.at, *memory = permuted + lu->rows;
    const int32_t *row = lu->scalar_order.at;
    gather(row, lu->rows, x, permuted);
    for (int32_t i = 0; i < lu->fronts; i++) {
        if (lu->symmetric) {
            cholesky_forward(lu, &lu->front.at[i], memory, permuted);
        } else {
            lu_forward(lu, &lu->front.at[i], memory, permuted);
        }
    }
    for (int32_t i = lu->fronts - 1; i >= 0; i--) {
        backward(lu, &lu->front.at[i], memory, permuted);
    }
    for (int32_t i = 0; i < lu->rows; i++) {
        x[row[i]] = permuted[i];
    }
}
