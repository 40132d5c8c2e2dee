// The builder: takes definitions one by one, checks each as it comes, and freezes them into a
// model. A fault is reported with the element and field, e.g. `bodies[3].mass: must be > 0 (got
// -1)`.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"
#include "model/inertia.h"
#include "model/model.h"

enum {
    MAX_ELEMENTS = 100000,    // bodies, joints, geoms, meshes, references, events, pairs
    MAX_MESH_SIZE = 2000000,  // vertices or triangles of one mesh
    MAX_SAMPLES = 1000000,    // of one reference
    MAX_NAME = 200,
    MAX_CONTACTS = 100000,
};

static const double FARTHEST = 1e12;  // [m] from an origin: one step further and rounding exceeds 0.1 mm

struct KlBuilder {
    KlModel *model;  // arrays below grow outside its arena and move there at the end
    int32_t body_capacity, joint_capacity, geom_capacity, mesh_capacity, reference_capacity;
    int32_t event_capacity, exclude_capacity, pair_capacity;
};

// ---------------------------------------------------------------------------------------- faults

typedef struct Element {
    const char *list;  // "bodies"
    int32_t index;
} Element;

static KlStatus fault(Element element, const char *field, const char *format, ...) KL_PRINTF(3, 4);
static KlStatus fault(Element element, const char *field, const char *format, ...) {
    char path[128], what[400];
    snprintf(path, sizeof path, "%s[%d].%s", element.list, (int)element.index, field);
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return kl_fail_at(KL_ERR_SCENE, &(KlPlace){.path = path}, "%s", what);
}

static KlStatus check_count(Element element, int32_t limit) {
    if (element.index >= limit) {
        return kl_fail(KL_ERR_LIMIT, "more than %d %s", (int)limit, element.list);
    }
    return KL_OK;
}

static bool all_finite(const double *x, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

static KlStatus check_finite(Element element, const char *field, const double *x, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            return fault(element, field, "must be finite (entry %d is %g)", (int)i, x[i]);
        }
    }
    return KL_OK;
}

static KlStatus check_name(Element element, const char *name, const KlNames *names) {
    if (name == NULL || name[0] == '\0') {
        return fault(element, "name", "must not be empty");
    }
    if (strlen(name) > MAX_NAME) {
        return fault(element, "name", "is longer than %d bytes", MAX_NAME);
    }
    int32_t other = kl_names_find(names, name);
    if (other >= 0) {
        return fault(element, "name", "\"%.60s\" is taken by %s[%d]; names must be unique", name, element.list,
                     (int)other);
    }
    return KL_OK;
}

// Finite and unit: what is off by rounding alone is made exact, the rest is a mistake.
static KlStatus check_pose(Element element, const char *field, double pose[7]) {
    KL_TRY(check_finite(element, field, pose, 7));
    const char *part = strcmp(field, "pose") == 0 ? "position" : field;  // as documents call it
    for (int32_t k = 0; k < 3; k++) {
        if (fabs(pose[k]) > FARTHEST) {
            return fault(element, part, "position must be within %g m (entry %d is %g)", FARTHEST, (int)k, pose[k]);
        }
    }
    const double *q = pose + 3;
    double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!(fabs(sqrt(square) - 1.0) <= 1e-6)) {  // six digits, as people write quaternions
        return fault(element, field, "orientation must be a unit quaternion (w, x, y, z) to 1e-6 (its norm is %.9g)",
                     sqrt(square));
    }
    if (fabs(square - 1.0) > 1.8e-15) {  // 8 eps: a normalised quaternion stays as it is, bit for bit
        kl_quat_normalize(pose + 3);
    }
    return KL_OK;
}

static KlStatus check_range(Element element, const char *field, double x, double low, double high,
                            const char *allowed) {
    bool fine = isfinite(x) && x >= low && x <= high;
    return fine ? KL_OK : fault(element, field, "must be %s (got %g)", allowed, x);
}

// ---------------------------------------------------------------------------------------- memory

static KlStatus grow(void **array, int32_t *capacity, int32_t count, size_t size) {
    if (count < *capacity) {
        return KL_OK;
    }
    int32_t wanted = *capacity > 0 ? 2 * *capacity : 16;
    void *bigger = kl_realloc(*array, (size_t)wanted * size);
    if (bigger == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for %d elements", (int)wanted);
    }
    *array = bigger;
    *capacity = wanted;
    return KL_OK;
}

#define GROW(builder, array, count, capacity)                                              \
    grow((void **)&(builder)->model->array, &(builder)->capacity, (builder)->model->count, \
         sizeof *(builder)->model->array)

static KlStatus copy_text(KlModel *model, const char *text, const char **copy) {
    *copy = kl_arena_text(&model->arena, text);
    return kl_arena_check(&model->arena);
}

static void *copy_array(KlArena *arena, const void *data, int32_t count, size_t size) {
    void *copy = kl_arena_alloc(arena, (size_t)(count > 0 ? count : 1), size);
    if (copy != NULL && count > 0) {
        memcpy(copy, data, (size_t)count * size);
    }
    return copy;
}

KlStatus kl_builder_create(KlBuilder **builder) {
    *builder = kl_alloc(sizeof **builder);
    KlModel *model = kl_alloc(sizeof *model);
    if (*builder == NULL || model == NULL) {
        kl_free(*builder);
        kl_free(model);
        *builder = NULL;
        return kl_fail(KL_ERR_MEMORY, "out of memory for a model builder");
    }
    (*builder)->model = model;
    kl_settings_default(&model->settings);
    return KL_OK;
}

static void free_lists(KlModel *model) {
    void *lists[] = {model->bodies,     model->joints, model->geoms,    model->meshes,
                     model->references, model->events, model->excludes, model->pairs};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        kl_free(lists[i]);
    }
}

void kl_builder_destroy(KlBuilder *builder) {
    if (builder == NULL) {
        return;
    }
    if (builder->model != NULL) {
        free_lists(builder->model);
        kl_model_destroy(builder->model);
    }
    kl_free(builder);
}

static KlStatus check_open(const KlBuilder *builder) {
    return builder->model != NULL ? KL_OK : kl_fail(KL_ERR_ARGUMENT, "this builder has already been finished");
}

const KlModel *kl_builder_model(const KlBuilder *builder) { return builder->model; }

// ---------------------------------------------------------------------------------------- bodies

static KlStatus check_inertia(Element element, double inertia[9]) {
    KL_TRY(check_finite(element, "inertia", inertia, 9));
    double largest = 0.0, moments[3];
    for (int32_t i = 0; i < 9; i++) {
        largest = fmax(largest, fabs(inertia[i]));
    }
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = i + 1; j < 3; j++) {
            double *upper = &inertia[3 * i + j], *lower = &inertia[3 * j + i];
            if (fabs(*upper - *lower) > 1e-9 * largest) {  // printed with ten digits, it is still symmetric
                return fault(element, "inertia", "must be symmetric (entries (%d,%d) and (%d,%d) are %g and %g)",
                             (int)i, (int)j, (int)j, (int)i, *upper, *lower);
            }
            *upper = *lower = *upper == *lower ? *upper : 0.5 * (*upper + *lower);
        }
    }
    kl_principal_moments(inertia, moments);
    if (!(moments[0] > 0.0)) {
        return fault(element, "inertia", "must be positive definite (principal moments %g, %g, %g kg m^2)", moments[0],
                     moments[1], moments[2]);
    }
    if (moments[0] + moments[1] < moments[2] * (1.0 - 1e-6)) {  // six digits again: thin rods lie on the border
        return fault(element, "inertia",
                     "principal moments %g, %g, %g kg m^2 break the triangle inequality: no body "
                     "has them",
                     moments[0], moments[1], moments[2]);
    }
    double inverse[9];
    if (!kl_mat3_inverse(inertia, inverse)) {
        return fault(element, "inertia",
                     "cannot be inverted: its principal moments %g, %g, %g kg m^2 are too small, too large "
                     "or too far apart",
                     moments[0], moments[1], moments[2]);
    }
    return KL_OK;
}

KlStatus kl_builder_add_body(KlBuilder *builder, const KlBodyDef *def, int32_t *index) {
    KL_TRY(check_open(builder));
    KlModel *model = builder->model;
    Element element = {"bodies", model->body_count};
    KlBodyDef body = *def;
    KL_TRY(check_count(element, MAX_ELEMENTS));
    KL_TRY(check_name(element, body.name, &model->body_names));
    if (!(isfinite(body.mass) && body.mass > 0.0)) {
        return fault(element, "mass", "must be > 0 and finite (got %g)", body.mass);
    }
    if (!isfinite(1.0 / body.mass)) {
        return fault(element, "mass", "is too small: 1 / mass must be finite (got %g)", body.mass);
    }
    KL_TRY(check_inertia(element, body.inertia));
    KL_TRY(check_pose(element, "pose", body.pose));
    KL_TRY(check_finite(element, "twist", body.twist, 6));
    KL_TRY(GROW(builder, bodies, body_count, body_capacity));
    KL_TRY(copy_text(model, def->name, &body.name));
    KL_TRY(kl_names_add(&model->body_names, body.name));
    model->bodies[model->body_count++] = body;
    if (index != NULL) {
        *index = element.index;
    }
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- joints

static KlStatus check_joint_bodies(const KlModel *model, Element element, const KlJointDef *joint) {
    if (joint->base < -1 || joint->base >= model->body_count) {
        return fault(element, "base", "body %d does not exist (-1 is the world, bodies are 0 to %d)", (int)joint->base,
                     (int)model->body_count - 1);
    }
    if (joint->follower < 0 || joint->follower >= model->body_count) {
        return fault(element, "follower", "body %d does not exist (bodies are 0 to %d)", (int)joint->follower,
                     (int)model->body_count - 1);
    }
    if (joint->base == joint->follower) {
        return fault(element, "follower", "a joint needs two different bodies (both are \"%.60s\")",
                     model->bodies[joint->base].name);
    }
    return KL_OK;
}

static KlStatus check_joint_limits(Element element, const KlJointDef *joint, int32_t dofs) {
    for (int32_t i = 0; i < dofs; i++) {
        double lower = joint->lower[i], upper = joint->upper[i];
        if (isnan(lower) || isnan(upper) || lower == INFINITY || upper == -INFINITY || lower > upper) {
            return fault(element, "limits", "must satisfy lower <= upper (coordinate %d has %g and %g)", (int)i, lower,
                         upper);
        }
    }
    return KL_OK;
}

static KlStatus check_joint_actuation(const KlModel *model, Element element, const KlJointDef *joint, int32_t dofs) {
    struct {
        const char *field;
        const double *values;
        bool may_be_infinite;
    } lists[] = {{"kp", joint->kp, false},
                 {"ki", joint->ki, false},
                 {"kd", joint->kd, false},
                 {"effort_limit", joint->effort_limit, true},
                 {"armature", joint->armature, false},
                 {"damping", joint->damping, false}};
    for (size_t list = 0; list < sizeof lists / sizeof lists[0]; list++) {
        for (int32_t i = 0; i < dofs; i++) {
            double x = lists[list].values[i];
            if (!(x >= 0.0) || (x == INFINITY && !lists[list].may_be_infinite)) {
                return fault(element, lists[list].field, "must be >= 0 and finite (entry %d is %g)", (int)i, x);
            }
        }
    }
    KL_TRY(check_finite(element, "target", joint->target, dofs));
    if ((int)joint->actuation < KL_ACTUATION_PASSIVE || joint->actuation > KL_ACTUATION_PD_IMPLICIT) {
        return fault(element, "actuation", "unknown kind %d", (int)joint->actuation);
    }
    if (joint->actuation != KL_ACTUATION_PASSIVE && dofs == 0) {
        return fault(element, "actuation", "a fixed joint has nothing to actuate");
    }
    for (int32_t i = 0; i < dofs; i++) {
        if (joint->armature[i] > 0.0 && joint->actuation != KL_ACTUATION_PD_IMPLICIT) {
            return fault(element, "armature", "needs actuation \"pd-implicit\"");
        }
    }
    if (joint->reference < -1 || joint->reference >= model->reference_count) {
        return fault(element, "reference", "reference %d does not exist (there are %d)", (int)joint->reference,
                     (int)model->reference_count);
    }
    if (joint->reference >= 0 && model->references[joint->reference].dofs != dofs) {
        return fault(element, "reference", "\"%.60s\" has %d columns, the joint has %d degrees of freedom",
                     model->references[joint->reference].name, (int)model->references[joint->reference].dofs,
                     (int)dofs);
    }
    return KL_OK;
}

KlStatus kl_builder_add_joint(KlBuilder *builder, const KlJointDef *def, int32_t *index) {
    KL_TRY(check_open(builder));
    KlModel *model = builder->model;
    Element element = {"joints", model->joint_count};
    KlJointDef joint = *def;
    KL_TRY(check_count(element, MAX_ELEMENTS));
    KL_TRY(check_name(element, joint.name, &model->joint_names));
    const KlJointInfo *kind = kl_joint_kind(joint.kind);
    if (kind == NULL) {
        return fault(element, "type", "unknown joint kind %d", (int)joint.kind);
    }
    KL_TRY(check_joint_bodies(model, element, &joint));
    KL_TRY(check_pose(element, "base_frame", joint.base_frame));
    KL_TRY(check_pose(element, "follower_frame", joint.follower_frame));
    KL_TRY(check_joint_limits(element, &joint, kind->dofs));
    KL_TRY(check_joint_actuation(model, element, &joint, kind->dofs));
    KL_TRY(GROW(builder, joints, joint_count, joint_capacity));
    KL_TRY(copy_text(model, def->name, &joint.name));
    KL_TRY(kl_names_add(&model->joint_names, joint.name));
    model->joints[model->joint_count++] = joint;
    if (index != NULL) {
        *index = element.index;
    }
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- geometry

static KlStatus check_geom_shape(const KlModel *model, Element element, const KlGeomDef *geom) {
    static const int32_t size_counts[KL_GEOM_KIND_COUNT] = {1, 3, 2, 2, 0, 0, 0};
    if ((int)geom->kind < 0 || geom->kind >= KL_GEOM_KIND_COUNT) {
        return fault(element, "type", "unknown geom kind %d", (int)geom->kind);
    }
    for (int32_t i = 0; i < size_counts[geom->kind]; i++) {
        if (!(isfinite(geom->size[i]) && geom->size[i] > 0.0)) {
            return fault(element, "size", "must be > 0 and finite (entry %d is %g)", (int)i, geom->size[i]);
        }
    }
    if (geom->kind == KL_GEOM_PLANE && geom->body >= 0) {
        return fault(element, "type", "a plane belongs to the world, not to body \"%.60s\"",
                     model->bodies[geom->body].name);
    }
    bool wants_mesh = geom->kind == KL_GEOM_CONVEX || geom->kind == KL_GEOM_MESH;
    if (wants_mesh ? geom->mesh < 0 || geom->mesh >= model->mesh_count : geom->mesh != -1) {
        return fault(element, "mesh",
                     wants_mesh ? "mesh %d does not exist (there are %d)"
                                : "only convex and mesh geoms have one (got %d of %d)",
                     (int)geom->mesh, (int)model->mesh_count);
    }
    if (geom->kind == KL_GEOM_MESH && model->meshes[geom->mesh].triangle_count == 0) {
        return fault(element, "mesh", "\"%.60s\" has no triangles", model->meshes[geom->mesh].name);
    }
    if (geom->kind == KL_GEOM_CONVEX && model->meshes[geom->mesh].vertex_count < 4) {
        return fault(element, "mesh", "\"%.60s\" has %d vertices; a convex hull needs 4",
                     model->meshes[geom->mesh].name, (int)model->meshes[geom->mesh].vertex_count);
    }
    return KL_OK;
}

KlStatus kl_builder_add_geom(KlBuilder *builder, const KlGeomDef *def, int32_t *index) {
    KL_TRY(check_open(builder));
    KlModel *model = builder->model;
    Element element = {"geoms", model->geom_count};
    KlGeomDef geom = *def;
    KL_TRY(check_count(element, MAX_ELEMENTS));
    KL_TRY(check_name(element, geom.name, &model->geom_names));
    if (geom.body < -1 || geom.body >= model->body_count) {
        return fault(element, "body", "body %d does not exist (-1 is the world, bodies are 0 to %d)", (int)geom.body,
                     (int)model->body_count - 1);
    }
    KL_TRY(check_geom_shape(model, element, &geom));
    KL_TRY(check_pose(element, "pose", geom.pose));
    KL_TRY(check_range(element, "friction", geom.friction, 0.0, 1e6, ">= 0 and at most 1e6"));
    KL_TRY(check_range(element, "restitution", geom.restitution, 0.0, 1.0, "in [0, 1]"));
    for (int32_t i = 0; i < 4; i++) {
        KL_TRY(check_range(element, "color", (double)geom.color[i], 0.0, 1.0, "in [0, 1]"));
    }
    KL_TRY(GROW(builder, geoms, geom_count, geom_capacity));
    KL_TRY(copy_text(model, def->name, &geom.name));
    KL_TRY(kl_names_add(&model->geom_names, geom.name));
    model->geoms[model->geom_count++] = geom;
    if (index != NULL) {
        *index = element.index;
    }
    return KL_OK;
}

static KlStatus check_triangles(Element element, const KlMeshDef *mesh) {
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *v = mesh->triangles + 3 * t;
        for (int32_t k = 0; k < 3; k++) {
            if (v[k] < 0 || v[k] >= mesh->vertex_count) {
                return fault(element, "triangles", "triangle %d names vertex %d (there are %d)", (int)t, (int)v[k],
                             (int)mesh->vertex_count);
            }
        }
        double ab[3], ac[3], normal[3];
        kl_sub3(mesh->vertices + 3 * v[1], mesh->vertices + 3 * v[0], ab);
        kl_sub3(mesh->vertices + 3 * v[2], mesh->vertices + 3 * v[0], ac);
        kl_cross3(ab, ac, normal);
        if (!(kl_norm3(normal) > 0.0)) {
            return fault(element, "triangles", "triangle %d (vertices %d, %d, %d) has no area", (int)t, (int)v[0],
                         (int)v[1], (int)v[2]);
        }
    }
    return KL_OK;
}

KlStatus kl_builder_add_mesh(KlBuilder *builder, const KlMeshDef *def, int32_t *index) {
    KL_TRY(check_open(builder));
    KlModel *model = builder->model;
    Element element = {"meshes", model->mesh_count};
    KlMeshDef mesh = *def;
    KL_TRY(check_count(element, MAX_ELEMENTS));
    KL_TRY(check_name(element, mesh.name, &model->mesh_names));
    if (mesh.vertex_count < 3 || mesh.vertex_count > MAX_MESH_SIZE) {
        return fault(element, "vertices", "must be 3 to %d (got %d)", MAX_MESH_SIZE, (int)mesh.vertex_count);
    }
    if (mesh.triangle_count < 0 || mesh.triangle_count > MAX_MESH_SIZE) {
        return fault(element, "triangles", "must be 0 to %d (got %d)", MAX_MESH_SIZE, (int)mesh.triangle_count);
    }
    if (!all_finite(mesh.vertices, 3 * mesh.vertex_count)) {
        int32_t bad = 0;
        while (all_finite(mesh.vertices + 3 * bad, 3)) {
            bad++;
        }
        return fault(element, "vertices", "must be finite (vertex %d is not)", (int)bad);
    }
    KL_TRY(check_triangles(element, &mesh));
    KL_TRY(GROW(builder, meshes, mesh_count, mesh_capacity));
    mesh.name = kl_arena_text(&model->arena, def->name);
    mesh.vertices = copy_array(&model->arena, def->vertices, 3 * def->vertex_count, sizeof(double));
    mesh.triangles = copy_array(&model->arena, def->triangles, 3 * def->triangle_count, sizeof(int32_t));
    KL_TRY(kl_arena_check(&model->arena));
    KL_TRY(kl_names_add(&model->mesh_names, mesh.name));
    model->meshes[model->mesh_count++] = mesh;
    if (index != NULL) {
        *index = element.index;
    }
    return KL_OK;
}

// ----------------------------------------------------------------------------------------
// references, events

static KlStatus check_reference(Element element, const KlReferenceDef *reference) {
    if (reference->dofs < 1 || reference->dofs > 6) {
        return fault(element, "values", "must have 1 to 6 columns (got %d)", (int)reference->dofs);
    }
    if (reference->samples < (reference->loop ? 2 : 1) || reference->samples > MAX_SAMPLES) {
        return fault(element, "times", "must be %d to %d samples (got %d)", reference->loop ? 2 : 1, MAX_SAMPLES,
                     (int)reference->samples);
    }
    KL_TRY(check_finite(element, "times", reference->times, reference->samples));
    KL_TRY(check_finite(element, "values", reference->values, reference->samples * reference->dofs));
    for (int32_t i = 1; i < reference->samples; i++) {
        if (!(reference->times[i] > reference->times[i - 1])) {
            return fault(element, "times", "must ascend (entry %d is %g after %g)", (int)i, reference->times[i],
                         reference->times[i - 1]);
        }
    }
    const double *last = reference->values + (size_t)(reference->samples - 1) * (size_t)reference->dofs;
    for (int32_t k = 0; reference->loop && k < reference->dofs; k++) {
        if (fabs(last[k] - reference->values[k]) > 1e-6) {  // a jump would be an infinite velocity
            return fault(element, "values", "a looped reference must end where it starts (column %d: %g and %g)",
                         (int)k, reference->values[k], last[k]);
        }
    }
    return KL_OK;
}

KlStatus kl_builder_add_reference(KlBuilder *builder, const KlReferenceDef *def, int32_t *index) {
    KL_TRY(check_open(builder));
    KlModel *model = builder->model;
    Element element = {"references", model->reference_count};
    KlReferenceDef reference = *def;
    KL_TRY(check_count(element, MAX_ELEMENTS));
    KL_TRY(check_name(element, reference.name, &model->reference_names));
    KL_TRY(check_reference(element, &reference));
    KL_TRY(GROW(builder, references, reference_count, reference_capacity));
    reference.name = kl_arena_text(&model->arena, def->name);
    reference.times = copy_array(&model->arena, def->times, def->samples, sizeof(double));
    reference.values = copy_array(&model->arena, def->values, def->samples * def->dofs, sizeof(double));
    KL_TRY(kl_arena_check(&model->arena));
    KL_TRY(kl_names_add(&model->reference_names, reference.name));
    model->references[model->reference_count++] = reference;
    if (index != NULL) {
        *index = element.index;
    }
    return KL_OK;
}

KlStatus kl_event_check(const KlModel *model, int32_t index, const KlForceEvent *event) {
    Element element = {"events", index};
    if (event->body != KL_BODY_HIGHEST && (event->body < 0 || event->body >= model->body_count)) {
        return fault(element, "body", "body %d does not exist (bodies are 0 to %d)", (int)event->body,
                     (int)model->body_count - 1);
    }
    KL_TRY(check_finite(element, "start", &event->start, 1));
    KL_TRY(check_finite(element, "end", &event->end, 1));
    if (!(event->end > event->start)) {
        return fault(element, "end", "must lie after start (got %g and %g)", event->end, event->start);
    }
    KL_TRY(check_finite(element, "force", event->from, 6));
    KL_TRY(check_finite(element, "force_to", event->to, 6));
    return check_finite(element, "point", event->point, 3);
}

KlStatus kl_builder_add_event(KlBuilder *builder, const KlForceEvent *event) {
    KL_TRY(check_open(builder));
    KlModel *model = builder->model;
    Element element = {"events", model->event_count};
    KL_TRY(check_count(element, MAX_ELEMENTS));
    KL_TRY(kl_event_check(model, model->event_count, event));
    KL_TRY(GROW(builder, events, event_count, event_capacity));
    model->events[model->event_count++] = *event;
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- pairs,
// settings

// Two int32_t per entry; `exclude_count` counts entries, so that it is grown by hand.
static KlStatus push_exclude(KlBuilder *builder, int32_t body_a, int32_t body_b) {
    KlModel *model = builder->model;
    void *list = model->excludes;
    KL_TRY(grow(&list, &builder->exclude_capacity, model->exclude_count, 2 * sizeof(int32_t)));
    model->excludes = list;
    int32_t *pair = model->excludes + 2 * (size_t)model->exclude_count++;
    pair[0] = body_a < body_b ? body_a : body_b;
    pair[1] = body_a < body_b ? body_b : body_a;
    return KL_OK;
}

KlStatus kl_builder_exclude(KlBuilder *builder, int32_t body_a, int32_t body_b) {
    KL_TRY(check_open(builder));
    KlModel *model = builder->model;
    Element element = {"exclude", model->exclude_count};
    if (model->exclude_count >= 10 * MAX_ELEMENTS) {
        return kl_fail(KL_ERR_LIMIT, "more than %d excluded pairs", 10 * MAX_ELEMENTS);
    }
    int32_t count = model->body_count;
    if (body_a < -1 || body_b < -1 || body_a >= count || body_b >= count || body_a == body_b) {
        return fault(element, "bodies", "needs two different bodies out of -1 (the world) to %d (got %d and %d)",
                     (int)count - 1, (int)body_a, (int)body_b);
    }
    return push_exclude(builder, body_a, body_b);
}

KlStatus kl_builder_pair(KlBuilder *builder, int32_t geom_a, int32_t geom_b, double friction, double restitution) {
    KL_TRY(check_open(builder));
    KlModel *model = builder->model;
    Element element = {"pairs", model->pair_count};
    KL_TRY(check_count(element, MAX_ELEMENTS));
    int32_t count = model->geom_count;
    if (geom_a < 0 || geom_b < 0 || geom_a >= count || geom_b >= count || geom_a == geom_b) {
        return fault(element, "geoms", "needs two different geoms out of 0 to %d (got %d and %d)", (int)count - 1,
                     (int)geom_a, (int)geom_b);
    }
    KL_TRY(check_range(element, "friction", friction, 0.0, 1e6, ">= 0 and at most 1e6"));
    KL_TRY(check_range(element, "restitution", restitution, 0.0, 1.0, "in [0, 1]"));
    KL_TRY(GROW(builder, pairs, pair_count, pair_capacity));
    model->pairs[model->pair_count++] = (KlGeomPair){
        .geom_a = geom_a < geom_b ? geom_a : geom_b,
        .geom_b = geom_a < geom_b ? geom_b : geom_a,
        .friction = friction,
        .restitution = restitution,
    };
    return KL_OK;
}

static KlStatus setting_fault(const char *field, double value, const char *allowed) {
    char path[128];
    snprintf(path, sizeof path, "settings.%s", field);
    return kl_fail_at(KL_ERR_SCENE, &(KlPlace){.path = path}, "must be %s (got %g)", allowed, value);
}

static KlStatus check_softening(const char *which, const KlSoftening *soft, double dt) {
    struct {
        const char *name;
        double value, low, high;
        const char *allowed;
    } checks[] = {
        {"d0", soft->d0, 1e-4, 0.9999, "in [1e-4, 0.9999]"},
        {"dw", soft->dw, 1e-4, 0.9999, "in [1e-4, 0.9999]"},
        {"width", soft->width, 1e-15, 1e15, "> 0"},
        {"midpoint", soft->midpoint, 1e-4, 0.9999, "in [1e-4, 0.9999]"},
        {"power", soft->power, 1.0, 1e3, "in [1, 1000]"},
        {"time_const", soft->time_const, 2.0 * dt, 1e9, ">= 2 dt"},
        {"damp_ratio", soft->damp_ratio, 1e-15, 1e9, "> 0"},
    };
    for (size_t i = 0; soft->on && i < sizeof checks / sizeof checks[0]; i++) {
        if (!(checks[i].value >= checks[i].low && checks[i].value <= checks[i].high)) {
            char field[64];
            snprintf(field, sizeof field, "softening.%s.%s", which, checks[i].name);
            return setting_fault(field, checks[i].value, checks[i].allowed);
        }
    }
    return KL_OK;
}

KlStatus kl_settings_check(const KlSettings *s) {
    struct {
        const char *name;
        double value, low, high;
        const char *allowed;
    } checks[] = {
        {"dt", s->dt, 1e-9, 10.0, "in [1e-9, 10] s"},
        {"gravity", s->gravity[0], -1e6, 1e6, "finite, within 1e6 m/s^2"},
        {"gravity", s->gravity[1], -1e6, 1e6, "finite, within 1e6 m/s^2"},
        {"gravity", s->gravity[2], -1e6, 1e6, "finite, within 1e6 m/s^2"},
        {"integrator", (double)s->integrator, 0.0, 1.0, "euler (0) or moreau (1)"},
        {"stabilization.joints", s->baumgarte_joint, 0.0, 1.0, "in [0, 1]"},
        {"stabilization.limits", s->baumgarte_limit, 0.0, 1.0, "in [0, 1]"},
        {"stabilization.contacts", s->baumgarte_contact, 0.0, 1.0, "in [0, 1]"},
        {"margin", s->margin, -1.0, 1.0, "in [-1, 1] m"},
        {"detection_distance", s->detection_distance, 0.0, 1e3, "in [0, 1000] m"},
        {"cull_distance", s->cull_distance, 0.0, 1e3, "in [0, 1000] m"},
        {"max_contacts", (double)s->max_contacts, 0.0, MAX_CONTACTS, "in [0, 100000]"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        if (!(checks[i].value >= checks[i].low && checks[i].value <= checks[i].high)) {
            return setting_fault(checks[i].name, checks[i].value, checks[i].allowed);
        }
    }
    KL_TRY(check_softening("joints", &s->soft_joint, s->dt));
    KL_TRY(check_softening("limits", &s->soft_limit, s->dt));
    return check_softening("contacts", &s->soft_contact, s->dt);
}

KlStatus kl_builder_set_settings(KlBuilder *builder, const KlSettings *settings) {
    KL_TRY(check_open(builder));
    KL_TRY(kl_settings_check(settings));
    builder->model->settings = *settings;
    return KL_OK;
}

KlStatus kl_builder_set_neighbours_collide(KlBuilder *builder, bool on) {
    KL_TRY(check_open(builder));
    builder->model->neighbours_collide = on;
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- finish

static KlStatus sort_excludes(KlBuilder *builder) {
    KlModel *model = builder->model;
    for (int32_t j = 0; !model->neighbours_collide && j < model->joint_count; j++) {
        KL_TRY(push_exclude(builder, model->joints[j].base, model->joints[j].follower));
    }
    if (model->exclude_count == 0) {
        return KL_OK;
    }
    qsort(model->excludes, (size_t)model->exclude_count, 2 * sizeof(int32_t), kl_compare_excludes);
    int32_t kept = 1;
    for (int32_t i = 1; i < model->exclude_count; i++) {
        if (kl_compare_excludes(model->excludes + 2 * (size_t)i, model->excludes + 2 * (size_t)(kept - 1)) != 0) {
            memcpy(model->excludes + 2 * (size_t)kept++, model->excludes + 2 * (size_t)i, 2 * sizeof(int32_t));
        }
    }
    model->exclude_count = kept;
    return KL_OK;
}

static KlStatus sort_pairs(KlModel *model) {
    if (model->pair_count == 0) {
        return KL_OK;
    }
    qsort(model->pairs, (size_t)model->pair_count, sizeof *model->pairs, kl_compare_geom_pairs);
    for (int32_t i = 1; i < model->pair_count; i++) {
        if (kl_compare_geom_pairs(&model->pairs[i - 1], &model->pairs[i]) == 0) {
            return kl_fail(KL_ERR_SCENE, "pairs: the geoms \"%.60s\" and \"%.60s\" are given twice",
                           model->geoms[model->pairs[i].geom_a].name, model->geoms[model->pairs[i].geom_b].name);
        }
    }
    return KL_OK;
}

// Root of a node in a forest of merged sets, with path halving.
static int32_t find_root(int32_t *parent, int32_t node) {
    while (parent[node] != node) {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    return node;
}

// Independent cycles of the graph of bodies and the world: each joint that connects what was
// already connected closes one.
static KlStatus count_loops(const KlModel *model, int32_t *loops) {
    int32_t world = model->body_count;
    int32_t *parent = kl_alloc((size_t)(world + 1) * sizeof *parent);
    if (parent == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for %d bodies", (int)world);
    }
    for (int32_t i = 0; i <= world; i++) {
        parent[i] = i;
    }
    *loops = 0;
    for (int32_t j = 0; j < model->joint_count; j++) {
        const KlJointDef *joint = &model->joints[j];
        int32_t a = find_root(parent, joint->base < 0 ? world : joint->base);
        int32_t b = find_root(parent, joint->follower);
        *loops += a == b;
        parent[a] = b;
    }
    kl_free(parent);
    return KL_OK;
}

// Room for resting contacts of every shape; settings.max_contacts overrides it.
static int32_t choose_max_contacts(const KlModel *model) {
    int64_t count = 24;
    for (int32_t g = 0; g < model->geom_count; g++) {
        const KlGeomDef *geom = &model->geoms[g];
        if (geom->visual_only || geom->kind == KL_GEOM_PLANE) {
            continue;
        }
        count += geom->kind == KL_GEOM_MESH ? 48 : 12;
    }
    return count < MAX_CONTACTS ? (int32_t)count : MAX_CONTACTS;
}

static KlStatus summarize(KlModel *model) {
    KlModelInfo *info = &model->info;
    *info = (KlModelInfo){.bodies = model->body_count,
                          .joints = model->joint_count,
                          .geoms = model->geom_count,
                          .meshes = model->mesh_count,
                          .mass_ratio = 1.0};
    model->joint_row_start = KL_ARENA_ARRAY(&model->arena, int32_t, model->joint_count + 1);
    model->joint_dof_start = KL_ARENA_ARRAY(&model->arena, int32_t, model->joint_count + 1);
    KL_TRY(kl_arena_check(&model->arena));
    for (int32_t j = 0; j < model->joint_count; j++) {
        const KlJointDef *joint = &model->joints[j];
        int32_t dofs = kl_joint_kind(joint->kind)->dofs;
        model->joint_row_start[j + 1] = model->joint_row_start[j] + 6 - dofs;
        model->joint_dof_start[j + 1] = model->joint_dof_start[j] + dofs;
        *(joint->actuation == KL_ACTUATION_PASSIVE ? &info->passive_dofs : &info->actuated_dofs) += dofs;
        info->fixed_base = info->fixed_base || joint->base < 0;
    }
    info->joint_rows = model->joint_row_start[model->joint_count];
    double lightest = INFINITY, heaviest = 0.0;
    for (int32_t b = 0; b < model->body_count; b++) {
        const KlBodyDef *body = &model->bodies[b];
        lightest = fmin(lightest, body->mass);
        heaviest = fmax(heaviest, body->mass);
        info->total_mass += body->mass;
        info->total_inertia += 3.0 * body->mass + body->inertia[0] + body->inertia[4] + body->inertia[8];
    }
    info->mass_ratio = heaviest / lightest;
    return count_loops(model, &info->loops);
}

// Moves the grown lists into the model's arena: first all copies, so that a failure leaves them as
// they were.
static KlStatus freeze(KlModel *model) {
    KlArena *arena = &model->arena;
    KlBodyDef *bodies = copy_array(arena, model->bodies, model->body_count, sizeof *bodies);
    KlJointDef *joints = copy_array(arena, model->joints, model->joint_count, sizeof *joints);
    KlGeomDef *geoms = copy_array(arena, model->geoms, model->geom_count, sizeof *geoms);
    KlMeshDef *meshes = copy_array(arena, model->meshes, model->mesh_count, sizeof *meshes);
    KlReferenceDef *references = copy_array(arena, model->references, model->reference_count, sizeof *references);
    KlForceEvent *events = copy_array(arena, model->events, model->event_count, sizeof *events);
    int32_t *excludes = copy_array(arena, model->excludes, 2 * model->exclude_count, sizeof *excludes);
    KlGeomPair *pairs = copy_array(arena, model->pairs, model->pair_count, sizeof *pairs);
    KL_TRY(kl_arena_check(arena));
    free_lists(model);
    model->bodies = bodies;
    model->joints = joints;
    model->geoms = geoms;
    model->meshes = meshes;
    model->references = references;
    model->events = events;
    model->excludes = excludes;
    model->pairs = pairs;
    return KL_OK;
}

KlStatus kl_builder_finish(KlBuilder *builder, KlModel **model) {
    *model = NULL;
    KL_TRY(check_open(builder));
    KlModel *built = builder->model;
    if (built->body_count == 0) {
        return kl_fail(KL_ERR_SCENE, "bodies: a model needs at least one body");
    }
    KL_TRY(kl_settings_check(&built->settings));
    KL_TRY(sort_excludes(builder));
    KL_TRY(sort_pairs(built));
    KL_TRY(summarize(built));
    built->max_contacts_chosen = built->settings.max_contacts == 0;
    if (built->max_contacts_chosen) {
        built->settings.max_contacts = choose_max_contacts(built);
    }
    KL_TRY(freeze(built));
    *model = built;
    builder->model = NULL;
    return KL_OK;
}
