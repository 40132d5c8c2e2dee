// Order, ids, culling, filters and limits of collision detection.
#include "base/memory.h"
#include "scene.h"

static void box_on_plane_has_four_contacts(void **state) {
    (void)state;
    Scene scene;
    scene_begin(&scene, 0.0, 1e-6);
    scene_body(&scene, 0, 0, 0.1);
    scene_geom(&scene, 0, KL_GEOM_BOX, 0.2, 0.2, 0.2, -1);
    scene_geom(&scene, -1, KL_GEOM_PLANE, 0, 0, 0, -1);
    scene_finish(&scene);
    scene_find(&scene);
    assert_int_equal(scene.count, 4);
    scene_end(&scene);
}

static void ring_of_four_flat_bars_has_sixteen_contacts(void **state) {
    (void)state;
    Scene scene;
    scene_begin(&scene, 0.0, 1e-6);
    for (int k = 0; k < 4; k++) {
        double angle = 1.5707963267948966 * k;
        scene_body(&scene, 0.5 * cos(angle), 0.5 * sin(angle), 0.05);
        scene_turn(&scene, k, 0, 0, 1, angle);
        scene_geom(&scene, k, KL_GEOM_BOX, 0.1, 0.8, 0.1, -1);
    }
    scene_geom(&scene, -1, KL_GEOM_PLANE, 0, 0, 0, -1);
    scene_finish(&scene);
    scene_find(&scene);
    assert_int_equal(scene.count, 16);
    scene_end(&scene);
}

static void contacts_come_by_geoms_and_id(void **state) {
    (void)state;
    Scene scene;
    scene_begin(&scene, 0.0, 1e-6);
    scene_body(&scene, 0, 0, 0.099);
    scene_body(&scene, 0.5, 0, 0.099);
    scene_body(&scene, 0.25, 0, 0.29);
    scene_geom(&scene, 2, KL_GEOM_BOX, 0.6, 0.2, 0.2, -1);
    scene_geom(&scene, 1, KL_GEOM_BOX, 0.2, 0.2, 0.2, -1);
    scene_geom(&scene, -1, KL_GEOM_PLANE, 0, 0, 0, -1);
    scene_geom(&scene, 0, KL_GEOM_BOX, 0.2, 0.2, 0.2, -1);
    scene_finish(&scene);
    scene_find(&scene);
    assert_int_equal(scene.count, 16);
    for (int32_t i = 1; i < scene.count; i++) {
        const KlContact *p = &scene.contacts[i - 1], *q = &scene.contacts[i];
        assert_true(p->geom_a < q->geom_a ||
                    (p->geom_a == q->geom_a && (p->geom_b < q->geom_b || (p->geom_b == q->geom_b && p->id < q->id))));
        assert_true(p->id < q->id);
        assert_true(q->body_b >= 0);
    }
    scene_end(&scene);
}

// The corner a contact names goes on being that corner while the box slides, turns and rocks.
static void corner_keeps_its_id_on_a_plane(void **state) {
    (void)state;
    Scene scene;
    scene_begin(&scene, 0.02, 1e-6);
    scene_body(&scene, 0, 0, 0.1);
    scene_geom(&scene, 0, KL_GEOM_BOX, 0.2, 0.2, 0.2, -1);
    scene_geom(&scene, -1, KL_GEOM_PLANE, 0, 0, 0, -1);
    scene_finish(&scene);
    scene_find(&scene);
    uint64_t ids[4];
    double corners[4][3];
    assert_int_equal(scene.count, 4);
    for (int i = 0; i < 4; i++) {
        ids[i] = scene.contacts[i].id;
        memcpy(corners[i], scene.contacts[i].position, sizeof corners[i]);
    }
    for (int step = 1; step < 200; step++) {
        double turn = 0.02 * step;
        scene.poses[0][0] = 0.03 * step;
        scene.poses[0][2] = 0.1 + 1e-3 * sin(step);
        scene_turn(&scene, 0, 0.01 * sin(3.0 * step), 0.01 * cos(2.0 * step), 1, turn);
        scene_find(&scene);
        assert_int_equal(scene.count, 4);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(scene.contacts[i].id, ids[i]);
            double x = scene.contacts[i].position[0] - 0.03 * step, y = scene.contacts[i].position[1];
            assert_near(cos(turn) * x + sin(turn) * y, corners[i][0], 5e-3);
            assert_near(-sin(turn) * x + cos(turn) * y, corners[i][1], 5e-3);
        }
    }
    scene_end(&scene);
}

// Contacts without natural features (a cylinder on a box, by ODE) follow the body that carries them.
static void matched_ids_follow_a_sliding_body(void **state) {
    (void)state;
    Scene scene;
    scene_begin(&scene, 0.005, 1e-3);
    scene_body(&scene, 0, 0, 0);
    scene_body(&scene, -0.5, 0, 0.349);
    scene_geom(&scene, 0, KL_GEOM_BOX, 4, 4, 0.5, -1);
    scene_geom(&scene, 1, KL_GEOM_CYLINDER, 0.1, 0.2, 0, -1);
    scene_finish(&scene);
    scene_find(&scene);
    int32_t count = scene.count;
    assert_true(count >= 3);
    uint64_t ids[16];
    double at[16];
    for (int32_t i = 0; i < count; i++) {
        ids[i] = scene.contacts[i].id;
        at[i] = scene.contacts[i].position[0] + 0.5;
    }
    for (int step = 1; step < 100; step++) {
        scene.poses[1][0] = -0.5 + 0.007 * step;
        scene_find(&scene);
        assert_int_equal(scene.count, count);
        for (int32_t i = 0; i < count; i++) {
            assert_int_equal(scene.contacts[i].id, ids[i]);
            assert_near(scene.contacts[i].position[0] - scene.poses[1][0], at[i], 1e-6);
        }
    }
    scene_end(&scene);
}

static void flat_grid(double *vertices, int32_t *triangles, int32_t n) {
    for (int32_t i = 0; i <= n; i++) {
        for (int32_t k = 0; k <= n; k++) {
            double *v = vertices + 3 * (i * (n + 1) + k);
            v[0] = (double)i / n - 0.5;
            v[1] = (double)k / n - 0.5;
            v[2] = 0.0;
        }
    }
    int32_t *t = triangles;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < n; k++) {
            int32_t a = i * (n + 1) + k, b = a + n + 1;
            const int32_t two[6] = {a, b, a + 1, b, b + 1, a + 1};
            memcpy(t, two, sizeof two);
            t += 6;
        }
    }
}

enum { GRID = 40, GRID_POINTS = (GRID + 1) * (GRID + 1) };

static void begin_grid(Scene *scene, double cull) {
    static double vertices[3 * GRID_POINTS];
    static int32_t triangles[6 * GRID * GRID];
    flat_grid(vertices, triangles, GRID);
    scene_begin(scene, 0.0, cull);
    scene_body(scene, 0, 0, -1e-4);
    scene_geom(scene, 0, KL_GEOM_MESH, 0, 0, 0, scene_mesh(scene, vertices, GRID_POINTS, triangles, 2 * GRID * GRID));
    scene_geom(scene, -1, KL_GEOM_PLANE, 0, 0, 0, -1);
}

static void culling_leaves_no_two_contacts_nearer_than_asked(void **state) {
    (void)state;
    Scene *scene = test_malloc(sizeof *scene);
    begin_grid(scene, 0.21);
    scene_finish(scene);
    scene_find(scene);
    assert_in_range(scene->count, 9, 30);
    for (int32_t i = 0; i < scene->count; i++) {
        for (int32_t k = 0; k < i; k++) {
            double d[3];
            for (int c = 0; c < 3; c++) {
                d[c] = scene->contacts[i].position[c] - scene->contacts[k].position[c];
            }
            assert_true(sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) >= 0.21);
        }
    }
    // What was kept stays kept while the plate rocks.
    uint64_t ids[64];
    int32_t count = scene->count;
    for (int32_t i = 0; i < count; i++) {
        ids[i] = scene->contacts[i].id;
    }
    for (int step = 1; step < 50; step++) {
        scene_turn(scene, 0, sin(step), cos(step), 0, 1e-5);
        scene_find(scene);
        assert_int_equal(scene->count, count);
        for (int32_t i = 0; i < count; i++) {
            assert_int_equal(scene->contacts[i].id, ids[i]);
        }
    }
    scene_end(scene);
    test_free(scene);
}

static void culling_off_keeps_all_vertices(void **state) {
    (void)state;
    Scene *scene = test_malloc(sizeof *scene);
    begin_grid(scene, 0.0);
    scene_finish(scene);
    scene_find(scene);
    assert_int_equal(scene->count, GRID_POINTS);
    scene_end(scene);
    test_free(scene);
}

static void too_many_contacts_are_an_error_that_tells_the_number(void **state) {
    (void)state;
    Scene *scene = test_malloc(sizeof *scene);
    begin_grid(scene, 0.0);
    scene_finish(scene);
    assert_fails(kl_collider_find(scene->collider, scene->poses[0], scene->contacts, 100, &scene->count), KL_ERR_LIMIT,
                 "max_contacts");
    assert_int_equal(scene->count, GRID_POINTS);
    scene_find(scene);  // and the collider goes on
    assert_int_equal(scene->count, GRID_POINTS);
    scene_end(scene);
    test_free(scene);
}

static int32_t touching_pair(uint32_t group_a, uint32_t mask_a, uint32_t group_b, uint32_t mask_b, bool excluded,
                             bool visual) {
    Scene scene;
    scene_begin(&scene, 0.0, 1e-6);
    scene_body(&scene, 0, 0, 0);
    scene_body(&scene, 0, 0, 0.9);
    for (int k = 0; k < 2; k++) {
        KlGeomDef def;
        kl_default_geom_def(&def);
        def.name = k == 0 ? "a" : "b";
        def.body = k;
        def.kind = KL_GEOM_BOX;
        def.size[0] = def.size[1] = def.size[2] = 1.0;
        def.group = k == 0 ? group_a : group_b;
        def.mask = k == 0 ? mask_a : mask_b;
        def.visual_only = visual;
        assert_ok(kl_builder_add_geom(scene.builder, &def, NULL));
    }
    if (excluded) {
        assert_ok(kl_builder_exclude(scene.builder, 0, 1));
    }
    scene_finish(&scene);
    scene_find(&scene);
    int32_t count = scene.count;
    scene_end(&scene);
    return count;
}

static void groups_masks_and_excludes_filter_pairs(void **state) {
    (void)state;
    assert_int_equal(touching_pair(1, 1, 1, 1, false, false), 4);
    assert_int_equal(touching_pair(1, 2, 2, 1, false, false), 4);
    assert_int_equal(touching_pair(1, 2, 2, 2, false, false), 0);  // one side does not agree
    assert_int_equal(touching_pair(1, 1, 1, 1, true, false), 0);
    assert_int_equal(touching_pair(1, 1, 1, 1, false, true), 0);
}

static void restored_collider_repeats_the_same_ids(void **state) {
    (void)state;
    Scene scene;
    scene_begin(&scene, 0.005, 1e-3);
    scene_body(&scene, 0, 0, 0);
    scene_body(&scene, 0, 0, 0.349);
    scene_geom(&scene, 0, KL_GEOM_BOX, 4, 4, 0.5, -1);
    scene_geom(&scene, 1, KL_GEOM_CYLINDER, 0.1, 0.2, 0, -1);
    scene_finish(&scene);
    for (int step = 0; step < 10; step++) {
        scene.poses[1][0] = 0.005 * step;
        scene_turn(&scene, 1, 1, 0.3, 0, 0.01 * step);
        scene_find(&scene);
    }
    void *saved = test_malloc(kl_collider_state_size(scene.collider));
    kl_collider_save(scene.collider, saved);
    KlContact *first = test_malloc(64 * sizeof *first);
    for (int pass = 0; pass < 2; pass++) {
        for (int step = 10; step < 15; step++) {
            scene.poses[1][0] = 0.005 * step;
            scene_turn(&scene, 1, 1, 0.3, 0, 0.01 * step);
            scene_find(&scene);
        }
        assert_in_range(scene.count, 1, 64);
        if (pass == 0) {
            memcpy(first, scene.contacts, (size_t)scene.count * sizeof *first);
            scene.poses[1][0] = 1.0;
            scene_find(&scene);
            kl_collider_reset(scene.collider);
            kl_collider_load(scene.collider, saved);
        }
    }
    assert_memory_equal(first, scene.contacts, (size_t)scene.count * sizeof *first);
    test_free(first);
    test_free(saved);
    scene_end(&scene);
}

static void later_steps_allocate_nothing(void **state) {
    (void)state;
    Scene *scene = test_malloc(sizeof *scene);
    begin_grid(scene, 0.05);
    scene_finish(scene);
    scene_find(scene);
    uint64_t before = kl_alloc_count();
    for (int step = 0; step < 10; step++) {
        scene_find(scene);
    }
    assert_int_equal(kl_alloc_count(), before);
    scene_end(scene);
    test_free(scene);
}

static void lying_capsule_touches_a_box_at_both_ends(void **state) {
    (void)state;
    Scene scene;
    scene_begin(&scene, 0.001, 1e-6);
    scene_body(&scene, 0, 0, 0);
    scene_body(&scene, 0, 0, 0.599);
    scene_turn(&scene, 1, 0, 1, 0, 1.5707963267948966);
    scene_geom(&scene, 0, KL_GEOM_BOX, 2, 2, 1, -1);
    scene_geom(&scene, 1, KL_GEOM_CAPSULE, 0.1, 0.8, 0, -1);
    scene_finish(&scene);
    scene_find(&scene);
    assert_int_equal(scene.count, 2);
    assert_near(scene.contacts[0].gap, -0.001, 1e-12);
    assert_near(fabs(scene.contacts[0].position[0] - scene.contacts[1].position[0]), 0.8, 1e-12);
    scene.poses[1][0] = 0.9;  // now one end hangs over: from x = 0.5 to the rim of the box
    scene_find(&scene);
    assert_int_equal(scene.count, 2);
    assert_near(scene.contacts[0].position[0] + scene.contacts[1].position[0], 1.5, 1e-12);
    scene_end(&scene);
}

static void flat_mesh_has_no_convex_hull(void **state) {
    (void)state;
    static const double square[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    static const int32_t triangles[6] = {0, 1, 2, 0, 2, 3};
    Scene scene;
    scene_begin(&scene, 0.0, 1e-6);
    scene_body(&scene, 0, 0, 0);
    scene_geom(&scene, 0, KL_GEOM_CONVEX, 0, 0, 0, scene_mesh(&scene, square, 4, triangles, 2));
    assert_ok(kl_builder_finish(scene.builder, &scene.model));
    assert_fails(kl_collider_create(scene.model, &scene.collider), KL_ERR_SCENE, "flat");
    scene_end(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_on_plane_has_four_contacts),
        cmocka_unit_test(ring_of_four_flat_bars_has_sixteen_contacts),
        cmocka_unit_test(contacts_come_by_geoms_and_id),
        cmocka_unit_test(corner_keeps_its_id_on_a_plane),
        cmocka_unit_test(matched_ids_follow_a_sliding_body),
        cmocka_unit_test(culling_leaves_no_two_contacts_nearer_than_asked),
        cmocka_unit_test(culling_off_keeps_all_vertices),
        cmocka_unit_test(too_many_contacts_are_an_error_that_tells_the_number),
        cmocka_unit_test(groups_masks_and_excludes_filter_pairs),
        cmocka_unit_test(restored_collider_repeats_the_same_ids),
        cmocka_unit_test(later_steps_allocate_nothing),
        cmocka_unit_test(lying_capsule_touches_a_box_at_both_ends),
        cmocka_unit_test(flat_mesh_has_no_convex_hull),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
