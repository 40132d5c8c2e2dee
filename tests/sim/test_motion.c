// Motion without contact against closed forms: free fall, the free top, pendulum, momentum, invariance.
#include "world.h"

static void a_free_body_falls_as_semi_implicit_euler_says(void **state) {
    (void)state;
    World w = world_new();
    double pose[7], twist[6] = {1.0, 0.0, 2.0, 0.0, 0.0, 0.0};
    rotation_pose(0, 0, 5, NULL, pose);
    world_box(&w, 2.0, 0.1, 0.2, 0.3, pose, twist);
    world_start(&w, "admm-ncp-fp");
    world_run(&w, 1.0);
    double n = 1000.0, dt = 1e-3, g = 9.81;  // z_n = z_0 + n dt v_0 - g dt^2 n (n + 1) / 2
    assert_near(world_pose(&w, 0)[0], 1.0, 1e-12);
    assert_near(world_pose(&w, 0)[2], 5.0 + 2.0 - 0.5 * g * dt * dt * n * (n + 1.0), 1e-11);
    assert_near(world_twist(&w, 0)[2], 2.0 - g, 1e-12);
    assert_near(kl_sim_time(w.sim), 1.0, 1e-15);
    world_free(&w);
}

// Error of energy and angular momentum of a torque-free box after one second.
static void spin_errors(double dt, double *energy, double *momentum) {
    World w = world_new();
    double pose[7], twist[6] = {0, 0, 0, 0.3, 5.0, 0.2};  // near the unstable middle axis
    rotation_pose(0, 0, 0, NULL, pose);
    w.settings.dt = dt;
    memset(w.settings.gravity, 0, sizeof w.settings.gravity);
    world_box(&w, 1.0, 0.3, 0.2, 0.1, pose, twist);
    world_start(&w, "admm-ncp-fp");
    double e0 = kl_sim_metric(w.sim, "kinetic_energy"), sum = 0.0;
    int64_t steps = (int64_t)floor(1.0 / dt + 0.5);
    for (int64_t i = 0; i < steps; i++) {
        assert_ok(kl_sim_step(w.sim));
        sum += kl_sim_metric(w.sim, "angular_momentum_error");
    }
    *energy = fabs(kl_sim_metric(w.sim, "kinetic_energy") - e0) / e0;
    *momentum = sum;
    world_free(&w);
}

static void a_free_top_keeps_energy_and_momentum_to_first_order(void **state) {
    (void)state;
    double coarse_e, coarse_m, fine_e, fine_m;
    spin_errors(1e-3, &coarse_e, &coarse_m);
    spin_errors(2.5e-4, &fine_e, &fine_m);
    assert_true(coarse_e < 0.03 && coarse_m < 1e-3);
    assert_near(coarse_e / fine_e, 4.0, 0.5);  // first order: four times the step, four times the error
    assert_near(coarse_m / fine_m, 4.0, 0.5);
}

// The midpoint scheme moves with the mean of old and new velocity: exact under constant gravity.
static void moreaus_midpoint_falls_along_the_parabola(void **state) {
    (void)state;
    World w = world_new();
    double pose[7], twist[6] = {1.0, 0.0, 2.0, 0.0, 0.0, 0.0};
    rotation_pose(0, 0, 5, NULL, pose);
    w.settings.integrator = KL_INTEGRATOR_MOREAU;
    world_box(&w, 2.0, 0.1, 0.2, 0.3, pose, twist);
    world_start(&w, "admm-ncp-fp");
    world_run(&w, 1.0);
    assert_near(world_pose(&w, 0)[0], 1.0, 1e-12);
    assert_near(world_pose(&w, 0)[2], 5.0 + 2.0 - 0.5 * 9.81, 1e-11);
    world_free(&w);
}

// A bar of length 1 on a hinge at its end, hinge axis y (or turned by `turn` with the whole world).
static int32_t add_pendulum(World *w, const double turn[3], double angle, KlJointDef *joint) {
    double world[4] = {1, 0, 0, 0}, axis[4], swing[4], start[3] = {0, -angle, 0},
           y_to_x[3] = {0, 0, 1.5707963267948966};
    if (turn != NULL) {
        kl_quat_exp(turn, world);
    }
    kl_quat_exp(start, swing);
    double pose[7], hinge[7], down[3] = {0, 0, -0.5}, local[3];
    kl_quat_mul(world, swing, pose + 3);
    kl_quat_rotate(pose + 3, down, local);
    kl_copy3(local, pose);
    kl_quat_exp(y_to_x, axis);
    hinge[0] = hinge[1] = hinge[2] = 0.0;
    kl_quat_mul(world, axis, hinge + 3);
    int32_t body = world_box(w, 1.5, 0.02, 0.02, 1.0, pose, NULL);
    joint_at(joint, "hinge", KL_JOINT_REVOLUTE, -1, NULL, body, pose, hinge);
    return body;
}

static double pendulum_period(double dt, const char *solver, const double turn[3]) {
    World w = world_new();
    KlJointDef joint;
    w.settings.dt = dt;
    if (turn != NULL) {
        double q[4], g[3] = {0, 0, -9.81};
        kl_quat_exp(turn, q);
        kl_quat_rotate(q, g, w.settings.gravity);
    }
    int32_t body = add_pendulum(&w, turn, 0.1, &joint);
    (void)body;
    world_joint(&w, &joint);
    world_start(&w, solver);
    // Period from the first and the last of ten downward passes, linear between steps.
    double first = -1.0, last = -1.0, before = world_field(&w, "joint_velocity")[0];
    int32_t passes = 0;
    while (passes < 11) {
        assert_ok(kl_sim_step(w.sim));
        double now = world_field(&w, "joint_velocity")[0];
        if (before < 0.0 && now >= 0.0) {
            last = kl_sim_time(w.sim) - dt * now / (now - before);
            first = passes == 0 ? last : first;
            passes++;
        }
        before = now;
    }
    assert_true(kl_sim_metric(w.sim, "r_pen_joints") < 1e-3);
    world_free(&w);
    return (last - first) / 10.0;
}

// 2 pi / agm(1, cos(a/2)) sqrt(I / (m g l)) for amplitude a.
static double exact_period(void) {
    double i = 1.5 / 12.0 * (0.02 * 0.02 + 1.0) + 1.5 * 0.25, a = 1.0, b = kl_cos(0.05);
    for (int k = 0; k < 5; k++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return 6.283185307179586 / a * sqrt(i / (1.5 * 9.81 * 0.5));
}

static void a_pendulum_has_the_period_of_the_elliptic_integral(void **state) {
    (void)state;
    assert_near(pendulum_period(1e-3, "admm-ncp-fp", NULL), exact_period(), 2e-4);
    assert_near(pendulum_period(1e-3, "pgs-ncp", NULL), exact_period(), 2e-4);
}

static void turning_the_world_changes_nothing(void **state) {
    (void)state;
    double turn[3] = {0.7, -0.4, 1.1};
    assert_near(pendulum_period(1e-3, "admm-ncp-fp", turn), pendulum_period(1e-3, "admm-ncp-fp", NULL), 1e-9);
}

// ---- a closed loop off the axes ---------------------------------------------------------------

// A four-bar parallelogram of bars with revolute joints, turned and moved by `world`.
static void add_fourbar(World *w, const double world[7], bool free) {
    static const double center[4][3] = {{0, 0, 0}, {0.5, 0, 0.5}, {0, 0, 1}, {-0.5, 0, 0.5}};
    static const double corner[4][3] = {{0.5, 0, 0}, {0.5, 0, 1}, {-0.5, 0, 1}, {-0.5, 0, 0}};
    double poses[4][7], y_to_x[3] = {0, 0, 1.5707963267948966}, quarter[3] = {0, 1.5707963267948966, 0};
    for (int32_t i = 0; i < 4; i++) {
        double local[7];
        rotation_pose(center[i][0], center[i][1], center[i][2], i % 2 == 1 ? quarter : NULL, local);
        kl_pose_mul(world, local, poses[i]);
        double twist[6] = {0.1 * i, 0, 0.2, 0, 0.3, 0};
        world_box(w, 1.0 + i, 1.0, 0.05, 0.05, poses[i], free ? twist : NULL);
    }
    for (int32_t i = 0; i < 4; i++) {
        static const char *const names[] = {"a", "b", "c", "d"};
        double local[7], at[7];
        KlJointDef joint;
        rotation_pose(corner[i][0], corner[i][1], corner[i][2], y_to_x, local);
        kl_pose_mul(world, local, at);
        joint_at(&joint, names[i], KL_JOINT_REVOLUTE, i, poses[i], (i + 1) % 4, poses[(i + 1) % 4], at);
        world_joint(w, &joint);
    }
}

static void a_free_mechanism_keeps_its_momentum(void **state) {
    (void)state;
    World w = world_new();
    double identity[7];
    rotation_pose(0, 0, 0, NULL, identity);
    memset(w.settings.gravity, 0, sizeof w.settings.gravity);
    add_fourbar(&w, identity, true);
    world_start(&w, "admm-ncp-fp");
    double linear = 0.0, angular = 0.0;
    for (int32_t i = 0; i < 500; i++) {
        assert_ok(kl_sim_step(w.sim));
        linear += kl_sim_metric(w.sim, "momentum_error");
        angular += kl_sim_metric(w.sim, "angular_momentum_error");
    }
    assert_true(linear < 1e-11);  // rounding of 500 steps
    assert_true(angular < 5e-3);  // the integrator's second order, of 2 N m s
    world_free(&w);
}

// Runs the loop hanging by its first bar, fixed to the world, and gives poses in the loop's own frame.
static void run_loop(const double world[7], const char *solver, double local[28]) {
    World w = world_new();
    double q[4], g[3] = {3.0, 0.5, -9.0};
    memcpy(q, world + 3, sizeof q);
    kl_quat_rotate(q, g, w.settings.gravity);
    w.settings.baumgarte_joint = 0.1;
    add_fourbar(&w, world, false);
    KlJointDef joint;
    joint_at(&joint, "mount", KL_JOINT_FIXED, -1, NULL, 0, world, world);
    world_joint(&w, &joint);
    world_start(&w, solver);
    assert_ok(kl_solver_set(kl_sim_solver(w.sim), "max_iterations", 2000));
    world_run(&w, 0.15);
    for (int32_t i = 0; i < 4; i++) {
        kl_pose_relative(world, world_pose(&w, i), local + 7 * i);
    }
    world_free(&w);
}

static void loops_do_not_care_where_the_axes_point(void **state) {
    (void)state;
    static const char *const solvers[] = {"admm-ncp-fp", "pgs-ncp"};
    for (int32_t s = 0; s < 2; s++) {
        double turn[3] = {0.9, 0.5, -0.3}, world[7], straight[7], a[28], b[28];
        rotation_pose(0, 0, 0, NULL, straight);
        rotation_pose(3.0, -2.0, 1.0, turn, world);
        run_loop(straight, solvers[s], a);
        run_loop(world, solvers[s], b);
        assert_near_array(a, b, 28, 1e-8);
        assert_true(fabs(a[14]) > 0.01);  // the upper bar has moved
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_body_falls_as_semi_implicit_euler_says),
        cmocka_unit_test(a_free_top_keeps_energy_and_momentum_to_first_order),
        cmocka_unit_test(moreaus_midpoint_falls_along_the_parabola),
        cmocka_unit_test(a_pendulum_has_the_period_of_the_elliptic_integral),
        cmocka_unit_test(turning_the_world_changes_nothing),
        cmocka_unit_test(a_free_mechanism_keeps_its_momentum),
        cmocka_unit_test(loops_do_not_care_where_the_axes_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
