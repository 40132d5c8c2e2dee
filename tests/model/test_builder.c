// The builder by its public interface: what it refuses, what it derives.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/model.h"
#include "support.h"

static KlBuilder *new_builder(void) {
    KlBuilder *builder;
    assert_ok(kl_builder_create(&builder));
    return builder;
}

static void add_bodies(KlBuilder *builder, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", (int)i);
        KlBodyDef def;
        kl_default_body_def(&def);
        def.name = name;
        def.mass = 1.0 + i;
        assert_ok(kl_builder_add_body(builder, &def, NULL));
    }
}

static void add_joint(KlBuilder *builder, KlJointKind kind, int32_t base, int32_t follower) {
    char name[32];
    snprintf(name, sizeof name, "j_%d_%d_%d", (int)kind, (int)base, (int)follower);
    KlJointDef def;
    kl_default_joint_def(&def);
    def.name = name;
    def.kind = kind;
    def.base = base;
    def.follower = follower;
    assert_ok(kl_builder_add_joint(builder, &def, NULL));
}

static void every_joint_kind_has_six_freedoms_split_in_two(void **state) {
    (void)state;
    for (int32_t kind = 0; kind < KL_JOINT_KIND_COUNT; kind++) {
        const KlJointInfo *info = kl_joint_kind((KlJointKind)kind);
        KlJointKind found;
        assert_ok(kl_joint_kind_find(info->id, &found));
        assert_int_equal(found, kind);
        assert_true(info->dofs >= 0 && info->dofs <= 3);
    }
    KlJointKind found;
    assert_fails(kl_joint_kind_find("hinge", &found), KL_ERR_NOT_FOUND, "revolute");
    assert_null(kl_joint_kind((KlJointKind)99));
}

static void a_body_with_impossible_mass_or_inertia_is_refused(void **state) {
    (void)state;
    KlBuilder *builder = new_builder();
    const double masses[] = {0.0, -1.0, (double)NAN, (double)INFINITY};
    KlBodyDef def;
    for (size_t i = 0; i < 4; i++) {
        kl_default_body_def(&def);
        def.name = "a";
        def.mass = masses[i];
        assert_fails(kl_builder_add_body(builder, &def, NULL), KL_ERR_SCENE, "bodies[0].mass: must be > 0 and finite");
    }
    const double tensors[][9] = {
        {1, 0, 0, 0, 1, 0, 0, 0, (double)NAN}, {1, 2, 0, 2, 1, 0, 0, 0, 1},   {1, 0, 0, 0, 1, 0, 0, 0, 0},
        {1, 0.5, 0, 0, 1, 0, 0, 0, 1},         {1, 0, 0, 0, 1, 0, 0, 0, 2.1},
    };
    const char *const reasons[] = {"finite", "positive definite", "positive definite", "symmetric", "triangle"};
    for (size_t i = 0; i < 5; i++) {
        kl_default_body_def(&def);
        def.name = "a";
        memcpy(def.inertia, tensors[i], sizeof def.inertia);
        assert_fails(kl_builder_add_body(builder, &def, NULL), KL_ERR_SCENE, reasons[i]);
    }
    kl_builder_destroy(builder);
}

static void a_quaternion_is_mended_within_1e_6_and_refused_beyond(void **state) {
    (void)state;
    KlBuilder *builder = new_builder();
    KlBodyDef def;
    kl_default_body_def(&def);
    def.name = "near";
    def.pose[3] = 1.0 + 5e-7;
    assert_ok(kl_builder_add_body(builder, &def, NULL));
    def.name = "far";
    def.pose[3] = 1.0 + 2e-6;
    assert_fails(kl_builder_add_body(builder, &def, NULL), KL_ERR_SCENE, "unit quaternion");
    KlModel *model;
    assert_ok(kl_builder_finish(builder, &model));
    assert_near(kl_model_body(model, 0)->pose[3], 1.0, 0.0);
    kl_model_destroy(model);
    kl_builder_destroy(builder);
}

static void loops_are_counted_with_the_world_as_a_node(void **state) {
    (void)state;
    KlBuilder *builder = new_builder();
    add_bodies(builder, 5);
    for (int32_t i = 0; i < 4; i++) {
        add_joint(builder, KL_JOINT_REVOLUTE, i, (i + 1) % 4);  // one loop
    }
    add_joint(builder, KL_JOINT_FIXED, -1, 0);
    add_joint(builder, KL_JOINT_SPHERICAL, -1, 2);  // a second one, through the world
    KlModel *model;
    assert_ok(kl_builder_finish(builder, &model));
    KlModelInfo info;
    kl_model_info(model, &info);
    assert_int_equal(info.loops, 2);
    assert_int_equal(info.joint_rows, 4 * 5 + 6 + 3);
    assert_int_equal(info.passive_dofs, 4 + 3);
    assert_true(info.fixed_base);
    assert_near(info.mass_ratio, 5.0, 0.0);
    assert_near(info.total_mass, 15.0, 0.0);
    assert_near(info.total_inertia, 3.0 * 15.0 + 5.0 * 3.0, 1e-12);
    assert_int_equal(model->joint_row_start[5], 26);
    kl_model_destroy(model);
    kl_builder_destroy(builder);
}

static void joined_bodies_do_not_touch_unless_asked(void **state) {
    (void)state;
    for (int32_t collide = 0; collide < 2; collide++) {
        KlBuilder *builder = new_builder();
        add_bodies(builder, 3);
        add_joint(builder, KL_JOINT_REVOLUTE, 1, 0);
        assert_ok(kl_builder_set_neighbours_collide(builder, collide == 1));
        assert_ok(kl_builder_exclude(builder, 2, 1));
        assert_ok(kl_builder_exclude(builder, 1, 2));
        KlModel *model;
        assert_ok(kl_builder_finish(builder, &model));
        assert_int_equal(kl_model_excludes(model, 0, 1), collide == 0);
        assert_int_equal(kl_model_excludes(model, 1, 0), collide == 0);
        assert_true(kl_model_excludes(model, 1, 2));
        assert_false(kl_model_excludes(model, 0, 2));
        assert_false(kl_model_excludes(model, -1, 0));
        kl_model_destroy(model);
        kl_builder_destroy(builder);
    }
}

static void a_pair_overrides_the_mean_of_the_frictions(void **state) {
    (void)state;
    KlBuilder *builder = new_builder();
    add_bodies(builder, 1);
    const double frictions[] = {0.4, 0.9, 0.5};
    for (int32_t g = 0; g < 3; g++) {
        char name[8];
        snprintf(name, sizeof name, "g%d", (int)g);
        KlGeomDef def;
        kl_default_geom_def(&def);
        def.name = name;
        def.body = g == 0 ? 0 : -1;
        def.friction = frictions[g];
        def.restitution = 0.1 * g;
        assert_ok(kl_builder_add_geom(builder, &def, NULL));
    }
    assert_ok(kl_builder_pair(builder, 2, 0, 0.05, 0.8));
    KlModel *model;
    assert_ok(kl_builder_finish(builder, &model));
    double friction, restitution;
    kl_model_material(model, 0, 1, &friction, &restitution);
    assert_near(friction, 0.6, 1e-15);
    assert_near(restitution, 0.1, 1e-15);
    kl_model_material(model, 0, 2, &friction, &restitution);
    assert_near(friction, 0.05, 0.0);
    assert_near(restitution, 0.8, 0.0);
    assert_true(kl_model_settings(model)->max_contacts > 0);
    kl_model_destroy(model);
    kl_builder_destroy(builder);
}

static void what_does_not_exist_cannot_be_named(void **state) {
    (void)state;
    KlBuilder *builder = new_builder();
    add_bodies(builder, 2);
    KlJointDef joint;
    kl_default_joint_def(&joint);
    joint.name = "j";
    joint.follower = 2;
    assert_fails(kl_builder_add_joint(builder, &joint, NULL), KL_ERR_SCENE,
                 "joints[0].follower: body 2 does not exist");
    joint.base = -2;
    assert_fails(kl_builder_add_joint(builder, &joint, NULL), KL_ERR_SCENE, "joints[0].base");
    KlGeomDef geom;
    kl_default_geom_def(&geom);
    geom.name = "g";
    geom.kind = KL_GEOM_CONVEX;
    assert_fails(kl_builder_add_geom(builder, &geom, NULL), KL_ERR_SCENE, "mesh -1 does not exist");
    KlForceEvent event;
    kl_default_force_event(&event);
    event.body = -1;
    assert_fails(kl_builder_add_event(builder, &event), KL_ERR_SCENE, "events[0].body");
    event.body = KL_BODY_HIGHEST;
    assert_ok(kl_builder_add_event(builder, &event));
    assert_fails(kl_builder_exclude(builder, 0, 0), KL_ERR_SCENE, "two different bodies");
    assert_fails(kl_builder_pair(builder, 0, 1, 0.5, 0.0), KL_ERR_SCENE, "two different geoms");
    kl_builder_destroy(builder);
}

static void a_finished_builder_takes_no_more(void **state) {
    (void)state;
    KlBuilder *builder = new_builder();
    KlModel *model;
    assert_fails(kl_builder_finish(builder, &model), KL_ERR_SCENE, "at least one body");
    add_bodies(builder, 1);
    assert_ok(kl_builder_finish(builder, &model));
    KlModel *second;
    assert_fails(kl_builder_finish(builder, &second), KL_ERR_ARGUMENT, "finished");
    kl_builder_destroy(builder);
    assert_string_equal(kl_model_body(model, 0)->name, "b0");  // the model lives on its own
    assert_null(kl_model_body(model, 1));
    assert_int_equal(kl_model_find_body(model, "b0"), 0);
    assert_int_equal(kl_model_find_body(model, "b1"), -1);
    kl_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_joint_kind_has_six_freedoms_split_in_two),
        cmocka_unit_test(a_body_with_impossible_mass_or_inertia_is_refused),
        cmocka_unit_test(a_quaternion_is_mended_within_1e_6_and_refused_beyond),
        cmocka_unit_test(loops_are_counted_with_the_world_as_a_node),
        cmocka_unit_test(joined_bodies_do_not_touch_unless_asked),
        cmocka_unit_test(a_pair_overrides_the_mean_of_the_frictions),
        cmocka_unit_test(what_does_not_exist_cannot_be_named),
        cmocka_unit_test(a_finished_builder_takes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
