// What users of neighbouring simulators ask for in public trackers, each as a scene with its right value.
// The numbers in brackets name the entry of the list in docs/reliability.md.
#include "world.h"

static const char *const solvers[] = {"newton-ncp", "admm-ncp-plus"};
enum { SOLVERS = 2 };
static const double ground[7] = {0, 0, 0, 1, 0, 0, 0};
static const double gravity = 9.81;

static void raise(double z, double pose[7]) {
    static const double upright[7] = {0, 0, 0, 1, 0, 0, 0};
    memcpy(pose, upright, sizeof upright);
    pose[2] = z;
}

// Sum of the forces on body `b` along x, y or z from contacts with body `a`, -1 = the world [N].
static double force_along(const World *w, int32_t axis, int32_t a, int32_t b) {
    const KlField *force = kl_sim_find_field(w->sim, "contact_force");
    const int32_t *bodies = kl_sim_find_field(w->sim, "contact_bodies")->data;
    double sum = 0.0;
    for (int32_t k = 0; k < *force->row_count; k++) {
        double part = ((const double *)force->data)[3 * k + axis];
        sum += bodies[2 * k] == a && bodies[2 * k + 1] == b ? part : 0.0;
        sum -= bodies[2 * k] == b && bodies[2 * k + 1] == a ? part : 0.0;
    }
    return sum;
}

static double force_between(const World *w, int32_t a, int32_t b) { return force_along(w, 2, a, b); }

static int32_t contact_count(const World *w) { return *kl_sim_find_field(w->sim, "contact_force")->row_count; }

// ---- [8] stacks --------------------------------------------------------------------------------

static void a_heavy_box_stays_on_a_light_one_up_to_a_million_to_one(void **state) {
    (void)state;
    for (int s = 0; s < SOLVERS; s++) {
        for (double ratio = 1e2; ratio < 2e6; ratio *= 10.0) {
            World w = world_new();
            double pose[7];
            raise(0.1, pose);
            int32_t light = world_box(&w, 1.0, 0.2, 0.2, 0.2, pose, NULL);
            raise(0.3, pose);
            int32_t heavy = world_box(&w, ratio, 0.2, 0.2, 0.2, pose, NULL);
            world_plane(&w, ground);
            w.settings.margin = 1e-6;
            world_start(&w, solvers[s]);
            world_run(&w, 1.0);
            assert_near(world_pose(&w, light)[2], 0.1, 2e-6);  // the margin
            assert_near(world_pose(&w, heavy)[2], 0.3, 4e-6);
            // Newton ends at rounding level. ADMM stops on a relative velocity of 1e-10, which the mass
            // ratio carries into the forces.
            double weight = (1.0 + ratio) * gravity, noise = s == 0 ? 1e-7 : 1e-9 * ratio;
            assert_near(force_between(&w, -1, light) / weight, 1.0, noise);
            assert_near(force_between(&w, light, heavy) / (ratio * gravity), 1.0, noise);
            world_free(&w);
        }
    }
}

static void a_stack_of_five_carries_at_each_floor_what_is_above(void **state) {
    (void)state;
    static const double mass[5] = {1.0, 3.0, 0.5, 7.0, 2.0};
    for (int s = 0; s < SOLVERS; s++) {
        World w = world_new();
        int32_t box[5];
        for (int i = 0; i < 5; i++) {
            double pose[7];
            raise(0.1 + 0.2 * i, pose);
            box[i] = world_box(&w, mass[i], 0.2, 0.2, 0.2, pose, NULL);
        }
        world_plane(&w, ground);
        w.settings.margin = 1e-6;
        world_start(&w, solvers[s]);
        world_run(&w, 1.0);
        double above = 0.0;
        for (int i = 4; i >= 0; i--) {
            above += mass[i] * gravity;
            assert_near(force_between(&w, i > 0 ? box[i - 1] : -1, box[i]), above, 1e-7 * above);
            assert_near(world_pose(&w, box[i])[2], 0.1 + 0.2 * i, 1e-5);
        }
        world_free(&w);
    }
}

// ---- [3] closures of five rows -----------------------------------------------------------------

// A square four-bar of 1 m links from the ground, hanging; `closure` closes it, tilted by `turn`.
static void build_loop(World *w, KlJointKind closure, const double turn[3]) {
    double tilt[7], pose[3][7], at[4][7];
    rotation_pose(0.0, 0.0, 0.0, turn, tilt);
    static const double centres[3][3] = {{0.0, 0.0, -0.5}, {0.5, 0.0, -1.0}, {1.0, 0.0, -0.5}};
    static const double corners[4][3] = {{0, 0, 0}, {0, 0, -1}, {1, 0, -1}, {1, 0, 0}};
    static const double half_turn[3] = {0.0, 0.0, 1.5707963267948966};  // joint x along world y
    int32_t body[3];
    for (int i = 0; i < 3; i++) {
        double local[7];
        rotation_pose(centres[i][0], centres[i][1], centres[i][2], NULL, local);
        kl_pose_mul(tilt, local, pose[i]);
        body[i] = world_box(w, 1.0, i == 1 ? 1.0 : 0.05, 0.05, i == 1 ? 0.05 : 1.0, pose[i], NULL);
    }
    for (int i = 0; i < 4; i++) {
        double local[7];
        rotation_pose(corners[i][0], corners[i][1], corners[i][2], half_turn, local);
        kl_pose_mul(tilt, local, at[i]);
    }
    static const char *const names[4] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        KlJointDef joint;
        int32_t base = i == 0 || i == 3 ? -1 : body[i - 1], follower = i == 3 ? body[2] : body[i];
        joint_at(&joint, names[i], i == 3 ? closure : KL_JOINT_REVOLUTE, base, base < 0 ? NULL : pose[i - 1], follower,
                 pose[i == 3 ? 2 : i], at[i]);
        world_joint(w, &joint);
    }
    assert_ok(kl_builder_exclude(w->builder, body[0], body[2]));  // the bars pass each other
}

static void a_closure_of_five_rows_neither_drifts_nor_locks(void **state) {
    (void)state;
    static const double turns[3][3] = {{0, 0, 0}, {0.4, 0, 0.3}, {-0.7, 0.5, 1.1}};
    for (int s = 0; s < SOLVERS; s++) {
        for (int t = 0; t < 3; t++) {
            World w = world_new();
            build_loop(&w, KL_JOINT_REVOLUTE, turns[t]);
            w.settings.gravity[0] = 3.0;  // pulls it aside
            w.settings.baumgarte_joint = 0.1;
            world_start(&w, solvers[s]);
            KlAssembly assembly;
            assert_ok(kl_sim_assemble(w.sim, 1e-12, &assembly));
            assert_int_equal(assembly.mobility, 1);
            double worst = 0.0, speed = 0.0;
            for (int i = 0; i < 3000; i++) {
                assert_ok(kl_sim_step(w.sim));
                worst = fmax(worst, kl_sim_metric(w.sim, "r_pen_joints"));
                speed = fmax(speed, kl_norm3(world_twist(&w, 1)));
            }
            assert_true(worst < 2e-4);  // metres and radians, at speeds of metres a second
            assert_true(speed > 0.5);   // it moves: no row too many
            world_free(&w);
        }
    }
}

// ---- [2] [8] resting without flicker -----------------------------------------------------------

typedef struct Rest {
    double detection, margin, baumgarte;
} Rest;

// After `settle` seconds: the number of contacts never changes, the forces and the height hardly.
static void assert_rests(World *w, int32_t body, double settle, double duration, int32_t contacts, double weight,
                         double force_noise, double speed_noise) {
    world_run(w, settle);
    for (int64_t i = 0; i < (int64_t)(duration / w->settings.dt); i++) {
        assert_ok(kl_sim_step(w->sim));
        assert_int_equal(contact_count(w), contacts);
        assert_near(force_between(w, -1, body), weight, force_noise * weight);
        for (int k = 0; k < 6; k++) {
            assert_near(world_twist(w, body)[k], 0.0, speed_noise);
        }
    }
}

static void a_resting_box_neither_flickers_nor_chatters(void **state) {
    (void)state;
    static const Rest rests[] = {{0.0, 1e-6, 0.0}, {1e-3, 1e-6, 0.0}, {1e-2, 1e-6, 0.1}, {1e-3, 1e-5, 0.2}};
    for (int s = 0; s < SOLVERS; s++) {
        for (size_t r = 0; r < sizeof rests / sizeof rests[0]; r++) {
            World w = world_new();
            double pose[7];
            raise(0.1, pose);
            int32_t box = world_box(&w, 1.0, 0.2, 0.2, 0.2, pose, NULL);
            world_plane(&w, ground);
            w.settings.detection_distance = rests[r].detection;
            w.settings.margin = rests[r].margin;
            w.settings.baumgarte_contact = rests[r].baumgarte;
            world_start(&w, solvers[s]);
            assert_rests(&w, box, 0.5, 2.0, 4, gravity, 1e-6, 1e-8);
            world_free(&w);
        }
    }
}

// ---- [6] the same box as primitive, hull and mesh ----------------------------------------------

static const double corners[24] = {-0.1, -0.1, -0.1, 0.1, -0.1, -0.1, -0.1, 0.1, -0.1, 0.1, 0.1, -0.1,
                                   -0.1, -0.1, 0.1,  0.1, -0.1, 0.1,  -0.1, 0.1, 0.1,  0.1, 0.1, 0.1};
static const int32_t faces[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                  2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static int32_t shaped_box(World *w, KlGeomKind kind) {
    KlBodyDef body;
    kl_default_body_def(&body);
    body.name = "box";
    set_diagonal(body.inertia, 0.04 / 6.0, 0.04 / 6.0, 0.04 / 6.0);
    raise(0.1, body.pose);
    KlGeomDef geom;
    kl_default_geom_def(&geom);
    geom.name = "shape";
    geom.kind = kind;
    geom.size[0] = geom.size[1] = geom.size[2] = 0.2;
    if (kind != KL_GEOM_BOX) {
        KlMeshDef mesh = {"cube", corners, 8, faces, 12};
        assert_ok(kl_builder_add_mesh(w->builder, &mesh, &geom.mesh));
    }
    assert_ok(kl_builder_add_body(w->builder, &body, &geom.body));
    assert_ok(kl_builder_add_geom(w->builder, &geom, NULL));
    return geom.body;
}

static void a_box_rests_alike_as_primitive_hull_and_mesh(void **state) {
    (void)state;
    static const KlGeomKind kinds[] = {KL_GEOM_BOX, KL_GEOM_CONVEX, KL_GEOM_MESH};
    for (int s = 0; s < SOLVERS; s++) {
        double reference[7];
        for (int k = 0; k < 3; k++) {
            World w = world_new();
            int32_t box = shaped_box(&w, kinds[k]);
            world_plane(&w, ground);
            w.settings.margin = 1e-6;
            world_start(&w, solvers[s]);
            assert_rests(&w, box, 0.5, 9.5, 4, gravity, 1e-9, 1e-9);
            if (k == 0) {
                memcpy(reference, world_pose(&w, box), sizeof reference);
            }
            assert_near_array(world_pose(&w, box), reference, 7, 1e-9);
            world_free(&w);
        }
    }
}

// A finger that slides along x, beside the box; pushes with what is set as its effort.
static int32_t add_finger(World *w, const char *name, double x) {
    double pose[7];
    raise(0.1, pose);
    pose[0] = x;
    int32_t finger = world_box(w, 0.1, 0.05, 0.1, 0.1, pose, NULL);
    KlJointDef joint;
    joint_at(&joint, name, KL_JOINT_PRISMATIC, -1, NULL, finger, pose, pose);
    joint.actuation = KL_ACTUATION_FORCE;
    world_joint(w, &joint);
    return finger;
}

// Fingers hold a box of 9.81 N with 20 N each, in the air.
static void fingers_hold_a_box_alike_as_primitive_hull_and_mesh(void **state) {
    (void)state;
    static const KlGeomKind kinds[] = {KL_GEOM_BOX, KL_GEOM_CONVEX, KL_GEOM_MESH};
    for (int s = 0; s < SOLVERS; s++) {
        for (int k = 0; k < 3; k++) {
            World w = world_new();
            int32_t box = shaped_box(&w, kinds[k]);
            int32_t left = add_finger(&w, "left", -0.125), right = add_finger(&w, "right", 0.125);
            w.settings.margin = 1e-6;
            world_start(&w, solvers[s]);
            double push = 20.0, pull = -20.0;
            assert_ok(kl_sim_set_effort(w.sim, 0, &push));
            assert_ok(kl_sim_set_effort(w.sim, 1, &pull));
            world_run(&w, 0.1);  // closes the margin
            for (int i = 0; i < 2000; i++) {
                assert_ok(kl_sim_step(w.sim));
                assert_near(force_along(&w, 0, left, box), 20.0, 1e-6);
                assert_near(force_along(&w, 0, right, box), -20.0, 1e-6);
                assert_near(force_between(&w, left, box) + force_between(&w, right, box), gravity, 1e-6);
            }
            assert_near(world_pose(&w, box)[2], 0.1, 1e-8);
            assert_near(world_pose(&w, box)[3], 1.0, 1e-12);
            world_free(&w);
        }
    }
}

// ---- [7] the order of contacts -----------------------------------------------------------------

// Three boxes side by side and one across, pushed; added forwards or backwards.
static void run_order(const char *solver, bool backwards, double poses[4][7]) {
    static const double place[4][3] = {{-0.25, 0, 0.1}, {0, 0, 0.1}, {0.25, 0, 0.1}, {0.02, 0, 0.3}};
    World w = world_new();
    int32_t body[4];
    for (int i = 0; i < 4; i++) {
        int b = backwards ? 3 - i : i;
        double pose[7];
        rotation_pose(place[b][0], place[b][1], place[b][2], NULL, pose);
        double twist[6] = {b == 3 ? 0.5 : 0.0, 0, 0, 0, 0, 0};
        body[b] = world_box(&w, 1.0 + b, b == 3 ? 0.7 : 0.2, 0.2, 0.2, pose, twist);
    }
    world_plane(&w, ground);
    w.settings.margin = 1e-6;
    world_start(&w, solver);
    assert_ok(kl_solver_preset(kl_sim_solver(w.sim), "high-precision"));
    world_run(&w, 0.5);
    for (int b = 0; b < 4; b++) {
        memcpy(poses[b], world_pose(&w, body[b]), sizeof poses[b]);
    }
    world_free(&w);
}

static void the_order_of_bodies_changes_nothing_beyond_the_tolerance(void **state) {
    (void)state;
    for (int s = 0; s < SOLVERS; s++) {
        double forwards[4][7], backwards[4][7];
        run_order(solvers[s], false, forwards);
        run_order(solvers[s], true, backwards);
        assert_true(forwards[3][0] > 0.02 + 0.01);  // it slid
        for (int b = 0; b < 4; b++) {
            assert_near_array(forwards[b], backwards[b], 7, 1e-8);
        }
    }
}

// ---- contact overflow --------------------------------------------------------------------------

static void more_contacts_than_there_is_room_for_are_told_and_change_nothing(void **state) {
    (void)state;
    World w = world_new();
    double pose[7];
    raise(0.1 - 1e-4, pose);
    world_box(&w, 1.0, 0.2, 0.2, 0.2, pose, NULL);
    world_plane(&w, ground);
    w.settings.max_contacts = 2;
    world_start(&w, "newton-ncp");
    uint64_t before = kl_sim_hash(w.sim);
    assert_fails(kl_sim_step(w.sim), KL_ERR_LIMIT, "4");
    assert_int_equal(kl_sim_hash(w.sim), before);
    assert_int_equal(kl_sim_step_index(w.sim), 0);
    world_free(&w);
}

// ---- restitution, friction ---------------------------------------------------------------------

static void a_rebound_has_its_speed_within_a_percent_and_never_gains_energy(void **state) {
    (void)state;
    static const double restitution[] = {0.0, 0.3, 0.5, 0.8, 1.0};
    for (int s = 0; s < SOLVERS; s++) {
        for (int r = 0; r < 5; r++) {
            World w = world_new();
            double pose[7];
            raise(1.0, pose);
            int32_t ball = world_sphere(&w, 1.0, 0.1, pose, NULL, restitution[r]);
            world_plane(&w, ground);
            world_start(&w, solvers[s]);
            double before = 0.0, after = 0.0, energy = gravity * 1.0, apex = 1.0;
            for (int i = 0; i < 1500; i++) {
                double was = world_twist(&w, ball)[2];
                assert_ok(kl_sim_step(w.sim));
                double is = world_twist(&w, ball)[2], height = world_pose(&w, ball)[2];
                bool impact = is - was > 1e-6;
                before = impact && before == 0.0 ? -was : before;
                after = impact && after == 0.0 ? is : after;
                // In flight semi-implicit Euler loses g^2 dt^2 / 2 a step; the step of an impact goes up
                // without gravity, g v dt. A whole bounce with restitution 1 is even.
                double now = gravity * height + 0.5 * is * is;
                assert_true(now <= energy + (impact ? gravity * 1e-3 * is : 0.0) + 1e-9);
                energy = now;
                assert_true(height <= apex + 1e-9);
                apex = was > 0.0 && is <= 0.0 ? height : apex;
            }
            assert_true(before > 4.0);
            assert_near(after, restitution[r] * before, 0.01 * before);
            world_free(&w);
        }
    }
}

static double slide_on_incline(const char *solver, double angle, double friction) {
    const double turn[3] = {0.0, angle, 0.0};
    double plane[7], pose[7], up[3];
    rotation_pose(0.0, 0.0, 0.0, turn, plane);
    kl_quat_rotate(plane + 3, (const double[3]){0, 0, 0.05}, up);
    rotation_pose(up[0], up[1], up[2], turn, pose);
    World w = world_new();
    int32_t box = world_box(&w, 1.0, 0.4, 0.4, 0.1, pose, NULL);
    world_plane(&w, plane);
    KlBuilder *builder = w.builder;
    assert_ok(kl_builder_pair(builder, 0, 1, friction, 0.0));
    w.settings.margin = 1e-6;
    world_start(&w, solver);
    world_run(&w, 1.0);
    double speed = kl_norm3(world_twist(&w, box));
    world_free(&w);
    return speed;
}

static void a_box_holds_to_the_friction_angle_and_slips_beyond(void **state) {
    (void)state;
    const double friction = 0.5, limit = 0.46364760900080612;  // atan(0.5)
    for (int s = 0; s < SOLVERS; s++) {
        const double near = 1e-6;  // rad
        assert_near(slide_on_incline(solvers[s], limit - near, friction), 0.0, 1e-11);
        // g (sin - mu cos) to first order, sqrt(1 + mu^2) = 1.118...
        assert_near(slide_on_incline(solvers[s], limit + near, friction), gravity * near * 1.118033988749895, 1e-10);
        double angle = limit + 0.01;
        double expected =
            gravity * (0.45613535784606735 - friction * 0.8899104085932696);  // sin, cos of the angle; after 1 s
        assert_near(slide_on_incline(solvers[s], angle, friction), expected, 1e-6);
    }
}

static void a_sliding_sphere_comes_to_roll(void **state) {
    (void)state;
    for (int s = 0; s < SOLVERS; s++) {
        World w = world_new();
        double pose[7];
        const double twist[6] = {2.0, 0, 0, 0, 0, 0};
        raise(0.1, pose);
        int32_t ball = world_sphere(&w, 1.0, 0.1, pose, twist, 0.0);
        world_plane(&w, ground);
        w.settings.margin = 1e-6;
        world_start(&w, solvers[s]);
        world_run(&w, 1.0);
        const double *u = world_twist(&w, ball);
        assert_near(u[0], 2.0 * 5.0 / 7.0, 1e-4);
        assert_near(u[4] * 0.1, u[0], 1e-5);  // it rolls on a radius shorter by half the margin
        world_free(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heavy_box_stays_on_a_light_one_up_to_a_million_to_one),
        cmocka_unit_test(a_stack_of_five_carries_at_each_floor_what_is_above),
        cmocka_unit_test(a_closure_of_five_rows_neither_drifts_nor_locks),
        cmocka_unit_test(a_resting_box_neither_flickers_nor_chatters),
        cmocka_unit_test(a_box_rests_alike_as_primitive_hull_and_mesh),
        cmocka_unit_test(fingers_hold_a_box_alike_as_primitive_hull_and_mesh),
        cmocka_unit_test(the_order_of_bodies_changes_nothing_beyond_the_tolerance),
        cmocka_unit_test(more_contacts_than_there_is_room_for_are_told_and_change_nothing),
        cmocka_unit_test(a_rebound_has_its_speed_within_a_percent_and_never_gains_energy),
        cmocka_unit_test(a_box_holds_to_the_friction_angle_and_slips_beyond),
        cmocka_unit_test(a_sliding_sphere_comes_to_roll),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
