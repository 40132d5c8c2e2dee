// What both importers fill before a model is built: links with frames, joints between them, geometry.
// Stages then place the links, find inertias, merge what does not move and emit a builder.
#ifndef KL_MODEL_IMPORT_MECHANISM_H
#define KL_MODEL_IMPORT_MECHANISM_H

#include "model/import/xml.h"

typedef struct KlImportLink {
    const char *name;
    const KlXmlNode *node;
    double pose[7];  // link frame in the world at the start
    bool has_inertial;
    double mass;          // [kg]
    double centre[3];     // in the link frame [m]
    double inertia[9];    // about the centre, axes of the link frame [kg m^2]
    int32_t into;         // link that this one was merged into, -1 = none
    double into_pose[7];  // its frame in that link
    bool is_world;
    bool floating;    // a root that moves freely
    bool has_start;   // stands elsewhere at the start than the file's own pose says
    double start[7];  // there, in the world
} KlImportLink;

typedef struct KlImportJoint {
    const char *name;
    const KlXmlNode *node;
    KlJointKind kind;
    int32_t parent, child;   // links
    double parent_frame[7];  // joint frame in the parent link
    double child_frame[7];   // joint frame in the child link
    double lower[6], upper[6];
    double effort_limit[6], damping[6], armature[6];
    bool actuated;
    bool idle[6];         // of an actuated joint: degrees of freedom without a motor
    double kp[6], kd[6];  // > 0: given by the file
    bool removed;
    bool closure;      // closes a loop: does not place its child
    bool moved;        // at the start the child stands off the file's own pose
    double motion[7];  // by this, of its joint frame
} KlImportJoint;

typedef struct KlImportGeom {
    KlGeomDef def;  // body is filled when emitted; pose in the link frame
    const KlXmlNode *node;
    int32_t link;
    double density;           // [kg/m^3] for inertia from geometry
    double mass;              // > 0: given by the file instead of the density
    bool collides, counts;    // collision geometry; counts for the inertia
    bool stand_in;            // a box in place of a mesh that is missing; sized like the link
    uint32_t type, affinity;  // MJCF bits, group and mask of the model
} KlImportGeom;

typedef struct KlImportMesh {
    const char *name, *reference;  // as the file spells it
    double scale[3];
    KlMeshDef full, def;        // as read, and what goes into the scene
    double middle[3], span[3];  // of its bounding box [m]
    bool solid;                 // encloses a volume
    bool flat;                  // has no inside at all: nothing can touch it
} KlImportMesh;

typedef struct KlImportPair {
    int32_t link_a, link_b;  // an exclusion
} KlImportPair;

typedef struct KlImportContact {
    const KlXmlNode *node;
    int32_t geom_a, geom_b;  // touch each other whatever their masks say
    double friction;         // < 0: the geoms' own
} KlImportContact;

typedef struct KlImportFrame {
    const char *name;  // a joint, link or site that a closure can name
    int32_t link;
    double pose[7];  // in the link
} KlImportFrame;

typedef struct KlMechanism {
    KlArena *arena;
    KlImportReport *report;
    const KlFiles *files;
    const KlImportOptions *options;
    const char *file;  // of the model
    const char *name;
    KlImportLink *links;
    KlImportJoint *joints;
    KlImportGeom *geoms;
    KlImportMesh *meshes;
    KlImportPair *excludes;
    KlImportContact *contacts;
    KlImportFrame *frames;
    int32_t link_count, joint_count, geom_count, mesh_count, exclude_count, contact_count, frame_count;
    int32_t link_capacity, joint_capacity, geom_capacity, mesh_capacity, exclude_capacity, contact_capacity,
        frame_capacity;
    KlSettings settings;
    bool default_masks;  // the file says nothing about who collides with whom
} KlMechanism;

// Appends a zeroed element; NULL only when out of memory (arena.failed is set).
KlImportLink *kl_mechanism_add_link(KlMechanism *mechanism);
KlImportJoint *kl_mechanism_add_joint(KlMechanism *mechanism);
KlImportGeom *kl_mechanism_add_geom(KlMechanism *mechanism);
KlImportMesh *kl_mechanism_add_mesh(KlMechanism *mechanism);
KlImportPair *kl_mechanism_add_exclude(KlMechanism *mechanism);
KlImportContact *kl_mechanism_add_contact(KlMechanism *mechanism);
KlImportFrame *kl_mechanism_add_frame(KlMechanism *mechanism);
int32_t kl_mechanism_find_link(const KlMechanism *mechanism, const char *name);   // -1 when unknown
int32_t kl_mechanism_find_frame(const KlMechanism *mechanism, const char *name);  // -1 when unknown

// Notes; `lost` marks what is not in the result.
void kl_mechanism_note(KlMechanism *mechanism, const KlXmlNode *node, bool lost, const char *format, ...)
    KL_PRINTF(4, 5);

// Loads a mesh once per (reference, scale): looked for in `folder` and those above it, then by ever shorter ends
// of the reference. -1 with a note when it is missing or not a mesh.
int32_t kl_mechanism_load_mesh(KlMechanism *mechanism, const KlXmlNode *node, const char *reference, const char *folder,
                               const double scale[3]);
// Thins a mesh out to at most `most` triangles, as far as its shape allows; `error` is how far it is off [m]. The
// result lives in `arena`. KL_ERR_MEMORY.
KlStatus kl_mesh_simplify(const KlMeshDef *mesh, int32_t most, KlArena *arena, KlMeshDef *thin, double *error);
// Makes the geom one of that mesh, or of what stands in for -1; false when it is to be left out.
bool kl_mechanism_use_mesh(const KlMechanism *mechanism, int32_t mesh, KlImportGeom *geom);
// False, with a note, for a primitive without extent.
bool kl_mechanism_has_size(KlMechanism *mechanism, const KlImportGeom *geom);

// A quaternion that turns the x axis (or z axis) to `axis`; `axis` need not be a unit vector.
void kl_frame_with_x(const double axis[3], double quaternion[4]);
void kl_frame_with_z(const double axis[3], double quaternion[4]);
void kl_quaternion_from_euler(const double angles[3], const char *sequence, double quaternion[4]);

// Front ends.
KlStatus kl_urdf_read(KlMechanism *mechanism, const KlXmlNode *root);
KlStatus kl_mjcf_read(KlMechanism *mechanism, const KlXmlNode *root);
// Loop closures in the yaml of example-parallel-robots: closed_loop, type, name_mot, joint_name, joint_type.
KlStatus kl_loops_read(KlMechanism *mechanism, const char *path, bool required);

// Stages, in this order.
KlStatus kl_mechanism_place(KlMechanism *mechanism);    // link poses along the joint tree
KlStatus kl_mechanism_inertia(KlMechanism *mechanism);  // from geometry where the file gives none
KlStatus kl_mechanism_reduce(KlMechanism *mechanism);   // fixed joints, massless chains, placeholders
void kl_mechanism_move(KlMechanism *mechanism);         // to the start that motions and start poses say
KlStatus kl_mechanism_emit(KlMechanism *mechanism, KlBuilder *builder);

#endif
