// Runs the cases of a file of state hashes and compares, or writes what it finds.
#ifndef KL_TESTS_SIM_GOLDEN_H
#define KL_TESTS_SIM_GOLDEN_H

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

static json_t *load_golden(const char *path) {
    json_error_t error;
    json_t *list = json_load_file(path, 0, &error);
    if (list == NULL) {
        fail_msg("%s:%d: %s", path, error.line, error.text);
    }
    return list;
}

static uint64_t run_case(const json_t *golden) {
    char path[512];
    KlScene *scene = NULL;
    KlModel *model = NULL;
    KlSim *sim = NULL;
    snprintf(path, sizeof path, "%s/%s.json", KL_SCENES, json_string_value(json_object_get(golden, "scene")));
    assert_ok(kl_scene_load(path, kl_files_disk(), &scene));
    int32_t run = kl_scene_find_run(scene, json_string_value(json_object_get(golden, "run")));
    assert_true(run >= 0);
    assert_ok(kl_scene_model_for_run(scene, run, &model));
    assert_ok(kl_sim_create(model, &sim));
    assert_ok(kl_sim_set_solver(sim, json_string_value(json_object_get(golden, "solver"))));
    assert_ok(kl_solver_preset(kl_sim_solver(sim), json_string_value(json_object_get(golden, "preset"))));
    json_int_t steps = json_integer_value(json_object_get(golden, "steps"));
    KlStatus status = KL_OK;
    for (json_int_t i = 0; i < steps && status == KL_OK; i++) {
        status = kl_sim_step(sim);
    }
    assert_true(status == KL_OK || status == KL_ERR_DIVERGED);  // a diverged run ends before its bad step
    uint64_t hash = kl_sim_hash(sim);
    kl_sim_destroy(sim);
    kl_model_destroy(model);
    kl_scene_destroy(scene);
    return hash;
}

static void write_hash(uint64_t hash, char text[20]) { snprintf(text, 20, "%016" PRIx64, hash); }

static void compare_golden(const char *path) {
    json_t *list = load_golden(path);
    size_t index, wrong = 0;
    json_t *golden;
    assert_true(json_array_size(list) > 0);
    json_array_foreach(list, index, golden) {
        char found[20];
        write_hash(run_case(golden), found);
        const char *expected = json_string_value(json_object_get(golden, "hash"));
        if (expected == NULL || strcmp(found, expected) != 0) {
            print_error("%s %s %s, %d steps: hash %s, golden %s\n", json_string_value(json_object_get(golden, "scene")),
                        json_string_value(json_object_get(golden, "run")),
                        json_string_value(json_object_get(golden, "solver")),
                        (int)json_integer_value(json_object_get(golden, "steps")), found, expected);
            wrong++;
        }
    }
    json_decref(list);
    if (wrong > 0) {
        fail_msg("%zu of the golden hashes differ; a wanted change of numbers moves them with "
                 "tests/golden/update.sh",
                 wrong);
    }
}

static void update_golden(const char *path) {
    json_t *list = load_golden(path);
    size_t index;
    json_t *golden;
    json_array_foreach(list, index, golden) {
        char found[20];
        write_hash(run_case(golden), found);
        json_object_set_new(golden, "hash", json_string(found));
    }
    assert_int_equal(json_dump_file(list, path, JSON_INDENT(1)), 0);
    json_decref(list);
}

// main of a suite over one file; with --update it writes the hashes instead.
#define GOLDEN_SUITE(path, claim)                                                                        \
    static void claim(void **state) {                                                                    \
        (void)state;                                                                                     \
        compare_golden(path);                                                                            \
    }                                                                                                    \
    static void update(void **state) {                                                                   \
        (void)state;                                                                                     \
        update_golden(path);                                                                             \
    }                                                                                                    \
    int main(int argc, char **argv) {                                                                    \
        const struct CMUnitTest check[] = {cmocka_unit_test(claim)};                                     \
        const struct CMUnitTest write[] = {cmocka_unit_test(update)};                                    \
        return argc > 1 && strcmp(argv[1], "--update") == 0 ? cmocka_run_group_tests(write, NULL, NULL)  \
                                                            : cmocka_run_group_tests(check, NULL, NULL); \
    }

#endif
