// The ends of the simulation's range: masses, counts, coincident bodies, contradictory limits, loops that
// cannot close, silly steps. Each has a stated outcome; none crashes, hangs or lies.
#include "world.h"

static void raise(double x, double z, double pose[7]) { rotation_pose(x, 0.0, z, NULL, pose); }

static const double ground[7] = {0, 0, 0, 1, 0, 0, 0};

static void assert_finite_state(const World *w) {
    const KlField *pose = kl_sim_find_field(w->sim, "pose"), *twist = kl_sim_find_field(w->sim, "twist");
    for (int32_t i = 0; i < 7 * pose->rows; i++) {
        assert_true(isfinite(((const double *)pose->data)[i]));
    }
    for (int32_t i = 0; i < 6 * twist->rows; i++) {
        assert_true(isfinite(((const double *)twist->data)[i]));
    }
}

// A step ends well, or says that its solve diverged or needs more contacts; the state is finite either way.
static void step_or_tell(World *w) {
    KlStatus status = kl_sim_step(w->sim);
    assert_true(status == KL_OK || status == KL_ERR_DIVERGED || status == KL_ERR_LIMIT);
    assert_finite_state(w);
}

// A ball of any mass falls and rests alike: nothing in a step depends on the unit of mass.
static void masses_of_twelve_decades_fall_and_rest_alike(void **state) {
    (void)state;
    double reference = 0.0;
    for (double mass = 1e-12; mass < 2e12; mass *= 1e4) {
        World w = world_new();
        double pose[7];
        raise(0.0, 0.15, pose);
        int32_t ball = world_sphere(&w, mass, 0.1, pose, NULL, 0.0);
        world_plane(&w, ground);
        world_start(&w, "newton-ncp");
        world_run(&w, 0.5);
        double height = world_pose(&w, ball)[2];
        reference = reference > 0.0 ? reference : height;
        assert_near(height, reference, 1e-9);
        assert_near(world_twist(&w, ball)[2], 0.0, 1e-9);
        world_free(&w);
    }
    assert_near(reference, 0.1, 1e-3);
}

// A joint between 1e-6 and 1e6 kg is held by every solver without a value that is not finite.
static void a_joint_across_twelve_decades_of_mass_stays_finite(void **state) {
    (void)state;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        World w = world_new();
        double top[7], bottom[7], at[7];
        raise(0.0, 0.3, top);
        raise(0.0, 0.1, bottom);
        raise(0.0, 0.2, at);
        int32_t heavy = world_box(&w, 1e6, 0.2, 0.2, 0.2, top, NULL);
        int32_t light = world_box(&w, 1e-6, 0.2, 0.2, 0.2, bottom, NULL);
        KlJointDef joint;
        joint_at(&joint, "weld", KL_JOINT_FIXED, light, bottom, heavy, top, at);
        world_joint(&w, &joint);
        world_plane(&w, ground);
        world_start(&w, kl_solver_kind(k)->id);
        assert_ok(kl_solver_set(kl_sim_solver(w.sim), "max_iterations", 200.0));
        for (int i = 0; i < 50; i++) {
            step_or_tell(&w);
        }
        world_free(&w);
    }
}

// Two boxes in the same place: there are contacts or none, and they part or stay, but all is finite.
static void coincident_bodies_are_survived(void **state) {
    (void)state;
    static const KlGeomKind kinds[] = {KL_GEOM_SPHERE, KL_GEOM_BOX};
    for (int k = 0; k < 2; k++) {
        World w = world_new();
        double pose[7];
        raise(0.0, 1.0, pose);
        for (int i = 0; i < 3; i++) {
            if (kinds[k] == KL_GEOM_SPHERE) {
                world_sphere(&w, 1.0, 0.1, pose, NULL, 0.0);
            } else {
                world_box(&w, 1.0, 0.2, 0.2, 0.2, pose, NULL);
            }
        }
        w.settings.baumgarte_contact = 0.2;
        world_start(&w, "newton-ncp");
        for (int i = 0; i < 200; i++) {
            assert_ok(kl_sim_step(w.sim));
            assert_finite_state(&w);
        }
        world_free(&w);
    }
}

// A pendulum whose joint is also welded: the loop is redundant and at odds with gravity, not with itself.
// A second weld half a metre away cannot be met: closing says how far it got.
static void a_loop_that_cannot_close_says_how_far_it_came(void **state) {
    (void)state;
    World w = world_new();
    double pose[7], here[7], there[7];
    raise(0.0, 0.0, pose);
    raise(0.0, 0.5, here);
    raise(0.5, 0.5, there);
    int32_t box = world_box(&w, 1.0, 0.1, 0.1, 1.0, pose, NULL);
    KlJointDef joint;
    joint_at(&joint, "pin", KL_JOINT_SPHERICAL, -1, NULL, box, pose, here);
    world_joint(&w, &joint);
    joint_at(&joint, "far", KL_JOINT_SPHERICAL, -1, NULL, box, pose, here);
    memcpy(joint.base_frame, there, sizeof there);
    world_joint(&w, &joint);
    w.settings.baumgarte_joint = 0.1;
    world_start(&w, "newton-ncp");
    KlAssembly assembly;
    KlStatus status = kl_sim_assemble(w.sim, 1e-9, &assembly);
    assert_int_not_equal(status, KL_OK);
    assert_true(kl_last_error()->message[0] != '\0');
    for (int i = 0; i < 200; i++) {  // and a run goes on, torn between the two
        assert_ok(kl_sim_step(w.sim));
        assert_finite_state(&w);
    }
    assert_true(kl_sim_metric(w.sim, "r_pen_joints") > 0.2);
    world_free(&w);
}

// Limits that the joints before them cannot meet: every solver ends with a class and finite numbers.
static void contradictory_limits_end_with_a_class(void **state) {
    (void)state;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        World w = world_new();
        double pose[7], at[7];
        raise(0.0, 0.0, pose);
        raise(0.0, 0.5, at);
        int32_t box = world_box(&w, 1.0, 0.1, 0.1, 1.0, pose, NULL);
        KlJointDef joint;
        joint_at(&joint, "hinge", KL_JOINT_REVOLUTE, -1, NULL, box, pose, at);
        joint.lower[0] = 0.2;  // the weld below holds it at 0
        joint.upper[0] = 0.3;
        world_joint(&w, &joint);
        joint_at(&joint, "weld", KL_JOINT_FIXED, -1, NULL, box, pose, at);
        world_joint(&w, &joint);
        w.settings.baumgarte_limit = w.settings.baumgarte_joint = 0.1;
        world_start(&w, kl_solver_kind(k)->id);
        assert_ok(kl_solver_set(kl_sim_solver(w.sim), "max_iterations", 300.0));
        for (int i = 0; i < 20; i++) {
            step_or_tell(&w);
        }
        world_free(&w);
    }
}

static void steps_of_no_length_or_none_at_all_are_refused(void **state) {
    (void)state;
    static const double silly[] = {0.0, -1e-3, NAN, INFINITY};
    for (size_t i = 0; i < sizeof silly / sizeof silly[0]; i++) {
        World w = world_new();
        w.settings.dt = silly[i];
        assert_fails(kl_builder_set_settings(w.builder, &w.settings), KL_ERR_SCENE, "dt");
        world_free(&w);
    }
}

// The shortest and the longest step that is accepted still gives numbers or says that it cannot.
static void extreme_steps_stay_finite(void **state) {
    (void)state;
    static const double lengths[] = {1e-12, 1e-6, 0.1, 10.0, 1e6};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        World w = world_new();
        double pose[7];
        raise(0.0, 0.1, pose);
        world_box(&w, 1.0, 0.2, 0.2, 0.2, pose, (const double[6]){0.1, 0, 0, 0, 3.0, 0});
        world_plane(&w, ground);
        w.settings.dt = lengths[i];
        if (kl_builder_set_settings(w.builder, &w.settings) == KL_OK) {
            world_start(&w, "newton-ncp");
            for (int k = 0; k < 20; k++) {
                step_or_tell(&w);
            }
        }
        world_free(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masses_of_twelve_decades_fall_and_rest_alike),
        cmocka_unit_test(a_joint_across_twelve_decades_of_mass_stays_finite),
        cmocka_unit_test(coincident_bodies_are_survived),
        cmocka_unit_test(a_loop_that_cannot_close_says_how_far_it_came),
        cmocka_unit_test(contradictory_limits_end_with_a_class),
        cmocka_unit_test(steps_of_no_length_or_none_at_all_are_refused),
        cmocka_unit_test(extreme_steps_stay_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
