// One model serves simulations in several threads at once (kl.h): each gets what it gets alone, and its own
// last error. Run under ThreadSanitizer by make sanitize-thread.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

enum { THREADS = 4, STEPS = 20 };

typedef struct Task {
    const KlModel *model;
    const char *solver;
    uint64_t hash;
    char message[256];
} Task;

// No assertions here: cmocka's end a test by longjmp, which only its own thread may do.
static void *simulate(void *argument) {
    Task *task = argument;
    KlSim *sim = NULL;
    bool ok = kl_sim_create(task->model, &sim) == KL_OK && kl_sim_set_solver(sim, task->solver) == KL_OK;
    for (int i = 0; ok && i < STEPS; i++) {
        ok = kl_sim_step(sim) == KL_OK;
    }
    task->hash = ok ? kl_sim_hash(sim) : 0;
    if (sim != NULL) {
        (void)kl_solver_set(kl_sim_solver(sim), task->solver, 1.0);  // no parameter has such a name
    }
    snprintf(task->message, sizeof task->message, "%.255s", kl_last_error()->message);
    kl_sim_destroy(sim);
    return NULL;
}

static void simulations_of_one_model_in_threads_do_not_meet(void **state) {
    (void)state;
    static const char *const solvers[THREADS] = {"newton-ncp", "admm-ncp-plus", "nbgs", "admm-ncp-fp"};
    KlScene *scene;
    assert_ok(kl_scene_load(KL_SCENES "/boxes_fixed.json", kl_files_disk(), &scene));
    Task alone[THREADS], together[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        alone[i] = together[i] = (Task){.model = kl_scene_model(scene), .solver = solvers[i]};
        simulate(&alone[i]);
        assert_true(alone[i].hash != 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, simulate, &together[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_true(together[i].hash == alone[i].hash);
        assert_string_equal(together[i].message, alone[i].message);
        assert_non_null(strstr(together[i].message, solvers[i]));
    }
    kl_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simulations_of_one_model_in_threads_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
