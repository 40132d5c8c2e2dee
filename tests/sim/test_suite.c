// The scenes of the suite in motion: every run takes its first steps, drives hold what they carry,
// and feet of many vertices are culled.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collide/collide.h"
#include "model/model.h"
#include "support.h"

static const char *const scenes[] = {"box_on_plane", "boxes_fixed", "nunchaku", "fourbar_fixed", "fourbar_free",
                                     "arm7d",        "quadruped",   "bdx",      "lima",          "misha",
                                     "walker",       "gazelle",     "ironman"};

static KlScene *load_scene(const char *id) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.json", KL_SCENES, id);
    KlScene *scene;
    assert_ok(kl_scene_load(path, NULL, &scene));
    return scene;
}

static void every_run_takes_its_first_steps(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        KlScene *scene = load_scene(scenes[i]);
        for (int32_t r = 0; r < kl_scene_run_count(scene); r++) {
            KlModel *model;
            KlSim *sim;
            assert_ok(kl_scene_model_for_run(scene, r, &model));
            assert_ok(kl_sim_create(model, &sim));
            assert_ok(kl_solver_preset(kl_sim_solver(sim), "high-throughput"));
            for (int32_t step = 0; step < 2; step++) {
                assert_ok(kl_sim_step(sim));
            }
            double gap = kl_sim_metric(sim, "r_pen_joints");
            if (!(gap < 1e-4)) {
                fail_msg("%s, %s: joints are open by %g", scenes[i], kl_scene_run(scene, r)->id, gap);
            }
            kl_sim_destroy(sim);
            kl_model_destroy(model);
        }
        kl_scene_destroy(scene);
    }
}

// Contacts at the start pose, with each pair's neighbours nearer than `cull` merged.
static int32_t count_contacts(const char *id, const char *run, double cull) {
    KlScene *scene = load_scene(id);
    KlModel *model;
    assert_ok(kl_scene_model_for_run(scene, kl_scene_find_run(scene, run), &model));
    model->settings.cull_distance = cull > 0.0 ? cull : model->settings.cull_distance;
    model->settings.max_contacts = 2000;
    double poses[7 * 64];
    for (int32_t b = 0; b < model->body_count; b++) {
        memcpy(poses + 7 * b, model->bodies[b].pose, 7 * sizeof(double));
        poses[7 * b + 2] -= 1e-4;  // into the ground
    }
    KlCollider *collider;
    static KlContact contacts[2000];
    int32_t count;
    assert_ok(kl_collider_create(model, &collider));
    assert_ok(kl_collider_find(collider, poses, contacts, 2000, &count));
    kl_collider_destroy(collider);
    kl_model_destroy(model);
    kl_scene_destroy(scene);
    return count;
}

static void a_foot_of_the_walker_has_200_raw_contacts_and_about_20_culled(void **state) {
    (void)state;
    const int32_t toes = 2 * 4;
    int32_t raw = (count_contacts("walker", "hard", 1e-6) - toes) / 2,
            culled = (count_contacts("walker", "hard", 0.0) - toes) / 2;
    assert_in_range(raw, 190, 215);
    assert_in_range(culled, 15, 26);
}

// The first 0.2 s of its walk: the pelvis neither falls nor tips, and starts towards the left foot.
static void the_walker_sets_out_upright(void **state) {
    (void)state;
    KlScene *scene = load_scene("walker");
    KlModel *model;
    KlSim *sim;
    assert_ok(kl_scene_model_for_run(scene, kl_scene_find_run(scene, "hard"), &model));
    assert_ok(kl_sim_create(model, &sim));
    assert_ok(kl_solver_preset(kl_sim_solver(sim), "high-throughput"));
    for (int32_t step = 0; step < 200; step++) {
        assert_ok(kl_sim_step(sim));
    }
    const double *pose = kl_sim_find_field(sim, "pose")->data;
    assert_near(pose[2], 0.83, 0.002);
    assert_true(pose[0] > 0.03 && pose[1] > 0.05);
    assert_near(pose[3], 1.0, 1e-3);
    assert_true(kl_sim_metric(sim, "r_pen_joints") < 1e-4);
    kl_sim_destroy(sim);
    kl_model_destroy(model);
    kl_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_run_takes_its_first_steps),
        cmocka_unit_test(a_foot_of_the_walker_has_200_raw_contacts_and_about_20_culled),
        cmocka_unit_test(the_walker_sets_out_upright),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
