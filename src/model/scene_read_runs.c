// Reads settings and runs.
#include "model/scene_read.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- settings

static KlStatus read_softening_kind(const KlJson *at, const char *key, KlSoftening *soft) {
    static const char *const keys[] = {"on",    "d0",         "dw",         "width", "midpoint",
                                       "power", "time_const", "damp_ratio", NULL};
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

// "settings" of a scene or a run, on top of what `settings` holds; "dt" and "gravity" may stand at
// `at` too.
KlStatus kl_read_settings(const KlJson *at, KlSettings *settings) {
    static const char *const keys[] = {"dt",           "gravity", "integrator",         "stabilization",
                                       "softening",    "margin",  "detection_distance", "cull_distance",
                                       "max_contacts", NULL};
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
    KL_TRY_AT(member.value != NULL ? &member : at, kl_settings_check(settings));
    return KL_OK;
}

KlStatus kl_read_preset(const KlJson *at, const char **preset) {
    static const char *const presets[] = {"high-precision", "high-throughput", NULL};
    int32_t index = -1;
    KL_TRY(kl_json_choice(at, "preset", presets, &index));
    *preset = index >= 0 ? presets[index] : *preset;
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- runs

static KlStatus add_run_event(void *context, const KlJson *at) {
    KlSceneReader *reader = context;
    KlRunDef *run = &reader->run->def;
    KlForceEvent *events = (KlForceEvent *)run->events;
    if (run->event_count >= reader->capacity) {
        return kl_json_fault(at, NULL, KL_ERR_LIMIT, "more than %d events", (int)reader->capacity);
    }
    KlForceEvent *event = &events[run->event_count];
    KL_TRY(kl_read_event(reader, at, event));
    KL_TRY_AT(at, kl_event_check(reader->model, run->event_count, event));
    run->event_count++;
    return KL_OK;
}

static KlStatus read_run_events(KlSceneReader *reader, const KlJson *at) {
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
    KL_TRY(kl_read_pose(at, change->pose));
    const double *q = change->pose + 3;
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (change->has_orientation && !(fabs(norm - 1.0) <= 1e-6)) {
        return kl_json_fault(at, "orientation", KL_ERR_SCENE, "must be a unit quaternion to 1e-6 (its norm is %.9g)",
                             norm);
    }
    return kl_json_reals(at, "twist", change->twist, 6);
}

static KlStatus read_run_bodies(KlSceneReader *reader, const KlJson *at) {
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
    json_t *object = (json_t *)bodies.value;
    for (void *i = json_object_iter(object); i != NULL; i = json_object_iter_next(object, i)) {
        KlJson entry;
        KL_TRY(kl_json_member(&bodies, json_object_iter_key(i), &entry));
        KlBodyChange *change = &run->changes[run->change_count++];
        change->body = kl_names_find(&reader->model->body_names, entry.key);
        if (change->body < 0) {
            return kl_fail_name(&entry, "body", entry.key, &reader->model->body_names);
        }
        KL_TRY(read_change(&entry, change));
    }
    return KL_OK;
}

static KlStatus read_run(void *context, const KlJson *at) {
    static const char *const keys[] = {"id",     "title",          "text",      "duration", "settings",
                                       "dt",     "gravity",        "events",    "bodies",   "actuated",
                                       "preset", "max_iterations", "tolerance", NULL};
    KlSceneReader *reader = context;
    KlScene *scene = reader->scene;
    KlSceneRun *run = reader->run = &scene->runs[scene->run_count];
    *run = (KlSceneRun){.def = {.title = "", .text = "", .duration = 10.0, .settings = scene->settings}};
    KL_TRY(kl_json_check_keys(at, keys));
    KL_TRY(kl_read_id(reader, at, &run->def.id));
    if (kl_scene_find_run(scene, run->def.id) >= 0) {
        return kl_json_fault(at, "id", KL_ERR_SCENE, "\"%s\" is taken by another run", run->def.id);
    }
    run->def.title = run->def.id;
    KL_TRY(kl_read_kept_text(reader, at, "title", &run->def.title));
    KL_TRY(kl_read_kept_text(reader, at, "text", &run->def.text));
    KL_TRY(kl_json_real(at, "duration", &run->def.duration));
    if (!(run->def.duration > 0.0 && run->def.duration <= 1e6)) {
        return kl_json_fault(at, "duration", KL_ERR_SCENE, "must be > 0 and at most 1e6 s (got %g)", run->def.duration);
    }
    KL_TRY(kl_read_settings(at, &run->def.settings));
    KL_TRY(read_run_events(reader, at));
    KL_TRY(read_run_bodies(reader, at));
    bool actuated = true;
    KL_TRY(kl_json_bool(at, "actuated", &actuated));
    run->unactuated = !actuated;
    KL_TRY(kl_read_preset(at, &run->own_preset));
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

KlStatus kl_read_runs(KlSceneReader *reader, const KlJson *at) {
    KlScene *scene = reader->scene;
    int32_t count = 0;
    KL_TRY(kl_json_each(at, "runs", kl_count_entry, &count));
    scene->run_count = 0;
    scene->runs = KL_ARENA_ARRAY(&scene->arena, KlSceneRun, count + 1);
    KL_TRY(kl_arena_check(&scene->arena));
    KL_TRY(kl_json_each(at, "runs", read_run, reader));
    if (scene->run_count == 0) {
        scene->runs[scene->run_count++] = (KlSceneRun){.def = {.id = "default",
                                                               .title = "Default",
                                                               .text = "",
                                                               .duration = 10.0,
                                                               .settings = scene->settings,
                                                               .events = scene->events,
                                                               .event_count = scene->event_count}};
    }
    return KL_OK;
}
