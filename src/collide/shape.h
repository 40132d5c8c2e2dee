// What the parts of collision share: a geom placed in the world, and the raw contacts of a pair.
#ifndef KL_COLLIDE_SHAPE_H
#define KL_COLLIDE_SHAPE_H

#include "base/status.h"
#include "collide/hull.h"
#include "model/model.h"

struct dxGeom;  // ODE's geom and mesh data
struct dxTriMeshData;

typedef struct KlShape {
    int32_t geom, body;  // body -1 = world
    KlGeomKind kind;
    double size[3];                   // as in KlGeomDef
    double local_pose[7];             // in the body's frame
    double position[3], rotation[9];  // in the world, set each step
    double low[3], high[3];           // world box around the shape, grown by half the detection distance

    KlPolyhedron polyhedron;  // boxes and convex hulls; vertex_count 0 otherwise
    double *world_vertices;   // (polyhedron.vertex_count x 3), set each step
    double *world_normals;    // (polyhedron.face_count x 3)
    const KlMeshDef *mesh;    // KL_GEOM_MESH

    struct dxGeom *exact;  // in ODE; NULL for planes
    struct dxGeom *grown;  // the same, to be made larger; spheres, capsules and cylinders only
    bool placed;           // these, where the shape is now: they are moved when they are asked for
    struct dxTriMeshData *mesh_data;
    double *ode_planes, *ode_vertices;  // what ODE keeps pointers to
    unsigned *ode_polygons;
} KlShape;

// One contact before culling. The normal points from shape A to shape B.
typedef struct KlRawContact {
    double position[3], normal[3];
    double gap;
    int32_t feature;  // names the pair of features that touch; -1 = to be matched with the last step
    int32_t rank;     // for culling: 0 = was there in the last step
} KlRawContact;

typedef struct KlRawList {
    KlRawContact *contacts;
    int32_t count, capacity;
} KlRawList;

KlStatus kl_raw_grow(KlRawList *list);
static inline KlStatus kl_raw_push(KlRawList *list, const KlRawContact *contact) {
    KL_TRY(list->count == list->capacity ? kl_raw_grow(list) : KL_OK);
    list->contacts[list->count++] = *contact;
    return KL_OK;
}

// Contacts with gap <= reach of each combination; `list` is appended to.
KlStatus kl_plane_contacts(const KlShape *plane, const KlShape *shape, double reach, KlRawList *list);
KlStatus kl_round_contacts(const KlShape *a, const KlShape *b, double reach, KlRawList *list);
typedef struct KlClipper KlClipper;
KlStatus kl_polyhedron_contacts(const KlShape *a, const KlShape *b, double reach, KlClipper *clipper, KlRawList *list);

// Workspace of kl_polyhedron_contacts for faces of up to `corners` corners.
struct KlClipper {
    int32_t capacity;
    struct KlClipPoint *polygon, *next;
};
KlStatus kl_clipper_create(int32_t corners, KlArena *arena, KlClipper *clipper);

static inline void kl_shape_to_world(const KlShape *shape, const double local[3], double world[3]) {
    const double *r = shape->rotation, *p = shape->position;
    world[0] = p[0] + (r[0] * local[0] + r[1] * local[1] + r[2] * local[2]);
    world[1] = p[1] + (r[3] * local[0] + r[4] * local[1] + r[5] * local[2]);
    world[2] = p[2] + (r[6] * local[0] + r[7] * local[1] + r[8] * local[2]);
}

// Half of the larger edge of the smaller world box: the size to measure motion of a contact by.
static inline double kl_smaller_extent(const KlShape *a, const KlShape *b) {
    double extent[2] = {0.0, 0.0};
    for (int32_t k = 0; k < 3; k++) {
        double ea = a->high[k] - a->low[k], eb = b->high[k] - b->low[k];
        extent[0] = ea > extent[0] ? ea : extent[0];
        extent[1] = eb > extent[1] ? eb : extent[1];
    }
    return 0.5 * (extent[0] < extent[1] ? extent[0] : extent[1]);
}

#endif
