// Storage, both forms of a problem, products in body space, checks and JSON messages.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dual/delassus.h"
#include "dual/desaxce.h"
#include "dual/problem.h"
#include "dual/storage.h"
#include "math/vec.h"
#include "support.h"

enum { BODIES = 4, MAX_DIM = 64 };

// A chain of bodies with joints of 5 and 3 rows, two limits, contacts with the world and between bodies.
static KlProblem *random_bodies(uint64_t seed) {
    KlRng rng = {seed};
    KlProblemSize size = {
        .joint_rows = 13, .joint_count = 3, .limit_count = 2, .contact_count = 4, .body_count = BODIES};
    static const int32_t starts[] = {0, 5, 10};
    static const int32_t bodies[][2] = {{0, 1}, {1, 2}, {-1, 3}, {0, 1}, {3, -1}, {-1, 0}, {2, 3}, {1, -1}, {2, -1}};
    KlProblem *p;
    assert_ok(kl_problem_create(&size, &p));
    memcpy(p->block_start, starts, sizeof starts);
    p->dt = 1e-3;
    for (int i = 0; i < BODIES; i++) {
        double b[9], r[9];
        p->mass[i] = kl_rng_range(&rng, 0.5, 2.0);
        p->inverse_mass[i] = 1.0 / p->mass[i];
        for (int k = 0; k < 9; k++) {
            b[k] = kl_rng_range(&rng, -1, 1);
        }
        kl_mat3_mul_t(b, b, r);
        r[0] += 1.0;
        r[4] += 1.0;
        r[8] += 1.0;
        memcpy(p->inertia + 9 * i, r, sizeof r);
        assert_true(kl_mat3_inverse(r, p->inverse_inertia + 9 * i));
    }
    for (int32_t b = 0; b < p->block_count; b++) {
        p->block_body[2 * b] = bodies[b][0];
        p->block_body[2 * b + 1] = bodies[b][1];
        for (int32_t i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            p->free_velocity[i] = kl_rng_range(&rng, -1, 1);
            p->softening[i] = b == 1 || b == 6 ? 0.1 * kl_rng_unit(&rng) : 0.0;
            for (int c = 0; c < 12; c++) {
                p->jacobian[12 * i + c] = bodies[b][c / 6] >= 0 ? kl_rng_range(&rng, -1, 1) : 0.0;
            }
        }
    }
    for (int k = 0; k < 4; k++) {
        p->friction[k] = 0.3 * k;
    }
    assert_ok(kl_problem_check(p));
    return p;
}

// D from its definition: a dense J (dim x 6 n_b), M^-1 as a dense block matrix.
static void dense_by_definition(const KlProblem *p, double *d) {
    static double j[MAX_DIM][6 * BODIES], weighted[MAX_DIM][6 * BODIES];
    memset(j, 0, sizeof j);
    memset(weighted, 0, sizeof weighted);
    for (int32_t b = 0; b < p->block_count; b++) {
        for (int32_t i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            for (int c = 0; c < 12; c++) {
                int32_t body = p->block_body[2 * b + c / 6];
                if (body >= 0) {
                    j[i][6 * body + c % 6] = p->jacobian[12 * i + c];
                }
            }
        }
    }
    for (int32_t i = 0; i < p->dim; i++) {
        for (int b = 0; b < BODIES; b++) {
            for (int r = 0; r < 3; r++) {
                weighted[i][6 * b + r] = j[i][6 * b + r] / p->mass[b];
                for (int c = 0; c < 3; c++) {
                    weighted[i][6 * b + 3 + r] += p->inverse_inertia[9 * b + 3 * r + c] * j[i][6 * b + 3 + c];
                }
            }
        }
    }
    for (int32_t i = 0; i < p->dim; i++) {
        for (int32_t k = 0; k < p->dim; k++) {
            double sum = i == k ? p->softening[i] : 0.0;
            for (int c = 0; c < 6 * BODIES; c++) {
                sum += j[i][c] * weighted[k][c];
            }
            d[i * p->dim + k] = sum;
        }
    }
}

static KlProblem *explicit_twin(const KlProblem *p) {
    double d[MAX_DIM * MAX_DIM];
    KlProblem *twin;
    dense_by_definition(p, d);
    assert_ok(kl_problem_from_dense(p->joint_rows, p->limit_count, p->contact_count, d, p->free_velocity, p->friction,
                                    p->dt, &twin));
    return twin;
}

static void delassus_matrix_equals_its_definition(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        KlProblem *p = random_bodies(seed);
        double expected[MAX_DIM * MAX_DIM], d[MAX_DIM * MAX_DIM];
        dense_by_definition(p, expected);
        kl_problem_delassus(p, d);
        assert_near_array(d, expected, p->dim * p->dim, 1e-14);
        for (int32_t i = 0; i < p->dim; i++) {
            for (int32_t k = 0; k < i; k++) {
                assert_near(d[i * p->dim + k], d[k * p->dim + i], 0.0);
            }
        }
        double diagonal[MAX_DIM];
        kl_problem_diagonal(p, diagonal);
        for (int32_t i = 0; i < p->dim; i++) {
            assert_near(diagonal[i], expected[i * p->dim + i], 1e-14);
        }
        for (int32_t j = 0; j < p->block_count; j++) {
            for (int32_t k = 0; k < p->block_count; k++) {
                double pair[36];
                kl_problem_block_pair(p, j, k, pair);
                for (int32_t r = 0; r < kl_block_rows(p, j); r++) {
                    assert_near_array(pair + r * kl_block_rows(p, k),
                                      expected + (p->block_start[j] + r) * p->dim + p->block_start[k],
                                      kl_block_rows(p, k), 1e-14);
                }
            }
        }
        kl_problem_destroy(p);
    }
}

static void rows_over_the_mass_follow_the_definition(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        KlProblem *p = random_bodies(seed);
        double diagonal[MAX_DIM];
        kl_problem_diagonal(p, diagonal);
        assert_true(kl_problem_keep(p));
        assert_false(kl_problem_keep(p));
        const KlProblemStorage *found = kl_problem_divide(p);
        assert_memory_equal(found->diagonal, diagonal, (size_t)p->dim * sizeof *diagonal);
        for (int32_t b = 0; b < p->block_count; b++) {
            for (int32_t k = 2 * p->block_start[b]; k < 2 * p->block_start[b + 1]; k++) {
                int32_t body = p->block_body[2 * b + k % 2];
                const double *row = p->jacobian + 6 * (size_t)k;
                double expected[6] = {0.0};
                for (int32_t i = 0; i < 3 && body >= 0; i++) {
                    const double *inverse = p->inverse_inertia + 9 * (size_t)body + 3 * i;
                    expected[i] = p->inverse_mass[body] * row[i];
                    expected[3 + i] = inverse[0] * row[3] + inverse[1] * row[4] + inverse[2] * row[5];
                }
                assert_near_array(found->divided + 6 * (size_t)k, expected, 6, 1e-15);
            }
        }
        kl_problem_destroy(p);
    }
}

static void blocks_of_an_explicit_d_are_read_across_gaps(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        KlProblem *bodies = random_bodies(seed), *p = explicit_twin(bodies);
        double d[MAX_DIM * MAX_DIM], pair[MAX_DIM * MAX_DIM];
        kl_problem_delassus(bodies, d);
        for (int32_t j = 0; j < p->block_count; j++) {
            for (int32_t k = 0; k < p->block_count; k++) {
                kl_problem_block_pair(p, j, k, pair);
                for (int32_t r = 0; r < kl_block_rows(p, j); r++) {
                    assert_near_array(pair + r * kl_block_rows(p, k),
                                      d + (p->block_start[j] + r) * p->dim + p->block_start[k], kl_block_rows(p, k),
                                      1e-14);
                }
            }
        }
        kl_problem_destroy(bodies);
        kl_problem_destroy(p);
    }
}

static void both_forms_give_equal_velocities_and_residuals(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        KlRng rng = {seed + 100};
        KlProblem *p = random_bodies(seed), *twin = explicit_twin(p);
        double lambda[MAX_DIM], a[MAX_DIM], b[MAX_DIM];
        for (int32_t i = 0; i < p->dim; i++) {
            lambda[i] = kl_rng_range(&rng, -1, 1);
        }
        kl_problem_velocity(p, lambda, a);
        kl_problem_velocity(twin, lambda, b);
        assert_near_array(a, b, p->dim, 1e-13);
        KlResiduals ra, rb;
        kl_problem_residuals(p, lambda, &ra);
        kl_problem_residuals(twin, lambda, &rb);
        assert_near(ra.primal, rb.primal, 1e-13);
        assert_near(ra.dual, rb.dual, 1e-13);
        assert_near(ra.complementarity, rb.complementarity, 1e-13);
        assert_near(ra.natural, rb.natural, 1e-13);
        assert_near(ra.objective, rb.objective, 1e-12);
        assert_near(ra.objective_desaxce, rb.objective_desaxce, 1e-12);
        kl_problem_destroy(p);
        kl_problem_destroy(twin);
    }
}

// A sweep that changes one block at a time sees the velocity that a full product gives.
static void sweeps_follow_the_changes(void **state) {
    (void)state;
    KlProblem *bodies = random_bodies(7), *twin = explicit_twin(bodies);
    KlProblem *forms[] = {bodies, twin};
    for (int f = 0; f < 2; f++) {
        const KlProblem *p = forms[f];
        KlRng rng = {9};
        double lambda[MAX_DIM] = {0.0}, held[6 * BODIES], full[MAX_DIM];
        kl_sweep_begin(p, lambda, held);
        for (int32_t b = 0; b < p->block_count; b++) {
            double v[16], delta[16];
            kl_problem_velocity(p, lambda, full);
            kl_sweep_velocity(p, b, lambda, held, v);
            assert_near_array(v, full + kl_block_first(p, b), kl_block_rows(p, b), 1e-13);
            for (int32_t i = 0; i < kl_block_rows(p, b); i++) {
                delta[i] = kl_rng_range(&rng, -1, 1);
                lambda[kl_block_first(p, b) + i] += delta[i];
            }
            kl_sweep_add(p, b, delta, held);
        }
    }
    kl_problem_destroy(bodies);
    kl_problem_destroy(twin);
}

static void the_block_matrix_equals_the_dense_one(void **state) {
    (void)state;
    KlProblem *bodies = random_bodies(8), *twin = explicit_twin(bodies);
    KlProblem *forms[] = {bodies, twin};
    for (int f = 0; f < 2; f++) {
        const KlProblem *p = forms[f];
        KlProblemSize size = kl_problem_size(p);
        KlBlockMatrix m = {0};
        KlRng rng = {10};
        double d[MAX_DIM * MAX_DIM], x[MAX_DIM], y[MAX_DIM], expected[MAX_DIM];
        assert_ok(kl_block_matrix_reserve(&m, &size, 0, 0));
        uint64_t before = kl_alloc_count();
        assert_ok(kl_block_matrix_fill(&m, p));
        assert_int_equal(kl_alloc_count(), before);
        kl_problem_delassus(p, d);
        double covered = 0.0, all = 0.0;
        for (int32_t j = 0; j < p->block_count; j++) {
            for (int32_t e = m.start[j]; e < m.start[j + 1]; e++) {
                int32_t k = m.column[e], columns = kl_block_rows(p, k);
                assert_true(e == m.start[j] || k > m.column[e - 1]);
                for (int32_t r = 0; r < kl_block_rows(p, j); r++) {
                    const double *dense = d + (p->block_start[j] + r) * p->dim + p->block_start[k];
                    const double *block = m.value + m.offset[e] + r * columns;
                    assert_near_array(block, dense, columns, 1e-14);
                    for (int32_t c = 0; c < columns; c++) {
                        covered += fabs(block[c]);
                    }
                }
            }
            assert_near(kl_block_matrix_diagonal(&m, j)[0], d[(p->dim + 1) * p->block_start[j]], 1e-14);
        }
        for (int32_t i = 0; i < p->dim * p->dim; i++) {
            all += fabs(d[i]);
        }
        assert_near(covered, all, 1e-12);  // what is left out is zero
        assert_true(m.start[p->block_count] < p->block_count * p->block_count);
        for (int32_t i = 0; i < p->dim; i++) {
            x[i] = kl_rng_range(&rng, -1, 1);
        }
        kl_problem_multiply(p, x, expected);
        kl_block_matrix_multiply(&m, p, x, y);
        assert_near_array(y, expected, p->dim, 1e-13);
        assert_ok(kl_block_matrix_reserve(&m, &size, 5, 0));
        assert_fails(kl_block_matrix_fill(&m, p), KL_ERR_LIMIT, "5 couplings");
        kl_block_matrix_free(&m);
    }
    kl_problem_destroy(bodies);
    kl_problem_destroy(twin);
}

static void the_scale_is_the_inverse_of_the_largest_diagonal_of_a_block(void **state) {
    (void)state;
    KlProblem *p = random_bodies(3);
    double diagonal[MAX_DIM], scale[MAX_DIM];
    kl_problem_diagonal(p, diagonal);
    kl_problem_scale(p, scale);
    for (int32_t b = 0; b < p->block_count; b++) {
        double most = 0.0;
        for (int32_t i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            most = fmax(most, diagonal[i]);
        }
        for (int32_t i = p->block_start[b]; i < p->block_start[b + 1]; i++) {
            assert_near(scale[i], 1.0 / most, 0.0);
        }
    }
    kl_problem_destroy(p);
}

// 1 / 5e-324 would be infinite, and the natural map of a problem at rest NaN.
static void the_scale_of_a_tiny_diagonal_is_finite(void **state) {
    (void)state;
    const double tiny[9] = {5e-324, 0, 0, 0, 5e-324, 0, 0, 0, 5e-324}, at_rest[3] = {0}, friction = 0.5;
    KlProblem *p;
    assert_int_equal(kl_problem_from_dense(0, 0, 1, tiny, at_rest, &friction, 1e-3, &p), KL_OK);
    double scale[3];
    kl_problem_scale(p, scale);
    KlResiduals residuals;
    kl_problem_residuals(p, at_rest, &residuals);
    for (int i = 0; i < 3; i++) {
        assert_true(isfinite(scale[i]));
    }
    assert_near(residuals.natural_relative, 0.0, 0.0);
    kl_problem_destroy(p);
}

// Mass in grams and lengths in millimetres: D, v_f and lambda change by powers, r_nat_rel does not.
static void the_relative_natural_map_ignores_units(void **state) {
    (void)state;
    double d[9] = {2, .3, .4, .3, 1.5, -.2, .4, -.2, 1.2}, v_f[3] = {1, .5, -1}, mu[1] = {.3};
    double lambda[3] = {-0.3, 0.1, 0.9};
    KlResiduals before, after;
    KlProblem *p;
    assert_ok(kl_problem_from_dense(0, 0, 1, d, v_f, mu, 1e-3, &p));
    kl_problem_residuals(p, lambda, &before);
    kl_problem_destroy(p);
    for (int i = 0; i < 9; i++) {
        d[i] *= 0x1p-20;
    }
    for (int i = 0; i < 3; i++) {
        v_f[i] *= 0x1p+10;
        lambda[i] *= 0x1p+30;
    }
    assert_ok(kl_problem_from_dense(0, 0, 1, d, v_f, mu, 1e-3, &p));
    kl_problem_residuals(p, lambda, &after);
    kl_problem_destroy(p);
    assert_true(before.natural_relative > 1e-3);
    assert_near(after.natural_relative, before.natural_relative, 0.0);
}

static void projection_follows_the_kinds_of_blocks(void **state) {
    (void)state;
    KlProblem *p = random_bodies(2);
    double x[MAX_DIM], y[MAX_DIM];
    for (int32_t i = 0; i < p->dim; i++) {
        x[i] = y[i] = -1.0 - i;
    }
    kl_problem_project(p, x);
    kl_problem_project_dual(p, y);
    for (int32_t i = 0; i < p->joint_rows; i++) {
        assert_near(x[i], -1.0 - i, 0.0);
        assert_near(y[i], 0.0, 0.0);
    }
    for (int32_t i = kl_first_limit_row(p); i < kl_first_contact_row(p); i++) {
        assert_near(x[i], 0.0, 0.0);
        assert_near(y[i], 0.0, 0.0);
    }
    kl_problem_destroy(p);
}

static void reshaping_and_products_allocate_nothing(void **state) {
    (void)state;
    KlProblem *p = random_bodies(4);
    KlProblemSize size = kl_problem_size(p), small = size, large = size;
    double lambda[MAX_DIM] = {0.5}, v[MAX_DIM], d[MAX_DIM * MAX_DIM];
    KlResiduals r;
    uint64_t before = kl_alloc_count();
    kl_problem_velocity(p, lambda, v);
    kl_problem_residuals(p, lambda, &r);
    kl_problem_delassus(p, d);
    small.contact_count = 1;
    assert_ok(kl_problem_reshape(p, &small));
    assert_int_equal(p->dim, 18);
    assert_int_equal(p->block_start[p->block_count], 18);
    assert_near(p->free_velocity[17], 0.0, 0.0);
    assert_ok(kl_problem_reshape(p, &size));
    assert_int_equal(kl_alloc_count(), before);
    large.contact_count = 5;
    assert_fails(kl_problem_reshape(p, &large), KL_ERR_LIMIT, "4 contacts");
    kl_problem_destroy(p);
}

static bool open_until(void *context, uint64_t number) { return number <= *(uint64_t *)context; }

static void running_out_of_memory_is_a_status(void **state) {
    (void)state;
    KlProblem *p = random_bodies(4), *copy = NULL;
    KlProblemSize large = kl_problem_size(p);
    large.contact_count = 20000;  // several arena chunks
    uint64_t last = kl_alloc_count(), failures = 0;
    for (;; failures++) {
        uint64_t limit = kl_alloc_count() + failures;
        kl_set_alloc_gate(open_until, &limit);
        KlStatus status = kl_problem_create(&large, &copy);
        kl_set_alloc_gate(NULL, NULL);
        if (status == KL_OK) {
            break;
        }
        assert_int_equal(status, KL_ERR_MEMORY);
        assert_null(copy);
    }
    assert_true(failures > 1 && kl_alloc_count() > last);
    kl_problem_destroy(copy);
    kl_problem_destroy(p);
}

static void check_names_what_is_wrong(void **state) {
    (void)state;
    KlProblem *p = random_bodies(5);
    p->friction[1] = -0.1;
    assert_fails(kl_problem_check(p), KL_ERR_SCENE, "mu[1]");
    p->friction[1] = 0.3;
    p->free_velocity[2] = NAN;
    assert_fails(kl_problem_check(p), KL_ERR_SCENE, "v_f[2]");
    p->free_velocity[2] = 0.0;
    p->softening[4] = -1.0;
    assert_fails(kl_problem_check(p), KL_ERR_SCENE, "R[4]");
    p->softening[4] = 0.0;
    p->block_body[0] = 9;
    assert_fails(kl_problem_check(p), KL_ERR_SCENE, "block 0 joins bodies 9");
    p->block_body[0] = 0;
    memset(p->jacobian, 0, 12 * sizeof *p->jacobian);
    assert_fails(kl_problem_check(p), KL_ERR_SCENE, "row 0: the diagonal");
    p->block_start[1] = 0;
    assert_fails(kl_problem_check(p), KL_ERR_SCENE, "block_start[0]");
    kl_problem_destroy(p);
    KlProblemSize size = {.contact_count = 400000};
    assert_fails(kl_problem_create(&size, &p), KL_ERR_LIMIT, "1000000 rows");
    size = (KlProblemSize){.joint_rows = 3};
    assert_fails(kl_problem_create(&size, &p), KL_ERR_ARGUMENT, "0 joints");
}

static void an_empty_problem_is_valid(void **state) {
    (void)state;
    KlProblemSize size = {.body_count = 2};
    KlProblem *p;
    assert_ok(kl_problem_create(&size, &p));
    p->dt = 1e-3;
    p->mass[0] = p->mass[1] = 1.0;
    assert_ok(kl_problem_check(p));
    KlResiduals r;
    kl_problem_residuals(p, NULL, &r);
    assert_near(r.natural_relative, 0.0, 0.0);
    kl_problem_destroy(p);
}

static void reject(const char *text, KlStatus status, const char *part) {
    KlProblem *p;
    assert_fails(kl_problem_parse_json(text, strlen(text), "p.json", 0, NULL, &p), status, part);
    assert_null(p);
}

static void json_faults_have_line_and_column(void **state) {
    (void)state;
    reject("{\"contacts\": 1,\n \"D\": [[1,0", KL_ERR_FORMAT, "p.json:2:");
    reject("{\"contacts\":1, \"mu\":[0.5], \"dt\":1e-3,\n\"v_f\":[1,2,3],\n \"D\":[[1,0,0],[0,1,0],[0,\"a\",1]]}",
           KL_ERR_SCENE, "p.json:3:26: D[2][1]: must be a number");
    reject("[{\"contacts\":1, \"mu\":[0.5, 1], \"dt\":1e-3, \"v_f\":[1,2,3], \"D\":[[1,0,0],[0,1,0],[0,0,1]]}]",
           KL_ERR_SCENE, "p.json:1:22: [0].mu: must be a list of 1 numbers");
    reject("{\"contacts\":1, \"mu\":[-2], \"dt\":1e-3, \"v_f\":[1,2,3], \"D\":[[1,0,0],[0,1,0],[0,0,1]]}", KL_ERR_SCENE,
           "mu[0] must be finite and >= 0");
    reject("{\"contacts\":1, \"mu\":0.5, \"v_f\":[1,2,3], \"D\":[[1,0,0],[0,1,0],[0,0,1]]}", KL_ERR_SCENE,
           "dt: must be a number > 0 [s] (it is missing)");
    reject("{\"contacts\":-1}", KL_ERR_SCENE, "contacts: must be an integer");
    reject("{\"contacts\":1}", KL_ERR_SCENE, "needs either D, or J and M");
    reject("{\"joint_rows\":2, \"joints\":[1,2], \"dt\":1, \"v_f\":[0,0], \"D\":[[1,0],[0,1]]}", KL_ERR_SCENE,
           "joints: must add up");
    reject("{\"a\":1, \"a\":2}", KL_ERR_FORMAT, "duplicate");
    reject("[]", KL_ERR_NOT_FOUND, "holds no problem");
    reject("[7]", KL_ERR_SCENE, "must be a problem object");
}

// Two bodies of 2 kg, a joint of one row between them, a contact of body 1 with the world.
static void json_reads_bodies(void **state) {
    (void)state;
    const char *text =
        "{\"joint_rows\":1,\"contacts\":1,\"mu\":0.5,\"dt\":0.001,\"v_f\":[0,0,0,-1],\"R\":[0.25,0,0,0],"
        "\"M\":[{\"mass\":2,\"inertia\":[[1,0,0],[0,1,0],[0,0,1]]},{\"mass\":2,\"inertia\":[[1,0,0],[0,1,0],[0,0,1]]}],"
        "\"J\":[[1,0,0,0,0,0,-1,0,0,0,0,0],[0,0,0,0,0,0,1,0,0,0,0,0],[0,0,0,0,0,0,0,1,0,0,0,0],"
        "[0,0,0,0,0,0,0,0,1,0,0,0]]}";
    KlProblem *p;
    int32_t count;
    double d[16];
    double expected[16] = {1.25, -.5, 0, 0, -.5, .5, 0, 0, 0, 0, .5, 0, 0, 0, 0, .5};
    assert_ok(kl_problem_parse_json(text, strlen(text), "p.json", 0, &count, &p));
    assert_int_equal(count, 1);
    assert_int_equal(p->body_count, 2);
    kl_problem_delassus(p, d);
    assert_near_array(d, expected, 16, 0.0);
    kl_problem_destroy(p);
}

// A block that is pushed off its solution alone carries the whole error; the largest block is r_nat_rel.
static void the_worst_block_is_the_relative_natural_map(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        KlProblem *p = random_bodies(seed);
        KlRng rng = {seed + 100};
        double lambda[MAX_DIM], block[MAX_DIM], most = 0.0;
        for (int32_t i = 0; i < p->dim; i++) {
            lambda[i] = kl_rng_range(&rng, -1.0, 1.0);
        }
        KlResiduals r;
        kl_problem_residuals(p, lambda, &r);
        kl_problem_block_residuals(p, lambda, block);
        for (int32_t k = 0; k < p->block_count; k++) {
            most = fmax(most, block[k]);
        }
        assert_near(most, r.natural_relative, 0.0);
        kl_problem_destroy(p);
    }
    // Two contacts that know nothing of each other, at rest under lambda = 1 each: D = 1, v_f = -1 along the normals.
    const char *text = "{\"contacts\":2,\"mu\":0.5,\"dt\":0.001,\"v_f\":[0,0,-1,0,0,-1],\"D\":[[1,0,0,0,0,0],"
                       "[0,1,0,0,0,0],[0,0,1,0,0,0],[0,0,0,1,0,0],[0,0,0,0,1,0],[0,0,0,0,0,1]]}";
    KlProblem *p;
    int32_t count;
    assert_ok(kl_problem_parse_json(text, strlen(text), "p.json", 0, &count, &p));
    double lambda[] = {0, 0, 1, 0, 0, 0.75}, block[2];
    kl_problem_block_residuals(p, lambda, block);
    assert_near(block[0], 0.0, 0.0);
    assert_near(block[1], 0.25, 0.0);
    kl_problem_destroy(p);
}

static void desaxce_lifts_only_normals(void **state) {
    (void)state;
    KlProblem *p = random_bodies(2);
    double v[MAX_DIM], gamma[MAX_DIM];
    for (int32_t i = 0; i < p->dim; i++) {
        v[i] = i % 3 == 0 ? 3.0 : 4.0;  // contact rows start at 15: (3, 4, 4)
    }
    kl_desaxce(p, v, gamma);
    for (int32_t k = 0; k < p->contact_count; k++) {
        int32_t row = kl_contact_row(p, k);
        assert_near(gamma[row], 0.0, 0.0);
        assert_near(gamma[row + 2], 5.0 * p->friction[k], 0.0);
    }
    assert_near(gamma[0], 0.0, 0.0);
    kl_desaxce_augment(p, v);
    assert_near(v[kl_contact_row(p, 3) + 2], 4.0 + 5.0 * p->friction[3], 0.0);
    kl_problem_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delassus_matrix_equals_its_definition),
        cmocka_unit_test(rows_over_the_mass_follow_the_definition),
        cmocka_unit_test(blocks_of_an_explicit_d_are_read_across_gaps),
        cmocka_unit_test(both_forms_give_equal_velocities_and_residuals),
        cmocka_unit_test(sweeps_follow_the_changes),
        cmocka_unit_test(the_block_matrix_equals_the_dense_one),
        cmocka_unit_test(the_scale_is_the_inverse_of_the_largest_diagonal_of_a_block),
        cmocka_unit_test(the_scale_of_a_tiny_diagonal_is_finite),
        cmocka_unit_test(the_relative_natural_map_ignores_units),
        cmocka_unit_test(projection_follows_the_kinds_of_blocks),
        cmocka_unit_test(reshaping_and_products_allocate_nothing),
        cmocka_unit_test(running_out_of_memory_is_a_status),
        cmocka_unit_test(check_names_what_is_wrong),
        cmocka_unit_test(an_empty_problem_is_valid),
        cmocka_unit_test(json_faults_have_line_and_column),
        cmocka_unit_test(json_reads_bodies),
        cmocka_unit_test(the_worst_block_is_the_relative_natural_map),
        cmocka_unit_test(desaxce_lifts_only_normals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
