// The suite's primitives from scene file to state, through every stage, with a splitting and an ADMM solver.
#include "scene_run.h"

static const char *const solvers[] = {"pgs-ncp", "admm-ncp-fp"};

static void the_box_on_the_plane_stays_until_it_is_pushed_hard_enough(void **state) {
    (void)state;
    for (int32_t s = 0; s < 2; s++) {
        SceneRun r = scene_start("box_on_plane", "hard", solvers[s]);
        scene_run_until(&r, 4.9);
        const double *pose = scene_field(&r, "pose");
        assert_near(pose[0], 0.0, 1e-6);
        assert_near(pose[2], 0.1, 1e-5);
        scene_run_until(&r, 5.5);
        assert_true(pose[0] > 1e-3);
        scene_end(&r);
    }
}

static void the_fourbar_falls_on_its_base_link_and_keeps_its_loop(void **state) {
    (void)state;
    for (int32_t s = 0; s < 2; s++) {
        SceneRun r = scene_start("fourbar_free", "stabilized", solvers[s]);
        kl_solver_set(kl_sim_solver(r.sim), "max_iterations", 1000);
        scene_run_until(&r, 0.1);
        double fallen = 0.5 * 9.81 * 0.1 * (0.1 + 1e-3);  // semi-implicit Euler, still in the air
        assert_near(scene_field(&r, "pose")[2], 0.1 - fallen, 1e-9);
        scene_run_until(&r, 0.4);
        assert_near(scene_field(&r, "pose")[2], 0.005, 1e-4);
        assert_near(scene_field(&r, "pose")[2 * 7 + 2], 0.105, 1e-3);
        assert_int_equal(kl_sim_metric(r.sim, "n_c"), 4);
        assert_true(kl_sim_metric(r.sim, "r_pen_joints") < 1e-3);
        assert_true(kl_sim_metric(r.sim, "internal_share") >= 0.0);
        scene_end(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_box_on_the_plane_stays_until_it_is_pushed_hard_enough),
        cmocka_unit_test(the_fourbar_falls_on_its_base_link_and_keeps_its_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
