// What a page calls to import a model: a module of its own, because few pages ask for it. Files go in, options are
// set by name, and a closed scene with the report of what was done comes out, both as JSON.
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "file_store.h"
#include "kl.h"

typedef struct KlImporter {
    KlFileStore store;
    KlImportOptions options;
    char *loops;
    char *scene, *report;  // of the last import
    char *json;            // the last answer
} KlImporter;

static const double CLOSED = 1e-10;  // [m, rad] the command's own tolerance

KlImporter *kl_importer_create(void) {
    json_object_seed(1);  // there is no /dev/urandom
    KlImporter *importer = kl_alloc(sizeof *importer);
    if (importer != NULL) {
        kl_store_open(&importer->store);
        kl_default_import_options(&importer->options);
    }
    return importer;
}

void kl_importer_destroy(KlImporter *importer) {
    if (importer != NULL) {
        kl_store_free(&importer->store);
        kl_free(importer->loops);
        kl_free(importer->scene);
        kl_free(importer->report);
        free(importer->json);
        kl_free(importer);
    }
}

KlStatus kl_importer_put_file(KlImporter *importer, const char *path, const void *data, size_t size) {
    return kl_store_put(&importer->store, path, data, size);
}

KlStatus kl_importer_set(KlImporter *importer, const char *option, double value) {
    return kl_import_options_set(&importer->options, option, value);
}

// The file of loop closures; "" for the one beside the model.
KlStatus kl_importer_set_loops(KlImporter *importer, const char *path) {
    size_t size = strlen(path) + 1;
    char *copy = kl_alloc(size);
    if (copy == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    memcpy(copy, path, size);
    kl_free(importer->loops);
    importer->loops = copy;
    importer->options.loops = copy[0] != '\0' ? copy : NULL;
    return KL_OK;
}

// A scene whose loops stay open is still of use: the report says so.
static KlStatus write(KlImporter *importer, KlScene *scene, const KlImportReport *report) {
    KlAssembly assembly = {0};
    KlStatus status = kl_scene_close_loops(scene, CLOSED, &assembly);
    bool open = status == KL_ERR_SCENE && assembly.residual_after > 0.0;
    if (status != KL_OK && !open) {
        return status;
    }
    char reason[sizeof kl_last_error()->message];
    memcpy(reason, kl_last_error()->message, sizeof reason);
    KL_TRY(kl_import_report_write_json(scene, report, &assembly, open ? reason : NULL, &importer->report));
    return kl_scene_write_json(scene, &importer->scene, &(size_t){0});
}

KlStatus kl_importer_run(KlImporter *importer, const char *path) {
    KlScene *scene = NULL;
    KlImportReport *report = NULL;
    kl_free(importer->scene);
    kl_free(importer->report);
    importer->scene = importer->report = NULL;
    KlStatus status = kl_import(path, &importer->store.access, &importer->options, &scene, &report);
    if (status == KL_OK) {
        status = write(importer, scene, report);
    }
    kl_import_report_destroy(report);
    kl_scene_destroy(scene);
    return status;
}

const char *kl_importer_scene(const KlImporter *importer) { return importer->scene; }
const char *kl_importer_report(const KlImporter *importer) { return importer->report; }

static const char *answer(KlImporter *importer, json_t *value) {
    free(importer->json);
    importer->json = value != NULL ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    return importer->json;
}

// The options, as the solvers' parameters are told.
const char *kl_importer_params(KlImporter *importer) {
    static const char *const KINDS[] = {"real", "int", "bool", "choice"};
    json_t *list = json_array();
    for (int32_t i = 0; i < kl_import_param_count(); i++) {
        const KlParam *p = kl_import_param(i);
        json_array_append_new(list,
                              json_pack("{ss ss ss ss ss sf sf sf sb ss}", "id", p->id, "title", p->title, "unit",
                                        p->unit, "text", p->text, "kind", KINDS[p->kind], "initial", p->initial, "min",
                                        p->min, "max", p->max, "log", p->log_scale, "choices", p->choices));
    }
    return answer(importer, list);
}

const char *kl_importer_error(KlImporter *importer) {
    const KlError *e = kl_last_error();
    return answer(importer, json_pack("{ss ss ss si si ss}", "status", kl_status_name(e->status), "message", e->message,
                                      "file", e->file, "line", e->line, "column", e->column, "path", e->path));
}
