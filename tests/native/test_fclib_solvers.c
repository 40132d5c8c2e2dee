// newton-ncp and admm-ncp-plus solve every public FCLIB problem we hold to r_nat_rel <= 1e-10, W
// unsymmetric as given.
#include <stdio.h>

#include "judge.h"
#include "problem_file.h"
#include "support.h"

static void converges_on_every_public_problem(const char *solver) {
    static const char *const names[] = {"Box_Stacks-i0035-31-0",
                                        "Capsules-i125-1213",
                                        "Confeti-ex13-Fc3D-SBM",
                                        "CubeH8",
                                        "LMGC_GlobalFrictionContactProblem00046",
                                        "OneObject-i100000-316",
                                        "Spheres-i099-356-679",
                                        "local_problem_test"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[512];
        ProblemFile file;
        ProblemRecord record;
        snprintf(path, sizeof path, "%s/fclib/%s.hdf5", KL_TEST_DATA, names[i]);
        assert_ok(problem_file_open(path, &file));
        problem_record_init(&record);
        assert_ok(problem_file_read(&file, 0, &record));
        judge_solver(solver, record.problem, 1e-10, names[i], NULL);
        problem_record_free(&record);
        problem_file_close(&file);
    }
}

static void newton_converges_on_every_public_problem(void **state) {
    (void)state;
    converges_on_every_public_problem("newton-ncp");
}

static void admm_plus_converges_on_every_public_problem(void **state) {
    (void)state;
    converges_on_every_public_problem("admm-ncp-plus");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(newton_converges_on_every_public_problem),
                                       cmocka_unit_test(admm_plus_converges_on_every_public_problem)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
