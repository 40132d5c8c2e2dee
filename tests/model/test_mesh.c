// Mesh files and inertia from geometry.
#include "model/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "math/vec.h"
#include "model/inertia.h"
#include "support.h"

static const double no_scale[3] = {1.0, 1.0, 1.0};

// The tetrahedron with corners at the origin and the unit vectors, as triangles that face out.
static const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const int32_t faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

static size_t write_binary_stl(unsigned char *data, const char *header) {
    memset(data, 0, 84 + 4 * 50);
    memcpy(data, header, strlen(header));
    data[80] = 4;
    for (int32_t t = 0; t < 4; t++) {
        for (int32_t c = 0; c < 3; c++) {
            for (int32_t k = 0; k < 3; k++) {
                float value = (float)corners[faces[t][c]][k];
                memcpy(data + 84 + 50 * t + 12 + 12 * c + 4 * k, &value, sizeof value);
            }
        }
    }
    return 84 + 4 * 50;
}

static void a_binary_stl_that_begins_with_solid_is_read_and_welded(void **state) {
    (void)state;
    unsigned char data[300];
    size_t size = write_binary_stl(data, "solid by some exporter");
    KlMeshData mesh;
    assert_ok(kl_mesh_parse((const char *)data, size, "a.STL", no_scale, &mesh));
    assert_int_equal(mesh.vertex_count, 4);
    assert_int_equal(mesh.triangle_count, 4);
    assert_int_equal(mesh.dropped, 0);
    kl_mesh_data_free(&mesh);
}

static void a_truncated_stl_is_refused(void **state) {
    (void)state;
    unsigned char data[300];
    size_t size = write_binary_stl(data, "binary");
    KlMeshData mesh;
    for (size_t cut = 0; cut < size; cut += 7) {
        assert_fails(kl_mesh_parse((const char *)data, cut, "a.stl", no_scale, &mesh), KL_ERR_FORMAT, "a.stl");
    }
}

static void text_and_binary_give_the_same_mesh(void **state) {
    (void)state;
    char text[2000];
    size_t used = (size_t)snprintf(text, sizeof text, "solid t\r\n");
    for (int32_t t = 0; t < 4; t++) {
        used += (size_t)snprintf(text + used, sizeof text - used, " facet normal 0 0 1\r\n  outer loop\r\n");
        for (int32_t c = 0; c < 3; c++) {
            const double *v = corners[faces[t][c]];
            used += (size_t)snprintf(text + used, sizeof text - used, "   vertex %g %g %g\r\n", v[0], v[1], v[2]);
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "  endloop\r\n endfacet\r\n");
    }
    unsigned char data[300];
    size_t size = write_binary_stl(data, "binary");
    KlMeshData a, b;
    assert_ok(kl_mesh_parse(text, used, "a.stl", no_scale, &a));
    assert_ok(kl_mesh_parse((const char *)data, size, "b.stl", no_scale, &b));
    assert_int_equal(a.vertex_count, b.vertex_count);
    assert_memory_equal(a.vertices, b.vertices, (size_t)a.vertex_count * 3 * sizeof(double));
    assert_memory_equal(a.triangles, b.triangles, (size_t)a.triangle_count * 3 * sizeof(int32_t));
    kl_mesh_data_free(&a);
    kl_mesh_data_free(&b);
}

static void a_mirroring_scale_keeps_triangles_facing_out(void **state) {
    (void)state;
    unsigned char data[300];
    size_t size = write_binary_stl(data, "binary");
    KlMeshData mesh;
    assert_ok(kl_mesh_parse((const char *)data, size, "a.stl", (double[3]){-1.0, 1.0, 1.0}, &mesh));
    KlMeshDef def = {.name = "m",
                     .vertices = mesh.vertices,
                     .vertex_count = mesh.vertex_count,
                     .triangles = mesh.triangles,
                     .triangle_count = mesh.triangle_count};
    KlGeomDef geom;
    kl_default_geom_def(&geom);
    geom.kind = KL_GEOM_MESH;
    KlMassProperties p;
    assert_ok(kl_geom_mass_properties(&geom, &def, &p));
    assert_near(p.volume, 1.0 / 6.0, 1e-15);
    kl_mesh_data_free(&mesh);
}

static void obj_reads_quads_negative_indices_and_slashes(void **state) {
    (void)state;
    static const char text[] = "# cube\nv -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 "
                               "-1 1\nv 1 1 1\nv -1 1 1\n"
                               "vn 0 0 1\ng side\nf 1/1/1 4/2/1 3//1 2\nf -4 -3 -2 -1\nf 1 2 6 "
                               "5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    KlMeshData mesh;
    assert_ok(kl_mesh_parse(text, sizeof text - 1, "cube.obj", no_scale, &mesh));
    assert_int_equal(mesh.vertex_count, 8);
    assert_int_equal(mesh.triangle_count, 12);
    KlMeshDef def = {.name = "cube",
                     .vertices = mesh.vertices,
                     .vertex_count = 8,
                     .triangles = mesh.triangles,
                     .triangle_count = 12};
    KlGeomDef geom;
    kl_default_geom_def(&geom);
    geom.kind = KL_GEOM_CONVEX;
    KlMassProperties p;
    assert_ok(kl_geom_mass_properties(&geom, &def, &p));
    assert_near(p.volume, 8.0, 1e-14);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(p.inertia[i], i % 4 == 0 ? 8.0 * 8.0 / 12.0 : 0.0, 1e-13);
    }
    kl_mesh_data_free(&mesh);
}

static void bad_mesh_files_name_the_line(void **state) {
    (void)state;
    static const struct {
        const char *name, *text, *message;
    } bad[] = {
        {"a.obj", "v 0 0\n", "a.obj:1:1: \"v\" needs three numbers"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nf 1 2\n", "a.obj:3:1: a face needs three vertices"},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", "a.obj:4:1: face names vertex \"0\""},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -9\n", "vertices are 1 to 3"},
        {"a.obj", "v 0 0 inf\n", "a.obj:1:1: vertex 0 must be finite"},
        {"a.obj", "", "the mesh is empty"},
        {"a.stl", "solid\nvertex 0 0 0\nvertex 1 0 0\nendloop\n", "a.stl:4:1: a facet needs three vertices"},
        {"a.stl", "solid\nvertex 0 0 0\n", "ends inside a facet"},
        {"a.stl", "not a mesh", "not an STL file"},
        {"a.dae", "<xml/>", "mesh files are .stl or .obj"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        KlMeshData mesh;
        assert_fails(kl_mesh_parse(bad[i].text, strlen(bad[i].text), bad[i].name, no_scale, &mesh), KL_ERR_FORMAT,
                     bad[i].message);
    }
}

static KlMassProperties properties_of(KlGeomKind kind, double a, double b, double c) {
    KlGeomDef geom;
    kl_default_geom_def(&geom);
    geom.kind = kind;
    geom.size[0] = a;
    geom.size[1] = b;
    geom.size[2] = c;
    KlMassProperties p;
    assert_ok(kl_geom_mass_properties(&geom, NULL, &p));
    return p;
}

// Is a point of the box [-extent, extent]^3 inside the capsule of radius 0.3 and cylinder length
// 0.8?
static bool in_capsule(const double x[3]) {
    double beyond = fmax(0.0, fabs(x[2]) - 0.4);
    return x[0] * x[0] + x[1] * x[1] + beyond * beyond <= 0.09;
}

static void a_capsule_has_the_inertia_of_its_points(void **state) {
    (void)state;
    KlMassProperties p = properties_of(KL_GEOM_CAPSULE, 0.3, 0.8, 0.0);
    double volume = 0.0, across = 0.0, along = 0.0;
    const int32_t n = 120;  // midpoints of a grid; the surface cells leave an error near 1e-3
    for (int32_t i = 0; i < n * n * n; i++) {
        double x[3] = {((i % n) + 0.5) / n * 0.6 - 0.3, ((i / n % n) + 0.5) / n * 0.6 - 0.3,
                       ((i / n / n) + 0.5) / n * 1.4 - 0.7};
        if (in_capsule(x)) {
            double cell = 0.6 * 0.6 * 1.4 / ((double)n * n * n);
            volume += cell;
            across += cell * (x[1] * x[1] + x[2] * x[2]);
            along += cell * (x[0] * x[0] + x[1] * x[1]);
        }
    }
    assert_near(p.volume, volume, 2e-3 * volume);
    assert_near(p.inertia[0], across, 2e-3 * across);
    assert_near(p.inertia[8], along, 2e-3 * along);
}

static void two_halves_of_a_box_make_the_box(void **state) {
    (void)state;
    KlGeomDef half;
    kl_default_geom_def(&half);
    half.kind = KL_GEOM_BOX;
    half.size[0] = 1.0;
    half.size[1] = 2.0;
    half.size[2] = 3.0;
    KlMassProperties sum = {0}, part, whole = properties_of(KL_GEOM_BOX, 2.0, 2.0, 3.0);
    half.pose[0] = 0.5;
    assert_ok(kl_geom_mass_properties(&half, NULL, &part));
    kl_mass_properties_add(&sum, &part);
    half.pose[0] = -0.5;
    assert_ok(kl_geom_mass_properties(&half, NULL, &part));
    kl_mass_properties_add(&sum, &part);
    assert_near(sum.volume, whole.volume, 1e-14);
    assert_near_array(sum.centre, whole.centre, 3, 1e-15);
    assert_near_array(sum.inertia, whole.inertia, 9, 1e-13);
}

static void turning_a_body_keeps_its_principal_moments(void **state) {
    (void)state;
    KlRng rng = {.state = 7};
    KlMassProperties straight = properties_of(KL_GEOM_BOX, 0.3, 0.5, 0.9);
    double expected[3];
    kl_principal_moments(straight.inertia, expected);
    for (int32_t trial = 0; trial < 100; trial++) {
        KlGeomDef geom;
        kl_default_geom_def(&geom);
        geom.kind = KL_GEOM_BOX;
        geom.size[0] = 0.3;
        geom.size[1] = 0.5;
        geom.size[2] = 0.9;
        for (int32_t k = 0; k < 4; k++) {
            geom.pose[3 + k] = kl_rng_range(&rng, -1.0, 1.0);
        }
        kl_quat_normalize(geom.pose + 3);
        KlMassProperties turned;
        double moments[3];
        assert_ok(kl_geom_mass_properties(&geom, NULL, &turned));
        kl_principal_moments(turned.inertia, moments);
        assert_near_array(moments, expected, 3, 1e-15);
    }
}

static void an_open_or_inverted_mesh_has_no_mass(void **state) {
    (void)state;
    int32_t inverted[4][3];
    for (int32_t t = 0; t < 4; t++) {
        inverted[t][0] = faces[t][0];
        inverted[t][1] = faces[t][2];
        inverted[t][2] = faces[t][1];
    }
    KlGeomDef geom;
    kl_default_geom_def(&geom);
    geom.kind = KL_GEOM_MESH;
    KlMassProperties p;
    KlMeshDef open = {
        .name = "m", .vertices = &corners[0][0], .vertex_count = 4, .triangles = &faces[0][0], .triangle_count = 3};
    assert_fails(kl_geom_mass_properties(&geom, &open, &p), KL_ERR_SCENE, "not closed");
    KlMeshDef outside_in = {
        .name = "m", .vertices = &corners[0][0], .vertex_count = 4, .triangles = &inverted[0][0], .triangle_count = 4};
    assert_fails(kl_geom_mass_properties(&geom, &outside_in, &p), KL_ERR_SCENE, "encloses a volume of -0.1666");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_binary_stl_that_begins_with_solid_is_read_and_welded),
        cmocka_unit_test(a_truncated_stl_is_refused),
        cmocka_unit_test(text_and_binary_give_the_same_mesh),
        cmocka_unit_test(a_mirroring_scale_keeps_triangles_facing_out),
        cmocka_unit_test(obj_reads_quads_negative_indices_and_slashes),
        cmocka_unit_test(bad_mesh_files_name_the_line),
        cmocka_unit_test(a_capsule_has_the_inertia_of_its_points),
        cmocka_unit_test(two_halves_of_a_box_make_the_box),
        cmocka_unit_test(turning_a_body_keeps_its_principal_moments),
        cmocka_unit_test(an_open_or_inverted_mesh_has_no_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
