// From a reduced mechanism to a builder: bodies at their centres of mass, joints, geometry, masks.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/vec.h"
#include "model/import/mechanism.h"

enum { GROUP_MECHANISM = 1u, GROUP_WORLD = 2u };

typedef struct Emitter {
    KlMechanism *mechanism;
    KlBuilder *builder;
    int32_t *body_of;  // (links) body, -1 = world
} Emitter;

static KlStatus emit_bodies(Emitter *emitter) {
    for (int32_t i = 0; i < emitter->mechanism->link_count; i++) {
        const KlImportLink *link = &emitter->mechanism->links[i];
        emitter->body_of[i] = -1;
        if (link->into >= 0 || link->is_world) {
            continue;
        }
        KlBodyDef def;
        kl_default_body_def(&def);
        def.name = link->name;
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
        double inertia = info->angular[i] ? fmax(square, 1e-4 * mass) : mass;
        def->kp[i] = joint->kp[i] > 0.0 ? joint->kp[i] : inertia * omega * omega;
        def->kd[i] = joint->kp[i] > 0.0 || joint->kd[i] > 0.0 ? joint->kd[i] : 2.0 * inertia * omega;
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
    def.name = joint->name;
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

static KlStatus emit_geom(Emitter *emitter, int32_t index) {
    KlMechanism *mechanism = emitter->mechanism;
    const KlImportGeom *geom = &mechanism->geoms[index];
    KlGeomDef def = geom->def;
    char name[64];
    snprintf(name, sizeof name, "geom_%d", (int)index);
    def.name = def.name != NULL && def.name[0] != '\0' ? def.name : name;
    def.body = emitter->body_of[geom->link];
    in_body(emitter, geom->link, geom->def.pose, def.pose);
    if (mechanism->default_masks) {
        // A base that is fixed to the world is still a part of the mechanism, which overlaps its neighbours.
        bool world = strcmp(mechanism->links[geom->link].name, "world") == 0;
        def.group = world ? GROUP_WORLD : GROUP_MECHANISM;
        def.mask = mechanism->options->self_collision || world ? GROUP_WORLD | GROUP_MECHANISM : GROUP_WORLD;
    } else {
        def.group = geom->type;
        def.mask = geom->affinity;
    }
    if (def.kind == KL_GEOM_PLANE && def.body >= 0) {
        kl_mechanism_note(mechanism, geom->node, true, "a plane on a moving body is left out");
        return KL_OK;
    }
    return kl_builder_add_geom(emitter->builder, &def, NULL);
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
    def.name = "ground";
    def.kind = KL_GEOM_PLANE;
    def.pose[2] = isfinite(lowest) ? lowest : 0.0;
    def.group = emitter->mechanism->default_masks ? GROUP_WORLD : 1u;
    return kl_builder_add_geom(emitter->builder, &def, NULL);
}

KlStatus kl_mechanism_emit(KlMechanism *mechanism, KlBuilder *builder) {
    Emitter emitter = {.mechanism = mechanism,
                       .builder = builder,
                       .body_of = KL_ARENA_ARRAY(mechanism->arena, int32_t, mechanism->link_count)};
    KL_TRY(kl_arena_check(mechanism->arena));
    KL_TRY(kl_builder_set_settings(builder, &mechanism->settings));
    KL_TRY(emit_bodies(&emitter));
    KL_TRY(emit_joints(&emitter));
    KL_TRY(emit_meshes(&emitter));
    for (int32_t g = 0; g < mechanism->geom_count; g++) {
        KL_TRY(emit_geom(&emitter, g));
    }
    for (int32_t i = 0; i < mechanism->exclude_count; i++) {
        int32_t a = emitter.body_of[mechanism->excludes[i].link_a], b = emitter.body_of[mechanism->excludes[i].link_b];
        if (a != b) {
            KL_TRY(kl_builder_exclude(builder, a, b));
        }
    }
    return mechanism->options->ground ? emit_ground(&emitter) : KL_OK;
}
