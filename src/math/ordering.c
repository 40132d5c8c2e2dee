// Approximate minimum degree. An eliminated vertex p becomes an element whose list L_p holds the
// vertices it joins; vertex i keeps its elements E_i and the edges A_i that no element covers. Its
// degree is bounded by |A_i| + |L_p \ i| + sum over e in E_i of |L_e \ L_p|, all in rows.
#include "math/ordering.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

typedef struct Quotient {
    const KlGraph *graph;
    KlOrderingWork *work;
    int32_t *list;                      // the lists of all vertices: E_i, then A_i
    int32_t *begin, *elements, *edges;  // of vertex i: where it starts, |E_i|, |A_i|
    int32_t *rows;                      // rows of the supervariable i; 0 once eliminated or merged
    int32_t *degree;
    int32_t *element_begin, *element_size, *element_rows;  // L_e; element_size 0: absorbed or none
    int32_t *outside;                                      // |L_e \ L_p|, valid where seen[e] == round
    int32_t *seen, *mark;
    int32_t *head, *next, *previous;  // buckets by degree
    int32_t *member, *member_last;    // merged vertices follow their supervariable
    int32_t *hash_head, *hash_next, *hash;
    int32_t *scratch;
    int32_t round, rows_left, lowest;
    size_t pool_used;
} Quotient;

static KlStatus grow(int32_t **memory, size_t *capacity, size_t wanted) {
    if (wanted <= *capacity) {
        return KL_OK;
    }
    size_t next = wanted + wanted / 2 + 64;
    int32_t *larger = kl_realloc(*memory, next * sizeof **memory);
    if (larger == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for an ordering of %zu entries", next);
    }
    *memory = larger;
    *capacity = next;
    return KL_OK;
}

void kl_ordering_release(KlOrderingWork *work) {
    kl_free(work->memory);
    kl_free(work->pool);
    *work = (KlOrderingWork){0};
}

static int32_t total_rows(const KlGraph *g) {
    int32_t rows = 0;
    for (int32_t i = 0; i < g->count; i++) {
        rows += g->weight[i];
    }
    return rows;
}

enum { VERTEX_ARRAYS = 19 };

KlStatus kl_ordering_reserve(KlOrderingWork *work, int32_t count, size_t entries, int32_t rows) {
    size_t vertices = (size_t)count;
    KL_TRY(grow(&work->memory, &work->capacity, VERTEX_ARRAYS * vertices + entries + (size_t)rows + 2));
    return grow(&work->pool, &work->pool_capacity, 2 * vertices * vertices);
}

static KlStatus lay_out(const KlGraph *g, KlOrderingWork *work, Quotient *q) {
    size_t count = (size_t)g->count, edges = (size_t)g->start[g->count];
    int32_t rows = total_rows(g);
    KL_TRY(grow(&work->memory, &work->capacity, VERTEX_ARRAYS * count + edges + (size_t)rows + 2));
    *q = (Quotient){.graph = g, .work = work, .rows_left = rows};
    int32_t **arrays[VERTEX_ARRAYS] = {
        &q->begin,        &q->elements,  &q->edges,     &q->rows, &q->degree, &q->element_begin, &q->element_size,
        &q->element_rows, &q->outside,   &q->seen,      &q->mark, &q->next,   &q->previous,      &q->member,
        &q->member_last,  &q->hash_head, &q->hash_next, &q->hash, &q->scratch};
    int32_t *at = work->memory;
    memset(at, 0, (VERTEX_ARRAYS * count + (size_t)rows + 2) * sizeof *at);
    for (int32_t i = 0; i < VERTEX_ARRAYS; i++) {
        *arrays[i] = at;
        at += count;
    }
    q->head = at;
    q->list = at + rows + 2;
    return KL_OK;
}

static void bucket_insert(Quotient *q, int32_t i) {
    int32_t d = q->degree[i], first = q->head[d];
    q->next[i] = first;
    q->previous[i] = -1;
    if (first >= 0) {
        q->previous[first] = i;
    }
    q->head[d] = i;
    q->lowest = d < q->lowest ? d : q->lowest;
}

static void bucket_remove(Quotient *q, int32_t i) {
    if (q->previous[i] >= 0) {
        q->next[q->previous[i]] = q->next[i];
    } else {
        q->head[q->degree[i]] = q->next[i];
    }
    if (q->next[i] >= 0) {
        q->previous[q->next[i]] = q->previous[i];
    }
}

static void start_graph(Quotient *q) {
    const KlGraph *g = q->graph;
    memset(q->head, 0xff, ((size_t)q->rows_left + 2) * sizeof *q->head);
    memset(q->hash_head, 0xff, (size_t)g->count * sizeof *q->hash_head);
    q->lowest = q->rows_left;
    int32_t used = 0;
    for (int32_t i = 0; i < g->count; i++) {
        q->begin[i] = used;
        q->rows[i] = g->weight[i];
        q->member[i] = -1;
        q->member_last[i] = i;
        for (int32_t e = g->start[i]; e < g->start[i + 1]; e++) {
            int32_t j = g->column[e];
            if (j != i) {
                q->list[used++] = j;
                q->degree[i] += g->weight[j];
            }
        }
        q->edges[i] = used - q->begin[i];
    }
    for (int32_t i = g->count - 1; i >= 0; i--) {  // so that equal degrees leave in ascending order
        bucket_insert(q, i);
    }
}

static int32_t next_pivot(Quotient *q) {
    while (q->head[q->lowest] < 0) {
        q->lowest++;
    }
    int32_t p = q->head[q->lowest];
    bucket_remove(q, p);
    return p;
}

// Appends the live, unmarked vertices of a list to L_p.
static int32_t gather(Quotient *q, const int32_t *list, int32_t count, int32_t *target, int32_t size) {
    for (int32_t k = 0; k < count; k++) {
        int32_t i = list[k];
        if (q->rows[i] > 0 && q->mark[i] != q->round) {
            q->mark[i] = q->round;
            target[size++] = i;
        }
    }
    return size;
}

// L_p = (A_p u all L_e, e in E_p) \ p; the elements of p are absorbed.
static KlStatus make_element(Quotient *q, int32_t p) {
    const int32_t *elements = q->list + q->begin[p], *edges = elements + q->elements[p];
    size_t bound = (size_t)q->edges[p];
    for (int32_t k = 0; k < q->elements[p]; k++) {
        bound += (size_t)q->element_size[elements[k]];
    }
    KL_TRY(grow(&q->work->pool, &q->work->pool_capacity, q->pool_used + bound));
    int32_t *pool = q->work->pool, *target = pool + q->pool_used, size = 0;
    q->round++;
    q->mark[p] = q->round;
    for (int32_t k = 0; k < q->elements[p]; k++) {
        int32_t e = elements[k];
        size = gather(q, pool + q->element_begin[e], q->element_size[e], target, size);
        q->element_size[e] = 0;
    }
    size = gather(q, edges, q->edges[p], target, size);
    q->element_begin[p] = (int32_t)q->pool_used;
    q->element_size[p] = size;
    q->element_rows[p] = 0;
    for (int32_t k = 0; k < size; k++) {
        q->element_rows[p] += q->rows[target[k]];
        bucket_remove(q, target[k]);
    }
    return KL_OK;
}

// outside[e] = |L_e \ L_p| for every element that meets L_p.
static void measure_elements(Quotient *q, int32_t p) {
    const int32_t *members = q->work->pool + q->element_begin[p];
    for (int32_t k = 0; k < q->element_size[p]; k++) {
        int32_t i = members[k];
        for (int32_t s = 0; s < q->elements[i]; s++) {
            int32_t e = q->list[q->begin[i] + s];
            if (q->element_size[e] == 0) {
                continue;
            }
            if (q->seen[e] != q->round) {
                q->seen[e] = q->round;
                q->outside[e] = q->element_rows[e];
            }
            q->outside[e] -= q->rows[i];
        }
    }
}

// Drops from i what p covers; returns the degree outside L_p.
static int32_t prune(Quotient *q, int32_t p, int32_t i) {
    int32_t *list = q->list + q->begin[i], *kept = q->scratch;
    int32_t degree = 0, elements = 0, count = 0;
    uint32_t hash = 0;
    for (int32_t s = 0; s < q->elements[i]; s++) {
        int32_t e = list[s];
        if (q->element_size[e] == 0) {
            continue;
        }
        if (q->outside[e] == 0) {
            q->element_size[e] = 0;  // L_e lies in L_p: absorbed
            continue;
        }
        degree += q->outside[e];
        hash += (uint32_t)e;
        kept[count++] = e;
    }
    kept[count++] = p;
    hash += (uint32_t)p;
    elements = count;
    for (int32_t s = q->elements[i]; s < q->elements[i] + q->edges[i]; s++) {
        int32_t j = list[s];
        if (q->rows[j] > 0 && q->mark[j] != q->round) {
            degree += q->rows[j];
            hash += (uint32_t)j;
            kept[count++] = j;
        }
    }
    memcpy(list, kept, (size_t)count * sizeof *list);
    q->elements[i] = elements;
    q->edges[i] = count - elements;
    q->hash[i] = (int32_t)(hash % (uint32_t)q->graph->count);
    return degree;
}

static void join(Quotient *q, int32_t i, int32_t j) {  // j follows i
    q->member[q->member_last[i]] = j;
    q->member_last[i] = q->member_last[j];
    q->rows[j] = 0;
}

static bool same_lists(const Quotient *q, int32_t i, int32_t j) {
    if (q->elements[i] != q->elements[j] || q->edges[i] != q->edges[j]) {
        return false;
    }
    size_t count = (size_t)q->elements[i] + (size_t)q->edges[i];
    return memcmp(q->list + q->begin[i], q->list + q->begin[j], count * sizeof *q->list) == 0;
}

// Merges i into an equal vertex met earlier in this round, or remembers it.
static void merge_equal(Quotient *q, int32_t i) {
    int32_t *head = &q->hash_head[q->hash[i]];
    for (int32_t k = *head; k >= 0; k = q->hash_next[k]) {
        if (same_lists(q, k, i)) {
            q->rows[k] += q->rows[i];
            join(q, k, i);
            return;
        }
    }
    q->hash_next[i] = *head;
    *head = i;
}

static int32_t min3(int32_t a, int32_t b, int32_t c) {
    int32_t least = a < b ? a : b;
    return least < c ? least : c;
}

// New degrees of L_p; vertices whose only neighbour is p leave with it.
static void update_members(Quotient *q, int32_t p) {
    int32_t *members = q->work->pool + q->element_begin[p], size = q->element_size[p], kept = 0;
    for (int32_t k = 0; k < size; k++) {
        int32_t i = members[k], outside = prune(q, p, i);
        if (outside == 0) {
            q->rows_left -= q->rows[i];
            q->element_rows[p] -= q->rows[i];
            join(q, p, i);
            continue;
        }
        q->next[i] = outside;  // the bucket link is free until the vertex returns
        members[kept++] = i;
        merge_equal(q, i);
    }
    int32_t live = 0;
    for (int32_t k = 0; k < kept; k++) {
        int32_t i = members[k];
        q->hash_head[q->hash[i]] = -1;
        if (q->rows[i] == 0) {
            continue;
        }
        int32_t others = q->element_rows[p] - q->rows[i];
        q->degree[i] = min3(q->rows_left - q->rows[i], q->degree[i] + others, q->next[i] + others);
        bucket_insert(q, i);
        members[live++] = i;
    }
    q->element_size[p] = live;
    q->pool_used += (size_t)live;
}

KlStatus kl_minimum_degree(const KlGraph *graph, KlOrderingWork *work, int32_t *order) {
    Quotient q;
    KL_TRY(lay_out(graph, work, &q));
    start_graph(&q);
    int32_t done = 0;
    while (q.rows_left > 0) {
        int32_t p = next_pivot(&q), rows = q.rows[p];
        q.rows[p] = 0;
        q.rows_left -= rows;
        KL_TRY(make_element(&q, p));
        measure_elements(&q, p);
        update_members(&q, p);
        for (int32_t i = p; i >= 0; i = q.member[i]) {
            order[done++] = i;
        }
    }
    return KL_OK;
}
