// Two lanes of doubles, as the widest SIMD that every target has (SSE2, WebAssembly's 128 bits). Written out
// so that all compilers pair the same elements: sums then have the same bits everywhere.
#ifndef KL_MATH_LANES_H
#define KL_MATH_LANES_H

#include <math.h>
#include <stdint.h>

typedef double KlPair __attribute__((vector_size(16), aligned(8)));

// To clang a pair that is stored may be anything: what a loop with kl_store reads of structures is read anew in
// each passage, and is better read into locals before.

static inline KlPair kl_load(const double *x) { return *(const KlPair *)x; }
static inline void kl_store(double *x, KlPair v) { *(KlPair *)x = v; }
static inline KlPair kl_both(double x) { return (KlPair){x, x}; }
static inline KlPair kl_root(KlPair x) { return (KlPair){sqrt(x[0]), sqrt(x[1])}; }

// For rows of a few numbers, for which a call of memcpy or memset takes longer than its work. Eight of them a passage
// where there are so many: engines of WebAssembly add addresses and look for interrupts in every passage.
static inline void kl_lanes_copy(const double *from, int32_t count, double *to) {
    int32_t i = 0;
    for (; i + 8 <= count; i += 8) {
        for (int32_t k = 0; k < 8; k += 2) {
            kl_store(to + i + k, kl_load(from + i + k));
        }
    }
    for (; i + 2 <= count; i += 2) {
        kl_store(to + i, kl_load(from + i));
    }
    if (i < count) {
        to[i] = from[i];
    }
}

static inline void kl_lanes_add(const double *from, int32_t count, double *to) {
    int32_t i = 0;
    for (; i + 8 <= count; i += 8) {
        for (int32_t k = 0; k < 8; k += 2) {
            kl_store(to + i + k, kl_load(to + i + k) + kl_load(from + i + k));
        }
    }
    for (; i + 2 <= count; i += 2) {
        kl_store(to + i, kl_load(to + i) + kl_load(from + i));
    }
    if (i < count) {
        to[i] += from[i];
    }
}

static inline void kl_lanes_negate(const double *from, int32_t count, double *to) {
    int32_t i = 0;
    for (; i + 2 <= count; i += 2) {
        kl_store(to + i, -kl_load(from + i));
    }
    if (i < count) {
        to[i] = -from[i];
    }
}

static inline void kl_lanes_clear(int32_t count, double *to) {
    int32_t i = 0;
    for (; i + 2 <= count; i += 2) {
        kl_store(to + i, kl_both(0.0));
    }
    if (i < count) {
        to[i] = 0.0;
    }
}

static inline void kl_lanes_subtract(const double *a, const double *b, int32_t count, double *difference) {
    int32_t i = 0;
    for (; i + 8 <= count; i += 8) {
        for (int32_t k = 0; k < 8; k += 2) {
            kl_store(difference + i + k, kl_load(a + i + k) - kl_load(b + i + k));
        }
    }
    for (; i + 2 <= count; i += 2) {
        kl_store(difference + i, kl_load(a + i) - kl_load(b + i));
    }
    if (i < count) {
        difference[i] = a[i] - b[i];
    }
}

static inline void kl_lanes_subtract_times(double factor, const double *from, int32_t count, double *to) {
    KlPair both = kl_both(factor);
    int32_t i = 0;
    for (; i + 2 <= count; i += 2) {
        kl_store(to + i, kl_load(to + i) - both * kl_load(from + i));
    }
    if (i < count) {
        to[i] -= factor * from[i];
    }
}

// The same of two rows with one factor each.
static inline void kl_lanes_subtract_times_two(double one, double two, const double *from, int32_t count, double *first,
                                               double *second) {
    KlPair f = kl_both(one), g = kl_both(two);
    int32_t i = 0;
    for (; i + 2 <= count; i += 2) {
        KlPair own = kl_load(from + i);
        kl_store(first + i, kl_load(first + i) - f * own);
        kl_store(second + i, kl_load(second + i) - g * own);
    }
    if (i < count) {
        first[i] -= one * from[i];
        second[i] -= two * from[i];
    }
}

// one -= f[0] p + f[1] q and two -= g[0] p + g[1] q, each one after the other.
static inline void kl_lanes_subtract_two_times_two(const double f[2], const double g[2], const double *p,
                                                   const double *q, int32_t count, double *one, double *two) {
    KlPair f0 = kl_both(f[0]), f1 = kl_both(f[1]), g0 = kl_both(g[0]), g1 = kl_both(g[1]);
    int32_t i = 0;
    for (; i + 2 <= count; i += 2) {
        KlPair first = kl_load(p + i), second = kl_load(q + i);
        kl_store(one + i, (kl_load(one + i) - f0 * first) - f1 * second);
        kl_store(two + i, (kl_load(two + i) - g0 * first) - g1 * second);
    }
    if (i < count) {
        one[i] = (one[i] - f[0] * p[i]) - f[1] * q[i];
        two[i] = (two[i] - g[0] * p[i]) - g[1] * q[i];
    }
}

// The largest size among numbers taken in pairs; NaN once one of them was. Begins with zeros.
typedef int64_t KlMask __attribute__((vector_size(16)));
typedef struct KlLargest {
    KlPair most;
    KlMask undefined;
} KlLargest;

static inline void kl_largest_take(KlLargest *l, KlPair x) {
    KlMask size = (KlMask)x & (KlMask){INT64_MAX, INT64_MAX}, more = (KlPair)size > l->most;
    l->most = (KlPair)((more & size) | (~more & (KlMask)l->most));
    l->undefined |= x != x;
}

static inline double kl_largest(const KlLargest *l) {
    double most = l->most[0] > l->most[1] ? l->most[0] : l->most[1];
    return (l->undefined[0] | l->undefined[1]) != 0 ? NAN : most;
}

static inline double kl_lanes_largest(const double *x, int32_t count) {
    KlLargest largest = {0}, other = {0};  // by turns, since each waits for what it was
    int32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        kl_largest_take(&largest, kl_load(x + i));
        kl_largest_take(&other, kl_load(x + i + 2));
    }
    kl_largest_take(&largest, other.most);
    largest.undefined |= other.undefined;
    for (; i + 2 <= count; i += 2) {
        kl_largest_take(&largest, kl_load(x + i));
    }
    if (i < count) {
        kl_largest_take(&largest, kl_both(x[i]));
    }
    return kl_largest(&largest);
}

// The same of products a_i b_i.
static inline double kl_lanes_largest_product(const double *a, const double *b, int32_t count) {
    KlLargest largest = {0}, other = {0};
    int32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        kl_largest_take(&largest, kl_load(a + i) * kl_load(b + i));
        kl_largest_take(&other, kl_load(a + i + 2) * kl_load(b + i + 2));
    }
    kl_largest_take(&largest, other.most);
    largest.undefined |= other.undefined;
    for (; i < count; i++) {
        kl_largest_take(&largest, kl_both(a[i] * b[i]));
    }
    return kl_largest(&largest);
}

// a . b, summed in four columns
static inline double kl_lanes_dot(const double *a, const double *b, int32_t count) {
    KlPair low = {0.0, 0.0}, high = {0.0, 0.0};
    int32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        low += kl_load(a + i) * kl_load(b + i);
        high += kl_load(a + i + 2) * kl_load(b + i + 2);
    }
    low += high;
    double sum = low[0] + low[1];
    for (; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// Six numbers in locals.
typedef struct KlSix {
    KlPair low, middle, high;
} KlSix;
static inline KlSix kl_load6(const double a[6]) { return (KlSix){kl_load(a), kl_load(a + 2), kl_load(a + 4)}; }

// Products of six and six, summed in two columns; their sum.
static inline KlPair kl_six_times(const KlSix *a, const double b[6]) {
    return (a->low * kl_load(b) + a->middle * kl_load(b + 2)) + a->high * kl_load(b + 4);
}
static inline KlPair kl_lanes_times6(const double a[6], const double b[6]) {
    return (kl_load(a) * kl_load(b) + kl_load(a + 2) * kl_load(b + 2)) + kl_load(a + 4) * kl_load(b + 4);
}
static inline double kl_lanes_dot6(const double a[6], const double b[6]) {
    KlPair sum = kl_lanes_times6(a, b);
    return sum[0] + sum[1];
}

static inline void kl_six_store(double to[6], KlSix a) {
    kl_store(to, a.low);
    kl_store(to + 2, a.middle);
    kl_store(to + 4, a.high);
}

// A^T x for rows of six that lie twelve apart.
static inline KlSix kl_lanes_gather(const double *a, const double *x, int32_t rows) {
    KlSix sum = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
    for (int32_t i = 0; i < rows; i++, a += 12) {
        KlPair factor = kl_both(x[i]);
        sum.low += kl_load(a) * factor;
        sum.middle += kl_load(a + 2) * factor;
        sum.high += kl_load(a + 4) * factor;
    }
    return sum;
}

// sum (6) += A^T x for rows of six that lie twelve apart, as those of Jacobians do. Five rows, as most joints have,
// two columns after two: that takes no loop, and few numbers at once.
static inline void kl_lanes_push(const double *a, const double *x, int32_t rows, double sum[6]) {
    if (rows == 5) {
        KlPair x0 = kl_both(x[0]), x1 = kl_both(x[1]), x2 = kl_both(x[2]), x3 = kl_both(x[3]), x4 = kl_both(x[4]);
        for (int32_t k = 0; k < 6; k += 2) {
            const double *column = a + k;
            KlPair taken = (kl_load(sum + k) + kl_load(column) * x0) + kl_load(column + 12) * x1;
            taken = (taken + kl_load(column + 24) * x2) + kl_load(column + 36) * x3;
            kl_store(sum + k, taken + kl_load(column + 48) * x4);
        }
        return;
    }
    KlPair low = kl_load(sum), middle = kl_load(sum + 2), high = kl_load(sum + 4);
    for (int32_t i = 0; i < rows; i++, a += 12) {
        KlPair factor = kl_both(x[i]);
        low += kl_load(a) * factor;
        middle += kl_load(a + 2) * factor;
        high += kl_load(a + 4) * factor;
    }
    kl_store(sum, low);
    kl_store(sum + 2, middle);
    kl_store(sum + 4, high);
}

// a . b and a . c, each as above
static inline KlPair kl_lanes_two_dots(const double *a, const double *b, const double *c, int32_t count) {
    KlPair low_b = {0.0, 0.0}, high_b = low_b, low_c = low_b, high_c = low_b;
    int32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        KlPair low = kl_load(a + i), high = kl_load(a + i + 2);
        low_b += low * kl_load(b + i);
        high_b += high * kl_load(b + i + 2);
        low_c += low * kl_load(c + i);
        high_c += high * kl_load(c + i + 2);
    }
    low_b += high_b;
    low_c += high_c;
    KlPair sums = {low_b[0] + low_b[1], low_c[0] + low_c[1]};
    for (; i < count; i++) {
        sums += kl_both(a[i]) * (KlPair){b[i], c[i]};
    }
    return sums;
}

// Rows (count x 12) times the twists of their two bodies.
static inline void kl_lanes_pull(const double *rows, int32_t count, const double one[6], const double two[6],
                                 double *product) {
    KlSix a = kl_load6(one), b = kl_load6(two);
    int32_t i = 0;
    for (; i + 2 <= count; i += 2, rows += 24) {
        KlPair first = kl_six_times(&a, rows) + kl_six_times(&b, rows + 6);
        KlPair second = kl_six_times(&a, rows + 12) + kl_six_times(&b, rows + 18);
        kl_store(product + i, (KlPair){first[0], second[0]} + (KlPair){first[1], second[1]});
    }
    if (i < count) {
        KlPair sum = kl_six_times(&a, rows) + kl_six_times(&b, rows + 6);
        product[i] = sum[0] + sum[1];
    }
}

// to (6) += factor a
static inline void kl_lanes_add6(double factor, const double a[6], double to[6]) {
    for (int32_t k = 0; k < 6; k += 2) {
        kl_store(to + k, kl_load(to + k) + kl_both(factor) * kl_load(a + k));
    }
}

#endif
