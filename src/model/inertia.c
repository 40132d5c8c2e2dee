// Inertia from geometry: closed forms for primitives; a mesh is the signed sum of the tetrahedra
// that its triangles span with the origin (Tonon 2004, "Explicit exact formulas for the 3-D
// tetrahedron inertia tensor"), here through second moments, which add and rotate plainly.
#include "model/inertia.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"

static const double pi = 3.14159265358979323846;

// One Jacobi rotation that zeroes a[p][q].
static void rotate_pair(double a[9], int32_t p, int32_t q) {
    double apq = a[3 * p + q];
    if (apq == 0.0) {
        return;
    }
    double theta = (a[4 * q] - a[4 * p]) / (2.0 * apq);
    double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    int32_t r = 3 - p - q;
    double arp = a[3 * r + p], arq = a[3 * r + q];
    a[4 * p] -= t * apq;
    a[4 * q] += t * apq;
    a[3 * p + q] = a[3 * q + p] = 0.0;
    a[3 * r + p] = a[3 * p + r] = c * arp - s * arq;
    a[3 * r + q] = a[3 * q + r] = s * arp + c * arq;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void kl_principal_moments(const double inertia[9], double moments[3]) {
    double a[9];
    memcpy(a, inertia, sizeof a);
    for (int32_t sweep = 0; sweep < 12; sweep++) {  // quadratic convergence: 6 suffice in double
        rotate_pair(a, 0, 1);
        rotate_pair(a, 0, 2);
        rotate_pair(a, 1, 2);
    }
    for (int32_t i = 0; i < 3; i++) {
        moments[i] = a[4 * i];
    }
    qsort(moments, 3, sizeof moments[0], compare_doubles);
}

// inertia = tr(S) 1 - S, with S the second moments (integral of x x^T); the map is its own kind of
// inverse: S = tr(I)/2 1 - I.
static void inertia_from_moments(const double s[9], double inertia[9]) {
    double trace = s[0] + s[4] + s[8];
    for (int32_t i = 0; i < 9; i++) {
        inertia[i] = (i % 4 == 0 ? trace : 0.0) - s[i];
    }
}

// inertia += sign * volume * (|d|^2 1 - d d^T): the parallel-axis term.
static void add_parallel_axis(double volume, const double d[3], double inertia[9]) {
    double square = kl_dot3(d, d);
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            inertia[3 * i + j] += volume * ((i == j ? square : 0.0) - d[i] * d[j]);
        }
    }
}

void kl_mass_properties_add(KlMassProperties *sum, const KlMassProperties *part) {
    double volume = sum->volume + part->volume;
    double centre[3], to_sum[3], to_part[3];
    for (int32_t k = 0; k < 3; k++) {
        centre[k] = (sum->volume * sum->centre[k] + part->volume * part->centre[k]) / volume;
    }
    kl_sub3(sum->centre, centre, to_sum);
    kl_sub3(part->centre, centre, to_part);
    add_parallel_axis(sum->volume, to_sum, sum->inertia);
    add_parallel_axis(part->volume, to_part, sum->inertia);
    for (int32_t i = 0; i < 9; i++) {
        sum->inertia[i] += part->inertia[i];
    }
    kl_copy3(centre, sum->centre);
    sum->volume = volume;
}

static void set_diagonal(double x, double y, double z, double inertia[9]) {
    memset(inertia, 0, 9 * sizeof *inertia);
    inertia[0] = x;
    inertia[4] = y;
    inertia[8] = z;
}

static void box_properties(const double e[3], KlMassProperties *p) {
    p->volume = e[0] * e[1] * e[2];
    double k = p->volume / 12.0;
    double xx = e[0] * e[0], yy = e[1] * e[1], zz = e[2] * e[2];
    set_diagonal(k * (yy + zz), k * (xx + zz), k * (xx + yy), p->inertia);
}

static void sphere_properties(double r, KlMassProperties *p) {
    p->volume = 4.0 / 3.0 * pi * r * r * r;
    double i = 0.4 * p->volume * r * r;
    set_diagonal(i, i, i, p->inertia);
}

static void cylinder_properties(double r, double h, KlMassProperties *p) {
    p->volume = pi * r * r * h;
    double side = p->volume * (3.0 * r * r + h * h) / 12.0;
    set_diagonal(side, side, p->volume * r * r / 2.0, p->inertia);
}

// A cylinder and two half spheres whose centres of mass lie 3/8 r beyond its ends.
static void capsule_properties(double r, double h, KlMassProperties *p) {
    cylinder_properties(r, h, p);
    double ball = 4.0 / 3.0 * pi * r * r * r;
    double side = ball * (0.4 * r * r + h * h / 4.0 + 3.0 / 8.0 * h * r);
    p->inertia[0] += side;
    p->inertia[4] += side;
    p->inertia[8] += 0.4 * ball * r * r;
    p->volume += ball;
}

typedef struct Edge {
    int32_t from, to;
} Edge;

// By the unordered pair, so that both directions of one edge are neighbours.
static int compare_edges(const void *a, const void *b) {
    const Edge *x = a, *y = b;
    int32_t xl = x->from < x->to ? x->from : x->to, yl = y->from < y->to ? y->from : y->to;
    int32_t xh = x->from + x->to - xl, yh = y->from + y->to - yl;
    return xl != yl ? (xl > yl) - (xl < yl) : (xh > yh) - (xh < yh);
}

// In a closed surface each edge is run through as often one way as the other.
static KlStatus check_closed(const KlMeshDef *mesh) {
    int32_t count = 3 * mesh->triangle_count;
    Edge *edges = kl_alloc((size_t)count * sizeof *edges);
    if (edges == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for %d edges", (int)count);
    }
    for (int32_t i = 0; i < count; i++) {
        const int32_t *triangle = mesh->triangles + i / 3 * 3;
        edges[i] = (Edge){triangle[i % 3], triangle[(i + 1) % 3]};
    }
    qsort(edges, (size_t)count, sizeof *edges, compare_edges);
    KlStatus status = KL_OK;
    for (int32_t i = 0; i < count && status == KL_OK;) {
        int32_t balance = 0, first = i;
        for (; i < count && compare_edges(&edges[first], &edges[i]) == 0; i++) {
            balance += edges[i].from < edges[i].to ? 1 : -1;
        }
        if (balance != 0) {
            status = kl_fail(KL_ERR_SCENE,
                             "mesh '%s' is not closed: the edge between vertices %d and %d is open; give the "
                             "inertia instead of taking it from the geometry",
                             mesh->name, (int)edges[first].from, (int)edges[first].to);
        }
    }
    kl_free(edges);
    return status;
}

static KlStatus mesh_properties(const KlMeshDef *mesh, KlMassProperties *p) {
    if (mesh->triangle_count == 0) {
        return kl_fail(KL_ERR_SCENE, "mesh '%s' has no triangles; give the inertia", mesh->name);
    }
    KL_TRY(check_closed(mesh));
    double first[3] = {0.0, 0.0, 0.0}, second[9] = {0.0};  // integrals of x and x x^T
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const double *a = mesh->vertices + 3 * mesh->triangles[3 * t];
        const double *b = mesh->vertices + 3 * mesh->triangles[3 * t + 1];
        const double *c = mesh->vertices + 3 * mesh->triangles[3 * t + 2];
        double bc[3], sum[3];
        kl_cross3(b, c, bc);
        double volume = kl_dot3(a, bc) / 6.0;
        kl_add3(a, b, sum);
        kl_add3(sum, c, sum);
        p->volume += volume;
        kl_axpy3(volume / 4.0, sum, first);
        for (int32_t i = 0; i < 9; i++) {
            int32_t r = i / 3, s = i % 3;
            second[i] += volume / 20.0 * (a[r] * a[s] + b[r] * b[s] + c[r] * c[s] + sum[r] * sum[s]);
        }
    }
    if (!(p->volume > 0.0)) {
        return kl_fail(KL_ERR_SCENE,
                       "mesh '%s' encloses a volume of %g m^3; it must be > 0 (triangles run counter-"
                       "clockwise seen from outside)",
                       mesh->name, p->volume);
    }
    kl_scale3(1.0 / p->volume, first, p->centre);
    inertia_from_moments(second, p->inertia);
    add_parallel_axis(-p->volume, p->centre, p->inertia);
    return KL_OK;
}

// Moves properties from the geom's own frame to the frame its pose is given in.
static void transform_properties(const double pose[7], KlMassProperties *p) {
    double rotation[9], half[9], centre[3];
    kl_quat_to_mat3(pose + 3, rotation);
    kl_mat3_mul(rotation, p->inertia, half);
    kl_mat3_mul_t(half, rotation, p->inertia);
    kl_mat3_mul_vec(rotation, p->centre, centre);
    kl_add3(pose, centre, p->centre);
}

KlStatus kl_geom_mass_properties(const KlGeomDef *geom, const KlMeshDef *mesh, KlMassProperties *properties) {
    KlMassProperties p = {0};
    switch (geom->kind) {
        case KL_GEOM_SPHERE: sphere_properties(geom->size[0], &p); break;
        case KL_GEOM_BOX: box_properties(geom->size, &p); break;
        case KL_GEOM_CAPSULE: capsule_properties(geom->size[0], geom->size[1], &p); break;
        case KL_GEOM_CYLINDER: cylinder_properties(geom->size[0], geom->size[1], &p); break;
        case KL_GEOM_CONVEX:
        case KL_GEOM_MESH: KL_TRY(mesh_properties(mesh, &p)); break;
        default: return kl_fail(KL_ERR_SCENE, "a %s has no mass", kl_geom_kind_name(geom->kind));
    }
    transform_properties(geom->pose, &p);
    *properties = p;
    return KL_OK;
}
