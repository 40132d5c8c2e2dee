// Boxes and convex hulls against each other: the separating axis with the largest separation (faces of
// either, or a pair of edges), then the incident face clipped against the sides of the reference face.
// Separations up to the detection distance give contacts too, with exact gaps to the reference face.
#include "base/hash.h"
#include "base/status.h"
#include "collide/shape.h"
#include "math/vec.h"

typedef struct KlClipPoint {
    double x[3];
    uint64_t code;  // which corner, or which edges cross
} ClipPoint;

typedef struct Axis {
    double separation;
    int32_t a, b;      // face of the first; or edges of both
    double normal[3];  // edges: from A to B
} Axis;

// Both a face and a pair of edges describe flat contact equally well up to rounding; this share of the
// sizes keeps the choice from flickering: A's face before B's before edges.
#define PREFERENCE 1e-6

KlStatus kl_clipper_create(int32_t corners, KlArena *arena, KlClipper *clipper) {
    clipper->capacity = corners;
    clipper->polygon = KL_ARENA_ARRAY(arena, struct KlClipPoint, corners);
    clipper->next = KL_ARENA_ARRAY(arena, struct KlClipPoint, corners);
    return kl_arena_check(arena);
}

static double lowest_along(const KlShape *shape, const double normal[3], int32_t *vertex) {
    double lowest = INFINITY;
    for (int32_t i = 0; i < shape->polyhedron.vertex_count; i++) {
        double h = kl_dot3(normal, shape->world_vertices + 3 * i);
        if (h < lowest) {
            lowest = h;
            *vertex = i;
        }
    }
    return lowest;
}

static double face_height(const KlShape *shape, int32_t face) {
    int32_t corner = shape->polyhedron.face_vertex[shape->polyhedron.face_start[face]];
    return kl_dot3(shape->world_normals + 3 * face, shape->world_vertices + 3 * corner);
}

static Axis best_face(const KlShape *a, const KlShape *b, double reach) {
    Axis best = {.separation = -INFINITY, .a = -1, .b = -1};
    for (int32_t face = 0; face < a->polyhedron.face_count; face++) {
        int32_t vertex = 0;
        double separation = lowest_along(b, a->world_normals + 3 * face, &vertex) - face_height(a, face);
        if (separation > best.separation) {
            best.separation = separation;
            best.a = face;
        }
        if (separation > reach) {
            break;
        }
    }
    return best;
}

// Whether the arcs of two edges cross on the sphere of normals, i.e. whether the edges make a face of
// the Minkowski difference: only such pairs can separate.
static bool arcs_cross(const double a0[3], const double a1[3], const double edge_a[3], const double b0[3],
                       const double b1[3], const double edge_b[3]) {
    double c = kl_dot3(b0, edge_a), d = kl_dot3(b1, edge_a);
    double e = -kl_dot3(a0, edge_b), f = -kl_dot3(a1, edge_b);
    return c * d < 0.0 && e * f < 0.0 && c * f > 0.0;
}

static void edge_vector(const KlShape *shape, int32_t edge, double v[3]) {
    const int32_t *e = shape->polyhedron.edges + 4 * edge;
    kl_sub3(shape->world_vertices + 3 * e[1], shape->world_vertices + 3 * e[0], v);
}

static Axis best_edges(const KlShape *a, const KlShape *b, double reach) {
    Axis best = {.separation = -INFINITY, .a = -1, .b = -1};
    double center[3];
    kl_shape_to_world(a, a->polyhedron.center, center);
    for (int32_t i = 0; i < a->polyhedron.edge_count; i++) {
        const int32_t *ea = a->polyhedron.edges + 4 * i;
        const double *point_a = a->world_vertices + 3 * ea[0];
        double along_a[3], out[3];
        edge_vector(a, i, along_a);
        kl_sub3(point_a, center, out);
        for (int32_t j = 0; j < b->polyhedron.edge_count; j++) {
            const int32_t *eb = b->polyhedron.edges + 4 * j;
            double along_b[3], axis[3], between[3];
            edge_vector(b, j, along_b);
            if (!arcs_cross(a->world_normals + 3 * ea[2], a->world_normals + 3 * ea[3], along_a,
                            b->world_normals + 3 * eb[2], b->world_normals + 3 * eb[3], along_b)) {
                continue;
            }
            kl_cross3(along_a, along_b, axis);
            double length = kl_norm3(axis);
            if (length < 1e-6 * kl_norm3(along_a) * kl_norm3(along_b)) {
                continue;  // parallel: a face axis says the same
            }
            kl_scale3(kl_dot3(axis, out) < 0.0 ? -1.0 / length : 1.0 / length, axis, axis);
            kl_sub3(b->world_vertices + 3 * eb[0], point_a, between);
            double separation = kl_dot3(axis, between);
            if (separation > best.separation) {
                best = (Axis){.separation = separation, .a = i, .b = j};
                kl_copy3(axis, best.normal);
            }
            if (separation > reach) {
                return best;
            }
        }
    }
    return best;
}

static int32_t feature_of(uint64_t kind, uint64_t first, uint64_t second) {
    uint64_t hash = kl_hash_word(kl_hash_word(kl_hash_word(KL_HASH_START, kind), first), second);
    return (int32_t)((hash ^ (hash >> 32)) & 0x3fffffff);
}

// Closest points of two lines; the contact lies between them.
static KlStatus edge_contact(const KlShape *a, const KlShape *b, const Axis *axis, KlRawList *list) {
    const double *pa = a->world_vertices + 3 * a->polyhedron.edges[4 * axis->a];
    const double *pb = b->world_vertices + 3 * b->polyhedron.edges[4 * axis->b];
    double da[3], db[3], w[3];
    edge_vector(a, axis->a, da);
    edge_vector(b, axis->b, db);
    kl_sub3(pb, pa, w);
    double aa = kl_dot3(da, da), bb = kl_dot3(db, db), ab = kl_dot3(da, db);
    double aw = kl_dot3(da, w), bw = kl_dot3(db, w);
    double s = (aw * bb - bw * ab) / (aa * bb - ab * ab);
    KlRawContact contact = {.gap = axis->separation, .feature = feature_of(2, (uint64_t)axis->a, (uint64_t)axis->b)};
    kl_copy3(axis->normal, contact.normal);
    kl_copy3(pa, contact.position);
    kl_axpy3(s, da, contact.position);
    kl_axpy3(0.5 * axis->separation, axis->normal, contact.position);
    return kl_raw_push(list, &contact);
}

// Keeps the part of the polygon with n . x <= offset.
static int32_t clip(KlClipper *clipper, int32_t count, const double normal[3], double offset, uint64_t side) {
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        const ClipPoint *p = &clipper->polygon[i], *q = &clipper->polygon[(i + 1) % count];
        double hp = kl_dot3(normal, p->x) - offset, hq = kl_dot3(normal, q->x) - offset;
        if (hp <= 0.0) {
            clipper->next[kept++] = *p;
        }
        if ((hp < 0.0 && hq > 0.0) || (hp > 0.0 && hq < 0.0)) {
            double t = hp / (hp - hq);
            ClipPoint *r = &clipper->next[kept++];
            for (int32_t k = 0; k < 3; k++) {
                r->x[k] = p->x[k] + t * (q->x[k] - p->x[k]);
            }
            uint64_t from = p->code & 0xffffff, to = q->code & 0xffffff;  // the incident edge that is cut
            r->code = (side + 1) << 48 | (hp < 0.0 ? from << 24 | to : to << 24 | from);
        }
    }
    ClipPoint *swap = clipper->polygon;
    clipper->polygon = clipper->next;
    clipper->next = swap;
    return kept;
}

static int32_t opposite_face(const KlShape *shape, const double normal[3]) {
    int32_t best = 0;
    double lowest = INFINITY;
    for (int32_t face = 0; face < shape->polyhedron.face_count; face++) {
        double along = kl_dot3(normal, shape->world_normals + 3 * face);
        if (along < lowest) {
            lowest = along;
            best = face;
        }
    }
    return best;
}

typedef struct FacePair {
    const KlShape *reference, *incident;
    int32_t face;  // of the reference
    bool b_is_reference;
    double reach;
} FacePair;

static KlStatus push_below(const FacePair *pair, const double surface[3], uint64_t code, KlRawList *list) {
    const double *normal = pair->reference->world_normals + 3 * pair->face;
    double gap = kl_dot3(normal, surface) - face_height(pair->reference, pair->face);
    if (gap > pair->reach) {
        return KL_OK;
    }
    KlRawContact contact = {.gap = gap,
                            .feature = feature_of(pair->b_is_reference ? 1 : 0, (uint64_t)pair->face, code)};
    kl_copy3(surface, contact.position);
    kl_axpy3(-0.5 * gap, normal, contact.position);
    kl_scale3(pair->b_is_reference ? -1.0 : 1.0, normal, contact.normal);
    return kl_raw_push(list, &contact);
}

static KlStatus face_contacts(const FacePair *pair, KlClipper *clipper, KlRawList *list) {
    const KlShape *reference = pair->reference, *incident = pair->incident;
    const KlPolyhedron *r = &reference->polyhedron, *q = &incident->polyhedron;
    const double *normal = reference->world_normals + 3 * pair->face;

    int32_t face = opposite_face(incident, normal);
    int32_t count = 0;
    for (int32_t k = q->face_start[face]; k < q->face_start[face + 1]; k++) {
        ClipPoint *p = &clipper->polygon[count++];
        kl_copy3(incident->world_vertices + 3 * q->face_vertex[k], p->x);
        p->code = (uint64_t)q->face_vertex[k];
    }
    int32_t start = r->face_start[pair->face], end = r->face_start[pair->face + 1];
    for (int32_t k = start; k < end && count > 0; k++) {
        const double *from = reference->world_vertices + 3 * r->face_vertex[k];
        const double *to = reference->world_vertices + 3 * r->face_vertex[k + 1 < end ? k + 1 : start];
        double edge[3], outward[3];
        kl_sub3(to, from, edge);
        kl_cross3(edge, normal, outward);
        double length = kl_norm3(outward);
        kl_scale3(length > 0.0 ? 1.0 / length : 0.0, outward, outward);
        double side = kl_dot3(outward, from) + PREFERENCE * length;  // corners on the side stay whole
        count = clip(clipper, count, outward, side, (uint64_t)(k - start));
    }
    int32_t before = list->count;
    for (int32_t i = 0; i < count; i++) {
        KL_TRY(push_below(pair, clipper->polygon[i].x, clipper->polygon[i].code, list));
    }
    if (list->count == before) {  // nothing of that face lies over the reference: its deepest corner
        int32_t vertex = 0;
        lowest_along(incident, normal, &vertex);
        KL_TRY(push_below(pair, incident->world_vertices + 3 * vertex, (uint64_t)vertex, list));
    }
    return KL_OK;
}

KlStatus kl_polyhedron_contacts(const KlShape *a, const KlShape *b, double reach, KlClipper *clipper, KlRawList *list) {
    Axis face_a = best_face(a, b, reach);
    if (face_a.separation > reach) {
        return KL_OK;
    }
    Axis face_b = best_face(b, a, reach);
    if (face_b.separation > reach) {
        return KL_OK;
    }
    Axis edges = best_edges(a, b, reach);
    if (edges.separation > reach) {
        return KL_OK;
    }
    double preference = 0.0;
    for (int32_t k = 0; k < 3; k++) {
        preference += PREFERENCE * ((a->high[k] - a->low[k]) + (b->high[k] - b->low[k]));
    }
    double face = face_a.separation > face_b.separation ? face_a.separation : face_b.separation;
    if (edges.separation > face + preference) {
        return edge_contact(a, b, &edges, list);
    }
    bool b_leads = face_b.separation > face_a.separation + preference;
    FacePair pair = {.reference = b_leads ? b : a,
                     .incident = b_leads ? a : b,
                     .face = b_leads ? face_b.a : face_a.a,
                     .b_is_reference = b_leads,
                     .reach = reach};
    return face_contacts(&pair, clipper, list);
}
