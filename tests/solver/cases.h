// The reference problems of tests/data as a list, for suites that loop over problems and solvers.
#ifndef KL_TESTS_SOLVER_CASES_H
#define KL_TESTS_SOLVER_CASES_H

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "support.h"

enum { CASE_MAX_DIM = 24, CASE_COUNT = 13 + 7 + 3 };

typedef struct Case {
    char name[64];
    KlProblem *problem;
    bool known, unique;           // a solution is known; it is the only one
    bool hard;                    // mass ratio 10^4: no published solver converges (paper, Boxes-Fixed)
    double lambda[CASE_MAX_DIM];  // known solution
    double delassus[CASE_MAX_DIM * CASE_MAX_DIM];
    KktProblem judge;  // the independent judge's view
} Case;

static inline int case_numbers(const json_t *list, double *x) {
    int count = (int)json_array_size(list);
    for (int i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, (size_t)i);
        x[i] = json_is_string(entry) ? strtod(json_string_value(entry), NULL) : json_number_value(entry);
    }
    return count;
}

static inline void case_finish(Case *c) {
    assert_true(c->problem->dim <= CASE_MAX_DIM);
    c->judge = judge_view(c->problem, c->delassus);
}

static inline void case_dense(Case *c, const json_t *rows, const json_t *v_f, const double *mu, int nj, int nl) {
    double d[CASE_MAX_DIM * CASE_MAX_DIM], free_velocity[CASE_MAX_DIM];
    int dim = case_numbers(v_f, free_velocity);
    for (int i = 0; i < dim; i++) {
        case_numbers(json_array_get(rows, (size_t)i), d + i * dim);
    }
    assert_ok(kl_problem_from_dense(nj, nl, (dim - nj - nl) / 3, d, free_velocity, mu, 1e-3, &c->problem));
}

static inline int cases_from_list(Case *cases) {
    size_t size;
    char *text = kl_test_read(KL_TEST_DATA "/problems.json", &size);
    json_t *root = json_loadb(text, size, 0, NULL);
    int count = (int)json_array_size(root);
    for (int i = 0; i < count; i++) {
        Case *c = &cases[i];
        const json_t *entry = json_array_get(root, (size_t)i);
        int32_t listed = 0;
        snprintf(c->name, sizeof c->name, "%s", json_string_value(json_object_get(entry, "name")));
        assert_ok(kl_problem_parse_json(text, size, "problems.json", i, &listed, &c->problem));
        case_numbers(json_object_get(entry, "lam"), c->lambda);
        c->known = true;
        c->unique = json_is_true(json_object_get(entry, "unique_lambda"));
        c->hard = strncmp(c->name, "boxes-fixed-0.1-1000", 20) == 0;
    }
    json_decref(root);
    free(text);
    return count;
}

static inline int cases_from_exact(Case *cases) {
    size_t size;
    char *text = kl_test_read(KL_TEST_DATA "/small_exact.json", &size);
    json_t *root = json_loadb(text, size, 0, NULL), *entry;
    const char *name;
    int count = 0;
    json_object_foreach(root, name, entry) {
        Case *c = &cases[count++];
        double mu[CASE_MAX_DIM];
        snprintf(c->name, sizeof c->name, "%s", name);
        case_numbers(json_object_get(entry, "mu"), mu);
        case_dense(c, json_object_get(entry, "D"), json_object_get(entry, "vf"), mu,
                   (int)json_integer_value(json_object_get(entry, "nj")),
                   (int)json_integer_value(json_object_get(entry, "nl")));
        const json_t *solutions = json_object_get(entry, "solutions");
        c->known = c->unique = json_array_size(solutions) == 1;
        case_numbers(json_object_get(json_array_get(solutions, 0), "lam"), c->lambda);
    }
    json_decref(root);
    free(text);
    return count;
}

static inline int cases_from_box(Case *cases) {
    static const char *const pushes[] = {"rest", "push_stick_0.3mg", "push_slip_1.0mg"};
    size_t size;
    char *text = kl_test_read(KL_TEST_DATA "/box_exact.json", &size);
    json_t *root = json_loadb(text, size, 0, NULL);
    double friction = json_number_value(json_object_get(root, "mu"));
    const double mu[4] = {friction, friction, friction, friction};
    for (int i = 0; i < 3; i++) {
        Case *c = &cases[i];
        const json_t *entry = json_object_get(root, pushes[i]);
        snprintf(c->name, sizeof c->name, "box-exact-%s", pushes[i]);
        case_dense(c, json_object_get(root, "D"), json_object_get(entry, "vf"), mu, 0, 0);
    }
    json_decref(root);
    free(text);
    return 3;
}

static inline void cases_load(Case cases[CASE_COUNT]) {
    memset(cases, 0, CASE_COUNT * sizeof *cases);
    int count = cases_from_list(cases);
    count += cases_from_exact(cases + count);
    count += cases_from_box(cases + count);
    assert_int_equal(count, CASE_COUNT);
    for (int i = 0; i < CASE_COUNT; i++) {
        case_finish(&cases[i]);
    }
}

static inline void cases_free(Case cases[CASE_COUNT]) {
    for (int i = 0; i < CASE_COUNT; i++) {
        kl_problem_destroy(cases[i].problem);
    }
}

// For cmocka_run_group_tests: *state is the list.
static inline int cases_setup(void **state) {
    static Case cases[CASE_COUNT];
    cases_load(cases);
    *state = cases;
    return 0;
}

static inline int cases_teardown(void **state) {
    cases_free(*state);
    return 0;
}

#endif
