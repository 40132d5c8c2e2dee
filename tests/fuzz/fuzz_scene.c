// Scene and experiment documents: what is accepted makes models for all its runs, steps, and survives
// being written and read again.
#include "input.h"

static void claim_round_trip(const KlScene *scene, const KlFiles *files) {
    char *text, *again;
    size_t size, again_size;
    CLAIM(kl_scene_write_json(scene, &text, &size) == KL_OK);
    KlScene *copy;
    CLAIM(kl_scene_parse(text, size, "written.json", files, &copy) == KL_OK);
    CLAIM(kl_scene_write_json(copy, &again, &again_size) == KL_OK);
    CLAIM(size == again_size && memcmp(text, again, size) == 0);
    kl_free(text);
    kl_free(again);
    kl_scene_destroy(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const FuzzFile files[] = {
        FUZZ_TEXT(".obj", fuzz_mesh_obj),
        FUZZ_TEXT("part.json", "{\"name\": \"q\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1]}"),
        FUZZ_TEXT("list.json", "[{\"type\": \"sphere\", \"size\": [0.1]}]"),
        FUZZ_TEXT(
            "scene.json",
            "{\"schema\": 1, \"id\": \"s\", \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]}]}"),
    };
    FuzzFiles list = {files, sizeof files / sizeof files[0]};
    KlFiles reader = fuzz_files(&list);
    KlScene *scene;
    KlStatus status = kl_scene_parse((const char *)data, size, "fuzz.json", &reader, &scene);
    if (status != KL_OK) {
        CLAIM(scene == NULL);
        claim_failure(status);
        return 0;
    }
    claim_round_trip(scene, &reader);
    for (int32_t run = 0; run < kl_scene_run_count(scene) && run < 4; run++) {
        KlModel *model;
        status = kl_scene_model_for_run(scene, run, &model);
        if (status != KL_OK) {
            claim_failure(status);
            continue;
        }
        fuzz_step(model, 3);
        kl_model_destroy(model);
    }
    kl_scene_destroy(scene);
    return 0;
}
