// newton-ncp and admm-ncp-plus solve every public FCLIB problem we hold to r_nat_rel <= 1e-10, W
// unsymmetric as given.
#include "judge.h"
#include "public_problems.h"

static void converges_on_every_public_problem(const char *solver) {
    for (int i = 0; i < PUBLIC_PROBLEM_COUNT; i++) {
        PublicProblem p = public_problem_open(i);
        judge_solver(solver, p.record.problem, 1e-10, p.name, NULL);
        public_problem_close(&p);
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
