// Sparse matrices as files bring them, and a dense LU for the blocks of a mass matrix.
#include "sparse.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

void triplets_add(Triplets *list, int32_t row, int32_t column, double value) {
    if (list->count == list->capacity) {
        int64_t capacity = list->capacity > 0 ? 2 * list->capacity : 1024;
        Triplet *entries = kl_realloc(list->entries, (size_t)capacity * sizeof *entries);
        if (entries == NULL) {
            list->failed = true;
            return;
        }
        list->entries = entries;
        list->capacity = capacity;
    }
    list->entries[list->count++] = (Triplet){row, column, value};
}

void triplets_free(Triplets *list) {
    kl_free(list->entries);
    *list = (Triplets){0};
}

// Stable counting sort by row or by column.
static bool sort_entries(const Triplet *from, Triplet *to, int64_t count, int32_t keys, bool by_row) {
    int64_t *start = kl_alloc(((size_t)keys + 1) * sizeof *start);
    if (start == NULL) {
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        start[(by_row ? from[i].row : from[i].column) + 1]++;
    }
    for (int32_t k = 0; k < keys; k++) {
        start[k + 1] += start[k];
    }
    for (int64_t i = 0; i < count; i++) {
        to[start[by_row ? from[i].row : from[i].column]++] = from[i];
    }
    kl_free(start);
    return true;
}

static void fill_rows(const Triplet *sorted, int64_t count, Sparse *matrix) {
    int64_t used = 0;
    int32_t row = -1;
    for (int64_t i = 0; i < count; i++) {
        bool repeated = i > 0 && sorted[i].row == sorted[i - 1].row && sorted[i].column == sorted[i - 1].column;
        if (repeated) {
            matrix->value[used - 1] += sorted[i].value;
            continue;
        }
        while (row < sorted[i].row) {
            matrix->start[++row] = used;
        }
        matrix->index[used] = sorted[i].column;
        matrix->value[used++] = sorted[i].value;
    }
    while (row < matrix->rows) {
        matrix->start[++row] = used;
    }
    matrix->nonzeros = used;
}

KlStatus sparse_from_triplets(const Triplets *list, int32_t rows, int32_t columns, Sparse *matrix) {
    size_t count = (size_t)list->count;
    *matrix = (Sparse){.rows = rows, .columns = columns};
    Triplet *by_column = kl_alloc((count + 1) * sizeof *by_column);
    Triplet *sorted = kl_alloc((count + 1) * sizeof *sorted);
    matrix->start = kl_alloc(((size_t)rows + 1) * sizeof *matrix->start);
    matrix->index = kl_alloc((count + 1) * sizeof *matrix->index);
    matrix->value = kl_alloc((count + 1) * sizeof *matrix->value);
    bool fits = !list->failed && by_column != NULL && sorted != NULL && matrix->start != NULL &&
                matrix->index != NULL && matrix->value != NULL &&
                sort_entries(list->entries, by_column, list->count, columns, false) &&
                sort_entries(by_column, sorted, list->count, rows, true);
    if (fits) {
        fill_rows(sorted, list->count, matrix);
    }
    kl_free(by_column);
    kl_free(sorted);
    if (!fits) {
        sparse_free(matrix);
        return kl_fail(KL_ERR_MEMORY, "out of memory for a matrix of %zu entries", count);
    }
    return KL_OK;
}

void sparse_free(Sparse *matrix) {
    kl_free(matrix->start);
    kl_free(matrix->index);
    kl_free(matrix->value);
    *matrix = (Sparse){0};
}

void sparse_multiply(const Sparse *matrix, const double *x, double *product) {
    for (int32_t i = 0; i < matrix->rows; i++) {
        double sum = 0.0;
        for (int64_t k = matrix->start[i]; k < matrix->start[i + 1]; k++) {
            sum += matrix->value[k] * x[matrix->index[k]];
        }
        product[i] = sum;
    }
}

static void swap_rows(double *a, int32_t width, int32_t i, int32_t k) {
    for (int32_t j = 0; j < width; j++) {
        double keep = a[(size_t)i * (size_t)width + (size_t)j];
        a[(size_t)i * (size_t)width + (size_t)j] = a[(size_t)k * (size_t)width + (size_t)j];
        a[(size_t)k * (size_t)width + (size_t)j] = keep;
    }
}

// row_i -= factor * row_k, from column `first` on.
static void subtract_row(double *a, int32_t width, int32_t i, int32_t k, double factor, int32_t first) {
    double *to = a + (size_t)i * (size_t)width;
    const double *from = a + (size_t)k * (size_t)width;
    for (int32_t j = first; j < width; j++) {
        to[j] -= factor * from[j];
    }
}

static int32_t pivot_row(const double *a, int32_t n, int32_t k) {
    int32_t best = k;
    for (int32_t i = k + 1; i < n; i++) {
        if (fabs(a[(size_t)i * (size_t)n + (size_t)k]) > fabs(a[(size_t)best * (size_t)n + (size_t)k])) {
            best = i;
        }
    }
    return best;
}

bool dense_solve(double *a, int32_t n, double *b, int32_t columns) {
    double largest = 0.0;
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++) {
        largest = fabs(a[i]) > largest ? fabs(a[i]) : largest;
    }
    double tiny = largest * DBL_EPSILON * DBL_EPSILON;  // scales within one body may differ by 1e16
    for (int32_t k = 0; k < n; k++) {
        int32_t pivot = pivot_row(a, n, k);
        double value = a[(size_t)pivot * (size_t)n + (size_t)k];
        if (!(fabs(value) > tiny)) {
            return false;
        }
        if (pivot != k) {
            swap_rows(a, n, pivot, k);
            swap_rows(b, columns, pivot, k);
        }
        for (int32_t i = k + 1; i < n; i++) {
            double factor = a[(size_t)i * (size_t)n + (size_t)k] / value;
            if (factor != 0.0) {
                subtract_row(a, n, i, k, factor, k + 1);
                subtract_row(b, columns, i, k, factor, 0);
            }
        }
    }
    for (int32_t k = n - 1; k >= 0; k--) {
        double value = a[(size_t)k * (size_t)n + (size_t)k];
        for (int32_t j = 0; j < columns; j++) {
            b[(size_t)k * (size_t)columns + (size_t)j] /= value;
        }
        for (int32_t i = 0; i < k; i++) {
            double factor = a[(size_t)i * (size_t)n + (size_t)k];
            if (factor != 0.0) {
                subtract_row(b, columns, i, k, factor, 0);
            }
        }
    }
    return true;
}
