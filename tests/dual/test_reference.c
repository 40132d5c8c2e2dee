// Published and exact solutions: zero residuals by ours and by the independent judge, which also agree
// with each other on reactions that solve nothing.
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "dual/problem.h"
#include "kkt_check.h"
#include "support.h"

enum { MAX_DIM = 64 };

static json_t *load(const char *path, char **text, size_t *size) {
    *text = kl_test_read(path, size);
    json_t *root = json_loadb(*text, *size, 0, NULL);
    assert_non_null(root);
    return root;
}

// Numbers, or numbers as text.
static int read_numbers(const json_t *list, double *x) {
    int count = (int)json_array_size(list);
    assert_true(count <= MAX_DIM);
    for (int i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, (size_t)i);
        x[i] = json_is_string(entry) ? strtod(json_string_value(entry), NULL) : json_number_value(entry);
    }
    return count;
}

// The judge's view of a problem; `delassus` (dim x dim) is the caller's.
static KktProblem judged(const KlProblem *p, double *delassus) {
    kl_problem_delassus(p, delassus);
    return (KktProblem){.joint_rows = p->joint_rows,
                        .limits = p->limit_count,
                        .contacts = p->contact_count,
                        .delassus = delassus,
                        .free_velocity = p->free_velocity,
                        .friction = p->friction,
                        .joint_count = p->joint_count,
                        .joint_start = p->block_start};
}

static void assert_agree(const KlProblem *p, const double *lambda, double tolerance) {
    double delassus[MAX_DIM * MAX_DIM];
    KktProblem q = judged(p, delassus);
    KktResiduals theirs;
    KlResiduals ours;
    kkt_check(&q, lambda, &theirs);
    kl_problem_residuals(p, lambda, &ours);
    assert_near(ours.primal, (double)theirs.primal, tolerance);
    assert_near(ours.dual, (double)theirs.dual, tolerance);
    assert_near(ours.complementarity, (double)theirs.complementarity, tolerance);
    assert_near(ours.natural, (double)theirs.natural, tolerance);
    assert_near(ours.natural_relative, (double)theirs.natural_relative, tolerance);
}

static void assert_solves(const KlProblem *p, const double *lambda) {
    double delassus[MAX_DIM * MAX_DIM];
    KktProblem q = judged(p, delassus);
    KktResiduals theirs;
    KlResiduals ours;
    kkt_check(&q, lambda, &theirs);
    kl_problem_residuals(p, lambda, &ours);
    assert_near(ours.natural_relative, 0.0, 1e-15);  // the solutions carry 16 digits
    assert_near((double)theirs.natural_relative, 0.0, 1e-15);
}

static void reference_solutions_solve(void **state) {
    (void)state;
    char *text;
    size_t size;
    json_t *root = load(KL_TEST_DATA "/problems.json", &text, &size);
    int32_t count = 0;
    assert_int_equal(json_array_size(root), 13);
    for (int32_t i = 0; i < 13; i++) {
        KlProblem *p;
        double lambda[MAX_DIM], expected[MAX_DIM], velocity[MAX_DIM];
        const json_t *entry = json_array_get(root, (size_t)i);
        assert_ok(kl_problem_parse_json(text, size, "problems.json", i, &count, &p));
        assert_int_equal(count, 13);
        assert_int_equal(read_numbers(json_object_get(entry, "lam"), lambda), p->dim);
        read_numbers(json_object_get(entry, "v_plus"), expected);
        kl_problem_velocity(p, lambda, velocity);
        double size_of_v = 1e-15 + fabs(p->free_velocity[0]);
        for (int32_t k = 0; k < p->dim; k++) {
            size_of_v = fmax(size_of_v, fabs(p->free_velocity[k]));
        }
        assert_near_array(velocity, expected, p->dim, 2e-12 * size_of_v);  // D lambda cancels v_f, mass ratio 10^4
        assert_solves(p, lambda);
        KlProblem *copy;
        assert_ok(kl_problem_clone(p, &copy));
        assert_solves(copy, lambda);
        kl_problem_destroy(copy);
        kl_problem_destroy(p);
    }
    json_decref(root);
    free(text);
}

static KlProblem *exact_problem(const json_t *entry) {
    double d[MAX_DIM * MAX_DIM], v_f[MAX_DIM], mu[MAX_DIM];
    const json_t *rows = json_object_get(entry, "D");
    int dim = (int)json_array_size(rows);
    for (int i = 0; i < dim; i++) {
        read_numbers(json_array_get(rows, (size_t)i), d + i * dim);
    }
    read_numbers(json_object_get(entry, "vf"), v_f);
    int contacts = read_numbers(json_object_get(entry, "mu"), mu);
    KlProblem *p;
    int nj = (int)json_integer_value(json_object_get(entry, "nj"));
    int nl = (int)json_integer_value(json_object_get(entry, "nl"));
    assert_ok(kl_problem_from_dense(nj, nl, contacts, d, v_f, mu, 1e-3, &p));
    assert_int_equal(p->dim, dim);
    assert_ok(kl_problem_check(p));
    return p;
}

// Stick, slip, open, three solutions of one problem, three contacts, joint + limit + contact.
static void every_exact_solution_solves(void **state) {
    (void)state;
    char *text;
    size_t size;
    json_t *root = load(KL_TEST_DATA "/small_exact.json", &text, &size);
    const char *name;
    json_t *entry;
    int solved = 0;
    json_object_foreach(root, name, entry) {
        KlProblem *p = exact_problem(entry);
        const json_t *solutions = json_object_get(entry, "solutions");
        for (size_t i = 0; i < json_array_size(solutions); i++) {
            double lambda[MAX_DIM], expected[MAX_DIM], velocity[MAX_DIM];
            const json_t *solution = json_array_get(solutions, i);
            read_numbers(json_object_get(solution, "lam"), lambda);
            read_numbers(json_object_get(solution, "v"), expected);
            kl_problem_velocity(p, lambda, velocity);
            assert_near_array(velocity, expected, p->dim, 1e-14);
            assert_solves(p, lambda);
            solved++;
        }
        kl_problem_destroy(p);
    }
    assert_int_equal(solved, 9);
    json_decref(root);
    free(text);
}

static void the_box_at_rest_and_pushed_solves(void **state) {
    (void)state;
    static const char *const cases[] = {"rest", "push_stick_0.3mg", "push_slip_1.0mg"};
    char *text;
    size_t size;
    json_t *root = load(KL_TEST_DATA "/box_exact.json", &text, &size);
    double d[12 * 12], mu[4], v_f[12], lambda[12];
    for (int i = 0; i < 12; i++) {
        read_numbers(json_array_get(json_object_get(root, "D"), (size_t)i), d + 12 * i);
    }
    for (int k = 0; k < 4; k++) {
        mu[k] = json_number_value(json_object_get(root, "mu"));
    }
    for (int c = 0; c < 3; c++) {
        const json_t *entry = json_object_get(root, cases[c]);
        assert_int_equal(read_numbers(json_object_get(entry, "vf"), v_f), 12);
        assert_int_equal(read_numbers(json_object_get(entry, "lam_minnorm"), lambda), 12);
        KlProblem *p;
        assert_ok(kl_problem_from_dense(0, 0, 4, d, v_f, mu, 0.01, &p));
        double delassus[144];
        KktProblem q = judged(p, delassus);
        KktResiduals theirs;
        KlResiduals ours;
        kkt_check(&q, lambda, &theirs);
        kl_problem_residuals(p, lambda, &ours);
        assert_near((double)theirs.natural_relative, 0.0, 5e-15);  // its own "nat" is up to 1.5e-16 over 0.025
        assert_near(ours.natural_relative, 0.0, 5e-15);
        kl_problem_destroy(p);
    }
    json_decref(root);
    free(text);
}

static void ours_and_the_judge_agree_on_any_reaction(void **state) {
    (void)state;
    KlRng rng = {5};
    for (int trial = 0; trial < 200; trial++) {
        int nj = (int)kl_rng_index(&rng, 4), nl = (int)kl_rng_index(&rng, 4);
        int nc = 1 + (int)kl_rng_index(&rng, 5), dim = nj + nl + 3 * nc;
        double a[MAX_DIM * MAX_DIM], d[MAX_DIM * MAX_DIM], v_f[MAX_DIM], lambda[MAX_DIM], mu[5];
        for (int i = 0; i < dim * dim; i++) {
            a[i] = kl_rng_range(&rng, -1, 1);
        }
        for (int i = 0; i < dim; i++) {
            v_f[i] = kl_rng_range(&rng, -1, 1);
            lambda[i] = kl_rng_range(&rng, -1, 1);
            for (int j = 0; j < dim; j++) {
                d[i * dim + j] = 0.0;
                for (int k = 0; k < dim; k++) {
                    d[i * dim + j] += a[i * dim + k] * a[j * dim + k] / dim;
                }
            }
        }
        for (int k = 0; k < nc; k++) {
            mu[k] = k == 0 ? 0.0 : kl_rng_range(&rng, 0, 1.5);
        }
        KlProblem *p;
        assert_ok(kl_problem_from_dense(nj, nl, nc, d, v_f, mu, 1e-3, &p));
        assert_agree(p, lambda, 1e-13);  // sums of some 20 products of order one
        kl_problem_destroy(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_solutions_solve),
        cmocka_unit_test(every_exact_solution_solves),
        cmocka_unit_test(the_box_at_rest_and_pushed_solves),
        cmocka_unit_test(ours_and_the_judge_agree_on_any_reaction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
