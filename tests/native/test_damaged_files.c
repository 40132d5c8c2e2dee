// Files that lie: cut short, of wrong types and shapes, with counts that promise too much. Each is
// refused with a status and a message that names the file; nothing crashes (run under ASan in CI).
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dataset_file.h"
#include "problem_file.h"

static char path[] = "/tmp/kinloop-damaged-XXXXXX";

static void write_bytes(const char *data, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

// Opens and reads everything; returns the first failure.
static KlStatus read_all(void) {
    ProblemFile file;
    KlStatus status = problem_file_open(path, &file);
    if (status != KL_OK) {
        return status;
    }
    for (int32_t i = 0; i < file.count && status == KL_OK; i++) {
        ProblemRecord record;
        status = problem_file_read(&file, i, &record);
        problem_record_free(&record);
    }
    problem_file_close(&file);
    return status;
}

static void expect_refusal(const char *what) {
    KlStatus status = read_all();
    if (status == KL_OK) {
        fail_msg("%s was accepted", what);
    }
    if (strstr(kl_last_error()->message, path) == NULL) {
        fail_msg("%s: the message does not name the file: %s", what, kl_last_error()->message);
    }
}

static void files_cut_short_are_refused(void **state) {
    (void)state;
    char source[1024];
    size_t size;
    snprintf(source, sizeof source, "%s/fclib/CubeH8.hdf5", KL_TEST_DATA);
    char *data = kl_test_read(source, &size);
    for (size_t keep = 0; keep < size; keep += keep < 2048 ? 61 : 1511) {
        char what[64];
        snprintf(what, sizeof what, "a file of %zu bytes", keep);
        write_bytes(data, keep);
        expect_refusal(what);
    }
    free(data);
}

static void other_files_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"", "not a problem", "{\"contacts\": 1", "[]", "\x89HDF\r\n\x1a\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_bytes(texts[i], strlen(texts[i]));
        expect_refusal(texts[i]);
    }
}

// --- one lie at a time ----------------------------------------------------------------------------

// A sound local problem of one contact, in which one object can be replaced.
typedef struct Lie {
    const char *object;
    enum { INTS, REALS, TEXT, GROUP, MISSING } kind;
    int32_t ints[8];
    double reals[4];
    int64_t count;
    const char *message;
} Lie;

static void write_ints(const H5File *file, const Lie *lie, const char *object, const int32_t *values, int64_t count) {
    if (lie != NULL && strcmp(lie->object, object) == 0) {
        switch (lie->kind) {
            case INTS: assert_ok(h5_write_ints(file, object, lie->ints, lie->count, 0)); break;
            case REALS: assert_ok(h5_write_reals(file, object, lie->reals, lie->count, 0)); break;
            case TEXT: assert_ok(h5_write_text(file, object, "three")); break;
            case GROUP: assert_ok(h5_make_group(file, object)); break;
            case MISSING: break;
        }
        return;
    }
    assert_ok(h5_write_ints(file, object, values, count, 0));
}

static void write_reals(const H5File *file, const Lie *lie, const char *object, const double *values, int64_t count) {
    if (lie != NULL && strcmp(lie->object, object) == 0) {
        write_ints(file, lie, object, NULL, 0);
        return;
    }
    assert_ok(h5_write_reals(file, object, values, count, 0));
}

static void write_problem(const Lie *lie) {
    static const int32_t three = 3, minus_two = -2, p[] = {0, 1, 2, 3}, i[] = {0, 1, 2};
    static const double x[] = {1, 2, 3}, q[] = {-1, 0, 0}, mu = 0.5;
    H5File file;
    assert_ok(h5_create(path, &file));
    assert_ok(h5_make_group(&file, "/fclib_local/W"));
    assert_ok(h5_make_group(&file, "/fclib_local/vectors"));
    write_ints(&file, lie, "/fclib_local/spacedim", &three, 1);
    write_ints(&file, lie, "/fclib_local/W/m", &three, 1);
    write_ints(&file, lie, "/fclib_local/W/n", &three, 1);
    write_ints(&file, lie, "/fclib_local/W/nz", &minus_two, 1);
    write_ints(&file, lie, "/fclib_local/W/nzmax", &three, 1);
    write_ints(&file, lie, "/fclib_local/W/p", p, 4);
    write_ints(&file, lie, "/fclib_local/W/i", i, 3);
    write_reals(&file, lie, "/fclib_local/W/x", x, 3);
    write_reals(&file, lie, "/fclib_local/vectors/q", q, 3);
    write_reals(&file, lie, "/fclib_local/vectors/mu", &mu, 1);
    assert_ok(h5_finish(&file));
}

static const Lie lies[] = {
    {"/fclib_local/spacedim", INTS, {2}, {0}, 1, "must be 3"},
    {"/fclib_local/spacedim", TEXT, {0}, {0}, 0, "integers"},
    {"/fclib_local/spacedim", GROUP, {0}, {0}, 0, "dataset"},
    {"/fclib_local/spacedim", INTS, {3, 3}, {0}, 2, "must hold 1 values"},
    {"/fclib_local/W/nz", INTS, {7}, {0}, 1, "nz says 7 triplets"},
    {"/fclib_local/W/nz", INTS, {-3}, {0}, 1, "must be -1"},
    {"/fclib_local/W/nz", REALS, {0}, {-2.0}, 1, "integers"},
    {"/fclib_local/W/m", INTS, {4}, {0}, 1, "shape 4 x 3"},
    {"/fclib_local/W/m", INTS, {-1}, {0}, 1, "at most"},
    {"/fclib_local/W/m", INTS, {2000000000}, {0}, 1, "at most"},
    {"/fclib_local/W/p", INTS, {0, 1, 2, 9}, {0}, 4, "must ascend"},
    {"/fclib_local/W/p", INTS, {0, 2, 1, 3}, {0}, 4, "must ascend"},
    {"/fclib_local/W/p", INTS, {-5, 1, 2, 3}, {0}, 4, "must ascend"},
    {"/fclib_local/W/p", INTS, {0, 1}, {0}, 2, "must hold 4 starts"},
    {"/fclib_local/W/i", INTS, {0, 1, 3}, {0}, 3, "outside 3 x 3"},
    {"/fclib_local/W/i", INTS, {0, -1, 2}, {0}, 3, "outside 3 x 3"},
    {"/fclib_local/W/i", MISSING, {0}, {0}, 0, "is missing"},
    {"/fclib_local/W/x", REALS, {0}, {1, 2}, 2, "must ascend"},
    {"/fclib_local/W/x", REALS, {0}, {1, 2, -3}, 3, "diagonal"},
    {"/fclib_local/vectors/q", REALS, {0}, {1}, 1, "must hold 3 values"},
    {"/fclib_local/vectors/mu", REALS, {0}, {-0.5}, 1, "mu"},
    {"/fclib_local/vectors/mu", REALS, {0}, {0.5, 0.5}, 2, "shape 3 x 3"},
    {"/fclib_local/vectors/mu", TEXT, {0}, {0}, 0, "numbers"},
};

static void a_lie_is_named_with_its_object(void **state) {
    (void)state;
    write_problem(NULL);
    assert_ok(read_all());
    for (size_t k = 0; k < sizeof lies / sizeof lies[0]; k++) {
        write_problem(&lies[k]);
        expect_refusal(lies[k].object);
        if (strstr(kl_last_error()->message, lies[k].message) == NULL) {
            fail_msg("%s: expected \"%s\" in: %s", lies[k].object, lies[k].message, kl_last_error()->message);
        }
    }
}

// Three starts of D alone, the last of which asks for 24 GB.
static void entries_that_cannot_be_are_not_given_room(void **state) {
    (void)state;
    static const char *const counts[] = {"n_d", "n_l", "n_jd", "n_j", "n_c", "n_b"};
    static const int32_t starts[] = {0, 1, INT32_MAX};
    H5File file;
    assert_ok(dataset_create(path, &file));
    assert_ok(h5_make_group(&file, "/s/c/p/D"));
    for (int i = 0; i < 6; i++) {
        assert_ok(h5_set_int(&file, "/s/c/p", counts[i], i < 2 ? 2 : 0));
    }
    assert_ok(h5_write_ints(&file, "/s/c/p/D/start", starts, 3, 0));
    assert_ok(h5_finish(&file));
    expect_refusal("/s/c/p/D/start");
    assert_int_equal(kl_last_error()->status, KL_ERR_LIMIT);
    assert_non_null(strstr(kl_last_error()->message, "ends at 2147483647; at most 4 entries"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_cut_short_are_refused),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(a_lie_is_named_with_its_object),
        cmocka_unit_test(entries_that_cannot_be_are_not_given_room),
    };
    close(mkstemp(path));
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
