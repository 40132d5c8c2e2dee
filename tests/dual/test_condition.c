// Rank, spectrum and internal forces of problems whose answers are known.
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "dual/problem.h"
#include "dual/rank.h"
#include "support.h"

// A box of 1 kg and edge 0.2 m on four corner contacts: 12 rows, rank 6. `mass` scales it.
static KlProblem *box(double mass) {
    KlProblemSize size = {.contact_count = 4, .body_count = 1};
    static const double corners[4][3] = {{.1, .1, -.1}, {-.1, .1, -.1}, {-.1, -.1, -.1}, {.1, -.1, -.1}};
    KlProblem *p;
    assert_ok(kl_problem_create(&size, &p));
    p->dt = 1e-3;
    p->mass[0] = mass;
    p->inverse_mass[0] = 1.0 / mass;
    for (int i = 0; i < 3; i++) {
        p->inertia[4 * i] = mass * 0.04 / 6.0;
        p->inverse_inertia[4 * i] = 6.0 / (mass * 0.04);
    }
    for (int k = 0; k < 4; k++) {
        const double *r = corners[k];
        p->friction[k] = 0.7;
        p->block_body[2 * k] = -1;
        p->block_body[2 * k + 1] = 0;
        for (int i = 0; i < 3; i++) {  // row of direction e_i: (e_i, r x e_i)
            double *row = p->jacobian + 12 * (3 * k + i) + 6;
            row[i] = 1.0;
            row[3 + (i + 1) % 3] = r[(i + 2) % 3];
            row[3 + (i + 2) % 3] = -r[(i + 1) % 3];
        }
        p->free_velocity[3 * k + 2] = -9.81e-3;
    }
    assert_ok(kl_problem_check(p));
    return p;
}

static void a_box_on_four_corners_has_rank_six(void **state) {
    (void)state;
    static const double masses[] = {1e-6, 1.0, 1e6};
    for (int m = 0; m < 3; m++) {
        KlProblem *p = box(masses[m]);
        KlCondition c;
        double values[12];
        assert_ok(kl_problem_condition(p, &c));
        assert_int_equal(c.rank, 6);
        assert_int_equal(c.jacobian_rank, 6);
        assert_ok(kl_problem_spectrum(p, values));
        // of the exact reference (box_exact.json)
        static const double known[] = {1.67544467966324, 1.67544467966324, 4.0, 12.0,
                                       14.3245553203368, 14.3245553203368};
        double trace = 0.0;
        for (int i = 0; i < 12; i++) {
            trace += values[i];
            assert_true(i < 6 ? fabs(values[i]) < 1e-13 / masses[m] : values[i] > 0.1 / masses[m]);
        }
        for (int i = 0; i < 6; i++) {
            assert_near(values[6 + i] * masses[m], known[i], 1e-12);
        }
        assert_near(trace * masses[m], 48.0, 1e-12);  // 12 rows of 1 + 6 (r_a^2 + r_b^2) / 0.04 = 4
        assert_near(c.eigen_max, values[11], 0.0);
        assert_near(c.eigen_min, values[6], 0.0);
        assert_near(c.condition, values[11] / values[6], 0.0);
        assert_true(c.density > 0.5 && c.density <= 1.0);
        kl_problem_destroy(p);
    }
}

// Equal loads are the minimum-norm reaction; four corners that pull at one another move nothing.
static void internal_share_is_the_part_that_moves_nothing(void **state) {
    (void)state;
    KlProblem *p = box(1.0);
    double lambda[12] = {0.0}, share;
    for (int k = 0; k < 4; k++) {
        lambda[3 * k + 2] = 1.0;
    }
    assert_ok(kl_problem_internal_share(p, lambda, &share));
    assert_near(share, 0.0, 1e-14);
    for (int k = 0; k < 4; k++) {
        lambda[3 * k + 2] = k % 2 == 0 ? 1.0 : -1.0;  // the diagonals against each other
    }
    assert_ok(kl_problem_internal_share(p, lambda, &share));
    assert_near(share, 1.0, 1e-14);
    for (int k = 0; k < 4; k++) {
        lambda[3 * k + 2] = k % 2 == 0 ? 7.0 : 1.0;  // 4 + (+-3): share 3 / 5
    }
    assert_ok(kl_problem_internal_share(p, lambda, &share));
    assert_near(share, 0.6, 1e-14);
    memset(lambda, 0, sizeof lambda);
    assert_ok(kl_problem_internal_share(p, lambda, &share));
    assert_near(share, 0.0, 0.0);
    kl_problem_destroy(p);
}

static void softening_carries_what_would_be_internal(void **state) {
    (void)state;
    KlProblem *p = box(1.0);
    KlCondition c;
    double lambda[12] = {0.0}, share;
    lambda[2] = lambda[8] = 1.0;
    lambda[5] = lambda[11] = -1.0;
    for (int i = 0; i < 12; i++) {
        p->softening[i] = 0.5;
    }
    assert_ok(kl_problem_internal_share(p, lambda, &share));
    assert_near(share, 0.0, 0.0);
    assert_ok(kl_problem_condition(p, &c));
    assert_int_equal(c.rank, 12);
    assert_int_equal(c.jacobian_rank, 6);
    assert_near(c.eigen_min, 0.5, 1e-13);
    kl_problem_destroy(p);
}

static void the_same_holds_when_only_d_is_known(void **state) {
    (void)state;
    KlProblem *p = box(1.0), *twin;
    double d[144], lambda[12] = {0.0}, share;
    kl_problem_delassus(p, d);
    assert_ok(kl_problem_from_dense(0, 0, 4, d, p->free_velocity, p->friction, 1e-3, &twin));
    for (int k = 0; k < 4; k++) {
        lambda[3 * k + 2] = k % 2 == 0 ? 7.0 : 1.0;
    }
    KlCondition a, b;
    assert_ok(kl_problem_condition(p, &a));
    assert_ok(kl_problem_condition(twin, &b));
    assert_int_equal(b.rank, 6);
    assert_int_equal(b.jacobian_rank, 6);
    assert_near(a.eigen_min, b.eigen_min, 1e-13);
    assert_near(a.density, b.density, 0.0);
    assert_ok(kl_problem_internal_share(twin, lambda, &share));
    assert_near(share, 0.6, 1e-14);
    kl_problem_destroy(p);
    kl_problem_destroy(twin);
}

static void an_empty_problem_has_no_rank(void **state) {
    (void)state;
    KlProblemSize size = {.body_count = 1}, huge = {.contact_count = 1001, .body_count = 1};
    KlProblem *p;
    KlCondition c;
    assert_ok(kl_problem_create(&size, &p));
    assert_ok(kl_problem_condition(p, &c));
    assert_int_equal(c.rank, 0);
    kl_problem_destroy(p);
    assert_ok(kl_problem_create(&huge, &p));
    assert_fails(kl_problem_condition(p, &c), KL_ERR_LIMIT, "3000 rows");
    kl_problem_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_on_four_corners_has_rank_six),
        cmocka_unit_test(internal_share_is_the_part_that_moves_nothing),
        cmocka_unit_test(softening_carries_what_would_be_internal),
        cmocka_unit_test(the_same_holds_when_only_d_is_known),
        cmocka_unit_test(an_empty_problem_has_no_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
