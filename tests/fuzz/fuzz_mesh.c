// Mesh files: the first byte picks the kind (o: OBJ, else STL) and whether the scale mirrors. What is
// read has indices in range, finite vertices, and a hull and an inertia or a reason why not.
#include "input.h"
#include "model/inertia.h"
#include "model/mesh.h"

static void claim_sound(const KlMeshData *mesh) {
    CLAIM(mesh->vertex_count >= 0 && mesh->triangle_count >= 0 && mesh->dropped >= 0);
    for (int32_t i = 0; i < 3 * mesh->vertex_count; i++) {
        CLAIM(isfinite(mesh->vertices[i]));
    }
    for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) {
        CLAIM(mesh->triangles[i] >= 0 && mesh->triangles[i] < mesh->vertex_count);
    }
}

// A falling body of this shape over a plane.
static void drop(const KlMeshData *mesh, KlGeomKind kind) {
    KlBuilder *builder;
    CLAIM(kl_builder_create(&builder) == KL_OK);
    KlMeshDef def = {"m", mesh->vertices, mesh->vertex_count, mesh->triangles, mesh->triangle_count};
    KlBodyDef body;
    kl_default_body_def(&body);
    body.name = "b";
    KlGeomDef geom, plane;
    kl_default_geom_def(&geom);
    geom.name = "g";
    geom.kind = kind;
    kl_default_geom_def(&plane);
    plane.name = "p";
    plane.body = -1;
    plane.kind = KL_GEOM_PLANE;
    KlModel *model = NULL;
    if (kl_builder_add_body(builder, &body, &geom.body) == KL_OK &&
        kl_builder_add_mesh(builder, &def, &geom.mesh) == KL_OK && kl_builder_add_geom(builder, &geom, NULL) == KL_OK &&
        kl_builder_add_geom(builder, &plane, NULL) == KL_OK && kl_builder_finish(builder, &model) == KL_OK) {
        fuzz_step(model, 2);
        kl_model_destroy(model);
    }
    kl_builder_destroy(builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    double scale[3] = {1.0, (data[0] & 1) != 0 ? -1.0 : 1.0, 1e-3};
    KlMeshData mesh;
    KlStatus status = kl_mesh_parse((const char *)data + 1, size - 1,
                                    data[0] == 'o' || data[0] == 'n' ? "m.obj" : "m.stl", scale, &mesh);
    if (status != KL_OK) {
        claim_failure(status);
        return 0;
    }
    claim_sound(&mesh);
    drop(&mesh, KL_GEOM_CONVEX);
    drop(&mesh, KL_GEOM_MESH);
    kl_mesh_data_free(&mesh);
    return 0;
}
