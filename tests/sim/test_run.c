// Running a simulation: softening, limits, actuation, checkpoints, split steps, failures, allocations.
#include <stdlib.h>

#include "sim/soften.h"
#include "solver/solver.h"
#include "world.h"

static const double dt = 1e-3, g = 9.81;

static KlSoftening soft_default(void) {
    KlSettings settings;
    kl_settings_default(&settings);
    KlSoftening soft = settings.soft_contact;
    soft.on = true;
    return soft;
}

// ---- softening ---------------------------------------------------------------------------------

static void the_impedance_is_a_sigmoid_between_its_ends(void **state) {
    (void)state;
    KlSoftening s = soft_default();  // 0.9, 0.95, 1 mm, 0.5, 2
    assert_near(kl_softening_impedance(&s, 0.0), 0.9, 0.0);
    assert_near(kl_softening_impedance(&s, 0.5e-3), 0.925, 1e-12);
    assert_near(kl_softening_impedance(&s, -0.25e-3), 0.9 + 0.05 * 0.125, 1e-12);  // x^2/m at x = 1/4
    assert_near(kl_softening_impedance(&s, 0.75e-3), 0.9 + 0.05 * 0.875, 1e-12);
    assert_near(kl_softening_impedance(&s, 2e-3), 0.95, 0.0);
    s.power = 1.0;
    assert_near(kl_softening_impedance(&s, 0.3e-3), 0.9 + 0.05 * 0.3, 1e-14);
    s.power = 3.0;
    s.midpoint = 0.2;
    assert_near(kl_softening_impedance(&s, 0.1e-3), 0.9 + 0.05 * 0.001 / 0.04, 1e-12);
    assert_near(kl_softening_impedance(&s, 0.6e-3), 0.9 + 0.05 * (1.0 - 0.064 / 0.64), 1e-12);
    s.dw = s.d0;
    assert_near(kl_softening_impedance(&s, 0.6e-3), 0.9, 1e-15);
}

static void softening_coefficients_follow_their_formulas(void **state) {
    (void)state;
    KlSoftening s = soft_default();
    KlSoftRow row = kl_soften_row(&s, -2e-3);
    assert_near(row.compliance, 0.05 / 0.95, 1e-15);
    assert_near(row.damping, 2.0 / (0.95 * 0.02), 1e-10);
    assert_near(row.stiffness, 0.95 / (0.95 * 0.95 * 0.02 * 0.02), 1e-8);
    assert_near(kl_soften_bias(&row, -0.3, -2e-3, dt), dt * (-0.3 * row.damping - 2e-3 * row.stiffness) + 0.3, 1e-15);
}

// One row alone obeys v+ = (1 - d) v_f + d (v- - dt (b v- + k r)), v_f = v- + dt a.
static void one_soft_contact_obeys_the_element_wise_law(void **state) {
    (void)state;
    World w = world_new();
    double ground[7], pose[7], twist[6] = {0, 0, -0.05, 0, 0, 0};
    const double r = -0.4e-3;
    rotation_pose(0, 0, 0, NULL, ground);
    rotation_pose(0, 0, 0.1 + r, NULL, pose);
    w.settings.soft_contact.on = true;
    world_plane(&w, ground);
    world_sphere(&w, 2.5, 0.1, pose, twist, 0.0);
    world_start(&w, "admm-ncp-fp");
    assert_ok(kl_sim_step(w.sim));
    KlSoftening s = soft_default();
    double d = kl_softening_impedance(&s, r);
    KlSoftRow row = kl_soften_row(&s, r);
    double v = -0.05, free = v - dt * g;
    double expected = (1.0 - d) * free + d * (v - dt * (row.damping * v + row.stiffness * r));
    assert_near(world_twist(&w, 0)[2], expected, 1e-10);
    assert_near(world_field(&w, "lambda")[2], 2.5 * (expected - free), 1e-10);
    world_free(&w);
}

// The value that MuJoCo gives for this drop (reference: math, softening).
static void a_soft_contact_agrees_with_mujoco(void **state) {
    (void)state;
    World w = world_new();
    double ground[7], pose[7], twist[6] = {0, 0, -0.05, 0, 0, 0};
    rotation_pose(0, 0, 0, NULL, ground);
    rotation_pose(0, 0, 0.1 - 0.3e-3, NULL, pose);
    w.settings.dt = 2e-3;
    w.settings.soft_contact.on = true;
    world_plane(&w, ground);
    world_sphere(&w, 2.0, 0.1, pose, twist, 0.0);
    world_start(&w, "admm-ncp-fp");
    assert_ok(kl_sim_step(w.sim));
    assert_near(world_field(&w, "lambda")[2], 0.057552642548, 1e-11);  // ten times the solver's 1e-12
    assert_near(world_twist(&w, 0)[2], -0.040843678726, 1e-11);
    world_free(&w);
}

static void a_soft_box_comes_to_rest_where_the_spring_carries_it(void **state) {
    (void)state;
    World w = world_new();
    double ground[7], pose[7];
    rotation_pose(0, 0, 0, NULL, ground);
    rotation_pose(0, 0, 0.1, NULL, pose);
    w.settings.soft_contact.on = true;
    world_plane(&w, ground);
    world_box(&w, 1.0, 0.2, 0.2, 0.2, pose, NULL);
    world_start(&w, "admm-ncp-fp");
    world_run(&w, 1.0);
    // At rest lambda R = -dt k r in every corner, four of them carry dt m g, D_nn = 1/m + 2 a^2 / I.
    double r = world_pose(&w, 0)[2] - 0.1, inertia = 0.2 * 0.2 / 6.0;
    KlSoftening s = soft_default();
    KlSoftRow row = kl_soften_row(&s, r);
    double mobility = 1.0 + 2.0 * 0.01 / inertia;
    assert_near(r, -row.compliance * mobility * g / 4.0 / row.stiffness, 1e-8);
    assert_near(world_twist(&w, 0)[2], 0.0, 1e-8);
    world_free(&w);
}

// ---- limits ------------------------------------------------------------------------------------

// A door of 1 kg on a hinge along x at the origin, its centre at y = 0.5.
static int32_t add_door(World *w, KlJointDef *joint) {
    double pose[7], hinge[7];
    rotation_pose(0, 0.5, 0, NULL, pose);
    rotation_pose(0, 0, 0, NULL, hinge);
    int32_t door = world_box(w, 1.0, 0.05, 1.0, 0.05, pose, NULL);
    joint_at(joint, "hinge", KL_JOINT_REVOLUTE, -1, NULL, door, pose, hinge);
    return door;
}

static const double door_inertia = (0.05 * 0.05 + 1.0) / 12.0 + 0.25;  // about the hinge

static void limits_stop_a_joint_on_either_side(void **state) {
    (void)state;
    for (int32_t side = 0; side < 2; side++) {
        World w = world_new();
        KlJointDef joint;
        add_door(&w, &joint);
        w.settings.gravity[2] = side ? g : -g;
        joint.lower[0] = -0.3;
        joint.upper[0] = 0.4;
        w.settings.baumgarte_limit = 0.2;
        world_joint(&w, &joint);
        world_start(&w, "admm-ncp-fp");
        world_run(&w, 1.0);
        double q = world_field(&w, "joint_position")[0];
        assert_near(q, side ? 0.4 : -0.3, 1e-5);  // dt^2 times the acceleration, 14.7 rad/s^2
        assert_near(world_field(&w, "joint_velocity")[0], 0.0, 1e-2);
        assert_true(kl_sim_metric(w.sim, "r_pen_limits") < 1e-4);
        world_free(&w);
    }
}

// ---- actuation ---------------------------------------------------------------------------------

static void a_set_effort_turns_the_joint(void **state) {
    (void)state;
    World w = world_new();
    KlJointDef joint;
    add_door(&w, &joint);
    memset(w.settings.gravity, 0, sizeof w.settings.gravity);
    joint.actuation = KL_ACTUATION_FORCE;
    joint.effort_limit[0] = 2.0;
    world_joint(&w, &joint);
    world_start(&w, "admm-ncp-fp");
    double effort = 0.5;
    assert_ok(kl_sim_set_effort(w.sim, 0, &effort));
    assert_ok(kl_sim_step(w.sim));
    assert_near(world_field(&w, "joint_velocity")[0], dt * 0.5 / door_inertia, 1e-8);
    effort = 5.0;  // cut at 2
    assert_ok(kl_sim_set_effort(w.sim, 0, &effort));
    assert_ok(kl_sim_step(w.sim));
    assert_near(world_field(&w, "joint_effort")[0], 2.0, 0.0);
    assert_near(world_field(&w, "joint_velocity")[0], dt * 2.5 / door_inertia, 1e-7);
    world_free(&w);
}

// Holds the door against gravity with `actuation`; the static error is m g l / kp without integral.
static double held_position(KlActuation actuation, double ki, double kd, double limit, double duration, bool *finite) {
    World w = world_new();
    KlJointDef joint;
    add_door(&w, &joint);
    joint.actuation = actuation;
    joint.kp[0] = 200.0;
    joint.ki[0] = ki;
    joint.kd[0] = kd;
    joint.effort_limit[0] = limit;
    joint.target[0] = 0.2;
    w.settings.baumgarte_joint = 0.1;
    world_joint(&w, &joint);
    world_start(&w, "admm-ncp-fp");
    world_run(&w, duration);
    double q = world_field(&w, "joint_position")[0], effort = world_field(&w, "joint_effort")[0];
    *finite = isfinite(q) && fabs(effort) <= limit * (1.0 + 1e-9);
    world_free(&w);
    return q;
}

static void pid_and_implicit_pd_hold_a_door_against_gravity(void **state) {
    (void)state;
    bool finite;
    double q = held_position(KL_ACTUATION_PID, 300.0, 20.0, INFINITY, 2.0, &finite);
    assert_near(q, 0.2, 1e-3);  // the integral takes the error away
    q = held_position(KL_ACTUATION_PD_IMPLICIT, 0.0, 20.0, INFINITY, 2.0, &finite);
    assert_near(200.0 * (0.2 - q), g * 0.5 * kl_cos(q), 1e-3);
    q = held_position(KL_ACTUATION_PD_IMPLICIT, 0.0, 1e6, INFINITY, 2.0, &finite);
    assert_true(finite && fabs(q) < 1e-3);  // a gain that breaks any explicit law only makes it slow
}

static void bounded_implicit_pd_saturates_and_stays_finite(void **state) {
    (void)state;
    bool finite;
    double q = held_position(KL_ACTUATION_PD_IMPLICIT, 0.0, 20.0, 50.0, 2.0, &finite);
    assert_true(finite);
    assert_near(200.0 * (0.2 - q), g * 0.5 * kl_cos(q), 1e-3);  // inside its bound the bound is not felt
    q = held_position(KL_ACTUATION_PD_IMPLICIT, 0.0, 20.0, 2.0, 0.5, &finite);
    assert_true(finite && q < -0.5);  // 2 N m cannot carry 4.9 N m
}

static void bounded_motors_in_a_loop_stay_finite(void **state) {
    (void)state;
    static const char *const solvers[] = {"admm-ncp-fp", "admm-ncp-sa", "pgs-ncp", "admm-ncp-plus", "newton-ncp"};
    for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; s++) {
        World w = world_new();
        static const double center[4][3] = {{0, 0, 0}, {0.5, 0, 0.5}, {0, 0, 1}, {-0.5, 0, 0.5}};
        static const double corner[4][3] = {{0.5, 0, 0}, {0.5, 0, 1}, {-0.5, 0, 1}, {-0.5, 0, 0}};
        static const char *const names[] = {"a", "b", "c", "d"};
        double poses[4][7], axis[3] = {0, 0, 1.5707963267948966}, quarter[3] = {0, 1.5707963267948966, 0};
        for (int32_t i = 0; i < 4; i++) {
            rotation_pose(center[i][0], center[i][1], center[i][2], i % 2 == 1 ? quarter : NULL, poses[i]);
            world_box(&w, 1.0, 1.0, 0.05, 0.05, poses[i], NULL);
        }
        for (int32_t i = 0; i < 4; i++) {
            double at[7];
            KlJointDef joint;
            rotation_pose(corner[i][0], corner[i][1], corner[i][2], axis, at);
            joint_at(&joint, names[i], KL_JOINT_REVOLUTE, i, poses[i], (i + 1) % 4, poses[(i + 1) % 4], at);
            if (i % 2 == 0) {
                joint.actuation = KL_ACTUATION_PD_IMPLICIT;
                joint.kp[0] = 1e5;
                joint.kd[0] = 1e3;
                joint.effort_limit[0] = 3.0;
                joint.armature[0] = 0.01;
                joint.target[0] = i == 0 ? 0.5 : -0.7;  // against each other: the loop cannot follow
            }
            world_joint(&w, &joint);
        }
        world_start(&w, solvers[s]);
        kl_solver_set(kl_sim_solver(w.sim), "max_iterations", 2000);
        world_run(&w, 0.2);
        const double *effort = world_field(&w, "joint_effort");
        assert_true(fabs(effort[0]) <= 3.0 + 1e-6 && fabs(effort[2]) <= 3.0 + 1e-6);
        assert_true(isfinite(kl_sim_metric(w.sim, "total_energy")));
        world_free(&w);
    }
}

static void damping_of_any_size_only_takes_energy_out(void **state) {
    (void)state;
    for (int32_t k = 0; k < 3; k++) {
        static const double dampings[] = {0.1, 10.0, 1e6};
        World w = world_new();
        KlJointDef joint;
        add_door(&w, &joint);
        memset(w.settings.gravity, 0, sizeof w.settings.gravity);
        joint.damping[0] = dampings[k];
        world_joint(&w, &joint);
        world_start(&w, "admm-ncp-fp");
        double twist[6] = {0, 0, 1.0, 2.0, 0, 0}, before = 1e30;
        assert_ok(kl_sim_set_twist(w.sim, 0, twist));
        for (int32_t i = 0; i < 100; i++) {
            assert_ok(kl_sim_step(w.sim));
            double now = kl_sim_metric(w.sim, "kinetic_energy");
            assert_true(now <= before * (1.0 + 1e-4));  // the hinge's drift gives back a little
            before = now;
        }
        world_free(&w);
    }
}

static void a_looped_reference_is_smooth_and_passes_its_samples(void **state) {
    (void)state;
    const double times[] = {0.0, 0.1, 0.3, 0.4}, values[] = {0.0, 1.0, -1.0, 0.0};
    KlReferenceDef r = {.name = "r", .dofs = 1, .samples = 4, .times = times, .values = values, .loop = true};
    for (int32_t i = 0; i < 4; i++) {
        double value, rate, left, left_rate;
        kl_reference_sample(&r, times[i] + 0.4 * 3, &value, &rate);
        assert_near(value, values[i], 1e-12);
        kl_reference_sample(&r, times[i] + 0.4 * 3 - 1e-9, &left, &left_rate);
        assert_near(left, value, 1e-6);
        assert_near(left_rate, rate, 1e-5);
    }
    double a, b, rate, unused;
    kl_reference_sample(&r, 0.17, &a, &rate);
    kl_reference_sample(&r, 0.17 + 1e-7, &b, &unused);
    assert_near((b - a) / 1e-7, rate, 1e-4);
    r.loop = false;
    kl_reference_sample(&r, 9.0, &a, &rate);
    assert_near(a, 0.0, 0.0);
    assert_near(rate, 0.0, 0.0);
}

// ---- life --------------------------------------------------------------------------------------

// Two boxes and a limited, actuated joint over the ground: something of everything.
// `more` is another force event, NULL for none.
static World busy_world_pushed(const char *solver, const KlForceEvent *more) {
    World w = world_new();
    double ground[7], lower[7], upper[7], seam[7];
    rotation_pose(0, 0, 0, NULL, ground);
    rotation_pose(0, 0, 0.12, NULL, lower);
    rotation_pose(0, 0, 0.32, NULL, upper);
    rotation_pose(0, 0.1, 0.22, NULL, seam);
    w.settings.detection_distance = 1e-3;
    w.settings.baumgarte_joint = w.settings.baumgarte_contact = 0.1;
    world_plane(&w, ground);
    world_box(&w, 1.0, 0.2, 0.2, 0.2, lower, NULL);
    world_box(&w, 1.0, 0.2, 0.2, 0.2, upper, NULL);
    KlJointDef joint;
    joint_at(&joint, "lid", KL_JOINT_REVOLUTE, 0, lower, 1, upper, seam);
    joint.actuation = KL_ACTUATION_PID;
    joint.kp[0] = 40.0;
    joint.ki[0] = 10.0;
    joint.kd[0] = 1.0;
    joint.target[0] = -0.5;
    joint.lower[0] = -0.3;
    world_joint(&w, &joint);
    KlForceEvent push;
    kl_default_force_event(&push);
    push.body = KL_BODY_HIGHEST;
    push.start = 0.05;
    push.end = 0.2;
    push.from[1] = 3.0;
    push.to[1] = 6.0;
    push.point[2] = 0.1;
    assert_ok(kl_builder_add_event(w.builder, &push));
    if (more != NULL) {
        assert_ok(kl_builder_add_event(w.builder, more));
    }
    world_start(&w, solver);
    kl_solver_set_text(kl_sim_solver(w.sim), "warm_start", "previous");
    kl_solver_set(kl_sim_solver(w.sim), "max_iterations", 300);
    return w;
}

static World busy_world(const char *solver) { return busy_world_pushed(solver, NULL); }

static void a_loaded_checkpoint_goes_on_bit_for_bit(void **state) {
    (void)state;
    static const char *const solvers[] = {"admm-ncp-fp", "pgs-ncp"};
    for (int32_t s = 0; s < 2; s++) {
        World a = busy_world(solvers[s]), b = busy_world(solvers[s]);
        world_run(&a, 0.1);
        size_t size = kl_sim_state_size(a.sim);
        void *saved = malloc(size);
        kl_sim_save(a.sim, saved);
        world_run(&a, 0.1);
        assert_ok(kl_sim_load(b.sim, saved, size));
        assert_int_equal(kl_sim_step_index(b.sim), 100);
        world_run(&b, 0.1);
        assert_true(kl_sim_hash(a.sim) == kl_sim_hash(b.sim));
        assert_fails(kl_sim_load(b.sim, saved, size - 8), KL_ERR_ARGUMENT, "bytes");
        ((char *)saved)[0] ^= 1;
        assert_fails(kl_sim_load(b.sim, saved, size), KL_ERR_FORMAT, "not a checkpoint");
        free(saved);
        world_free(&a);
        world_free(&b);
    }
}

// The same past with a push added later is the run that had the push from the beginning.
static void a_checkpoint_goes_on_with_other_force_events(void **state) {
    (void)state;
    KlForceEvent push;
    kl_default_force_event(&push);
    push.body = 0;
    push.start = 0.12;
    push.end = 0.18;
    push.from[1] = push.to[1] = 30.0;
    World without = busy_world("admm-ncp-fp");
    World with = busy_world_pushed("admm-ncp-fp", &push), late = busy_world_pushed("admm-ncp-fp", &push);
    world_run(&without, 0.1);
    size_t size = kl_sim_state_size(without.sim);
    void *saved = malloc(size);
    kl_sim_save(without.sim, saved);
    assert_ok(kl_sim_load(late.sim, saved, size));
    world_run(&late, 0.1);
    world_run(&with, 0.2);
    assert_true(kl_sim_hash(late.sim) == kl_sim_hash(with.sim));
    world_run(&without, 0.1);
    assert_true(kl_sim_hash(late.sim) != kl_sim_hash(without.sim));
    free(saved);
    world_free(&without);
    world_free(&with);
    world_free(&late);
}

static void a_reset_run_repeats_its_hash(void **state) {
    (void)state;
    World w = busy_world("admm-ncp-fp");
    uint64_t start = kl_sim_hash(w.sim);
    world_run(&w, 0.15);
    uint64_t end = kl_sim_hash(w.sim);
    kl_sim_reset(w.sim);
    assert_true(kl_sim_hash(w.sim) == start);
    world_run(&w, 0.15);
    assert_true(kl_sim_hash(w.sim) == end);
    world_free(&w);
}

static void a_split_step_is_the_same_step(void **state) {
    (void)state;
    World whole = busy_world("admm-ncp-fp"), split = busy_world("admm-ncp-fp");
    for (int32_t i = 0; i < 100; i++) {
        KlSolution solution;
        assert_ok(kl_sim_step(whole.sim));
        assert_ok(kl_sim_begin_step(split.sim));
        assert_ok(kl_solver_solve(kl_sim_solver(split.sim), kl_sim_problem(split.sim), NULL, &solution));
        assert_ok(kl_sim_end_step(split.sim, solution.lambda));
    }
    assert_true(kl_sim_hash(whole.sim) == kl_sim_hash(split.sim));
    assert_fails(kl_sim_end_step(split.sim, NULL), KL_ERR_ARGUMENT, "no step has begun");
    world_free(&whole);
    world_free(&split);
}

static void a_step_allocates_nothing(void **state) {
    (void)state;
    World w = busy_world("admm-ncp-fp");
    world_run(&w, 0.1);  // until the box lies: the collider's lists grow with the first contacts
    uint64_t before = kl_alloc_count();
    world_run(&w, 0.1);
    assert_int_equal(kl_alloc_count(), before);
    world_free(&w);
}

static bool fails_from(void *context, uint64_t number) { return number < *(const uint64_t *)context; }

// Every allocation of kl_sim_create may fail: an error each time, and nothing left behind.
static void running_out_of_memory_is_an_error(void **state) {
    (void)state;
    World w = busy_world("admm-ncp-fp");
    uint64_t before = kl_alloc_count();
    KlSim *sim = NULL;
    assert_ok(kl_sim_create(w.model, &sim));
    kl_sim_destroy(sim);
    uint64_t needed = kl_alloc_count() - before;
    for (uint64_t k = 1; k <= needed; k++) {
        uint64_t limit = kl_alloc_count() + k;
        kl_set_alloc_gate(fails_from, &limit);
        KlStatus status = kl_sim_create(w.model, &sim);
        kl_set_alloc_gate(NULL, NULL);
        assert_int_equal(status, KL_ERR_MEMORY);
        assert_null(sim);
    }
    world_free(&w);
}

static void a_diverged_step_leaves_the_state_before_it(void **state) {
    (void)state;
    World w = busy_world("admm-ncp-fp");
    world_run(&w, 0.1);
    uint64_t hash = kl_sim_hash(w.sim);
    assert_ok(kl_sim_begin_step(w.sim));
    double lambda[64] = {0};
    lambda[1] = NAN;
    assert_fails(kl_sim_end_step(w.sim, lambda), KL_ERR_DIVERGED, "row 1");
    assert_true(kl_sim_hash(w.sim) == hash);
    double wrench[6] = {1e308, 0, 0, 0, 0, 0};
    assert_ok(kl_sim_apply_wrench(w.sim, 1, wrench));
    assert_ok(kl_sim_apply_wrench(w.sim, 1, wrench));
    KlStatus status = kl_sim_step(w.sim);
    assert_int_equal(status, KL_ERR_DIVERGED);
    assert_true(kl_sim_hash(w.sim) == hash);
    world_free(&w);
}

static void input_out_of_range_is_refused(void **state) {
    (void)state;
    World w = busy_world("admm-ncp-fp");
    double x[7] = {0, 0, 0, 0, 0, 0, 0};
    assert_fails(kl_sim_apply_wrench(w.sim, 2, x), KL_ERR_ARGUMENT, "body must be in [0, 2)");
    assert_fails(kl_sim_set_effort(w.sim, 0, x), KL_ERR_ARGUMENT, "no force actuation");
    assert_fails(kl_sim_set_pose(w.sim, 0, x), KL_ERR_ARGUMENT, "quaternion");
    x[3] = NAN;
    assert_fails(kl_sim_set_twist(w.sim, 0, x), KL_ERR_ARGUMENT, "finite");
    assert_fails(kl_sim_set_solver(w.sim, "none"), KL_ERR_NOT_FOUND, "none");
    world_free(&w);
}

static void a_wrench_lasts_one_step(void **state) {
    (void)state;
    World w = world_new();
    double pose[7], wrench[6] = {2.0, 0, 0, 0, 0, 0.01};
    rotation_pose(0, 0, 0, NULL, pose);
    memset(w.settings.gravity, 0, sizeof w.settings.gravity);
    world_box(&w, 4.0, 0.1, 0.1, 0.1, pose, NULL);
    world_start(&w, "admm-ncp-fp");
    assert_ok(kl_sim_apply_wrench(w.sim, 0, wrench));
    world_run(&w, 0.005);
    assert_near(world_twist(&w, 0)[0], dt * 2.0 / 4.0, 1e-15);
    assert_near(world_twist(&w, 0)[5], dt * 0.01 / (4.0 * 0.01 / 6.0), 1e-15);
    world_free(&w);
}

// A ramp on the highest body at a point off its centre: force and moment (R p) x f of the step's start.
static void an_event_pushes_at_its_point_and_ramps(void **state) {
    (void)state;
    World w = world_new();
    double low[7], high[7], quarter[3] = {0, 0, 1.5707963267948966};
    rotation_pose(0, 0, 0, NULL, low);
    rotation_pose(0, 0, 1, quarter, high);
    memset(w.settings.gravity, 0, sizeof w.settings.gravity);
    world_box(&w, 1.0, 0.1, 0.1, 0.1, low, NULL);
    world_box(&w, 2.0, 0.1, 0.1, 0.1, high, NULL);
    KlForceEvent event;
    kl_default_force_event(&event);
    event.body = KL_BODY_HIGHEST;
    event.start = 2e-3;
    event.end = 6e-3;
    event.from[2] = 4.0;
    event.to[2] = 8.0;
    event.point[0] = 0.05;  // +y in the world
    assert_ok(kl_builder_add_event(w.builder, &event));
    world_start(&w, "admm-ncp-fp");
    world_run(&w, 2e-3);
    assert_near(world_twist(&w, 1)[2], 0.0, 0.0);
    world_run(&w, 4e-3);
    double impulse = dt * (4.0 + 5.0 + 6.0 + 7.0);
    assert_near(world_twist(&w, 1)[2], impulse / 2.0, 1e-15);
    assert_near(world_twist(&w, 1)[3], 0.05 * impulse / (2.0 * 0.01 / 6.0), 1e-5);  // it turns a little meanwhile
    world_run(&w, 2e-3);
    assert_near(world_twist(&w, 1)[2], impulse / 2.0, 1e-15);
    assert_near(world_twist(&w, 0)[2], 0.0, 0.0);
    world_free(&w);
}

static void open_loops_close_with_small_moves(void **state) {
    (void)state;
    World w = busy_world("admm-ncp-fp");
    double pose[7];
    memcpy(pose, world_pose(&w, 1), sizeof pose);
    pose[0] += 0.01;
    pose[2] -= 0.02;
    double tilt[3] = {0.02, 0.05, -0.03};
    kl_quat_exp(tilt, pose + 3);
    assert_ok(kl_sim_set_pose(w.sim, 1, pose));
    KlAssembly report;
    assert_ok(kl_sim_assemble(w.sim, 1e-12, &report));
    assert_true(report.residual_before > 0.01 && report.residual_after <= 1e-12);
    assert_int_equal(report.rank, 5);
    assert_int_equal(report.mobility, 7);
    assert_true(report.iterations <= 8);
    assert_true(kl_sim_metric(w.sim, "r_pen_joints") <= 1e-12);
    assert_true(fabs(world_pose(&w, 1)[0] - pose[0]) < 0.02);
    world_free(&w);
}

static void metrics_and_fields_are_found_by_name(void **state) {
    (void)state;
    World w = busy_world("admm-ncp-fp");
    world_run(&w, 0.1);
    for (int32_t i = 0; i < kl_metric_count(); i++) {
        assert_int_equal(kl_metric_find(kl_metric_kind(i)->id), i);
    }
    assert_int_equal(kl_metric_find("nonsense"), -1);
    assert_true(isnan(kl_sim_metric(w.sim, "nonsense")));
    assert_true(kl_sim_metric(w.sim, "t_step") >= kl_sim_metric(w.sim, "t_solve"));
    for (int32_t i = 0; i < kl_sim_field_count(w.sim); i++) {
        const KlField *field = kl_sim_field(w.sim, i);
        assert_ptr_equal(kl_sim_find_field(w.sim, field->id), field);
    }
    assert_null(kl_sim_find_field(w.sim, "nonsense"));
    const KlField *lambda = kl_sim_find_field(w.sim, "lambda");
    assert_int_equal(*lambda->row_count, kl_sim_metric(w.sim, "n_d"));
    world_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_impedance_is_a_sigmoid_between_its_ends),
        cmocka_unit_test(softening_coefficients_follow_their_formulas),
        cmocka_unit_test(one_soft_contact_obeys_the_element_wise_law),
        cmocka_unit_test(a_soft_contact_agrees_with_mujoco),
        cmocka_unit_test(a_soft_box_comes_to_rest_where_the_spring_carries_it),
        cmocka_unit_test(limits_stop_a_joint_on_either_side),
        cmocka_unit_test(a_set_effort_turns_the_joint),
        cmocka_unit_test(pid_and_implicit_pd_hold_a_door_against_gravity),
        cmocka_unit_test(bounded_implicit_pd_saturates_and_stays_finite),
        cmocka_unit_test(bounded_motors_in_a_loop_stay_finite),
        cmocka_unit_test(damping_of_any_size_only_takes_energy_out),
        cmocka_unit_test(a_looped_reference_is_smooth_and_passes_its_samples),
        cmocka_unit_test(a_loaded_checkpoint_goes_on_bit_for_bit),
        cmocka_unit_test(a_checkpoint_goes_on_with_other_force_events),
        cmocka_unit_test(a_reset_run_repeats_its_hash),
        cmocka_unit_test(a_split_step_is_the_same_step),
        cmocka_unit_test(a_step_allocates_nothing),
        cmocka_unit_test(running_out_of_memory_is_an_error),
        cmocka_unit_test(a_diverged_step_leaves_the_state_before_it),
        cmocka_unit_test(input_out_of_range_is_refused),
        cmocka_unit_test(a_wrench_lasts_one_step),
        cmocka_unit_test(an_event_pushes_at_its_point_and_ramps),
        cmocka_unit_test(open_loops_close_with_small_moves),
        cmocka_unit_test(metrics_and_fields_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
