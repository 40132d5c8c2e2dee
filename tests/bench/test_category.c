// Sample categories of problems with chosen counts and ranks.
#include <string.h>

#include "base/rng.h"
#include "dual/problem.h"
#include "support.h"

// Joints of five rows in a chain, limits on the first body, contacts with the world dealt round. Rows are
// random, so of full rank as far as the bodies allow; `repeated` makes the last joint copy the first.
static KlProblem *make(int32_t bodies, int32_t joints, int32_t limits, int32_t contacts, bool repeated) {
    KlProblemSize size = {.joint_rows = 5 * joints,
                          .joint_count = joints,
                          .limit_count = limits,
                          .contact_count = contacts,
                          .body_count = bodies};
    KlRng rng = {3};
    KlProblem *p;
    assert_ok(kl_problem_create(&size, &p));
    for (int32_t j = 0; j < joints; j++) {
        p->block_start[j] = 5 * j;
    }
    for (int32_t b = 0; b < p->block_count; b++) {
        p->block_body[2 * b] = b < joints && b > 0 ? (b - 1) % bodies : -1;
        p->block_body[2 * b + 1] = b % bodies == p->block_body[2 * b] ? -1 : b % bodies;
        for (int32_t i = 12 * p->block_start[b]; i < 12 * p->block_start[b + 1]; i++) {
            p->jacobian[i] = kl_rng_range(&rng, -1, 1);
        }
    }
    if (repeated) {
        memcpy(p->block_body + 2 * (joints - 1), p->block_body, 2 * sizeof(int32_t));
        memcpy(p->jacobian + 60 * (joints - 1), p->jacobian, 60 * sizeof(double));
    }
    return p;
}

static void expect(KlProblem *p, const char *name) {
    KlCategory category;
    assert_ok(kl_problem_category(p, &category));
    assert_string_equal(kl_category_name(category), name);
    kl_problem_destroy(p);
}

static void joints_are_sorted_by_rank_and_density(void **state) {
    (void)state;
    expect(make(2, 0, 0, 0, false), "unconstrained");
    expect(make(4, 3, 0, 0, false), "independent-joints");
    expect(make(4, 3, 2, 0, false), "independent-joints");
    expect(make(4, 3, 0, 0, true), "redundant-joints");  // 15 rows of rank 10, 24 degrees
    expect(make(2, 3, 0, 0, false), "dense-joints");     // 15 rows, 12 degrees
}

static void contacts_are_sorted_by_count(void **state) {
    (void)state;
    expect(make(1, 0, 0, 1, false), "single-contact");
    expect(make(1, 0, 0, 2, false), "sparse-contacts");  // 2 n_b still
    expect(make(1, 0, 0, 3, false), "dense-contacts");
    expect(make(4, 2, 0, 4, false), "sparse-contacts");  // 22 of 24: not dense
}

static void dense_constraints_win(void **state) {
    (void)state;
    expect(make(4, 3, 0, 4, false), "dense-constraints");  // 27 of 24
    expect(make(1, 1, 0, 1, false), "dense-constraints");  // 8 of 6, though a single contact
    expect(make(4, 3, 7, 1, false), "dense-constraints");  // limits count
}

static void d_alone_has_no_category(void **state) {
    (void)state;
    const double d[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, v[3] = {0, 0, -1}, mu = 0.5;
    KlProblem *p;
    KlCategory category;
    assert_ok(kl_problem_from_dense(0, 0, 1, d, v, &mu, 1e-3, &p));
    assert_fails(kl_problem_category(p, &category), KL_ERR_ARGUMENT, "bodies");
    kl_problem_destroy(p);
    assert_string_equal(kl_category_name((KlCategory)99), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_are_sorted_by_rank_and_density),
        cmocka_unit_test(contacts_are_sorted_by_count),
        cmocka_unit_test(dense_constraints_win),
        cmocka_unit_test(d_alone_has_no_category),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
