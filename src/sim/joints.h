// Joint kinematics in maximal coordinates (paper, Sec. "Joints"): the residual f_J, the coordinates of
// the degrees of freedom, and the Jacobian rows of both.
//
// The joint frame of the base body is B, that of the follower F; d = p_F - p_B. Every row is the exact
// time derivative of its residual or coordinate, so a solution at velocity level drifts only by the
// integrator's second-order error:
//   linear    f = b_k . d                    row: force b_k at p_F on the follower, its opposite, at
//                                            the same point, on the base
//   locked    f = 2 vec(q_F relative to B)   (rotation vector up to third order)
//   aligned   f = the two components of the follower's axis off the base's axis (sines)
//   universal f = -b_x . f_y                 (cosine between the two axes of the cross)
// A row holds six numbers for the base body, then six for the follower (linear, angular).
#ifndef KL_SIM_JOINTS_H
#define KL_SIM_JOINTS_H

#include "kl.h"

enum { KL_JOINT_MAX_ROWS = 6, KL_JOINT_MAX_DOFS = 3, KL_ROW = 12 };

// Where a joint is now. Columns of the 3x3 matrices are the joint's axes in the world.
typedef struct KlJointFrame {
    double base[9], follower[9];
    double offset[3];        // d = p_F - p_B [m]
    double pose[7];          // of F: p_F [m], quaternion
    double base_arm[3];      // p_F - r_base, where the reaction acts on the base [m]
    double follower_arm[3];  // p_F - r_follower [m]
    double relative[4];      // orientation of F in B, w >= 0
} KlJointFrame;

void kl_joint_frame(const KlJointDef *joint, const double *poses, KlJointFrame *frame);

// Residual (m_j) [m], [rad] and rows (m_j x 12): translations first, then rotations. Returns m_j.
int32_t kl_joint_constraint(KlJointKind kind, const KlJointFrame *frame, double *residual, double *rows);

// Coordinates (d_j) in the order of KlJointKind and rows (d_j x 12) with q' = row . twists. Of those that unwrap the
// sine and cosine are given, times a number > 0: atan2 of them is the principal value in (-pi, pi]. Returns d_j. Rates
// of a gimbal near its lock (|cos q_2| < 1e-6) are cut.
int32_t kl_joint_freedom(KlJointKind kind, const KlJointFrame *frame, double *coordinate, double *cosine, double *rows);

// Whether a coordinate is an angle that may be counted past pi (a rotation vector may not).
bool kl_joint_unwraps(KlJointKind kind, int32_t dof);
// The value equal to `angle` modulo 2 pi that lies nearest to `previous`.
double kl_unwrap_angle(double angle, double previous);

// row . (u_base, u_follower); body -1 moves not at all. twists (n_b x 6).
double kl_row_velocity(const double *row, int32_t base, int32_t follower, const double *twists);
// The same for `count` rows.
void kl_rows_velocity(const double *rows, int32_t count, int32_t base, int32_t follower, const double *twists,
                      double *velocity);

#endif
