// Reads meshes, references, geoms and bodies.
#include "model/scene_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/vec.h"
#include "model/mesh.h"

// ---------------------------------------------------------------------------------------- meshes

static KlStatus read_mesh_file(KlSceneReader *reader, const KlJson *at, const char *name, const KlJson *file) {
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
    KlMeshDef def = {.name = name,
                     .vertices = mesh.vertices,
                     .vertex_count = mesh.vertex_count,
                     .triangles = mesh.triangles,
                     .triangle_count = mesh.triangle_count};
    status = kl_builder_add_mesh(reader->builder, &def, NULL);
    char note[300];
    snprintf(note, sizeof note, "mesh \"%.100s\": %d triangles without area dropped", name, (int)mesh.dropped);
    bool dropped = mesh.dropped > 0;
    kl_mesh_data_free(&mesh);
    KL_TRY_AT(at, status);
    return dropped ? kl_add_note(reader, note) : KL_OK;
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

static KlStatus read_mesh_inline(KlSceneReader *reader, const KlJson *at, const char *name) {
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
    KlMeshDef def = {.name = name,
                     .vertices = points.reals,
                     .vertex_count = points.count,
                     .triangles = corners.indices,
                     .triangle_count = corners.count};
    KL_TRY_AT(at, kl_builder_add_mesh(reader->builder, &def, NULL));
    return KL_OK;
}

KlStatus kl_read_mesh(void *context, const KlJson *at) {
    static const char *const keys[] = {"name", "file", "scale", "vertices", "triangles", NULL};
    KlSceneReader *reader = context;
    const char *name;
    KlJson file, vertices;
    KL_TRY(kl_json_check_keys(at, keys));
    KL_TRY(kl_read_required_text(at, "name", &name));
    KL_TRY(kl_json_member(at, "file", &file));
    KL_TRY(kl_json_member(at, "vertices", &vertices));
    if ((file.value != NULL) == (vertices.value != NULL)) {
        return kl_json_fault(at, NULL, KL_ERR_SCENE, "a mesh has either a \"file\" or \"vertices\" and \"triangles\"");
    }
    return file.value != NULL ? read_mesh_file(reader, at, name, &file) : read_mesh_inline(reader, at, name);
}

// ----------------------------------------------------------------------------------------
// references

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

KlStatus kl_read_reference(void *context, const KlJson *at) {
    static const char *const keys[] = {"name", "loop", "times", "step", "values", NULL};
    KlSceneReader *reader = context;
    KlReferenceDef def = {.loop = false};
    KlJson values;
    KL_TRY(kl_json_check_keys(at, keys));
    KL_TRY(kl_read_required_text(at, "name", &def.name));
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
    KL_TRY_AT(at, kl_builder_add_reference(reader->builder, &def, NULL));
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- geoms

static KlStatus read_named_material(const KlSceneReader *reader, const KlJson *at, const char *name, KlGeomDef *def) {
    static const char *const keys[] = {"friction", "restitution", NULL};
    KlJson materials, material;
    KL_TRY(kl_json_member(&reader->root, "materials", &materials));
    KL_TRY(kl_json_member(&materials, name, &material));
    if (material.value == NULL) {
        return kl_json_fault(at, "material", KL_ERR_SCENE, "there is no material \"%.60s\" in \"materials\"", name);
    }
    KL_TRY(kl_json_check_keys(&material, keys));
    return kl_read_material(&material, &def->friction, &def->restitution);
}

static KlStatus read_geom_material(const KlSceneReader *reader, const KlJson *at, KlGeomDef *def) {
    const char *name = NULL;
    def->friction = reader->friction;
    def->restitution = reader->restitution;
    KL_TRY(kl_json_text(at, "material", &name));
    if (name != NULL) {
        KL_TRY(read_named_material(reader, at, name, def));
    }
    return kl_read_material(at, &def->friction, &def->restitution);
}

static KlStatus read_geom_size(const KlJson *at, KlGeomDef *def) {
    static const struct {
        int32_t count;
        const char *meaning;
    } sizes[KL_GEOM_KIND_COUNT] = {
        {1, "[radius]"},
        {3, "[x, y, z] (full edges)"},
        {2, "[radius, length]"},
        {2, "[radius, length]"},
        {0, ""},
        {0, ""},
        {0, ""},
    };
    KlJson size;
    KL_TRY(kl_json_member(at, "size", &size));
    int32_t count = sizes[def->kind].count;
    if (count == 0) {
        return size.value == NULL
                   ? KL_OK
                   : kl_json_fault(&size, NULL, KL_ERR_SCENE, "a %s has no size", kl_geom_kind_name(def->kind));
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

static KlStatus read_geom_mesh(const KlSceneReader *reader, const KlJson *at, KlGeomDef *def) {
    KlJson mesh;
    const char *name;
    KL_TRY(kl_json_member(at, "mesh", &mesh));
    if (mesh.value == NULL) {
        bool wants = def->kind == KL_GEOM_CONVEX || def->kind == KL_GEOM_MESH;
        return wants ? kl_json_fault(at, "mesh", KL_ERR_SCENE, "is missing: the name of a mesh in \"meshes\"") : KL_OK;
    }
    KL_TRY(kl_json_as_text(&mesh, &name));
    def->mesh = kl_names_find(&reader->model->mesh_names, name);
    return def->mesh >= 0 ? KL_OK : kl_fail_name(&mesh, "mesh", name, &reader->model->mesh_names);
}

static KlStatus fill_geom(KlSceneReader *reader, const KlJson *at, char name[256], KlGeomDef *def) {
    static const char *const keys[] = {"name", "type",        "position", "orientation", "size",
                                       "mesh", "material",    "friction", "restitution", "group",
                                       "mask", "visual_only", "color",    NULL};
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
    KL_TRY(kl_read_pose(at, def->pose));
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

KlStatus kl_read_geom(void *context, const KlJson *at) {
    KlSceneReader *reader = context;
    KlGeomDef def;
    char name[256];
    KL_TRY(fill_geom(reader, at, name, &def));
    KL_TRY_AT(at, kl_builder_add_geom(reader->builder, &def, NULL));
    return KL_OK;
}

// Adds one geom's mass properties to the body's, if it is of the kind that counts.
static KlStatus add_geom_mass(void *context, const KlJson *at) {
    KlSceneReader *reader = context;
    KlGeomDef def;
    char name[256];
    KL_TRY(fill_geom(reader, at, name, &def));
    if (def.visual_only != reader->use_visuals) {
        return KL_OK;
    }
    KlMassProperties part;
    KL_TRY_AT(at, kl_geom_mass_properties(&def, def.mesh >= 0 ? &reader->model->meshes[def.mesh] : NULL, &part));
    if (!(part.volume > 0.0) || !isfinite(part.volume)) {
        return kl_json_fault(at, "size", KL_ERR_SCENE, "must be > 0 and finite");
    }
    kl_mass_properties_add(&reader->mass_properties, &part);
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- bodies

// The sum over the body's collision geometry or, where it has none, its visual geometry.
static KlStatus measure_geometry(KlSceneReader *reader, const KlJson *at) {
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
                             "their centre of mass is at (%.9g, %.9g, %.9g) of the body's frame, "
                             "but must be its origin: "
                             "move the geoms, or give \"inertia\"",
                             p->centre[0], p->centre[1], p->centre[2]);
    }
    return KL_OK;
}

// Nine entries as three rows, or the three diagonal ones.
static KlStatus read_inertia_values(const KlJson *member, double inertia[9]) {
    memset(inertia, 0, 9 * sizeof *inertia);
    if (json_is_array(json_array_get(member->value, 0)) && json_array_size(member->value) == 3) {
        for (size_t i = 0; i < 3; i++) {
            KlJson row = {
                .source = member->source, .value = json_array_get(member->value, i), .parent = member, .index = i};
            KL_TRY(kl_json_as_reals(&row, inertia + 3 * i, 3));
        }
        return KL_OK;
    }
    double diagonal[3];
    if (!json_is_array(member->value) || kl_json_as_reals(member, diagonal, 3) != KL_OK) {
        return kl_json_fault(member, NULL, KL_ERR_SCENE,
                             "must be three principal moments, three rows of three, or "
                             "\"from geometry\"");
    }
    for (int32_t i = 0; i < 3; i++) {
        inertia[4 * i] = diagonal[i];
    }
    return KL_OK;
}

static KlStatus read_mass(KlSceneReader *reader, const KlJson *at, KlBodyDef *def) {
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

KlStatus kl_read_body(void *context, const KlJson *at) {
    static const char *const keys[] = {"name",        "mass",  "density", "inertia", "position",
                                       "orientation", "twist", "geoms",   NULL};
    KlSceneReader *reader = context;
    KlBodyDef def;
    kl_default_body_def(&def);
    KL_TRY(kl_json_check_keys(at, keys));
    KL_TRY(kl_read_required_text(at, "name", &def.name));
    reader->body_name = def.name;
    reader->body = reader->model->body_count;
    KL_TRY(read_mass(reader, at, &def));
    KL_TRY(kl_read_pose(at, def.pose));
    KL_TRY(kl_json_reals(at, "twist", def.twist, 6));
    KL_TRY_AT(at, kl_builder_add_body(reader->builder, &def, NULL));
    reader->geom_number = 0;
    return kl_json_each(at, "geoms", kl_read_geom, reader);
}
