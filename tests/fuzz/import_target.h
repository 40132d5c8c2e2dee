// One import from memory: a success gives a scene that steps and can be written; options follow from
// the input's length, so that seeds stay plain files.
#ifndef KL_TESTS_FUZZ_IMPORT_TARGET_H
#define KL_TESTS_FUZZ_IMPORT_TARGET_H

#include "input.h"

static inline void fuzz_import(const char *path, FuzzFiles *list, size_t bits) {
    KlFiles files = fuzz_files(list);
    KlImportOptions options;
    kl_default_import_options(&options);
    options.keep_fixed = (bits & 1) != 0;
    options.mesh_collision = (bits & 2) != 0;
    options.ground = (bits & 4) != 0;
    options.self_collision = (bits & 8) != 0;
    options.motors = (KlImportMotors)(bits / 16 % 3);
    options.base = (KlImportBase)(bits / 48 % 3);
    options.missing_mesh = (KlImportMissing)(bits / 144 % 2);
    options.decimate = bits / 288 % 2 == 0 ? 0 : 4;
    options.keyframe = (int32_t)(bits % 3);
    KlScene *scene;
    KlImportReport *report;
    KlStatus status = kl_import(path, &files, &options, &scene, &report);
    if (status != KL_OK) {
        CLAIM(scene == NULL && report == NULL);
        claim_failure(status);
        return;
    }
    for (int32_t i = 0; i < kl_import_note_count(report); i++) {
        CLAIM(kl_import_note(report, i)->text[0] != '\0');
    }
    char *text;
    size_t size;
    CLAIM(kl_scene_write_json(scene, &text, &size) == KL_OK);
    kl_free(text);
    fuzz_step(kl_scene_model(scene), 2);
    kl_import_report_destroy(report);
    kl_scene_destroy(scene);
}

#endif
