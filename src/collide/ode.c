// ODE knows contacts of overlapping shapes only. For gaps up to the detection distance one shape of the
// pair is grown by that distance, and the gap is measured on the true shapes: along the normal n the
// separation of convex shapes is  min over B of n.x - max over A of n.x.  Hulls and meshes do not grow:
// two of them are seen from touch on.
#include "collide/ode.h"

#include <ode/ode.h>
#include <stdatomic.h>

#include "base/status.h"
#include "math/vec.h"

enum { FIRST_CAPACITY = 256, ODE_CAPACITY = 0xffff };  // ODE takes sixteen bits of contacts

static void stay_silent(int number, const char *message, va_list arguments) {
    (void)number;
    (void)message;
    (void)arguments;
}

KlStatus kl_ode_enter(void) {
    // ODE counts its initialisations without a lock: one thread does it, others wait.
    static atomic_int stage;  // 0 untouched, 1 being initialised, 2 ready
    int untouched = 0;
    if (atomic_compare_exchange_strong(&stage, &untouched, 1)) {
        dInitODE2(0);
        dSetMessageHandler(stay_silent);
        atomic_store(&stage, 2);
    }
    while (atomic_load(&stage) != 2) {
    }
    if (dAllocateODEDataForThread((unsigned)dAllocateMaskAll) == 0) {
        return kl_fail(KL_ERR_MEMORY, "ODE cannot allocate its data for this thread");
    }
    return KL_OK;
}

// ------------------------------------------------------------------------------------------------
// Geoms
// ------------------------------------------------------------------------------------------------

static dGeomID round_geom(const KlShape *shape, double growth) {
    const double *size = shape->size;
    switch (shape->kind) {
        case KL_GEOM_SPHERE: return dCreateSphere(0, size[0] + growth);
        case KL_GEOM_CAPSULE: return dCreateCapsule(0, size[0] + growth, size[1]);
        case KL_GEOM_CYLINDER: return dCreateCylinder(0, size[0] + growth, size[1] + 2.0 * growth);
        case KL_GEOM_BOX:
            return dCreateBox(0, size[0] + 2.0 * growth, size[1] + 2.0 * growth, size[2] + 2.0 * growth);
        default: return NULL;
    }
}

static KlStatus create_hull(KlShape *shape, KlArena *arena) {
    const KlPolyhedron *p = &shape->polyhedron;
    int32_t corners = p->face_start[p->face_count];
    shape->ode_planes = KL_ARENA_ARRAY(arena, double, 4 * (size_t)p->face_count);
    shape->ode_polygons = KL_ARENA_ARRAY(arena, unsigned, p->face_count + corners);
    KL_TRY(kl_arena_check(arena));
    unsigned *polygon = shape->ode_polygons;
    for (int32_t face = 0; face < p->face_count; face++) {
        kl_copy3(p->normals + 3 * face, shape->ode_planes + 4 * face);
        shape->ode_planes[4 * face + 3] = p->offsets[face];
        *polygon++ = (unsigned)(p->face_start[face + 1] - p->face_start[face]);
        for (int32_t k = p->face_start[face]; k < p->face_start[face + 1]; k++) {
            *polygon++ = (unsigned)p->face_vertex[k];
        }
    }
    shape->exact = dCreateConvex(0, shape->ode_planes, (unsigned)p->face_count, p->vertices,
                                 (unsigned)p->vertex_count, shape->ode_polygons);
    return KL_OK;
}

static KlStatus create_mesh(KlShape *shape, KlArena *arena) {
    const KlMeshDef *mesh = shape->mesh;
    shape->mesh_data = dGeomTriMeshDataCreate();
    shape->ode_vertices = KL_ARENA_ARRAY(arena, double, 3 * (size_t)mesh->vertex_count);
    shape->ode_polygons = KL_ARENA_ARRAY(arena, unsigned, 3 * (size_t)mesh->triangle_count);
    KL_TRY(kl_arena_check(arena));
    for (int32_t i = 0; i < 3 * mesh->vertex_count; i++) {
        shape->ode_vertices[i] = mesh->vertices[i];
    }
    for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) {
        shape->ode_polygons[i] = (unsigned)mesh->triangles[i];
    }
    dGeomTriMeshDataBuildDouble(shape->mesh_data, shape->ode_vertices, 3 * sizeof(double),
                                mesh->vertex_count, shape->ode_polygons, 3 * mesh->triangle_count,
                                3 * sizeof(unsigned));
    // Hulls against meshes ask for the angles between neighbouring triangles.
    if (dGeomTriMeshDataPreprocess2(shape->mesh_data, 1u << dTRIDATAPREPROCESS_BUILD_FACE_ANGLES,
                                    NULL) == 0) {
        return kl_fail(KL_ERR_MEMORY, "ODE cannot prepare mesh \"%s\"", mesh->name);
    }
    shape->exact = dCreateTriMesh(0, shape->mesh_data, NULL, NULL, NULL);
    return KL_OK;
}

KlStatus kl_ode_create(KlShape *shape, double reach, KlArena *arena) {
    switch (shape->kind) {
        case KL_GEOM_PLANE: return KL_OK;
        case KL_GEOM_CONVEX: KL_TRY(create_hull(shape, arena)); break;
        case KL_GEOM_MESH: KL_TRY(create_mesh(shape, arena)); break;
        default:
            shape->exact = round_geom(shape, 0.0);
            shape->inflated = round_geom(shape, reach);
            if (shape->inflated == NULL) {
                return kl_fail(KL_ERR_MEMORY, "ODE cannot allocate a geom");
            }
    }
    if (shape->exact == NULL) {
        return kl_fail(KL_ERR_MEMORY, "ODE cannot allocate a geom");
    }
    return KL_OK;
}

void kl_ode_destroy(KlShape *shape) {
    if (shape->exact != NULL) {
        dGeomDestroy(shape->exact);
    }
    if (shape->inflated != NULL) {
        dGeomDestroy(shape->inflated);
    }
    if (shape->mesh_data != NULL) {
        dGeomTriMeshDataDestroy(shape->mesh_data);
    }
}

static void place(dGeomID geom, const KlShape *shape) {
    const double *r = shape->rotation;
    const dMatrix3 rotation = {r[0], r[1], r[2], 0.0, r[3], r[4], r[5], 0.0, r[6], r[7], r[8], 0.0};
    dGeomSetPosition(geom, shape->position[0], shape->position[1], shape->position[2]);
    dGeomSetRotation(geom, rotation);
}

void kl_ode_place(KlShape *shape) {
    place(shape->exact, shape);
    if (shape->inflated != NULL) {
        place(shape->inflated, shape);
    }
    dReal box[6];
    dGeomGetAABB(shape->exact, box);
    for (int32_t k = 0; k < 3; k++) {
        shape->low[k] = box[2 * k];
        shape->high[k] = box[2 * k + 1];
    }
}

// ------------------------------------------------------------------------------------------------
// Contacts
// ------------------------------------------------------------------------------------------------

// max of n.x over a convex shape.
static double support(const KlShape *shape, const double n[3]) {
    double local[3];
    kl_mat3_tmul_vec(shape->rotation, n, local);
    double reach = kl_dot3(n, shape->position);
    double across = sqrt(local[0] * local[0] + local[1] * local[1]);
    switch (shape->kind) {
        case KL_GEOM_SPHERE: return reach + shape->size[0];
        case KL_GEOM_CAPSULE: return reach + 0.5 * shape->size[1] * fabs(local[2]) + shape->size[0];
        case KL_GEOM_CYLINDER:
            return reach + 0.5 * shape->size[1] * fabs(local[2]) + shape->size[0] * across;
        default: break;
    }
    double highest = -INFINITY;
    for (int32_t i = 0; i < shape->polyhedron.vertex_count; i++) {
        double h = kl_dot3(local, shape->polyhedron.vertices + 3 * i);
        highest = h > highest ? h : highest;
    }
    return reach + highest;
}

// How much farther the inflated shape reaches along n.
static double growth_along(const KlShape *shape, const double n[3], double growth) {
    double local[3];
    kl_mat3_tmul_vec(shape->rotation, n, local);
    switch (shape->kind) {
        case KL_GEOM_CYLINDER:
            return growth * (fabs(local[2]) + sqrt(local[0] * local[0] + local[1] * local[1]));
        case KL_GEOM_BOX: return growth * (fabs(local[0]) + fabs(local[1]) + fabs(local[2]));
        default: return growth;
    }
}

// Which shape of a pair grows: where growing is exact first.
static int32_t growth_preference(const KlShape *shape) {
    switch (shape->kind) {
        case KL_GEOM_SPHERE: return 4;
        case KL_GEOM_CAPSULE: return 3;
        case KL_GEOM_CYLINDER: return 2;
        case KL_GEOM_BOX: return 1;
        default: return 0;
    }
}

static KlStatus grow_buffer(KlOdeBuffer *buffer) {
    int32_t capacity = buffer->capacity == 0 ? FIRST_CAPACITY : 2 * buffer->capacity;
    capacity = capacity > ODE_CAPACITY ? ODE_CAPACITY : capacity;
    dContactGeom *grown = kl_realloc(buffer->contacts, (size_t)capacity * sizeof *grown);
    if (grown == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for %d contacts of one pair", (int)capacity);
    }
    buffer->contacts = grown;
    buffer->capacity = capacity;
    return KL_OK;
}

// Asks again with more room until ODE has none left to tell.
static KlStatus collide_all(dGeomID a, dGeomID b, KlOdeBuffer *buffer, int32_t *count) {
    if (buffer->capacity == 0) {
        KL_TRY(grow_buffer(buffer));
    }
    for (;;) {
        *count = dCollide(a, b, buffer->capacity, buffer->contacts, (int)sizeof *buffer->contacts);
        if (*count < buffer->capacity) {
            return KL_OK;
        }
        if (buffer->capacity == ODE_CAPACITY) {
            return kl_fail(KL_ERR_LIMIT, "a pair of geoms has more than %d raw contacts", ODE_CAPACITY);
        }
        KL_TRY(grow_buffer(buffer));
    }
}

// Along the normal a single contact of convex shapes is known better than ODE tells: midway.
static void center_single(const KlShape *a, const KlShape *b, KlRawContact *contact) {
    double backward[3];
    kl_scale3(-1.0, contact->normal, backward);
    double top_of_a = support(a, contact->normal), bottom_of_b = -support(b, backward);
    contact->gap = bottom_of_b - top_of_a;
    double shift = 0.5 * (top_of_a + bottom_of_b) - kl_dot3(contact->normal, contact->position);
    kl_axpy3(shift, contact->normal, contact->position);
}

KlStatus kl_ode_contacts(const KlShape *a, const KlShape *b, double reach, KlOdeBuffer *buffer,
                         KlRawList *list) {
    int32_t rank_a = growth_preference(a), rank_b = growth_preference(b);
    const KlShape *grown = rank_a == 0 && rank_b == 0 ? NULL : rank_a >= rank_b ? a : b;
    dGeomID geom_a = grown == a ? a->inflated : a->exact;
    dGeomID geom_b = grown == b ? b->inflated : b->exact;
    int32_t count;
    KL_TRY(collide_all(geom_a, geom_b, buffer, &count));

    bool convex = a->kind != KL_GEOM_MESH && b->kind != KL_GEOM_MESH;
    for (int32_t i = 0; i < count; i++) {
        const dContactGeom *found = &buffer->contacts[i];
        KlRawContact contact = {.feature = convex && count == 1 ? 0 : -1};
        kl_copy3(found->pos, contact.position);
        kl_scale3(-1.0, found->normal, contact.normal);  // ODE's points into its first geom
        contact.gap = -found->depth;
        if (convex && count == 1) {
            center_single(a, b, &contact);
        } else if (grown != NULL) {
            contact.gap += growth_along(grown, contact.normal, reach);
        }
        if (contact.gap <= reach) {
            KL_TRY(kl_raw_push(list, &contact));
        }
    }
    return KL_OK;
}
