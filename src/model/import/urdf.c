// URDF: links, joints, geometry, transmissions. Reference: the ROS "urdf/XML" specification.
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/vec.h"
#include "model/import/mechanism.h"

static KlStatus read_origin(const KlXmlNode *owner, double pose[7]) {
    const KlXmlNode *origin = kl_xml_child(owner, "origin");
    double angles[3] = {0.0};
    memset(pose, 0, 7 * sizeof *pose);
    pose[3] = 1.0;
    if (origin == NULL) {
        return KL_OK;
    }
    KL_TRY(kl_xml_numbers(origin, "xyz", 3, 3, pose, NULL));
    KL_TRY(kl_xml_numbers(origin, "rpy", 3, 3, angles, NULL));
    kl_quaternion_from_euler(angles, "XYZ", pose + 3);
    return KL_OK;
}

static KlStatus need_number(const KlXmlNode *node, const char *attribute, double *value) {
    const char *text;
    KL_TRY(kl_xml_need(node, attribute, &text));
    return kl_xml_numbers(node, attribute, 1, 1, value, NULL);
}

// ---------------------------------------------------------------------------------------- links

static KlStatus read_inertial(const KlXmlNode *inertial, KlImportLink *link) {
    double pose[7], rotation[9], rotated[9];
    KL_TRY(read_origin(inertial, pose));
    const KlXmlNode *mass = kl_xml_child(inertial, "mass"), *inertia = kl_xml_child(inertial, "inertia");
    if (mass == NULL || inertia == NULL) {
        return kl_xml_fail(inertial, "needs both <mass> and <inertia>");
    }
    KL_TRY(need_number(mass, "value", &link->mass));
    if (link->mass < 0.0) {
        return kl_xml_fail(mass, "value must be >= 0 (got %g)", link->mass);
    }
    double xx, yy, zz, xy = 0.0, xz = 0.0, yz = 0.0;
    KL_TRY(need_number(inertia, "ixx", &xx));
    KL_TRY(need_number(inertia, "iyy", &yy));
    KL_TRY(need_number(inertia, "izz", &zz));
    KL_TRY(kl_xml_numbers(inertia, "ixy", 1, 1, &xy, NULL));
    KL_TRY(kl_xml_numbers(inertia, "ixz", 1, 1, &xz, NULL));
    KL_TRY(kl_xml_numbers(inertia, "iyz", 1, 1, &yz, NULL));
    const double own[9] = {xx, xy, xz, xy, yy, yz, xz, yz, zz};
    kl_quat_to_mat3(pose + 3, rotation);
    kl_mat3_mul(rotation, own, rotated);
    kl_mat3_mul_t(rotated, rotation, link->inertia);
    kl_copy3(pose, link->centre);
    link->has_inertial = true;
    return KL_OK;
}

static KlStatus read_mesh(KlMechanism *mechanism, const KlXmlNode *shape, const char *folder, KlImportGeom *geom,
                          bool *found) {
    const char *file;
    double scale[3] = {1.0, 1.0, 1.0};
    KL_TRY(kl_xml_need(shape, "filename", &file));
    KL_TRY(kl_xml_numbers(shape, "scale", 3, 3, scale, NULL));
    int32_t mesh = kl_mechanism_load_mesh(mechanism, shape, file, folder, scale);
    *found = kl_mechanism_use_mesh(mechanism, mesh, geom);
    return KL_OK;
}

static KlStatus read_shape(KlMechanism *mechanism, const KlXmlNode *geometry, const char *folder, KlImportGeom *geom,
                           bool *found) {
    const KlXmlNode *shape = geometry != NULL ? geometry->child : NULL;
    KlGeomDef *def = &geom->def;
    *found = shape != NULL;
    if (shape == NULL) {
        return KL_OK;
    }
    if (strcmp(shape->name, "box") == 0) {
        def->kind = KL_GEOM_BOX;
        KL_TRY(kl_xml_need(shape, "size", &(const char *){NULL}));
        return kl_xml_numbers(shape, "size", 3, 3, def->size, NULL);
    }
    if (strcmp(shape->name, "sphere") == 0) {
        def->kind = KL_GEOM_SPHERE;
        return need_number(shape, "radius", &def->size[0]);
    }
    if (strcmp(shape->name, "cylinder") == 0 || strcmp(shape->name, "capsule") == 0) {
        def->kind = shape->name[1] == 'y' ? KL_GEOM_CYLINDER : KL_GEOM_CAPSULE;
        KL_TRY(need_number(shape, "radius", &def->size[0]));
        return need_number(shape, "length", &def->size[1]);
    }
    if (strcmp(shape->name, "mesh") == 0) {
        return read_mesh(mechanism, shape, folder, geom, found);
    }
    kl_mechanism_note(mechanism, shape, true, "unknown shape <%s> is left out", shape->name);
    *found = false;
    return KL_OK;
}

static KlStatus read_color(const KlXmlNode *visual, const KlXmlNode *robot, float color[4]) {
    const KlXmlNode *material = kl_xml_child(visual, "material");
    const char *name = kl_xml_get(material, "name");
    const KlXmlNode *rgba = kl_xml_child(material, "color");
    for (const KlXmlNode *m = kl_xml_child(robot, "material"); rgba == NULL && name != NULL && m != NULL;
         m = kl_xml_sibling(m, "material")) {
        const char *other = kl_xml_get(m, "name");
        rgba = other != NULL && strcmp(other, name) == 0 ? kl_xml_child(m, "color") : NULL;
    }
    double values[4] = {0.0};
    if (rgba != NULL) {
        KL_TRY(kl_xml_numbers(rgba, "rgba", 4, 4, values, NULL));
    }
    for (int32_t i = 0; i < 4; i++) {
        color[i] = (float)fmin(fmax(values[i], 0.0), 1.0);
    }
    return KL_OK;
}

static KlStatus read_geoms(KlMechanism *mechanism, const KlXmlNode *robot, const KlXmlNode *link_node, int32_t link,
                           const char *folder, const char *kind) {
    bool collides = strcmp(kind, "collision") == 0;
    for (const KlXmlNode *node = kl_xml_child(link_node, kind); node != NULL; node = kl_xml_sibling(node, kind)) {
        KlImportGeom made = {.node = node,
                             .link = link,
                             .density = mechanism->options->density,
                             .collides = collides,
                             .counts = collides};
        bool found;
        kl_default_geom_def(&made.def);
        made.def.visual_only = !collides;
        KL_TRY(read_origin(node, made.def.pose));
        KL_TRY(read_shape(mechanism, kl_xml_child(node, "geometry"), folder, &made, &found));
        if (!found || !kl_mechanism_has_size(mechanism, &made)) {
            continue;
        }
        KL_TRY(read_color(node, robot, made.def.color));
        KlImportGeom *geom = kl_mechanism_add_geom(mechanism);
        if (geom == NULL) {
            return kl_fail(KL_ERR_MEMORY, "out of memory");
        }
        *geom = made;
    }
    return KL_OK;
}

static KlStatus read_link(KlMechanism *mechanism, const KlXmlNode *robot, const KlXmlNode *node, const char *folder) {
    const char *name;
    KL_TRY(kl_xml_need(node, "name", &name));
    if (kl_mechanism_find_link(mechanism, name) >= 0) {
        return kl_xml_fail(node, "a link of this name stands above");
    }
    KlImportLink *link = kl_mechanism_add_link(mechanism);
    KlImportFrame *frame = kl_mechanism_add_frame(mechanism);
    if (link == NULL || frame == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    int32_t index = mechanism->link_count - 1;
    *link = (KlImportLink){
        .name = name, .node = node, .into = -1, .pose = {0, 0, 0, 1, 0, 0, 0}, .into_pose = {0, 0, 0, 1, 0, 0, 0}};
    *frame = (KlImportFrame){.name = name, .link = index, .pose = {0, 0, 0, 1, 0, 0, 0}};
    const KlXmlNode *inertial = kl_xml_child(node, "inertial");
    if (inertial != NULL) {
        KL_TRY(read_inertial(inertial, link));
    }
    KL_TRY(read_geoms(mechanism, robot, node, index, folder, "visual"));
    return read_geoms(mechanism, robot, node, index, folder, "collision");
}

// --------------------------------------------------------------------------------------- joints

typedef struct JointType {
    const char *name;
    KlJointKind kind;
    bool axis_is_z;  // our planar joint turns about z
} JointType;

static const JointType joint_types[] = {
    {"fixed", KL_JOINT_FIXED, false},         {"revolute", KL_JOINT_REVOLUTE, false},
    {"continuous", KL_JOINT_REVOLUTE, false}, {"prismatic", KL_JOINT_PRISMATIC, false},
    {"planar", KL_JOINT_PLANAR, true},        {"spherical", KL_JOINT_SPHERICAL, false},
    {"ball", KL_JOINT_SPHERICAL, false},
};

static const JointType *find_type(const char *name) {
    for (size_t i = 0; i < sizeof joint_types / sizeof joint_types[0]; i++) {
        if (strcmp(joint_types[i].name, name) == 0) {
            return &joint_types[i];
        }
    }
    return NULL;
}

static KlStatus find_end(KlMechanism *mechanism, const KlXmlNode *joint, const char *end, int32_t *link) {
    const KlXmlNode *node = kl_xml_child(joint, end);
    if (node == NULL) {
        return kl_xml_fail(joint, "lacks <%s link=\"...\"/>", end);
    }
    const char *name;
    KL_TRY(kl_xml_need(node, "link", &name));
    *link = kl_mechanism_find_link(mechanism, name);
    return *link >= 0 ? KL_OK : kl_xml_fail(node, "there is no link \"%.100s\"", name);
}

static KlStatus read_limits(KlMechanism *mechanism, const KlXmlNode *node, const char *type, KlImportJoint *joint) {
    const KlXmlNode *limit = kl_xml_child(node, "limit");
    const KlXmlNode *dynamics = kl_xml_child(node, "dynamics");
    for (int32_t i = 0; i < 6; i++) {
        joint->lower[i] = -INFINITY;
        joint->upper[i] = INFINITY;
        joint->effort_limit[i] = INFINITY;
    }
    if (limit != NULL) {
        bool bounded = strcmp(type, "continuous") != 0 && joint->kind != KL_JOINT_SPHERICAL;
        // Absent bounds are 0 by the letter of URDF, which would lock the joint; exporters mean "none".
        if (bounded && (kl_xml_get(limit, "lower") != NULL || kl_xml_get(limit, "upper") != NULL)) {
            joint->lower[0] = joint->upper[0] = 0.0;
            KL_TRY(kl_xml_numbers(limit, "lower", 1, 1, &joint->lower[0], NULL));
            KL_TRY(kl_xml_numbers(limit, "upper", 1, 1, &joint->upper[0], NULL));
            if (joint->lower[0] > joint->upper[0]) {
                return kl_xml_fail(limit, "lower %g is above upper %g", joint->lower[0], joint->upper[0]);
            }
        }
        double effort = 0.0;
        KL_TRY(kl_xml_numbers(limit, "effort", 1, 1, &effort, NULL));
        for (int32_t i = 0; effort > 0.0 && i < 6; i++) {
            joint->effort_limit[i] = effort;
        }
    }
    if (dynamics != NULL) {
        double damping = 0.0, friction = 0.0;
        KL_TRY(kl_xml_numbers(dynamics, "damping", 1, 1, &damping, NULL));
        KL_TRY(kl_xml_numbers(dynamics, "friction", 1, 1, &friction, NULL));
        if (damping < 0.0) {
            return kl_xml_fail(dynamics, "damping must be >= 0 (got %g)", damping);
        }
        for (int32_t i = 0; i < 6; i++) {
            joint->damping[i] = damping;
        }
        if (friction != 0.0) {
            kl_mechanism_note(mechanism, dynamics, true, "dry joint friction %g is not carried over", friction);
        }
    }
    return KL_OK;
}

static KlStatus read_joint(KlMechanism *mechanism, const KlXmlNode *node) {
    const char *name, *type_name;
    KL_TRY(kl_xml_need(node, "name", &name));
    KL_TRY(kl_xml_need(node, "type", &type_name));
    int32_t parent = -1, child = -1;
    KL_TRY(find_end(mechanism, node, "parent", &parent));
    KL_TRY(find_end(mechanism, node, "child", &child));
    if (parent == child) {
        return kl_xml_fail(node, "joins a link to itself");
    }
    if (strcmp(type_name, "floating") == 0) {
        mechanism->links[child].floating = true;
        return read_origin(node, mechanism->links[child].pose);
    }
    const JointType *type = find_type(type_name);
    if (type == NULL) {
        return kl_xml_fail(node,
                           "unknown joint type \"%.60s\": fixed, revolute, continuous, prismatic, planar, "
                           "floating and spherical are known",
                           type_name);
    }
    KlImportJoint *joint = kl_mechanism_add_joint(mechanism);
    KlImportFrame *frame = kl_mechanism_add_frame(mechanism);
    if (joint == NULL || frame == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    *joint = (KlImportJoint){.name = name, .node = node, .kind = type->kind, .parent = parent, .child = child};
    *frame = (KlImportFrame){.name = name, .link = child, .pose = {0, 0, 0, 1, 0, 0, 0}};
    double axis[3] = {1.0, 0.0, 0.0}, origin[7];
    const KlXmlNode *axis_node = kl_xml_child(node, "axis");
    if (axis_node != NULL) {
        KL_TRY(kl_xml_numbers(axis_node, "xyz", 3, 3, axis, NULL));
        if (type->kind != KL_JOINT_FIXED && kl_norm3(axis) < 1e-9) {
            return kl_xml_fail(axis_node, "xyz must not be zero");
        }
    }
    KL_TRY(read_origin(node, origin));
    joint->child_frame[3] = 1.0;
    if (type->kind != KL_JOINT_FIXED) {
        (type->axis_is_z ? kl_frame_with_z : kl_frame_with_x)(axis, joint->child_frame + 3);
    }
    kl_pose_mul(origin, joint->child_frame, joint->parent_frame);
    const KlXmlNode *mimic = kl_xml_child(node, "mimic");
    if (mimic != NULL) {
        kl_mechanism_note(mechanism, mimic, true,
                          "coupling to joint \"%.80s\" is not carried over: close the real "
                          "loop, or drive both joints",
                          kl_xml_get(mimic, "joint"));
    }
    return read_limits(mechanism, node, type_name, joint);
}

static int32_t find_joint(const KlMechanism *mechanism, const char *name) {
    for (int32_t i = 0; name != NULL && i < mechanism->joint_count; i++) {
        if (strcmp(mechanism->joints[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static void read_transmissions(KlMechanism *mechanism, const KlXmlNode *robot) {
    for (const KlXmlNode *t = kl_xml_child(robot, "transmission"); t != NULL; t = kl_xml_sibling(t, "transmission")) {
        const KlXmlNode *joint = kl_xml_child(t, "joint");
        int32_t index = find_joint(mechanism, kl_xml_get(joint, "name"));
        if (index < 0) {
            kl_mechanism_note(mechanism, t, true, "drives no known joint");
        } else {
            mechanism->joints[index].actuated = true;
        }
    }
}

static void note_unknown(KlMechanism *mechanism, const KlXmlNode *robot) {
    static const char *const known[] = {"link", "joint", "material", "transmission"};
    for (const KlXmlNode *node = robot->child; node != NULL; node = node->next) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            is_known = is_known || strcmp(known[i], node->name) == 0;
        }
        if (!is_known) {
            kl_mechanism_note(mechanism, node, true, "<%s> is not carried over", node->name);
        }
    }
}

KlStatus kl_urdf_read(KlMechanism *mechanism, const KlXmlNode *robot) {
    char folder[512] = "";
    const char *slash = strrchr(mechanism->file, '/');
    size_t length = slash != NULL ? (size_t)(slash - mechanism->file) + 1 : 0;
    if (length >= sizeof folder) {
        return kl_fail_at(KL_ERR_LIMIT, &(KlPlace){.file = mechanism->file}, "path longer than 511 bytes");
    }
    memcpy(folder, mechanism->file, length);
    const char *name = kl_xml_get(robot, "name");
    mechanism->name = name != NULL ? name : "robot";
    mechanism->default_masks = true;
    for (const KlXmlNode *node = kl_xml_child(robot, "link"); node != NULL; node = kl_xml_sibling(node, "link")) {
        KL_TRY(read_link(mechanism, robot, node, folder));
    }
    if (mechanism->link_count == 0) {
        return kl_xml_fail(robot, "has no <link>");
    }
    for (const KlXmlNode *node = kl_xml_child(robot, "joint"); node != NULL; node = kl_xml_sibling(node, "joint")) {
        KL_TRY(read_joint(mechanism, node));
    }
    read_transmissions(mechanism, robot);
    note_unknown(mechanism, robot);
    return KL_OK;
}
