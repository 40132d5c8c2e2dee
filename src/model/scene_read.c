// Reads scene and experiment documents (scenes/schema.json says the same in JSON Schema). Each
// reader takes one kind of element; the builder then checks it, and its fault is put at the
// element's place.
#include "model/scene_read.h"

#include <string.h>

static const char *const scene_keys[] = {"$schema",
                                         "schema",
                                         "id",
                                         "title",
                                         "text",
                                         "surrogate",
                                         "units",
                                         "gravity",
                                         "dt",
                                         "settings",
                                         "materials",
                                         "meshes",
                                         "references",
                                         "bodies",
                                         "geoms",
                                         "joints",
                                         "exclude",
                                         "pairs",
                                         "neighbours_collide",
                                         "events",
                                         "runs",
                                         "solvers",
                                         "preset",
                                         "camera",
                                         NULL};
static const char *const experiment_keys[] = {"$schema", "schema",   "id",   "title",   "text",   "scene",  "gravity",
                                              "dt",      "settings", "runs", "solvers", "preset", "camera", NULL};

static KlStatus add_solver(void *context, const KlJson *at) {
    KlSceneReader *reader = context;
    const char *id;
    KL_TRY(kl_json_as_text(at, &id));
    if (id[0] == '\0') {
        return kl_json_fault(at, NULL, KL_ERR_SCENE, "must be the id of a solver");
    }
    KL_TRY(kl_keep_text(reader, id, &reader->scene->solvers[reader->scene->solver_count]));
    reader->scene->solver_count++;
    return KL_OK;
}

static KlStatus read_solvers(KlSceneReader *reader, const KlJson *at) {
    KlScene *scene = reader->scene;
    int32_t count = 0;
    KL_TRY(kl_json_each(at, "solvers", kl_count_entry, &count));
    if (json_object_get(at->value, "solvers") == NULL) {
        return KL_OK;
    }
    scene->solver_count = 0;
    scene->solvers = KL_ARENA_ARRAY(&scene->arena, const char *, count + 1);
    KL_TRY(kl_arena_check(&scene->arena));
    return kl_json_each(at, "solvers", add_solver, reader);
}

static KlStatus read_camera(KlSceneReader *reader, const KlJson *at) {
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
static KlStatus read_header(KlSceneReader *reader, const KlJson *at) {
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
    KL_TRY(kl_read_id(reader, at, &scene->id));
    scene->title = scene->title != NULL ? scene->title : scene->id;
    KL_TRY(kl_read_kept_text(reader, at, "title", &scene->title));
    KL_TRY(kl_read_kept_text(reader, at, "text", &scene->text));
    KL_TRY(kl_json_bool(at, "surrogate", &scene->surrogate));
    KL_TRY(kl_read_preset(at, &scene->preset));
    KL_TRY(kl_read_settings(at, &scene->settings));
    KL_TRY(read_solvers(reader, at));
    return read_camera(reader, at);
}

static KlStatus read_materials(KlSceneReader *reader, const KlJson *at) {
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
    return kl_read_material(&fallback, &reader->friction, &reader->restitution);
}

static KlStatus read_model(KlSceneReader *reader, const KlJson *at) {
    KlScene *scene = reader->scene;
    bool neighbours = false;
    KL_TRY(kl_json_check_keys(at, scene_keys));
    KL_TRY(read_header(reader, at));
    KL_TRY(read_materials(reader, at));
    KL_TRY(kl_json_each(at, "meshes", kl_read_mesh, reader));
    KL_TRY(kl_json_each(at, "references", kl_read_reference, reader));
    KL_TRY(kl_json_each(at, "bodies", kl_read_body, reader));
    reader->body = -1;
    reader->body_name = "world";
    reader->geom_number = 0;
    KL_TRY(kl_json_each(at, "geoms", kl_read_geom, reader));
    KL_TRY(kl_json_each(at, "joints", kl_read_joint, reader));
    KL_TRY(kl_json_each(at, "exclude", kl_read_exclude, reader));
    KL_TRY(kl_json_each(at, "pairs", kl_read_pair, reader));
    KL_TRY(kl_json_bool(at, "neighbours_collide", &neighbours));
    KL_TRY(kl_builder_set_neighbours_collide(reader->builder, neighbours));
    KL_TRY(kl_json_each(at, "events", kl_add_event, reader));
    KL_TRY(kl_builder_set_settings(reader->builder, &scene->settings));
    KL_TRY_AT(at, kl_builder_finish(reader->builder, &scene->model));
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
static KlStatus read_experiment(KlSceneReader *reader, const KlJson *at) {
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
    reader->root = inner;
    KL_TRY(read_model(reader, &inner));
    KL_TRY(read_header(reader, at));
    return kl_read_runs(reader, json_object_get(at->value, "runs") != NULL ? at : &inner);
}

static KlStatus read_document(KlSceneReader *reader, const KlJson *root) {
    KlScene *scene = reader->scene;
    reader->root = *root;
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
        KL_TRY(kl_read_runs(reader, root));
    }
    inherit_presets(scene);
    return KL_OK;
}

static KlStatus build_scene(const KlJson *root, KlScene **scene) {
    KlSceneReader reader = {.scene = kl_alloc(sizeof(KlScene))};
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
