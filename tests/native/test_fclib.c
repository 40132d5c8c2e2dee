// Reading and writing FCLIB: the eight public problems, and a small one whose numbers are known.
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fclib.h"
#include "problem_file.h"

static void open_public(const char *name, ProblemFile *file) {
    char path[1024];
    snprintf(path, sizeof path, "%s/fclib/%s", KL_TEST_DATA, name);
    assert_ok(problem_file_open(path, file));
}

typedef struct Expected {
    const char *name;
    ProblemFormat format;
    int32_t contacts, bodies;
    const char *note;
} Expected;

static const Expected expected[] = {
    {"local_problem_test.hdf5", PROBLEM_FCLIB_LOCAL, 48, 0, ""},
    {"Capsules-i125-1213.hdf5", PROBLEM_FCLIB_LOCAL, 286, 0, "not symmetric"},
    {"Confeti-ex13-Fc3D-SBM.hdf5", PROBLEM_FCLIB_LOCAL, 107, 0, ""},
    {"OneObject-i100000-316.hdf5", PROBLEM_FCLIB_LOCAL, 25, 0, "not symmetric"},
    {"Spheres-i099-356-679.hdf5", PROBLEM_FCLIB_GLOBAL, 356, 2000, "body form"},
    {"Box_Stacks-i0035-31-0.hdf5", PROBLEM_FCLIB_GLOBAL, 31, 75, "body form"},
    {"CubeH8.hdf5", PROBLEM_FCLIB_GLOBAL, 1, 0, "reduced"},
    {"LMGC_GlobalFrictionContactProblem00046.hdf5", PROBLEM_FCLIB_GLOBAL, 9, 0, "not symmetric"},
};
enum { EXPECTED_COUNT = sizeof expected / sizeof expected[0] };

static void public_problems_read_with_their_counts(void **state) {
    (void)state;
    for (int i = 0; i < EXPECTED_COUNT; i++) {
        ProblemFile file;
        ProblemRecord record;
        open_public(expected[i].name, &file);
        assert_int_equal(file.format, expected[i].format);
        assert_int_equal(file.count, 1);
        assert_ok(problem_file_read(&file, 0, &record));
        assert_int_equal(record.problem->contact_count, expected[i].contacts);
        assert_int_equal(record.problem->dim, 3 * expected[i].contacts);
        assert_int_equal(record.problem->body_count, expected[i].bodies);
        assert_non_null(strstr(record.note, expected[i].note));
        problem_record_free(&record);
        problem_file_close(&file);
    }
}

// The normal is first there and last here, and W keeps its asymmetry: entries of W against D.
static void rows_move_the_normal_to_the_end(void **state) {
    (void)state;
    ProblemFile file;
    ProblemRecord record;
    open_public("Capsules-i125-1213.hdf5", &file);
    assert_ok(problem_file_read(&file, 0, &record));
    int32_t *start, *index;
    double *value, *q;
    int64_t count;
    assert_ok(h5_read_ints(&file.h5, "/fclib_local/W/p", &start, &count));
    assert_ok(h5_read_ints(&file.h5, "/fclib_local/W/i", &index, &count));
    assert_ok(h5_read_reals(&file.h5, "/fclib_local/W/x", &value, &count));
    assert_ok(h5_read_reals(&file.h5, "/fclib_local/vectors/q", &q, &count));
    static const int32_t ours[3] = {2, 0, 1};  // of (n, t, o)
    const KlProblem *p = record.problem;
    size_t dim = (size_t)p->dim;
    double *delassus = malloc(dim * dim * sizeof *delassus);
    kl_problem_delassus(p, delassus);
    for (int32_t i = 0; i < p->dim; i++) {
        size_t row = (size_t)(3 * (i / 3) + ours[i % 3]);
        assert_near(p->free_velocity[row], q[i], 0.0);
        for (int32_t k = start[i]; k < start[i + 1]; k++) {
            size_t column = (size_t)(3 * (index[k] / 3) + ours[index[k] % 3]);
            assert_near(delassus[row * dim + column], value[k], 0.0);
        }
    }
    free(delassus);
    kl_free(start);
    kl_free(index);
    kl_free(value);
    kl_free(q);
    problem_record_free(&record);
    problem_file_close(&file);
}

// M v = H r + f, u = H' v + w solved by hand for one contact on a mass of 2 with a coupled M.
static void write_global(const char *path) {
    static const int32_t three = 3, one = 1, minus_two = -2, four = 4, m_p[] = {0, 2, 3, 4}, m_i[] = {0, 1, 1, 2},
                         h_p[] = {0, 1, 2, 3}, h_i[] = {0, 1, 2};
    static const double m_x[] = {2, 1, 4, 5}, h_x[] = {1, 1, 1}, f[] = {8, 4, 10}, w[] = {-1, -2, -3}, mu = 0.5;
    H5File file;
    assert_ok(h5_create(path, &file));
    assert_ok(h5_make_group(&file, "/fclib_global/M"));
    assert_ok(h5_make_group(&file, "/fclib_global/H"));
    assert_ok(h5_make_group(&file, "/fclib_global/vectors"));
    assert_ok(h5_write_ints(&file, "/fclib_global/spacedim", &three, 1, 0));
    const char *const groups[] = {"/fclib_global/M", "/fclib_global/H"};
    for (int g = 0; g < 2; g++) {
        char object[64];
        const int32_t *const integers[] = {&three, &three, &minus_two, g == 0 ? &four : &three};
        static const char *const names[] = {"m", "n", "nz", "nzmax"};
        for (int k = 0; k < 4; k++) {
            snprintf(object, sizeof object, "%s/%s", groups[g], names[k]);
            assert_ok(h5_write_ints(&file, object, integers[k], 1, 0));
        }
        int64_t entries = g == 0 ? 4 : 3;
        snprintf(object, sizeof object, "%s/p", groups[g]);
        assert_ok(h5_write_ints(&file, object, g == 0 ? m_p : h_p, 4, 0));
        snprintf(object, sizeof object, "%s/i", groups[g]);
        assert_ok(h5_write_ints(&file, object, g == 0 ? m_i : h_i, entries, 0));
        snprintf(object, sizeof object, "%s/x", groups[g]);
        assert_ok(h5_write_reals(&file, object, g == 0 ? m_x : h_x, entries, 0));
    }
    assert_ok(h5_write_reals(&file, "/fclib_global/vectors/f", f, three, 0));
    assert_ok(h5_write_reals(&file, "/fclib_global/vectors/w", w, three, 0));
    assert_ok(h5_write_reals(&file, "/fclib_global/vectors/mu", &mu, one, 0));
    assert_ok(h5_finish(&file));
}

// M = [2 1 0; 0 4 0; 0 0 5], M^-1 = [1/2 -1/8 0; 0 1/4 0; 0 0 1/5]; normal first there.
static void a_coupled_mass_is_reduced_exactly(void **state) {
    (void)state;
    char path[] = "/tmp/kinloop-global-XXXXXX";
    close(mkstemp(path));
    write_global(path);
    ProblemFile file;
    ProblemRecord record;
    assert_ok(problem_file_open(path, &file));
    assert_ok(problem_file_read(&file, 0, &record));
    double delassus[9];
    kl_problem_delassus(record.problem, delassus);
    const double d[9] = {0.25, 0, 0, 0, 0.2, 0, -0.125, 0, 0.5};
    const double v[3] = {1 - 2, 2 - 3, 3.5 - 1};  // H' M^-1 f + w as (t, o, n)
    assert_near_array(delassus, d, 9, 1e-15);
    assert_near_array(record.problem->free_velocity, v, 3, 1e-15);
    problem_record_free(&record);
    problem_file_close(&file);
    unlink(path);
}

// Body form and the reduced W are the same operator: D of the spheres tower against J M^-1 J' entry by
// entry of its own rows would repeat the reader; so compare velocities with M v = H r + f solved row by row.
static void body_form_gives_the_velocities_of_the_global_problem(void **state) {
    (void)state;
    ProblemFile file;
    ProblemRecord record;
    open_public("Box_Stacks-i0035-31-0.hdf5", &file);
    assert_ok(problem_file_read(&file, 0, &record));
    const KlProblem *p = record.problem;
    int32_t *i, *column, *m_i, *m_p;
    double *h, *m, *f, *w;
    int64_t count, entries, masses;
    assert_ok(h5_read_ints(&file.h5, "/fclib_global/H/i", &i, &entries));
    assert_ok(h5_read_ints(&file.h5, "/fclib_global/H/p", &column, &count));
    assert_ok(h5_read_reals(&file.h5, "/fclib_global/H/x", &h, &count));
    assert_ok(h5_read_ints(&file.h5, "/fclib_global/M/i", &m_i, &masses));
    assert_ok(h5_read_ints(&file.h5, "/fclib_global/M/p", &m_p, &count));
    assert_ok(h5_read_reals(&file.h5, "/fclib_global/M/x", &m, &count));
    assert_ok(h5_read_reals(&file.h5, "/fclib_global/vectors/f", &f, &count));
    assert_ok(h5_read_reals(&file.h5, "/fclib_global/vectors/w", &w, &count));
    double theirs[93], lambda[93], velocity[93], v[450];
    static const int32_t ours[3] = {2, 0, 1};
    for (int32_t k = 0; k < 93; k++) {
        theirs[k] = sin(k + 1.0);
        lambda[3 * (k / 3) + ours[k % 3]] = theirs[k];
    }
    memcpy(v, f, sizeof v);
    for (int64_t k = 0; k < entries; k++) {
        v[i[k]] += h[k] * theirs[column[k]];
    }
    for (int64_t k = 0; k < masses; k++) {
        assert_int_equal(m_i[k], m_p[k]);  // M of this file is diagonal
        v[m_i[k]] /= m[k];
    }
    for (int64_t k = 0; k < entries; k++) {
        w[column[k]] += h[k] * v[i[k]];
    }
    kl_problem_velocity(p, lambda, velocity);
    for (int32_t k = 0; k < 93; k++) {
        assert_near(velocity[3 * (k / 3) + ours[k % 3]], w[k], 1e-12 * (1.0 + fabs(w[k])));
    }
    void *all[] = {i, column, h, m_i, m_p, m, f, w};
    for (int k = 0; k < 8; k++) {
        kl_free(all[k]);
    }
    problem_record_free(&record);
    problem_file_close(&file);
}

// A problem with joints goes through V, R and s and comes back the same, normals and all.
static void joints_survive_writing_and_reading(void **state) {
    (void)state;
    double d[64], v[8], lambda[8], back[64];
    for (int i = 0; i < 8; i++) {
        v[i] = 0.1 * i - 0.3;
        lambda[i] = 1.0 + i;
        for (int j = 0; j < 8; j++) {
            d[8 * i + j] = (i == j ? 9.0 : 0.0) + 1.0 / (1.0 + i + j);
        }
    }
    const double mu[2] = {0.3, 0.7};
    ProblemRecord record, again;
    problem_record_init(&record);
    assert_ok(kl_problem_from_dense(2, 0, 2, d, v, mu, 1.0, &record.problem));
    record.lambda = lambda;
    snprintf(record.name, sizeof record.name, "joints");
    char path[] = "/tmp/kinloop-local-XXXXXX";
    close(mkstemp(path));
    assert_ok(fclib_write(path, false, &record));
    ProblemFile file;
    assert_ok(problem_file_open(path, &file));
    assert_ok(problem_file_read(&file, 0, &again));
    assert_int_equal(again.problem->joint_rows, 2);
    assert_string_equal(again.name, "joints");
    kl_problem_delassus(again.problem, back);
    assert_near_array(back, d, 64, 0.0);
    assert_near_array(again.problem->free_velocity, v, 8, 0.0);
    assert_near_array(again.problem->friction, mu, 2, 0.0);
    assert_null(again.lambda);  // stored, and told to solve nothing
    assert_non_null(strstr(again.note, "stored solution is none"));
    record.lambda = NULL;
    problem_record_free(&record);
    problem_record_free(&again);
    problem_file_close(&file);
    unlink(path);
}

// Problems of the sample through the global form: the operator, v_f and the solution are those written.
static void bodies_survive_writing_and_reading(void **state) {
    (void)state;
    char source[1024], path[] = "/tmp/kinloop-written-XXXXXX";
    snprintf(source, sizeof source, "%s/dataset/sample.h5", KL_TEST_DATA);
    close(mkstemp(path));
    ProblemFile sample, file;
    assert_ok(problem_file_open(source, &sample));
    int32_t written = 0;
    for (int32_t i = 0; i < sample.count; i++) {
        ProblemRecord record, again;
        assert_ok(problem_file_read(&sample, i, &record));
        const KlProblem *p = record.problem;
        double softness = 0.0;
        for (int32_t k = 0; k < p->dim; k++) {
            softness += p->softening[k];
        }
        if (p->limit_count > 0 || softness > 0.0) {
            assert_int_equal(fclib_write(path, true, &record), KL_ERR_SCENE);
        } else {
            assert_ok(fclib_write(path, true, &record));
            assert_ok(problem_file_open(path, &file));
            assert_ok(problem_file_read(&file, 0, &again));
            size_t dim = (size_t)p->dim;
            double *d = calloc(2 * dim * dim, sizeof *d);
            kl_problem_delassus(p, d);
            kl_problem_delassus(again.problem, d + dim * dim);
            double scale = 0.0;
            for (size_t k = 0; k < dim; k++) {
                scale = fmax(scale, d[k * dim + k]);
            }
            assert_near_array(d + dim * dim, d, (int)(dim * dim), 1e-14 * scale);
            assert_near_array(again.problem->free_velocity, p->free_velocity, p->dim, 0.0);
            assert_near_array(again.lambda, record.lambda, p->dim, 0.0);
            free(d);
            problem_record_free(&again);
            problem_file_close(&file);
            written++;
        }
        problem_record_free(&record);
    }
    assert_true(written > 30);
    problem_file_close(&sample);
    unlink(path);
}

static void a_global_problem_needs_bodies_and_no_softening(void **state) {
    (void)state;
    const double d[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, v[3] = {0, 0, -1}, mu = 0.5;
    ProblemRecord record;
    problem_record_init(&record);
    assert_ok(kl_problem_from_dense(0, 0, 1, d, v, &mu, 1.0, &record.problem));
    char path[] = "/tmp/kinloop-refused-XXXXXX";
    close(mkstemp(path));
    assert_int_equal(fclib_write(path, true, &record), KL_ERR_SCENE);
    assert_non_null(strstr(kl_last_error()->message, "needs J and M"));
    problem_record_free(&record);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_problems_read_with_their_counts),
        cmocka_unit_test(rows_move_the_normal_to_the_end),
        cmocka_unit_test(a_coupled_mass_is_reduced_exactly),
        cmocka_unit_test(body_form_gives_the_velocities_of_the_global_problem),
        cmocka_unit_test(joints_survive_writing_and_reading),
        cmocka_unit_test(bodies_survive_writing_and_reading),
        cmocka_unit_test(a_global_problem_needs_bodies_and_no_softening),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
