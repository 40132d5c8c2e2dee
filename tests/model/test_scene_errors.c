// Bad scenes: each gives an error with file, line and path that says what was found and what is
// allowed, and never a crash or a leak.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"
#include "support.h"

// Files in memory: pairs of name and content, ended by NULL.
static KlStatus read_memory(void *context, const char *path, char **data, size_t *size) {
    for (const char *const *file = context; *file != NULL; file += 2) {
        if (strcmp(file[0], path) == 0) {
            *size = strlen(file[1]);
            *data = malloc(*size + 1);
            memcpy(*data, file[1], *size + 1);
            return KL_OK;
        }
    }
    return KL_ERR_NOT_FOUND;
}

static void release_memory(void *context, char *data) {
    (void)context;
    free(data);
}

static KlStatus parse_with(const char *text, const char *const *files, KlScene **scene) {
    KlFiles memory = {.context = (void *)(uintptr_t)files, .read = read_memory, .release = release_memory};
    return kl_scene_parse(text, strlen(text), "folder/test.json", &memory, scene);
}

typedef struct BadScene {
    const char *text;
    KlStatus status;
    const char *path;  // where the error must point
    int32_t line;
    const char *message;  // part of it
} BadScene;

#define HEAD "{\"schema\": 1, \"id\": \"t\",\n"
#define BODY_A "{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]}"
#define BODY_B "{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1]}"
#define TWO "\"bodies\": [" BODY_A ",\n" BODY_B "],\n"

static const BadScene bad_scenes[] = {
    {"{\"schema\": 1, \"id\": \"t\",\n \"bodies\": [}", KL_ERR_FORMAT, "", 2, "not valid JSON"},
    {"[]", KL_ERR_SCENE, "", 1, "a scene is an object"},
    {"{\"id\": \"t\"}", KL_ERR_SCENE, "schema", 1, "is missing"},
    {"{\"schema\": 2, \"id\": \"t\"}", KL_ERR_SCENE, "schema", 1, "whole number from 1 to 1"},
    {HEAD "\"id\": \"u\"}", KL_ERR_FORMAT, "", 2, "duplicate object key"},
    {HEAD "\"bodys\": []}", KL_ERR_SCENE, "bodys", 2, "did you mean \"bodies\"?"},
    {HEAD "\"bodies\": []}", KL_ERR_SCENE, "", 1, "at least one body"},
    {HEAD "\"bodies\": [{\"mass\": 1}]}", KL_ERR_SCENE, "bodies[0].name", 2, "is missing"},
    {HEAD "\"bodies\": [{\"name\": \"\", \"mass\": 1, \"inertia\": [1, 1, 1]}]}", KL_ERR_SCENE, "bodies[0].name", 2,
     "must not be empty"},
    {HEAD "\"bodies\": [" BODY_A ",\n" BODY_A "]}", KL_ERR_SCENE, "bodies[1].name", 3, "\"a\" is taken by bodies[0]"},
    {HEAD "\"bodies\": [{\"name\": \"a\",\n\"mass\": 1e-320, \"inertia\": [1, 1, 1]}]}", KL_ERR_SCENE, "bodies[0].mass",
     3, "1 / mass must be finite"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": 1,\n\"inertia\": [1e-120, 1e-120, 1e-120]}]}", KL_ERR_SCENE,
     "bodies[0].inertia", 3, "cannot be inverted"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1],\n\"position\": [0, -1e308, 0]}]}",
     KL_ERR_SCENE, "bodies[0].position", 3, "within 1e+12 m"},
    {HEAD "\"bodies\": [{\"name\": \"a\",\n\"mass\": -1, \"inertia\": [1, 1, 1]}]}", KL_ERR_SCENE, "bodies[0].mass", 3,
     "must be > 0 and finite (got -1)"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": \"heavy\", \"inertia\": [1, 1, 1]}]}", KL_ERR_SCENE,
     "bodies[0].mass", 2, "must be a number (found a text)"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": 1e999, \"inertia\": [1, 1, 1]}]}", KL_ERR_FORMAT, "", 2,
     "real number overflow"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": NaN}]}", KL_ERR_FORMAT, "", 2, "not valid JSON"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"inertia\": [1, 1, 1]}]}", KL_ERR_SCENE, "bodies[0].mass", 2, "is missing"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, -1]}]}", KL_ERR_SCENE, "bodies[0].inertia",
     2, "positive definite"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 3]}]}", KL_ERR_SCENE, "bodies[0].inertia", 2,
     "triangle inequality"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [[1, 0.1, 0], [0, 1, 0], [0, "
          "0, 1]]}]}",
     KL_ERR_SCENE, "bodies[0].inertia", 2, "symmetric"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": 1}]}", KL_ERR_SCENE, "bodies[0].geoms", 2, "no geometry"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"geoms\": [\n{\"type\": \"box\", \"size\": "
          "[1, 1, 1], \"position\": [1, 0, 0]}]}]}",
     KL_ERR_SCENE, "bodies[0].geoms", 2, "centre of mass is at (1, 0, 0)"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"geoms\": [\n{\"type\": \"box\", \"size\": "
          "[1, 1]}]}]}",
     KL_ERR_SCENE, "bodies[0].geoms[0].size", 3, "[x, y, z]"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"geoms\": [\n{\"type\": \"cube\"}]}]}", KL_ERR_SCENE,
     "bodies[0].geoms[0].type", 3, "\"cube\" is not known"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"geoms\": [\n{\"type\": \"sphere\", "
          "\"size\": 0}]}]}",
     KL_ERR_SCENE, "bodies[0].geoms[0].size", 3, "must be > 0"},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1],\n\"orientation\": "
          "[1, 1, 0, 0]}]}",
     KL_ERR_SCENE, "bodies[0].pose", 2, "unit quaternion"},
    {HEAD TWO "\"joints\": [{\"name\": \"j\", \"type\": \"hinge\", \"base\": \"a\", \"follower\": \"b\"}]}",
     KL_ERR_SCENE, "joints[0].type", 4, "\"hinge\" is not known"},
    {HEAD TWO "\"joints\": [{\"name\": \"j\", \"type\": \"revolut\", \"base\": \"a\", "
              "\"follower\": \"b\"}]}",
     KL_ERR_SCENE, "joints[0].type", 4, "did you mean \"revolute\"?"},
    {HEAD TWO "\"joints\": [{\"name\": \"j\", \"type\": \"revolute\", \"base\": \"c\", "
              "\"follower\": \"b\"}]}",
     KL_ERR_SCENE, "joints[0].base", 4, "there is no body \"c\""},
    {HEAD TWO "\"joints\": [{\"name\": \"j\", \"type\": \"revolute\", \"base\": \"a\", "
              "\"follower\": \"world\"}]}",
     KL_ERR_SCENE, "joints[0].follower", 4, "there is no body \"world\""},
    {HEAD TWO "\"joints\": [{\"name\": \"j\", \"type\": \"revolute\", \"base\": \"a\", "
              "\"follower\": \"a\", \"position\": [0, 0, 0]}]}",
     KL_ERR_SCENE, "joints[0].follower", 4, "two different bodies"},
    {HEAD TWO "\"joints\": [{\"name\": \"j\", \"type\": \"revolute\", \"base\": \"a\", "
              "\"follower\": \"b\"}]}",
     KL_ERR_SCENE, "joints[0]", 4, "either \"base_frame\" and \"follower_frame\""},
    {HEAD TWO "\"joints\": [{\"name\": \"j\", \"type\": \"revolute\", \"base\": \"a\", "
              "\"follower\": \"b\", \"position\": [0, 0, 0],\n"
              "\"axis\": [0, 0, 0]}]}",
     KL_ERR_SCENE, "joints[0].axis", 5, "must be a direction"},
    {HEAD TWO "\"joints\": [{\"name\": \"j\", \"type\": \"universal\", \"base\": \"a\", "
              "\"follower\": \"b\", \"position\": [0, 0, 0],\n"
              "\"axis\": [1, 0, 0], \"axis2\": [1, 1, 0]}]}",
     KL_ERR_SCENE, "joints[0].axis2", 5, "right angles"},
    {HEAD TWO "\"joints\": [{\"name\": \"j\", \"type\": \"revolute\", \"base\": \"a\", "
              "\"follower\": \"b\", \"position\": [0, 0, 0],\n"
              "\"limits\": [1, -1]}]}",
     KL_ERR_SCENE, "joints[0].limits", 5, "lower <= upper"},
    {HEAD TWO "\"joints\": [{\"name\": \"j\", \"type\": \"revolute\", \"base\": \"a\", "
              "\"follower\": \"b\", \"position\": [0, 0, 0],\n"
              "\"actuation\": \"pid\", \"kp\": -1}]}",
     KL_ERR_SCENE, "joints[0].kp", 5, "must be >= 0"},
    {HEAD TWO "\"joints\": [{\"name\": \"j\", \"type\": \"fixed\", \"base\": \"a\", \"follower\": "
              "\"b\", \"position\": [0, 0, 0],\n"
              "\"actuation\": \"pid\"}]}",
     KL_ERR_SCENE, "joints[0].actuation", 5, "nothing to actuate"},
    {HEAD TWO "\"joints\": [{\"name\": \"j\", \"type\": \"revolute\", \"base\": \"a\", "
              "\"follower\": \"b\", \"position\": [0, 0, 0],\n"
              "\"reference\": \"r\"}]}",
     KL_ERR_SCENE, "joints[0].reference", 5, "there is no reference \"r\""},
    {HEAD TWO "\"references\": [{\"name\": \"r\", \"loop\": true, \"step\": 1, \"values\": [0, 1]}]}", KL_ERR_SCENE,
     "references[0].values", 4, "must end where it starts"},
    {HEAD TWO "\"references\": [{\"name\": \"r\", \"times\": [0, 0], \"values\": [0, 1]}]}", KL_ERR_SCENE,
     "references[0].times", 4, "must ascend"},
    {HEAD TWO "\"geoms\": [{\"type\": \"mesh\", \"mesh\": \"m\"}]}", KL_ERR_SCENE, "geoms[0].mesh", 4,
     "there is no mesh \"m\""},
    {HEAD TWO "\"geoms\": [{\"type\": \"mesh\"}]}", KL_ERR_SCENE, "geoms[0].mesh", 4, "is missing"},
    {HEAD TWO "\"geoms\": [{\"type\": \"plane\", \"friction\": -0.1}]}", KL_ERR_SCENE, "geoms[0].friction", 4, ">= 0"},
    {HEAD TWO "\"geoms\": [{\"type\": \"plane\", \"restitution\": 2}]}", KL_ERR_SCENE, "geoms[0].restitution", 4,
     "in [0, 1]"},
    {HEAD TWO "\"geoms\": [{\"type\": \"plane\", \"material\": \"ice\"}]}", KL_ERR_SCENE, "geoms[0].material", 4,
     "there is no material \"ice\""},
    {HEAD "\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1], \"geoms\": "
          "[\n{\"type\": \"plane\"}]}]}",
     KL_ERR_SCENE, "bodies[0].geoms[0].type", 3, "a plane belongs to the world"},
    {HEAD TWO "\"meshes\": [{\"name\": \"m\", \"file\": \"none.stl\"}]}", KL_ERR_NOT_FOUND, "meshes[0].file", 4,
     "cannot read the file"},
    {HEAD TWO "\"meshes\": [{\"name\": \"m\", \"file\": \"nan.stl\"}]}", KL_ERR_FORMAT, "meshes[0].file", 4,
     "vertex 1 must be finite"},
    {HEAD TWO "\"meshes\": [{\"name\": \"m\", \"file\": \"short.obj\"}]}", KL_ERR_FORMAT, "meshes[0].file", 4,
     "vertices are 1 to 3"},
    {HEAD TWO "\"meshes\": [{\"name\": \"m\", \"vertices\": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "
              "\"triangles\": [[0, 1, 3]]}]}",
     KL_ERR_SCENE, "meshes[0].triangles", 4, "names vertex 3 (there are 3)"},
    {HEAD TWO "\"meshes\": [{\"name\": \"m\", \"vertices\": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "
              "\"triangles\": [[0, 1, 2]]}]}",
     KL_ERR_SCENE, "meshes[0].triangles", 4, "has no area"},
    {HEAD TWO "\"exclude\": [[\"a\", \"c\"]]}", KL_ERR_SCENE, "exclude[0][1]", 4, "there is no body \"c\""},
    {HEAD TWO "\"dt\": 0}", KL_ERR_SCENE, "dt", 4, "in [1e-9, 10] s"},
    {HEAD TWO "\"dt\": 0.02,\n\"settings\": {\"softening\": {\"joints\": {\"d0\": 2}}}}", KL_ERR_SCENE,
     "settings.softening.joints.d0", 5, "in [1e-4, 0.9999]"},
    {HEAD TWO "\"settings\": {\"integrator\": \"rk4\"}}", KL_ERR_SCENE, "settings.integrator", 4,
     "allowed are: euler, moreau"},
    {HEAD TWO "\"events\": [{\"body\": \"a\", \"start\": 1, \"end\": 1}]}", KL_ERR_SCENE, "events[0].end", 4,
     "after start"},
    {HEAD TWO "\"runs\": [{\"id\": \"r\", \"duration\": 0}]}", KL_ERR_SCENE, "runs[0].duration", 4, "must be > 0"},
    {HEAD TWO "\"runs\": [{\"id\": \"r\"},\n{\"id\": \"r\"}]}", KL_ERR_SCENE, "runs[1].id", 5, "is taken"},
    {HEAD TWO "\"runs\": [{\"id\": \"r\", \"bodies\": {\"b\": {\"mass\": 0}}}]}", KL_ERR_SCENE, "runs[0].bodies.b.mass",
     4, "must be > 0"},
    {HEAD TWO "\"runs\": [{\"id\": \"r\", \"bodies\": {\"c\": {\"mass\": 1}}}]}", KL_ERR_SCENE, "runs[0].bodies.c", 4,
     "there is no body \"c\""},
    {HEAD TWO "\"runs\": [{\"id\": \"r\",\n\"events\": [{\"body\": \"c\", \"start\": 0, \"end\": 1}]}]}", KL_ERR_SCENE,
     "runs[0].events[0].body", 5, "there is no body \"c\""},
    {HEAD "\"bodies\": {\"include\": \"loop.json\"}}", KL_ERR_SCENE, "[0]", 1, "includes itself"},
    {HEAD "\"bodies\": {\"include\": \"gone.json\"}}", KL_ERR_NOT_FOUND, "bodies", 2, "cannot read the file"},
    {HEAD "\"bodies\": [{\"include\": \"broken.json\"}]}", KL_ERR_FORMAT, "", 2, "not valid JSON"},
    {HEAD "\"scene\": {\"schema\": 1, \"id\": \"s\", \"scene\": {}}}", KL_ERR_SCENE, "scene.scene", 2,
     "must be a scene, not an experiment"},
};

static const char *const memory_files[] = {
    "folder/loop.json",
    "[{\"include\": \"../folder/loop.json\"}]",
    "folder/broken.json",
    "[\n1,,2]",
    "folder/nan.stl",
    "solid\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex nan 0 0\nvertex 0 1 0\nendloop\n",
    "folder/short.obj",
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n",
    "folder/body.json",
    "[" BODY_A ",\n" BODY_B "]",
    "folder/part.json",
    "{\"name\": \"c\", \"mass\": 0, \"inertia\": [1, 1, 1]}",
    "folder/cube.obj",
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
    "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\nf 1 1 2\n",
    NULL,
};

static void every_bad_scene_is_told_where_and_why(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_scenes / sizeof bad_scenes[0]; i++) {
        const BadScene *bad = &bad_scenes[i];
        KlScene *scene;
        KlStatus status = parse_with(bad->text, memory_files, &scene);
        const KlError *error = kl_last_error();
        bool right = status == bad->status && scene == NULL && strstr(error->message, bad->message) != NULL &&
                     strcmp(error->path, bad->path) == 0 && error->line == bad->line && error->column >= 1;
        if (!right) {
            fail_msg("%s\nstatus %s, line %d, path \"%s\"\n%s\nexpected %s, line %d, path \"%s\", "
                     "\"%s\"",
                     bad->text, kl_status_name(status), (int)error->line, error->path, error->message,
                     kl_status_name(bad->status), (int)bad->line, bad->path, bad->message);
        }
    }
}

static void an_error_names_the_file_it_is_in(void **state) {
    (void)state;
    KlScene *scene;
    assert_fails(parse_with(HEAD "\"bodies\": [{\"include\": \"part.json\"}]}", memory_files, &scene), KL_ERR_SCENE,
                 "folder/part.json:1:");
    assert_string_equal(kl_last_error()->file, "folder/part.json");
    assert_string_equal(kl_last_error()->path, "mass");
}

static void an_include_stands_for_its_content(void **state) {
    (void)state;
    KlScene *scene;
    assert_ok(parse_with(HEAD "\"bodies\": [{\"include\": \"body.json\"}, {\"name\": \"c\", "
                              "\"mass\": 2, \"inertia\": [1, 1, 1]}]}",
                         memory_files, &scene));
    KlModelInfo info;
    kl_model_info(kl_scene_model(scene), &info);
    assert_int_equal(info.bodies, 3);
    assert_int_equal(kl_model_find_body(kl_scene_model(scene), "c"), 2);
    kl_scene_destroy(scene);
}

static void a_mesh_file_gives_vertices_inertia_and_a_note(void **state) {
    (void)state;
    KlScene *scene;
    assert_ok(parse_with(HEAD "\"meshes\": [{\"name\": \"cube\", \"file\": \"cube.obj\", \"scale\": 2}],\n"
                              "\"bodies\": [{\"name\": \"a\", \"density\": 100, \"geoms\": [{\"type\": \"convex\", "
                              "\"mesh\": \"cube\",\n"
                              "\"position\": [-1, -1, -1]}]}]}",
                         memory_files, &scene));
    const KlModel *model = kl_scene_model(scene);
    assert_int_equal(kl_model_mesh(model, 0)->vertex_count, 8);
    assert_int_equal(kl_model_mesh(model, 0)->triangle_count, 12);
    assert_near(kl_model_body(model, 0)->mass, 800.0, 1e-9);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(kl_model_body(model, 0)->inertia[i], i % 4 == 0 ? 800.0 * (4.0 + 4.0) / 12.0 : 0.0, 1e-9);
    }
    assert_int_equal(kl_scene_note_count(scene), 1);
    assert_non_null(strstr(kl_scene_note(scene, 0), "1 triangles without area dropped"));
    kl_scene_destroy(scene);
}

// "[[[...": jansson stops at its depth limit, with an error.
static void deep_nesting_is_an_error(void **state) {
    (void)state;
    size_t depth = 100000;
    char *text = malloc(depth + 1);
    memset(text, '[', depth);
    text[depth] = '\0';
    KlScene *scene;
    assert_fails(parse_with(text, memory_files, &scene), KL_ERR_FORMAT, "depth");
    free(text);
}

static char *many_bodies(int32_t count) {
    size_t capacity = 80 * (size_t)count + 200, used = 0;
    char *text = malloc(capacity);
    used += (size_t)snprintf(text, capacity, HEAD "\"bodies\": [");
    for (int32_t i = 0; i < count; i++) {
        used +=
            (size_t)snprintf(text + used, capacity - used, "%s{\"name\": \"b%d\", \"mass\": 1, \"inertia\": [1, 1, 1]}",
                             i > 0 ? ",\n" : "", (int)i);
    }
    snprintf(text + used, capacity - used, "]}");
    return text;
}

static void a_hundred_thousand_bodies_load_and_one_more_is_refused(void **state) {
    (void)state;
    KlScene *scene;
    char *text = many_bodies(100000);
    assert_ok(parse_with(text, memory_files, &scene));
    assert_int_equal(kl_model_find_body(kl_scene_model(scene), "b99999"), 99999);
    kl_scene_destroy(scene);
    free(text);
    text = many_bodies(100001);
    assert_fails(parse_with(text, memory_files, &scene), KL_ERR_LIMIT, "more than 100000 bodies");
    free(text);
}

// Each allocation fails once: the load reports it, frees all, and the next one succeeds.
static bool fail_at_number(void *context, uint64_t number) { return number != *(uint64_t *)context; }

static void no_failing_allocation_goes_unnoticed(void **state) {
    (void)state;
    static const char text[] = HEAD TWO "\"geoms\": [{\"type\": \"plane\"}], \"joints\": [{\"name\": \"j\", \"type\": "
                                        "\"revolute\", \"base\": \"a\", \"follower\": \"b\","
                                        "\"position\": [0, 0, 0], \"axis\": [0, 0, 1]}], \"runs\": [{\"id\": \"r\", "
                                        "\"bodies\": {\"b\": {\"mass\": 2}}}]}";
    KlScene *scene;
    uint64_t before = kl_alloc_count();
    assert_ok(parse_with(text, memory_files, &scene));
    uint64_t needed = kl_alloc_count() - before;
    kl_scene_destroy(scene);
    assert_true(needed > 10);
    for (uint64_t k = 1; k <= needed; k++) {
        uint64_t failing = kl_alloc_count() + k;
        kl_set_alloc_gate(fail_at_number, &failing);
        KlStatus status = parse_with(text, memory_files, &scene);
        kl_set_alloc_gate(NULL, NULL);
        assert_true(status != KL_OK);
        assert_null(scene);
    }
    assert_ok(parse_with(text, memory_files, &scene));
    kl_scene_destroy(scene);
}

static void an_experiment_changes_what_its_scene_says(void **state) {
    (void)state;
    KlScene *scene;
    assert_ok(parse_with(HEAD "\"title\": \"E\", \"solvers\": [\"nbgs\"], \"preset\": "
                              "\"high-throughput\", \"dt\": 0.002,\n"
                              "\"scene\": {\"schema\": 1, \"id\": \"inner\", " TWO
                              "\"solvers\": [\"raisim\", \"pgs-ccp\"]},\n"
                              "\"runs\": [{\"id\": \"x\", \"duration\": 1, \"tolerance\": 1e-4, "
                              "\"max_iterations\": 500}]}",
                         memory_files, &scene));
    assert_string_equal(kl_scene_id(scene), "t");
    assert_int_equal(kl_scene_solver_count(scene), 1);
    assert_string_equal(kl_scene_solver(scene, 0), "nbgs");
    const KlRunDef *run = kl_scene_run(scene, 0);
    assert_string_equal(run->id, "x");
    assert_string_equal(run->preset, "high-throughput");
    assert_near(run->settings.dt, 0.002, 0.0);
    assert_near(run->tolerance, 1e-4, 0.0);
    assert_int_equal(run->max_iterations, 500);
    kl_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bad_scene_is_told_where_and_why),
        cmocka_unit_test(an_error_names_the_file_it_is_in),
        cmocka_unit_test(an_include_stands_for_its_content),
        cmocka_unit_test(a_mesh_file_gives_vertices_inertia_and_a_note),
        cmocka_unit_test(deep_nesting_is_an_error),
        cmocka_unit_test(a_hundred_thousand_bodies_load_and_one_more_is_refused),
        cmocka_unit_test(no_failing_allocation_goes_unnoticed),
        cmocka_unit_test(an_experiment_changes_what_its_scene_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
