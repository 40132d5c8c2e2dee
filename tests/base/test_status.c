// base/status.h: errors keep their place, and the message is complete.
#include "base/memory.h"
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

static bool closed(void *context, uint64_t number) {
    (void)context;
    (void)number;
    return false;
}

static void a_refused_allocation_is_told_with_its_amount(void **state) {
    (void)state;
    kl_set_alloc_gate(closed, NULL);
    assert_null(kl_alloc(12345));
    kl_set_alloc_gate(NULL, NULL);
    kl_free(kl_alloc(1));  // what comes between does not hide it
    assert_fails(kl_fail(KL_ERR_MEMORY, "a.json: out of memory"), KL_ERR_MEMORY,
                 "a.json: out of memory: the system has no 12345 bytes more");
    kl_fail(KL_ERR_LIMIT, "too many rows");
    assert_string_equal(kl_last_error()->message, "too many rows");
    kl_fail(KL_ERR_MEMORY, "out of memory");  // another's, of unknown size
    assert_string_equal(kl_last_error()->message, "out of memory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_records_status_and_message),
        cmocka_unit_test(a_place_leads_the_message),
        cmocka_unit_test(a_refused_allocation_is_told_with_its_amount),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
