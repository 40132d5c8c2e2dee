// Scenes: what they say, and the model of one of their runs.
#include "model/scene.h"

#include <string.h>

#include "base/status.h"
#include "model/model.h"

void kl_scene_destroy(KlScene *scene) {
    if (scene == NULL) {
        return;
    }
    kl_model_destroy(scene->model);
    kl_arena_free(&scene->arena);
    kl_free(scene);
}

KlStatus kl_scene_from_model(const char *id, const char *title, const char *text, KlModel *model, KlScene **scene) {
    *scene = NULL;
    KlScene *made = kl_alloc(sizeof *made);
    if (made == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for a scene");
    }
    made->id = kl_arena_text(&made->arena, id);
    made->title = kl_arena_text(&made->arena, title);
    made->text = kl_arena_text(&made->arena, text);
    made->runs = KL_ARENA_ARRAY(&made->arena, KlSceneRun, 1);
    KlStatus status = kl_arena_check(&made->arena);
    if (status != KL_OK) {
        kl_scene_destroy(made);
        return status;
    }
    made->preset = "high-precision";
    made->model = model;
    made->settings = model->settings;
    made->settings.max_contacts = model->max_contacts_chosen ? 0 : model->settings.max_contacts;
    made->events = model->events;
    made->event_count = model->event_count;
    made->run_count = 1;
    made->runs[0].def = (KlRunDef){.id = "default",
                                   .title = "Default",
                                   .text = "",
                                   .duration = 10.0,
                                   .settings = made->settings,
                                   .events = made->events,
                                   .event_count = made->event_count,
                                   .preset = made->preset};
    *scene = made;
    return KL_OK;
}

const char *kl_scene_id(const KlScene *scene) { return scene->id; }
const char *kl_scene_title(const KlScene *scene) { return scene->title; }
const char *kl_scene_text(const KlScene *scene) { return scene->text; }
bool kl_scene_surrogate(const KlScene *scene) { return scene->surrogate; }
const char *kl_scene_preset(const KlScene *scene) { return scene->preset; }
const KlModel *kl_scene_model(const KlScene *scene) { return scene->model; }
int32_t kl_scene_run_count(const KlScene *scene) { return scene->run_count; }
int32_t kl_scene_solver_count(const KlScene *scene) { return scene->solver_count; }
int32_t kl_scene_note_count(const KlScene *scene) { return scene->note_count; }

const KlRunDef *kl_scene_run(const KlScene *scene, int32_t run) {
    return run >= 0 && run < scene->run_count ? &scene->runs[run].def : NULL;
}

const char *kl_scene_solver(const KlScene *scene, int32_t i) {
    return i >= 0 && i < scene->solver_count ? scene->solvers[i] : NULL;
}

const char *kl_scene_note(const KlScene *scene, int32_t i) {
    return i >= 0 && i < scene->note_count ? scene->notes[i] : NULL;
}

int32_t kl_scene_find_run(const KlScene *scene, const char *id) {
    for (int32_t i = 0; i < scene->run_count; i++) {
        if (strcmp(scene->runs[i].def.id, id) == 0) {
            return i;
        }
    }
    return -1;
}

bool kl_scene_camera(const KlScene *scene, double position[3], double target[3]) {
    if (scene->has_camera) {
        memcpy(position, scene->camera_position, sizeof scene->camera_position);
        memcpy(target, scene->camera_target, sizeof scene->camera_target);
    }
    return scene->has_camera;
}

// ---------------------------------------------------------------------------------------- runs

static KlBodyDef changed_body(const KlSceneRun *run, const KlModel *model, int32_t index) {
    KlBodyDef body = model->bodies[index];
    for (int32_t c = 0; c < run->change_count; c++) {
        const KlBodyChange *change = &run->changes[c];
        if (change->body != index) {
            continue;
        }
        for (int32_t i = 0; change->has_mass && i < 9; i++) {
            body.inertia[i] *= change->mass / body.mass;
        }
        body.mass = change->has_mass ? change->mass : body.mass;
        memcpy(body.pose, change->pose, change->has_position ? 3 * sizeof(double) : 0);
        memcpy(body.pose + 3, change->pose + 3, change->has_orientation ? 4 * sizeof(double) : 0);
        memcpy(body.twist, change->twist, change->has_twist ? sizeof body.twist : 0);
    }
    return body;
}

static KlStatus add_all(KlBuilder *builder, const KlModel *model, const KlSceneRun *run, const KlSettings *settings) {
    KL_TRY(kl_builder_set_neighbours_collide(builder, model->neighbours_collide));
    KL_TRY(kl_builder_set_settings(builder, settings));
    for (int32_t i = 0; i < model->mesh_count; i++) {
        KL_TRY(kl_builder_add_mesh(builder, &model->meshes[i], NULL));
    }
    for (int32_t i = 0; i < model->reference_count; i++) {
        KL_TRY(kl_builder_add_reference(builder, &model->references[i], NULL));
    }
    for (int32_t i = 0; i < model->body_count; i++) {
        KlBodyDef body = changed_body(run, model, i);
        KL_TRY(kl_builder_add_body(builder, &body, NULL));
    }
    for (int32_t i = 0; i < model->geom_count; i++) {
        KL_TRY(kl_builder_add_geom(builder, &model->geoms[i], NULL));
    }
    for (int32_t i = 0; i < model->joint_count; i++) {
        KlJointDef joint = model->joints[i];
        joint.actuation = run->unactuated ? KL_ACTUATION_PASSIVE : joint.actuation;
        for (int32_t k = 0; run->unactuated && k < 6; k++) {
            joint.armature[k] = 0.0;
        }
        KL_TRY(kl_builder_add_joint(builder, &joint, NULL));
    }
    for (int32_t i = 0; i < model->exclude_count; i++) {
        KL_TRY(kl_builder_exclude(builder, model->excludes[2 * i], model->excludes[2 * i + 1]));
    }
    for (int32_t i = 0; i < model->pair_count; i++) {
        const KlGeomPair *pair = &model->pairs[i];
        KL_TRY(kl_builder_pair(builder, pair->geom_a, pair->geom_b, pair->friction, pair->restitution));
    }
    for (int32_t i = 0; i < run->def.event_count; i++) {
        KL_TRY(kl_builder_add_event(builder, &run->def.events[i]));
    }
    return KL_OK;
}

static KlStatus check_run(const KlScene *scene, int32_t run) {
    if (run < 0 || run >= scene->run_count) {
        return kl_fail(KL_ERR_ARGUMENT, "scene \"%.60s\" has runs 0 to %d (got %d)", scene->id,
                       (int)scene->run_count - 1, (int)run);
    }
    return KL_OK;
}

KlStatus kl_scene_model_for_run(const KlScene *scene, int32_t run, KlModel **model) {
    *model = NULL;
    KL_TRY(check_run(scene, run));
    return kl_scene_model_with(scene, run, &scene->runs[run].def.settings, model);
}

KlStatus kl_scene_model_with(const KlScene *scene, int32_t run, const KlSettings *settings, KlModel **model) {
    *model = NULL;
    KL_TRY(check_run(scene, run));
    KlBuilder *builder;
    KL_TRY(kl_builder_create(&builder));
    KlStatus status = add_all(builder, scene->model, &scene->runs[run], settings);
    if (status == KL_OK) {
        status = kl_builder_finish(builder, model);
    }
    kl_builder_destroy(builder);
    return status;
}
