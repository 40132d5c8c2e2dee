// Every number of the builder's interface as NaN and as infinity, and counts at their ends: refused with
// the field's name, and the builder goes on as if nothing had been said.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

typedef struct Field {
    const char *name;
    size_t offset;
    int32_t count;
    bool infinite;  // an infinity has a meaning
} Field;

#define BODY(field, count) \
    { #field, offsetof(KlBodyDef, field), count, false }
#define JOINT(field, count, infinite) \
    { #field, offsetof(KlJointDef, field), count, infinite }
#define GEOM(field, count) \
    { #field, offsetof(KlGeomDef, field), count, false }
#define EVENT(field, count, infinite) \
    { #field, offsetof(KlForceEvent, field), count, infinite }
#define SETTING(field, count) \
    { #field, offsetof(KlSettings, field), count, false }

static const Field body_fields[] = {BODY(mass, 1), BODY(inertia, 9), BODY(pose, 7), BODY(twist, 6)};
// Coordinates of a universal joint: two.
static const Field joint_fields[] = {
    JOINT(base_frame, 7, false), JOINT(follower_frame, 7, false),
    JOINT(lower, 2, true),       JOINT(upper, 2, true),
    JOINT(kp, 2, false),         JOINT(ki, 2, false),
    JOINT(kd, 2, false),         JOINT(effort_limit, 2, true),
    JOINT(armature, 2, false),   JOINT(damping, 2, false),
    JOINT(target, 2, false),
};
static const Field geom_fields[] = {GEOM(pose, 7), GEOM(size, 3), GEOM(friction, 1), GEOM(restitution, 1)};
static const Field event_fields[] = {EVENT(start, 1, false),
                                     EVENT(end, 1, true),
                                     {"force", offsetof(KlForceEvent, from), 3, false},
                                     {"force", offsetof(KlForceEvent, from) + 24, 3, false},
                                     {"force_to", offsetof(KlForceEvent, to), 3, false},
                                     {"force_to", offsetof(KlForceEvent, to) + 24, 3, false},
                                     EVENT(point, 3, false)};
static const Field setting_fields[] = {
    SETTING(dt, 1),
    SETTING(gravity, 3),
    {"joints", offsetof(KlSettings, baumgarte_joint), 1, false},
    {"limits", offsetof(KlSettings, baumgarte_limit), 1, false},
    {"contacts", offsetof(KlSettings, baumgarte_contact), 1, false},
    SETTING(margin, 1),
    SETTING(detection_distance, 1),
    SETTING(cull_distance, 1),
    SETTING(soft_joint.d0, 1),
    SETTING(soft_joint.dw, 1),
    SETTING(soft_joint.width, 1),
    SETTING(soft_joint.midpoint, 1),
    SETTING(soft_joint.power, 1),
    SETTING(soft_joint.time_const, 1),
    SETTING(soft_joint.damp_ratio, 1),
    SETTING(soft_limit.d0, 1),
    SETTING(soft_limit.width, 1),
    SETTING(soft_contact.d0, 1),
    SETTING(soft_contact.time_const, 1),
};
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

typedef KlStatus (*Add)(KlBuilder *builder, void *def);

static KlStatus add_body(KlBuilder *builder, void *def) { return kl_builder_add_body(builder, def, NULL); }
static KlStatus add_joint(KlBuilder *builder, void *def) { return kl_builder_add_joint(builder, def, NULL); }
static KlStatus add_geom(KlBuilder *builder, void *def) { return kl_builder_add_geom(builder, def, NULL); }
static KlStatus add_event(KlBuilder *builder, void *def) { return kl_builder_add_event(builder, def); }
static KlStatus set_settings(KlBuilder *builder, void *def) { return kl_builder_set_settings(builder, def); }

static KlBuilder *start_builder(void) {
    KlBuilder *builder;
    KlBodyDef body;
    assert_ok(kl_builder_create(&builder));
    kl_default_body_def(&body);
    body.name = "first";
    assert_ok(kl_builder_add_body(builder, &body, NULL));
    return builder;
}

// What is refused leaves nothing: the model at the end holds what was there before.
static void finish_alone(KlBuilder *builder) {
    KlModel *model;
    KlModelInfo info;
    assert_ok(kl_builder_finish(builder, &model));
    kl_model_info(model, &info);
    assert_int_equal(info.bodies, 1);
    assert_int_equal(info.joints + info.geoms, 0);
    kl_model_destroy(model);
    kl_builder_destroy(builder);
}

static void spoil(Add add, const void *def, size_t size, const Field *fields, size_t count) {
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    char copy[2048];
    KlBuilder *builder = start_builder();
    assert_true(size <= sizeof copy);
    for (size_t f = 0; f < count; f++) {
        for (int32_t i = 0; i < fields[f].count; i++) {
            for (int b = 0; b < 3; b++) {
                memcpy(copy, def, size);
                memcpy(copy + fields[f].offset + sizeof(double) * (size_t)i, &bad[b], sizeof bad[b]);
                KlStatus status = add(builder, copy);
                if (status == KL_OK && !(b > 0 && fields[f].infinite)) {
                    fail_msg("%s[%d] = %g was accepted", fields[f].name, (int)i, bad[b]);
                }
                if (status == KL_OK) {
                    kl_builder_destroy(builder);
                    builder = start_builder();
                    continue;
                }
                assert_int_equal(status, KL_ERR_SCENE);
                const char *name = strrchr(fields[f].name, '.');
                if (strstr(kl_last_error()->message, name != NULL ? name + 1 : fields[f].name) == NULL) {
                    fail_msg("%s is not named in: %s", fields[f].name, kl_last_error()->message);
                }
            }
        }
    }
    finish_alone(builder);
}

static void no_number_may_be_nan_and_few_may_be_infinite(void **state) {
    (void)state;
    KlBodyDef body;
    KlJointDef joint;
    KlGeomDef geom;
    KlForceEvent event;
    KlSettings settings;
    kl_default_body_def(&body);
    kl_default_joint_def(&joint);
    kl_default_geom_def(&geom);
    kl_default_force_event(&event);
    kl_settings_default(&settings);
    settings.soft_joint.on = settings.soft_limit.on = settings.soft_contact.on = true;
    body.name = joint.name = geom.name = "bad";
    joint.kind = KL_JOINT_UNIVERSAL;
    joint.actuation = KL_ACTUATION_PD_IMPLICIT;
    joint.follower = 0;
    geom.body = 0;
    geom.kind = KL_GEOM_BOX;
    geom.size[0] = geom.size[1] = geom.size[2] = 0.1;
    event.body = 0;
    event.end = 1.0;
    spoil(add_body, &body, sizeof body, body_fields, COUNT(body_fields));
    spoil(add_joint, &joint, sizeof joint, joint_fields, COUNT(joint_fields));
    spoil(add_geom, &geom, sizeof geom, geom_fields, COUNT(geom_fields));
    spoil(add_event, &event, sizeof event, event_fields, COUNT(event_fields));
    spoil(set_settings, &settings, sizeof settings, setting_fields, COUNT(setting_fields));
}

static void indices_outside_are_refused(void **state) {
    (void)state;
    static const int32_t outside[] = {-3, 1, 2147483647, -2147483647 - 1};
    KlBuilder *builder = start_builder();
    for (int i = 0; i < 4; i++) {
        KlJointDef joint;
        KlGeomDef geom;
        KlForceEvent event;
        kl_default_joint_def(&joint);
        kl_default_geom_def(&geom);
        kl_default_force_event(&event);
        joint.name = geom.name = "bad";
        joint.follower = outside[i];
        assert_int_not_equal(kl_builder_add_joint(builder, &joint, NULL), KL_OK);
        joint.follower = 0;
        joint.base = outside[i];
        assert_int_not_equal(kl_builder_add_joint(builder, &joint, NULL), KL_OK);
        joint.base = -1;
        joint.reference = outside[i];
        assert_int_not_equal(kl_builder_add_joint(builder, &joint, NULL), KL_OK);
        geom.body = outside[i];
        assert_int_not_equal(kl_builder_add_geom(builder, &geom, NULL), KL_OK);
        geom.body = 0;
        geom.kind = KL_GEOM_MESH;
        geom.mesh = outside[i];
        assert_int_not_equal(kl_builder_add_geom(builder, &geom, NULL), KL_OK);
        event.body = outside[i];
        event.end = 1.0;
        assert_int_not_equal(kl_builder_add_event(builder, &event), KL_OK);
        assert_int_not_equal(kl_builder_exclude(builder, 0, outside[i]), KL_OK);
        assert_int_not_equal(kl_builder_pair(builder, outside[i], 0, 0.5, 0.0), KL_OK);
    }
    kl_builder_destroy(builder);
}

static void meshes_without_area_or_sense_are_refused(void **state) {
    (void)state;
    static const double vertices[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0, 0};
    static const int32_t fine[3] = {0, 1, 2}, outside[3] = {0, 1, 4}, negative[3] = {0, -1, 2}, flat[3] = {0, 1, 3};
    static const double wild[12] = {0, 0, 0, (double)NAN, 0, 0, 0, 1, 0, 2, 0, 0};
    const KlMeshDef bad[] = {
        {"none", vertices, 0, fine, 0},   {"outside", vertices, 4, outside, 1}, {"negative", vertices, 4, negative, 1},
        {"flat", vertices, 4, flat, 1},   {"wild", wild, 4, fine, 1},           {"minus", vertices, -1, fine, 1},
        {"minus", vertices, 4, fine, -1},
    };
    KlBuilder *builder = start_builder();
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (kl_builder_add_mesh(builder, &bad[i], NULL) == KL_OK) {
            fail_msg("the mesh \"%s\" (number %d) was accepted", bad[i].name, (int)i);
        }
    }
    // Points alone make a hull, but no triangle mesh.
    const KlMeshDef points = {"points", vertices, 4, fine, 0};
    KlGeomDef geom;
    kl_default_geom_def(&geom);
    geom.name = "g";
    geom.body = 0;
    geom.kind = KL_GEOM_MESH;
    assert_ok(kl_builder_add_mesh(builder, &points, &geom.mesh));
    assert_fails(kl_builder_add_geom(builder, &geom, NULL), KL_ERR_SCENE, "triangle");
    kl_builder_destroy(builder);
}

static void an_empty_model_is_refused(void **state) {
    (void)state;
    KlBuilder *builder;
    KlModel *model;
    assert_ok(kl_builder_create(&builder));
    assert_fails(kl_builder_finish(builder, &model), KL_ERR_SCENE, "at least one body");
    assert_null(model);
    kl_builder_destroy(builder);
}

// The stated limit: 10^5 bodies, and not one more.
static void a_hundred_thousand_bodies_are_taken_and_one_more_is_refused(void **state) {
    (void)state;
    KlBuilder *builder;
    KlModel *model;
    KlModelInfo info;
    KlBodyDef body;
    assert_ok(kl_builder_create(&builder));
    kl_default_body_def(&body);
    char name[16];
    body.name = name;
    for (int32_t i = 0; i < 100000; i++) {
        snprintf(name, sizeof name, "b%d", (int)i);
        assert_ok(kl_builder_add_body(builder, &body, NULL));
    }
    body.name = "one more";
    assert_fails(kl_builder_add_body(builder, &body, NULL), KL_ERR_LIMIT, "100000");
    assert_ok(kl_builder_finish(builder, &model));
    kl_model_info(model, &info);
    assert_int_equal(info.bodies, 100000);
    kl_model_destroy(model);
    kl_builder_destroy(builder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_number_may_be_nan_and_few_may_be_infinite),
        cmocka_unit_test(indices_outside_are_refused),
        cmocka_unit_test(meshes_without_area_or_sense_are_refused),
        cmocka_unit_test(an_empty_model_is_refused),
        cmocka_unit_test(a_hundred_thousand_bodies_are_taken_and_one_more_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
