// The paper's four-bar experiment: the linkage falls, leans over, locks at its joint limits, is pushed
// out of its plane at 10 s and ends flat on the ground with all sixteen corners.
#include "scene_run.h"

static void the_fourbar_falls_leans_locks_and_ends_flat(void **state) {
    (void)state;
    static const char *const runs[] = {"stabilized", "softened_stabilized"};
    for (int32_t k = 0; k < 2; k++) {
        SceneRun r = scene_start("fourbar_free", runs[k], "admm-ncp-fp");
        const double *pose = scene_field(&r, "pose"), *q = scene_field(&r, "joint_position");
        double half_pi = 1.5707963267948966, tolerance = k == 0 ? 1e-6 : 5e-3;  // softening gives way
        scene_run_until(&r, 1.0);
        assert_near(pose[2 * 7 + 2] - pose[2], 0.1, 10.0 * tolerance);  // upright on the base link
        scene_run_until(&r, 9.9);
        for (int32_t j = 0; j < 4; j++) {
            assert_near(fabs(q[j]), 0.5 * half_pi, tolerance);
        }
        assert_true(kl_sim_metric(r.sim, "n_l") >= 1);
        assert_int_equal(kl_sim_metric(r.sim, "n_c"), 4);
        scene_run_until(&r, 15.0);
        assert_int_equal(kl_sim_metric(r.sim, "n_c"), 16);
        for (int32_t i = 0; i < 4; i++) {
            assert_near(pose[7 * i + 2], 0.005, 1e-4);
        }
        assert_near(kl_sim_metric(r.sim, "kinetic_energy"), 0.0, 1e-9);
        assert_true(kl_sim_metric(r.sim, "r_pen_joints") < 1e-6);
        scene_end(&r);
    }
}

// Without stabilisation: joints open by a fraction of a millimetre and hold corners above the plane by
// as much. Contacts detected 1 mm ahead close to within a micrometre, the report's margin, and are all
// sixteen; detected by touch alone they are some, and the links no less flat.
static void without_stabilisation_it_ends_flat_too(void **state) {
    (void)state;
    static const struct {
        const char *scene, *run, *solver;
        double least_contacts, depth;
    } cases[] = {{"experiments/fourbar_foreseen", "foreseen", "newton-ncp", 16, 1e-6},
                 {"experiments/fourbar_foreseen", "foreseen", "admm-ncp-plus", 16, 1e-6},
                 {"fourbar_free", "hard", "newton-ncp", 3, 1e-3}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        SceneRun r = scene_start(cases[k].scene, cases[k].run, cases[k].solver);
        const double *pose = scene_field(&r, "pose");
        scene_run_until(&r, 9.9);
        assert_true(kl_sim_metric(r.sim, "n_l") == 4);
        scene_run_until(&r, 15.0);
        assert_true(kl_sim_metric(r.sim, "n_c") >= cases[k].least_contacts);
        assert_true(kl_sim_metric(r.sim, "r_pen_contacts") <= cases[k].depth);
        for (int32_t i = 0; i < 4; i++) {
            assert_near(pose[7 * i + 2], 0.005, 1e-3);
        }
        assert_near(kl_sim_metric(r.sim, "kinetic_energy"), 0.0, 1e-9);
        scene_end(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_fourbar_falls_leans_locks_and_ends_flat),
                                       cmocka_unit_test(without_stabilisation_it_ends_flat_too)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
