// The joint of a body to its parent: where it acts, what it leaves free, and its reactions.
#include <math.h>
#include <string.h>

#include "dual/tree_parts.h"
#include "math/vec.h"

static const double DEPENDENT = 1e-6;     // of a torque: what earlier ones of its joint must leave of it
static const double ORTHONORMAL = 1e-12;  // products of a joint's forces, from those of orthonormal ones

// Of the joint's row `row` the wrench on the child about its centre, and on the parent about that one's.
static const double *child_row(const KlProblem *p, const KlTreeNode *n, int32_t row) {
    return p->jacobian + 12 * (size_t)(p->block_start[n->block] + row) + 6 * n->side;
}
static const double *parent_row(const KlProblem *p, const KlTreeNode *n, int32_t row) {
    return p->jacobian + 12 * (size_t)(p->block_start[n->block] + row) + 6 * (1 - n->side);
}

// What is normal to the first `count` of three directions, in the places behind them.
static void add_normals(int32_t count, double direction[9]) {
    static const double unit[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    if (count == 0) {
        memcpy(direction, unit, sizeof unit);
        return;
    }
    if (count == 1) {
        int32_t axis = fabs(direction[0]) <= fabs(direction[1]) ? 0 : 1;
        axis = fabs(direction[2]) < fabs(direction[axis]) ? 2 : axis;
        kl_cross3(unit + 3 * axis, direction, direction + 3);
    }
    if (count < 3) {
        kl_cross3(direction, direction + 3, direction + 6);
    }
}

// Where forces act, from the centre that feels the torques `sum` crossed by the forces: r out of
// sum over the forces of a x (r x a).
static void find_arm(const KlTreeNode *n, const double sum[3], double arm[3]) {
    kl_scale3(n->forces == 3 ? 0.5 : 1.0, sum, arm);
    if (n->forces == 2) {
        const double *normal = n->across + 6;
        kl_axpy3(-0.5 * kl_dot3(normal, sum), normal, arm);
    }
}

static double square3(const double a[3]) { return kl_dot3(a, a); }

// Whether the joint's forces are normal to each other and of unit size.
static bool are_orthonormal(const double *force, int32_t count) {
    double error = 0.0;
    for (int32_t i = 0; i < count; i++) {
        for (int32_t j = 0; j <= i; j++) {
            double product = kl_dot3(force + 3 * i, force + 3 * j) - (i == j);
            error += product * product;
        }
    }
    return error <= ORTHONORMAL * ORTHONORMAL;
}

static bool place_forces(const KlProblem *p, const KlTreeNode *nodes, KlTreeNode *n) {
    double sum[3] = {0.0}, parent_sum[3] = {0.0}, arm[3], parent_arm[3];
    for (int32_t i = 0; i < n->forces; i++) {
        const double *a = child_row(p, n, i), *b = parent_row(p, n, i);
        double pulled[3];
        kl_cross3(a, a + 3, pulled);
        kl_add3(sum, pulled, sum);
        kl_cross3(b + 3, a, pulled);
        kl_add3(parent_sum, pulled, parent_sum);
        kl_copy3(a, n->across + 3 * i);
    }
    add_normals(n->forces, n->across);
    find_arm(n, sum, arm);
    kl_copy3(arm, n->point);
    n->centre[0] = n->centre[1] = n->centre[2] = 0.0;
    if (n->parent >= 0) {
        find_arm(n, parent_sum, parent_arm);
        kl_add3(nodes[n->parent].centre, parent_arm, n->point);
        kl_sub3(n->point, arm, n->centre);
    }
    return are_orthonormal(n->across, n->forces);
}

// Vectors reciprocal to the joint's torques, and the axes that these leave free.
static bool place_torques(const KlProblem *p, KlTreeNode *n) {
    double torque[9] = {0.0}, around[3];
    for (int32_t i = 0; i < n->torques; i++) {
        kl_copy3(child_row(p, n, n->forces + i) + 3, torque + 3 * i);
    }
    add_normals(n->torques, torque);
    kl_cross3(torque + 3, torque + 6, around);
    double volume = kl_dot3(torque, around), inverse = 1.0 / volume;
    double size = square3(torque) * square3(torque + 3) * square3(torque + 6);
    for (int32_t i = 0; i < n->torques; i++) {
        kl_cross3(torque + 3 * ((i + 1) % 3), torque + 3 * ((i + 2) % 3), around);
        kl_scale3(inverse, around, n->torque + 3 * i);
    }
    for (int32_t i = n->torques; i < 3; i++) {
        kl_copy3(torque + 3 * i, n->torque + 3 * i);
    }
    return volume * volume > DEPENDENT * DEPENDENT * size;
}

static bool is_torque(const double row[6]) { return row[0] == 0.0 && row[1] == 0.0 && row[2] == 0.0; }

bool kl_tree_place_joint(const KlProblem *p, const KlTreeNode *nodes, KlTreeNode *n) {
    int32_t rows = 6 - n->freedoms;
    n->forces = 0;
    while (n->forces < rows && !is_torque(child_row(p, n, n->forces))) {
        n->forces++;
    }
    n->torques = rows - n->forces;
    for (int32_t i = n->forces; i < rows; i++) {
        if (!is_torque(child_row(p, n, i))) {
            return false;
        }
    }
    return n->forces <= 3 && n->torques <= 3 && place_forces(p, nodes, n) && place_torques(p, n);
}

// A motion of the point and about it, about the origin.
static void move_motion(const KlTreeNode *n, const double speed[3], const double turn[3], double moved[6]) {
    double carried[3];
    kl_cross3(n->point, turn, carried);
    kl_add3(speed, carried, moved);
    kl_copy3(turn, moved + 3);
}

// Motion `i` that the joint leaves: along what is across to its forces, then about the axes normal to its torques.
void kl_tree_free_motion(const KlTreeNode *n, int32_t i, double motion[6]) {
    static const double none[3] = {0.0};
    int32_t slides = 3 - n->forces;
    const double *speed = i < slides ? n->across + 3 * (n->forces + i) : none;
    const double *turn = i < slides ? none : n->torque + 3 * (n->torques + i - slides);
    move_motion(n, speed, turn, motion);
}

// Twist past the parent's with which the rows have v = 0.
void kl_tree_close_gap(const KlProblem *p, KlTreeNode *n) {
    const double *given = p->free_velocity + (n->block >= 0 ? p->block_start[n->block] : 0);
    double speed[3] = {0.0}, turn[3] = {0.0};
    for (int32_t i = 0; i < n->forces; i++) {
        kl_axpy3(-given[i], n->across + 3 * i, speed);
    }
    for (int32_t i = 0; i < n->torques; i++) {
        kl_axpy3(-given[n->forces + i], n->torque + 3 * i, turn);
    }
    move_motion(n, speed, turn, n->gap);
}

// The joint's reactions out of the wrench that it puts on its child.
void kl_tree_take_joint(const KlProblem *p, const KlTreeNode *n, const double wrench[6], double *lambda) {
    double *own = lambda + p->block_start[n->block], arm[3], torque[3];
    kl_cross3(n->point, wrench, arm);
    kl_sub3(wrench + 3, arm, torque);
    for (int32_t i = 0; i < n->forces; i++) {
        own[i] = kl_dot3(n->across + 3 * i, wrench);
    }
    for (int32_t i = 0; i < n->torques; i++) {
        own[n->forces + i] = kl_dot3(n->torque + 3 * i, torque);
    }
}
