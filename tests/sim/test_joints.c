// Joint kinematics: residuals vanish where the joint is closed, and every row is the time derivative of
// its residual or coordinate, for every kind, unary and binary, near and far from closure.
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "math/trig.h"
#include "math/vec.h"
#include "sim/joints.h"
#include "sim/sim.h"
#include "support.h"

static void random_vector(KlRng *rng, double size, double *x, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        x[i] = kl_rng_range(rng, -size, size);
    }
}

static void random_pose(KlRng *rng, double pose[7]) {
    double turn[3];
    random_vector(rng, 1.0, pose, 3);
    random_vector(rng, 2.0, turn, 3);
    kl_quat_exp(turn, pose + 3);
}

static void inverse_pose(const double a[7], double b[7]) {
    static const double identity[7] = {0, 0, 0, 1, 0, 0, 0};
    kl_pose_relative(a, identity, b);
}

// The pose of F in B at coordinates q: what each kind means (kl.h).
static void place(KlJointKind kind, const double *q, double pose[7]) {
    memset(pose, 0, 7 * sizeof *pose);
    double x[4], y[4], z[4], xy[4];
    double about_x[3] = {0}, about_y[3] = {0}, about_z[3] = {0};
    switch (kind) {
        case KL_JOINT_REVOLUTE: about_x[0] = q[0]; break;
        case KL_JOINT_PRISMATIC: pose[0] = q[0]; break;
        case KL_JOINT_CYLINDRICAL:
            pose[0] = q[0];
            about_x[0] = q[1];
            break;
        case KL_JOINT_UNIVERSAL:
            about_x[0] = q[0];
            about_y[1] = q[1];
            break;
        case KL_JOINT_GIMBAL:
            about_x[0] = q[0];
            about_y[1] = q[1];
            about_z[2] = q[2];
            break;
        case KL_JOINT_SPHERICAL: kl_copy3(q, about_x); break;
        case KL_JOINT_CARTESIAN: kl_copy3(q, pose); break;
        case KL_JOINT_PLANAR:
            pose[0] = q[0];
            pose[1] = q[1];
            about_z[2] = q[2];
            break;
        default: break;
    }
    kl_quat_exp(about_x, x);
    kl_quat_exp(about_y, y);
    kl_quat_exp(about_z, z);
    kl_quat_mul(x, y, xy);
    kl_quat_mul(xy, z, pose + 3);
}

// A joint between two random bodies (or the world), closed at coordinates q, then disturbed.
static void random_joint(KlRng *rng, KlJointKind kind, bool unary, double disturbance, const double *q,
                         KlJointDef *joint, double poses[14]) {
    kl_default_joint_def(joint);
    joint->kind = kind;
    joint->base = unary ? -1 : 0;
    joint->follower = 1;
    random_pose(rng, joint->base_frame);
    random_pose(rng, joint->follower_frame);
    random_pose(rng, poses);
    double relative[7], base[7], follower[7], inverse[7];
    place(kind, q, relative);
    if (unary) {
        memcpy(base, joint->base_frame, sizeof base);
    } else {
        kl_pose_mul(poses, joint->base_frame, base);
    }
    kl_pose_mul(base, relative, follower);
    inverse_pose(joint->follower_frame, inverse);
    kl_pose_mul(follower, inverse, poses + 7);
    double shift[6];
    random_vector(rng, disturbance, shift, 6);
    kl_integrate_poses(1, 1.0, poses + 7, shift, poses + 7);
}

typedef struct Sample {
    double residual[KL_JOINT_MAX_ROWS], constraint[KL_JOINT_MAX_ROWS * KL_ROW];
    double coordinate[KL_JOINT_MAX_DOFS], freedom[KL_JOINT_MAX_DOFS * KL_ROW];
    int32_t rows, dofs;
} Sample;

static Sample sample(const KlJointDef *joint, const double *poses) {
    Sample s;
    KlJointFrame frame;
    kl_joint_frame(joint, poses, &frame);
    s.rows = kl_joint_constraint(joint->kind, &frame, s.residual, s.constraint);
    double cosine[KL_JOINT_MAX_DOFS];
    s.dofs = kl_joint_freedom(joint->kind, &frame, s.coordinate, cosine, s.freedom);
    for (int32_t i = 0; i < s.dofs; i++) {
        if (kl_joint_unwraps(joint->kind, i)) {
            s.coordinate[i] = kl_atan2(s.coordinate[i], cosine[i]);
        }
    }
    return s;
}

static void check_rates(const KlJointDef *joint, const double *poses, const double *twists) {
    const double h = 1e-6, tolerance = 2e-8;  // central difference: h^2 and rounding / h
    double ahead[14], behind[14];
    kl_integrate_poses(2, h, poses, twists, ahead);
    kl_integrate_poses(2, -h, poses, twists, behind);
    Sample now = sample(joint, poses), plus = sample(joint, ahead), minus = sample(joint, behind);
    assert_int_equal(now.rows + now.dofs, 6);
    for (int32_t i = 0; i < now.rows; i++) {
        double rate = kl_row_velocity(now.constraint + i * KL_ROW, joint->base, joint->follower, twists);
        assert_near(rate, (plus.residual[i] - minus.residual[i]) / (2.0 * h), tolerance);
    }
    for (int32_t i = 0; i < now.dofs; i++) {
        double rate = kl_row_velocity(now.freedom + i * KL_ROW, joint->base, joint->follower, twists);
        assert_near(rate, (plus.coordinate[i] - minus.coordinate[i]) / (2.0 * h), tolerance);
    }
}

static void every_row_is_a_time_derivative(void **state) {
    (void)state;
    KlRng rng = {7};
    for (int32_t kind = 0; kind < KL_JOINT_KIND_COUNT; kind++) {
        for (int32_t trial = 0; trial < 40; trial++) {
            double q[3], poses[14], twists[12];
            KlJointDef joint;
            random_vector(&rng, 1.2, q, 3);
            random_joint(&rng, (KlJointKind)kind, trial % 2 == 1, trial < 20 ? 1e-3 : 0.2, q, &joint, poses);
            random_vector(&rng, 1.0, twists, 12);
            check_rates(&joint, poses, twists);
        }
    }
}

static void a_closed_joint_has_no_residual_and_shows_its_coordinates(void **state) {
    (void)state;
    KlRng rng = {11};
    for (int32_t kind = 0; kind < KL_JOINT_KIND_COUNT; kind++) {
        for (int32_t trial = 0; trial < 10; trial++) {
            double q[3], poses[14], zero[6] = {0};
            KlJointDef joint;
            random_vector(&rng, 1.4, q, 3);
            random_joint(&rng, (KlJointKind)kind, trial % 2 == 1, 0.0, q, &joint, poses);
            Sample s = sample(&joint, poses);
            assert_int_equal(s.dofs, kl_joint_kind((KlJointKind)kind)->dofs);
            assert_near_array(s.residual, zero, s.rows, 1e-14);
            assert_near_array(s.coordinate, q, s.dofs, 1e-14);
        }
    }
}

static void reactions_of_a_binary_joint_cancel(void **state) {
    (void)state;
    KlRng rng = {13};
    for (int32_t kind = 0; kind < KL_JOINT_KIND_COUNT; kind++) {
        double q[3], poses[14];
        KlJointDef joint;
        random_vector(&rng, 1.0, q, 3);
        random_joint(&rng, (KlJointKind)kind, false, 0.2, q, &joint, poses);
        Sample s = sample(&joint, poses);
        for (int32_t i = 0; i < 6; i++) {
            const double *row = i < s.rows ? s.constraint + i * KL_ROW : s.freedom + (i - s.rows) * KL_ROW;
            double force[3], base[3], follower[3], torque[3], zero[3] = {0};
            kl_add3(row, row + 6, force);
            kl_cross3(poses, row, base);
            kl_cross3(poses + 7, row + 6, follower);
            kl_add3(row + 3, row + 9, torque);
            kl_add3(torque, base, torque);
            kl_add3(torque, follower, torque);
            assert_near_array(force, zero, 3, 1e-15);
            assert_near_array(torque, zero, 3, 1e-14);
        }
    }
}

static void contact_rows_are_velocities_in_a_right_handed_frame(void **state) {
    (void)state;
    KlRng rng = {17};
    for (int32_t trial = 0; trial < 100; trial++) {
        double poses[14], twists[12], rows[3 * KL_ROW], axes[9], cross[3];
        KlContact contact = {.body_a = trial % 2 == 0 ? -1 : 0, .body_b = 1};
        random_pose(&rng, poses);
        random_pose(&rng, poses + 7);
        random_vector(&rng, 1.0, twists, 12);
        random_vector(&rng, 1.0, contact.position, 3);
        random_vector(&rng, 1.0, contact.normal, 3);
        kl_scale3(1.0 / kl_norm3(contact.normal), contact.normal, contact.normal);
        kl_contact_axes(contact.normal, axes);
        kl_cross3(axes, axes + 3, cross);
        assert_near_array(cross, axes + 6, 3, 1e-14);
        assert_near(kl_norm3(axes), 1.0, 1e-14);
        assert_near(kl_dot3(axes, axes + 3), 0.0, 1e-14);
        kl_contact_rows(&contact, axes, poses, rows);
        double relative[3] = {0};
        for (int32_t side = 0; side < 2; side++) {
            int32_t body = side == 0 ? contact.body_a : contact.body_b;
            double arm[3], v[3];
            if (body >= 0) {
                kl_sub3(contact.position, poses + 7 * body, arm);
                kl_cross3(twists + 6 * body + 3, arm, v);
                kl_add3(v, twists + 6 * body, v);
                kl_axpy3(side == 0 ? -1.0 : 1.0, v, relative);
            }
        }
        for (int32_t k = 0; k < 3; k++) {
            assert_near(kl_row_velocity(rows + k * KL_ROW, contact.body_a, contact.body_b, twists),
                        kl_dot3(axes + 3 * k, relative), 1e-13);
        }
    }
}

static void angles_are_counted_past_half_a_turn(void **state) {
    (void)state;
    assert_near(kl_unwrap_angle(-3.1, 3.1), -3.1 + 6.283185307179586, 1e-14);
    assert_near(kl_unwrap_angle(3.1, -3.1), 3.1 - 6.283185307179586, 1e-14);
    assert_near(kl_unwrap_angle(0.5, 12.9), 0.5 + 2.0 * 6.283185307179586, 1e-14);
    assert_near(kl_unwrap_angle(0.5, 0.4), 0.5, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_a_time_derivative),
        cmocka_unit_test(a_closed_joint_has_no_residual_and_shows_its_coordinates),
        cmocka_unit_test(reactions_of_a_binary_joint_cancel),
        cmocka_unit_test(contact_rows_are_velocities_in_a_right_handed_frame),
        cmocka_unit_test(angles_are_counted_past_half_a_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
