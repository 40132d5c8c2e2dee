// Vectors of any length and of three, quaternions (w, x, y, z) and 3x3 row-major matrices: inline, only + - * / sqrt.
// Outputs come last and may not alias inputs unless a line says so.
#ifndef KL_MATH_VEC_H
#define KL_MATH_VEC_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static inline double kl_dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static inline double kl_norm3(const double a[3]) { return sqrt(kl_dot3(a, a)); }
static inline void kl_cross3(const double a[3], const double b[3], double c[3]) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}
static inline void kl_add3(const double a[3], const double b[3], double c[3]) {  // may alias
    c[0] = a[0] + b[0];
    c[1] = a[1] + b[1];
    c[2] = a[2] + b[2];
}
static inline void kl_sub3(const double a[3], const double b[3], double c[3]) {  // may alias
    c[0] = a[0] - b[0];
    c[1] = a[1] - b[1];
    c[2] = a[2] - b[2];
}
static inline void kl_scale3(double s, const double a[3], double c[3]) {  // may alias
    c[0] = s * a[0];
    c[1] = s * a[1];
    c[2] = s * a[2];
}
static inline void kl_axpy3(double s, const double a[3], double c[3]) {  // c += s a
    c[0] += s * a[0];
    c[1] += s * a[1];
    c[2] += s * a[2];
}
static inline void kl_copy3(const double a[3], double c[3]) {
    c[0] = a[0];
    c[1] = a[1];
    c[2] = a[2];
}

// y = A x and y = A^T x
static inline void kl_mat3_mul_vec(const double a[9], const double x[3], double y[3]) {
    y[0] = a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
    y[1] = a[3] * x[0] + a[4] * x[1] + a[5] * x[2];
    y[2] = a[6] * x[0] + a[7] * x[1] + a[8] * x[2];
}
static inline void kl_mat3_tmul_vec(const double a[9], const double x[3], double y[3]) {
    y[0] = a[0] * x[0] + a[3] * x[1] + a[6] * x[2];
    y[1] = a[1] * x[0] + a[4] * x[1] + a[7] * x[2];
    y[2] = a[2] * x[0] + a[5] * x[1] + a[8] * x[2];
}
static inline void kl_mat3_mul(const double a[9], const double b[9], double c[9]) {
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
        }
    }
}
// C = A B^T
static inline void kl_mat3_mul_t(const double a[9], const double b[9], double c[9]) {
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            c[3 * i + j] = a[3 * i] * b[3 * j] + a[3 * i + 1] * b[3 * j + 1] + a[3 * i + 2] * b[3 * j + 2];
        }
    }
}
static inline void kl_mat3_transpose(const double a[9], double c[9]) {
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            c[3 * i + j] = a[3 * j + i];
        }
    }
}
// Inverse by cofactors; false (and zeros) when the determinant is 0 or not finite.
static inline bool kl_mat3_inverse(const double a[9], double c[9]) {
    double c00 = a[4] * a[8] - a[5] * a[7];
    double c01 = a[5] * a[6] - a[3] * a[8];
    double c02 = a[3] * a[7] - a[4] * a[6];
    double det = a[0] * c00 + a[1] * c01 + a[2] * c02;
    bool ok = isfinite(det) && det != 0.0;
    double s = ok ? 1.0 / det : 0.0;
    c[0] = s * c00;
    c[1] = s * (a[2] * a[7] - a[1] * a[8]);
    c[2] = s * (a[1] * a[5] - a[2] * a[4]);
    c[3] = s * c01;
    c[4] = s * (a[0] * a[8] - a[2] * a[6]);
    c[5] = s * (a[2] * a[3] - a[0] * a[5]);
    c[6] = s * c02;
    c[7] = s * (a[1] * a[6] - a[0] * a[7]);
    c[8] = s * (a[0] * a[4] - a[1] * a[3]);
    return ok;
}

// c = a b (Hamilton)
static inline void kl_quat_mul(const double a[4], const double b[4], double c[4]) {
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}
static inline void kl_quat_conjugate(const double a[4], double c[4]) {  // may alias
    c[0] = a[0];
    c[1] = -a[1];
    c[2] = -a[2];
    c[3] = -a[3];
}
static inline void kl_quat_normalize(double q[4]) {
    double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double s = n > 0.0 ? 1.0 / n : 0.0;
    q[0] = n > 0.0 ? s * q[0] : 1.0;
    q[1] *= s;
    q[2] *= s;
    q[3] *= s;
}
static inline void kl_quat_to_mat3(const double q[4], double r[9]) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    r[0] = 1.0 - 2.0 * (y * y + z * z);
    r[1] = 2.0 * (x * y - w * z);
    r[2] = 2.0 * (x * z + w * y);
    r[3] = 2.0 * (x * y + w * z);
    r[4] = 1.0 - 2.0 * (x * x + z * z);
    r[5] = 2.0 * (y * z - w * x);
    r[6] = 2.0 * (x * z - w * y);
    r[7] = 2.0 * (y * z + w * x);
    r[8] = 1.0 - 2.0 * (x * x + y * y);
}
static inline void kl_quat_rotate(const double q[4], const double x[3], double y[3]) {
    double r[9];
    kl_quat_to_mat3(q, r);
    kl_mat3_mul_vec(r, x, y);
}

// Poses (7): c = a after b, i.e. x -> a(b(x)); and c = a^-1 b.
static inline void kl_pose_mul(const double a[7], const double b[7], double c[7]) {
    double moved[3];
    kl_quat_rotate(a + 3, b, moved);
    kl_add3(a, moved, c);
    kl_quat_mul(a + 3, b + 3, c + 3);
}
static inline void kl_pose_relative(const double a[7], const double b[7], double c[7]) {
    double conj[4], d[3];
    kl_quat_conjugate(a + 3, conj);
    kl_sub3(b, a, d);
    kl_quat_rotate(conj, d, c);
    kl_quat_mul(conj, b + 3, c + 3);
}

#endif
