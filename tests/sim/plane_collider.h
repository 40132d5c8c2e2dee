// A collider for tests that want nothing but boxes and spheres on planes: corners and lowest points, in
// closed form. It stands in for the library's collider in the one test program that includes it, so that
// physics is tested apart from collision detection.
#ifndef KL_TESTS_PLANE_COLLIDER_H
#define KL_TESTS_PLANE_COLLIDER_H

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "collide/collide.h"
#include "math/vec.h"
#include "model/model.h"

struct KlCollider {
    const KlModel *model;
};

KlStatus kl_collider_create(const KlModel *model, KlCollider **collider) {
    *collider = kl_alloc(sizeof **collider);
    (*collider)->model = model;
    return KL_OK;
}
void kl_collider_destroy(KlCollider *collider) { kl_free(collider); }
void kl_collider_reset(KlCollider *collider) { (void)collider; }
size_t kl_collider_state_size(const KlCollider *collider) { return 0 * sizeof collider; }
void kl_collider_save(const KlCollider *collider, void *state) { (void)collider, (void)state; }
void kl_collider_load(KlCollider *collider, const void *state) { (void)collider, (void)state; }

static void plane_contact(const KlModel *m, int32_t plane, int32_t geom, const double point[3], double radius,
                          uint64_t id, KlContact *contacts, int32_t capacity, int32_t *count) {
    double r[9], local[3];
    const double *pose = m->geoms[plane].pose;
    kl_quat_to_mat3(pose + 3, r);
    kl_sub3(point, pose, local);
    double normal[3] = {r[2], r[5], r[8]};
    double gap = kl_dot3(normal, local) - radius;
    if (gap > m->settings.detection_distance) {
        return;
    }
    if (*count < capacity) {
        KlContact *c = &contacts[*count];
        *c = (KlContact){.geom_a = plane, .geom_b = geom, .body_a = -1, .body_b = m->geoms[geom].body,
                         .gap = gap, .id = id};
        kl_copy3(normal, c->normal);
        kl_copy3(point, c->position);
        kl_axpy3(-radius - 0.5 * gap, normal, c->position);
        kl_model_material(m, plane, geom, &c->friction, &c->restitution);
    }
    (*count)++;
}

KlStatus kl_collider_find(KlCollider *collider, const double *poses, KlContact *contacts, int32_t capacity,
                          int32_t *count) {
    const KlModel *m = collider->model;
    *count = 0;
    for (int32_t p = 0; p < m->geom_count; p++) {
        for (int32_t g = 0; m->geoms[p].kind == KL_GEOM_PLANE && g < m->geom_count; g++) {
            const KlGeomDef *geom = &m->geoms[g];
            if (geom->body < 0 || (geom->kind != KL_GEOM_BOX && geom->kind != KL_GEOM_SPHERE)) {
                continue;
            }
            double frame[7];
            kl_pose_mul(poses + 7 * geom->body, geom->pose, frame);
            if (geom->kind == KL_GEOM_SPHERE) {
                plane_contact(m, p, g, frame, geom->size[0], 0, contacts, capacity, count);
                continue;
            }
            for (int32_t corner = 0; corner < 8; corner++) {
                double local[3], world[3];
                for (int32_t k = 0; k < 3; k++) {
                    local[k] = (corner >> k & 1 ? 0.5 : -0.5) * geom->size[k];
                }
                kl_quat_rotate(frame + 3, local, world);
                kl_add3(world, frame, world);
                plane_contact(m, p, g, world, 0.0, (uint64_t)corner, contacts, capacity, count);
            }
        }
    }
    return *count <= capacity ? KL_OK
                              : kl_fail(KL_ERR_LIMIT, "%d contacts, room for %d", (int)*count, (int)capacity);
}

#endif
