// The scenes that come with kinloop: they load, keep the counts of the benchmark suite, close their
// loops at the start pose, give a model for every run, and survive being written and read again.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/vec.h"
#include "model/model.h"
#include "support.h"

// The benchmark suite table: id, fixed base, bodies, joints, actuated and passive degrees of
// freedom (-1: not stated), joint rows, mass ratio, independent loops of the mechanism alone (-1:
// not stated).
typedef struct SuiteRow {
    const char *id;
    bool fixed_base, surrogate;
    int32_t bodies, joints, actuated, passive, rows;
    double mass_ratio;
    int32_t loops;
} SuiteRow;

static const SuiteRow suite[] = {
    {"box_on_plane", false, false, 1, 0, 0, 0, 0, 1.0, 0},
    {"boxes_fixed", false, false, 2, 1, 0, 0, 6, 1e4, 0},
    {"nunchaku", false, false, 3, 2, 0, 6, 6, 1.0, 0},
    {"fourbar_fixed", true, false, 4, 5, 1, -1, 26, 1.0, 1},
    {"fourbar_free", false, false, 4, 4, 2, 2, 20, 1.0, 1},
    {"arm7d", true, true, 8, 8, 7, 0, 41, 19.54, 0},
    {"quadruped", false, true, 13, 12, 12, 0, 60, 29.07, 0},
    {"bdx", false, true, 15, 14, 14, 0, 70, 42.49, 0},
    {"lima", false, true, 21, 20, 20, 0, 100, 321.39, 0},
    {"misha", true, true, 22, 24, 23, 0, 121, 90.67, 2},
    {"walker", false, true, 31, 36, 24, 12, 180, 99.55, 6},
    {"gazelle", true, true, 38, 45, 22, -1, 214, 1012.54, -1},
    {"ironman", true, true, 54, 67, 20, -1, 304, 25544.44, -1},
};
enum { SUITE_SIZE = sizeof suite / sizeof suite[0] };

static KlScene *load_scene(const char *id) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.json", KL_SCENES, id);
    KlScene *scene;
    assert_ok(kl_scene_load(path, NULL, &scene));
    return scene;
}

static void every_scene_keeps_the_counts_of_the_benchmark_suite(void **state) {
    (void)state;
    for (int32_t i = 0; i < SUITE_SIZE; i++) {
        const SuiteRow *row = &suite[i];
        KlScene *scene = load_scene(row->id);
        KlModelInfo info;
        kl_model_info(kl_scene_model(scene), &info);
        assert_string_equal(kl_scene_id(scene), row->id);
        assert_int_equal(kl_scene_surrogate(scene), row->surrogate);
        assert_int_equal(info.fixed_base, row->fixed_base);
        assert_int_equal(info.bodies, row->bodies);
        assert_int_equal(info.joints, row->joints);
        assert_int_equal(info.actuated_dofs, row->actuated);
        assert_int_equal(info.joint_rows, row->rows);
        assert_int_equal(info.joint_rows + info.actuated_dofs + info.passive_dofs, 6 * info.joints);
        if (row->passive >= 0) {
            assert_int_equal(info.passive_dofs, row->passive);
        }
        if (row->loops >= 0) {
            assert_int_equal(info.loops, row->loops);
        }
        assert_near(info.mass_ratio, row->mass_ratio, 0.005);  // the table has two decimals
        kl_scene_destroy(scene);
    }
}

// Largest distance and angle by which the two frames of a joint differ in the directions it
// forbids.
static double joint_gap(const KlModel *model, const KlJointDef *joint) {
    double base[7], follower[7], relative[7];
    if (joint->base >= 0) {
        kl_pose_mul(model->bodies[joint->base].pose, joint->base_frame, base);
    } else {
        memcpy(base, joint->base_frame, sizeof base);
    }
    kl_pose_mul(model->bodies[joint->follower].pose, joint->follower_frame, follower);
    kl_pose_relative(base, follower, relative);
    const double *p = relative, *q = relative + 3;
    double gap = 0.0;
    for (int32_t k = 0; k < 3; k++) {
        bool slides = joint->kind == KL_JOINT_CARTESIAN || (joint->kind == KL_JOINT_PLANAR && k < 2) ||
                      ((joint->kind == KL_JOINT_PRISMATIC || joint->kind == KL_JOINT_CYLINDRICAL) && k == 0);
        gap = fmax(gap, slides ? 0.0 : fabs(p[k]));
        bool turns = joint->kind == KL_JOINT_SPHERICAL || joint->kind == KL_JOINT_GIMBAL ||
                     ((joint->kind == KL_JOINT_REVOLUTE || joint->kind == KL_JOINT_CYLINDRICAL) && k == 0) ||
                     (joint->kind == KL_JOINT_PLANAR && k == 2) || joint->kind == KL_JOINT_UNIVERSAL;
        gap = fmax(gap, turns ? 0.0 : 2.0 * fabs(q[1 + k]));
    }
    if (joint->kind == KL_JOINT_UNIVERSAL) {  // x of the base stays at right angles to y of the follower
        double rotation[9];
        kl_quat_to_mat3(q, rotation);
        gap = fmax(gap, fabs(rotation[1]));
    }
    return gap;
}

static void every_joint_is_closed_at_the_start_pose(void **state) {
    (void)state;
    for (int32_t i = 0; i < SUITE_SIZE; i++) {
        KlScene *scene = load_scene(suite[i].id);
        const KlModel *model = kl_scene_model(scene);
        for (int32_t j = 0; j < model->joint_count; j++) {
            double gap = joint_gap(model, &model->joints[j]);
            if (!(gap <= 1e-12)) {
                fail_msg("%s: joint %s is open by %g", suite[i].id, model->joints[j].name, gap);
            }
        }
        kl_scene_destroy(scene);
    }
}

static void every_run_of_every_scene_gives_a_model(void **state) {
    (void)state;
    for (int32_t i = 0; i < SUITE_SIZE; i++) {
        KlScene *scene = load_scene(suite[i].id);
        assert_true(kl_scene_run_count(scene) >= 1);
        for (int32_t r = 0; r < kl_scene_run_count(scene); r++) {
            KlModel *model;
            assert_ok(kl_scene_model_for_run(scene, r, &model));
            KlModelInfo info;
            kl_model_info(model, &info);
            assert_int_equal(info.joint_rows, suite[i].rows);
            assert_int_equal(kl_model_event_count(model), kl_scene_run(scene, r)->event_count);
            kl_model_destroy(model);
        }
        kl_scene_destroy(scene);
    }
}

static void a_scene_written_and_read_again_is_the_same_text(void **state) {
    (void)state;
    for (int32_t i = 0; i < SUITE_SIZE; i++) {
        KlScene *scene = load_scene(suite[i].id), *again;
        char *text, *text_again;
        size_t size, size_again;
        assert_ok(kl_scene_write_json(scene, &text, &size));
        assert_ok(kl_scene_parse(text, size, "written.json", NULL, &again));
        assert_ok(kl_scene_write_json(again, &text_again, &size_again));
        assert_int_equal(size, size_again);
        assert_memory_equal(text, text_again, size);
        const KlModel *a = kl_scene_model(scene), *b = kl_scene_model(again);
        for (int32_t body = 0; body < a->body_count; body++) {  // past the name, a pointer
            assert_memory_equal(&a->bodies[body].mass, &b->bodies[body].mass,
                                sizeof(KlBodyDef) - offsetof(KlBodyDef, mass));
        }
        for (int32_t j = 0; j < a->joint_count; j++) {
            assert_memory_equal(a->joints[j].base_frame, b->joints[j].base_frame, 14 * sizeof(double));
        }
        assert_int_equal(a->exclude_count, b->exclude_count);
        kl_free(text);
        kl_free(text_again);
        kl_scene_destroy(scene);
        kl_scene_destroy(again);
    }
}

// Everything that differs from its default at once.
static void every_field_survives_a_round_trip(void **state) {
    (void)state;
    static const char text[] =
        "{\"schema\": 1, \"id\": \"all\", \"title\": \"All \\u00e9 \\\" \\n\", \"text\": \"t\", "
        "\"surrogate\": true, \"dt\": 0.002,"
        "\"gravity\": [0, 1, -0.1], \"neighbours_collide\": true, \"preset\": \"high-throughput\", "
        "\"solvers\": [\"nbgs\"],"
        "\"settings\": {\"integrator\": \"moreau\", \"margin\": -1e-5, \"detection_distance\": "
        "0.01, \"cull_distance\": 0.02,"
        "  \"max_contacts\": 77, \"stabilization\": {\"joints\": 0.1, \"limits\": 0.2, "
        "\"contacts\": 0.3},"
        "  \"softening\": {\"joints\": {\"d0\": 0.8, \"power\": 3}, \"contacts\": true}},"
        "\"camera\": {\"position\": [1, 2, 3], \"target\": [0, 0.1, 0]},"
        "\"meshes\": [{\"name\": \"m\", \"vertices\": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, "
        "1]], \"triangles\": [[0, 2, 1], [0, 1, 3]]}],"
        "\"references\": [{\"name\": \"r\", \"times\": [0, 0.1, 0.3], \"values\": [[0, 1], [2, 3], "
        "[0.1, 5]]},"
        "  {\"name\": \"s\", \"loop\": true, \"step\": 0.1, \"values\": [0, 1, 0]}],"
        "\"bodies\": [{\"name\": \"a\", \"mass\": 0.1, \"inertia\": [[1, 0.1, 0], [0.1, 1, 0.2], "
        "[0, 0.2, 1.1]], \"position\": [0.1, 0.2, 0.3],"
        "  \"orientation\": {\"axis\": [1, 2, 3], \"angle\": 0.7}, \"twist\": [1, 2, 3, 4, 5, "
        "-0.0], \"geoms\": ["
        "  {\"type\": \"convex\", \"mesh\": \"m\", \"friction\": 0.3, \"restitution\": 0.5, "
        "\"group\": 4, \"mask\": 6, \"color\": [0.1, 0.2, 0.3]},"
        "  {\"type\": \"capsule\", \"size\": [0.1, 0.2], \"visual_only\": true, \"position\": [0, "
        "0, 1]}]},"
        "  {\"name\": \"b\", \"mass\": 3, \"inertia\": [1, 1, 1]}, {\"name\": \"c\", \"mass\": 3, "
        "\"inertia\": [1, 1, 1]}],"
        "\"geoms\": [{\"type\": \"plane\", \"friction\": 0}],"
        "\"joints\": [{\"name\": \"j\", \"type\": \"universal\", \"base\": \"a\", \"follower\": "
        "\"b\", \"position\": [0, 0, 1], \"axis\": [1, 1, 0],"
        "  \"limits\": [[null, 1], [-2, null]], \"actuation\": \"pd-implicit\", \"kp\": [1, 2], "
        "\"ki\": 3, \"kd\": 4, \"effort_limit\": [5, null],"
        "  \"armature\": 0.1, \"damping\": [0, 0.2], \"reference\": \"r\", \"target\": [0.1, 0.2]},"
        "  {\"name\": \"k\", \"type\": \"revolute\", \"base\": \"world\", \"follower\": \"c\", "
        "\"base_frame\": {\"position\": [0, 0, 1]},"
        "  \"limits\": [-1, 1], \"actuation\": \"pid\", \"reference\": \"s\"}],"
        "\"exclude\": [[\"a\", \"c\"], [\"world\", \"b\"]], \"pairs\": [{\"geoms\": [\"a/0\", "
        "\"world/0\"], \"friction\": 0.2, \"restitution\": 0.9}],"
        "\"events\": [{\"body\": \"highest\", \"start\": 1, \"end\": 2, \"force\": [1, 2, 3], "
        "\"force_to\": [3, 2, 1], \"torque\": [0, 0, 1],"
        "  \"point\": [0.1, 0, 0]}],"
        "\"runs\": [{\"id\": \"x\", \"title\": \"X\", \"text\": \"y\", \"duration\": 3, \"dt\": "
        "0.004, \"settings\": {\"softening\": false},"
        "  \"events\": [], \"bodies\": {\"b\": {\"mass\": 2, \"position\": [0, 1, 0], "
        "\"orientation\": [0, 1, 0, 0], \"twist\": [0, 0, 0, 0, 0, 1]}},"
        "  \"actuated\": false, \"preset\": \"high-precision\", \"max_iterations\": 7, "
        "\"tolerance\": 1e-5}, {\"id\": \"z\"}]}";
    KlScene *scene, *again;
    char *first, *second;
    size_t first_size, second_size;
    assert_ok(kl_scene_parse(text, sizeof text - 1, "all.json", NULL, &scene));
    assert_ok(kl_scene_write_json(scene, &first, &first_size));
    assert_ok(kl_scene_parse(first, first_size, "written.json", NULL, &again));
    assert_ok(kl_scene_write_json(again, &second, &second_size));
    assert_string_equal(first, second);
    const KlModel *a = kl_scene_model(scene), *b = kl_scene_model(again);
    assert_memory_equal(&a->settings, &b->settings, sizeof a->settings);
    for (int32_t i = 0; i < a->joint_count; i++) {  // from the kind to the end: no pointers
        assert_memory_equal(&a->joints[i].kind, &b->joints[i].kind, sizeof(KlJointDef) - offsetof(KlJointDef, kind));
    }
    for (int32_t i = 0; i < a->geom_count; i++) {
        assert_memory_equal(a->geoms[i].pose, b->geoms[i].pose, sizeof a->geoms[i].pose);
        assert_near(a->geoms[i].friction, b->geoms[i].friction, 0.0);
        assert_near(a->geoms[i].restitution, b->geoms[i].restitution, 0.0);
        assert_int_equal(a->geoms[i].group, b->geoms[i].group);
        assert_int_equal(a->geoms[i].mask, b->geoms[i].mask);
        assert_int_equal(a->geoms[i].visual_only, b->geoms[i].visual_only);
        assert_memory_equal(a->geoms[i].color, b->geoms[i].color, sizeof a->geoms[i].color);
    }
    assert_memory_equal(a->bodies[0].inertia, b->bodies[0].inertia, sizeof a->bodies[0].inertia);
    assert_memory_equal(a->bodies[0].twist, b->bodies[0].twist, sizeof a->bodies[0].twist);
    assert_memory_equal(kl_model_event(a, 0), kl_model_event(b, 0), sizeof(KlForceEvent));
    assert_memory_equal(a->pairs, b->pairs, sizeof *a->pairs);
    assert_int_equal(a->exclude_count, b->exclude_count);
    const KlRunDef *x = kl_scene_run(scene, 0), *y = kl_scene_run(again, 0);
    assert_memory_equal(&x->settings, &y->settings, sizeof x->settings);
    assert_int_equal(x->max_iterations, y->max_iterations);
    assert_near(x->tolerance, y->tolerance, 0.0);
    assert_string_equal(kl_scene_title(again), "All \u00e9 \" \n");
    KlModel *run_a, *run_b;
    assert_ok(kl_scene_model_for_run(scene, 0, &run_a));
    assert_ok(kl_scene_model_for_run(again, 0, &run_b));
    assert_memory_equal(&run_a->bodies[1].mass, &run_b->bodies[1].mass, sizeof(KlBodyDef) - offsetof(KlBodyDef, mass));
    assert_int_equal(run_b->joints[0].actuation, KL_ACTUATION_PASSIVE);
    assert_int_equal(run_b->event_count, 0);
    kl_model_destroy(run_a);
    kl_model_destroy(run_b);
    kl_free(first);
    kl_free(second);
    kl_scene_destroy(scene);
    kl_scene_destroy(again);
}

static void the_four_bar_is_a_square_of_tenth_metre_links(void **state) {
    (void)state;
    KlScene *scene = load_scene("fourbar_free");
    const KlModel *model = kl_scene_model(scene);
    for (int32_t b = 0; b < 4; b++) {
        const KlBodyDef *body = kl_model_body(model, b);
        double side = (0.01 * 0.01 + 0.1 * 0.1) / 12.0, along = 2.0 * 0.01 * 0.01 / 12.0;
        assert_near(body->inertia[0], side, 1e-15);
        assert_near(body->inertia[4], side, 1e-15);
        assert_near(body->inertia[8], along, 1e-15);
    }
    assert_near(model->bodies[0].pose[2], 0.1, 0.0);
    for (int32_t j = 0; j < 4; j++) {
        assert_near(model->joints[j].lower[0], -0.7853981633974483, 0.0);
        assert_near(model->joints[j].upper[0], 0.7853981633974483, 0.0);
        assert_near(fabs(model->joints[j].base_frame[2]), 0.05, 1e-15);
    }
    assert_true(kl_model_excludes(model, 0, 1));
    assert_false(kl_model_excludes(model, 0, 2));
    assert_int_equal(kl_model_event(model, 0)->body, KL_BODY_HIGHEST);
    kl_scene_destroy(scene);
}

static void a_run_with_a_heavy_link_scales_its_inertia(void **state) {
    (void)state;
    KlScene *scene = load_scene("fourbar_free");
    KlModel *model;
    int32_t run = kl_scene_find_run(scene, "mass_ratio_stabilized");
    assert_true(run >= 0);
    assert_ok(kl_scene_model_for_run(scene, run, &model));
    const KlBodyDef *right = kl_model_body(model, kl_model_find_body(model, "right"));
    assert_near(right->mass, 1000.0, 0.0);
    assert_near(right->inertia[0], 1000.0 * (0.01 * 0.01 + 0.1 * 0.1) / 12.0, 1e-12);
    assert_near(kl_model_settings(model)->baumgarte_joint, 0.1, 0.0);
    assert_near(kl_model_event(model, 0)->from[1], -1003.0 * 9.81, 1e-9);
    kl_model_destroy(model);
    kl_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scene_keeps_the_counts_of_the_benchmark_suite),
        cmocka_unit_test(every_joint_is_closed_at_the_start_pose),
        cmocka_unit_test(every_run_of_every_scene_gives_a_model),
        cmocka_unit_test(a_scene_written_and_read_again_is_the_same_text),
        cmocka_unit_test(every_field_survives_a_round_trip),
        cmocka_unit_test(the_four_bar_is_a_square_of_tenth_metre_links),
        cmocka_unit_test(a_run_with_a_heavy_link_scales_its_inertia),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
