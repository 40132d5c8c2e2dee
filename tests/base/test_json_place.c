// Places inside JSON texts.
#include "base/json_place.h"

#include <string.h>

#include "support.h"

static void expect(const char *text, const char *path, int line, int column) {
    int32_t found_line, found_column;
    kl_json_locate(text, strlen(text), path, &found_line, &found_column);
    assert_int_equal(found_line, line);
    assert_int_equal(found_column, column);
}

static const char *const TEXT = "{\n"
                                "  \"name\": \"a \\\"b\\\" ] } ,\",\n"
                                "  \"bodies\": [\n"
                                "    {\"mass\": 1.5, \"frame\": {\"p\": [0, [1, 2], {}]}},\n"
                                "    {\"mass\": -2}\n"
                                "  ], \"last\": true}\n";

static void members_and_elements_are_found(void **state) {
    (void)state;
    expect(TEXT, "", 1, 1);
    expect(TEXT, "name", 2, 11);
    expect(TEXT, "bodies", 3, 13);
    expect(TEXT, "bodies[0].mass", 4, 14);
    expect(TEXT, "bodies[0].frame.p[1][1]", 4, 42);
    expect(TEXT, "bodies[0].frame.p[2]", 4, 46);
    expect(TEXT, "bodies[1].mass", 5, 14);
    expect(TEXT, "last", 6, 14);
    expect("[1, [2, 3]]", "[1][0]", 1, 6);
}

static void what_is_missing_has_its_parents_place(void **state) {
    (void)state;
    expect(TEXT, "bodies[1].inertia", 5, 5);
    expect(TEXT, "bodies[7].mass", 3, 13);
    expect(TEXT, "nothing.at[3].all", 1, 1);
    expect("[]", "[0]", 1, 1);
    expect("{}", "a", 1, 1);
    expect("", "a", 1, 1);
}

static void broken_text_ends_the_search(void **state) {
    (void)state;
    static const char *const broken[] = {"{\"a\": \"", "{\"a\"", "[1,", "{\"a\": {\"b\": [", "{\"a\\", "{1: 2}"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        int32_t line, column;
        kl_json_locate(broken[i], strlen(broken[i]), "a.b[3].c", &line, &column);
        assert_int_equal(line, 1);
        assert_in_range(column, 1, (int32_t)strlen(broken[i]) + 1);
    }
}

static void failures_carry_file_line_and_path(void **state) {
    (void)state;
    assert_int_equal(
        kl_json_fail(KL_ERR_SCENE, "s.json", TEXT, strlen(TEXT), "bodies[1].mass", "must be > 0 (got %g)", -2.0),
        KL_ERR_SCENE);
    assert_string_equal(kl_last_error()->message, "s.json:5:14: bodies[1].mass: must be > 0 (got -2)");
    assert_int_equal(kl_last_error()->line, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_elements_are_found),
        cmocka_unit_test(what_is_missing_has_its_parents_place),
        cmocka_unit_test(broken_text_ends_the_search),
        cmocka_unit_test(failures_carry_file_line_and_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
