// Two colliders in two threads give what one gives alone: ODE keeps its caches per thread.
#include <pthread.h>

#include "scene.h"

static void build(Scene *scene) {
    scene_begin(scene, 0.0, 1e-4);
    scene_body(scene, 0, 0, 0);
    scene_body(scene, 0.1, 0.05, 0.99);
    scene_geom(scene, 0, KL_GEOM_MESH, 0, 0, 0, scene_box_mesh(scene, 1, 1, 1));
    scene_geom(scene, 1, KL_GEOM_MESH, 0, 0, 0, scene_box_mesh(scene, 0.8, 0.7, 1));
    scene_finish(scene);
}

static void *roll(void *argument) {
    Scene *scene = argument;
    for (int step = 0; step < 300; step++) {
        double s = sin(1e-3 * step), c = cos(1e-3 * step);
        const double turn[4] = {c, 0, 0, s};
        memcpy(scene->poses[1] + 3, turn, sizeof turn);
        kl_collider_find(scene->collider, scene->poses[0], scene->contacts, SCENE_CONTACTS, &scene->count);
    }
    return NULL;
}

static void two_threads_agree_with_one(void **state) {
    (void)state;
    Scene *scenes[3];
    for (int i = 0; i < 3; i++) {
        scenes[i] = test_malloc(sizeof(Scene));
        build(scenes[i]);
    }
    roll(scenes[0]);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, roll, scenes[i + 1]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_true(scenes[0]->count > 0);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(scenes[i]->count, scenes[0]->count);
        assert_memory_equal(scenes[i]->contacts, scenes[0]->contacts, (size_t)scenes[0]->count * sizeof(KlContact));
    }
    for (int i = 0; i < 3; i++) {
        scene_end(scenes[i]);
        test_free(scenes[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads_agree_with_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
