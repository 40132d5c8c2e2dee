// A few bodies with one geom each, built in one line, for the collision suites.
#ifndef KL_TESTS_COLLIDE_SCENE_H
#define KL_TESTS_COLLIDE_SCENE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collide/collide.h"
#include "support.h"

enum { SCENE_CONTACTS = 4096 };

typedef struct Scene {
    KlBuilder *builder;
    KlModel *model;
    KlCollider *collider;
    double poses[16][7];
    int32_t body_count, geom_count;
    KlContact contacts[SCENE_CONTACTS];
    int32_t count;
} Scene;

static inline void scene_begin(Scene *scene, double detection, double cull) {
    memset(scene, 0, sizeof *scene);
    assert_ok(kl_builder_create(&scene->builder));
    KlSettings settings;
    kl_settings_default(&settings);
    settings.detection_distance = detection;
    settings.cull_distance = cull;
    settings.max_contacts = SCENE_CONTACTS;
    assert_ok(kl_builder_set_settings(scene->builder, &settings));
}

static inline int32_t scene_body(Scene *scene, double x, double y, double z) {
    KlBodyDef def;
    char name[32];
    kl_default_body_def(&def);
    snprintf(name, sizeof name, "body%d", (int)scene->body_count);
    def.name = name;
    def.mass = 1.0;
    for (int i = 0; i < 9; i++) {
        def.inertia[i] = i % 4 == 0 ? 1.0 : 0.0;
    }
    double pose[7] = {x, y, z, 1.0, 0.0, 0.0, 0.0};
    memcpy(def.pose, pose, sizeof pose);
    memcpy(scene->poses[scene->body_count], pose, sizeof pose);
    assert_ok(kl_builder_add_body(scene->builder, &def, NULL));
    return scene->body_count++;
}

static inline int32_t scene_mesh(Scene *scene, const double *vertices, int32_t vertex_count, const int32_t *triangles,
                                 int32_t triangle_count) {
    static int number;
    char name[32];
    snprintf(name, sizeof name, "mesh%d", number++);
    KlMeshDef def = {.name = name,
                     .vertices = vertices,
                     .vertex_count = vertex_count,
                     .triangles = triangles,
                     .triangle_count = triangle_count};
    int32_t mesh;
    assert_ok(kl_builder_add_mesh(scene->builder, &def, &mesh));
    return mesh;
}

static inline int32_t scene_geom(Scene *scene, int32_t body, KlGeomKind kind, double a, double b, double c,
                                 int32_t mesh) {
    KlGeomDef def;
    char name[32];
    kl_default_geom_def(&def);
    snprintf(name, sizeof name, "geom%d", (int)scene->geom_count);
    def.name = name;
    def.body = body;
    def.kind = kind;
    def.size[0] = a;
    def.size[1] = b;
    def.size[2] = c;
    def.mesh = mesh;
    assert_ok(kl_builder_add_geom(scene->builder, &def, NULL));
    return scene->geom_count++;
}

static inline void scene_finish(Scene *scene) {
    assert_ok(kl_builder_finish(scene->builder, &scene->model));
    assert_ok(kl_collider_create(scene->model, &scene->collider));
}

static inline void scene_turn(Scene *scene, int32_t body, double x, double y, double z, double angle) {
    double s = sin(0.5 * angle) / sqrt(x * x + y * y + z * z);
    double q[4] = {cos(0.5 * angle), s * x, s * y, s * z};
    memcpy(scene->poses[body] + 3, q, sizeof q);
}

static inline void scene_find(Scene *scene) {
    assert_ok(kl_collider_find(scene->collider, scene->poses[0], scene->contacts, SCENE_CONTACTS, &scene->count));
}

static inline void scene_end(Scene *scene) {
    kl_collider_destroy(scene->collider);
    kl_model_destroy(scene->model);
    kl_builder_destroy(scene->builder);
}

// The surface of a box as a mesh: eight corners, twelve triangles, outward.
static inline int32_t scene_box_mesh(Scene *scene, double sx, double sy, double sz) {
    static double corners[64][24];
    static int number;
    double *v = corners[number++ % 64];
    for (int i = 0; i < 8; i++) {
        v[3 * i] = (i & 1) != 0 ? 0.5 * sx : -0.5 * sx;
        v[3 * i + 1] = (i & 2) != 0 ? 0.5 * sy : -0.5 * sy;
        v[3 * i + 2] = (i & 4) != 0 ? 0.5 * sz : -0.5 * sz;
    }
    static const int32_t t[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                  2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    return scene_mesh(scene, v, 8, t, 12);
}

#endif
