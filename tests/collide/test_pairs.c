// Every pair of kinds against closed-form contacts: shape 1 lies under shape 2 along z, and the gap, the
// normal and the height of the contact follow from their heights.
#include "scene.h"

typedef struct Sample {
    const char *name;
    KlGeomKind kind;
    double size[3];
    double half;     // height over the centre
    double mesh[3];  // box-shaped mesh when > 0
} Sample;

static const Sample samples[] = {
    {"sphere", KL_GEOM_SPHERE, {0.3, 0, 0}, 0.3, {0, 0, 0}},
    {"box", KL_GEOM_BOX, {0.4, 0.5, 0.6}, 0.3, {0, 0, 0}},
    {"capsule", KL_GEOM_CAPSULE, {0.1, 0.4, 0}, 0.3, {0, 0, 0}},
    {"cylinder", KL_GEOM_CYLINDER, {0.2, 0.6, 0}, 0.3, {0, 0, 0}},
    {"convex", KL_GEOM_CONVEX, {0, 0, 0}, 0.3, {0.5, 0.4, 0.6}},
    {"mesh", KL_GEOM_MESH, {0, 0, 0}, 0.3, {0.44, 0.4, 0.6}},
};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

static void add(Scene *scene, int32_t body, const Sample *sample) {
    int32_t mesh =
        sample->mesh[0] > 0.0 ? scene_box_mesh(scene, sample->mesh[0], sample->mesh[1], sample->mesh[2]) : -1;
    scene_geom(scene, body, sample->kind, sample->size[0], sample->size[1], sample->size[2], mesh);
}

static bool round_ended(const Sample *s) { return s->kind == KL_GEOM_SPHERE || s->kind == KL_GEOM_CAPSULE; }
static bool polyhedral(const Sample *s) { return s->kind == KL_GEOM_BOX || s->kind == KL_GEOM_CONVEX; }

// A mesh is stored by ODE in doubles but searched in single precision; cylinders against hulls and
// capsules go through an iteration that stops at 1e-6.
static double tolerance_of(const Sample *a, const Sample *b) {
    bool mesh = a->kind == KL_GEOM_MESH || b->kind == KL_GEOM_MESH;
    bool cylinder = a->kind == KL_GEOM_CYLINDER || b->kind == KL_GEOM_CYLINDER;
    bool partner = a->kind == KL_GEOM_CONVEX || b->kind == KL_GEOM_CONVEX || a->kind == KL_GEOM_CAPSULE ||
                   b->kind == KL_GEOM_CAPSULE;
    return mesh || (cylinder && partner) ? 2e-6 : 1e-12;
}

static bool seen_before_touch(const Sample *a, const Sample *b) {
    bool mesh = a->kind == KL_GEOM_MESH || b->kind == KL_GEOM_MESH;
    bool ends = round_ended(a) || round_ended(b);
    bool cylinder = a->kind == KL_GEOM_CYLINDER || b->kind == KL_GEOM_CYLINDER;
    return ends || (!mesh && (cylinder || (polyhedral(a) && polyhedral(b))));
}

// The contact lies on the flat top of the lower shape; two round ends touch aslant instead.
static void check_flat(const Sample *low, const Sample *high, const KlContact *c, double gap) {
    if (round_ended(low) && round_ended(high)) {
        return;
    }
    double tolerance = tolerance_of(low, high);
    assert_near(c->normal[0], 0.0, 1e-5);
    assert_near(c->normal[1], 0.0, 1e-5);
    assert_near(c->normal[2], 1.0, 1e-5);
    assert_near(c->gap, gap, tolerance);
    assert_near(c->position[2], 0.125 + low->half + 0.5 * gap, 0.5 * fabs(gap) + tolerance);
}

static void check(const Sample *low, const Sample *high, double gap, double detection) {
    Scene *scene = test_malloc(sizeof *scene);
    scene_begin(scene, detection, 1e-6);
    scene_body(scene, 0.5, -0.25, 0.125);
    scene_body(scene, 0.51, -0.26, 0.125 + low->half + high->half + gap);
    add(scene, 0, low);
    add(scene, 1, high);
    scene_finish(scene);
    scene_find(scene);
    assert_int_equal(scene->count > 0, gap <= 0.0 || (gap <= detection && seen_before_touch(low, high)));
    const KlContact *deepest = &scene->contacts[0];
    for (int32_t i = 0; i < scene->count; i++) {
        const KlContact *c = &scene->contacts[i];
        assert_int_equal(c->geom_a, 0);
        assert_int_equal(c->body_b, 1);
        assert_true(c->gap <= detection + 1e-9);
        deepest = c->gap < deepest->gap ? c : deepest;
        if (low->kind != KL_GEOM_MESH && high->kind != KL_GEOM_MESH) {
            check_flat(low, high, c, gap);
        }
    }
    if (scene->count > 0) {  // meshes also report neighbouring triangles: their deepest contact counts
        check_flat(low, high, deepest, gap);
    }
    scene_end(scene);
    test_free(scene);
}

static void all_pairs(double gap, double detection) {
    for (int a = 0; a < SAMPLES; a++) {
        for (int b = 0; b < SAMPLES; b++) {
            check(&samples[a], &samples[b], gap, detection);
        }
    }
}

static void all_pairs_tell_penetration(void **state) {
    (void)state;
    all_pairs(-0.004, 0.0);
}

static void all_pairs_are_open_when_apart(void **state) {
    (void)state;
    all_pairs(0.004, 0.0);
}

static void detection_distance_makes_contacts_before_touch(void **state) {
    (void)state;
    all_pairs(0.004, 0.01);
}

static void detection_distance_leaves_penetration_as_it_is(void **state) {
    (void)state;
    all_pairs(-0.004, 0.01);
}

// A sphere over a flat top has one contact, under its centre: exact for every kind below.
static void sphere_touches_under_its_centre(void **state) {
    (void)state;
    for (int k = 0; k < SAMPLES; k++) {
        if (samples[k].kind == KL_GEOM_SPHERE || samples[k].kind == KL_GEOM_CAPSULE) {
            continue;
        }
        for (int sign = -1; sign <= 1; sign += 2) {
            Scene *scene = test_malloc(sizeof *scene);
            double gap = 0.003 * sign;
            scene_begin(scene, 0.01, 1e-3);
            scene_body(scene, 0, 0, 0);
            scene_body(scene, 0.05, 0.03, 0.3 + 0.2 + gap);
            add(scene, 0, &samples[k]);
            scene_geom(scene, 1, KL_GEOM_SPHERE, 0.2, 0, 0, -1);
            scene_finish(scene);
            scene_find(scene);
            double tolerance = tolerance_of(&samples[k], &samples[0]);
            const KlContact *c = &scene->contacts[0];
            for (int32_t i = 1; i < scene->count; i++) {
                c = scene->contacts[i].gap < c->gap ? &scene->contacts[i] : c;
            }
            assert_true(scene->count == 1 || samples[k].kind == KL_GEOM_MESH);
            assert_near(c->gap, gap, tolerance);
            assert_near(c->position[0], 0.05, 1e-4 + tolerance);
            assert_near(c->position[1], 0.03, 1e-4 + tolerance);
            assert_near(c->position[2], 0.3 + 0.5 * gap, tolerance);
            assert_near(c->normal[2], 1.0, tolerance);
            scene_end(scene);
            test_free(scene);
        }
    }
}

static void spheres_meet_on_the_line_of_centres(void **state) {
    (void)state;
    Scene scene;
    scene_begin(&scene, 0.1, 1e-6);
    scene_body(&scene, 0, 0, 0);
    scene_body(&scene, 0.3, 0.4, 0);  // 0.5 away
    scene_geom(&scene, 0, KL_GEOM_SPHERE, 0.2, 0, 0, -1);
    scene_geom(&scene, 1, KL_GEOM_SPHERE, 0.25, 0, 0, -1);
    scene_finish(&scene);
    scene_find(&scene);
    assert_int_equal(scene.count, 1);
    assert_near(scene.contacts[0].gap, 0.05, 1e-15);
    assert_near(scene.contacts[0].normal[0], 0.6, 1e-15);
    assert_near(scene.contacts[0].normal[1], 0.8, 1e-15);
    assert_near(scene.contacts[0].position[0], 0.225 * 0.6, 1e-15);
    assert_near(scene.contacts[0].position[1], 0.225 * 0.8, 1e-15);
    scene_end(&scene);
}

static void crossed_capsules_meet_between_their_axes(void **state) {
    (void)state;
    Scene scene;
    scene_begin(&scene, 0.0, 1e-6);
    scene_body(&scene, 0, 0, 0);
    scene_body(&scene, 0, 0, 0.19);
    scene_turn(&scene, 0, 0, 1, 0, 1.5707963267948966);  // along x
    scene_turn(&scene, 1, 1, 0, 0, 1.5707963267948966);  // along y
    scene_geom(&scene, 0, KL_GEOM_CAPSULE, 0.1, 1.0, 0, -1);
    scene_geom(&scene, 1, KL_GEOM_CAPSULE, 0.1, 1.0, 0, -1);
    scene_finish(&scene);
    scene_find(&scene);
    assert_int_equal(scene.count, 1);
    assert_near(scene.contacts[0].gap, -0.01, 1e-12);
    assert_near(scene.contacts[0].normal[2], 1.0, 1e-12);
    assert_near(scene.contacts[0].position[2], 0.095, 1e-12);
    scene_end(&scene);
}

static void sphere_touches_a_corner_along_the_diagonal(void **state) {
    (void)state;
    for (int hull = 0; hull < 2; hull++) {
        Scene scene;
        scene_begin(&scene, 0.02, 1e-6);
        double diagonal = 1.0 / sqrt(3.0), gap = 0.01;
        double along = (0.2 + gap) * diagonal;
        scene_body(&scene, 0, 0, 0);
        scene_body(&scene, 0.5 + along, 0.5 + along, 0.5 + along);
        if (hull == 1) {
            scene_geom(&scene, 0, KL_GEOM_CONVEX, 0, 0, 0, scene_box_mesh(&scene, 1, 1, 1));
        } else {
            scene_geom(&scene, 0, KL_GEOM_BOX, 1, 1, 1, -1);
        }
        scene_geom(&scene, 1, KL_GEOM_SPHERE, 0.2, 0, 0, -1);
        scene_finish(&scene);
        scene_find(&scene);
        assert_int_equal(scene.count, 1);
        assert_near(scene.contacts[0].gap, gap, 1e-14);
        for (int k = 0; k < 3; k++) {
            assert_near(scene.contacts[0].normal[k], diagonal, 1e-14);
            assert_near(scene.contacts[0].position[k], 0.5 + 0.5 * gap * diagonal, 1e-14);
        }
        scene_end(&scene);
    }
}

static void capsule_crosses_an_edge_at_one_point(void **state) {
    (void)state;
    Scene scene;
    scene_begin(&scene, 0.02, 1e-6);
    double diagonal = sqrt(0.5), distance = 0.1 - 0.003;
    scene_body(&scene, 0, 0, 0);
    scene_body(&scene, 0.5 + distance * diagonal, 0.1, 0.5 + distance * diagonal);
    scene_turn(&scene, 1, 0, 1, 0, -0.7853981633974483);  // its axis falls outward, across the edge along y
    scene_geom(&scene, 0, KL_GEOM_BOX, 1, 1, 1, -1);
    scene_geom(&scene, 1, KL_GEOM_CAPSULE, 0.1, 1.0, 0, -1);
    scene_finish(&scene);
    scene_find(&scene);
    assert_int_equal(scene.count, 1);
    assert_near(scene.contacts[0].gap, -0.003, 1e-12);
    const double normal[3] = {diagonal, 0.0, diagonal};
    assert_near_array(scene.contacts[0].normal, normal, 3, 1e-12);
    assert_near(scene.contacts[0].position[1], 0.1, 1e-12);
    scene_end(&scene);
}

static void sunken_sphere_leaves_by_the_nearest_face(void **state) {
    (void)state;
    Scene scene;
    scene_begin(&scene, 0.0, 1e-6);
    scene_body(&scene, 0, 0, 0);
    scene_body(&scene, 0.1, 0.0, 0.45);  // the centre 0.05 under the top
    scene_geom(&scene, 0, KL_GEOM_BOX, 1, 1, 1, -1);
    scene_geom(&scene, 1, KL_GEOM_SPHERE, 0.2, 0, 0, -1);
    scene_finish(&scene);
    scene_find(&scene);
    assert_int_equal(scene.count, 1);
    assert_near(scene.contacts[0].gap, -0.25, 1e-14);
    assert_near(scene.contacts[0].normal[2], 1.0, 1e-14);
    assert_near(scene.contacts[0].position[2], 0.375, 1e-14);
    scene_end(&scene);
}

static void crossed_edges_of_boxes_meet_in_one_point(void **state) {
    (void)state;
    for (int hull = 0; hull < 2; hull++) {
        Scene scene;
        scene_begin(&scene, 0.0, 1e-6);
        double reach = sqrt(0.5);  // of an edge over the centre of a unit cube
        scene_body(&scene, 0.02, 0.0, 0.0);
        scene_body(&scene, 0.0, 0.03, 2.0 * reach - 0.002);
        scene_turn(&scene, 0, 1, 0, 0, 0.7853981633974483);  // an edge along x on top
        scene_turn(&scene, 1, 0, 1, 0, 0.7853981633974483);  // an edge along y below
        if (hull == 1) {
            scene_geom(&scene, 0, KL_GEOM_CONVEX, 0, 0, 0, scene_box_mesh(&scene, 1, 1, 1));
        } else {
            scene_geom(&scene, 0, KL_GEOM_BOX, 1, 1, 1, -1);
        }
        scene_geom(&scene, 1, KL_GEOM_BOX, 1, 1, 1, -1);
        scene_finish(&scene);
        scene_find(&scene);
        assert_int_equal(scene.count, 1);
        const double point[3] = {0.0, 0.0, reach - 0.001};
        assert_near_array(scene.contacts[0].position, point, 3, 1e-12);
        const double normal[3] = {0.0, 0.0, 1.0};
        assert_near_array(scene.contacts[0].normal, normal, 3, 1e-12);
        assert_near(scene.contacts[0].gap, -0.002, 1e-12);
        scene_end(&scene);
    }
}

static void stacked_boxes_share_the_smaller_face(void **state) {
    (void)state;
    Scene scene;
    scene_begin(&scene, 0.0, 1e-6);
    scene_body(&scene, 0, 0, 0);
    scene_body(&scene, 0.1, 0, 0.999);
    scene_geom(&scene, 0, KL_GEOM_BOX, 1, 1, 1, -1);
    scene_geom(&scene, 1, KL_GEOM_BOX, 0.5, 0.5, 1, -1);
    scene_finish(&scene);
    scene_turn(&scene, 1, 0, 0, 1, 0.3);
    scene_find(&scene);
    assert_int_equal(scene.count, 4);
    for (int32_t i = 0; i < 4; i++) {
        const KlContact *c = &scene.contacts[i];
        assert_near(c->gap, -0.001, 1e-12);
        assert_near(hypot(c->position[0] - 0.1, c->position[1]), 0.25 * sqrt(2.0), 1e-12);
    }
    scene_end(&scene);
}

static void plane_contacts_are_exact_for_every_kind(void **state) {
    (void)state;
    static const int expected[SAMPLES] = {1, 4, 1, 4, 4, 4};
    for (int k = 0; k < SAMPLES; k++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            Scene *scene = test_malloc(sizeof *scene);
            double gap = 0.002 * sign;
            scene_begin(scene, 0.005, 1e-6);
            scene_body(scene, 1.0, 2.0, samples[k].half + gap);
            add(scene, 0, &samples[k]);
            scene_geom(scene, -1, KL_GEOM_PLANE, 0, 0, 0, -1);
            scene_finish(scene);
            scene_find(scene);
            assert_int_equal(scene->count, expected[k]);
            for (int32_t i = 0; i < scene->count; i++) {
                const KlContact *c = &scene->contacts[i];
                assert_int_equal(c->body_a, -1);  // the world, though its geom comes second
                assert_int_equal(c->geom_a, 1);
                assert_near(c->gap, gap, 1e-15);
                assert_near(c->normal[2], 1.0, 0.0);
                assert_near(c->position[2], 0.5 * gap, 1e-15);
            }
            scene_end(scene);
            test_free(scene);
        }
    }
}

static void lying_capsule_and_cylinder_touch_a_plane_twice(void **state) {
    (void)state;
    static const KlGeomKind kinds[2] = {KL_GEOM_CAPSULE, KL_GEOM_CYLINDER};
    for (int k = 0; k < 2; k++) {
        Scene scene;
        scene_begin(&scene, 0.0, 1e-6);
        scene_body(&scene, 0, 0, 0.099);
        scene_turn(&scene, 0, 0, 1, 0, 1.5707963267948966);
        scene_geom(&scene, 0, kinds[k], 0.1, 0.8, 0, -1);
        scene_geom(&scene, -1, KL_GEOM_PLANE, 0, 0, 0, -1);
        scene_finish(&scene);
        scene_find(&scene);
        assert_int_equal(scene.count, 2);
        assert_near(scene.contacts[0].gap, -0.001, 1e-12);
        assert_near(fabs(scene.contacts[0].position[0] - scene.contacts[1].position[0]), 0.8, 1e-12);
        scene_end(&scene);
    }
}

// OPCODE keeps no tree of a single triangle; a fuzzer found the mesh that looked for one.
static void a_mesh_of_one_triangle_meets_meshes(void **state) {
    (void)state;
    static const double corners[9] = {-0.3, -0.2, 0, 0.4, -0.3, 0, 0, 0.4, 0};
    static const int32_t triangle[3] = {0, 1, 2};
    static const double upright[9] = {0, 0, -0.3, 0.1, 0, 0.2, -0.1, 0, 0.2};
    for (int partner = 0; partner < 2; partner++) {
        Scene scene;
        scene_begin(&scene, 0.0, 1e-6);
        scene_body(&scene, 0, 0, 0);
        scene_body(&scene, partner == 0 ? 0.02 : 0.5, 0.03, partner == 0 ? 0.25 : 0.49);
        scene_geom(&scene, 0, KL_GEOM_MESH, 0, 0, 0, scene_mesh(&scene, corners, 3, triangle, 1));
        scene_geom(&scene, 1, KL_GEOM_MESH, 0, 0, 0,
                   partner == 0 ? scene_mesh(&scene, upright, 3, triangle, 1) : scene_box_mesh(&scene, 1, 1, 1));
        scene_finish(&scene);
        scene_find(&scene);
        assert_true(scene.count > 0);
        for (int32_t k = 0; k < scene.count; k++) {
            assert_true(isfinite(scene.contacts[k].gap) && scene.contacts[k].gap < 0.0);
        }
        scene_end(&scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_tell_penetration),
        cmocka_unit_test(all_pairs_are_open_when_apart),
        cmocka_unit_test(detection_distance_makes_contacts_before_touch),
        cmocka_unit_test(detection_distance_leaves_penetration_as_it_is),
        cmocka_unit_test(sphere_touches_under_its_centre),
        cmocka_unit_test(spheres_meet_on_the_line_of_centres),
        cmocka_unit_test(crossed_capsules_meet_between_their_axes),
        cmocka_unit_test(sphere_touches_a_corner_along_the_diagonal),
        cmocka_unit_test(capsule_crosses_an_edge_at_one_point),
        cmocka_unit_test(sunken_sphere_leaves_by_the_nearest_face),
        cmocka_unit_test(crossed_edges_of_boxes_meet_in_one_point),
        cmocka_unit_test(stacked_boxes_share_the_smaller_face),
        cmocka_unit_test(plane_contacts_are_exact_for_every_kind),
        cmocka_unit_test(lying_capsule_and_cylinder_touch_a_plane_twice),
        cmocka_unit_test(a_mesh_of_one_triangle_meets_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
