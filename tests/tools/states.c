// Prints where a build takes every scene in 100 steps, and what it solves the reference problems with: for
// tests/golden/widths.sh, which compares builds of other instruction sets. A line: name, solver, numbers.
#include <dirent.h>

#include "../solver/cases.h"

enum { STEPS = 100, MOST_SCENES = 256 };

static const char *const solvers[] = {"newton-ncp", "admm-ncp-plus"};

static void print_numbers(const char *name, const char *solver, const double *values, int32_t count) {
    printf("%s %s", name, solver);
    for (int32_t i = 0; i < count; i++) {
        printf(" %.17g", values[i]);
    }
    printf("\n");
}

static void print_scene(const char *file, const char *solver) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", KL_SCENES, file);
    KlScene *scene;
    KlModel *model;
    KlSim *sim;
    assert_ok(kl_scene_load(path, kl_files_disk(), &scene));
    assert_ok(kl_scene_model_for_run(scene, 0, &model));
    assert_ok(kl_sim_create(model, &sim));
    assert_ok(kl_sim_set_solver(sim, solver));
    assert_ok(kl_solver_preset(kl_sim_solver(sim), "high-precision"));
    for (int i = 0; i < STEPS; i++) {
        assert_ok(kl_sim_step(sim));
    }
    const KlField *pose = kl_sim_find_field(sim, "pose");
    print_numbers(file, solver, pose->data, pose->rows * pose->columns);
    kl_sim_destroy(sim);
    kl_model_destroy(model);
    kl_scene_destroy(scene);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void every_scene(void **state) {
    (void)state;
    static char *names[MOST_SCENES];
    int count = 0;
    DIR *folder = opendir(KL_SCENES);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL && count < MOST_SCENES;) {
        const char *end = strrchr(entry->d_name, '.');
        if (end != NULL && strcmp(end, ".json") == 0 && strcmp(entry->d_name, "schema.json") != 0) {
            names[count++] = strdup(entry->d_name);
        }
    }
    closedir(folder);
    assert_true(count > 0);
    qsort(names, (size_t)count, sizeof *names, by_name);
    for (int i = 0; i < count; i++) {
        for (int s = 0; s < 2; s++) {
            print_scene(names[i], solvers[s]);
        }
        free(names[i]);
    }
}

static void every_problem(void **state) {
    (void)state;
    static Case cases[CASE_COUNT];
    cases_load(cases);
    for (int c = 0; c < CASE_COUNT; c++) {
        for (int s = 0; s < 2 && cases[c].unique; s++) {
            KlSolver *solver;
            KlSolution solution;
            assert_ok(kl_solver_create(solvers[s], &solver));
            assert_ok(kl_solver_preset(solver, "high-precision"));
            assert_ok(kl_solver_solve(solver, cases[c].problem, NULL, &solution));
            print_numbers(cases[c].name, solvers[s], solution.lambda, cases[c].problem->dim);
            kl_solver_destroy(solver);
        }
    }
    cases_free(cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_scene), cmocka_unit_test(every_problem)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
