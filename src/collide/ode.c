// ODE knows contacts of overlapping shapes only. For gaps up to the detection distance the round shape
// of a pair is grown by that distance, and the gap is measured on the true shapes: along the normal n the
// separation of convex shapes is  min over B of n.x - max over A of n.x.  Boxes, hulls and meshes do not
// grow, nor does a cylinder against a mesh: such pairs are seen from touch on.
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

static dGeomID simple_geom(const KlShape *shape) {
    const double *size = shape->size;
    switch (shape->kind) {
        case KL_GEOM_SPHERE: return dCreateSphere(0, size[0]);
        case KL_GEOM_CAPSULE: return dCreateCapsule(0, size[0], size[1]);
        case KL_GEOM_CYLINDER: return dCreateCylinder(0, size[0], size[1]);
        default: return dCreateBox(0, size[0], size[1], size[2]);
    }
}

static bool is_round(const KlShape *shape) {
    return shape->kind == KL_GEOM_SPHERE || shape->kind == KL_GEOM_CAPSULE || shape->kind == KL_GEOM_CYLINDER;
}

static void grow(const KlShape *shape, double growth) {
    double radius = shape->size[0] + growth;
    switch (shape->kind) {
        case KL_GEOM_SPHERE: dGeomSphereSetRadius(shape->grown, radius); break;
        case KL_GEOM_CAPSULE: dGeomCapsuleSetParams(shape->grown, radius, shape->size[1]); break;
        default: dGeomCylinderSetParams(shape->grown, radius, shape->size[1] + 2.0 * growth); break;
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
    shape->exact = dCreateConvex(0, shape->ode_planes, (unsigned)p->face_count, p->vertices, (unsigned)p->vertex_count,
                                 shape->ode_polygons);
    return KL_OK;
}

// OPCODE builds no tree over a single triangle, and a mesh against such a mesh reads the tree that is not
// there. So a lone triangle goes in as two halves, from its first corner to the middle of the other side.
static void halve_triangle(double *vertices, int32_t vertex_count, unsigned *corners) {
    const double *b = vertices + 3 * (size_t)corners[1], *c = vertices + 3 * (size_t)corners[2];
    unsigned middle = (unsigned)vertex_count;
    for (int i = 0; i < 3; i++) {
        vertices[3 * (size_t)middle + (size_t)i] = 0.5 * b[i] + 0.5 * c[i];
    }
    corners[3] = corners[0];
    corners[4] = middle;
    corners[5] = corners[2];
    corners[2] = middle;
}

static KlStatus create_mesh(KlShape *shape, KlArena *arena) {
    const KlMeshDef *mesh = shape->mesh;
    bool lone = mesh->triangle_count == 1;
    int32_t vertex_count = mesh->vertex_count + (lone ? 1 : 0), triangle_count = mesh->triangle_count + (lone ? 1 : 0);
    shape->mesh_data = dGeomTriMeshDataCreate();
    shape->ode_vertices = KL_ARENA_ARRAY(arena, double, 3 * (size_t)vertex_count);
    shape->ode_polygons = KL_ARENA_ARRAY(arena, unsigned, 3 * (size_t)triangle_count);
    KL_TRY(kl_arena_check(arena));
    for (int32_t i = 0; i < 3 * mesh->vertex_count; i++) {
        shape->ode_vertices[i] = mesh->vertices[i];
    }
    for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) {
        shape->ode_polygons[i] = (unsigned)mesh->triangles[i];
    }
    if (lone) {
        halve_triangle(shape->ode_vertices, mesh->vertex_count, shape->ode_polygons);
    }
    dGeomTriMeshDataBuildDouble(shape->mesh_data, shape->ode_vertices, 3 * sizeof(double), vertex_count,
                                shape->ode_polygons, 3 * triangle_count, 3 * sizeof(unsigned));
    // Hulls against meshes ask for the angles between neighbouring triangles.
    if (dGeomTriMeshDataPreprocess2(shape->mesh_data, 1u << dTRIDATAPREPROCESS_BUILD_FACE_ANGLES, NULL) == 0) {
        return kl_fail(KL_ERR_MEMORY, "ODE cannot prepare mesh \"%s\"", mesh->name);
    }
    shape->exact = dCreateTriMesh(0, shape->mesh_data, NULL, NULL, NULL);
    return KL_OK;
}

KlStatus kl_ode_create(KlShape *shape, KlArena *arena) {
    switch (shape->kind) {
        case KL_GEOM_PLANE: return KL_OK;
        case KL_GEOM_CONVEX: KL_TRY(create_hull(shape, arena)); break;
        case KL_GEOM_MESH: KL_TRY(create_mesh(shape, arena)); break;
        default: shape->exact = simple_geom(shape); break;
    }
    shape->grown = is_round(shape) ? simple_geom(shape) : NULL;
    if (shape->exact == NULL || (is_round(shape) && shape->grown == NULL)) {
        return kl_fail(KL_ERR_MEMORY, "ODE cannot allocate a geom");
    }
    return KL_OK;
}

void kl_ode_destroy(KlShape *shape) {
    if (shape->exact != NULL) {
        dGeomDestroy(shape->exact);
    }
    if (shape->grown != NULL) {
        dGeomDestroy(shape->grown);
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

// With the box of the exact geom, which ODE's colliders read and do not find themselves.
static void ensure_placed(KlShape *shape, dReal box[6]) {
    if (!shape->placed) {
        place(shape->exact, shape);
        if (shape->grown != NULL) {
            place(shape->grown, shape);
        }
        shape->placed = true;
    }
    dGeomGetAABB(shape->exact, box);
}

void kl_ode_box(KlShape *shape) {
    dReal box[6];
    ensure_placed(shape, box);
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
        case KL_GEOM_CYLINDER: return reach + 0.5 * shape->size[1] * fabs(local[2]) + shape->size[0] * across;
        default: break;
    }
    double highest = -INFINITY;
    for (int32_t i = 0; i < shape->polyhedron.vertex_count; i++) {
        double h = kl_dot3(local, shape->polyhedron.vertices + 3 * i);
        highest = h > highest ? h : highest;
    }
    return reach + highest;
}

// How much farther the grown shape reaches along n.
static double growth_along(const KlShape *shape, const double n[3], double growth) {
    double local[3];
    kl_mat3_tmul_vec(shape->rotation, n, local);
    double across = sqrt(local[0] * local[0] + local[1] * local[1]);
    return shape->kind == KL_GEOM_CYLINDER ? growth * (fabs(local[2]) + across) : growth;
}

// Midway between a ball-ended shape, whose nearest axis point is known, and whatever it meets.
static void center_round(const KlShape *round, bool round_is_a, KlRawContact *contact) {
    double d[3], local[3], axis[3];
    kl_sub3(contact->position, round->position, d);
    kl_mat3_tmul_vec(round->rotation, d, local);
    double half = round->kind == KL_GEOM_CAPSULE ? 0.5 * round->size[1] : 0.0;
    double along = local[2] > half ? half : local[2] < -half ? -half : local[2];
    const double on_axis[3] = {0.0, 0.0, along};
    kl_shape_to_world(round, on_axis, axis);
    double reach = round->size[0] + 0.5 * contact->gap;
    double height = kl_dot3(contact->normal, axis) + (round_is_a ? reach : -reach);
    kl_axpy3(height - kl_dot3(contact->normal, contact->position), contact->normal, contact->position);
}

// Brings a contact on a grown cylinder back to the true one.
static void onto_cylinder(const KlShape *shape, double position[3]) {
    double d[3], local[3];
    kl_sub3(position, shape->position, d);
    kl_mat3_tmul_vec(shape->rotation, d, local);
    double radius = sqrt(local[0] * local[0] + local[1] * local[1]);
    double scale = radius > shape->size[0] ? shape->size[0] / radius : 1.0;
    double half = 0.5 * shape->size[1];
    local[0] *= scale;
    local[1] *= scale;
    local[2] = local[2] > half ? half : local[2] < -half ? -half : local[2];
    kl_shape_to_world(shape, local, position);
}

// Which shape of a pair grows, NULL for none: spheres and capsules exactly, else a cylinder.
static const KlShape *growing_shape(const KlShape *a, const KlShape *b) {
    static const int32_t preference[KL_GEOM_KIND_COUNT] = {
        [KL_GEOM_SPHERE] = 3, [KL_GEOM_CAPSULE] = 2, [KL_GEOM_CYLINDER] = 1};
    int32_t rank_a = preference[a->kind], rank_b = preference[b->kind];
    const KlShape *grown = rank_a >= rank_b ? a : b;
    bool mesh = a->kind == KL_GEOM_MESH || b->kind == KL_GEOM_MESH;
    return rank_a + rank_b == 0 || (mesh && grown->kind == KL_GEOM_CYLINDER) ? NULL : grown;
}

// ODE finds the contacts of hulls, and of capsules with cylinders, by portal refinement, whose normal is
// poor when the overlap is thin: there the shape grows by a tenth of its radius at least.
static double growth_of(const KlShape *grown, const KlShape *other, double reach) {
    bool by_portal =
        other->kind == KL_GEOM_CONVEX || (grown->kind == KL_GEOM_CAPSULE && other->kind == KL_GEOM_CYLINDER);
    double least = by_portal ? 0.1 * grown->size[0] : 0.0;
    return reach > least ? reach : least;
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

// Of meshes ODE also reports triangles that are crossed far from the shortest way out, as deep as the
// bodies are thick. Contacts deeper than a twentieth of the smaller shape go when a ten times shallower
// one is there.
static double deepest_allowed(const KlShape *a, const KlShape *b, const KlOdeBuffer *buffer, int32_t count) {
    if (a->kind != KL_GEOM_MESH && b->kind != KL_GEOM_MESH) {
        return INFINITY;
    }
    double shallowest = INFINITY;
    for (int32_t i = 0; i < count; i++) {
        double depth = buffer->contacts[i].depth;
        shallowest = depth < shallowest ? depth : shallowest;
    }
    double thick = 0.1 * kl_smaller_extent(a, b);
    return 10.0 * shallowest > thick ? 10.0 * shallowest : thick;
}

KlStatus kl_ode_contacts(KlShape *a, KlShape *b, double reach, KlOdeBuffer *buffer, KlRawList *list) {
    dReal box[6];
    ensure_placed(a, box);
    ensure_placed(b, box);
    const KlShape *grown = growing_shape(a, b);
    double growth = 0.0;
    if (grown != NULL) {
        growth = growth_of(grown, grown == a ? b : a, reach);
        grow(grown, growth);
    }
    int32_t count;
    KL_TRY(collide_all(grown == a ? a->grown : a->exact, grown == b ? b->grown : b->exact, buffer, &count));

    bool convex = a->kind != KL_GEOM_MESH && b->kind != KL_GEOM_MESH;
    double limit = deepest_allowed(a, b, buffer, count);
    for (int32_t i = 0; i < count; i++) {
        const dContactGeom *found = &buffer->contacts[i];
        if (found->depth > limit) {
            continue;
        }
        KlRawContact contact = {.feature = convex && count == 1 ? 0 : -1};
        kl_copy3(found->pos, contact.position);
        kl_scale3(-1.0, found->normal, contact.normal);  // ODE's points into its first geom
        contact.gap = -found->depth;
        if (grown != NULL && grown->kind == KL_GEOM_CYLINDER) {
            onto_cylinder(grown, contact.position);
        }
        if (convex && count == 1) {
            center_single(a, b, &contact);
        } else if (grown != NULL) {
            contact.gap += growth_along(grown, contact.normal, growth);
            if (grown->kind != KL_GEOM_CYLINDER) {
                center_round(grown, grown == a, &contact);
            }
        }
        if (contact.gap <= reach) {
            KL_TRY(kl_raw_push(list, &contact));
        }
    }
    return KL_OK;
}
