// Sweeps in body space are sweeps over the dense D, at O(rows) a sweep; seen on chains of bodies with
// joints, limits and contacts, whose J and M are random.
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "dual/problem.h"
#include "support.h"

enum { BODIES = 9, JOINTS = 8, LIMITS = 4, CONTACTS = 10 };

static void fill_random(KlRng *rng, double *x, int count) {
    for (int i = 0; i < count; i++) {
        x[i] = kl_rng_range(rng, -1.0, 1.0);
    }
}

static void fill_body(KlRng *rng, KlProblem *p, int body) {
    p->mass[body] = kl_rng_range(rng, 0.5, 3.0);
    p->inverse_mass[body] = 1.0 / p->mass[body];
    for (int i = 0; i < 3; i++) {
        double moment = kl_rng_range(rng, 0.1, 1.0);
        p->inertia[9 * body + 4 * i] = moment;
        p->inverse_inertia[9 * body + 4 * i] = 1.0 / moment;
    }
}

// Joints between neighbours (3 rows), limits on the same pairs, contacts of bodies with the world.
static KlProblem *chain(uint64_t seed) {
    KlRng rng = {seed};
    KlProblemSize size = {.joint_rows = 3 * JOINTS,
                          .joint_count = JOINTS,
                          .limit_count = LIMITS,
                          .contact_count = CONTACTS,
                          .body_count = BODIES};
    KlProblem *p;
    assert_ok(kl_problem_create(&size, &p));
    p->dt = 1e-3;
    for (int body = 0; body < BODIES; body++) {
        fill_body(&rng, p, body);
    }
    for (int b = 0; b < p->block_count; b++) {
        p->block_id[b] = (uint64_t)b + 1;
        if (b < JOINTS) {
            p->block_start[b] = 3 * b;
        }
        bool contact = b >= JOINTS + LIMITS;
        p->block_body[2 * b] = contact ? -1 : b % JOINTS;
        p->block_body[2 * b + 1] = contact ? (b - JOINTS - LIMITS) % BODIES : b % JOINTS + 1;
    }
    for (int i = 0; i < p->dim; i++) {
        fill_random(&rng, p->jacobian + 12 * i, 12);
        p->softening[i] = i % 3 == 0 ? 0.1 : 0.0;
    }
    for (int b = JOINTS + LIMITS; b < p->block_count; b++) {  // no first body
        for (int i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            memset(p->jacobian + 12 * i, 0, 6 * sizeof(double));
        }
    }
    fill_random(&rng, p->free_velocity, p->dim);
    for (int k = 0; k < CONTACTS; k++) {
        p->friction[k] = kl_rng_range(&rng, 0.2, 0.9);
    }
    assert_ok(kl_problem_check(p));
    return p;
}

static const char *const splitting[] = {"pgs-ccp", "pgs-ccp-nds", "pgs-ncp",      "nbgs",
                                        "raisim",  "raisim-ds",   "raisim-ds-es", "prox"};

static void body_space_sweeps_follow_the_dense_ones(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        KlProblem *p = chain(seed);
        for (size_t i = 0; i < sizeof splitting / sizeof splitting[0]; i++) {
            KlSolver *dense, *bodies;
            KlSolution a, b;
            assert_ok(kl_solver_create(splitting[i], &dense));
            assert_ok(kl_solver_create(splitting[i], &bodies));
            assert_ok(kl_solver_set_text(bodies, "sweep", "body-space"));
            assert_ok(kl_solver_set(dense, "max_iterations", 25));
            assert_ok(kl_solver_set(bodies, "max_iterations", 25));
            assert_ok(kl_solver_solve(dense, p, NULL, &a));
            assert_ok(kl_solver_solve(bodies, p, NULL, &b));
            assert_int_equal(a.iterations, b.iterations);
            double size = 1.0;
            for (int r = 0; r < p->dim; r++) {
                size = fmax(size, fabs(a.lambda[r]));
            }
            assert_near_array(a.lambda, b.lambda, p->dim, 1e-10 * size);  // 25 sweeps of different rounding
            kl_solver_destroy(dense);
            kl_solver_destroy(bodies);
        }
        kl_problem_destroy(p);
    }
}

// "auto" takes the dense rows for small problems and body space for this one.
static void auto_chooses_by_size(void **state) {
    (void)state;
    KlProblem *p = chain(5);
    KlSolver *chosen, *bodies;
    KlSolution a, b;
    assert_true(p->dim > 48);
    assert_ok(kl_solver_create("pgs-ncp", &chosen));
    assert_ok(kl_solver_create("pgs-ncp", &bodies));
    assert_ok(kl_solver_set_text(chosen, "sweep", "auto"));
    assert_ok(kl_solver_set_text(bodies, "sweep", "body-space"));
    assert_ok(kl_solver_set(chosen, "max_iterations", 50));
    assert_ok(kl_solver_set(bodies, "max_iterations", 50));
    assert_ok(kl_solver_solve(chosen, p, NULL, &a));
    assert_ok(kl_solver_solve(bodies, p, NULL, &b));
    assert_memory_equal(a.lambda, b.lambda, (size_t)p->dim * sizeof(double));
    kl_solver_destroy(chosen);
    kl_solver_destroy(bodies);
    kl_problem_destroy(p);
}

// Eight rows of rank five in one block: the exact block solution stops all of them in one iteration.
static void redundant_joint_rows_close_in_one_iteration(void **state) {
    (void)state;
    KlRng rng = {8};
    for (int trial = 0; trial < 100; trial++) {
        double j[8 * 5], d[64] = {0}, v_f[8] = {0}, u[5];
        fill_random(&rng, j, 40);
        fill_random(&rng, u, 5);
        for (int r = 0; r < 8; r++) {
            for (int k = 0; k < 5; k++) {
                v_f[r] += j[5 * r + k] * u[k];
                for (int c = 0; c < 8; c++) {
                    d[8 * r + c] += j[5 * r + k] * j[5 * c + k];
                }
            }
        }
        KlProblem *p;
        KlSolver *s;
        KlSolution solution;
        assert_ok(kl_problem_from_dense(8, 0, 0, d, v_f, NULL, 1e-3, &p));
        assert_ok(kl_solver_create("pgs-ncp", &s));
        assert_ok(kl_solver_set(s, "max_iterations", 1));
        assert_ok(kl_solver_solve(s, p, NULL, &solution));
        for (int r = 0; r < 8; r++) {
            assert_near(solution.velocity[r], 0.0, 1e-9);  // five random rows may be nearly dependent
        }
        kl_solver_destroy(s);
        kl_problem_destroy(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(body_space_sweeps_follow_the_dense_ones),
        cmocka_unit_test(auto_chooses_by_size),
        cmocka_unit_test(redundant_joint_rows_close_in_one_iteration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
