// Triangle meshes from files: STL (binary and ASCII) and Wavefront OBJ.
#ifndef KL_MODEL_MESH_H
#define KL_MODEL_MESH_H

#include "kl.h"

typedef struct KlMeshData {
    double *vertices;    // (vertex_count x 3) equal positions are welded [m]
    int32_t *triangles;  // (triangle_count x 3)
    int32_t vertex_count, triangle_count;
    int32_t dropped;  // triangles without area that the file held
} KlMeshData;

// The kind follows from the name's ending (.stl, .obj) and, for STL, from the content. Coordinates
// are multiplied by `scale` (a mirroring scale turns the triangles round, so that they still face
// out). KL_ERR_FORMAT with file and line (or byte) for syntax, indices out of range and coordinates
// that are not finite; KL_ERR_LIMIT above 2,000,000 triangles or vertices.
KlStatus kl_mesh_parse(const char *data, size_t size, const char *name, const double scale[3], KlMeshData *mesh);
void kl_mesh_data_free(KlMeshData *mesh);

#endif
