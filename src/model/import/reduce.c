// From what a file says to what can be simulated: places the links, finds their inertias, merges what
// does not move, and removes massless links between joints that together are one joint.
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/eigen.h"
#include "math/trig.h"
#include "math/vec.h"
#include "model/import/mechanism.h"
#include "model/inertia.h"

static const double SMALL_MASS = 1e-6;      // [kg] lighter links are placeholders of an exporter
static const double MOST_MASS = 1e12;       // [kg]
static const double MOST_INERTIA = 1e18;    // [kg m^2]
static const double SAME_POINT = 1e-6;      // [m] axes nearer than this meet
static const double SAME_DIRECTION = 1e-6;  // sine or cosine of an angle that counts as 0

// ---------------------------------------------------------------------------------------- place

static void inverse_pose(const double pose[7], double inverse[7]) {
    double moved[3], conjugate[4];
    kl_quat_conjugate(pose + 3, conjugate);
    kl_quat_rotate(conjugate, pose, moved);
    kl_scale3(-1.0, moved, inverse);
    memcpy(inverse + 3, conjugate, sizeof conjugate);
}

static void place_child(KlMechanism *mechanism, const KlImportJoint *joint, bool moved) {
    double at[7], back[7], there[7];
    kl_pose_mul(mechanism->links[joint->parent].pose, joint->parent_frame, at);
    if (moved && joint->moved) {
        kl_pose_mul(at, joint->motion, there);
        memcpy(at, there, sizeof at);
    }
    inverse_pose(joint->child_frame, back);
    kl_pose_mul(at, back, mechanism->links[joint->child].pose);
    kl_quat_normalize(mechanism->links[joint->child].pose + 3);
}

// A link with a second parent closes a loop by that joint.
static void find_closures(KlMechanism *mechanism, int32_t *parent_joint) {
    for (int32_t i = 0; i < mechanism->link_count; i++) {
        parent_joint[i] = -1;
    }
    for (int32_t j = 0; j < mechanism->joint_count; j++) {
        KlImportJoint *joint = &mechanism->joints[j];
        if (joint->closure) {
            continue;
        }
        if (parent_joint[joint->child] >= 0) {
            joint->closure = true;
            kl_mechanism_note(mechanism, joint->node, false, "second joint of its child link: it closes a loop");
        } else {
            parent_joint[joint->child] = j;
        }
    }
}

KlStatus kl_mechanism_place(KlMechanism *mechanism) {
    int32_t count = mechanism->link_count;
    int32_t *parent_joint = KL_ARENA_ARRAY(mechanism->arena, int32_t, count);
    int32_t *queue = KL_ARENA_ARRAY(mechanism->arena, int32_t, count);
    KL_TRY(kl_arena_check(mechanism->arena));
    find_closures(mechanism, parent_joint);
    int32_t tail = 0;
    for (int32_t i = 0; i < count; i++) {
        if (parent_joint[i] < 0) {
            queue[tail++] = i;
        }
    }
    for (int32_t head = 0; head < tail; head++) {
        for (int32_t j = 0; j < mechanism->joint_count; j++) {
            const KlImportJoint *joint = &mechanism->joints[j];
            if (!joint->closure && joint->parent == queue[head]) {
                place_child(mechanism, joint, false);
                queue[tail++] = joint->child;
            }
        }
    }
    if (tail < count) {
        return kl_fail_at(KL_ERR_SCENE, &(KlPlace){.file = mechanism->file},
                          "%d links hang on a cycle of joints without a root", (int)(count - tail));
    }
    return KL_OK;
}

// -------------------------------------------------------------------------------------- inertia

static void inertia_about_axes(const double quaternion[4], const double own[9], double turned[9]) {
    double rotation[9], half[9];
    kl_quat_to_mat3(quaternion, rotation);
    kl_mat3_mul(rotation, own, half);
    kl_mat3_mul_t(half, rotation, turned);
}

// inertia += mass (|d|^2 1 - d d^T)
static void add_parallel_axis(double mass, const double d[3], double inertia[9]) {
    double square = kl_dot3(d, d);
    for (int32_t r = 0; r < 3; r++) {
        for (int32_t c = 0; c < 3; c++) {
            inertia[3 * r + c] += mass * ((r == c ? square : 0.0) - d[r] * d[c]);
        }
    }
}

// Adds a part (mass, centre, inertia about it, all in the link frame) to a link.
static void add_mass(KlImportLink *link, double mass, const double centre[3], const double inertia[9]) {
    double total = link->mass + mass, joint_centre[3], shift[3];
    if (!(total > 0.0)) {
        return;
    }
    for (int32_t k = 0; k < 3; k++) {
        joint_centre[k] = (link->mass * link->centre[k] + mass * centre[k]) / total;
    }
    kl_sub3(link->centre, joint_centre, shift);
    add_parallel_axis(link->mass, shift, link->inertia);
    kl_sub3(centre, joint_centre, shift);
    add_parallel_axis(mass, shift, link->inertia);
    for (int32_t k = 0; k < 9; k++) {
        link->inertia[k] += inertia[k];
    }
    link->mass = total;
    kl_copy3(joint_centre, link->centre);
}

// The frame with the given x and y (unit, perpendicular).
static void frame_of_axes(const double origin[3], const double x[3], const double y[3], double pose[7]) {
    double with_x[4], old_y[3], new_z[3], turn[4], unit_y[3] = {0.0, 1.0, 0.0}, unit_z[3] = {0.0, 0.0, 1.0};
    kl_copy3(origin, pose);
    kl_frame_with_x(x, with_x);
    kl_quat_rotate(with_x, unit_y, old_y);
    kl_quat_rotate(with_x, unit_z, new_z);
    kl_sincos(0.5 * kl_atan2(kl_dot3(new_z, y), kl_dot3(old_y, y)), &turn[1], &turn[0]);
    turn[2] = turn[3] = 0.0;
    kl_quat_mul(with_x, turn, pose + 3);
}

// The box with a body's mass and principal moments I0 <= I1 <= I2: edge k has 6/m (I0 + I1 + I2 - 2 I_k).
static void box_like(const KlImportLink *link, KlGeomDef *box) {
    double work[6], moments[3], axes[9], inertia[9];
    kl_copy3(link->centre, box->pose);
    memcpy(inertia, link->inertia, sizeof inertia);
    if (!kl_eigen_symmetric(inertia, 3, moments, axes, work)) {
        return;
    }
    double trace = moments[0] + moments[1] + moments[2];
    for (int32_t k = 0; k < 3; k++) {
        double square = 6.0 / link->mass * (trace - 2.0 * moments[k]);
        box->size[k] = square > 1e-6 ? sqrt(square) : 1e-3;
    }
    frame_of_axes(link->centre, axes, axes + 3, box->pose);
}

static void size_stand_ins(KlMechanism *mechanism) {
    for (int32_t g = 0; g < mechanism->geom_count; g++) {
        KlImportGeom *geom = &mechanism->geoms[g];
        const KlImportLink *link = &mechanism->links[geom->link];
        if (!geom->stand_in) {
            continue;
        }
        bool known = link->has_inertial && link->mass >= SMALL_MASS;
        geom->def.size[0] = geom->def.size[1] = geom->def.size[2] = 0.1;
        if (known) {
            box_like(link, &geom->def);
        }
        kl_mechanism_note(mechanism, geom->node, false, "stand-in: a box of %.3g x %.3g x %.3g m, %s",
                          geom->def.size[0], geom->def.size[1], geom->def.size[2],
                          known ? "as the link's inertia" : "of no known size");
    }
}

// Mass properties at unit density; of a mesh that encloses no volume, those of its bounding box.
static KlStatus properties_of(const KlMechanism *mechanism, const KlGeomDef *def, KlMassProperties *properties) {
    const KlImportMesh *mesh = def->mesh >= 0 ? &mechanism->meshes[def->mesh] : NULL;
    if (mesh == NULL || mesh->solid) {
        return kl_geom_mass_properties(def, mesh != NULL ? &mesh->full : NULL, properties);
    }
    KlGeomDef box;
    double local[7] = {mesh->middle[0], mesh->middle[1], mesh->middle[2], 1.0, 0.0, 0.0, 0.0};
    kl_default_geom_def(&box);
    box.kind = KL_GEOM_BOX;
    kl_copy3(mesh->span, box.size);
    kl_pose_mul(def->pose, local, box.pose);
    return kl_geom_mass_properties(&box, NULL, properties);
}

static bool add_geometry(KlMechanism *mechanism, KlImportLink *link, const KlImportGeom *geom) {
    KlMassProperties properties;
    if (properties_of(mechanism, &geom->def, &properties) != KL_OK || !(properties.volume > 0.0)) {
        kl_mechanism_note(mechanism, geom->node, false, "gives no inertia");
        return false;
    }
    double density = geom->mass > 0.0 ? geom->mass / properties.volume : geom->density;
    double inertia[9];
    for (int32_t k = 0; k < 9; k++) {
        inertia[k] = density * properties.inertia[k];
    }
    add_mass(link, density * properties.volume, properties.centre, inertia);
    return true;
}

// Of collision geometry; a link that has none takes its visual geometry.
static bool add_geometries(KlMechanism *mechanism, int32_t link, bool visual) {
    bool found = false;
    for (int32_t g = 0; g < mechanism->geom_count; g++) {
        const KlImportGeom *geom = &mechanism->geoms[g];
        bool flat = geom->def.mesh >= 0 && mechanism->meshes[geom->def.mesh].flat;
        if (geom->link == link && (geom->counts || visual) && !flat && geom->def.kind != KL_GEOM_PLANE) {
            found = add_geometry(mechanism, &mechanism->links[link], geom) || found;
        }
    }
    return found;
}

KlStatus kl_mechanism_inertia(KlMechanism *mechanism) {
    size_stand_ins(mechanism);
    for (int32_t i = 0; i < mechanism->link_count; i++) {
        const KlImportLink *link = &mechanism->links[i];
        if (!link->has_inertial && (add_geometries(mechanism, i, false) || add_geometries(mechanism, i, true))) {
            kl_mechanism_note(mechanism, link->node, false, "no inertial: mass %.6g kg from its geometry", link->mass);
        }
    }
    return KL_OK;
}

// --------------------------------------------------------------------------------------- merging

// Follows merged links: `pose` in `*link` becomes the pose in the link that stands for it.
static void resolve(const KlMechanism *mechanism, int32_t *link, double pose[7]) {
    while (mechanism->links[*link].into >= 0) {
        double moved[7];
        kl_pose_mul(mechanism->links[*link].into_pose, pose, moved);
        memcpy(pose, moved, sizeof moved);
        *link = mechanism->links[*link].into;
    }
}

static int32_t representative(const KlMechanism *mechanism, int32_t link) {
    while (mechanism->links[link].into >= 0) {
        link = mechanism->links[link].into;
    }
    return link;
}

static void merge(KlMechanism *mechanism, int32_t child, int32_t parent) {
    KlImportLink *from = &mechanism->links[child], *into = &mechanism->links[parent];
    from->into = parent;
    kl_pose_relative(into->pose, from->pose, from->into_pose);
    double centre[3], inertia[9];
    kl_quat_rotate(from->into_pose + 3, from->centre, centre);
    kl_add3(centre, from->into_pose, centre);
    inertia_about_axes(from->into_pose + 3, from->inertia, inertia);
    add_mass(into, from->mass, centre, inertia);
}

static bool has_geometry(const KlMechanism *mechanism, int32_t link) {
    for (int32_t g = 0; g < mechanism->geom_count; g++) {
        if (mechanism->geoms[g].link == link) {
            return true;
        }
    }
    return false;
}

static void choose_world(KlMechanism *mechanism) {
    bool has_parent;
    for (int32_t i = 0; i < mechanism->link_count; i++) {
        KlImportLink *link = &mechanism->links[i];
        has_parent = link->is_world || link->floating;
        for (int32_t j = 0; j < mechanism->joint_count; j++) {
            const KlImportJoint *joint = &mechanism->joints[j];
            has_parent = has_parent || (!joint->closure && joint->child == i);
        }
        if (has_parent) {
            continue;
        }
        bool empty = link->mass < SMALL_MASS && !has_geometry(mechanism, i);
        link->is_world = empty || mechanism->options->base != KL_BASE_FREE;
        if (link->is_world && !empty) {
            kl_mechanism_note(mechanism, link->node, false, "root link: fixed to the world");
        }
    }
}

static void merge_fixed(KlMechanism *mechanism) {
    for (int32_t j = 0; j < mechanism->joint_count; j++) {
        KlImportJoint *joint = &mechanism->joints[j];
        bool light = mechanism->links[joint->child].mass < SMALL_MASS;
        if (joint->kind == KL_JOINT_FIXED && !joint->closure && (light || !mechanism->options->keep_fixed)) {
            merge(mechanism, joint->child, representative(mechanism, joint->parent));
            joint->removed = true;
        }
    }
}

// ------------------------------------------------------------------------------- massless chains

// A joint's frame at the start, in the world.
static void joint_pose(const KlMechanism *mechanism, const KlImportJoint *joint, double pose[7]) {
    kl_pose_mul(mechanism->links[joint->parent].pose, joint->parent_frame, pose);
}

static void axis_of(const double pose[7], int32_t which, double axis[3]) {
    double unit[3] = {0.0};
    unit[which] = 1.0;
    kl_quat_rotate(pose + 3, unit, axis);
}

// Where two lines meet; false when they pass each other or are parallel.
static bool lines_meet(const double p[3], const double u[3], const double q[3], const double v[3], double meet[3]) {
    double across[3], d[3], d_cross_v[3];
    kl_cross3(u, v, across);
    double square = kl_dot3(across, across);
    kl_sub3(q, p, d);
    if (square < SAME_DIRECTION || fabs(kl_dot3(d, across)) > SAME_POINT * sqrt(square)) {
        return false;
    }
    kl_cross3(d, v, d_cross_v);
    kl_copy3(p, meet);
    kl_axpy3(kl_dot3(d_cross_v, across) / square, u, meet);
    return true;
}

static bool point_on_line(const double point[3], const double p[3], const double u[3]) {
    double d[3], across[3];
    kl_sub3(point, p, d);
    kl_cross3(d, u, across);
    return kl_norm3(across) < SAME_POINT;
}

// What two joints in a row are together; false when no kind of ours is that.
static bool compose(const KlMechanism *mechanism, const KlImportJoint *first, const KlImportJoint *second,
                    KlJointKind *kind, double pose[7]) {
    double a[7], b[7], x[3], y[3], z[3], meet[3];
    joint_pose(mechanism, first, a);
    joint_pose(mechanism, second, b);
    axis_of(a, 0, x);
    axis_of(b, 0, y);
    if (second->kind == KL_JOINT_FIXED || first->kind == KL_JOINT_FIXED) {
        *kind = second->kind == KL_JOINT_FIXED ? first->kind : second->kind;
        memcpy(pose, second->kind == KL_JOINT_FIXED ? a : b, 7 * sizeof *pose);
        return true;
    }
    if (first->kind == KL_JOINT_REVOLUTE && second->kind == KL_JOINT_REVOLUTE) {
        if (fabs(kl_dot3(x, y)) > SAME_DIRECTION || !lines_meet(a, x, b, y, meet)) {
            return false;
        }
        *kind = KL_JOINT_UNIVERSAL;
        frame_of_axes(meet, x, y, pose);
        return true;
    }
    if (first->kind == KL_JOINT_UNIVERSAL && second->kind == KL_JOINT_REVOLUTE) {
        if (!point_on_line(a, b, y)) {
            return false;
        }
        axis_of(a, 2, z);
        *kind = kl_dot3(z, y) > 1.0 - SAME_DIRECTION ? KL_JOINT_GIMBAL : KL_JOINT_SPHERICAL;
        memcpy(pose, a, 7 * sizeof *pose);
        return true;
    }
    bool slides = (first->kind == KL_JOINT_PRISMATIC && second->kind == KL_JOINT_REVOLUTE) ||
                  (first->kind == KL_JOINT_REVOLUTE && second->kind == KL_JOINT_PRISMATIC);
    if (slides && kl_dot3(x, y) > 1.0 - SAME_DIRECTION) {
        *kind = KL_JOINT_CYLINDRICAL;
        memcpy(pose, first->kind == KL_JOINT_REVOLUTE ? a : b, 7 * sizeof *pose);
        return true;
    }
    return false;
}

static void copy_freedom(const KlImportJoint *from, int32_t i, KlImportJoint *both, int32_t to) {
    both->lower[to] = from->lower[i];
    both->upper[to] = from->upper[i];
    both->effort_limit[to] = from->effort_limit[i];
    both->damping[to] = from->damping[i];
    both->armature[to] = from->armature[i];
    both->kp[to] = from->kp[i];
    both->kd[to] = from->kd[i];
    both->idle[to] = !from->actuated || from->idle[i];
}

// Per degree of freedom of the composite, what the two joints had; a cylindrical joint slides first.
static void compose_values(KlMechanism *mechanism, const KlImportJoint *first, const KlImportJoint *second,
                           KlImportJoint *both) {
    bool swap = both->kind == KL_JOINT_CYLINDRICAL && first->kind == KL_JOINT_REVOLUTE;
    const KlImportJoint *parts[2] = {swap ? second : first, swap ? first : second};
    int32_t to = 0;
    for (int32_t p = 0; p < 2; p++) {
        for (int32_t i = 0; i < kl_joint_kind(parts[p]->kind)->dofs && to < 6; i++, to++) {
            copy_freedom(parts[p], i, both, to);
        }
    }
    both->actuated = first->actuated || second->actuated;
    bool limited = false;
    for (int32_t i = 0; both->kind == KL_JOINT_SPHERICAL && i < 3; i++) {  // coordinates are others now
        limited = limited || isfinite(both->lower[i]) || isfinite(both->upper[i]);
        both->lower[i] = -INFINITY;
        both->upper[i] = INFINITY;
    }
    if (limited) {
        kl_mechanism_note(mechanism, first->node, true, "its limits are not those of a spherical joint: left out");
    }
}

// The joints that hang on a link (merged ones counted for their representative).
static int32_t joints_at(const KlMechanism *mechanism, int32_t link, int32_t found[3]) {
    int32_t count = 0;
    for (int32_t j = 0; j < mechanism->joint_count; j++) {
        const KlImportJoint *joint = &mechanism->joints[j];
        bool here = representative(mechanism, joint->parent) == link || representative(mechanism, joint->child) == link;
        if (!joint->removed && here) {
            if (count < 3) {
                found[count] = j;
            }
            count++;
        }
    }
    return count;
}

// What two motions in a row do to the composite's frame G: with both joint frames A and B as they stand before,
// X = A M1 A^-1 B M2 B^-1 moves the child, and M = G^-1 X G.
static void compose_motions(const KlMechanism *mechanism, const KlImportJoint *first, const KlImportJoint *second,
                            const double pose[7], KlImportJoint *both) {
    const KlImportJoint *parts[2] = {first, second};
    double turn[7] = {0, 0, 0, 1, 0, 0, 0}, back[7], next[7];
    both->moved = first->moved || second->moved;
    for (int32_t p = 0; p < 2; p++) {
        double frame[7];
        if (parts[p]->moved) {
            joint_pose(mechanism, parts[p], frame);
            kl_pose_mul(turn, frame, next);
            kl_pose_mul(next, parts[p]->motion, turn);
            inverse_pose(frame, back);
            kl_pose_mul(turn, back, next);
            memcpy(turn, next, sizeof turn);
        }
    }
    inverse_pose(pose, back);
    kl_pose_mul(back, turn, next);
    kl_pose_mul(next, pose, both->motion);
}

// Replaces joints P -> L and L -> C by one joint P -> C. A closure may point either way.
static bool collapse(KlMechanism *mechanism, int32_t link) {
    int32_t at[3];
    if (joints_at(mechanism, link, at) != 2) {
        return false;
    }
    KlImportJoint *first = &mechanism->joints[at[0]], *second = &mechanism->joints[at[1]];
    if (representative(mechanism, first->child) != link) {
        KlImportJoint *swap = first;
        first = second;
        second = swap;
    }
    bool reversed = representative(mechanism, second->parent) != link;  // both end here
    if (representative(mechanism, first->child) != link ||
        (reversed && (second->kind != KL_JOINT_FIXED || !second->closure))) {
        return false;
    }
    KlJointKind kind;
    double pose[7];
    if (!compose(mechanism, first, second, &kind, pose)) {
        return false;
    }
    KlImportJoint both = *first;
    compose_motions(mechanism, first, second, pose, &both);
    both.kind = kind;
    both.closure = first->closure || second->closure;
    compose_values(mechanism, first, second, &both);
    both.child = reversed ? second->parent : second->child;
    kl_pose_relative(mechanism->links[both.parent].pose, pose, both.parent_frame);
    // The far side of a closure does not coincide yet: its frame follows through the second joint.
    const double *near = reversed ? second->child_frame : second->parent_frame;
    const double *far = reversed ? second->parent_frame : second->child_frame;
    int32_t near_link = reversed ? second->child : second->parent;
    double in_near[7], in_joint[7];
    kl_pose_relative(mechanism->links[near_link].pose, pose, in_near);
    kl_pose_relative(near, in_near, in_joint);
    kl_pose_mul(far, in_joint, both.child_frame);
    kl_mechanism_note(mechanism, mechanism->links[link].node, false,
                      "massless link between joints: together they are one %s joint", kl_joint_kind(kind)->id);
    *first = both;
    second->removed = true;
    mechanism->links[link].is_world = true;  // no body comes of it
    return true;
}

// -------------------------------------------------------------------------------- odd inertias

static KlStatus make_valid(KlMechanism *mechanism, KlImportLink *link) {
    double moments[3];
    bool sane = link->mass <= MOST_MASS;
    for (int32_t k = 0; k < 9; k++) {
        sane = sane && fabs(link->inertia[k]) <= MOST_INERTIA;
    }
    if (!sane) {
        return kl_xml_fail(link->node, "mass %g kg with inertia %g, %g, %g kg m^2: at most %g and %g can be simulated",
                           link->mass, link->inertia[0], link->inertia[4], link->inertia[8], MOST_MASS, MOST_INERTIA);
    }
    if (link->mass < SMALL_MASS) {
        double mass = mechanism->options->placeholder_mass, radius = 0.01;
        kl_mechanism_note(mechanism, link->node, false,
                          "moving link of %.3g kg: taken as a ball of %.3g kg, radius 1 cm (placeholder mass)",
                          link->mass, mass);
        link->mass = mass;
        for (int32_t k = 0; k < 9; k++) {
            link->inertia[k] = k % 4 == 0 ? 0.4 * mass * radius * radius : 0.0;
        }
        return KL_OK;
    }
    kl_principal_moments(link->inertia, moments);
    double lack = moments[2] - moments[1] - moments[0];  // triangle inequality
    double floor = 1e-9 * link->mass;                    // a gyration radius of 30 um
    double add = fmax(fmax(lack, floor - moments[0]), 0.0);
    if (add > 1e-9 * fabs(moments[2])) {
        kl_mechanism_note(mechanism, link->node, false,
                          "principal moments %.3g, %.3g, %.3g are no body's: %.3g kg m^2 was added to each", moments[0],
                          moments[1], moments[2], add);
    }
    for (int32_t k = 0; add > 0.0 && k < 9; k += 4) {
        link->inertia[k] += add;
    }
    return KL_OK;
}

// ------------------------------------------------------------------------------------- the start

// Joints hold links that remain: called after the reduction. Roots first, then along the joint tree.
void kl_mechanism_move(KlMechanism *mechanism) {
    bool any = false;
    for (int32_t i = 0; i < mechanism->link_count; i++) {
        KlImportLink *link = &mechanism->links[i];
        any = any || link->has_start;
        if (link->has_start && link->into < 0) {
            memcpy(link->pose, link->start, sizeof link->pose);
        }
    }
    for (int32_t j = 0; j < mechanism->joint_count; j++) {
        any = any || mechanism->joints[j].moved;
    }
    // As many rounds as the tree is deep settle every link; a round that changes nothing ends it.
    for (int32_t round = 0; any && round < mechanism->link_count; round++) {
        any = false;
        for (int32_t j = 0; j < mechanism->joint_count; j++) {
            const KlImportJoint *joint = &mechanism->joints[j];
            double before[7];
            if (joint->removed || joint->closure) {
                continue;
            }
            memcpy(before, mechanism->links[joint->child].pose, sizeof before);
            place_child(mechanism, joint, true);
            for (int32_t k = 0; k < 7; k++) {
                any = any || before[k] != mechanism->links[joint->child].pose[k];
            }
        }
    }
}

static void warn_of_ratio(KlMechanism *mechanism) {
    double least = INFINITY, most = 0.0;
    const KlImportLink *heavy = NULL;
    for (int32_t i = 0; i < mechanism->link_count; i++) {
        const KlImportLink *link = &mechanism->links[i];
        if (link->into < 0 && !link->is_world) {
            least = fmin(least, link->mass);
            if (link->mass > most) {
                most = link->mass;
                heavy = link;
            }
        }
    }
    if (heavy != NULL && most > 1e4 * least) {
        kl_mechanism_note(mechanism, heavy->node, false,
                          "mass %.6g kg is %.2g times the lightest body's: check the units of the file", most,
                          most / least);
    }
}

KlStatus kl_mechanism_reduce(KlMechanism *mechanism) {
    choose_world(mechanism);
    merge_fixed(mechanism);
    for (bool again = true; again;) {
        again = false;
        for (int32_t i = 0; i < mechanism->link_count; i++) {
            const KlImportLink *link = &mechanism->links[i];
            bool massless = link->into < 0 && !link->is_world && link->mass < SMALL_MASS;
            again = (massless && !has_geometry(mechanism, i) && collapse(mechanism, i)) || again;
        }
    }
    for (int32_t i = 0; i < mechanism->link_count; i++) {
        KlImportLink *link = &mechanism->links[i];
        if (link->into < 0 && !link->is_world) {
            KL_TRY(make_valid(mechanism, link));
        }
    }
    warn_of_ratio(mechanism);
    // Joints now speak of the links that remain.
    for (int32_t j = 0; j < mechanism->joint_count; j++) {
        KlImportJoint *joint = &mechanism->joints[j];
        resolve(mechanism, &joint->parent, joint->parent_frame);
        resolve(mechanism, &joint->child, joint->child_frame);
    }
    for (int32_t g = 0; g < mechanism->geom_count; g++) {
        resolve(mechanism, &mechanism->geoms[g].link, mechanism->geoms[g].def.pose);
    }
    for (int32_t i = 0; i < mechanism->exclude_count; i++) {
        KlImportPair *pair = &mechanism->excludes[i];
        *pair = (KlImportPair){representative(mechanism, pair->link_a), representative(mechanism, pair->link_b)};
    }
    return KL_OK;
}
