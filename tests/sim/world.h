// Small worlds for the simulation's tests: bodies with geometry, joints, planes, and running them.
#ifndef KL_TESTS_WORLD_H
#define KL_TESTS_WORLD_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/trig.h"
#include "math/vec.h"
#include "sim/sim.h"
#include "support.h"

typedef struct World {
    KlBuilder *builder;
    KlSettings settings;
    KlModel *model;
    KlSim *sim;
} World;

static inline World world_new(void) {
    World w = {0};
    assert_ok(kl_builder_create(&w.builder));
    kl_settings_default(&w.settings);
    return w;
}

static inline void rotation_pose(double x, double y, double z, const double turn[3], double pose[7]) {
    pose[0] = x;
    pose[1] = y;
    pose[2] = z;
    if (turn != NULL) {
        kl_quat_exp(turn, pose + 3);
    } else {
        pose[3] = 1.0;
        pose[4] = pose[5] = pose[6] = 0.0;
    }
}

static inline void set_diagonal(double m[9], double a, double b, double c) {
    memset(m, 0, 9 * sizeof *m);
    m[0] = a;
    m[4] = b;
    m[8] = c;
}

// A solid box; returns the body. `twist` may be NULL.
static inline int32_t world_box(World *w, double mass, double lx, double ly, double lz, const double pose[7],
                                const double *twist) {
    static int32_t number;
    char name[32];
    snprintf(name, sizeof name, "box%d", (int)number++);
    KlBodyDef body;
    kl_default_body_def(&body);
    body.name = name;
    body.mass = mass;
    set_diagonal(body.inertia, mass / 12.0 * (ly * ly + lz * lz), mass / 12.0 * (lx * lx + lz * lz),
                 mass / 12.0 * (lx * lx + ly * ly));
    memcpy(body.pose, pose, sizeof body.pose);
    if (twist != NULL) {
        memcpy(body.twist, twist, sizeof body.twist);
    }
    int32_t index = -1;
    assert_ok(kl_builder_add_body(w->builder, &body, &index));
    KlGeomDef geom;
    kl_default_geom_def(&geom);
    geom.name = name;
    geom.body = index;
    geom.kind = KL_GEOM_BOX;
    geom.size[0] = lx;
    geom.size[1] = ly;
    geom.size[2] = lz;
    assert_ok(kl_builder_add_geom(w->builder, &geom, NULL));
    return index;
}

static inline int32_t world_sphere(World *w, double mass, double radius, const double pose[7], const double *twist,
                                   double restitution) {
    static int32_t number;
    char name[32];
    snprintf(name, sizeof name, "sphere%d", (int)number++);
    KlBodyDef body;
    kl_default_body_def(&body);
    body.name = name;
    body.mass = mass;
    double i = 0.4 * mass * radius * radius;
    set_diagonal(body.inertia, i, i, i);
    memcpy(body.pose, pose, sizeof body.pose);
    if (twist != NULL) {
        memcpy(body.twist, twist, sizeof body.twist);
    }
    int32_t index = -1;
    assert_ok(kl_builder_add_body(w->builder, &body, &index));
    KlGeomDef geom;
    kl_default_geom_def(&geom);
    geom.name = name;
    geom.body = index;
    geom.kind = KL_GEOM_SPHERE;
    geom.size[0] = radius;
    geom.restitution = restitution;
    assert_ok(kl_builder_add_geom(w->builder, &geom, NULL));
    return index;
}

// The half space below the xy-plane of `pose`.
static inline void world_plane(World *w, const double pose[7]) {
    KlGeomDef geom;
    kl_default_geom_def(&geom);
    geom.name = "ground";
    geom.kind = KL_GEOM_PLANE;
    memcpy(geom.pose, pose, sizeof geom.pose);
    assert_ok(kl_builder_add_geom(w->builder, &geom, NULL));
}

// A joint whose frame lies at `at` in the world, given the bodies' start poses (NULL: the world).
static inline void joint_at(KlJointDef *joint, const char *name, KlJointKind kind, int32_t base,
                            const double *base_pose, int32_t follower, const double *follower_pose,
                            const double at[7]) {
    kl_default_joint_def(joint);
    joint->name = name;
    joint->kind = kind;
    joint->base = base;
    joint->follower = follower;
    if (base_pose != NULL) {
        kl_pose_relative(base_pose, at, joint->base_frame);
    } else {
        memcpy(joint->base_frame, at, sizeof joint->base_frame);
    }
    kl_pose_relative(follower_pose, at, joint->follower_frame);
}

static inline int32_t world_joint(World *w, const KlJointDef *joint) {
    int32_t index = -1;
    assert_ok(kl_builder_add_joint(w->builder, joint, &index));
    return index;
}

static inline void world_start(World *w, const char *solver) {
    assert_ok(kl_builder_set_settings(w->builder, &w->settings));
    assert_ok(kl_builder_finish(w->builder, &w->model));
    assert_ok(kl_sim_create(w->model, &w->sim));
    assert_ok(kl_sim_set_solver(w->sim, solver));
}

static inline void world_run(World *w, double duration) {
    int64_t steps = (int64_t)floor(duration / w->settings.dt + 0.5);
    for (int64_t i = 0; i < steps; i++) {
        assert_ok(kl_sim_step(w->sim));
    }
}

static inline const double *world_field(const World *w, const char *id) {
    const KlField *field = kl_sim_find_field(w->sim, id);
    assert_non_null(field);
    return (const double *)field->data;
}
static inline const double *world_pose(const World *w, int32_t body) { return world_field(w, "pose") + 7 * body; }
static inline const double *world_twist(const World *w, int32_t body) { return world_field(w, "twist") + 6 * body; }

static inline void world_free(World *w) {
    kl_sim_destroy(w->sim);
    kl_model_destroy(w->model);
    kl_builder_destroy(w->builder);
    *w = (World){0};
}

#endif
