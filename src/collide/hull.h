// Convex hulls of point sets and the polyhedra that collision works on.
#ifndef KL_COLLIDE_HULL_H
#define KL_COLLIDE_HULL_H

#include "base/memory.h"

// A convex polyhedron with polygonal faces, in its geom's frame.
typedef struct KlPolyhedron {
    int32_t vertex_count, face_count, edge_count;
    double *vertices;      // (vertex_count x 3) [m]
    int32_t *face_start;   // (face_count + 1) into face_vertex
    int32_t *face_vertex;  // corners of each face, counter-clockwise seen from outside
    double *normals;       // (face_count x 3) unit, outward
    double *offsets;       // (face_count) n . x on the face [m]
    int32_t *edges;        // (edge_count x 4) vertices v0, v1; face left of v0 -> v1, face right of it
    double center[3];      // mean of the vertices, inside
} KlPolyhedron;

// The hull of (count x 3) points; coplanar triangles are one face. KL_ERR_SCENE when the points lie in
// a plane, named after `name`. Arrays live in `arena`.
KlStatus kl_polyhedron_hull(const double *points, int32_t count, const char *name, KlArena *arena,
                            KlPolyhedron *polyhedron);

// A box of these full edge lengths.
KlStatus kl_polyhedron_box(const double size[3], KlArena *arena, KlPolyhedron *polyhedron);

#endif
