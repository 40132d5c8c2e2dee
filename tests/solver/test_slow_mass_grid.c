// The whole grid of masses 1e-6 .. 1e6 kg of a cube fixed on a cube, at rest and pushed past the
// friction limit: newton-ncp and admm-ncp-plus reach r_nat_rel <= 1e-10 on each of the 338
// problems.
#include <math.h>
#include <stdio.h>

#include "families.h"
#include "judge.h"
#include "support.h"

static void solve_grid(double push) {
    for (int32_t bottom = -6; bottom <= 6; bottom++) {
        for (int32_t top = -6; top <= 6; top++) {
            char what[64];
            KlProblem *p = family_boxes_fixed(pow(10.0, bottom), pow(10.0, top), push);
            snprintf(what, sizeof what, "boxes 1e%d 1e%d push %g", (int)bottom, (int)top, push);
            judge_solver("newton-ncp", p, 1e-10, what, NULL);
            judge_solver("admm-ncp-plus", p, 1e-10, what, NULL);
            kl_problem_destroy(p);
        }
    }
}

static void converges_on_the_whole_grid_at_rest(void **state) {
    (void)state;
    solve_grid(0.0);
}

static void converges_on_the_whole_grid_when_pushed(void **state) {
    (void)state;
    solve_grid(1.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converges_on_the_whole_grid_at_rest),
        cmocka_unit_test(converges_on_the_whole_grid_when_pushed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
