// Contact against closed forms: Coulomb's law, restitution, rolling, and what must not matter.
#include "world.h"

static const double g = 9.81, mu = 0.7;

static World box_on_ground(double mass) {
    World w = world_new();
    double ground[7], pose[7];
    rotation_pose(0, 0, 0, NULL, ground);
    rotation_pose(0, 0, 0.1, NULL, pose);
    w.settings.detection_distance = 1e-3;
    world_plane(&w, ground);
    world_box(&w, mass, 0.2, 0.2, 0.2, pose, NULL);
    return w;
}

// Force on the centre of mass along x from `from` to `to` [N] within [start, end).
static void add_push(World *w, double start, double end, double from, double to) {
    KlForceEvent event;
    kl_default_force_event(&event);
    event.body = 0;
    event.start = start;
    event.end = end;
    event.from[0] = from;
    event.to[0] = to;
    assert_ok(kl_builder_add_event(w->builder, &event));
}

static void a_box_sticks_below_mu_m_g_and_slips_above(void **state) {
    (void)state;
    static const char *const solvers[] = {"admm-ncp-fp", "pgs-ncp"};
    for (int32_t s = 0; s < 2; s++) {
        for (int32_t above = 0; above < 2; above++) {
            World w = box_on_ground(1.0);
            double force = (above ? 1.05 : 0.95) * mu * g;
            add_push(&w, 0.0, 1.0, force, force);
            world_start(&w, solvers[s]);
            world_run(&w, 0.2);
            double v = above ? 0.05 * mu * g * 0.2 : 0.0;
            assert_near(world_twist(&w, 0)[0], v, 1e-8);
            const int32_t *mode = kl_sim_find_field(w.sim, "contact_mode")->data;
            assert_int_equal(kl_sim_metric(w.sim, "n_c"), 4);
            for (int32_t k = 0; k < 4; k++) {
                assert_int_equal(mode[k], above ? KL_MODE_SLIP : KL_MODE_STICK);
            }
            assert_near(world_pose(&w, 0)[2], 0.1, 1e-9);
            world_free(&w);
        }
    }
}

static void contact_forces_carry_the_weight_and_the_push(void **state) {
    (void)state;
    World w = box_on_ground(2.0);
    add_push(&w, 0.0, 1.0, 5.0, 5.0);
    world_start(&w, "admm-ncp-fp");
    world_run(&w, 0.01);
    const double *force = world_field(&w, "contact_force"), *impulse = world_field(&w, "body_impulse");
    double sum[3] = {0};
    for (int32_t k = 0; k < 4; k++) {
        kl_add3(sum, force + 3 * k, sum);
    }
    double expected[3] = {-5.0, 0.0, 2.0 * g}, total[3];
    kl_scale3(1e-3, expected, total);
    assert_near_array(sum, expected, 3, 1e-7);
    assert_near_array(impulse, total, 3, 1e-10);
    world_free(&w);
}

// The experiment of box_on_plane: the push grows to 2 mu m g within six seconds, then ends. In steps of
// dt the box gains dt mu g (j dt)/3 in step j of the N that slip, and loses mu g dt in each later one:
//   x = (mu g/3) dt^3 (N^3 - N)/6 + dt (m v - mu g dt m (m + 1)/2),  v = (mu g/3) dt^2 N (N - 1)/2,
// m = floor(v / (mu g dt)).
static void a_pushed_box_stops_where_coulombs_law_says(void **state) {
    (void)state;
    World w = box_on_ground(1.0);
    const double dt = 1e-3, n = 3000.0;
    add_push(&w, 2.0, 8.0, 0.0, 2.0 * mu * g);
    world_start(&w, "admm-ncp-fp");
    world_run(&w, 4.9);
    assert_near(world_pose(&w, 0)[0], 0.0, 1e-9);
    world_run(&w, 10.0 - 4.9);
    double v = mu * g / 3.0 * dt * dt * n * (n - 1.0) / 2.0, m = floor(v / (mu * g * dt));
    double x = mu * g / 3.0 * dt * dt * dt * (n * n * n - n) / 6.0 + dt * (m * v - mu * g * dt * m * (m + 1.0) / 2.0);
    assert_near(world_pose(&w, 0)[0], x, 1e-6);
    assert_near(world_twist(&w, 0)[0], 0.0, 1e-9);
    assert_near(world_pose(&w, 0)[1], 0.0, 1e-6);
    world_free(&w);
}

static void a_ball_rebounds_to_the_square_of_restitution(void **state) {
    (void)state;
    for (int32_t speculative = 0; speculative < 2; speculative++) {
        World w = world_new();
        double ground[7], pose[7];
        rotation_pose(0, 0, 0, NULL, ground);
        rotation_pose(0, 0, 1.1, NULL, pose);
        w.settings.dt = 1e-4;
        w.settings.detection_distance = speculative ? 0.01 : 0.0;
        world_plane(&w, ground);
        world_sphere(&w, 1.0, 0.1, pose, NULL, 0.8);
        world_start(&w, "admm-ncp-fp");
        world_run(&w, 0.46);  // impact at sqrt(2/g) = 0.4515 s
        double highest = 0.0;
        for (int32_t i = 0; i < 4000; i++) {
            assert_ok(kl_sim_step(w.sim));
            double height = world_pose(&w, 0)[2] - 0.1;
            highest = height > highest ? height : highest;
        }
        assert_near(highest, 0.64, 2e-3);  // g dt of the impact speed, 4.43 m/s, and one step's travel
        world_free(&w);
    }
}

static void a_box_on_an_incline_slips_beyond_the_friction_angle(void **state) {
    (void)state;
    for (int32_t steep = 0; steep < 2; steep++) {
        World w = world_new();
        double tangent = (steep ? 1.02 : 0.98) * mu, angle = kl_atan(tangent);
        double turn[3] = {0, angle, 0}, ground[7], pose[7], up[3] = {0, 0, 0.1}, along[3] = {1, 0, 0};
        rotation_pose(0, 0, 0, turn, ground);
        memcpy(pose, ground, sizeof pose);
        kl_quat_rotate(ground + 3, up, pose);
        w.settings.detection_distance = 1e-3;
        world_plane(&w, ground);
        world_box(&w, 3.0, 0.2, 0.2, 0.2, pose, NULL);
        world_start(&w, "admm-ncp-fp");
        world_run(&w, 0.5);
        double downhill[3];
        kl_quat_rotate(ground + 3, along, downhill);
        double speed = kl_dot3(downhill, world_twist(&w, 0));
        double expected = steep ? 0.5 * g * (kl_sin(angle) - mu * kl_cos(angle)) : 0.0;
        assert_near(speed, expected, 1e-7);
        world_free(&w);
    }
}

static void a_sliding_sphere_rolls_at_five_sevenths_of_its_speed(void **state) {
    (void)state;
    World w = world_new();
    double ground[7], pose[7], twist[6] = {2.0, 0, 0, 0, 0, 0};
    rotation_pose(0, 0, 0, NULL, ground);
    rotation_pose(0, 0, 0.1, NULL, pose);
    w.settings.detection_distance = 1e-3;
    world_plane(&w, ground);
    world_sphere(&w, 1.0, 0.1, pose, twist, 0.0);
    world_start(&w, "admm-ncp-fp");
    world_run(&w, 0.5);  // rolls from 2 v / (7 mu g) = 0.083 s on
    assert_near(world_twist(&w, 0)[0], 2.0 * 5.0 / 7.0, 1e-7);
    assert_near(world_twist(&w, 0)[4] * 0.1, 2.0 * 5.0 / 7.0, 1e-7);
    world_free(&w);
}

static void a_heavy_box_rests_on_a_light_one(void **state) {
    (void)state;
    World w = world_new();
    double ground[7], lower[7], upper[7], seam[7];
    rotation_pose(0, 0, 0, NULL, ground);
    rotation_pose(0, 0, 0.1, NULL, lower);
    rotation_pose(0, 0, 0.3, NULL, upper);
    rotation_pose(0, 0, 0.2, NULL, seam);
    w.settings.detection_distance = 1e-3;
    w.settings.baumgarte_contact = w.settings.baumgarte_joint = 0.1;
    world_plane(&w, ground);
    world_box(&w, 1.0, 0.2, 0.2, 0.2, lower, NULL);
    world_box(&w, 100.0, 0.2, 0.2, 0.2, upper, NULL);
    KlJointDef joint;
    joint_at(&joint, "weld", KL_JOINT_FIXED, 0, lower, 1, upper, seam);
    world_joint(&w, &joint);
    world_start(&w, "admm-ncp-la");
    world_run(&w, 0.3);
    assert_near(world_pose(&w, 0)[2], 0.1, 1e-4);
    assert_near(world_pose(&w, 1)[2], 0.3, 1e-4);
    world_free(&w);
}

// ---- biases ------------------------------------------------------------------------------------

static void a_margin_is_the_penetration_that_stays(void **state) {
    (void)state;
    World w = box_on_ground(1.0);
    w.settings.margin = 1e-3;  // contact closes at a gap of -1 mm
    w.settings.baumgarte_contact = 0.1;
    world_start(&w, "admm-ncp-fp");
    world_run(&w, 0.5);
    assert_near(world_pose(&w, 0)[2], 0.099, 1e-6);
    world_free(&w);
}

static void stabilisation_lifts_a_sunken_box_by_its_share_in_one_step(void **state) {
    (void)state;
    World w = world_new();
    double ground[7], pose[7];
    rotation_pose(0, 0, 0, NULL, ground);
    rotation_pose(0, 0, 0.1 - 0.01, NULL, pose);
    w.settings.detection_distance = 1e-3;
    w.settings.baumgarte_contact = 0.1;
    world_plane(&w, ground);
    world_box(&w, 1.0, 0.2, 0.2, 0.2, pose, NULL);
    world_start(&w, "admm-ncp-fp");
    world_run(&w, 1e-3);
    assert_near(world_pose(&w, 0)[2], 0.09 + 0.1 * 0.01, 1e-9);
    world_free(&w);
}

// Biases of normal rows leave the tangential velocities, and so Gamma, as they are.
static void normal_biases_do_not_change_the_de_saxce_term(void **state) {
    (void)state;
    double objective[2], tangential[2];
    for (int32_t biased = 0; biased < 2; biased++) {
        World w = box_on_ground(1.0);
        w.settings.margin = biased ? -1e-4 : 0.0;
        w.settings.baumgarte_contact = 0.5;
        add_push(&w, 0.0, 1.0, 3.0 * mu * g, 3.0 * mu * g);
        world_start(&w, "admm-ncp-fp");
        double twist[6] = {0.5, 0, 0, 0, 0, 0};
        assert_ok(kl_sim_set_twist(w.sim, 0, twist));
        assert_ok(kl_sim_begin_step(w.sim));
        const KlProblem *p = kl_sim_problem(w.sim);
        double lambda[12] = {0.01, 0, 0.02, 0, 0.01, 0.03, 0.02, 0, 0.01, 0, 0, 0.01}, v[12];
        kl_problem_velocity(p, lambda, v);
        KlResiduals r;
        kl_problem_residuals(p, lambda, &r);
        objective[biased] = r.objective_desaxce;
        tangential[biased] = v[0];
        world_free(&w);
    }
    assert_near(objective[0], objective[1], 1e-15);
    assert_near(tangential[0], tangential[1], 1e-15);
    assert_true(objective[0] > 1e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_sticks_below_mu_m_g_and_slips_above),
        cmocka_unit_test(contact_forces_carry_the_weight_and_the_push),
        cmocka_unit_test(a_pushed_box_stops_where_coulombs_law_says),
        cmocka_unit_test(a_ball_rebounds_to_the_square_of_restitution),
        cmocka_unit_test(a_box_on_an_incline_slips_beyond_the_friction_angle),
        cmocka_unit_test(a_sliding_sphere_rolls_at_five_sevenths_of_its_speed),
        cmocka_unit_test(a_heavy_box_rests_on_a_light_one),
        cmocka_unit_test(a_margin_is_the_penetration_that_stays),
        cmocka_unit_test(stabilisation_lifts_a_sunken_box_by_its_share_in_one_step),
        cmocka_unit_test(normal_biases_do_not_change_the_de_saxce_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
