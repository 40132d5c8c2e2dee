// Reads scene and experiment documents (scenes/schema.json says the same in JSON Schema). Each function
// reads one kind of element; the builder then checks it, and its fault is put at the element's place.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/trig.h"
#include "math/vec.h"
#include "model/inertia.h"
#include "model/json_read.h"
#include "model/mesh.h"
#include "model/model.h"
#include "model/scene.h"

typedef struct Reader {
    KlScene *scene;
    KlBuilder *builder;
    const KlModel *model;  // what is built so far
    const KlJson *root;    // of the scene document
    double friction, restitution;
    KlMassProperties mass_properties;  // of the body being read
    bool use_visuals;                  // it has no collision geometry
    int32_t body, geom_number;
    const char *body_name;
    KlSceneRun *run;  // being read
    int32_t capacity; // of the list being read
} Reader;

// A builder's call: its fault becomes one at this place.
#define TRY_AT(at, call)                                    \
    do {                                                    \
        if ((call) != KL_OK) {                              \
            return kl_json_adopt_error(at);                 \
        }                                                   \
    } while (0)

static KlStatus keep_text(Reader *reader, const char *text, const char **kept) {
    *kept = kl_arena_text(&reader->scene->arena, text);
    return kl_arena_check(&reader->scene->arena);
}

static KlStatus add_note(Reader *reader, const char *text) {
    KlScene *scene = reader->scene;
    const char **notes = KL_ARENA_ARRAY(&scene->arena, const char *, scene->note_count + 1);
    KL_TRY(kl_arena_check(&scene->arena));
    if (scene->note_count > 0) {
        memcpy((void *)notes, (const void *)scene->notes, (size_t)scene->note_count * sizeof *notes);
    }
    scene->notes = notes;
    KL_TRY(keep_text(reader, text, &notes[scene->note_count]));
    scene->note_count++;
    return KL_OK;
}

static KlStatus fail_name(const KlJson *at, const char *what, const char *name, const KlNames *known) {
    const char *nearest = kl_nearest_name(known->names, known->count < 1000 ? known->count : 1000, name);
    return kl_json_fault(at, NULL, KL_ERR_SCENE, "there is no %s \"%.60s\"%s%.60s%s", what, name,
                        nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
                        nearest != NULL ? "\"?" : "");
}

// ---------------------------------------------------------------------------------------- poses

// [w, x, y, z], or {"axis": [x, y, z], "angle": radians}.
static KlStatus read_orientation(const KlJson *at, double q[4]) {
    KlJson member;
    KL_TRY(kl_json_member(at, "orientation", &member));
    if (member.value == NULL) {
        return KL_OK;
    }
    if (!json_is_object(member.value)) {
        return kl_json_as_reals(&member, q, 4);
    }
    static const char *const keys[] = {"axis", "angle", NULL};
    KL_TRY(kl_json_check_keys(&member, keys));
    double axis[3], angle = 0.0;
    KlJson axis_member;
    KL_TRY(kl_json_required(&member, "axis", &axis_member));
    KL_TRY(kl_json_as_reals(&axis_member, axis, 3));
    KL_TRY(kl_json_real(&member, "angle", &angle));
    double length = kl_norm3(axis);
    if (!(length > 0.0) || !isfinite(length)) {
        return kl_json_fault(&axis_member, NULL, KL_ERR_SCENE, "must not be zero");
    }
    kl_scale3(angle / length, axis, axis);
    kl_quat_exp(axis, q);
    return KL_OK;
}

static KlStatus read_pose(const KlJson *at, double pose[7]) {
    KL_TRY(kl_json_reals(at, "position", pose, 3));
    return read_orientation(at, pose + 3);
}

// ---------------------------------------------------------------------------------------- settings

static KlStatus read_softening_kind(const KlJson *at, const char *key, KlSoftening *soft) {
    static const char *const keys[] = {"on", "d0", "dw", "width", "midpoint", "power", "time_const", "damp_ratio", NULL};
    KlJson member;
    KL_TRY(kl_json_member(at, key, &member));
    if (member.value == NULL || json_is_boolean(member.value)) {
        return kl_json_bool(at, key, &soft->on);
    }
    KL_TRY(kl_json_check_keys(&member, keys));
    soft->on = true;
    KL_TRY(kl_json_bool(&member, "on", &soft->on));
    KL_TRY(kl_json_real(&member, "d0", &soft->d0));
    KL_TRY(kl_json_real(&member, "dw", &soft->dw));
    KL_TRY(kl_json_real(&member, "width", &soft->width));
    KL_TRY(kl_json_real(&member, "midpoint", &soft->midpoint));
    KL_TRY(kl_json_real(&member, "power", &soft->power));
    KL_TRY(kl_json_real(&member, "time_const", &soft->time_const));
    return kl_json_real(&member, "damp_ratio", &soft->damp_ratio);
}

static KlStatus read_softening(const KlJson *at, KlSettings *settings) {
    static const char *const keys[] = {"joints", "limits", "contacts", NULL};
    KlJson member;
    KL_TRY(kl_json_member(at, "softening", &member));
    if (member.value == NULL) {
        return KL_OK;
    }
    if (json_is_boolean(member.value)) {  // all three at once
        bool on = json_is_true(member.value);
        settings->soft_joint.on = settings->soft_limit.on = settings->soft_contact.on = on;
        return KL_OK;
    }
    KL_TRY(kl_json_check_keys(&member, keys));
    KL_TRY(read_softening_kind(&member, "joints", &settings->soft_joint));
    KL_TRY(read_softening_kind(&member, "limits", &settings->soft_limit));
    return read_softening_kind(&member, "contacts", &settings->soft_contact);
}

static KlStatus read_stabilization(const KlJson *at, KlSettings *settings) {
    static const char *const keys[] = {"joints", "limits", "contacts", NULL};
    KlJson member;
    KL_TRY(kl_json_member(at, "stabilization", &member));
    if (member.value == NULL) {
        return KL_OK;
    }
    KL_TRY(kl_json_check_keys(&member, keys));
    KL_TRY(kl_json_real(&member, "joints", &settings->baumgarte_joint));
    KL_TRY(kl_json_real(&member, "limits", &settings->baumgarte_limit));
    return kl_json_real(&member, "contacts", &settings->baumgarte_contact);
}

static KlStatus read_dt_and_gravity(const KlJson *at, KlSettings *settings) {
    KL_TRY(kl_json_real(at, "dt", &settings->dt));
    return kl_json_reals(at, "gravity", settings->gravity, 3);
}

// "settings" of a scene or a run, on top of what `settings` holds; "dt" and "gravity" may stand at `at` too.
static KlStatus read_settings(const KlJson *at, KlSettings *settings) {
    static const char *const keys[] = {"dt", "gravity", "integrator", "stabilization", "softening", "margin",
                                       "detection_distance", "cull_distance", "max_contacts", NULL};
    static const char *const integrators[] = {"euler", "moreau", NULL};
    KL_TRY(read_dt_and_gravity(at, settings));
    KlJson member;
    KL_TRY(kl_json_member(at, "settings", &member));
    if (member.value != NULL) {
        KL_TRY(kl_json_check_keys(&member, keys));
        KL_TRY(read_dt_and_gravity(&member, settings));
        int32_t integrator = (int32_t)settings->integrator;
        KL_TRY(kl_json_choice(&member, "integrator", integrators, &integrator));
        settings->integrator = (KlIntegrator)integrator;
        KL_TRY(read_stabilization(&member, settings));
        KL_TRY(read_softening(&member, settings));
        KL_TRY(kl_json_real(&member, "margin", &settings->margin));
        KL_TRY(kl_json_real(&member, "detection_distance", &settings->detection_distance));
        KL_TRY(kl_json_real(&member, "cull_distance", &settings->cull_distance));
        int64_t contacts = settings->max_contacts;
        KL_TRY(kl_json_int(&member, "max_contacts", 0, 100000, &contacts));
        settings->max_contacts = (int32_t)contacts;
    }
    TRY_AT(member.value != NULL ? &member : at, kl_settings_check(settings));
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- meshes

static KlStatus read_mesh_file(Reader *reader, const KlJson *at, const char *name, const KlJson *file) {
    double scale[3] = {1.0, 1.0, 1.0};
    KlJson scale_member;
    KL_TRY(kl_json_member(at, "scale", &scale_member));
    if (json_is_number(scale_member.value)) {
        scale[0] = scale[1] = scale[2] = json_number_value(scale_member.value);
    } else if (scale_member.value != NULL) {
        KL_TRY(kl_json_as_reals(&scale_member, scale, 3));
    }
    for (int32_t k = 0; k < 3; k++) {
        if (!isfinite(scale[k]) || scale[k] == 0.0) {
            return kl_json_fault(&scale_member, NULL, KL_ERR_SCENE, "must be finite and not zero (got %g)", scale[k]);
        }
    }
    const char *file_name;
    KL_TRY(kl_json_as_text(file, &file_name));
    char *data;
    size_t size;
    KL_TRY(kl_json_read_file(file, file_name, &data, &size));
    KlMeshData mesh;
    KlStatus status = kl_mesh_parse(data, size, file_name, scale, &mesh);
    file->source->loader->files->release(file->source->loader->files->context, data);
    if (status != KL_OK) {
        return kl_json_adopt_error(file);
    }
    KlMeshDef def = {.name = name, .vertices = mesh.vertices, .vertex_count = mesh.vertex_count,
                     .triangles = mesh.triangles, .triangle_count = mesh.triangle_count};
    status = kl_builder_add_mesh(reader->builder, &def, NULL);
    char note[300];
    snprintf(note, sizeof note, "mesh \"%.100s\": %d triangles without area dropped", name, (int)mesh.dropped);
    bool dropped = mesh.dropped > 0;
    kl_mesh_data_free(&mesh);
    TRY_AT(at, status);
    return dropped ? add_note(reader, note) : KL_OK;
}

typedef struct Triples {
    double *reals;
    int32_t *indices;  // in place of reals when not NULL
    int32_t count;
} Triples;

static KlStatus read_triple(void *context, const KlJson *entry) {
    Triples *triples = context;
    double values[3];
    KL_TRY(kl_json_as_reals(entry, values, 3));
    for (int32_t k = 0; k < 3; k++) {
        if (triples->indices == NULL) {
            triples->reals[3 * triples->count + k] = values[k];
            continue;
        }
        if (!(values[k] >= 0.0 && values[k] < 1e9) || values[k] != floor(values[k])) {
            return kl_json_fault(entry, NULL, KL_ERR_SCENE, "must be three vertex numbers, from 0");
        }
        triples->indices[3 * triples->count + k] = (int32_t)values[k];
    }
    triples->count++;
    return KL_OK;
}

static KlStatus read_mesh_inline(Reader *reader, const KlJson *at, const char *name) {
    KlJson vertices, triangles;
    KL_TRY(kl_json_required(at, "vertices", &vertices));
    KL_TRY(kl_json_member(at, "triangles", &triangles));
    size_t vertex_count = json_array_size(vertices.value), triangle_count = json_array_size(triangles.value);
    KlArena *arena = &reader->scene->arena;
    Triples points = {.reals = KL_ARENA_ARRAY(arena, double, 3 * vertex_count + 1)};
    Triples corners = {.indices = KL_ARENA_ARRAY(arena, int32_t, 3 * triangle_count + 1)};
    KL_TRY(kl_arena_check(arena));
    KL_TRY(kl_json_each(at, "vertices", read_triple, &points));
    KL_TRY(kl_json_each(at, "triangles", read_triple, &corners));
    KlMeshDef def = {.name = name, .vertices = points.reals, .vertex_count = points.count,
                     .triangles = corners.indices, .triangle_count = corners.count};
    TRY_AT(at, kl_builder_add_mesh(reader->builder, &def, NULL));
    return KL_OK;
}

static KlStatus read_required_text(const KlJson *at, const char *key, const char **text) {
    KlJson member;
    KL_TRY(kl_json_required(at, key, &member));
    return kl_json_as_text(&member, text);
}

static KlStatus read_mesh(void *context, const KlJson *at) {
    static const char *const keys[] = {"name", "file", "scale", "vertices", "triangles", NULL};
    Reader *reader = context;
    const char *name;
    KlJson file, vertices;
    KL_TRY(kl_json_check_keys(at, keys));
    KL_TRY(read_required_text(at, "name", &name));
    KL_TRY(kl_json_member(at, "file", &file));
    KL_TRY(kl_json_member(at, "vertices", &vertices));
    if ((file.value != NULL) == (vertices.value != NULL)) {
        return kl_json_fault(at, NULL, KL_ERR_SCENE, "a mesh has either a \"file\" or \"vertices\" and \"triangles\"");
    }
    return file.value != NULL ? read_mesh_file(reader, at, name, &file) : read_mesh_inline(reader, at, name);
}

// ---------------------------------------------------------------------------------------- references

typedef struct Samples {
    double *values;
    int32_t count, dofs;  // dofs 0: not known yet
} Samples;

static KlStatus read_sample(void *context, const KlJson *entry) {
    Samples *samples = context;
    int32_t dofs = json_is_array(entry->value) ? (int32_t)json_array_size(entry->value) : 1;
    samples->dofs = samples->dofs > 0 ? samples->dofs : dofs;
    double *row = samples->values + (size_t)samples->count++ * (size_t)samples->dofs;
    if (dofs > 6) {
        return kl_json_fault(entry, NULL, KL_ERR_SCENE, "a reference has at most 6 columns (found %d)", (int)dofs);
    }
    return json_is_array(entry->value) || samples->dofs > 1 ? kl_json_as_reals(entry, row, samples->dofs)
                                                            : kl_json_as_real(entry, row);
}

static KlStatus read_reference_times(const KlJson *at, double *times, int32_t samples) {
    KlJson list, step;
    KL_TRY(kl_json_member(at, "times", &list));
    KL_TRY(kl_json_member(at, "step", &step));
    if ((list.value != NULL) == (step.value != NULL)) {
        return kl_json_fault(at, NULL, KL_ERR_SCENE, "a reference has either \"times\" or a \"step\"");
    }
    if (list.value != NULL) {
        return kl_json_as_reals(&list, times, samples);
    }
    double dt;
    KL_TRY(kl_json_as_real(&step, &dt));
    for (int32_t i = 0; i < samples; i++) {
        times[i] = (double)i * dt;
    }
    return KL_OK;
}

static KlStatus read_reference(void *context, const KlJson *at) {
    static const char *const keys[] = {"name", "loop", "times", "step", "values", NULL};
    Reader *reader = context;
    KlReferenceDef def = {.loop = false};
    KlJson values;
    KL_TRY(kl_json_check_keys(at, keys));
    KL_TRY(read_required_text(at, "name", &def.name));
    KL_TRY(kl_json_bool(at, "loop", &def.loop));
    KL_TRY(kl_json_required(at, "values", &values));
    size_t rows = json_array_size(values.value);
    KlArena *arena = &reader->scene->arena;
    Samples samples = {.values = KL_ARENA_ARRAY(arena, double, 6 * rows + 1)};
    double *times = KL_ARENA_ARRAY(arena, double, rows + 1);
    KL_TRY(kl_arena_check(arena));
    KL_TRY(kl_json_each(at, "values", read_sample, &samples));
    KL_TRY(read_reference_times(at, times, samples.count));
    def.dofs = samples.dofs;
    def.samples = samples.count;
    def.times = times;
    def.values = samples.values;
    TRY_AT(at, kl_builder_add_reference(reader->builder, &def, NULL));
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- geoms

static KlStatus read_material_values(const KlJson *at, double *friction, double *restitution) {
    KL_TRY(kl_json_real(at, "friction", friction));
    return kl_json_real(at, "restitution", restitution);
}

static KlStatus read_named_material(const Reader *reader, const KlJson *at, const char *name, KlGeomDef *def) {
    static const char *const keys[] = {"friction", "restitution", NULL};
    KlJson materials, material;
    KL_TRY(kl_json_member(reader->root, "materials", &materials));
    KL_TRY(kl_json_member(&materials, name, &material));
    if (material.value == NULL) {
        return kl_json_fault(at, "material", KL_ERR_SCENE, "there is no material \"%.60s\" in \"materials\"", name);
    }
    KL_TRY(kl_json_check_keys(&material, keys));
    return read_material_values(&material, &def->friction, &def->restitution);
}

static KlStatus read_geom_material(const Reader *reader, const KlJson *at, KlGeomDef *def) {
    const char *name = NULL;
    def->friction = reader->friction;
    def->restitution = reader->restitution;
    KL_TRY(kl_json_text(at, "material", &name));
    if (name != NULL) {
        KL_TRY(read_named_material(reader, at, name, def));
    }
    return read_material_values(at, &def->friction, &def->restitution);
}

static KlStatus read_geom_size(const KlJson *at, KlGeomDef *def) {
    static const struct {
        int32_t count;
        const char *meaning;
    } sizes[KL_GEOM_KIND_COUNT] = {
        {1, "[radius]"}, {3, "[x, y, z] (full edges)"}, {2, "[radius, length]"}, {2, "[radius, length]"},
        {0, ""}, {0, ""}, {0, ""},
    };
    KlJson size;
    KL_TRY(kl_json_member(at, "size", &size));
    int32_t count = sizes[def->kind].count;
    if (count == 0) {
        return size.value == NULL ? KL_OK : kl_json_fault(&size, NULL, KL_ERR_SCENE, "a %s has no size",
                                                         kl_geom_kind_name(def->kind));
    }
    if (count == 1 && json_is_number(size.value)) {
        return kl_json_as_real(&size, def->size);
    }
    if (!json_is_array(size.value) || json_array_size(size.value) != (size_t)count) {
        return kl_json_fault(at, "size", KL_ERR_SCENE, "a %s needs size %s", kl_geom_kind_name(def->kind),
                            sizes[def->kind].meaning);
    }
    return kl_json_as_reals(&size, def->size, count);
}

static KlStatus read_geom_color(const KlJson *at, KlGeomDef *def) {
    KlJson color;
    double rgba[4] = {0.0, 0.0, 0.0, 1.0};
    KL_TRY(kl_json_member(at, "color", &color));
    if (color.value == NULL) {
        return KL_OK;
    }
    KL_TRY(kl_json_as_reals(&color, rgba, json_array_size(color.value) == 3 ? 3 : 4));
    for (int32_t k = 0; k < 4; k++) {
        def->color[k] = (float)rgba[k];
    }
    return KL_OK;
}

static KlStatus read_geom_bits(const KlJson *at, KlGeomDef *def) {
    int64_t group = def->group, mask = def->mask;
    KL_TRY(kl_json_int(at, "group", 0, UINT32_MAX, &group));
    KL_TRY(kl_json_int(at, "mask", 0, UINT32_MAX, &mask));
    def->group = (uint32_t)group;
    def->mask = (uint32_t)mask;
    return KL_OK;
}

static KlStatus read_geom_mesh(const Reader *reader, const KlJson *at, KlGeomDef *def) {
    KlJson mesh;
    const char *name;
    KL_TRY(kl_json_member(at, "mesh", &mesh));
    if (mesh.value == NULL) {
        bool wants = def->kind == KL_GEOM_CONVEX || def->kind == KL_GEOM_MESH;
        return wants ? kl_json_fault(at, "mesh", KL_ERR_SCENE, "is missing: the name of a mesh in \"meshes\"") : KL_OK;
    }
    KL_TRY(kl_json_as_text(&mesh, &name));
    def->mesh = kl_names_find(&reader->model->mesh_names, name);
    return def->mesh >= 0 ? KL_OK : fail_name(&mesh, "mesh", name, &reader->model->mesh_names);
}

static KlStatus read_geom(Reader *reader, const KlJson *at, char name[256], KlGeomDef *def) {
    static const char *const keys[] = {"name", "type", "position", "orientation", "size", "mesh", "material", "friction",
                                       "restitution", "group", "mask", "visual_only", "color", NULL};
    static const char *const kinds[] = {"sphere", "box", "capsule", "cylinder", "plane", "convex", "mesh", NULL};
    KL_TRY(kl_json_check_keys(at, keys));
    kl_default_geom_def(def);
    KlJson type;
    KL_TRY(kl_json_required(at, "type", &type));
    int32_t kind = 0;
    KL_TRY(kl_json_choice(at, "type", kinds, &kind));
    def->kind = (KlGeomKind)kind;
    KL_TRY(read_geom_size(at, def));
    KL_TRY(read_geom_mesh(reader, at, def));
    KL_TRY(read_pose(at, def->pose));
    KL_TRY(read_geom_material(reader, at, def));
    KL_TRY(read_geom_bits(at, def));
    KL_TRY(read_geom_color(at, def));
    KL_TRY(kl_json_bool(at, "visual_only", &def->visual_only));
    def->name = name;
    snprintf(name, 256, "%.200s/%d", reader->body_name, (int)reader->geom_number++);
    KL_TRY(kl_json_text(at, "name", &def->name));
    def->body = reader->body;
    return KL_OK;
}

static KlStatus add_geom(void *context, const KlJson *at) {
    Reader *reader = context;
    KlGeomDef def;
    char name[256];
    KL_TRY(read_geom(reader, at, name, &def));
    TRY_AT(at, kl_builder_add_geom(reader->builder, &def, NULL));
    return KL_OK;
}

// Adds one geom's mass properties to the body's, if it is of the kind that counts.
static KlStatus add_geom_mass(void *context, const KlJson *at) {
    Reader *reader = context;
    KlGeomDef def;
    char name[256];
    KL_TRY(read_geom(reader, at, name, &def));
    if (def.visual_only != reader->use_visuals) {
        return KL_OK;
    }
    KlMassProperties part;
    TRY_AT(at, kl_geom_mass_properties(&def, def.mesh >= 0 ? &reader->model->meshes[def.mesh] : NULL, &part));
    if (!(part.volume > 0.0) || !isfinite(part.volume)) {
        return kl_json_fault(at, "size", KL_ERR_SCENE, "must be > 0 and finite");
    }
    kl_mass_properties_add(&reader->mass_properties, &part);
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- bodies

// The sum over the body's collision geometry or, where it has none, its visual geometry.
static KlStatus measure_geometry(Reader *reader, const KlJson *at) {
    for (int32_t visuals = 0; visuals < 2; visuals++) {
        reader->use_visuals = visuals == 1;
        reader->mass_properties = (KlMassProperties){0};
        reader->geom_number = 0;
        KL_TRY(kl_json_each(at, "geoms", add_geom_mass, reader));
        if (reader->mass_properties.volume > 0.0) {
            break;
        }
    }
    const KlMassProperties *p = &reader->mass_properties;
    if (!(p->volume > 0.0)) {
        return kl_json_fault(at, "geoms", KL_ERR_SCENE, "no geometry to take the inertia from; give \"inertia\"");
    }
    double size = cbrt(p->volume);
    if (kl_norm3(p->centre) > 1e-6 * size) {  // the body's frame sits at the centre of mass
        return kl_json_fault(at, "geoms", KL_ERR_SCENE,
                            "their centre of mass is at (%.9g, %.9g, %.9g) of the body's frame, but must be its origin: "
                            "move the geoms, or give \"inertia\"", p->centre[0], p->centre[1], p->centre[2]);
    }
    return KL_OK;
}

// Nine entries as three rows, or the three diagonal ones.
static KlStatus read_inertia_values(const KlJson *member, double inertia[9]) {
    memset(inertia, 0, 9 * sizeof *inertia);
    if (json_is_array(json_array_get(member->value, 0)) && json_array_size(member->value) == 3) {
        for (size_t i = 0; i < 3; i++) {
            KlJson row = {.source = member->source, .value = json_array_get(member->value, i), .parent = member,
                          .index = i};
            KL_TRY(kl_json_as_reals(&row, inertia + 3 * i, 3));
        }
        return KL_OK;
    }
    double diagonal[3];
    if (!json_is_array(member->value) || kl_json_as_reals(member, diagonal, 3) != KL_OK) {
        return kl_json_fault(member, NULL, KL_ERR_SCENE, "must be three principal moments, three rows of three, or "
                            "\"from geometry\"");
    }
    for (int32_t i = 0; i < 3; i++) {
        inertia[4 * i] = diagonal[i];
    }
    return KL_OK;
}

static KlStatus read_mass(Reader *reader, const KlJson *at, KlBodyDef *def) {
    KlJson mass, density, inertia;
    KL_TRY(kl_json_member(at, "mass", &mass));
    KL_TRY(kl_json_member(at, "density", &density));
    KL_TRY(kl_json_member(at, "inertia", &inertia));
    if ((mass.value != NULL) == (density.value != NULL)) {
        return kl_json_fault(at, mass.value == NULL ? "mass" : "density", KL_ERR_SCENE,
                            mass.value == NULL ? "is missing: a body needs \"mass\" [kg] or \"density\" [kg/m^3]"
                                               : "a body has either \"mass\" or \"density\"");
    }
    bool from_geometry = inertia.value == NULL || (json_is_string(inertia.value) &&
                         strcmp(json_string_value(inertia.value), "from geometry") == 0);
    if (!from_geometry) {
        KL_TRY(read_inertia_values(&inertia, def->inertia));
    }
    if (from_geometry || density.value != NULL) {
        KL_TRY(measure_geometry(reader, at));
    }
    double factor = 0.0;
    if (density.value != NULL) {
        KL_TRY(kl_json_as_real(&density, &factor));
        if (!(factor > 0.0)) {
            return kl_json_fault(&density, NULL, KL_ERR_SCENE, "must be > 0 (got %g)", factor);
        }
        def->mass = factor * reader->mass_properties.volume;
    } else {
        KL_TRY(kl_json_as_real(&mass, &def->mass));
        factor = from_geometry ? def->mass / reader->mass_properties.volume : 0.0;
    }
    for (int32_t i = 0; from_geometry && i < 9; i++) {
        def->inertia[i] = factor * reader->mass_properties.inertia[i];
    }
    if (!(def->mass > 0.0)) {  // before its inertia, which follows from it
        return kl_json_fault(&mass, NULL, KL_ERR_SCENE, "must be > 0 and finite (got %g)", def->mass);
    }
    return KL_OK;
}

static KlStatus read_body(void *context, const KlJson *at) {
    static const char *const keys[] = {"name", "mass", "density", "inertia", "position", "orientation", "twist", "geoms",
                                       NULL};
    Reader *reader = context;
    KlBodyDef def;
    kl_default_body_def(&def);
    KL_TRY(kl_json_check_keys(at, keys));
    KL_TRY(read_required_text(at, "name", &def.name));
    reader->body_name = def.name;
    reader->body = reader->model->body_count;
    KL_TRY(read_mass(reader, at, &def));
    KL_TRY(read_pose(at, def.pose));
    KL_TRY(kl_json_reals(at, "twist", def.twist, 6));
    TRY_AT(at, kl_builder_add_body(reader->builder, &def, NULL));
    reader->geom_number = 0;
    return kl_json_each(at, "geoms", add_geom, reader);
}

// A member that names a body; the world is -1 where it is allowed.
static KlStatus read_body_name(const Reader *reader, const KlJson *at, const char *key, bool world_allowed,
                               int32_t *body) {
    KlJson member;
    const char *name;
    KL_TRY(kl_json_required(at, key, &member));
    KL_TRY(kl_json_as_text(&member, &name));
    *body = kl_names_find(&reader->model->body_names, name);
    if (*body >= 0 || (world_allowed && strcmp(name, "world") == 0)) {
        return KL_OK;
    }
    return fail_name(&member, "body", name, &reader->model->body_names);
}

// ---------------------------------------------------------------------------------------- joints

static KlStatus fail_frames(const KlJson *at) {
    return kl_json_fault(at, NULL, KL_ERR_SCENE, "a joint has either \"base_frame\" and \"follower_frame\" (in the bodies) or "
                        "\"position\" with \"axis\" or \"orientation\" (in the world, at the start pose)");
}

// A unit vector at right angles to the unit vector x: the world axis least along x, made orthogonal.
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
            return kl_json_fault(&second, NULL, KL_ERR_SCENE, "must stand at right angles to \"axis\" (cosine %g)", along);
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

static KlStatus read_world_frame(const Reader *reader, const KlJson *at, KlJointDef *def) {
    double frame[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    KlJson axis, orientation;
    KL_TRY(kl_json_member(at, "axis", &axis));
    KL_TRY(kl_json_member(at, "orientation", &orientation));
    if (axis.value != NULL && orientation.value != NULL) {
        return fail_frames(at);
    }
    KL_TRY(read_pose(at, frame));
    if (axis.value != NULL) {
        KL_TRY(read_axes(at, frame + 3));
    }
    const double *base = def->base >= 0 ? reader->model->bodies[def->base].pose : NULL;
    memcpy(def->base_frame, frame, sizeof frame);
    if (base != NULL) {
        kl_pose_relative(base, frame, def->base_frame);
    }
    kl_pose_relative(reader->model->bodies[def->follower].pose, frame, def->follower_frame);
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
    return read_pose(&member, frame);
}

static KlStatus read_joint_frames(const Reader *reader, const KlJson *at, KlJointDef *def) {
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
        KlJson limit = {.source = at->source, .value = json_array_get(limits.value, (size_t)i), .parent = &limits,
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
        KlJson entry = {.source = at->source, .value = json_array_get(member.value, (size_t)i), .parent = &member,
                        .index = (size_t)i};
        if (one_for_all) {
            values[i] = json_number_value(member.value);
        } else if (!json_is_null(entry.value)) {
            KL_TRY(kl_json_as_real(&entry, &values[i]));
        }
    }
    return KL_OK;
}

static KlStatus read_actuation(const Reader *reader, const KlJson *at, int32_t dofs, KlJointDef *def) {
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
            return fail_name(&member, "reference", reference, &reader->model->reference_names);
        }
    }
    return KL_OK;
}

static KlStatus read_joint(void *context, const KlJson *at) {
    static const char *const keys[] = {
        "name", "type", "base", "follower", "base_frame", "follower_frame", "position", "axis", "axis2", "orientation",
        "limits", "actuation", "kp", "ki", "kd", "effort_limit", "armature", "damping", "reference", "target", NULL};
    const char *kinds[KL_JOINT_KIND_COUNT + 1] = {NULL};
    for (int32_t i = 0; i < KL_JOINT_KIND_COUNT; i++) {
        kinds[i] = kl_joint_kind((KlJointKind)i)->id;
    }
    Reader *reader = context;
    KlJointDef def;
    kl_default_joint_def(&def);
    KL_TRY(kl_json_check_keys(at, keys));
    KL_TRY(read_required_text(at, "name", &def.name));
    KlJson type;
    int32_t kind = 0;
    KL_TRY(kl_json_required(at, "type", &type));
    KL_TRY(kl_json_choice(at, "type", kinds, &kind));
    def.kind = (KlJointKind)kind;
    KL_TRY(read_body_name(reader, at, "base", true, &def.base));
    KL_TRY(read_body_name(reader, at, "follower", false, &def.follower));
    KL_TRY(read_joint_frames(reader, at, &def));
    int32_t dofs = kl_joint_kind(def.kind)->dofs;
    KL_TRY(read_limits(at, &def, dofs));
    KL_TRY(read_actuation(reader, at, dofs, &def));
    TRY_AT(at, kl_builder_add_joint(reader->builder, &def, NULL));
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- pairs, events

static KlStatus read_exclude(void *context, const KlJson *at) {
    Reader *reader = context;
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
            return fail_name(&entry, "body", name, &reader->model->body_names);
        }
    }
    TRY_AT(at, kl_builder_exclude(reader->builder, bodies[0], bodies[1]));
    return KL_OK;
}

static KlStatus read_pair(void *context, const KlJson *at) {
    static const char *const keys[] = {"geoms", "friction", "restitution", NULL};
    Reader *reader = context;
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
            return fail_name(&entry, "geom", name, &reader->model->geom_names);
        }
    }
    double friction = reader->friction, restitution = reader->restitution;
    KL_TRY(read_material_values(at, &friction, &restitution));
    TRY_AT(at, kl_builder_pair(reader->builder, geoms[0], geoms[1], friction, restitution));
    return KL_OK;
}

static KlStatus read_event(const Reader *reader, const KlJson *at, KlForceEvent *event) {
    static const char *const keys[] = {"body", "start", "end", "force", "torque", "force_to", "torque_to", "point", NULL};
    KlJson body;
    kl_default_force_event(event);
    KL_TRY(kl_json_check_keys(at, keys));
    KL_TRY(kl_json_required(at, "body", &body));
    if (json_is_string(body.value) && strcmp(json_string_value(body.value), "highest") == 0) {
        event->body = KL_BODY_HIGHEST;
    } else {
        KL_TRY(read_body_name(reader, at, "body", false, &event->body));
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

static KlStatus add_event(void *context, const KlJson *at) {
    Reader *reader = context;
    KlForceEvent event;
    KL_TRY(read_event(reader, at, &event));
    TRY_AT(at, kl_builder_add_event(reader->builder, &event));
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- runs

static KlStatus add_run_event(void *context, const KlJson *at) {
    Reader *reader = context;
    KlRunDef *run = &reader->run->def;
    KlForceEvent *events = (KlForceEvent *)(uintptr_t)run->events;
    if (run->event_count >= reader->capacity) {
        return kl_json_fault(at, NULL, KL_ERR_LIMIT, "more than %d events", (int)reader->capacity);
    }
    KlForceEvent *event = &events[run->event_count];
    KL_TRY(read_event(reader, at, event));
    TRY_AT(at, kl_event_check(reader->model, run->event_count, event));
    run->event_count++;
    return KL_OK;
}

static KlStatus read_run_events(Reader *reader, const KlJson *at) {
    KlSceneRun *run = reader->run;
    KlJson events;
    KL_TRY(kl_json_member(at, "events", &events));
    run->own_events = events.value != NULL;
    if (!run->own_events) {
        run->def.events = reader->scene->events;
        run->def.event_count = reader->scene->event_count;
        return KL_OK;
    }
    reader->capacity = json_is_array(events.value) ? (int32_t)json_array_size(events.value) : 1000;
    run->def.events = KL_ARENA_ARRAY(&reader->scene->arena, KlForceEvent, reader->capacity + 1);
    KL_TRY(kl_arena_check(&reader->scene->arena));
    return kl_json_each(at, "events", add_run_event, reader);
}

static KlStatus read_change(const KlJson *at, KlBodyChange *change) {
    static const char *const keys[] = {"mass", "position", "orientation", "twist", NULL};
    KL_TRY(kl_json_check_keys(at, keys));
    change->has_mass = json_object_get(at->value, "mass") != NULL;
    change->has_position = json_object_get(at->value, "position") != NULL;
    change->has_orientation = json_object_get(at->value, "orientation") != NULL;
    change->has_twist = json_object_get(at->value, "twist") != NULL;
    KL_TRY(kl_json_real(at, "mass", &change->mass));
    if (change->has_mass && !(change->mass > 0.0)) {
        return kl_json_fault(at, "mass", KL_ERR_SCENE, "must be > 0 (got %g)", change->mass);
    }
    KL_TRY(read_pose(at, change->pose));
    const double *q = change->pose + 3;
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (change->has_orientation && !(fabs(norm - 1.0) <= 1e-6)) {
        return kl_json_fault(at, "orientation", KL_ERR_SCENE, "must be a unit quaternion to 1e-6 (its norm is %.9g)", norm);
    }
    return kl_json_reals(at, "twist", change->twist, 6);
}

static KlStatus read_run_bodies(Reader *reader, const KlJson *at) {
    KlSceneRun *run = reader->run;
    KlJson bodies;
    KL_TRY(kl_json_member(at, "bodies", &bodies));
    if (bodies.value == NULL) {
        return KL_OK;
    }
    if (!json_is_object(bodies.value)) {
        return kl_json_fault(&bodies, NULL, KL_ERR_SCENE, "must be an object whose keys are body names");
    }
    run->changes = KL_ARENA_ARRAY(&reader->scene->arena, KlBodyChange, json_object_size(bodies.value) + 1);
    KL_TRY(kl_arena_check(&reader->scene->arena));
    json_t *object = (json_t *)(uintptr_t)bodies.value;
    for (void *i = json_object_iter(object); i != NULL; i = json_object_iter_next(object, i)) {
        KlJson entry;
        KL_TRY(kl_json_member(&bodies, json_object_iter_key(i), &entry));
        KlBodyChange *change = &run->changes[run->change_count++];
        change->body = kl_names_find(&reader->model->body_names, entry.key);
        if (change->body < 0) {
            return fail_name(&entry, "body", entry.key, &reader->model->body_names);
        }
        KL_TRY(read_change(&entry, change));
    }
    return KL_OK;
}

static KlStatus read_id(Reader *reader, const KlJson *at, const char **id) {
    const char *text;
    KL_TRY(read_required_text(at, "id", &text));
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t length = strlen(text);
    if (length == 0 || length > 64 || strspn(text, allowed) != length) {
        return kl_json_fault(at, "id", KL_ERR_SCENE, "must be 1 to 64 letters, digits, '_', '-' or '.'");
    }
    return keep_text(reader, text, id);
}

static KlStatus read_kept_text(Reader *reader, const KlJson *at, const char *key, const char **text) {
    const char *found = NULL;
    KL_TRY(kl_json_text(at, key, &found));
    return found != NULL ? keep_text(reader, found, text) : KL_OK;
}

static KlStatus read_preset(Reader *reader, const KlJson *at, const char **preset) {
    static const char *const presets[] = {"high-precision", "high-throughput", NULL};
    int32_t index = -1;
    KL_TRY(kl_json_choice(at, "preset", presets, &index));
    *preset = index >= 0 ? presets[index] : *preset;
    (void)reader;
    return KL_OK;
}

static KlStatus read_run(void *context, const KlJson *at) {
    static const char *const keys[] = {"id", "title", "text", "duration", "settings", "dt", "gravity", "events", "bodies",
                                       "actuated", "preset", "max_iterations", "tolerance", NULL};
    Reader *reader = context;
    KlScene *scene = reader->scene;
    KlSceneRun *run = reader->run = &scene->runs[scene->run_count];
    *run = (KlSceneRun){.def = {.title = "", .text = "", .duration = 10.0, .settings = scene->settings}};
    KL_TRY(kl_json_check_keys(at, keys));
    KL_TRY(read_id(reader, at, &run->def.id));
    if (kl_scene_find_run(scene, run->def.id) >= 0) {
        return kl_json_fault(at, "id", KL_ERR_SCENE, "\"%s\" is taken by another run", run->def.id);
    }
    run->def.title = run->def.id;
    KL_TRY(read_kept_text(reader, at, "title", &run->def.title));
    KL_TRY(read_kept_text(reader, at, "text", &run->def.text));
    KL_TRY(kl_json_real(at, "duration", &run->def.duration));
    if (!(run->def.duration > 0.0 && run->def.duration <= 1e6)) {
        return kl_json_fault(at, "duration", KL_ERR_SCENE, "must be > 0 and at most 1e6 s (got %g)", run->def.duration);
    }
    KL_TRY(read_settings(at, &run->def.settings));
    KL_TRY(read_run_events(reader, at));
    KL_TRY(read_run_bodies(reader, at));
    bool actuated = true;
    KL_TRY(kl_json_bool(at, "actuated", &actuated));
    run->unactuated = !actuated;
    KL_TRY(read_preset(reader, at, &run->own_preset));
    int64_t iterations = 0;
    KL_TRY(kl_json_int(at, "max_iterations", 1, 100000000, &iterations));
    run->def.max_iterations = (int32_t)iterations;
    KL_TRY(kl_json_real(at, "tolerance", &run->def.tolerance));
    if (!(run->def.tolerance >= 0.0 && run->def.tolerance < 1e9)) {
        return kl_json_fault(at, "tolerance", KL_ERR_SCENE, "must be > 0 (got %g)", run->def.tolerance);
    }
    scene->run_count++;
    return KL_OK;
}

static KlStatus count_entry(void *context, const KlJson *at) {
    (void)at;
    ++*(int32_t *)context;
    return KL_OK;
}

static KlStatus read_runs(Reader *reader, const KlJson *at) {
    KlScene *scene = reader->scene;
    int32_t count = 0;
    KL_TRY(kl_json_each(at, "runs", count_entry, &count));
    scene->run_count = 0;
    scene->runs = KL_ARENA_ARRAY(&scene->arena, KlSceneRun, count + 1);
    KL_TRY(kl_arena_check(&scene->arena));
    KL_TRY(kl_json_each(at, "runs", read_run, reader));
    if (scene->run_count == 0) {
        scene->runs[scene->run_count++] = (KlSceneRun){
            .def = {.id = "default", .title = "Default", .text = "", .duration = 10.0, .settings = scene->settings,
                    .events = scene->events, .event_count = scene->event_count}};
    }
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- documents

static const char *const scene_keys[] = {
    "$schema", "schema", "id", "title", "text", "surrogate", "units", "gravity", "dt", "settings", "materials", "meshes",
    "references", "bodies", "geoms", "joints", "exclude", "pairs", "neighbours_collide", "events", "runs", "solvers",
    "preset", "camera", NULL};
static const char *const experiment_keys[] = {
    "$schema", "schema", "id", "title", "text", "scene", "gravity", "dt", "settings", "runs", "solvers", "preset", "camera",
    NULL};

static KlStatus add_solver(void *context, const KlJson *at) {
    Reader *reader = context;
    const char *id;
    KL_TRY(kl_json_as_text(at, &id));
    if (id[0] == '\0') {
        return kl_json_fault(at, NULL, KL_ERR_SCENE, "must be the id of a solver");
    }
    KL_TRY(keep_text(reader, id, &reader->scene->solvers[reader->scene->solver_count]));
    reader->scene->solver_count++;
    return KL_OK;
}

static KlStatus read_solvers(Reader *reader, const KlJson *at) {
    KlScene *scene = reader->scene;
    int32_t count = 0;
    KL_TRY(kl_json_each(at, "solvers", count_entry, &count));
    if (json_object_get(at->value, "solvers") == NULL) {
        return KL_OK;
    }
    scene->solver_count = 0;
    scene->solvers = KL_ARENA_ARRAY(&scene->arena, const char *, count + 1);
    KL_TRY(kl_arena_check(&scene->arena));
    return kl_json_each(at, "solvers", add_solver, reader);
}

static KlStatus read_camera(Reader *reader, const KlJson *at) {
    static const char *const keys[] = {"position", "target", NULL};
    KlScene *scene = reader->scene;
    KlJson camera;
    KL_TRY(kl_json_member(at, "camera", &camera));
    if (camera.value == NULL) {
        return KL_OK;
    }
    KL_TRY(kl_json_check_keys(&camera, keys));
    KlJson position;
    KL_TRY(kl_json_required(&camera, "position", &position));
    KL_TRY(kl_json_as_reals(&position, scene->camera_position, 3));
    scene->has_camera = true;
    return kl_json_reals(&camera, "target", scene->camera_target, 3);
}

// What scenes and experiments have in common.
static KlStatus read_header(Reader *reader, const KlJson *at) {
    KlScene *scene = reader->scene;
    KlJson member;
    int64_t version = 0;
    const char *units = "SI";
    KL_TRY(kl_json_required(at, "schema", &member));
    KL_TRY(kl_json_int(at, "schema", 1, 1, &version));
    KL_TRY(kl_json_text(at, "units", &units));
    if (strcmp(units, "SI") != 0) {
        return kl_json_fault(at, "units", KL_ERR_SCENE, "only \"SI\" is known (m, kg, s, rad)");
    }
    KL_TRY(read_id(reader, at, &scene->id));
    scene->title = scene->title != NULL ? scene->title : scene->id;
    KL_TRY(read_kept_text(reader, at, "title", &scene->title));
    KL_TRY(read_kept_text(reader, at, "text", &scene->text));
    KL_TRY(kl_json_bool(at, "surrogate", &scene->surrogate));
    KL_TRY(read_preset(reader, at, &scene->preset));
    KL_TRY(read_settings(at, &scene->settings));
    KL_TRY(read_solvers(reader, at));
    return read_camera(reader, at);
}

static KlStatus read_materials(Reader *reader, const KlJson *at) {
    KlJson materials, fallback;
    KL_TRY(kl_json_member(at, "materials", &materials));
    if (materials.value != NULL && !json_is_object(materials.value)) {
        return kl_json_fault(&materials, NULL, KL_ERR_SCENE, "must be an object whose keys are material names");
    }
    KL_TRY(kl_json_member(&materials, "default", &fallback));
    if (fallback.value == NULL) {
        return KL_OK;
    }
    static const char *const keys[] = {"friction", "restitution", NULL};
    KL_TRY(kl_json_check_keys(&fallback, keys));
    return read_material_values(&fallback, &reader->friction, &reader->restitution);
}

static KlStatus read_model(Reader *reader, const KlJson *at) {
    KlScene *scene = reader->scene;
    bool neighbours = false;
    KL_TRY(kl_json_check_keys(at, scene_keys));
    KL_TRY(read_header(reader, at));
    KL_TRY(read_materials(reader, at));
    KL_TRY(kl_json_each(at, "meshes", read_mesh, reader));
    KL_TRY(kl_json_each(at, "references", read_reference, reader));
    KL_TRY(kl_json_each(at, "bodies", read_body, reader));
    reader->body = -1;
    reader->body_name = "world";
    reader->geom_number = 0;
    KL_TRY(kl_json_each(at, "geoms", add_geom, reader));
    KL_TRY(kl_json_each(at, "joints", read_joint, reader));
    KL_TRY(kl_json_each(at, "exclude", read_exclude, reader));
    KL_TRY(kl_json_each(at, "pairs", read_pair, reader));
    KL_TRY(kl_json_bool(at, "neighbours_collide", &neighbours));
    KL_TRY(kl_builder_set_neighbours_collide(reader->builder, neighbours));
    KL_TRY(kl_json_each(at, "events", add_event, reader));
    KL_TRY(kl_builder_set_settings(reader->builder, &scene->settings));
    TRY_AT(at, kl_builder_finish(reader->builder, &scene->model));
    reader->model = scene->model;
    scene->events = scene->model->events;
    scene->event_count = scene->model->event_count;
    return KL_OK;
}

static void inherit_presets(KlScene *scene) {
    for (int32_t i = 0; i < scene->run_count; i++) {
        KlSceneRun *run = &scene->runs[i];
        run->def.preset = run->own_preset != NULL ? run->own_preset : scene->preset;
    }
}

// An experiment names its scene by file, or holds it; its own entries come on top.
static KlStatus read_experiment(Reader *reader, const KlJson *at) {
    KlJson member, inner;
    KL_TRY(kl_json_check_keys(at, experiment_keys));
    KL_TRY(kl_json_member(at, "scene", &member));
    inner = member;
    if (json_is_string(member.value)) {
        KL_TRY(kl_json_open_beside(&member, json_string_value(member.value), &inner));
    }
    if (json_object_get(inner.value, "scene") != NULL) {
        return kl_json_fault(&inner, "scene", KL_ERR_SCENE, "an experiment's scene must be a scene, not an experiment");
    }
    reader->root = &inner;
    KL_TRY(read_model(reader, &inner));
    KL_TRY(read_header(reader, at));
    return read_runs(reader, json_object_get(at->value, "runs") != NULL ? at : &inner);
}

static KlStatus read_document(Reader *reader, const KlJson *root) {
    KlScene *scene = reader->scene;
    reader->root = root;
    reader->friction = 0.7;
    scene->text = "";
    scene->preset = "high-precision";
    kl_settings_default(&scene->settings);
    if (!json_is_object(root->value)) {
        return kl_json_fault(root, NULL, KL_ERR_SCENE, "a scene is an object");
    }
    if (json_object_get(root->value, "scene") != NULL) {
        KL_TRY(read_experiment(reader, root));
    } else {
        KL_TRY(read_model(reader, root));
        KL_TRY(read_runs(reader, root));
    }
    inherit_presets(scene);
    return KL_OK;
}

static KlStatus build_scene(const KlJson *root, KlScene **scene) {
    Reader reader = {.scene = kl_alloc(sizeof(KlScene))};
    if (reader.scene == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for a scene");
    }
    KlStatus status = kl_builder_create(&reader.builder);
    if (status == KL_OK) {
        reader.model = kl_builder_model(reader.builder);
        status = read_document(&reader, root);
    }
    kl_builder_destroy(reader.builder);
    if (status != KL_OK) {
        kl_scene_destroy(reader.scene);
        return status;
    }
    *scene = reader.scene;
    return KL_OK;
}

KlStatus kl_scene_parse(const char *text, size_t size, const char *name, const KlFiles *files, KlScene **scene) {
    *scene = NULL;
    KlLoader loader = {.files = files};
    KlJson root;
    KlStatus status = kl_loader_parse(&loader, text, size, name, &root);
    if (status == KL_OK) {
        status = build_scene(&root, scene);
    }
    kl_loader_free(&loader);
    return status;
}

KlStatus kl_scene_load(const char *path, const KlFiles *files, KlScene **scene) {
    *scene = NULL;
    KlLoader loader = {.files = files != NULL ? files : kl_files_disk()};
    KlJson root;
    KlStatus status = kl_loader_open(&loader, path, &root);
    if (status == KL_OK) {
        status = build_scene(&root, scene);
    }
    kl_loader_free(&loader);
    return status;
}
