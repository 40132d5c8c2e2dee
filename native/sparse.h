// Sparse matrices as files bring them: rows in order, columns ascending, duplicates summed.
#ifndef KINLOOP_SPARSE_H
#define KINLOOP_SPARSE_H

#include "kl.h"

typedef struct Triplet {
    int32_t row, column;
    double value;
} Triplet;

// A growing list of entries; out of memory is remembered in `failed`.
typedef struct Triplets {
    Triplet *entries;  // (count)
    int64_t count, capacity;
    bool failed;
} Triplets;

void triplets_add(Triplets *list, int32_t row, int32_t column, double value);
void triplets_free(Triplets *list);

typedef struct Sparse {
    int32_t rows, columns;
    int64_t nonzeros;
    int64_t *start;  // (rows + 1)
    int32_t *index;  // (nonzeros) columns, ascending in each row
    double *value;   // (nonzeros)
} Sparse;

// Sorts (two counting passes) and sums duplicates in the order given. KL_ERR_MEMORY.
KlStatus sparse_from_triplets(const Triplets *list, int32_t rows, int32_t columns, Sparse *matrix);
void sparse_free(Sparse *matrix);
// product = A x (rows).
void sparse_multiply(const Sparse *matrix, const double *x, double *product);

// Solves A X = B in place for a dense A (n x n) and B (n x columns), both row-major, by LU with partial
// pivoting; A is overwritten. False when A is singular to working precision.
bool dense_solve(double *a, int32_t n, double *b, int32_t columns);

#endif
