// Convex hulls by incremental insertion: a point outside the hull removes the faces that see it and
// joins the horizon they leave. Triangles that share a plane are then merged into polygons.
#include "collide/hull.h"

#include <string.h>

#include "base/status.h"
#include "math/vec.h"

typedef struct Triangle {
    int32_t corner[3];
    double normal[3];
    double offset;
    bool alive;
    int32_t group;      // the polygon it becomes a part of
    int32_t beyond[3];  // the triangles across the edges (corner k, corner k + 1)
} Triangle;

typedef struct Hull {
    const double *points;
    int32_t point_count;
    double thickness;  // points nearer to a face than this lie on it [m]
    Triangle *triangles;
    int32_t triangle_count, triangle_capacity;
    int32_t (*border)[2];  // directed edges of the faces being removed
    int32_t border_count, border_capacity;
} Hull;

static double height(const Triangle *t, const double *point) { return kl_dot3(t->normal, point) - t->offset; }

static KlStatus add_triangle(Hull *hull, int32_t a, int32_t b, int32_t c) {
    int32_t slot = 0;
    while (slot < hull->triangle_count && hull->triangles[slot].alive) {
        slot++;
    }
    if (slot == hull->triangle_capacity) {
        int32_t capacity = 2 * hull->triangle_capacity;
        Triangle *grown = kl_realloc(hull->triangles, (size_t)capacity * sizeof *grown);
        if (grown == NULL) {
            return kl_fail(KL_ERR_MEMORY, "out of memory for the faces of a convex hull");
        }
        hull->triangles = grown;
        hull->triangle_capacity = capacity;
    }
    if (slot == hull->triangle_count) {
        hull->triangle_count++;
    }
    Triangle *t = &hull->triangles[slot];
    *t = (Triangle){.corner = {a, b, c}, .alive = true, .group = -1};
    const double *pa = hull->points + 3 * a;
    double ab[3], ac[3];
    kl_sub3(hull->points + 3 * b, pa, ab);
    kl_sub3(hull->points + 3 * c, pa, ac);
    kl_cross3(ab, ac, t->normal);
    double length = kl_norm3(t->normal);
    kl_scale3(length > 0.0 ? 1.0 / length : 0.0, t->normal, t->normal);
    t->offset = kl_dot3(t->normal, pa);
    return KL_OK;
}

static KlStatus add_border(Hull *hull, int32_t from, int32_t to) {
    if (hull->border_count == hull->border_capacity) {
        int32_t capacity = 2 * hull->border_capacity;
        void *grown = kl_realloc(hull->border, (size_t)capacity * sizeof *hull->border);
        if (grown == NULL) {
            return kl_fail(KL_ERR_MEMORY, "out of memory for the horizon of a convex hull");
        }
        hull->border = grown;
        hull->border_capacity = capacity;
    }
    hull->border[hull->border_count][0] = from;
    hull->border[hull->border_count][1] = to;
    hull->border_count++;
    return KL_OK;
}

static bool border_has(const Hull *hull, int32_t from, int32_t to) {
    for (int32_t i = 0; i < hull->border_count; i++) {
        if (hull->border[i][0] == from && hull->border[i][1] == to) {
            return true;
        }
    }
    return false;
}

static KlStatus insert(Hull *hull, int32_t point) {
    const double *p = hull->points + 3 * point;
    hull->border_count = 0;
    for (int32_t i = 0; i < hull->triangle_count; i++) {
        Triangle *t = &hull->triangles[i];
        if (t->alive && height(t, p) > hull->thickness) {
            t->alive = false;
            for (int32_t k = 0; k < 3; k++) {
                KL_TRY(add_border(hull, t->corner[k], t->corner[(k + 1) % 3]));
            }
        }
    }
    for (int32_t i = 0; i < hull->border_count; i++) {
        int32_t from = hull->border[i][0], to = hull->border[i][1];
        if (!border_has(hull, to, from)) {  // the face beyond stays: a piece of the horizon
            KL_TRY(add_triangle(hull, from, to, point));
        }
    }
    return KL_OK;
}

// The point farthest from p along `measure`, a signed or unsigned distance.
typedef double (*Measure)(const double *p, const double *a, const double *b, const double *c);

static double from_point(const double *p, const double *a, const double *b, const double *c) {
    (void)b;
    (void)c;
    double d[3];
    kl_sub3(p, a, d);
    return kl_norm3(d);
}

static double from_line(const double *p, const double *a, const double *b, const double *c) {
    (void)c;
    double ab[3], ap[3], cross[3];
    kl_sub3(b, a, ab);
    kl_sub3(p, a, ap);
    kl_cross3(ab, ap, cross);
    return kl_norm3(cross) / kl_norm3(ab);
}

static double from_plane(const double *p, const double *a, const double *b, const double *c) {
    double ab[3], ac[3], ap[3], normal[3];
    kl_sub3(b, a, ab);
    kl_sub3(c, a, ac);
    kl_sub3(p, a, ap);
    kl_cross3(ab, ac, normal);
    return fabs(kl_dot3(normal, ap)) / kl_norm3(normal);
}

static int32_t farthest(const Hull *hull, Measure measure, const int32_t simplex[3], double *distance) {
    const double *a = hull->points + 3 * simplex[0];
    const double *b = hull->points + 3 * simplex[1];
    const double *c = hull->points + 3 * simplex[2];
    int32_t best = 0;
    *distance = -1.0;
    for (int32_t i = 0; i < hull->point_count; i++) {
        double d = measure(hull->points + 3 * i, a, b, c);
        if (d > *distance) {
            *distance = d;
            best = i;
        }
    }
    return best;
}

static KlStatus first_simplex(Hull *hull, const char *name) {
    int32_t corner[4] = {0, 0, 0, 0};
    double distance, extent;
    corner[0] = farthest(hull, from_point, corner, &distance);
    int32_t seed[3] = {corner[0], 0, 0};
    corner[1] = farthest(hull, from_point, seed, &extent);
    if (!(extent > 0.0)) {
        return kl_fail(KL_ERR_SCENE, "mesh \"%s\": all points coincide, there is no convex hull", name);
    }
    hull->thickness = 1e-10 * extent;   // rounding of the cross products that make the planes
    const double flat = 1e-7 * extent;  // thinner than this has no meaningful inside
    seed[1] = corner[1];
    corner[2] = farthest(hull, from_line, seed, &distance);
    if (distance > flat) {
        seed[2] = corner[2];
        corner[3] = farthest(hull, from_plane, seed, &distance);
    }
    if (!(distance > flat)) {
        return kl_fail(KL_ERR_SCENE, "mesh \"%s\" is flat: a convex hull needs four points out of a plane", name);
    }
    KL_TRY(add_triangle(hull, corner[0], corner[1], corner[2]));
    if (height(&hull->triangles[0], hull->points + 3 * corner[3]) > 0.0) {
        hull->triangle_count = 0;
        int32_t swap = corner[1];
        corner[1] = corner[2];
        corner[2] = swap;
        KL_TRY(add_triangle(hull, corner[0], corner[1], corner[2]));
    }
    for (int32_t k = 0; k < 3; k++) {
        KL_TRY(add_triangle(hull, corner[(k + 1) % 3], corner[k], corner[3]));
    }
    return KL_OK;
}

// ------------------------------------------------------------------------------------------------
// From triangles to polygons
// ------------------------------------------------------------------------------------------------

static bool in_plane_of(const Hull *hull, const Triangle *seed, const Triangle *t) {
    const double tolerance = 10.0 * hull->thickness;  // three corners, each within the thickness
    for (int32_t k = 0; k < 3; k++) {
        if (fabs(height(seed, hull->points + 3 * t->corner[k])) > tolerance) {
            return false;
        }
    }
    return kl_dot3(seed->normal, t->normal) > 0.5;
}

// The triangle that has the directed edge from -> to.
static int32_t triangle_with_edge(const Hull *hull, int32_t from, int32_t to) {
    for (int32_t i = 0; i < hull->triangle_count; i++) {
        const Triangle *t = &hull->triangles[i];
        for (int32_t k = 0; k < 3 && t->alive; k++) {
            if (t->corner[k] == from && t->corner[(k + 1) % 3] == to) {
                return i;
            }
        }
    }
    return -1;
}

static double area2(const Hull *hull, const Triangle *t) {
    double ab[3], ac[3], cross[3];
    kl_sub3(hull->points + 3 * t->corner[1], hull->points + 3 * t->corner[0], ab);
    kl_sub3(hull->points + 3 * t->corner[2], hull->points + 3 * t->corner[0], ac);
    kl_cross3(ab, ac, cross);
    return kl_norm3(cross);
}

// Gives coplanar neighbours one group number, the largest triangle of a group leading; counts groups.
static int32_t group_faces(Hull *hull) {
    int32_t groups = 0;
    for (;;) {
        int32_t seed = -1;
        double best = -1.0;
        for (int32_t i = 0; i < hull->triangle_count; i++) {
            const Triangle *t = &hull->triangles[i];
            if (t->alive && t->group < 0 && area2(hull, t) > best) {
                best = area2(hull, t);
                seed = i;
            }
        }
        if (seed < 0) {
            return groups;
        }
        for (int32_t i = 0; i < hull->triangle_count; i++) {
            Triangle *t = &hull->triangles[i];
            if (t->alive && t->group < 0 && (i == seed || in_plane_of(hull, &hull->triangles[seed], t))) {
                t->group = groups;
            }
        }
        groups++;
    }
}

static KlStatus find_neighbours(Hull *hull, const char *name) {
    for (int32_t i = 0; i < hull->triangle_count; i++) {
        Triangle *t = &hull->triangles[i];
        for (int32_t k = 0; k < 3 && t->alive; k++) {
            t->beyond[k] = triangle_with_edge(hull, t->corner[(k + 1) % 3], t->corner[k]);
            if (t->beyond[k] < 0) {
                return kl_fail(KL_ERR_SCENE,
                               "mesh \"%s\": its convex hull is degenerate at point %d; "
                               "merge nearly equal points",
                               name, (int)t->corner[k]);
            }
        }
    }
    return KL_OK;
}

// The border edge of a group that starts at `from` (or any, when from < 0): its end, or -1.
static int32_t border_from(const Hull *hull, int32_t group, int32_t *from) {
    for (int32_t i = 0; i < hull->triangle_count; i++) {
        const Triangle *t = &hull->triangles[i];
        for (int32_t k = 0; k < 3 && t->alive && t->group == group; k++) {
            bool outer = hull->triangles[t->beyond[k]].group != group;
            if (outer && (*from < 0 || t->corner[k] == *from)) {
                *from = t->corner[k];
                return t->corner[(k + 1) % 3];
            }
        }
    }
    return -1;
}

// Writes the border of a group as a loop of points; returns its length, 0 when it does not close.
static int32_t face_loop(const Hull *hull, int32_t group, int32_t *loop) {
    int32_t start = -1;
    int32_t at = border_from(hull, group, &start);
    int32_t length = 0;
    loop[length++] = start;
    while (at != start) {
        if (at < 0 || length >= hull->point_count) {
            return 0;
        }
        loop[length++] = at;
        at = border_from(hull, group, &at);
    }
    return length;
}

static void face_plane(const Hull *hull, int32_t group, double normal[3], double *offset) {
    double best = -1.0;
    for (int32_t i = 0; i < hull->triangle_count; i++) {
        const Triangle *t = &hull->triangles[i];
        if (t->alive && t->group == group && area2(hull, t) > best) {
            best = area2(hull, t);
            kl_copy3(t->normal, normal);
            *offset = t->offset;
        }
    }
}

// Renumbers the corners in use and copies faces, planes and edges out of the hull.
static KlStatus to_polyhedron(const Hull *hull, int32_t groups, const char *name, KlArena *arena, KlPolyhedron *out) {
    int32_t corners = 3 * hull->triangle_count;
    int32_t *number = KL_ARENA_ARRAY(arena, int32_t, hull->point_count);
    int32_t *loop = KL_ARENA_ARRAY(arena, int32_t, hull->point_count + 1);
    out->vertices = KL_ARENA_ARRAY(arena, double, 3 * (size_t)hull->point_count);
    out->face_start = KL_ARENA_ARRAY(arena, int32_t, groups + 1);
    out->face_vertex = KL_ARENA_ARRAY(arena, int32_t, corners);
    out->normals = KL_ARENA_ARRAY(arena, double, 3 * (size_t)groups);
    out->offsets = KL_ARENA_ARRAY(arena, double, groups);
    out->edges = KL_ARENA_ARRAY(arena, int32_t, 4 * (size_t)corners);
    KL_TRY(kl_arena_check(arena));

    for (int32_t i = 0; i < hull->point_count; i++) {
        number[i] = -1;
    }
    for (int32_t i = 0; i < hull->triangle_count; i++) {
        const Triangle *t = &hull->triangles[i];
        for (int32_t k = 0; k < 3 && t->alive; k++) {
            if (hull->triangles[t->beyond[k]].group != t->group) {
                number[t->corner[k]] = 0;
            }
        }
    }
    for (int32_t i = 0; i < hull->point_count; i++) {
        if (number[i] == 0) {
            number[i] = out->vertex_count;
            kl_copy3(hull->points + 3 * i, out->vertices + 3 * out->vertex_count);
            kl_add3(out->center, hull->points + 3 * i, out->center);
            out->vertex_count++;
        }
    }
    kl_scale3(1.0 / out->vertex_count, out->center, out->center);

    for (int32_t group = 0; group < groups; group++) {
        int32_t length = face_loop(hull, group, loop);
        int32_t start = out->face_start[group];
        if (length < 3 || start + length > corners) {
            return kl_fail(KL_ERR_SCENE,
                           "mesh \"%s\": a face of its convex hull does not close; merge "
                           "nearly equal points",
                           name);
        }
        for (int32_t k = 0; k < length; k++) {
            out->face_vertex[start + k] = number[loop[k]];
        }
        out->face_start[group + 1] = start + length;
        face_plane(hull, group, out->normals + 3 * group, out->offsets + group);
    }
    out->face_count = groups;

    for (int32_t i = 0; i < hull->triangle_count; i++) {
        const Triangle *t = &hull->triangles[i];
        for (int32_t k = 0; k < 3 && t->alive; k++) {
            int32_t right = hull->triangles[t->beyond[k]].group;
            if (t->group < right) {
                int32_t *edge = out->edges + 4 * out->edge_count++;
                edge[0] = number[t->corner[k]];
                edge[1] = number[t->corner[(k + 1) % 3]];
                edge[2] = t->group;
                edge[3] = right;
            }
        }
    }
    return KL_OK;
}

static KlStatus build(Hull *hull, const char *name, KlArena *arena, KlPolyhedron *polyhedron) {
    hull->triangle_capacity = 64;
    hull->border_capacity = 64;
    hull->triangles = kl_alloc((size_t)hull->triangle_capacity * sizeof *hull->triangles);
    hull->border = kl_alloc((size_t)hull->border_capacity * sizeof *hull->border);
    if (hull->triangles == NULL || hull->border == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for a convex hull");
    }
    KL_TRY(first_simplex(hull, name));
    for (int32_t i = 0; i < hull->point_count; i++) {
        KL_TRY(insert(hull, i));
    }
    KL_TRY(find_neighbours(hull, name));
    return to_polyhedron(hull, group_faces(hull), name, arena, polyhedron);
}

KlStatus kl_polyhedron_hull(const double *points, int32_t count, const char *name, KlArena *arena,
                            KlPolyhedron *polyhedron) {
    memset(polyhedron, 0, sizeof *polyhedron);
    Hull hull = {.points = points, .point_count = count};
    KlStatus status = build(&hull, name, arena, polyhedron);
    kl_free(hull.triangles);
    kl_free(hull.border);
    return status;
}

KlStatus kl_polyhedron_box(const double size[3], KlArena *arena, KlPolyhedron *polyhedron) {
    double corners[24];
    for (int32_t i = 0; i < 8; i++) {
        for (int32_t k = 0; k < 3; k++) {
            corners[3 * i + k] = ((i >> k) & 1) != 0 ? 0.5 * size[k] : -0.5 * size[k];
        }
    }
    return kl_polyhedron_hull(corners, 8, "box", arena, polyhedron);
}
