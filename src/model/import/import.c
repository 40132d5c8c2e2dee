// Import: reads a URDF or MJCF file into a mechanism, reduces it, and makes a scene of it.
#include <stdio.h>
#include <string.h>

#include "model/import/mechanism.h"
#include "model/import/report.h"
#include "model/model.h"
#include "model/scene.h"

// Options may be set member by member: what the table allows holds for them too.
static KlStatus check_options(const KlImportOptions *options) {
    KlImportOptions copy = *options;
    KL_TRY(kl_import_options_set(&copy, "density", options->density));
    return kl_import_options_set(&copy, "placeholder_mass", options->placeholder_mass);
}

static KlStatus read_loops(KlMechanism *mechanism) {
    if (mechanism->options->loops != NULL) {
        return kl_loops_read(mechanism, mechanism->options->loops, true);
    }
    char path[600];
    const char *slash = strrchr(mechanism->file, '/');
    int folder = slash != NULL ? (int)(slash - mechanism->file) + 1 : 0;
    snprintf(path, sizeof path, "%.*srobot.yaml", folder, mechanism->file);
    return kl_loops_read(mechanism, path, false);
}

static KlStatus read_model(KlMechanism *mechanism, const char *data, size_t size) {
    KlXmlNode *root;
    KL_TRY(kl_xml_parse(data, size, mechanism->file, mechanism->arena, &root));
    if (strcmp(root->name, "robot") == 0) {
        KL_TRY(kl_urdf_read(mechanism, root));
        return read_loops(mechanism);
    }
    if (strcmp(root->name, "mujoco") == 0) {
        return kl_mjcf_read(mechanism, root);
    }
    return kl_xml_fail(root, "is neither <robot> (URDF) nor <mujoco> (MJCF)");
}

// An identifier of a scene: lower case, digits and underscores.
static char *scene_id(KlArena *arena, const char *name) {
    char *id = kl_arena_text(arena, name[0] != '\0' ? name : "imported");
    for (char *c = id; c != NULL && *c != '\0'; c++) {
        bool upper = *c >= 'A' && *c <= 'Z', plain = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9');
        *c = upper ? (char)(*c - 'A' + 'a') : plain ? *c : '_';
    }
    return id;
}

static KlStatus make_scene(const KlMechanism *mechanism, KlModel *model, KlScene **scene) {
    KlScene *made = kl_alloc(sizeof *made);
    if (made == NULL) {
        kl_model_destroy(model);
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    KlArena *arena = &made->arena;
    made->model = model;
    made->id = scene_id(arena, mechanism->name);
    made->title = kl_arena_text(arena, mechanism->name);
    made->text = kl_arena_text(arena, "Imported mechanism.");
    made->preset = "high-throughput";
    made->settings = mechanism->settings;
    made->runs = KL_ARENA_ARRAY(arena, KlSceneRun, 1);
    made->solvers = (const char **)KL_ARENA_ARRAY(arena, const char *, 2);
    KlStatus status = kl_arena_check(arena);
    if (status != KL_OK) {
        kl_scene_destroy(made);
        return status;
    }
    made->solvers[made->solver_count++] = "newton-ncp";
    made->solvers[made->solver_count++] = "admm-ncp-plus";
    made->runs[made->run_count++].def = (KlRunDef){
        .id = "default",
        .title = "Default",
        .text = "",
        .duration = 10.0,
        .settings = *kl_model_settings(model),
    };
    *scene = made;
    return KL_OK;
}

static KlStatus build(KlMechanism *mechanism, KlScene **scene) {
    KL_TRY(kl_mechanism_place(mechanism));
    KL_TRY(kl_mechanism_inertia(mechanism));
    KL_TRY(kl_mechanism_reduce(mechanism));
    kl_mechanism_move(mechanism);
    KlBuilder *builder;
    KL_TRY(kl_builder_create(&builder));
    KlModel *model = NULL;
    KlStatus status = kl_mechanism_emit(mechanism, builder);
    if (status == KL_OK) {
        status = kl_builder_finish(builder, &model);
    }
    kl_builder_destroy(builder);
    return status == KL_OK ? make_scene(mechanism, model, scene) : status;
}

// Imported mechanisms drift without help: a little of Baumgarte's, and a margin against chatter.
static void imported_settings(KlSettings *settings) {
    kl_settings_default(settings);
    settings->baumgarte_joint = settings->baumgarte_limit = settings->baumgarte_contact = 0.1;
    settings->margin = 1e-5;
}

KlStatus kl_import(const char *path, const KlFiles *files, const KlImportOptions *options, KlScene **scene,
                   KlImportReport **report) {
    *scene = NULL;
    *report = NULL;
    KL_TRY(check_options(options));
    char *data;
    size_t size;
    KL_TRY(files->read(files->context, path, &data, &size));
    KlArena arena = {0};
    KlImportReport *notes = NULL;
    KlStatus status = kl_import_report_create(&notes);
    if (status == KL_OK) {
        KlMechanism mechanism = {.arena = &arena, .report = notes, .files = files, .options = options, .file = path};
        imported_settings(&mechanism.settings);
        status = read_model(&mechanism, data, size);
        status = status == KL_OK ? build(&mechanism, scene) : status;
        if (status == KL_OK) {
            status = kl_import_report_check(notes);
        }
    }
    files->release(files->context, data);
    kl_arena_free(&arena);
    if (status != KL_OK) {
        kl_scene_destroy(*scene);
        kl_import_report_destroy(notes);
        *scene = NULL;
        return status;
    }
    *report = notes;
    return KL_OK;
}
