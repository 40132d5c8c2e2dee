// Runs of the suite's scenes for tests.
#ifndef KL_TESTS_SCENE_RUN_H
#define KL_TESTS_SCENE_RUN_H

#include <math.h>
#include <stdio.h>

#include "support.h"

typedef struct SceneRun {
    KlScene *scene;
    KlModel *model;
    KlSim *sim;
} SceneRun;

static inline SceneRun scene_start(const char *scene, const char *run, const char *solver) {
    SceneRun r = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/%s.json", KL_SCENES, scene);
    assert_ok(kl_scene_load(path, kl_files_disk(), &r.scene));
    int32_t index = kl_scene_find_run(r.scene, run);
    assert_true(index >= 0);
    assert_ok(kl_scene_model_for_run(r.scene, index, &r.model));
    assert_ok(kl_sim_create(r.model, &r.sim));
    assert_ok(kl_sim_set_solver(r.sim, solver));
    return r;
}

static inline void scene_run_until(SceneRun *r, double time) {
    while (kl_sim_time(r->sim) < time - 1e-9) {
        assert_ok(kl_sim_step(r->sim));
    }
}

static inline const double *scene_field(const SceneRun *r, const char *id) {
    return (const double *)kl_sim_find_field(r->sim, id)->data;
}

static inline void scene_end(SceneRun *r) {
    kl_sim_destroy(r->sim);
    kl_model_destroy(r->model);
    kl_scene_destroy(r->scene);
}

#endif
