// Large scenes: 10^5 bodies, and 10^4 contacts at once.
#include "world.h"

static void a_hundred_thousand_bodies_fall(void **state) {
    (void)state;
    World w = world_new();
    KlBodyDef body;
    kl_default_body_def(&body);
    char name[16];
    body.name = name;
    for (int32_t i = 0; i < 100000; i++) {
        snprintf(name, sizeof name, "b%d", (int)i);
        body.pose[0] = i;
        assert_ok(kl_builder_add_body(w.builder, &body, NULL));
    }
    world_start(&w, "newton-ncp");
    for (int i = 0; i < 3; i++) {
        assert_ok(kl_sim_step(w.sim));
    }
    assert_near(world_twist(&w, 99999)[2], -3e-3 * 9.81, 1e-15);
    world_free(&w);
}

// A field of boxes that do not touch each other: 4 contacts each.
static void build_field(World *w, int32_t side) {
    static const double plane[7] = {0, 0, 0, 1, 0, 0, 0};
    for (int32_t i = 0; i < side * side; i++) {
        double pose[7];
        rotation_pose(0.5 * (i % side), 0.5 * (i / side), 0.1, NULL, pose);
        world_box(w, 1.0, 0.2, 0.2, 0.2, pose, NULL);
    }
    world_plane(w, plane);
    w->settings.margin = 1e-6;
}

static void ten_thousand_contacts_are_solved(void **state) {
    (void)state;
    enum { SIDE = 50 };
    World w = world_new();
    build_field(&w, SIDE);
    w.settings.max_contacts = 4 * SIDE * SIDE;
    world_start(&w, "newton-ncp");
    for (int i = 0; i < 3; i++) {
        assert_ok(kl_sim_step(w.sim));
    }
    assert_int_equal(kl_sim_problem(w.sim)->contact_count, 4 * SIDE * SIDE);
    assert_int_equal(kl_sim_solution(w.sim)->outcome, KL_OUTCOME_CONVERGED);
    double sum = 0.0;
    const double *force = world_field(&w, "contact_force");
    for (int32_t k = 0; k < 4 * SIDE * SIDE; k++) {
        sum += force[3 * k + 2];
    }
    assert_near(sum, SIDE * SIDE * 9.81, 1e-6 * sum);
    world_free(&w);
}

// A solver that keeps a dense matrix says that this is too much for it; the state stays.
static void dense_solvers_refuse_what_does_not_fit(void **state) {
    (void)state;
    enum { SIDE = 50 };
    World w = world_new();
    build_field(&w, SIDE);
    w.settings.max_contacts = 4 * SIDE * SIDE;
    world_start(&w, "newton-ncp");
    KlStatus status = kl_sim_set_solver(w.sim, "admm-ncp-fp");
    uint64_t before = kl_sim_hash(w.sim);
    status = status == KL_OK ? kl_sim_step(w.sim) : status;
    assert_true(status == KL_ERR_LIMIT || status == KL_ERR_MEMORY);
    assert_int_equal(kl_sim_hash(w.sim), before);
    world_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_thousand_bodies_fall),
        cmocka_unit_test(ten_thousand_contacts_are_solved),
        cmocka_unit_test(dense_solvers_refuse_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
