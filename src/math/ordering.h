// Fill-reducing order of a graph whose vertices are blocks of rows: approximate minimum degree on
// the quotient graph (Amestoy, Davis, Duff, SIAM J. Matrix Anal. Appl. 17, 1996), with
// supervariables, mass elimination and aggressive absorption. Ties are broken by a fixed rule: the
// same graph gives the same order.
#ifndef KL_MATH_ORDERING_H
#define KL_MATH_ORDERING_H

#include "kl.h"

// Symmetric graph in compressed rows; the diagonal may be present and is ignored.
typedef struct KlGraph {
    int32_t count;          // vertices
    const int32_t *start;   // (count + 1)
    const int32_t *column;  // (start[count]) ascending in each row
    const int32_t *weight;  // (count) rows of each vertex, >= 1
} KlGraph;

// Memory that grows when a larger graph comes and is kept between calls. Zero-initialise.
typedef struct KlOrderingWork {
    int32_t *memory, *pool;
    size_t capacity, pool_capacity;  // entries
} KlOrderingWork;

KlStatus kl_ordering_reserve(KlOrderingWork *work, int32_t count, size_t entries, int32_t rows);
// order (count): the vertex eliminated first, second ... KL_ERR_MEMORY.
KlStatus kl_minimum_degree(const KlGraph *graph, KlOrderingWork *work, int32_t *order);
void kl_ordering_release(KlOrderingWork *work);

#endif
