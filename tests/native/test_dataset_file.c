// Our HDF5 layout: what is written is read back to the bit, and damage is refused, not followed.
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dataset_file.h"

static char path[] = "/tmp/kinloop-dataset-XXXXXX";

static void read_public(const char *name, ProblemRecord *record) {
    char source[1024];
    ProblemFile file;
    snprintf(source, sizeof source, "%s/fclib/%s", KL_TEST_DATA, name);
    assert_ok(problem_file_open(source, &file));
    assert_ok(problem_file_read(&file, 0, record));
    problem_file_close(&file);
}

static void write_one(const ProblemRecord *record) {
    H5File file;
    assert_ok(dataset_create(path, &file));
    assert_ok(dataset_write(&file, "/system/category/one", record, true));
    assert_ok(h5_finish(&file));
}

static void fill_origin(ProblemRecord *record) {
    snprintf(record->scene, sizeof record->scene, "system");
    snprintf(record->run, sizeof record->run, "hard");
    snprintf(record->category, sizeof record->category, "category");
    record->seed = 7;
    record->step = 120;
    record->rank = 3;
    record->mass_ratio = 1e4;
}

static void assert_same(const ProblemRecord *a, const ProblemRecord *b) {
    const KlProblem *p = a->problem, *q = b->problem;
    assert_int_equal(p->dim, q->dim);
    assert_int_equal(p->joint_rows, q->joint_rows);
    assert_int_equal(p->body_count, q->body_count);
    assert_memory_equal(p->block_start, q->block_start, (size_t)(p->block_count + 1) * sizeof(int32_t));
    assert_memory_equal(p->block_id, q->block_id, (size_t)p->block_count * sizeof(uint64_t));
    assert_memory_equal(p->friction, q->friction, (size_t)p->contact_count * sizeof(double));
    assert_memory_equal(p->free_velocity, q->free_velocity, (size_t)p->dim * sizeof(double));
    assert_memory_equal(p->softening, q->softening, (size_t)p->dim * sizeof(double));
    if (p->body_count > 0) {
        assert_memory_equal(p->block_body, q->block_body, (size_t)p->block_count * 2 * sizeof(int32_t));
        assert_memory_equal(p->jacobian, q->jacobian, (size_t)p->dim * 12 * sizeof(double));
        assert_memory_equal(p->inverse_mass, q->inverse_mass, (size_t)p->body_count * sizeof(double));
        assert_memory_equal(p->inverse_inertia, q->inverse_inertia, (size_t)p->body_count * 9 * sizeof(double));
    } else {
        assert_memory_equal(p->delassus_start, q->delassus_start, (size_t)(p->dim + 1) * sizeof(int32_t));
        assert_memory_equal(p->delassus_value, q->delassus_value, (size_t)p->delassus_start[p->dim] * sizeof(double));
    }
    assert_int_equal(a->seed, b->seed);
    assert_int_equal(a->step, b->step);
    assert_int_equal(a->rank, b->rank);
    assert_string_equal(a->run, b->run);
    assert_string_equal(a->category, b->category);
    assert_near(a->mass_ratio, b->mass_ratio, 0.0);
}

// A vector that lies in every cone: normal reactions alone; far from a solution, so it is written only.
static void written_problems_come_back_to_the_bit(void **state) {
    (void)state;
    static const char *const names[] = {"Box_Stacks-i0035-31-0.hdf5", "Capsules-i125-1213.hdf5"};
    for (int i = 0; i < 2; i++) {
        ProblemRecord record, again;
        ProblemFile file;
        read_public(names[i], &record);
        fill_origin(&record);
        record.problem->softening[1] = 0.25;
        write_one(&record);
        assert_ok(problem_file_open(path, &file));
        assert_int_equal(file.count, 1);
        assert_ok(problem_file_read(&file, 0, &again));
        assert_string_equal(again.name, "system/category/one");
        assert_same(&record, &again);
        problem_record_free(&record);
        problem_record_free(&again);
        problem_file_close(&file);
    }
}

static void solutions_carry_their_residual(void **state) {
    (void)state;
    const double d[9] = {2, 0, 0, 0, 2, 0, 0, 0, 4}, v[3] = {0, 0, -1}, mu = 0.5;
    double lambda[3] = {0, 0, 0.25};
    ProblemRecord record, again;
    ProblemFile file;
    problem_record_init(&record);
    fill_origin(&record);
    assert_ok(kl_problem_from_dense(0, 0, 1, d, v, &mu, 1e-3, &record.problem));
    record.lambda = lambda;
    write_one(&record);
    assert_ok(problem_file_open(path, &file));
    assert_ok(problem_file_read(&file, 0, &again));
    assert_near_array(again.lambda, lambda, 3, 0.0);
    assert_near(again.lambda_natural, 0.0, 1e-16);
    record.lambda = NULL;
    problem_record_free(&record);
    problem_record_free(&again);
    problem_file_close(&file);
}

static size_t read_bytes(char **data) {
    size_t size;
    *data = kl_test_read(path, &size);
    return size;
}

// The same calls give the same bytes: no time stamps, no left-over memory.
static void files_depend_on_their_content_alone(void **state) {
    (void)state;
    ProblemRecord record;
    char *first, *second;
    read_public("Box_Stacks-i0035-31-0.hdf5", &record);
    write_one(&record);
    size_t size = read_bytes(&first);
    sleep(1);
    write_one(&record);
    assert_int_equal(read_bytes(&second), size);
    assert_memory_equal(first, second, size);
    free(first);
    free(second);
    problem_record_free(&record);
}

// Reads all of the file in a child, which must end by itself, whatever it finds.
static bool child_survives(void) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        ProblemFile file;
        if (problem_file_open(path, &file) == KL_OK) {
            for (int32_t i = 0; i < file.count; i++) {
                ProblemRecord record;
                problem_file_read(&file, i, &record);
                problem_record_free(&record);
            }
            problem_file_close(&file);
        }
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status);
}

static void changed_bytes_do_not_crash_the_reader(void **state) {
    (void)state;
    ProblemRecord record;
    char *data;
    read_public("CubeH8.hdf5", &record);
    write_one(&record);
    problem_record_free(&record);
    size_t size = read_bytes(&data);
    uint64_t random = 12345;
    for (int i = 0; i < 300; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t at = (size_t)(random >> 33) % size;
        char keep = data[at];
        data[at] = (char)(random >> 24);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(data, 1, size, file), size);
        fclose(file);
        if (!child_survives()) {
            fail_msg("byte %zu set to %d crashed the reader", at, data[at]);
        }
        data[at] = keep;
    }
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_problems_come_back_to_the_bit),
        cmocka_unit_test(solutions_carry_their_residual),
        cmocka_unit_test(files_depend_on_their_content_alone),
        cmocka_unit_test(changed_bytes_do_not_crash_the_reader),
    };
    close(mkstemp(path));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
