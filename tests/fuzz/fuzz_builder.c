// The builder's interface with arbitrary numbers in every field: a definition is refused with a reason
// or gives a model that steps.
#include "input.h"

// Keeps the default four times of five, so that some definitions pass as a whole.
static void disturb(FuzzInput *in, double *value) {
    if (fuzz_below(in, 5) == 0) {
        *value = fuzz_any(in);
    }
}

static void disturb_all(FuzzInput *in, double *values, int32_t count) {
    if (fuzz_below(in, 3) == 0) {
        for (int32_t i = 0; i < count; i++) {
            disturb(in, &values[i]);
        }
    }
}

static void name_of(char kind, int32_t i, FuzzInput *in, char *name, size_t size) {
    snprintf(name, size, "%c%d", kind, fuzz_below(in, 40) == 0 ? 0 : (int)i);
}

static void add_body(FuzzInput *in, KlBuilder *builder, int32_t i) {
    KlBodyDef def;
    kl_default_body_def(&def);
    char name[16];
    name_of('b', i, in, name, sizeof name);
    def.name = name;
    def.pose[0] = 0.3 * i;
    def.pose[2] = 0.1;
    disturb(in, &def.mass);
    disturb_all(in, def.inertia, 9);
    disturb_all(in, def.pose, 7);
    disturb_all(in, def.twist, 6);
    KlStatus status = kl_builder_add_body(builder, &def, NULL);
    status == KL_OK ? (void)0 : claim_failure(status);
}

static void add_joint(FuzzInput *in, KlBuilder *builder, int32_t i, int32_t bodies) {
    KlJointDef def;
    kl_default_joint_def(&def);
    char name[16];
    name_of('j', i, in, name, sizeof name);
    def.name = name;
    def.kind = (KlJointKind)fuzz_below(in, KL_JOINT_KIND_COUNT + 1);
    def.base = fuzz_below(in, bodies + 2) - 1;
    def.follower = fuzz_below(in, bodies + 2) - 1;
    def.actuation = (KlActuation)fuzz_below(in, 5);
    disturb_all(in, def.base_frame, 7);
    disturb_all(in, def.follower_frame, 7);
    disturb_all(in, def.lower, 6);
    disturb_all(in, def.upper, 6);
    disturb_all(in, def.kp, 6);
    disturb_all(in, def.ki, 6);
    disturb_all(in, def.kd, 6);
    disturb_all(in, def.effort_limit, 6);
    disturb_all(in, def.armature, 6);
    disturb_all(in, def.damping, 6);
    disturb_all(in, def.target, 6);
    KlStatus status = kl_builder_add_joint(builder, &def, NULL);
    status == KL_OK ? (void)0 : claim_failure(status);
}

static void add_geom(FuzzInput *in, KlBuilder *builder, int32_t i, int32_t bodies) {
    KlGeomDef def;
    kl_default_geom_def(&def);
    char name[16];
    name_of('g', i, in, name, sizeof name);
    def.name = name;
    def.body = fuzz_below(in, bodies + 2) - 1;
    def.kind = (KlGeomKind)fuzz_below(in, KL_GEOM_KIND_COUNT + 1);
    def.mesh = fuzz_below(in, 3) - 1;
    def.size[0] = def.size[1] = def.size[2] = 0.2;
    disturb_all(in, def.size, 3);
    disturb_all(in, def.pose, 7);
    disturb(in, &def.friction);
    disturb(in, &def.restitution);
    KlStatus status = kl_builder_add_geom(builder, &def, NULL);
    status == KL_OK ? (void)0 : claim_failure(status);
}

static void add_mesh(FuzzInput *in, KlBuilder *builder) {
    double vertices[15] = {0, 0, 0, 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1, 0.1, 0.1, 0.1};
    int32_t triangles[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    disturb_all(in, vertices, 15);
    for (int32_t i = 0; i < 12; i++) {
        triangles[i] = fuzz_below(in, 6) == 0 ? fuzz_below(in, 8) - 1 : triangles[i];
    }
    KlMeshDef def = {"mesh", vertices, fuzz_below(in, 6), triangles, fuzz_below(in, 5)};
    KlStatus status = kl_builder_add_mesh(builder, &def, NULL);
    status == KL_OK ? (void)0 : claim_failure(status);
}

static void set_settings(FuzzInput *in, KlBuilder *builder) {
    KlSettings s;
    kl_settings_default(&s);
    disturb(in, &s.dt);
    disturb_all(in, s.gravity, 3);
    s.integrator = (KlIntegrator)fuzz_below(in, 3);
    disturb(in, &s.baumgarte_joint);
    disturb(in, &s.baumgarte_limit);
    disturb(in, &s.baumgarte_contact);
    disturb(in, &s.margin);
    disturb(in, &s.detection_distance);
    disturb(in, &s.cull_distance);
    s.max_contacts = fuzz_below(in, 20) - 1;
    KlSoftening *soft = &s.soft_contact;
    soft->on = fuzz_below(in, 3) == 0;
    double *fields[] = {&soft->d0,    &soft->dw,         &soft->width,     &soft->midpoint,
                        &soft->power, &soft->time_const, &soft->damp_ratio};
    for (int i = 0; i < 7; i++) {
        disturb(in, fields[i]);
    }
    s.soft_joint = s.soft_limit = *soft;
    KlStatus status = kl_builder_set_settings(builder, &s);
    status == KL_OK ? (void)0 : claim_failure(status);
}

static void add_event(FuzzInput *in, KlBuilder *builder, int32_t bodies) {
    KlForceEvent event;
    kl_default_force_event(&event);
    event.body = fuzz_below(in, bodies + 3) - 2;
    event.end = 1.0;
    disturb(in, &event.start);
    disturb(in, &event.end);
    disturb_all(in, event.from, 6);
    disturb_all(in, event.to, 6);
    disturb_all(in, event.point, 3);
    KlStatus status = kl_builder_add_event(builder, &event);
    status == KL_OK ? (void)0 : claim_failure(status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FuzzInput in = {data, size, 0};
    KlBuilder *builder;
    CLAIM(kl_builder_create(&builder) == KL_OK);
    int32_t bodies = fuzz_below(&in, 5), joints = fuzz_below(&in, 5), geoms = fuzz_below(&in, 5);
    for (int32_t i = 0; i < bodies; i++) {
        add_body(&in, builder, i);
    }
    if (fuzz_below(&in, 2) == 1) {
        add_mesh(&in, builder);
    }
    for (int32_t i = 0; i < joints; i++) {
        add_joint(&in, builder, i, bodies);
    }
    for (int32_t i = 0; i < geoms; i++) {
        add_geom(&in, builder, i, bodies);
    }
    set_settings(&in, builder);
    add_event(&in, builder, bodies);
    KlModel *model;
    KlStatus status = kl_builder_finish(builder, &model);
    if (status == KL_OK) {
        fuzz_step(model, 4);
        kl_model_destroy(model);
    } else {
        claim_failure(status);
    }
    kl_builder_destroy(builder);
    return 0;
}
