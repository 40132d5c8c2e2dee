// Spheres and capsules against boxes and hulls. Both are a core (a point, a segment) with a radius: the
// closest points of core and polyhedron lie at an end of the core over a face, or on an edge. A core that
// runs through the polyhedron is pushed out of the face it is least deep under. A capsule along a face
// touches it in a line: both ends of the part over the face are contacts.
#include "base/status.h"
#include "collide/shape.h"
#include "math/vec.h"

typedef struct Core {
    double end[2][3];  // equal for a sphere
} Core;

typedef struct Closest {
    double on_core[3], on_surface[3];
    double distance2;
} Closest;

typedef struct Deepest {
    double separation;  // of the core's lower end from the face, largest over all faces
    int32_t face;
} Deepest;

enum { FEATURE_SINGLE = 2 };  // 0 and 1: the ends along a face

static const double *face_corner(const KlShape *flat, int32_t face, int32_t corner) {
    const KlPolyhedron *p = &flat->polyhedron;
    int32_t start = p->face_start[face], length = p->face_start[face + 1] - start;
    return flat->world_vertices + 3 * p->face_vertex[start + corner % length];
}

static int32_t face_length(const KlShape *flat, int32_t face) {
    return flat->polyhedron.face_start[face + 1] - flat->polyhedron.face_start[face];
}

static double height_over(const KlShape *flat, int32_t face, const double point[3]) {
    double d[3];
    kl_sub3(point, face_corner(flat, face, 0), d);
    return kl_dot3(flat->world_normals + 3 * face, d);
}

// Height over the plane through a side of a face, perpendicular to it; positive outside the face.
static double height_over_side(const KlShape *flat, int32_t face, int32_t side, const double point[3]) {
    double edge[3], outward[3], d[3];
    const double *from = face_corner(flat, face, side);
    kl_sub3(face_corner(flat, face, side + 1), from, edge);
    kl_cross3(edge, flat->world_normals + 3 * face, outward);
    kl_sub3(point, from, d);
    return kl_dot3(outward, d);
}

static void consider(const double core[3], const double surface[3], Closest *best) {
    double d[3];
    kl_sub3(core, surface, d);
    double distance2 = kl_dot3(d, d);
    if (distance2 < best->distance2) {
        best->distance2 = distance2;
        kl_copy3(core, best->on_core);
        kl_copy3(surface, best->on_surface);
    }
}

static void consider_end_over_faces(const KlShape *flat, const double end[3], Closest *best) {
    for (int32_t face = 0; face < flat->polyhedron.face_count; face++) {
        double height = height_over(flat, face, end);
        bool over = height > 0.0;
        for (int32_t side = 0; side < face_length(flat, face) && over; side++) {
            over = height_over_side(flat, face, side, end) <= 0.0;
        }
        if (over) {
            double foot[3];
            kl_copy3(end, foot);
            kl_axpy3(-height, flat->world_normals + 3 * face, foot);
            consider(end, foot, best);
        }
    }
}

static double clamp01(double x) { return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x; }

// Closest points of the segments p + s u and q + t v, s and t in [0, 1]; u may vanish, v not.
static void segment_parameters(const double p[3], const double u[3], const double q[3], const double v[3], double *s,
                               double *t) {
    double w[3];
    kl_sub3(p, q, w);
    double uu = kl_dot3(u, u), vv = kl_dot3(v, v), uv = kl_dot3(u, v);
    double uw = kl_dot3(u, w), vw = kl_dot3(v, w);
    double denominator = uu * vv - uv * uv;
    const double parallel = 1e-12;  // squared sine of the angle below which any s will do
    *s = denominator > parallel * uu * vv ? clamp01((uv * vw - uw * vv) / denominator) : 0.0;
    *t = (uv * *s + vw) / vv;
    if (*t < 0.0 || *t > 1.0) {
        *t = clamp01(*t);
        *s = uu > 0.0 ? clamp01((uv * *t - uw) / uu) : 0.0;
    }
}

static void consider_edges(const KlShape *flat, const Core *core, Closest *best) {
    double u[3];
    kl_sub3(core->end[1], core->end[0], u);
    for (int32_t i = 0; i < flat->polyhedron.edge_count; i++) {
        const int32_t *edge = flat->polyhedron.edges + 4 * i;
        const double *q = flat->world_vertices + 3 * edge[0];
        double v[3], s, t, on_core[3], on_edge[3];
        kl_sub3(flat->world_vertices + 3 * edge[1], q, v);
        segment_parameters(core->end[0], u, q, v, &s, &t);
        kl_copy3(core->end[0], on_core);
        kl_axpy3(s, u, on_core);
        kl_copy3(q, on_edge);
        kl_axpy3(t, v, on_edge);
        consider(on_core, on_edge, best);
    }
}

// Cuts the part of the core with heights (at its ends) above zero away; false when nothing is left.
static bool cut(double height0, double height1, double share[2]) {
    if (height0 > 0.0 && height1 > 0.0) {
        return false;
    }
    if (height0 > 0.0) {
        double s = height0 / (height0 - height1);
        share[0] = s > share[0] ? s : share[0];
    }
    if (height1 > 0.0) {
        double s = height0 / (height0 - height1);
        share[1] = s < share[1] ? s : share[1];
    }
    return share[0] <= share[1];
}

static bool runs_through(const KlShape *flat, const Core *core, Deepest *deepest) {
    double share[2] = {0.0, 1.0};
    bool inside = true;
    *deepest = (Deepest){.separation = -INFINITY, .face = 0};
    for (int32_t face = 0; face < flat->polyhedron.face_count; face++) {
        double h0 = height_over(flat, face, core->end[0]), h1 = height_over(flat, face, core->end[1]);
        double separation = h0 < h1 ? h0 : h1;
        if (separation > deepest->separation) {
            *deepest = (Deepest){.separation = separation, .face = face};
        }
        inside = inside && cut(h0, h1, share);
    }
    return inside;
}

// The face whose normal is `out` within half a degree, or -1.
static int32_t face_towards(const KlShape *flat, const double out[3]) {
    double largest = 0.99996;
    int32_t best = -1;
    for (int32_t face = 0; face < flat->polyhedron.face_count; face++) {
        double along = kl_dot3(flat->world_normals + 3 * face, out);
        if (along > largest) {
            largest = along;
            best = face;
        }
    }
    return best;
}

typedef struct RoundPair {
    const KlShape *flat;
    bool flat_is_a;
    double radius, reach;
    KlRawList *list;
} RoundPair;

// A contact under the point `axis` of the core, which lies `distance` away from the surface along `out`.
static KlStatus push(const RoundPair *pair, const double axis[3], const double out[3], double distance,
                     int32_t feature) {
    double gap = distance - pair->radius;
    if (gap > pair->reach) {
        return KL_OK;
    }
    KlRawContact contact = {.gap = gap, .feature = feature};
    kl_scale3(pair->flat_is_a ? 1.0 : -1.0, out, contact.normal);
    kl_copy3(axis, contact.position);
    kl_axpy3(-(pair->radius + 0.5 * gap), out, contact.position);
    return kl_raw_push(pair->list, &contact);
}

// Contacts at both ends of the part of the core over a face; *found is false when there is no such part.
static KlStatus along_face(const RoundPair *pair, int32_t face, const Core *core, bool *found) {
    const KlShape *flat = pair->flat;
    double share[2] = {0.0, 1.0};
    *found = face >= 0;
    for (int32_t side = 0; *found && side < face_length(flat, face); side++) {
        *found = cut(height_over_side(flat, face, side, core->end[0]), height_over_side(flat, face, side, core->end[1]),
                     share);
    }
    for (int32_t end = 0; *found && end < 2; end++) {
        double axis[3];
        for (int32_t k = 0; k < 3; k++) {
            axis[k] = core->end[0][k] + share[end] * (core->end[1][k] - core->end[0][k]);
        }
        KL_TRY(push(pair, axis, flat->world_normals + 3 * face, height_over(flat, face, axis), end));
    }
    return KL_OK;
}

KlStatus kl_round_contacts(const KlShape *a, const KlShape *b, double reach, KlRawList *list) {
    bool flat_is_a = a->polyhedron.vertex_count > 0;
    const KlShape *flat = flat_is_a ? a : b, *round = flat_is_a ? b : a;
    RoundPair pair = {.flat = flat, .flat_is_a = flat_is_a, .radius = round->size[0], .reach = reach, .list = list};
    bool capsule = round->kind == KL_GEOM_CAPSULE;
    Core core;
    for (int32_t end = 0; end < 2; end++) {
        double half = capsule ? 0.5 * round->size[1] : 0.0;
        const double local[3] = {0.0, 0.0, end == 0 ? -half : half};
        kl_shape_to_world(round, local, core.end[end]);
    }

    Deepest deepest;
    bool found = false;
    if (runs_through(flat, &core, &deepest)) {
        const double *out = flat->world_normals + 3 * deepest.face;
        if (capsule) {
            KL_TRY(along_face(&pair, deepest.face, &core, &found));
        }
        int32_t low = height_over(flat, deepest.face, core.end[0]) <= deepest.separation ? 0 : 1;
        return found ? KL_OK : push(&pair, core.end[low], out, deepest.separation, FEATURE_SINGLE);
    }

    Closest best = {.distance2 = INFINITY};
    consider_end_over_faces(flat, core.end[0], &best);
    if (capsule) {
        consider_end_over_faces(flat, core.end[1], &best);
    }
    consider_edges(flat, &core, &best);
    double distance = sqrt(best.distance2), out[3];
    if (distance - pair.radius > reach) {
        return KL_OK;
    }
    kl_sub3(best.on_core, best.on_surface, out);
    kl_scale3(1.0 / distance, out, out);
    if (capsule) {
        KL_TRY(along_face(&pair, face_towards(flat, out), &core, &found));
    }
    return found ? KL_OK : push(&pair, best.on_core, out, distance, FEATURE_SINGLE);
}
