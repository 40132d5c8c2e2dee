// What a mechanic asks of a problem: rank, spectrum, internal forces. Eigenvalues are those of D + R,
// symmetrised where a file gave it otherwise.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "dual/delassus.h"
#include "dual/rank.h"
#include "math/eigen.h"

enum { MAX_ROWS = 3000 };

// Room for `matrices` n x n matrices and `vectors` vectors; NULL with the error set.
static double *reserve(const KlProblem *p, size_t matrices, size_t vectors, KlStatus *status) {
    size_t n = (size_t)p->dim;
    if (p->dim > MAX_ROWS) {
        *status =
            kl_fail(KL_ERR_LIMIT, "eigenvalues are computed up to %d rows (the problem has %d)", MAX_ROWS, (int)p->dim);
        return NULL;
    }
    double *memory = kl_alloc((matrices * n * n + vectors * n) * sizeof *memory);
    *status = memory != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory for a matrix of %d rows", (int)p->dim);
    return memory;
}

static void symmetrise(double *a, size_t n) {
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            a[i * n + j] = a[j * n + i] = 0.5 * (a[i * n + j] + a[j * n + i]);
        }
    }
}

static KlStatus eigen(double *a, int32_t n, double *values, double *vectors, double *work) {
    return kl_eigen_symmetric(a, n, values, vectors, work)
               ? KL_OK
               : kl_fail(KL_ERR_DIVERGED, "the eigenvalues of D did not converge (is it finite?)");
}

// First of the ascending values that counts as not zero: above n * 2^-52 times the largest.
static int32_t first_above_tolerance(const double *values, int32_t n) {
    int32_t first = 0;
    double tolerance = n > 0 ? n * DBL_EPSILON * values[n - 1] : 0.0;
    while (first < n && !(values[first] > tolerance)) {
        first++;
    }
    return first;
}

KlStatus kl_problem_spectrum(const KlProblem *problem, double *eigenvalues) {
    size_t n = (size_t)problem->dim;
    KlStatus status;
    double *d = reserve(problem, 1, 2, &status);
    if (d == NULL) {
        return status;
    }
    kl_problem_delassus(problem, d);
    symmetrise(d, n);
    status = eigen(d, problem->dim, eigenvalues, NULL, d + n * n);
    kl_free(d);
    return status;
}

static double share_of_nonzeros(const double *a, size_t count) {
    size_t nonzeros = 0;
    for (size_t i = 0; i < count; i++) {
        nonzeros += a[i] != 0.0;
    }
    return count > 0 ? (double)nonzeros / (double)count : 0.0;
}

KlStatus kl_problem_condition(const KlProblem *problem, KlCondition *condition) {
    size_t n = (size_t)problem->dim;
    memset(condition, 0, sizeof *condition);
    KlStatus status;
    double *d = reserve(problem, 1, 3, &status);
    if (d == NULL || n == 0) {
        kl_free(d);
        return status;
    }
    double *values = d + n * n;
    kl_problem_delassus(problem, d);
    condition->density = share_of_nonzeros(d, n * n);
    symmetrise(d, n);
    status = eigen(d, problem->dim, values, NULL, values + n);
    if (status == KL_OK) {
        int32_t first = first_above_tolerance(values, problem->dim);
        condition->rank = problem->dim - first;
        condition->eigen_max = values[n - 1];
        condition->eigen_min = condition->rank > 0 ? values[first] : 0.0;
        condition->condition = condition->rank > 0 ? values[n - 1] / values[first] : INFINITY;
        status = kl_problem_jacobian_rank(problem, problem->dim, &condition->jacobian_rank);
    }
    kl_free(d);
    return status;
}

// Squared length of the part of lambda in the span of the first `count` eigenvectors (rows).
static double squared_part(const double *vectors, size_t n, int32_t count, const double *lambda) {
    double sum = 0.0;
    for (int32_t i = 0; i < count; i++) {
        double along = 0.0;
        for (size_t c = 0; c < n; c++) {
            along += vectors[(size_t)i * n + c] * lambda[c];
        }
        sum += along * along;
    }
    return sum;
}

// What moves nothing is the null space of J^T (and of R): the eigenvectors to zero of J J^T + R, which
// masses cannot disturb. lambda minus its minimum-norm equal is its part in there.
KlStatus kl_problem_internal_share(const KlProblem *problem, const double *lambda, double *share) {
    size_t n = (size_t)problem->dim;
    double squared = 0.0;
    *share = 0.0;
    for (size_t i = 0; i < n; i++) {
        squared += lambda[i] * lambda[i];
    }
    if (squared == 0.0) {
        return KL_OK;
    }
    KlStatus status;
    double *gram = reserve(problem, 2, 3, &status);
    if (gram == NULL) {
        return status;
    }
    double *vectors = gram + n * n, *values = vectors + n * n;
    kl_problem_gram(problem, problem->dim, gram);
    for (size_t i = 0; i < n; i++) {
        gram[i * n + i] += problem->softening[i];
    }
    status = eigen(gram, problem->dim, values, vectors, values + n);
    if (status == KL_OK) {
        int32_t zeros = first_above_tolerance(values, problem->dim);
        *share = sqrt(squared_part(vectors, n, zeros, lambda) / squared);
    }
    kl_free(gram);
    return status;
}
