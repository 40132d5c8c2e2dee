// The walker walks with every ADMM of the non-convex problem: minutes of processor time each.
#include <string.h>

#include "walk.h"

static void the_walker_walks_for_23_seconds_with_every_admm_ncp(void **state) {
    (void)state;
    int32_t tried = 0;
    for (int32_t i = 0; i < kl_solver_kind_count(); i++) {
        const char *id = kl_solver_kind(i)->id;
        if (strncmp(id, "admm-ncp-", 9) == 0) {
            walk("stabilized", id, 10, 1e-3);
            tried++;
        }
    }
    assert_int_equal(tried, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_walker_walks_for_23_seconds_with_every_admm_ncp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
