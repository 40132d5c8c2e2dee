// The committed sample of the data set: every system and category is in it, every stored solution is one in the eyes of
// the independent judge, and newton-ncp finds its own.
#include "support.h"

#include <string.h>

#include "judge.h"
#include "problem_file.h"

static ProblemFile file;

static int open_sample(void **state) {
    (void)state;
    return problem_file_open(KL_TEST_DATA "/dataset/sample.h5", &file) == KL_OK ? 0 : -1;
}

static int close_sample(void **state) {
    (void)state;
    problem_file_close(&file);
    return 0;
}

static void every_system_and_category_is_in_the_sample(void **state) {
    (void)state;
    static const char *const systems[] = {"box_on_plane", "boxes_fixed", "nunchaku", "fourbar_fixed", "fourbar_free",
                                          "arm7d",        "quadruped",   "bdx",      "lima",          "misha",
                                          "walker",       "gazelle",     "ironman"};
    enum { SYSTEMS = sizeof systems / sizeof systems[0] };
    int32_t of_system[SYSTEMS] = {0}, of_category[KL_CATEGORY_COUNT] = {0};
    for (int32_t i = 0; i < file.count; i++) {
        ProblemRecord record;
        KlCategory category;
        assert_ok(problem_file_read(&file, i, &record));
        assert_ok(kl_problem_category(record.problem, &category));
        assert_string_equal(record.category, kl_category_name(category));
        of_category[category]++;
        for (int32_t s = 0; s < SYSTEMS; s++) {
            of_system[s] += strcmp(record.scene, systems[s]) == 0;
        }
        problem_record_free(&record);
    }
    for (int32_t s = 0; s < SYSTEMS; s++) {
        assert_true(of_system[s] > 0);
    }
    for (int32_t c = KL_CATEGORY_INDEPENDENT_JOINTS; c < KL_CATEGORY_COUNT; c++) {
        assert_true(of_category[c] > 0);
    }
}

static void stored_solutions_solve_their_problems(void **state) {
    (void)state;
    for (int32_t i = 0; i < file.count; i++) {
        ProblemRecord record;
        assert_ok(problem_file_read(&file, i, &record));
        assert_non_null(record.lambda);
        double relative = (double)judge(record.problem, record.lambda).natural_relative;
        if (!(relative <= 1e-10)) {  // the goal of `dataset make`
            fail_msg("%s: r_nat_rel %g", record.name, relative);
        }
        problem_record_free(&record);
    }
}

static void solve_all(ProblemFile *from) {
    for (int32_t i = 0; i < from->count; i++) {
        ProblemRecord record;
        assert_ok(problem_file_read(from, i, &record));
        judge_solver("newton-ncp", record.problem, 1e-10, record.name, NULL);
        problem_record_free(&record);
    }
}

static void newton_ncp_solves_the_sample(void **state) {
    (void)state;
    solve_all(&file);
}

// Problems that resisted for long: rows that contradict each other a little (docs/dataset.md).
static void newton_ncp_solves_what_resisted(void **state) {
    (void)state;
    ProblemFile resisting;
    assert_ok(problem_file_open(KL_TEST_DATA "/dataset/resisting.h5", &resisting));
    assert_int_equal(resisting.count, 30);
    solve_all(&resisting);
    problem_file_close(&resisting);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_system_and_category_is_in_the_sample),
        cmocka_unit_test(stored_solutions_solve_their_problems),
        cmocka_unit_test(newton_ncp_solves_the_sample),
        cmocka_unit_test(newton_ncp_solves_what_resisted),
    };
    return cmocka_run_group_tests(tests, open_sample, close_sample);
}
