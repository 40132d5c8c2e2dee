// Half spaces against everything: the features of the other shape that can be lowest. Exact gaps at any
// distance, and a contact keeps its feature (corner, rim point, vertex) however the body moves - ODE
// hands such contacts out in changing order, which upsets splitting solvers (paper, discussion of
// collision detection).
#include "base/status.h"
#include "collide/shape.h"
#include "math/vec.h"

typedef struct PlaneQuery {
    double normal[3];  // of the plane, world
    double offset;     // normal . x on the plane
    double reach;
    KlRawList *list;
} PlaneQuery;

// `surface` is the point of the shape; the contact lies halfway to the plane.
static KlStatus touch(const PlaneQuery *query, const double surface[3], int32_t feature) {
    double gap = kl_dot3(query->normal, surface) - query->offset;
    if (gap > query->reach) {
        return KL_OK;
    }
    KlRawContact contact = {.gap = gap, .feature = feature};
    kl_copy3(query->normal, contact.normal);
    kl_copy3(surface, contact.position);
    kl_axpy3(-0.5 * gap, query->normal, contact.position);
    return kl_raw_push(query->list, &contact);
}

static KlStatus touch_ball(const PlaneQuery *query, const double center[3], double radius, int32_t feature) {
    double surface[3];
    kl_copy3(center, surface);
    kl_axpy3(-radius, query->normal, surface);
    return touch(query, surface, feature);
}

static KlStatus touch_capsule(const PlaneQuery *query, const KlShape *shape) {
    for (int32_t end = 0; end < 2; end++) {
        double local[3] = {0.0, 0.0, end == 0 ? -0.5 * shape->size[1] : 0.5 * shape->size[1]};
        double center[3];
        kl_shape_to_world(shape, local, center);
        KL_TRY(touch_ball(query, center, shape->size[0], end));
    }
    return KL_OK;
}

// Four points on each rim, one of them the lowest; on an upright cylinder, where none is lowest, they
// are fixed to the body.
static KlStatus touch_cylinder(const PlaneQuery *query, const KlShape *shape) {
    const double upright = 1e-5;  // sine of the tilt: leaves 3e-6 radii of depth unseen at most
    double down[3];
    kl_mat3_tmul_vec(shape->rotation, query->normal, down);
    double across = sqrt(down[0] * down[0] + down[1] * down[1]);
    double x = across > upright ? -down[0] / across : 1.0;
    double y = across > upright ? -down[1] / across : 0.0;
    const double radius = shape->size[0];
    const double rim[4][2] = {{x, y}, {-y, x}, {-x, -y}, {y, -x}};
    for (int32_t cap = 0; cap < 2; cap++) {
        for (int32_t k = 0; k < 4; k++) {
            double local[3] = {radius * rim[k][0], radius * rim[k][1],
                               cap == 0 ? -0.5 * shape->size[1] : 0.5 * shape->size[1]};
            double surface[3];
            kl_shape_to_world(shape, local, surface);
            KL_TRY(touch(query, surface, 4 * cap + k));
        }
    }
    return KL_OK;
}

static KlStatus touch_vertices(const PlaneQuery *query, const KlShape *shape, const double *vertices, int32_t count) {
    double down[3];  // the plane in the shape's frame, so that most vertices cost one product
    kl_mat3_tmul_vec(shape->rotation, query->normal, down);
    double limit = query->offset + query->reach - kl_dot3(query->normal, shape->position);
    limit += 1e-9 * (1.0 + fabs(limit));  // rounding; `touch` decides
    for (int32_t i = 0; i < count; i++) {
        if (kl_dot3(down, vertices + 3 * i) <= limit) {
            double surface[3];
            kl_shape_to_world(shape, vertices + 3 * i, surface);
            KL_TRY(touch(query, surface, i));
        }
    }
    return KL_OK;
}

static bool may_touch(const PlaneQuery *query, const KlShape *shape) {
    double lowest = 0.0;
    for (int32_t k = 0; k < 3; k++) {
        lowest += query->normal[k] * (query->normal[k] > 0.0 ? shape->low[k] : shape->high[k]);
    }
    return lowest - query->offset <= query->reach;
}

KlStatus kl_plane_contacts(const KlShape *plane, const KlShape *shape, double reach, KlRawList *list) {
    PlaneQuery query = {.reach = reach, .list = list};
    for (int32_t k = 0; k < 3; k++) {
        query.normal[k] = plane->rotation[3 * k + 2];
    }
    query.offset = kl_dot3(query.normal, plane->position);
    if (!may_touch(&query, shape)) {
        return KL_OK;
    }
    switch (shape->kind) {
        case KL_GEOM_SPHERE: return touch_ball(&query, shape->position, shape->size[0], 0);
        case KL_GEOM_CAPSULE: return touch_capsule(&query, shape);
        case KL_GEOM_CYLINDER: return touch_cylinder(&query, shape);
        case KL_GEOM_MESH: return touch_vertices(&query, shape, shape->mesh->vertices, shape->mesh->vertex_count);
        default: return touch_vertices(&query, shape, shape->polyhedron.vertices, shape->polyhedron.vertex_count);
    }
}
