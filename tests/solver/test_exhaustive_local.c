// The exact local solvers on twenty million random contacts, in four streams.
#include "local_trials.h"

static void exact_local_solvers_hold_over_twenty_million_contacts(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        run_local_trials(5000000, 7000 + seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_local_solvers_hold_over_twenty_million_contacts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
