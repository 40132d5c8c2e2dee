// The exact local solvers on two million random contacts.
#include "local_trials.h"

static void exact_local_solvers_hold_over_two_million_contacts(void **state) {
    (void)state;
    run_local_trials(2000000, 2024);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_local_solvers_hold_over_two_million_contacts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
