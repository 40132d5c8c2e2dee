// base/status.h: errors keep their place, and the message is complete.
#include "base/status.h"

#include "support.h"

static void failing_records_status_and_message(void **state) {
    (void)state;
    assert_fails(kl_fail(KL_ERR_ARGUMENT, "dt must be > 0 (got %g)", -1.0), KL_ERR_ARGUMENT, "dt must be > 0 (got -1)");
    assert_int_equal(kl_last_error()->status, KL_ERR_ARGUMENT);
}

static void a_place_leads_the_message(void **state) {
    (void)state;
    KlPlace place = {.file = "a.json", .line = 3, .column = 7, .path = "bodies[0].mass"};
    kl_fail_at(KL_ERR_SCENE, &place, "must be > 0");
    assert_string_equal(kl_last_error()->message, "a.json:3:7: bodies[0].mass: must be > 0");
    assert_int_equal(kl_last_error()->line, 3);
    assert_string_equal(kl_last_error()->path, "bodies[0].mass");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_records_status_and_message),
        cmocka_unit_test(a_place_leads_the_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
