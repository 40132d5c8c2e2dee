// Import of URDF and MJCF: four public mechanisms with loops, and small documents with known answers.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

// Documents in memory: name, text, name, text, ..., NULL.
static KlStatus read_memory(void *context, const char *path, char **data, size_t *size) {
    const char *const *documents = context;
    for (int32_t i = 0; documents[i] != NULL; i += 2) {
        if (strcmp(documents[i], path) == 0) {
            *size = strlen(documents[i + 1]);
            *data = malloc(*size + 1);
            memcpy(*data, documents[i + 1], *size + 1);
            return KL_OK;
        }
    }
    return KL_ERR_NOT_FOUND;
}
static void release_memory(void *context, char *data) {
    (void)context;
    free(data);
}

typedef struct Import {
    KlScene *scene;
    KlImportReport *report;
} Import;

static KlStatus import_text(const char *const *documents, const KlImportOptions *options, Import *import) {
    KlFiles files = {.context = (void *)(uintptr_t)documents, .read = read_memory, .release = release_memory};
    KlImportOptions defaults;
    kl_default_import_options(&defaults);
    return kl_import(documents[0], &files, options != NULL ? options : &defaults, &import->scene, &import->report);
}

// One document, no options.
static Import imported(const char *name, const char *text) {
    const char *documents[] = {name, text, NULL};
    Import import;
    assert_ok(import_text(documents, NULL, &import));
    return import;
}

static void destroy(Import *import) {
    kl_scene_destroy(import->scene);
    kl_import_report_destroy(import->report);
}

static bool noted(const KlImportReport *report, const char *part, bool lost) {
    for (int32_t i = 0; i < kl_import_note_count(report); i++) {
        const KlImportNote *note = kl_import_note(report, i);
        if (note->lost == lost && strstr(note->text, part) != NULL) {
            return true;
        }
    }
    return false;
}

// --------------------------------------------------------------------------- the public mechanisms

typedef struct Mechanism {
    const char *name;
    int32_t bodies, joints, rows, actuated, loops, mobility;
} Mechanism;

// Counts by hand from the files; mobility is what Gauss-Newton's rank leaves.
static const Mechanism mechanisms[] = {
    {"5bar_linkage", 6, 7, 36, 2, 1, 3},
    {"cassie_like", 11, 13, 59, 5, 2, 7},
    {"disney_robot", 32, 38, 178, 12, 6, 14},
    {"robot_delta", 14, 17, 88, 2, 3, 5},
};

static void import_public(const char *name, Import *import) {
    char path[1024];
    snprintf(path, sizeof path, "%s/models/%s/robot.urdf", KL_TEST_DATA, name);
    KlImportOptions options;
    kl_default_import_options(&options);
    assert_ok(kl_import(path, kl_files_disk(), &options, &import->scene, &import->report));
}

static void public_mechanisms_have_the_counts_of_their_files(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mechanisms / sizeof mechanisms[0]; i++) {
        Import import;
        KlModelInfo info;
        import_public(mechanisms[i].name, &import);
        kl_model_info(kl_scene_model(import.scene), &info);
        assert_int_equal(info.bodies, mechanisms[i].bodies);
        assert_int_equal(info.joints, mechanisms[i].joints);
        assert_int_equal(info.joint_rows, mechanisms[i].rows);
        assert_int_equal(info.actuated_dofs, mechanisms[i].actuated);
        assert_int_equal(info.loops, mechanisms[i].loops);
        destroy(&import);
    }
}

static void loops_of_public_mechanisms_close(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mechanisms / sizeof mechanisms[0]; i++) {
        Import import;
        KlSim *sim;
        KlAssembly assembly;
        import_public(mechanisms[i].name, &import);
        assert_ok(kl_scene_close_loops(import.scene, 1e-12, &assembly));
        assert_true(assembly.residual_after <= 1e-12);
        assert_int_equal(assembly.mobility, mechanisms[i].mobility);
        assert_ok(kl_sim_create(kl_scene_model(import.scene), &sim));
        assert_ok(kl_sim_assemble(sim, 1e-12, &assembly));
        assert_true(assembly.residual_before <= 1e-12);  // the scene itself is closed
        kl_sim_destroy(sim);
        destroy(&import);
    }
}

static void imported_scenes_survive_a_round_trip(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mechanisms / sizeof mechanisms[0]; i++) {
        Import import;
        KlScene *again;
        char *first, *second;
        size_t first_size, second_size;
        import_public(mechanisms[i].name, &import);
        assert_ok(kl_scene_close_loops(import.scene, 1e-12, NULL));
        assert_ok(kl_scene_write_json(import.scene, &first, &first_size));
        assert_ok(kl_scene_parse(first, first_size, "first.json", NULL, &again));
        assert_ok(kl_scene_write_json(again, &second, &second_size));
        assert_int_equal(first_size, second_size);
        assert_memory_equal(first, second, first_size);
        kl_free(first);
        kl_free(second);
        kl_scene_destroy(again);
        destroy(&import);
    }
}

static void options_are_a_table_with_defaults_and_ranges(void **state) {
    (void)state;
    KlImportOptions options;
    kl_default_import_options(&options);
    assert_near(options.density, 1000.0, 0.0);
    assert_int_equal(options.keyframe, 1);
    assert_null(kl_import_param(kl_import_param_count()));
    for (int32_t i = 0; i < kl_import_param_count(); i++) {
        const KlParam *param = kl_import_param(i);
        assert_ok(kl_import_options_set(&options, param->id, param->max));
        assert_fails(kl_import_options_set(&options, param->id, 2.0 * param->max + 1.0), KL_ERR_ARGUMENT, param->id);
    }
    assert_int_equal(options.motors, KL_MOTORS_PASSIVE);
    assert_int_equal(options.missing_mesh, KL_MISSING_BOX);
    assert_true(options.ground && options.keep_fixed && options.mesh_collision && options.self_collision);
    assert_fails(kl_import_options_set(&options, "none", 1.0), KL_ERR_NOT_FOUND, "none");
}

// A base that is fixed to the world overlaps the links on it: it must not count as the world they collide with.
static void a_fixed_base_does_not_push_its_own_mechanism(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mechanisms / sizeof mechanisms[0]; i++) {
        Import import;
        KlSim *sim;
        KlAssembly assembly;
        import_public(mechanisms[i].name, &import);
        assert_ok(kl_scene_close_loops(import.scene, 1e-12, &assembly));
        assert_ok(kl_sim_create(kl_scene_model(import.scene), &sim));
        assert_ok(kl_sim_begin_step(sim));
        assert_int_equal(kl_sim_problem(sim)->contact_count, 0);
        kl_sim_destroy(sim);
        destroy(&import);
    }
}

static void import_tells_of_names_that_do_not_match(void **state) {
    (void)state;
    Import import;
    import_public("disney_robot", &import);  // its yaml and its URDF spell one joint differently
    assert_true(noted(import.report, "left_spherical_free_foot", true));
    destroy(&import);
    import_public("5bar_linkage", &import);  // two spheres of 654 tonnes
    assert_true(noted(import.report, "check the units", false));
    destroy(&import);
}

// ------------------------------------------------------------------------------------------- URDF

#define INERTIAL(mass) "<inertial><mass value='" mass "'/><inertia ixx='0.1' iyy='0.1' izz='0.1'/></inertial>"
#define LINK(name, inside) "<link name='" name "'>" inside "</link>"
#define JOINT(name, type, from, to, inside) \
    "<joint name='" name "' type='" type "'><parent link='" from "'/><child link='" to "'/>" inside "</joint>"
#define AXIS(xyz) "<axis xyz='" xyz "'/>"
#define ROBOT(inside) "<robot name='A'>" inside "</robot>"

static void fixed_links_merge_with_the_parallel_axis_theorem(void **state) {
    (void)state;
    Import import = imported("a.urdf", ROBOT(LINK("root", "") LINK("arm", INERTIAL("2")) LINK("tip", INERTIAL("1"))
                                                 JOINT("j", "revolute", "root", "arm", AXIS("0 1 0"))
                                                     JOINT("f", "fixed", "arm", "tip", "<origin xyz='0 0 3'/>")));
    const KlModel *model = kl_scene_model(import.scene);
    KlModelInfo info;
    kl_model_info(model, &info);
    assert_int_equal(info.bodies, 1);
    const KlBodyDef *arm = kl_model_body(model, 0);
    assert_near(arm->mass, 3.0, 0.0);
    assert_near(arm->pose[2], 1.0, 1e-15);                 // (2*0 + 1*3)/3
    assert_near(arm->inertia[0], 0.2 + 2.0 + 4.0, 1e-14);  // 0.1 + 0.1 + 2*1^2 + 1*2^2
    assert_near(arm->inertia[8], 0.2, 1e-15);
    destroy(&import);
}

static void a_chain_of_three_revolutes_through_massless_links_is_one_joint(void **state) {
    (void)state;
    Import import =
        imported("a.urdf", ROBOT(LINK("root", "") LINK("m1", "") LINK("m2", "") LINK("end", INERTIAL("1"))
                                     JOINT("x", "revolute", "root", "m1", "<origin xyz='0 0 1'/>" AXIS("1 0 0"))
                                         JOINT("y", "revolute", "m1", "m2", AXIS("0 1 0"))
                                             JOINT("z", "revolute", "m2", "end", AXIS("0 0 1"))));
    const KlModel *model = kl_scene_model(import.scene);
    KlModelInfo info;
    kl_model_info(model, &info);
    assert_int_equal(info.bodies, 1);
    assert_int_equal(info.joints, 1);
    assert_int_equal(kl_model_joint(model, 0)->kind, KL_JOINT_GIMBAL);
    assert_near(kl_model_joint(model, 0)->base_frame[2], 1.0, 1e-15);
    destroy(&import);
}

// The motor of one revolute joint moves one of the two angles of the universal joint that it becomes a part of.
static void a_composite_joint_keeps_motors_and_limits_apart(void **state) {
    (void)state;
    Import import = imported(
        "a.urdf", ROBOT(LINK("root", "") LINK("m", "") LINK("end", INERTIAL("1"))
                            JOINT("x", "revolute", "root", "m", AXIS("1 0 0") "<limit lower='-1' upper='2'/>")
                                JOINT("y", "revolute", "m", "end",
                                      AXIS("0 1 0")) "<transmission name='t'><joint name='y'/></transmission>"));
    const KlJointDef *joint = kl_model_joint(kl_scene_model(import.scene), 0);
    assert_int_equal(joint->kind, KL_JOINT_UNIVERSAL);
    assert_near(joint->lower[0], -1.0, 0.0);
    assert_near(joint->upper[0], 2.0, 0.0);
    assert_true(isinf(joint->lower[1]));
    assert_near(joint->kp[0], 0.0, 0.0);
    assert_true(joint->kp[1] > 0.0);
    destroy(&import);
}

static void bad_urdf_is_refused_with_place_and_reason(void **state) {
    (void)state;
    static const struct {
        const char *text, *part;
        KlStatus status;
    } cases[] = {
        {"<robot", "not well-formed", KL_ERR_FORMAT},
        {"", "not well-formed", KL_ERR_FORMAT},
        {"<robot name='A'/>", "no <link>", KL_ERR_SCENE},
        {"<plane/>", "neither", KL_ERR_SCENE},
        {ROBOT(LINK("a", "") LINK("a", "")), "stands above", KL_ERR_SCENE},
        {ROBOT(LINK("a", "") JOINT("j", "fixed", "a", "a", "")), "itself", KL_ERR_SCENE},
        {ROBOT(LINK("a", "") LINK("b", "") JOINT("j", "hinge", "a", "b", "")), "unknown joint type", KL_ERR_SCENE},
        {ROBOT(LINK("a", "") JOINT("j", "fixed", "a", "c", "")), "no link \"c\"", KL_ERR_SCENE},
        {ROBOT(LINK("a", INERTIAL("nan"))), "finite", KL_ERR_SCENE},
        {ROBOT(LINK("a", INERTIAL("-1"))), ">= 0", KL_ERR_SCENE},
        {ROBOT(LINK("a", "") LINK("b", "") JOINT("j", "fixed", "a", "b", "") JOINT("k", "fixed", "b", "a", "")),
         "cycle", KL_ERR_SCENE},
        {"<mujoco><worldbody><body><geom size='1' mass='-1'/></body></worldbody></mujoco>", "mass must be >= 0",
         KL_ERR_SCENE},
        {"<mujoco><worldbody><body><geom size='1' density='-1'/></body></worldbody></mujoco>", "density must be >= 0",
         KL_ERR_SCENE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *documents[] = {"bad.urdf", cases[i].text, NULL};
        Import import = {0};
        assert_fails(import_text(documents, NULL, &import), cases[i].status, cases[i].part);
        assert_null(import.scene);
        assert_non_null(strstr(kl_last_error()->message, "bad.urdf"));
    }
}

static void bad_loops_are_refused_with_place_and_reason(void **state) {
    (void)state;
    static const struct {
        const char *yaml, *part;
        KlStatus status;
    } cases[] = {
        {"closed_loop: [['a', 'nowhere']]\n", "no link, joint or frame \"nowhere\"", KL_ERR_SCENE},
        {"closed_loop: [['a']]\n", "pair", KL_ERR_SCENE},
        {"closed_loop: [['a', 'b']]\ntype: ['7d']\n", "\"6d\"", KL_ERR_SCENE},
        {"closed_loop: [['a', 'b'\n", "not valid yaml", KL_ERR_FORMAT},
        {"- 1\n", "mapping", KL_ERR_SCENE},
        {"closed_loop: []\nname_mot: []\nclosed_loop: [['a', 'b']]\n", "robot.yaml:3:1: closed_loop: is given twice",
         KL_ERR_SCENE},
        {"other: 1\nother: 2\n", "robot.yaml:2:1: other: is given twice", KL_ERR_SCENE},
        {"closed_loop: 'a b'\n", "robot.yaml:1:14: closed_loop: must be a list", KL_ERR_SCENE},
        {"name_mot: {a: b}\n", "name_mot: must be a list", KL_ERR_SCENE},
        {"[a]: b\n", "keys must be texts", KL_ERR_SCENE},
        {"closed_loop: [['a', 'b']]\ntype: ['6d', '3d']\n", "robot.yaml:2:14: type: there is no closed_loop",
         KL_ERR_SCENE},
        {"joint_type: [SPHERICAL]\n", "joint_type: there is no joint_name", KL_ERR_SCENE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *documents[] = {"d/x.urdf", ROBOT(LINK("a", "") LINK("b", INERTIAL("1"))), "d/robot.yaml",
                                   cases[i].yaml, NULL};
        Import import = {0};
        assert_fails(import_text(documents, NULL, &import), cases[i].status, cases[i].part);
        assert_non_null(strstr(kl_last_error()->message, "d/robot.yaml"));
    }
}

// ------------------------------------------------------------------------------------------- MJCF

static void mjcf_defaults_angles_and_fromto_are_understood(void **state) {
    (void)state;
    Import import =
        imported("m.xml", "<mujoco model='Arm'><compiler angle='degree'/><option timestep='0.002' gravity='0 0 -1'/>"
                          "<default><joint damping='0.5'/><default class='big'><geom size='0.1'/></default></default>"
                          "<worldbody><geom name='floor' type='plane' size='1 1 1'/>"
                          "<body name='b' pos='0 0 1' euler='0 0 90'><joint name='h' axis='0 0 1' range='-90 45'/>"
                          "<geom name='g' class='big' type='capsule' fromto='0 0 0 1 0 0' mass='2'/></body></worldbody>"
                          "<actuator><motor joint='h' forcerange='-3 3'/></actuator></mujoco>");
    const KlModel *model = kl_scene_model(import.scene);
    const KlBodyDef *body = kl_model_body(model, 0);
    const KlJointDef *joint = kl_model_joint(model, 0);
    assert_near(kl_model_settings(model)->dt, 0.002, 0.0);
    assert_near(kl_model_settings(model)->gravity[2], -1.0, 0.0);
    assert_near(body->mass, 2.0, 1e-14);
    assert_near(body->pose[0], 0.0, 1e-12);  // the capsule's middle, turned by 90 degrees
    assert_near(body->pose[1], 0.5, 1e-12);
    assert_near(joint->lower[0], -1.5707963267948966, 1e-15);
    assert_near(joint->upper[0], 0.78539816339744828, 1e-15);
    assert_near(joint->damping[0], 0.5, 0.0);
    assert_near(joint->effort_limit[0], 3.0, 0.0);
    int32_t geom = kl_model_find_geom(model, "g");
    assert_near(kl_model_geom(model, geom)->size[0], 0.1, 0.0);
    assert_near(kl_model_geom(model, geom)->size[1], 1.0, 1e-15);
    destroy(&import);
}

static void mjcf_closures_and_composite_joints_are_understood(void **state) {
    (void)state;
    const char *documents[] = {
        "m.xml",
        "<mujoco><include file='w.xml'/><equality><connect body1='a' body2='b' anchor='0.5 0 0'/>"
        "<joint joint1='x'/></equality><contact><exclude body1='a' body2='b'/></contact></mujoco>",
        "w.xml",
        "<mujoco><worldbody><body name='a'><freejoint/><geom size='0.1'/></body>"
        "<body name='b' pos='1 0 0'><joint type='hinge' axis='1 0 0'/><joint type='hinge' axis='0 1 0'/>"
        "<geom type='box' size='0.1 0.1 0.1'/></body></worldbody></mujoco>",
        NULL};
    Import import;
    assert_ok(import_text(documents, NULL, &import));
    const KlModel *model = kl_scene_model(import.scene);
    KlModelInfo info;
    kl_model_info(model, &info);
    assert_int_equal(info.bodies, 2);
    assert_int_equal(info.joints, 2);
    assert_int_equal(kl_model_joint(model, 0)->kind, KL_JOINT_UNIVERSAL);
    assert_int_equal(kl_model_joint(model, 1)->kind, KL_JOINT_SPHERICAL);
    assert_near(kl_model_joint(model, 1)->follower_frame[0], -0.5, 1e-15);
    assert_true(noted(import.report, "equality <joint> of x", true));
    destroy(&import);
}

static void an_include_cycle_is_refused(void **state) {
    (void)state;
    const char *documents[] = {"m.xml", "<mujoco><include file='n.xml'/></mujoco>", "n.xml",
                               "<mujoco><include file='m.xml'/></mujoco>", NULL};
    Import import = {0};
    assert_fails(import_text(documents, NULL, &import), KL_ERR_SCENE, "includes itself");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_mechanisms_have_the_counts_of_their_files),
        cmocka_unit_test(loops_of_public_mechanisms_close),
        cmocka_unit_test(imported_scenes_survive_a_round_trip),
        cmocka_unit_test(options_are_a_table_with_defaults_and_ranges),
        cmocka_unit_test(a_fixed_base_does_not_push_its_own_mechanism),
        cmocka_unit_test(import_tells_of_names_that_do_not_match),
        cmocka_unit_test(fixed_links_merge_with_the_parallel_axis_theorem),
        cmocka_unit_test(a_chain_of_three_revolutes_through_massless_links_is_one_joint),
        cmocka_unit_test(a_composite_joint_keeps_motors_and_limits_apart),
        cmocka_unit_test(bad_urdf_is_refused_with_place_and_reason),
        cmocka_unit_test(bad_loops_are_refused_with_place_and_reason),
        cmocka_unit_test(mjcf_defaults_angles_and_fromto_are_understood),
        cmocka_unit_test(mjcf_closures_and_composite_joints_are_understood),
        cmocka_unit_test(an_include_cycle_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
