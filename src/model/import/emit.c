// From a reduced mechanism to a builder: bodies at their centres of mass, joints, geometry, masks.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/trig.h"
#include "math/vec.h"
#include "model/import/mechanism.h"
#include "model/names.h"

enum { GROUP_MECHANISM = 1u, GROUP_WORLD = 2u, MAX_CLASSES = 31 };
static const uint32_t GROUP_GROUND = 1u << MAX_CLASSES;

typedef struct Emitter {
    KlMechanism *mechanism;
    KlBuilder *builder;
    int32_t *body_of;                             // (links) body, -1 = world
    KlNames body_names, joint_names, geom_names;  // taken so far
    int32_t *geom_of;                             // (geoms) of the builder, -1 = left out
    int32_t *class_of;                            // (geoms) who meet the same others, with MJCF's masks
    int32_t example[MAX_CLASSES];                 // a geom of each class
    int32_t class_count;
} Emitter;

enum { LONGEST_NAME = 200 };  // bytes, as scenes allow

// A name that a scene takes: not empty, not too long, not "world", not there yet. A change is told.
static KlStatus scene_name(KlMechanism *mechanism, const KlXmlNode *node, const char *kind, const char *wanted,
                           KlNames *taken, const char **name) {
    char text[LONGEST_NAME + 1];
    const char *from = wanted[0] != '\0' ? wanted : kind;
    size_t length = strlen(from), room = LONGEST_NAME - 12;  // for a number
    length = length < room ? length : room;
    while (((unsigned char)from[length] & 0xc0u) == 0x80u) {  // not inside a character
        length--;
    }
    snprintf(text, sizeof text, "%.*s", (int)length, from);
    for (int32_t i = 2; strcmp(text, "world") == 0 || kl_names_find(taken, text) >= 0; i++) {
        snprintf(text, sizeof text, "%.*s_%d", (int)length, from, (int)i);
    }
    if (strcmp(text, wanted) != 0) {
        kl_mechanism_note(mechanism, node, false, "%s \"%.80s\" is named \"%.80s\" in the scene", kind, wanted, text);
    }
    *name = kl_arena_text(mechanism->arena, text);
    KL_TRY(kl_arena_check(mechanism->arena));
    return kl_names_add(taken, *name);
}

static KlStatus emit_bodies(Emitter *emitter) {
    for (int32_t i = 0; i < emitter->mechanism->link_count; i++) {
        const KlImportLink *link = &emitter->mechanism->links[i];
        emitter->body_of[i] = -1;
        if (link->into >= 0 || link->is_world) {
            continue;
        }
        KlBodyDef def;
        kl_default_body_def(&def);
        KL_TRY(scene_name(emitter->mechanism, link->node, "body", link->name, &emitter->body_names, &def.name));
        def.mass = link->mass;
        for (int32_t r = 0; r < 3; r++) {
            for (int32_t c = 0; c < 3; c++) {  // files round: symmetric exactly
                def.inertia[3 * r + c] = 0.5 * (link->inertia[3 * r + c] + link->inertia[3 * c + r]);
            }
        }
        double centre[3];
        kl_quat_rotate(link->pose + 3, link->centre, centre);
        kl_add3(link->pose, centre, def.pose);
        memcpy(def.pose + 3, link->pose + 3, 4 * sizeof *def.pose);
        kl_quat_normalize(def.pose + 3);
        KL_TRY(kl_builder_add_body(emitter->builder, &def, &emitter->body_of[i]));
    }
    return KL_OK;
}

// A frame of a link as a frame of its body, or of the world.
static void in_body(const Emitter *emitter, int32_t link, const double frame[7], double pose[7]) {
    const KlImportLink *from = &emitter->mechanism->links[link];
    if (emitter->body_of[link] < 0) {
        kl_pose_mul(from->pose, frame, pose);
    } else {
        memcpy(pose, frame, 7 * sizeof *pose);
        kl_sub3(frame, from->centre, pose);
    }
    kl_quat_normalize(pose + 3);
}

// Gains that hold the start pose: critically damped at 2 Hz for the whole mechanism's inertia.
static void hold_gains(const KlMechanism *mechanism, const KlImportJoint *joint, KlJointDef *def) {
    double mass = 0.0, square = 0.0;
    for (int32_t i = 0; i < mechanism->link_count; i++) {
        const KlImportLink *link = &mechanism->links[i];
        if (link->into < 0 && !link->is_world) {
            double d[3];
            kl_sub3(link->pose, mechanism->links[joint->parent].pose, d);
            mass += link->mass;
            square += link->mass * kl_dot3(d, d);
        }
    }
    const double omega = 2.0 * 3.14159265358979323846 * 2.0;  // [rad/s]
    const KlJointInfo *info = kl_joint_kind(def->kind);
    for (int32_t i = 0; i < info->dofs; i++) {
        if (joint->idle[i]) {
            continue;
        }
        double inertia = info->angular[i] ? fmax(square, 1e-4 * mass) : mass;
        def->kp[i] = joint->kp[i] > 0.0 ? joint->kp[i] : inertia * omega * omega;
        def->kd[i] = joint->kp[i] > 0.0 || joint->kd[i] > 0.0 ? joint->kd[i] : 2.0 * inertia * omega;
    }
}

// The joint's coordinates after a motion of its frame, in the order of its kind.
static void coordinates_of(KlJointKind kind, const double motion[7], double x[6]) {
    double r[9], turn_x = 2.0 * kl_atan2(motion[4], motion[3]), turn_z = 2.0 * kl_atan2(motion[6], motion[3]);
    kl_quat_to_mat3(motion + 3, r);
    switch (kind) {
        case KL_JOINT_REVOLUTE: x[0] = turn_x; break;
        case KL_JOINT_PRISMATIC: x[0] = motion[0]; break;
        case KL_JOINT_CYLINDRICAL:
            x[0] = motion[0];
            x[1] = turn_x;
            break;
        case KL_JOINT_UNIVERSAL:  // Rx(a) Ry(b)
            x[0] = kl_atan2(r[7], r[4]);
            x[1] = kl_atan2(r[2], r[0]);
            break;
        case KL_JOINT_GIMBAL:  // Rx(a) Ry(b) Rz(c)
            x[0] = kl_atan2(-r[5], r[8]);
            x[1] = kl_asin(r[2]);
            x[2] = kl_atan2(-r[1], r[0]);
            break;
        case KL_JOINT_SPHERICAL: kl_quat_log(motion + 3, x); break;
        case KL_JOINT_CARTESIAN: kl_copy3(motion, x); break;
        case KL_JOINT_PLANAR:
            x[0] = motion[0];
            x[1] = motion[1];
            x[2] = turn_z;
            break;
        default: break;
    }
}

static void set_actuation(Emitter *emitter, const KlImportJoint *joint, KlJointDef *def) {
    KlImportMotors motors = emitter->mechanism->options->motors;
    if (!joint->actuated || motors == KL_MOTORS_PASSIVE || kl_joint_kind(def->kind)->dofs == 0) {
        return;
    }
    def->actuation = motors == KL_MOTORS_HOLD ? KL_ACTUATION_PD_IMPLICIT : KL_ACTUATION_FORCE;
    if (motors == KL_MOTORS_HOLD) {
        hold_gains(emitter->mechanism, joint, def);
    }
    if (motors == KL_MOTORS_HOLD && joint->moved) {
        coordinates_of(def->kind, joint->motion, def->target);
    }
}

static KlStatus emit_joint(Emitter *emitter, const KlImportJoint *joint) {
    KlMechanism *mechanism = emitter->mechanism;
    int32_t base = joint->parent, follower = joint->child;
    const double *base_frame = joint->parent_frame, *follower_frame = joint->child_frame;
    if (emitter->body_of[base] == emitter->body_of[follower]) {
        kl_mechanism_note(mechanism, joint->node, true, "both sides of \"%.80s\" are one body: it is left out",
                          joint->name);
        return KL_OK;
    }
    if (emitter->body_of[follower] < 0) {  // the world is always the base; only closures come here
        base = joint->child;
        follower = joint->parent;
        base_frame = joint->child_frame;
        follower_frame = joint->parent_frame;
    }
    KlJointDef def;
    kl_default_joint_def(&def);
    KL_TRY(scene_name(mechanism, joint->node, "joint", joint->name, &emitter->joint_names, &def.name));
    def.kind = joint->kind;
    def.base = emitter->body_of[base];
    def.follower = emitter->body_of[follower];
    in_body(emitter, base, base_frame, def.base_frame);
    in_body(emitter, follower, follower_frame, def.follower_frame);
    for (int32_t i = 0; i < kl_joint_kind(joint->kind)->dofs; i++) {
        def.lower[i] = joint->lower[i];
        def.upper[i] = joint->upper[i];
        def.effort_limit[i] = joint->effort_limit[i];
        def.damping[i] = joint->damping[i];
    }
    set_actuation(emitter, joint, &def);
    for (int32_t i = 0; def.actuation == KL_ACTUATION_PD_IMPLICIT && i < 6; i++) {
        def.armature[i] = joint->armature[i];
    }
    return kl_builder_add_joint(emitter->builder, &def, NULL);
}

static KlStatus emit_joints(Emitter *emitter) {
    for (int32_t j = 0; j < emitter->mechanism->joint_count; j++) {
        if (!emitter->mechanism->joints[j].removed) {
            KL_TRY(emit_joint(emitter, &emitter->mechanism->joints[j]));
        }
    }
    return KL_OK;
}

static KlStatus emit_meshes(Emitter *emitter) {
    for (int32_t i = 0; i < emitter->mechanism->mesh_count; i++) {
        KL_TRY(kl_builder_add_mesh(emitter->builder, &emitter->mechanism->meshes[i].def, NULL));
    }
    return KL_OK;
}

static bool in_contact(const KlMechanism *mechanism, int32_t geom_a, int32_t geom_b) {
    for (int32_t i = 0; i < mechanism->contact_count; i++) {
        const KlImportContact *c = &mechanism->contacts[i];
        bool one = c->geom_a == geom_a || c->geom_b == geom_a, other = c->geom_a == geom_b || c->geom_b == geom_b;
        if (one && (geom_b < 0 || (other && geom_a != geom_b))) {
            return true;
        }
    }
    return false;
}

// MJCF lets two geoms meet when one side's type is in the other's affinity, or a <pair> says so; ours wants both
// sides to agree. Geoms of equal masks are a class with a bit of its own; those of pairs are each their own.
static void find_classes(Emitter *emitter) {
    const KlMechanism *mechanism = emitter->mechanism;
    for (int32_t g = 0; g < mechanism->geom_count; g++) {
        const KlImportGeom *geom = &mechanism->geoms[g];
        bool own = in_contact(mechanism, g, -1);
        int32_t found = -1;
        for (int32_t c = 0; !own && c < emitter->class_count; c++) {
            const KlImportGeom *other = &mechanism->geoms[emitter->example[c]];
            bool same = other->type == geom->type && other->affinity == geom->affinity;
            found = same && !in_contact(mechanism, emitter->example[c], -1) ? c : found;
        }
        if (found < 0 && !geom->def.visual_only && emitter->class_count < MAX_CLASSES) {
            emitter->example[emitter->class_count] = g;
            found = emitter->class_count++;
        } else if (found < 0 && !geom->def.visual_only) {
            kl_mechanism_note(emitter->mechanism, geom->node, true,
                              "more than %d kinds of collision masks: it meets what the last kind meets", MAX_CLASSES);
            found = MAX_CLASSES - 1;
        }
        emitter->class_of[g] = found;
    }
}

static bool may_meet(const KlMechanism *mechanism, int32_t geom_a, int32_t geom_b) {
    const KlImportGeom *a = &mechanism->geoms[geom_a], *b = &mechanism->geoms[geom_b];
    return (a->type & b->affinity) != 0 || (b->type & a->affinity) != 0 || in_contact(mechanism, geom_a, geom_b);
}

static void set_masks(const Emitter *emitter, int32_t index, KlGeomDef *def) {
    const KlMechanism *mechanism = emitter->mechanism;
    const KlImportGeom *geom = &mechanism->geoms[index];
    if (mechanism->default_masks) {
        // A base that is fixed to the world is still a part of the mechanism, which overlaps its neighbours.
        bool world = strcmp(mechanism->links[geom->link].name, "world") == 0;
        def->group = world ? GROUP_WORLD : GROUP_MECHANISM;
        def->mask = mechanism->options->self_collision || world ? GROUP_WORLD | GROUP_MECHANISM : GROUP_WORLD;
    } else if (emitter->class_of[index] >= 0) {
        int32_t own = emitter->class_of[index];
        def->group = 1u << own;
        def->mask = mechanism->options->ground ? GROUP_GROUND : 0u;
        for (int32_t c = 0; c < emitter->class_count; c++) {
            def->mask |= may_meet(mechanism, emitter->example[own], emitter->example[c]) ? 1u << c : 0u;
        }
    }
}

static KlStatus emit_geom(Emitter *emitter, int32_t index) {
    KlMechanism *mechanism = emitter->mechanism;
    const KlImportGeom *geom = &mechanism->geoms[index];
    KlGeomDef def = geom->def;
    char name[64];
    snprintf(name, sizeof name, "geom_%d", (int)index);
    def.name = def.name != NULL && def.name[0] != '\0' ? def.name : name;
    KL_TRY(scene_name(mechanism, geom->node, "geom", def.name, &emitter->geom_names, &def.name));
    def.body = emitter->body_of[geom->link];
    in_body(emitter, geom->link, geom->def.pose, def.pose);
    set_masks(emitter, index, &def);
    emitter->geom_of[index] = -1;
    if (def.kind == KL_GEOM_PLANE && def.body >= 0) {
        kl_mechanism_note(mechanism, geom->node, true, "a plane on a moving body is left out");
        return KL_OK;
    }
    return kl_builder_add_geom(emitter->builder, &def, &emitter->geom_of[index]);
}

static KlStatus emit_contacts(Emitter *emitter) {
    for (int32_t i = 0; i < emitter->mechanism->contact_count; i++) {
        const KlImportContact *contact = &emitter->mechanism->contacts[i];
        int32_t a = emitter->geom_of[contact->geom_a], b = emitter->geom_of[contact->geom_b];
        if (contact->friction >= 0.0 && a >= 0 && b >= 0) {
            KL_TRY(kl_builder_pair(emitter->builder, a, b, contact->friction, 0.0));
        }
    }
    return KL_OK;
}

// ----------------------------------------------------------------------------------------- ground

static double lowest_of_geom(const Emitter *emitter, const KlImportGeom *geom) {
    const KlMechanism *mechanism = emitter->mechanism;
    const KlGeomDef *def = &geom->def;
    double pose[7], up[3], back[4], lowest = INFINITY;
    kl_pose_mul(mechanism->links[geom->link].pose, def->pose, pose);
    kl_quat_conjugate(pose + 3, back);
    kl_quat_rotate(back, (const double[3]){0.0, 0.0, 1.0}, up);  // world's up in the geom
    if (def->mesh >= 0) {
        const KlMeshDef *mesh = &mechanism->meshes[def->mesh].def;
        for (int32_t v = 0; v < mesh->vertex_count; v++) {
            lowest = fmin(lowest, kl_dot3(up, mesh->vertices + 3 * v));
        }
    } else if (def->kind == KL_GEOM_BOX) {
        lowest = -0.5 * (fabs(up[0]) * def->size[0] + fabs(up[1]) * def->size[1] + fabs(up[2]) * def->size[2]);
    } else if (def->kind == KL_GEOM_SPHERE) {
        lowest = -def->size[0];
    } else if (def->kind == KL_GEOM_CAPSULE) {
        lowest = -def->size[0] - 0.5 * def->size[1] * fabs(up[2]);
    } else if (def->kind == KL_GEOM_CYLINDER) {
        lowest = -def->size[0] * sqrt(fmax(0.0, 1.0 - up[2] * up[2])) - 0.5 * def->size[1] * fabs(up[2]);
    }
    return pose[2] + lowest;
}

static KlStatus emit_ground(Emitter *emitter) {
    double lowest = INFINITY;
    for (int32_t g = 0; g < emitter->mechanism->geom_count; g++) {
        const KlImportGeom *geom = &emitter->mechanism->geoms[g];
        if (geom->collides && geom->def.kind != KL_GEOM_PLANE) {
            lowest = fmin(lowest, lowest_of_geom(emitter, geom));
        }
    }
    KlGeomDef def;
    kl_default_geom_def(&def);
    KL_TRY(scene_name(emitter->mechanism, NULL, "geom", "ground", &emitter->geom_names, &def.name));
    def.kind = KL_GEOM_PLANE;
    def.pose[2] = isfinite(lowest) ? lowest : 0.0;
    def.group = emitter->mechanism->default_masks ? GROUP_WORLD : GROUP_GROUND;
    return kl_builder_add_geom(emitter->builder, &def, NULL);
}

static KlStatus emit_all(Emitter *emitter) {
    KlMechanism *mechanism = emitter->mechanism;
    find_classes(emitter);
    KL_TRY(kl_builder_set_settings(emitter->builder, &mechanism->settings));
    KL_TRY(emit_bodies(emitter));
    KL_TRY(emit_joints(emitter));
    KL_TRY(emit_meshes(emitter));
    for (int32_t g = 0; g < mechanism->geom_count; g++) {
        KL_TRY(emit_geom(emitter, g));
    }
    KL_TRY(emit_contacts(emitter));
    for (int32_t i = 0; i < mechanism->exclude_count; i++) {
        int32_t a = emitter->body_of[mechanism->excludes[i].link_a];
        int32_t b = emitter->body_of[mechanism->excludes[i].link_b];
        if (a != b) {
            KL_TRY(kl_builder_exclude(emitter->builder, a, b));
        }
    }
    return mechanism->options->ground ? emit_ground(emitter) : KL_OK;
}

KlStatus kl_mechanism_emit(KlMechanism *mechanism, KlBuilder *builder) {
    Emitter emitter = {.mechanism = mechanism,
                       .builder = builder,
                       .body_of = KL_ARENA_ARRAY(mechanism->arena, int32_t, mechanism->link_count),
                       .geom_of = KL_ARENA_ARRAY(mechanism->arena, int32_t, mechanism->geom_count),
                       .class_of = KL_ARENA_ARRAY(mechanism->arena, int32_t, mechanism->geom_count)};
    KlStatus status = kl_arena_check(mechanism->arena);
    status = status == KL_OK ? emit_all(&emitter) : status;
    kl_names_free(&emitter.body_names);
    kl_names_free(&emitter.joint_names);
    kl_names_free(&emitter.geom_names);
    return status;
}
