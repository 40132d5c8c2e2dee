// Joint kinematics: one small table says which translations a kind locks and how it holds rotations;
// rows are built from two primitives, a force at the follower's anchor and a torque between the bodies.
#include "sim/joints.h"

#include <string.h>

#include "math/lanes.h"
#include "math/trig.h"
#include "math/vec.h"

#define TWO_PI 6.283185307179586476925287

typedef enum Rotation {
    ROTATION_LOCKED,
    ROTATION_ABOUT_X,
    ROTATION_ABOUT_Z,
    ROTATION_UNIVERSAL,  // about x of the base, then y of the follower
    ROTATION_VECTOR,     // free, coordinates: rotation vector
    ROTATION_GIMBAL,     // free, coordinates: angles about x, y, z
} Rotation;

enum { X = 1, Y = 2, Z = 4 };

typedef struct Shape {
    unsigned locked;  // translations held, bits X Y Z of the base's axes
    Rotation rotation;
} Shape;

static const Shape shapes[KL_JOINT_KIND_COUNT] = {
    [KL_JOINT_FIXED] = {X | Y | Z, ROTATION_LOCKED},
    [KL_JOINT_REVOLUTE] = {X | Y | Z, ROTATION_ABOUT_X},
    [KL_JOINT_PRISMATIC] = {Y | Z, ROTATION_LOCKED},
    [KL_JOINT_CYLINDRICAL] = {Y | Z, ROTATION_ABOUT_X},
    [KL_JOINT_UNIVERSAL] = {X | Y | Z, ROTATION_UNIVERSAL},
    [KL_JOINT_SPHERICAL] = {X | Y | Z, ROTATION_VECTOR},
    [KL_JOINT_GIMBAL] = {X | Y | Z, ROTATION_GIMBAL},
    [KL_JOINT_CARTESIAN] = {0, ROTATION_LOCKED},
    [KL_JOINT_PLANAR] = {Z, ROTATION_ABOUT_Z},
};

static void column(const double m[9], int32_t k, double c[3]) {
    c[0] = m[k];
    c[1] = m[3 + k];
    c[2] = m[6 + k];
}

// ---- frames ------------------------------------------------------------------------------------

// Rotation matrix and product of quaternions as in math/vec.h, of two in lanes.
static void matrices_of(const KlPair q[4], KlPair r[9]) {
    KlPair w = q[0], x = q[1], y = q[2], z = q[3], one = kl_both(1.0), two = kl_both(2.0);
    r[0] = one - two * (y * y + z * z);
    r[1] = two * (x * y - w * z);
    r[2] = two * (x * z + w * y);
    r[3] = two * (x * y + w * z);
    r[4] = one - two * (x * x + z * z);
    r[5] = two * (y * z - w * x);
    r[6] = two * (x * z - w * y);
    r[7] = two * (y * z + w * x);
    r[8] = one - two * (x * x + y * y);
}

static void multiply_quaternions(const KlPair a[4], const KlPair b[4], KlPair c[4]) {
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

// Joint frames of base and follower, a lane each: the body's pose times the frame on it, and its matrix.
static void place_frames(const double *base_pose, const double *follower_pose, const KlJointDef *joint, double base[7],
                         KlJointFrame *frame) {
    KlPair body[7], local[7], r[9], placed[7];
    for (int32_t k = 0; k < 7; k++) {
        body[k] = (KlPair){base_pose[k], follower_pose[k]};
        local[k] = (KlPair){joint->base_frame[k], joint->follower_frame[k]};
    }
    matrices_of(body + 3, r);
    for (int32_t k = 0; k < 3; k++) {
        const KlPair *row = r + 3 * k;
        placed[k] = body[k] + (row[0] * local[0] + row[1] * local[1] + row[2] * local[2]);
    }
    multiply_quaternions(body + 3, local + 3, placed + 3);
    for (int32_t k = 0; k < 7 && joint->base < 0; k++) {
        placed[k][0] = joint->base_frame[k];
    }
    matrices_of(placed + 3, r);
    for (int32_t k = 0; k < 7; k++) {
        base[k] = placed[k][0];
        frame->pose[k] = placed[k][1];
    }
    for (int32_t k = 0; k < 9; k++) {
        frame->base[k] = r[k][0];
        frame->follower[k] = r[k][1];
    }
}

void kl_joint_frame(const KlJointDef *joint, const double *poses, KlJointFrame *frame) {
    static const double world[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    const double *base_pose = joint->base >= 0 ? poses + 7 * joint->base : world;
    const double *follower_pose = poses + 7 * joint->follower;
    double base[7], *follower = frame->pose, conjugate[4], relative[4];
    place_frames(base_pose, follower_pose, joint, base, frame);
    kl_sub3(follower, base, frame->offset);
    kl_sub3(follower, base_pose, frame->base_arm);
    kl_sub3(follower, follower_pose, frame->follower_arm);
    kl_quat_conjugate(base + 3, conjugate);
    kl_quat_mul(conjugate, follower + 3, relative);
    double sign = relative[0] < 0.0 ? -1.0 : 1.0;
    for (int32_t i = 0; i < 4; i++) {
        frame->relative[i] = sign * relative[i];
    }
}

// ---- rows --------------------------------------------------------------------------------------

// d/dt (axis of the base . d) = axis . (velocity of the follower at p_F - velocity of the base there)
static void linear_row(const KlJointFrame *frame, const double axis[3], double row[KL_ROW]) {
    kl_scale3(-1.0, axis, row);
    kl_cross3(axis, frame->base_arm, row + 3);
    kl_copy3(axis, row + 6);
    kl_cross3(frame->follower_arm, axis, row + 9);
}

// torque . (omega_F - omega_B)
static inline void angular_row(const double torque[3], double row[KL_ROW]) {
    for (int32_t k = 0; k < 3; k++) {
        row[k] = row[6 + k] = 0.0;
        row[3 + k] = -torque[k];
        row[9 + k] = torque[k];
    }
}

// b . f for an axis b of the base and f of the follower.
static double cosine(const KlJointFrame *frame, int32_t base_axis, int32_t follower_axis) {
    double b[3], f[3];
    column(frame->base, base_axis, b);
    column(frame->follower, follower_axis, f);
    return kl_dot3(b, f);
}

// The same times `sign`, and its rate f x b . (omega_F - omega_B).
static double cosine_row(const KlJointFrame *frame, int32_t base_axis, int32_t follower_axis, double sign,
                         double row[KL_ROW]) {
    double b[3], f[3];
    column(frame->base, base_axis, b);
    column(frame->follower, follower_axis, f);
    double torque[3] = {sign * (f[1] * b[2] - f[2] * b[1]), sign * (f[2] * b[0] - f[0] * b[2]),
                        sign * (f[0] * b[1] - f[1] * b[0])};
    angular_row(torque, row);
    return sign * kl_dot3(b, f);
}

// ---- constraints -------------------------------------------------------------------------------

// f = 2 v of the relative quaternion (w, v): f' = (w 1 - [v]x) omega in the base's axes, whose row i
// is the torque w e_i + v x e_i.
static int32_t locked_rotation(const KlJointFrame *frame, double *residual, double *rows) {
    const double *q = frame->relative;
    for (int32_t i = 0; i < 3; i++) {
        double unit[3] = {i == 0, i == 1, i == 2}, local[3], torque[3];
        kl_cross3(q + 1, unit, local);
        kl_axpy3(q[0], unit, local);
        kl_mat3_mul_vec(frame->base, local, torque);
        residual[i] = 2.0 * q[1 + i];
        angular_row(torque, rows + i * KL_ROW);
    }
    return 3;
}

// The follower's axis i stays along the base's: turning by a small angle about j moves it by -angle
// along k, about k by +angle along j.
static int32_t aligned_axis(const KlJointFrame *frame, int32_t i, double *residual, double *rows) {
    residual[0] = cosine_row(frame, (i + 2) % 3, i, -1.0, rows);
    residual[1] = cosine_row(frame, (i + 1) % 3, i, 1.0, rows + KL_ROW);
    return 2;
}

static int32_t universal_cross(const KlJointFrame *frame, double *residual, double *rows) {
    residual[0] = cosine_row(frame, 0, 1, -1.0, rows);
    return 1;
}

int32_t kl_joint_constraint(KlJointKind kind, const KlJointFrame *frame, double *residual, double *rows) {
    const Shape *shape = &shapes[kind];
    int32_t count = 0;
    for (int32_t k = 0; k < 3; k++) {
        if ((shape->locked & (1u << k)) != 0) {
            double axis[3];
            column(frame->base, k, axis);
            residual[count] = kl_dot3(axis, frame->offset);
            linear_row(frame, axis, rows + count * KL_ROW);
            count++;
        }
    }
    double *r = residual + count, *j = rows + count * KL_ROW;
    switch (shape->rotation) {
        case ROTATION_LOCKED: return count + locked_rotation(frame, r, j);
        case ROTATION_ABOUT_X: return count + aligned_axis(frame, 0, r, j);
        case ROTATION_ABOUT_Z: return count + aligned_axis(frame, 2, r, j);
        case ROTATION_UNIVERSAL: return count + universal_cross(frame, r, j);
        case ROTATION_VECTOR:
        case ROTATION_GIMBAL: break;
    }
    return count;
}

// ---- degrees of freedom ------------------------------------------------------------------------

// An angle by its sine and cosine, products of an axis with two normal to each other, and its row, of the rate
// (c s' - s c') / (s^2 + c^2): a torque along axis x (c of_sine - s of_cosine).
static inline void place_angle(const double axis[3], const double of_sine[3], const double of_cosine[3], double *sine,
                               double *cosine, double *row) {
    double s = kl_dot3(axis, of_sine), c = kl_dot3(axis, of_cosine), square = s * s + c * c, across[3], torque[3];
    double inverse = square > 0.0 ? 1.0 / square : 0.0;
    for (int32_t k = 0; k < 3; k++) {
        across[k] = inverse * (c * of_sine[k] - s * of_cosine[k]);
    }
    kl_cross3(axis, across, torque);
    *sine = s;
    *cosine = c;
    angular_row(torque, row);
}

static int32_t angle_about(const KlJointFrame *frame, int32_t i, double *q, double *cosines, double *rows) {
    double axis[3], sine[3], cosine[3];
    column(frame->follower, (i + 1) % 3, axis);
    column(frame->base, (i + 2) % 3, sine);
    column(frame->base, (i + 1) % 3, cosine);
    place_angle(axis, sine, cosine, q, cosines, rows);
    return 1;
}

// R = Rx(q1) Ry(q2): the follower's y is (0, cos q1, sin q1) in the base, the base's x is
// (cos q2, 0, sin q2) in the follower.
static int32_t universal_angles(const KlJointFrame *frame, double *q, double *cosines, double *rows) {
    double axis[3], sine[3], cosine[3];
    (void)angle_about(frame, 0, q, cosines, rows);
    column(frame->base, 0, axis);
    column(frame->follower, 2, sine);
    column(frame->follower, 0, cosine);
    place_angle(axis, sine, cosine, q + 1, cosines + 1, rows + KL_ROW);
    for (int32_t k = KL_ROW; k < 2 * KL_ROW; k++) {
        rows[k] = -rows[k];  // the follower's axes turn, not the base's
    }
    return 2;
}

// theta' = (1 - [theta]x / 2 + c [theta]x^2) omega in the base's axes, the inverse left Jacobian of
// SO(3), c = (1 - (|theta|/2) cot(|theta|/2)) / |theta|^2 -> 1/12.
static int32_t rotation_vector(const KlJointFrame *frame, double *q, double *rows) {
    kl_quat_log(frame->relative, q);
    double square = kl_dot3(q, q), c = 1.0 / 12.0;
    if (square > 1e-4) {  // below, the series: its next term is 1/720 |theta|^2
        double angle = sqrt(square), sine, cosine_half;
        kl_sincos(0.5 * angle, &sine, &cosine_half);
        c = (1.0 - 0.5 * angle * cosine_half / sine) / square;
    } else {
        c += square / 720.0;
    }
    for (int32_t i = 0; i < 3; i++) {
        double unit[3] = {i == 0, i == 1, i == 2}, once[3], twice[3], local[3], torque[3];
        kl_cross3(q, unit, once);  // transpose of -[theta]x / 2 is +[theta]x / 2
        kl_cross3(q, once, twice);
        kl_copy3(unit, local);
        kl_axpy3(0.5, once, local);
        kl_axpy3(c, twice, local);
        kl_mat3_mul_vec(frame->base, local, torque);
        angular_row(torque, rows + i * KL_ROW);
    }
    return 3;
}

// R = Rx(q1) Ry(q2) Rz(q3). The rates are the dual basis of the axes a1 = b_x, a2, a3 = f_z, with
// a2 normal to both and a1 . (a2 x a3) = cos q2.
static int32_t gimbal_angles(const KlJointFrame *frame, double *q, double *cosines, double *rows) {
    double sine2 = cosine(frame, 0, 2);
    double y = -cosine(frame, 1, 2), z = cosine(frame, 2, 2);
    double cosine2 = sqrt(y * y + z * z);
    q[0] = y;
    cosines[0] = z;
    q[1] = sine2;
    cosines[1] = cosine2;
    q[2] = -cosine(frame, 0, 1);
    cosines[2] = cosine(frame, 0, 0);
    double a1[3], a2[3], a3[3], b_y[3], b_z[3], torque[3];
    column(frame->base, 0, a1);
    column(frame->base, 1, b_y);
    column(frame->base, 2, b_z);
    column(frame->follower, 2, a3);
    double over = cosine2 > 0.0 ? 1.0 / cosine2 : 0.0;
    kl_scale3(cosine2 > 0.0 ? z * over : 1.0, b_y, a2);  // cos q1, sin q1
    kl_axpy3(y * over, b_z, a2);
    double inverse = 1.0 / (cosine2 > 1e-6 ? cosine2 : 1e-6);
    kl_cross3(a2, a3, torque);
    kl_scale3(inverse, torque, torque);
    angular_row(torque, rows);
    angular_row(a2, rows + KL_ROW);
    kl_cross3(a1, a2, torque);
    kl_scale3(inverse, torque, torque);
    angular_row(torque, rows + 2 * KL_ROW);
    return 3;
}

int32_t kl_joint_freedom(KlJointKind kind, const KlJointFrame *frame, double *coordinate, double *cosine,
                         double *rows) {
    const Shape *shape = &shapes[kind];
    int32_t count = 0;
    for (int32_t k = 0; k < 3; k++) {
        if ((shape->locked & (1u << k)) == 0) {
            double axis[3];
            column(frame->base, k, axis);
            coordinate[count] = kl_dot3(axis, frame->offset);
            linear_row(frame, axis, rows + count * KL_ROW);
            count++;
        }
    }
    double *q = coordinate + count, *c = cosine + count, *j = rows + count * KL_ROW;
    switch (shape->rotation) {
        case ROTATION_LOCKED: break;
        case ROTATION_ABOUT_X: return count + angle_about(frame, 0, q, c, j);
        case ROTATION_ABOUT_Z: return count + angle_about(frame, 2, q, c, j);
        case ROTATION_UNIVERSAL: return count + universal_angles(frame, q, c, j);
        case ROTATION_VECTOR: return count + rotation_vector(frame, q, j);
        case ROTATION_GIMBAL: return count + gimbal_angles(frame, q, c, j);
    }
    return count;
}

bool kl_joint_unwraps(KlJointKind kind, int32_t dof) {
    return kind != KL_JOINT_SPHERICAL && kl_joint_kind(kind)->angular[dof];
}

double kl_unwrap_angle(double angle, double previous) {
    double turns = (previous - angle) / TWO_PI + 0.5;
    return turns >= 0.0 && turns < 1.0 ? angle : angle + TWO_PI * floor(turns);
}

void kl_rows_velocity(const double *rows, int32_t count, int32_t base, int32_t follower, const double *twists,
                      double *velocity) {
    static const double rest[6] = {0.0};
    kl_lanes_pull(rows, count, base >= 0 ? twists + 6 * base : rest, follower >= 0 ? twists + 6 * follower : rest,
                  velocity);
}

double kl_row_velocity(const double *row, int32_t base, int32_t follower, const double *twists) {
    double velocity;
    kl_rows_velocity(row, 1, base, follower, twists, &velocity);
    return velocity;
}
