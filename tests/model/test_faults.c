// Out of memory while models are read, built and written: every single allocation fails once, and each
// time the answer is KL_ERR_MEMORY, nothing half-made, and nothing left behind.
#include "faults.h"

#include <stdlib.h>
#include <string.h>

#include "model/mesh.h"

// The richest scene of the fuzzing seeds, with the mesh it names.
typedef struct Documents {
    const char *name[3], *text[3];
    size_t size[3];
} Documents;

static const char tetrahedron[] = "v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

static KlStatus read_memory(void *context, const char *path, char **data, size_t *size) {
    const Documents *documents = context;
    for (int32_t i = 0; i < 3 && documents->name[i] != NULL; i++) {
        const char *end = strrchr(path, '/');
        if (strcmp(end != NULL ? end + 1 : path, documents->name[i]) == 0) {
            *size = documents->size[i];
            *data = malloc(*size + 1);
            assert_non_null(*data);
            memcpy(*data, documents->text[i], *size);
            (*data)[*size] = '\0';
            return KL_OK;
        }
    }
    return KL_ERR_NOT_FOUND;
}

static void release_memory(void *context, char *data) {
    (void)context;
    free(data);
}

typedef struct Trial {
    Documents documents;
    KlFiles files;
    KlScene *scene;  // for trials that start from one
} Trial;

static void add_document(Trial *trial, const char *name, const char *text, size_t size) {
    int32_t i = 0;
    while (trial->documents.name[i] != NULL) {
        i++;
    }
    trial->documents.name[i] = name;
    trial->documents.text[i] = text;
    trial->documents.size[i] = size;
}

static char *start_trial(Trial *trial, const char *seed, const char *name) {
    char path[1024];
    size_t size;
    snprintf(path, sizeof path, "%s/../fuzz/corpus/%s", KL_TEST_DATA, seed);
    char *text = kl_test_read(path, &size);
    memset(trial, 0, sizeof *trial);
    trial->files = (KlFiles){.context = &trial->documents, .read = read_memory, .release = release_memory};
    add_document(trial, name, text, size);
    add_document(trial, "tet.obj", tetrahedron, sizeof tetrahedron - 1);
    return text;
}

// ---- scenes ------------------------------------------------------------------------------------

static KlStatus parse_scene(void *context) {
    Trial *trial = context;
    KlScene *scene;
    KlStatus status =
        kl_scene_parse(trial->documents.text[0], trial->documents.size[0], "all.json", &trial->files, &scene);
    assert_true((status == KL_OK) == (scene != NULL));
    kl_scene_destroy(scene);
    return status;
}

static KlStatus write_scene(void *context) {
    char *text = NULL;
    size_t size = 0;
    KlStatus status = kl_scene_write_json(((Trial *)context)->scene, &text, &size);
    assert_true((status == KL_OK) == (text != NULL));
    kl_free(text);
    return status;
}

static KlStatus model_of_run(void *context) {
    KlModel *model;
    KlStatus status = kl_scene_model_for_run(((Trial *)context)->scene, 0, &model);
    assert_true((status == KL_OK) == (model != NULL));
    kl_model_destroy(model);
    return status;
}

static void a_scene_is_read_or_memory_is_missing(void **state) {
    (void)state;
    Trial trial;
    char *text = start_trial(&trial, "scene/all_words.json", "all.json");
    assert_true(faults_each(parse_scene, &trial) > 0);
    free(text);
}

static void a_scene_is_written_and_run_or_memory_is_missing(void **state) {
    (void)state;
    Trial trial;
    char *text = start_trial(&trial, "scene/all_words.json", "all.json");
    assert_ok(kl_scene_parse(text, trial.documents.size[0], "all.json", &trial.files, &trial.scene));
    assert_true(faults_each(write_scene, &trial) > 0);
    assert_true(faults_each(model_of_run, &trial) > 0);
    kl_scene_destroy(trial.scene);
    free(text);
}

// ---- import ------------------------------------------------------------------------------------

static KlStatus import(void *context) {
    Trial *trial = context;
    KlImportOptions options;
    kl_default_import_options(&options);
    options.ground = true;
    KlScene *scene;
    KlImportReport *report;
    KlStatus status = kl_import(trial->documents.name[0], &trial->files, &options, &scene, &report);
    assert_true((status == KL_OK) == (scene != NULL));
    assert_true((status == KL_OK) == (report != NULL));
    kl_scene_destroy(scene);
    kl_import_report_destroy(report);
    return status;
}

static void an_import_succeeds_or_memory_is_missing(void **state) {
    (void)state;
    static const char *const seeds[][2] = {
        {"urdf/all_words.urdf", "r.urdf"}, {"mjcf/all_words.xml", "m.xml"}, {"urdf/5bar.urdf", "five.urdf"}};
    static const char yaml[] =
        "closed_loop: [['closedloop1_A', 'closedloop1_B']]\ntype: ['6d']\nname_mot: ['mot1', 'mot2']\n";
    for (int32_t i = 0; i < 3; i++) {
        Trial trial;
        char *text = start_trial(&trial, seeds[i][0], seeds[i][1]);
        if (i == 2) {
            add_document(&trial, "robot.yaml", yaml, sizeof yaml - 1);
        }
        assert_true(faults_each(import, &trial) > 0);
        free(text);
    }
}

// ---- meshes ------------------------------------------------------------------------------------

static KlStatus parse_mesh(void *context) {
    static const double scale[3] = {1.0, 1.0, 1.0};
    Trial *trial = context;
    KlMeshData mesh;
    KlStatus status =
        kl_mesh_parse(trial->documents.text[0], trial->documents.size[0], trial->documents.name[0], scale, &mesh);
    if (status == KL_OK) {
        kl_mesh_data_free(&mesh);
    } else {
        assert_null(mesh.vertices);
        assert_null(mesh.triangles);
    }
    return status;
}

static void a_mesh_is_read_or_memory_is_missing(void **state) {
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s/models/5bar_linkage/rod.stl", KL_TEST_DATA);
    size_t size;
    char *stl = kl_test_read(path, &size);
    Trial trial = {0};
    add_document(&trial, "rod.stl", stl, size);
    assert_true(faults_each(parse_mesh, &trial) > 0);
    trial.documents = (Documents){.name = {"t.obj"}, .text = {tetrahedron}, .size = {sizeof tetrahedron - 1}};
    assert_true(faults_each(parse_mesh, &trial) > 0);
    free(stl);
}

// ---- the builder -------------------------------------------------------------------------------

static KlStatus add_parts(KlBuilder *builder) {
    KlBodyDef body;
    KlGeomDef geom;
    KlJointDef joint;
    kl_default_body_def(&body);
    kl_default_geom_def(&geom);
    kl_default_joint_def(&joint);
    for (int32_t i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", (int)i);
        body.name = geom.name = joint.name = name;
        KlStatus status = kl_builder_add_body(builder, &body, &geom.body);
        if (status != KL_OK) {
            return status;
        }
        joint.base = i - 1;
        joint.follower = i;
        status = kl_builder_add_joint(builder, &joint, NULL);
        status = status == KL_OK ? kl_builder_add_geom(builder, &geom, NULL) : status;
        if (status != KL_OK) {
            return status;
        }
    }
    return kl_builder_exclude(builder, 0, 5);
}

static KlStatus build(void *context) {
    (void)context;
    KlBuilder *builder;
    KlStatus status = kl_builder_create(&builder);
    if (status != KL_OK) {
        assert_null(builder);
        return status;
    }
    KlModel *model = NULL;
    status = add_parts(builder);
    status = status == KL_OK ? kl_builder_finish(builder, &model) : status;
    assert_true((status == KL_OK) == (model != NULL));
    kl_builder_destroy(builder);
    kl_model_destroy(model);
    return status;
}

// A failed call changes nothing: the same call works once there is memory.
static void the_builder_can_go_on_after_a_failure(void **state) {
    (void)state;
    KlBuilder *builder;
    KlModel *model;
    KlModelInfo info;
    assert_ok(kl_builder_create(&builder));
    KlBodyDef body;
    kl_default_body_def(&body);
    body.name = "a";
    Fault fault = {0};
    kl_set_alloc_gate(fault_gate, &fault);
    assert_int_equal(kl_builder_add_body(builder, &body, NULL), KL_ERR_MEMORY);
    kl_set_alloc_gate(NULL, NULL);
    assert_ok(kl_builder_add_body(builder, &body, NULL));
    for (uint64_t n = 0;; n++) {
        fault = (Fault){.until = n};
        kl_set_alloc_gate(fault_gate, &fault);
        KlStatus status = kl_builder_finish(builder, &model);
        kl_set_alloc_gate(NULL, NULL);
        if (status == KL_OK) {
            break;
        }
        assert_int_equal(status, KL_ERR_MEMORY);
    }
    kl_model_info(model, &info);
    assert_int_equal(info.bodies, 1);
    kl_model_destroy(model);
    kl_builder_destroy(builder);
}

static void a_model_is_built_or_memory_is_missing(void **state) {
    (void)state;
    assert_true(faults_each(build, NULL) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scene_is_read_or_memory_is_missing),
        cmocka_unit_test(a_scene_is_written_and_run_or_memory_is_missing),
        cmocka_unit_test(an_import_succeeds_or_memory_is_missing),
        cmocka_unit_test(a_mesh_is_read_or_memory_is_missing),
        cmocka_unit_test(a_model_is_built_or_memory_is_missing),
        cmocka_unit_test(the_builder_can_go_on_after_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
