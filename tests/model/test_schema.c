// scenes/schema.json and the reader know the same keys: the reader's own message about an unknown
// key is compared with the properties of the schema's definition.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#define HEAD "{\"schema\": 1, \"id\": \"t\", "
#define BODY "{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]}"
#define BODIES "\"bodies\": [" BODY "], "
#define ODD "\"qqqqqqqq\": 0"

static const struct {
    const char *definition, *text;
} objects[] = {
    {"scene", HEAD ODD "}"},
    {"experiment", HEAD "\"scene\": {}, " ODD "}"},
    {"body", HEAD "\"bodies\": [{" ODD "}]}"},
    {"geom", HEAD BODIES "\"geoms\": [{" ODD "}]}"},
    {"mesh", HEAD "\"meshes\": [{" ODD "}]}"},
    {"joint", HEAD BODIES "\"joints\": [{" ODD "}]}"},
    {"reference", HEAD "\"references\": [{" ODD "}]}"},
    {"pair", HEAD BODIES "\"pairs\": [{" ODD "}]}"},
    {"event", HEAD BODIES "\"events\": [{" ODD "}]}"},
    {"run", HEAD BODIES "\"runs\": [{" ODD "}]}"},
    {"settings", HEAD "\"settings\": {" ODD "}}"},
    {"camera", HEAD "\"camera\": {" ODD "}}"},
    {"frame", HEAD "\"bodies\": [" BODY
                   ", {\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1]}], \"joints\": [{\"name\": \"j\", "
                   "\"type\": \"fixed\", \"base\": \"a\", \"follower\": \"b\", \"base_frame\": {" ODD "}}]}"},
};

static json_t *load_schema(void) {
    size_t size;
    char *text = kl_test_read(KL_SCENES "/schema.json", &size);
    json_t *schema = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    assert_non_null(schema);
    return schema;
}

// Entries of a list "a, b, c".
static size_t count_entries(const char *list) {
    size_t count = 1;
    for (const char *c = list; *c != '\0'; c++) {
        count += *c == ',';
    }
    return count;
}

static bool lists(const char *list, const char *key) {
    size_t length = strlen(key);
    for (const char *at = strstr(list, key); at != NULL; at = strstr(at + 1, key)) {
        bool starts = at == list || at[-1] == ' ', ends = at[length] == ',' || at[length] == '\0';
        if (starts && ends) {
            return true;
        }
    }
    return false;
}

static void the_schema_has_the_keys_that_the_reader_knows(void **state) {
    (void)state;
    json_t *schema = load_schema();
    json_t *definitions = json_object_get(schema, "$defs");
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        KlScene *scene;
        assert_fails(kl_scene_parse(objects[i].text, strlen(objects[i].text), "t.json", NULL, &scene), KL_ERR_SCENE,
                     "unknown key; known are: ");
        const char *known = strstr(kl_last_error()->message, "known are: ") + strlen("known are: ");
        json_t *properties = json_object_get(json_object_get(definitions, objects[i].definition), "properties");
        assert_non_null(properties);
        const char *key;
        json_t *value;
        json_object_foreach(properties, key, value) {
            if (!lists(known, key)) {
                fail_msg("schema.json: %s.%s is not known to the reader (%s)", objects[i].definition, key, known);
            }
        }
        if (count_entries(known) != json_object_size(properties)) {
            fail_msg("schema.json: %s lacks keys of the reader (%s)", objects[i].definition, known);
        }
    }
    json_decref(schema);
}

static void the_schema_has_the_joint_kinds_of_the_library(void **state) {
    (void)state;
    json_t *schema = load_schema();
    json_t *joint = json_object_get(json_object_get(schema, "$defs"), "joint");
    json_t *kinds = json_object_get(json_object_get(json_object_get(joint, "properties"), "type"), "enum");
    assert_int_equal(json_array_size(kinds), KL_JOINT_KIND_COUNT);
    for (int32_t kind = 0; kind < KL_JOINT_KIND_COUNT; kind++) {
        assert_string_equal(json_string_value(json_array_get(kinds, (size_t)kind)),
                            kl_joint_kind((KlJointKind)kind)->id);
    }
    json_decref(schema);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schema_has_the_keys_that_the_reader_knows),
        cmocka_unit_test(the_schema_has_the_joint_kinds_of_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
