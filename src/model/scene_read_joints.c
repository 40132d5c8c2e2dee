// Reads joints, excluded pairs, pair materials and force events.
#include "model/scene_read.h"

#include <math.h>
#include <string.h>

#include "math/vec.h"

// ---------------------------------------------------------------------------------------- joints

static KlStatus fail_frames(const KlJson *at) {
    return kl_json_fault(at, NULL, KL_ERR_SCENE,
                         "a joint has either \"base_frame\" and \"follower_frame\" (in the bodies) or "
                         "\"position\" with \"axis\" or \"orientation\" (in the world, at the start pose)");
}

// A unit vector at right angles to the unit vector x: the world axis least along x, made
// orthogonal.
static void pick_perpendicular(const double x[3], double y[3]) {
    int32_t least = 0;
    for (int32_t k = 1; k < 3; k++) {
        least = fabs(x[k]) < fabs(x[least]) ? k : least;
    }
    double axis[3] = {least == 0 ? 1.0 : 0.0, least == 1 ? 1.0 : 0.0, least == 2 ? 1.0 : 0.0};
    kl_axpy3(-kl_dot3(axis, x), x, axis);
    kl_scale3(1.0 / kl_norm3(axis), axis, y);
}

// Columns to quaternion, by the largest of the four squares (Shepperd 1978).
static void quaternion_from_axes(const double x[3], const double y[3], const double z[3], double q[4]) {
    double trace = x[0] + y[1] + z[2];
    double squares[4] = {trace, x[0], y[1], z[2]};
    int32_t largest = 0;
    for (int32_t k = 1; k < 4; k++) {
        largest = squares[k] > squares[largest] ? k : largest;
    }
    double r[3][3] = {{x[0], y[0], z[0]}, {x[1], y[1], z[1]}, {x[2], y[2], z[2]}};
    if (largest == 0) {
        q[0] = 1.0 + trace;
        q[1] = r[2][1] - r[1][2];
        q[2] = r[0][2] - r[2][0];
        q[3] = r[1][0] - r[0][1];
    } else {
        int32_t i = largest - 1, j = (i + 1) % 3, k = (i + 2) % 3;
        q[0] = r[k][j] - r[j][k];
        q[1 + i] = 1.0 + r[i][i] - r[j][j] - r[k][k];
        q[1 + j] = r[i][j] + r[j][i];
        q[1 + k] = r[i][k] + r[k][i];
    }
    kl_quat_normalize(q);
}

static KlStatus read_unit_vector(const KlJson *at, const char *key, double v[3]) {
    KlJson member;
    KL_TRY(kl_json_member(at, key, &member));
    KL_TRY(kl_json_as_reals(&member, v, 3));
    double length = kl_norm3(v);
    if (!(length > 0.0) || !isfinite(length)) {
        return kl_json_fault(&member, NULL, KL_ERR_SCENE, "must be a direction (got length %g)", length);
    }
    kl_scale3(1.0 / length, v, v);
    return KL_OK;
}

// x along "axis", y along "axis2".
static KlStatus read_axes(const KlJson *at, double q[4]) {
    double x[3], y[3], z[3];
    KlJson second;
    KL_TRY(read_unit_vector(at, "axis", x));
    KL_TRY(kl_json_member(at, "axis2", &second));
    if (second.value != NULL) {
        KL_TRY(read_unit_vector(at, "axis2", y));
        double along = kl_dot3(x, y);
        if (fabs(along) > 1e-6) {
            return kl_json_fault(&second, NULL, KL_ERR_SCENE, "must stand at right angles to \"axis\" (cosine %g)",
                                 along);
        }
        kl_axpy3(-along, x, y);
        kl_scale3(1.0 / kl_norm3(y), y, y);
    } else {
        pick_perpendicular(x, y);
    }
    kl_cross3(x, y, z);
    quaternion_from_axes(x, y, z, q);
    return KL_OK;
}

static KlStatus read_world_frame(const KlSceneReader *reader, const KlJson *at, KlJointDef *def) {
    double frame[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    KlJson axis, orientation;
    KL_TRY(kl_json_member(at, "axis", &axis));
    KL_TRY(kl_json_member(at, "orientation", &orientation));
    if (axis.value != NULL && orientation.value != NULL) {
        return fail_frames(at);
    }
    KL_TRY(kl_read_pose(at, frame));
    if (axis.value != NULL) {
        KL_TRY(read_axes(at, frame + 3));
    }
    const KlBodyDef *bodies = reader->model->bodies;
    memcpy(def->base_frame, frame, sizeof frame);
    if (def->base >= 0) {
        kl_pose_relative(bodies[def->base].pose, frame, def->base_frame);
    }
    kl_pose_relative(bodies[def->follower].pose, frame, def->follower_frame);
    return KL_OK;
}

static KlStatus read_local_frame(const KlJson *at, const char *key, double frame[7]) {
    static const char *const keys[] = {"position", "orientation", NULL};
    KlJson member;
    KL_TRY(kl_json_member(at, key, &member));
    if (member.value == NULL) {
        return KL_OK;
    }
    KL_TRY(kl_json_check_keys(&member, keys));
    return kl_read_pose(&member, frame);
}

static KlStatus read_joint_frames(const KlSceneReader *reader, const KlJson *at, KlJointDef *def) {
    const json_t *object = at->value;
    bool local = json_object_get(object, "base_frame") != NULL || json_object_get(object, "follower_frame") != NULL;
    bool world = json_object_get(object, "position") != NULL || json_object_get(object, "axis") != NULL ||
                 json_object_get(object, "axis2") != NULL || json_object_get(object, "orientation") != NULL;
    if (local == world) {
        return fail_frames(at);
    }
    if (world) {
        return read_world_frame(reader, at, def);
    }
    KL_TRY(read_local_frame(at, "base_frame", def->base_frame));
    return read_local_frame(at, "follower_frame", def->follower_frame);
}

// [low, high] with null for no limit.
static KlStatus read_limit(const KlJson *at, double *lower, double *upper) {
    if (json_array_size(at->value) != 2) {
        return kl_json_fault(at, NULL, KL_ERR_SCENE, "must be [lower, upper], null for none");
    }
    double *bounds[2] = {lower, upper};
    for (size_t k = 0; k < 2; k++) {
        KlJson bound = {.source = at->source, .value = json_array_get(at->value, k), .parent = at, .index = k};
        if (!json_is_null(bound.value)) {
            KL_TRY(kl_json_as_real(&bound, bounds[k]));
        }
    }
    return KL_OK;
}

static KlStatus read_limits(const KlJson *at, KlJointDef *def, int32_t dofs) {
    KlJson limits;
    KL_TRY(kl_json_member(at, "limits", &limits));
    if (limits.value == NULL) {
        return KL_OK;
    }
    bool nested = json_is_array(json_array_get(limits.value, 0));
    if (dofs == 1 && !nested) {
        return read_limit(&limits, &def->lower[0], &def->upper[0]);
    }
    if (!json_is_array(limits.value) || json_array_size(limits.value) != (size_t)dofs) {
        return kl_json_fault(&limits, NULL, KL_ERR_SCENE, "must be a list of %d pairs [lower, upper]", (int)dofs);
    }
    for (int32_t i = 0; i < dofs; i++) {
        KlJson limit = {.source = at->source,
                        .value = json_array_get(limits.value, (size_t)i),
                        .parent = &limits,
                        .index = (size_t)i};
        KL_TRY(read_limit(&limit, &def->lower[i], &def->upper[i]));
    }
    return KL_OK;
}

// One number for all degrees of freedom, or one each; null leaves an entry at its default.
static KlStatus read_per_dof(const KlJson *at, const char *key, int32_t dofs, double *values) {
    KlJson member;
    KL_TRY(kl_json_member(at, key, &member));
    if (member.value == NULL) {
        return KL_OK;
    }
    bool one_for_all = json_is_number(member.value);
    if (!one_for_all && json_array_size(member.value) != (size_t)dofs) {
        return kl_json_fault(&member, NULL, KL_ERR_SCENE, "must be a number or a list of %d", (int)dofs);
    }
    for (int32_t i = 0; i < dofs; i++) {
        KlJson entry = {.source = at->source,
                        .value = json_array_get(member.value, (size_t)i),
                        .parent = &member,
                        .index = (size_t)i};
        if (one_for_all) {
            values[i] = json_number_value(member.value);
        } else if (!json_is_null(entry.value)) {
            KL_TRY(kl_json_as_real(&entry, &values[i]));
        }
    }
    return KL_OK;
}

static KlStatus read_actuation(const KlSceneReader *reader, const KlJson *at, int32_t dofs, KlJointDef *def) {
    static const char *const kinds[] = {"passive", "force", "pid", "pd-implicit", NULL};
    int32_t actuation = 0;
    const char *reference = NULL;
    KL_TRY(kl_json_choice(at, "actuation", kinds, &actuation));
    def->actuation = (KlActuation)actuation;
    KL_TRY(read_per_dof(at, "kp", dofs, def->kp));
    KL_TRY(read_per_dof(at, "ki", dofs, def->ki));
    KL_TRY(read_per_dof(at, "kd", dofs, def->kd));
    KL_TRY(read_per_dof(at, "effort_limit", dofs, def->effort_limit));
    KL_TRY(read_per_dof(at, "armature", dofs, def->armature));
    KL_TRY(read_per_dof(at, "damping", dofs, def->damping));
    KL_TRY(read_per_dof(at, "target", dofs, def->target));
    KL_TRY(kl_json_text(at, "reference", &reference));
    if (reference != NULL) {
        def->reference = kl_names_find(&reader->model->reference_names, reference);
        if (def->reference < 0) {
            KlJson member;
            KL_TRY(kl_json_member(at, "reference", &member));
            return kl_fail_name(&member, "reference", reference, &reader->model->reference_names);
        }
    }
    return KL_OK;
}

KlStatus kl_read_joint(void *context, const KlJson *at) {
    static const char *const keys[] = {"name",      "type",   "base",  "follower",     "base_frame", "follower_frame",
                                       "position",  "axis",   "axis2", "orientation",  "limits",     "actuation",
                                       "kp",        "ki",     "kd",    "effort_limit", "armature",   "damping",
                                       "reference", "target", NULL};
    const char *kinds[KL_JOINT_KIND_COUNT + 1] = {NULL};
    for (int32_t i = 0; i < KL_JOINT_KIND_COUNT; i++) {
        kinds[i] = kl_joint_kind((KlJointKind)i)->id;
    }
    KlSceneReader *reader = context;
    KlJointDef def;
    kl_default_joint_def(&def);
    KL_TRY(kl_json_check_keys(at, keys));
    KL_TRY(kl_read_required_text(at, "name", &def.name));
    KlJson type;
    int32_t kind = 0;
    KL_TRY(kl_json_required(at, "type", &type));
    KL_TRY(kl_json_choice(at, "type", kinds, &kind));
    def.kind = (KlJointKind)kind;
    KL_TRY(kl_read_body_name(reader, at, "base", true, &def.base));
    KL_TRY(kl_read_body_name(reader, at, "follower", false, &def.follower));
    KL_TRY(read_joint_frames(reader, at, &def));
    int32_t dofs = kl_joint_kind(def.kind)->dofs;
    KL_TRY(read_limits(at, &def, dofs));
    KL_TRY(read_actuation(reader, at, dofs, &def));
    KL_TRY_AT(at, kl_builder_add_joint(reader->builder, &def, NULL));
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- pairs,
// events

KlStatus kl_read_exclude(void *context, const KlJson *at) {
    KlSceneReader *reader = context;
    int32_t bodies[2] = {-1, -1};
    if (!json_is_array(at->value) || json_array_size(at->value) != 2) {
        return kl_json_fault(at, NULL, KL_ERR_SCENE, "must be a list of two body names");
    }
    for (size_t k = 0; k < 2; k++) {
        KlJson entry = {.source = at->source, .value = json_array_get(at->value, k), .parent = at, .index = k};
        const char *name;
        KL_TRY(kl_json_as_text(&entry, &name));
        bodies[k] = kl_names_find(&reader->model->body_names, name);
        if (bodies[k] < 0 && strcmp(name, "world") != 0) {
            return kl_fail_name(&entry, "body", name, &reader->model->body_names);
        }
    }
    KL_TRY_AT(at, kl_builder_exclude(reader->builder, bodies[0], bodies[1]));
    return KL_OK;
}

KlStatus kl_read_pair(void *context, const KlJson *at) {
    static const char *const keys[] = {"geoms", "friction", "restitution", NULL};
    KlSceneReader *reader = context;
    KlJson names;
    int32_t geoms[2] = {-1, -1};
    KL_TRY(kl_json_check_keys(at, keys));
    KL_TRY(kl_json_required(at, "geoms", &names));
    if (json_array_size(names.value) != 2) {
        return kl_json_fault(&names, NULL, KL_ERR_SCENE, "must be a list of two geom names");
    }
    for (size_t k = 0; k < 2; k++) {
        KlJson entry = {.source = at->source, .value = json_array_get(names.value, k), .parent = &names, .index = k};
        const char *name;
        KL_TRY(kl_json_as_text(&entry, &name));
        geoms[k] = kl_names_find(&reader->model->geom_names, name);
        if (geoms[k] < 0) {
            return kl_fail_name(&entry, "geom", name, &reader->model->geom_names);
        }
    }
    double friction = reader->friction, restitution = reader->restitution;
    KL_TRY(kl_read_material(at, &friction, &restitution));
    KL_TRY_AT(at, kl_builder_pair(reader->builder, geoms[0], geoms[1], friction, restitution));
    return KL_OK;
}

KlStatus kl_read_event(const KlSceneReader *reader, const KlJson *at, KlForceEvent *event) {
    static const char *const keys[] = {"body",     "start",     "end",   "force", "torque",
                                       "force_to", "torque_to", "point", NULL};
    KlJson body;
    kl_default_force_event(event);
    KL_TRY(kl_json_check_keys(at, keys));
    KL_TRY(kl_json_required(at, "body", &body));
    if (json_is_string(body.value) && strcmp(json_string_value(body.value), "highest") == 0) {
        event->body = KL_BODY_HIGHEST;
    } else {
        KL_TRY(kl_read_body_name(reader, at, "body", false, &event->body));
    }
    KL_TRY(kl_json_required(at, "start", &body));
    KL_TRY(kl_json_required(at, "end", &body));
    KL_TRY(kl_json_real(at, "start", &event->start));
    KL_TRY(kl_json_real(at, "end", &event->end));
    KL_TRY(kl_json_reals(at, "force", event->from, 3));
    KL_TRY(kl_json_reals(at, "torque", event->from + 3, 3));
    memcpy(event->to, event->from, sizeof event->to);
    KL_TRY(kl_json_reals(at, "force_to", event->to, 3));
    KL_TRY(kl_json_reals(at, "torque_to", event->to + 3, 3));
    return kl_json_reals(at, "point", event->point, 3);
}

KlStatus kl_add_event(void *context, const KlJson *at) {
    KlSceneReader *reader = context;
    KlForceEvent event;
    KL_TRY(kl_read_event(reader, at, &event));
    KL_TRY_AT(at, kl_builder_add_event(reader->builder, &event));
    return KL_OK;
}
