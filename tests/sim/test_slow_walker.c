// The walker walks as long as the report shows, with the solver that is quick enough for every day.
#include "walk.h"

static void the_walker_walks_for_23_seconds_with_newton(void **state) {
    (void)state;
    walk("stabilized", "newton-ncp", 10, 1e-3);
}

static void the_walker_walks_on_softened_contacts(void **state) {
    (void)state;
    walk("stabilized_soft_contacts", "newton-ncp", 2, 1e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_walker_walks_for_23_seconds_with_newton),
        cmocka_unit_test(the_walker_walks_on_softened_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
