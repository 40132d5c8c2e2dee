// Sample categories from small problems in body form.
#include "support.h"

// `joints` joints of six rows between body 0 and the world, all with the same identity Jacobian, and
// `contacts` contacts.
static KlProblem *make(int32_t bodies, int32_t joints, int32_t contacts, bool repeated) {
    KlProblemSize size = {.joint_rows = 6 * joints, .joint_count = joints, .contact_count = contacts,
                          .body_count = bodies};
    KlProblem *p;
    assert_ok(kl_problem_create(&size, &p));
    p->dt = 1e-3;
    for (int32_t b = 0; b < bodies; b++) {
        p->mass[b] = p->inverse_mass[b] = 1.0;
        for (int32_t k = 0; k < 3; k++) {
            p->inertia[9 * b + 4 * k] = p->inverse_inertia[9 * b + 4 * k] = 1.0;
        }
    }
    for (int32_t j = 0; j < joints; j++) {
        p->block_start[j] = 6 * j;
        p->block_body[2 * j] = repeated ? 0 : j % bodies;
        p->block_body[2 * j + 1] = -1;
        for (int32_t k = 0; k < 6; k++) {
            p->jacobian[12 * (6 * j + k) + k] = 1.0;
        }
    }
    for (int32_t c = 0; c < contacts; c++) {
        p->block_body[2 * (joints + c)] = c % bodies;
        p->block_body[2 * (joints + c) + 1] = -1;
        for (int32_t k = 0; k < 3; k++) {
            p->jacobian[12 * (6 * joints + 3 * c + k) + k] = 1.0;
        }
    }
    return p;
}

static void expect(int32_t bodies, int32_t joints, int32_t contacts, bool repeated, const char *name) {
    KlProblem *p = make(bodies, joints, contacts, repeated);
    KlCategory category;
    assert_ok(kl_problem_category(p, &category));
    assert_string_equal(kl_category_name(category), name);
    kl_problem_destroy(p);
}

static void categories_follow_their_definitions(void **state) {
    (void)state;
    expect(2, 0, 0, false, "unconstrained");
    expect(2, 1, 0, false, "independent-joints");
    expect(3, 2, 0, true, "redundant-joints");
    expect(1, 2, 0, true, "dense-joints");
    expect(1, 0, 1, false, "single-contact");
    expect(2, 0, 2, false, "sparse-contacts");
    expect(2, 0, 4, false, "sparse-contacts");
    expect(2, 0, 5, false, "dense-contacts");
    expect(1, 1, 1, false, "dense-constraints");
    expect(2, 1, 2, false, "sparse-contacts");
}

static void explicit_problems_have_no_densities(void **state) {
    (void)state;
    const double d[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, v[3] = {0, 0, -1}, mu = 0.5;
    KlProblem *p;
    KlCategory category;
    assert_ok(kl_problem_from_dense(0, 0, 1, d, v, &mu, 1e-3, &p));
    assert_fails(kl_problem_category(p, &category), KL_ERR_ARGUMENT, "bodies");
    kl_problem_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(categories_follow_their_definitions),
        cmocka_unit_test(explicit_problems_have_no_densities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
