// Symmetric eigenvalues and semidefinite rank.
#include "math/eigen.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/lanes.h"

static void subtract(double s, const double *x, double *y, size_t n) {
    for (size_t i = 0; i < n; i++) {
        y[i] -= s * x[i];
    }
}

// Turns x (n) into v of the reflector 1 - beta v v^T that maps x to (image, 0, ...); returns beta.
static double make_reflector(double *x, size_t n, double *image) {
    double scale = 0.0;
    for (size_t i = 0; i < n; i++) {
        scale = fabs(x[i]) > scale ? fabs(x[i]) : scale;
    }
    double rest = 0.0;
    for (size_t i = 1; i < n; i++) {
        rest += (x[i] / scale) * (x[i] / scale);
    }
    if (scale == 0.0 || rest == 0.0) {
        *image = x[0];
        return 0.0;
    }
    double head = x[0] / scale, length = sqrt(head * head + rest);
    *image = head > 0.0 ? -scale * length : scale * length;
    x[0] -= *image;
    for (size_t i = 0; i < n; i++) {
        x[i] /= scale;
    }
    return 2.0 / kl_lanes_dot(x, x, (int32_t)n);
}

// A = Q T Q^T: T has `diagonal` (n) and `off` (n - 1, off[k] between k and k + 1). Reflector k is left in
// row k of A right of the diagonal, its beta on the diagonal. `w` (n) is scratch.
static void tridiagonalise(double *a, size_t n, double *diagonal, double *off, double *w) {
    for (size_t k = 0; k + 1 < n; k++) {
        double *row = a + k * n, *v = row + k + 1;
        size_t m = n - k - 1;
        diagonal[k] = row[k];
        double beta = make_reflector(v, m, &off[k]);
        row[k] = beta;
        if (beta == 0.0) {
            continue;
        }
        for (size_t i = 0; i < m; i++) {
            w[i] = beta * kl_lanes_dot(a + (k + 1 + i) * n + k + 1, v, (int32_t)m);
        }
        subtract(0.5 * beta * kl_lanes_dot(w, v, (int32_t)m), v, w, m);
        for (size_t i = 0; i < m; i++) {
            double *target = a + (k + 1 + i) * n + k + 1;
            double vi = v[i], wi = w[i];
            for (size_t j = 0; j < m; j++) {
                target[j] -= vi * w[j] + wi * v[j];
            }
        }
    }
    diagonal[n - 1] = a[n * n - 1];
}

// q = Q^T from the reflectors: rows right of the diagonal, betas on it.
static void accumulate(const double *a, size_t n, double *q) {
    memset(q, 0, n * n * sizeof *q);
    for (size_t i = 0; i < n; i++) {
        q[i * n + i] = 1.0;
    }
    for (size_t k = n - 1; k-- > 0;) {
        double beta = a[k * n + k];
        const double *v = a + k * n + k + 1;
        size_t m = n - k - 1;
        for (size_t r = k + 1; beta != 0.0 && r < n; r++) {
            double *row = q + r * n + k + 1;
            subtract(beta * kl_lanes_dot(row, v, (int32_t)m), v, row, m);
        }
    }
}

static void rotate(double c, double s, double *x, double *y, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double xi = x[i], yi = y[i];
        x[i] = c * xi - s * yi;
        y[i] = s * xi + c * yi;
    }
}

static double hypotenuse(double a, double b) {
    a = fabs(a);
    b = fabs(b);
    double large = a > b ? a : b, small = a > b ? b : a;
    if (large == 0.0) {
        return 0.0;
    }
    double ratio = small / large;
    return large * sqrt(1.0 + ratio * ratio);
}

// One implicit QL sweep on rows low..high of the tridiagonal matrix; rows of q turn along.
static void ql_sweep(double *d, double *e, size_t low, size_t high, double *q, size_t n) {
    double g = (d[low + 1] - d[low]) / (2.0 * e[low]);
    double r = hypotenuse(g, 1.0);
    g = d[high] - d[low] + e[low] / (g + (g >= 0.0 ? r : -r));  // Wilkinson's shift
    double s = 1.0, c = 1.0, shifted = 0.0;
    for (size_t i = high; i-- > low;) {
        double f = s * e[i], b = c * e[i];
        r = hypotenuse(f, g);
        if (i + 1 < high) {
            e[i + 1] = r;
        }
        if (r == 0.0) {  // the matrix has split here
            d[i + 1] -= shifted;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - shifted;
        r = (d[i] - g) * s + 2.0 * c * b;
        shifted = s * r;
        d[i + 1] = g + shifted;
        g = c * r - b;
        if (q != NULL) {
            rotate(c, s, q + i * n, q + (i + 1) * n, n);
        }
    }
    d[low] -= shifted;
    e[low] = g;
}

// The size of the matrix: an entry of its rounding is what the reduction has left undetermined. Judged by
// its neighbours alone, the rounding where D has no rank would be iterated on as if it were data.
static double largest_sum(const double *d, const double *e, size_t n) {
    double largest = fabs(d[n - 1]);
    for (size_t i = 0; i + 1 < n; i++) {
        largest = fabs(d[i]) + fabs(e[i]) > largest ? fabs(d[i]) + fabs(e[i]) : largest;
    }
    return largest;
}

static bool ql(double *d, double *e, size_t n, double *q) {
    enum { MAX_TURNS = 60 };
    double negligible = DBL_EPSILON * largest_sum(d, e, n);
    for (size_t low = 0; low < n; low++) {
        for (int turn = 0;; turn++) {
            size_t high = low;
            while (high + 1 < n && fabs(e[high]) > negligible) {
                high++;
            }
            if (high == low) {
                break;
            }
            if (turn == MAX_TURNS) {
                return false;
            }
            ql_sweep(d, e, low, high, q, n);
        }
    }
    return true;
}

// Selection sort: n swaps of rows at most.
static void sort_ascending(double *d, size_t n, double *q) {
    for (size_t i = 0; i < n; i++) {
        size_t least = i;
        for (size_t j = i + 1; j < n; j++) {
            least = d[j] < d[least] ? j : least;
        }
        double value = d[i];
        d[i] = d[least];
        d[least] = value;
        for (size_t c = 0; q != NULL && least != i && c < n; c++) {
            double entry = q[i * n + c];
            q[i * n + c] = q[least * n + c];
            q[least * n + c] = entry;
        }
    }
}

bool kl_eigen_symmetric(double *a, int32_t count, double *values, double *vectors, double *work) {
    size_t n = (size_t)count;
    if (count <= 0) {
        return true;
    }
    for (size_t i = 0; i < n * n; i++) {
        if (!isfinite(a[i])) {
            return false;
        }
    }
    tridiagonalise(a, n, values, work, work + n);
    if (vectors != NULL) {
        accumulate(a, n, vectors);
    }
    if (!ql(values, work, n, vectors)) {
        return false;
    }
    sort_ascending(values, n, vectors);
    return true;
}

// Swaps rows and columns i < j of the lower triangle.
static void swap_symmetric(double *a, size_t n, size_t i, size_t j, double *diagonal) {
    for (size_t c = 0; c < n; c++) {
        double entry = a[i * n + c];
        a[i * n + c] = a[j * n + c];
        a[j * n + c] = entry;
    }
    for (size_t r = 0; r < n; r++) {
        double entry = a[r * n + i];
        a[r * n + i] = a[r * n + j];
        a[r * n + j] = entry;
    }
    double entry = diagonal[i];
    diagonal[i] = diagonal[j];
    diagonal[j] = entry;
}

// Left-looking by columns: `rest` holds the diagonal of what is left.
int32_t kl_rank_semidefinite(double *a, int32_t count, double tolerance, double *rest) {
    size_t n = (size_t)(count > 0 ? count : 0);
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        rest[i] = a[i * n + i];
        largest = rest[i] > largest ? rest[i] : largest;
    }
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; i++) {
            pivot = rest[i] > rest[pivot] ? i : pivot;
        }
        if (!(rest[pivot] > tolerance * largest)) {
            return (int32_t)k;
        }
        if (pivot != k) {
            swap_symmetric(a, n, k, pivot, rest);
        }
        double root = sqrt(rest[k]);
        a[k * n + k] = root;
        for (size_t i = k + 1; i < n; i++) {
            double l = (a[i * n + k] - kl_lanes_dot(a + i * n, a + k * n, (int32_t)k)) / root;
            a[i * n + k] = l;
            rest[i] -= l * l;
        }
    }
    return count;
}
