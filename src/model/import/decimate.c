// Fewer triangles for a mesh, by edge collapse with quadric errors (Garland and Heckbert 1997), as the library
// meshoptimizer has it. It works in single precision and moves no vertex: those that stay are exactly the file's.
#include <meshoptimizer.h>
#include <string.h>

#include "math/vec.h"
#include "model/import/mechanism.h"

enum { FEWEST = 4 };  // triangles that can enclose a volume

static bool has_area(const KlMeshDef *mesh, const unsigned *corners) {
    const double *a = mesh->vertices + 3 * (size_t)corners[0];
    double ab[3], ac[3], normal[3];
    kl_sub3(mesh->vertices + 3 * (size_t)corners[1], a, ab);
    kl_sub3(mesh->vertices + 3 * (size_t)corners[2], a, ac);
    kl_cross3(ab, ac, normal);
    return kl_norm3(normal) > 0.0;
}

// Collapses may leave triangles whose corners lie on a line; returns how many corners stay.
static size_t drop_slivers(const KlMeshDef *mesh, unsigned *corners, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i += 3) {
        if (has_area(mesh, corners + i)) {
            memmove(corners + kept, corners + i, 3 * sizeof *corners);
            kept += 3;
        }
    }
    return kept;
}

// Drops the vertices that no triangle names and renumbers the rest, in their order.
static void compact(const KlMeshDef *mesh, const unsigned *corners, int32_t *renumbered, double *vertices,
                    int32_t *triangles, KlMeshDef *thin) {
    for (int32_t i = 0; i < 3 * thin->triangle_count; i++) {
        renumbered[corners[i]] = 1;
    }
    thin->vertex_count = 0;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        if (renumbered[v] != 0) {
            memcpy(vertices + 3 * thin->vertex_count, mesh->vertices + 3 * v, 3 * sizeof *vertices);
            renumbered[v] = thin->vertex_count++;
        }
    }
    for (int32_t i = 0; i < 3 * thin->triangle_count; i++) {
        triangles[i] = renumbered[corners[i]];
    }
}

KlStatus kl_mesh_simplify(const KlMeshDef *mesh, int32_t most, KlArena *arena, KlMeshDef *thin, double *error) {
    int32_t corner_count = 3 * mesh->triangle_count;
    size_t vertex_count = (size_t)mesh->vertex_count, stride = 3 * sizeof(float);
    float *positions = KL_ARENA_ARRAY(arena, float, 3 * vertex_count), off = 0.0f;
    unsigned *corners = KL_ARENA_ARRAY(arena, unsigned, corner_count);
    int32_t *renumbered = KL_ARENA_ARRAY(arena, int32_t, vertex_count);
    int32_t *triangles = KL_ARENA_ARRAY(arena, int32_t, corner_count);
    double *vertices = KL_ARENA_ARRAY(arena, double, 3 * vertex_count);
    KL_TRY(kl_arena_check(arena));
    for (size_t i = 0; i < 3 * vertex_count; i++) {
        positions[i] = (float)mesh->vertices[i];
    }
    for (int32_t i = 0; i < corner_count; i++) {
        corners[i] = (unsigned)mesh->triangles[i];
    }
    size_t wanted = 3 * (size_t)(most > FEWEST ? most : FEWEST);
    size_t kept = meshopt_simplify(corners, corners, (size_t)corner_count, positions, vertex_count, stride, wanted,
                                   1.0f, 0, &off);
    kept = drop_slivers(mesh, corners, kept);
    *thin = *mesh;
    *error = 0.0;
    if (kept < 3 * FEWEST) {
        return KL_OK;  // nothing is left of it: as it was
    }
    *error = (double)off * (double)meshopt_simplifyScale(positions, vertex_count, stride);
    thin->triangle_count = (int32_t)(kept / 3);
    compact(mesh, corners, renumbered, vertices, triangles, thin);
    thin->vertices = vertices;
    thin->triangles = triangles;
    return KL_OK;
}
