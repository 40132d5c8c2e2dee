// Tables of joint and geometry kinds, and the default of every definition.
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "model/joint_list.h"
#include "model/model.h"

#define JOINT_ROW(NAME, ID, TITLE, DOFS, ...) [KL_JOINT_##NAME] = {ID, TITLE, DOFS, __VA_ARGS__},
static const KlJointInfo joint_kinds[KL_JOINT_KIND_COUNT] = {KL_JOINT_LIST(JOINT_ROW)};

#define JOINT_CHOICE(NAME, ID, TITLE, DOFS, ...) ID " "
static const char joint_choices[] = KL_JOINT_LIST(JOINT_CHOICE);

const KlJointInfo *kl_joint_kind(KlJointKind kind) {
    bool known = (int)kind >= 0 && kind < KL_JOINT_KIND_COUNT;
    return known ? &joint_kinds[kind] : NULL;
}

KlStatus kl_joint_kind_find(const char *id, KlJointKind *kind) {
    for (int32_t i = 0; i < KL_JOINT_KIND_COUNT; i++) {
        if (strcmp(joint_kinds[i].id, id) == 0) {
            *kind = (KlJointKind)i;
            return KL_OK;
        }
    }
    return kl_fail(KL_ERR_NOT_FOUND, "unknown joint type \"%.60s\"; known are: %s", id, joint_choices);
}

const char *kl_geom_kind_name(KlGeomKind kind) {
    static const char *const names[KL_GEOM_KIND_COUNT] = {
        "sphere", "box", "capsule", "cylinder", "plane", "convex", "mesh",
    };
    bool known = (int)kind >= 0 && kind < KL_GEOM_KIND_COUNT;
    return known ? names[kind] : "unknown";
}

static const double identity_pose[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};

static const KlSoftening default_softening = {
    .on = false,
    .d0 = 0.9,
    .dw = 0.95,
    .width = 0.001,
    .midpoint = 0.5,
    .power = 2.0,
    .time_const = 0.02,
    .damp_ratio = 1.0,
};

void kl_settings_default(KlSettings *settings) {
    *settings = (KlSettings){
        .dt = 1e-3,
        .gravity = {0.0, 0.0, -9.81},
        .integrator = KL_INTEGRATOR_EULER,
        .cull_distance = 1e-6,  // merges only what a mesh reports twice
        .soft_joint = default_softening,
        .soft_limit = default_softening,
        .soft_contact = default_softening,
    };
}

void kl_default_body_def(KlBodyDef *def) {
    *def = (KlBodyDef){.mass = 1.0, .inertia = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}};
    memcpy(def->pose, identity_pose, sizeof identity_pose);
}

void kl_default_joint_def(KlJointDef *def) {
    *def = (KlJointDef){.kind = KL_JOINT_REVOLUTE, .base = -1, .follower = -1, .reference = -1};
    memcpy(def->base_frame, identity_pose, sizeof identity_pose);
    memcpy(def->follower_frame, identity_pose, sizeof identity_pose);
    for (int32_t i = 0; i < 6; i++) {
        def->lower[i] = -INFINITY;
        def->upper[i] = INFINITY;
        def->effort_limit[i] = INFINITY;
    }
}

void kl_default_geom_def(KlGeomDef *def) {
    *def = (KlGeomDef){
        .body = -1,
        .kind = KL_GEOM_SPHERE,
        .size = {0.1, 0.0, 0.0},
        .mesh = -1,
        .group = 1,
        .mask = UINT32_MAX,
        .friction = 0.7,
        .restitution = 0.0,
    };
    memcpy(def->pose, identity_pose, sizeof identity_pose);
}

void kl_default_force_event(KlForceEvent *def) { *def = (KlForceEvent){.end = 1.0}; }
