// Out of memory in the simulation: every single allocation of create, solver choice and closing of loops
// fails once. ODE allocates by its own calls, which this does not reach (docs/reliability.md).
#include "faults.h"

#include "scene_run.h"

static KlScene *load(const char *id) {
    char path[512];
    KlScene *scene;
    snprintf(path, sizeof path, "%s/%s.json", KL_SCENES, id);
    assert_ok(kl_scene_load(path, NULL, &scene));
    return scene;
}

static KlStatus create_and_step(void *context) {
    KlSim *sim;
    KlStatus status = kl_sim_create(context, &sim);
    if (status != KL_OK) {
        assert_null(sim);
        return status;
    }
    status = kl_sim_step(sim);
    kl_sim_destroy(sim);
    return status;
}

static void a_simulation_is_made_or_memory_is_missing(void **state) {
    (void)state;
    static const char *const scenes[] = {"fourbar_free", "box_on_plane"};
    for (int32_t i = 0; i < 2; i++) {
        KlScene *scene = load(scenes[i]);
        assert_true(faults_each(create_and_step, (void *)(uintptr_t)kl_scene_model(scene)) > 0);
        kl_scene_destroy(scene);
    }
}

// A refused change leaves the solver before it, which goes on stepping.
static void a_solver_is_chosen_or_the_old_one_stays(void **state) {
    (void)state;
    KlScene *scene = load("fourbar_free");
    KlSim *sim;
    assert_ok(kl_sim_create(kl_scene_model(scene), &sim));
    KlStatus status = KL_ERR_MEMORY;
    for (uint64_t n = 0; status != KL_OK; n++) {
        Fault fault = {.until = n};
        kl_set_alloc_gate(fault_gate, &fault);
        status = kl_sim_set_solver(sim, "nbgs");
        kl_set_alloc_gate(NULL, NULL);
        assert_int_equal(status, fault.fired ? KL_ERR_MEMORY : KL_OK);
        assert_string_equal(kl_solver_info(kl_sim_solver(sim))->id, fault.fired ? "admm-ncp-fp" : "nbgs");
        assert_ok(kl_sim_step(sim));
    }
    kl_sim_destroy(sim);
    kl_scene_destroy(scene);
}

static KlStatus close_loops(void *context) {
    KlAssembly report;
    return kl_sim_assemble(context, 1e-10, &report);
}

static KlStatus close_scene(void *context) {
    KlAssembly report;
    return kl_scene_close_loops(context, 1e-10, &report);
}

static void loops_close_or_memory_is_missing(void **state) {
    (void)state;
    KlScene *scene = load("fourbar_free");
    KlSim *sim;
    assert_ok(kl_sim_create(kl_scene_model(scene), &sim));
    assert_true(faults_each(close_loops, sim) > 0);
    kl_sim_destroy(sim);
    assert_true(faults_each(close_scene, scene) > 0);
    kl_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_simulation_is_made_or_memory_is_missing),
        cmocka_unit_test(a_solver_is_chosen_or_the_old_one_stays),
        cmocka_unit_test(loops_close_or_memory_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
