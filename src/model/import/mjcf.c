// MJCF, the XML of MuJoCo: compiler, default classes, include, worldbody, equality, contact, actuator,
// keyframe. Reference: the "XML Reference" chapter of MuJoCo's documentation. What has no counterpart
// here (tendons, sites' sensors, springs ...) is noted with its line.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/trig.h"
#include "math/vec.h"
#include "model/import/mechanism.h"

enum { MAX_INCLUDES = 32, MAX_CLASSES = 256 };

// Where numbers of a keyframe's qpos go: a free link (7), a ball joint (4), a hinge or slide (1).
typedef struct Slot {
    int32_t link, joint;  // -1: the other
    double reference;     // of a hinge or slide: qpos in the file's own pose
} Slot;

typedef struct Reader {
    KlMechanism *mechanism;
    char folder[512];  // of the file
    char mesh_folder[1024];
    bool degrees, auto_limits;
    char euler[4];
    double settle_mass;  // 0: masses as they are
    const KlXmlNode *asset[64];
    int32_t asset_count;
    const KlXmlNode *default_root;
    const char *includes[MAX_INCLUDES];
    int32_t include_count;
    int32_t made;  // names made up so far
    bool free_joint_seen;
    Slot *slots;  // of qpos, in the order of the document
    int32_t slot_count, slot_capacity, key_count;
} Reader;

// -------------------------------------------------------------------------------------- defaults

// The <default> of a class, searched through the nested tree; the outermost one for NULL or "main".
static const KlXmlNode *find_class(const KlXmlNode *node, const char *name) {
    for (; node != NULL; node = kl_xml_sibling(node, "default")) {
        const char *own = kl_xml_get(node, "class");
        if (name == NULL || (own != NULL && strcmp(own, name) == 0)) {
            return node;
        }
        const KlXmlNode *inner = find_class(kl_xml_child(node, "default"), name);
        if (inner != NULL) {
            return inner;
        }
    }
    return NULL;
}

// An element as its class completes it: own attribute, else the class's, else its parents'.
typedef struct Element {
    const KlXmlNode *node;
    const char *tag;            // of the defaults, e.g. "joint"
    const KlXmlNode *defaults;  // innermost <default> that applies; NULL = none
} Element;

static const KlXmlNode *holder(const Element *element, const char *attribute) {
    if (kl_xml_get(element->node, attribute) != NULL) {
        return element->node;
    }
    for (const KlXmlNode *d = element->defaults; d != NULL && strcmp(d->name, "default") == 0; d = d->parent) {
        const KlXmlNode *own = kl_xml_child(d, element->tag);
        if (kl_xml_get(own, attribute) != NULL) {
            return own;
        }
    }
    return element->node;
}

static const char *get(const Element *element, const char *attribute) {
    return kl_xml_get(holder(element, attribute), attribute);
}

static KlStatus numbers(const Element *element, const char *attribute, int32_t minimum, int32_t count, double *values,
                        int32_t *read) {
    return kl_xml_numbers(holder(element, attribute), attribute, minimum, count, values, read);
}

static KlStatus make_element(const Reader *reader, const KlXmlNode *node, const char *tag, const char *child_class,
                             Element *element) {
    const char *name = kl_xml_get(node, "class");
    name = name != NULL ? name : child_class;
    *element = (Element){.node = node, .tag = tag, .defaults = find_class(reader->default_root, name)};
    if (name != NULL && element->defaults == NULL && strcmp(name, "main") != 0) {
        return kl_xml_fail(node, "there is no default class \"%.80s\"", name);
    }
    if (element->defaults == NULL) {
        element->defaults = reader->default_root;
    }
    return KL_OK;
}

// ---------------------------------------------------------------------------------- orientation

static double angle(const Reader *reader, double value) {
    return reader->degrees ? value * (3.14159265358979323846 / 180.0) : value;
}

static KlStatus read_orientation(const Reader *reader, const Element *element, double q[4]) {
    double v[6];
    int32_t read;
    KL_TRY(numbers(element, "quat", 4, 4, v, &read));
    if (read == 4) {
        memcpy(q, v, 4 * sizeof *q);
        if (kl_dot3(q + 1, q + 1) + q[0] * q[0] < 1e-12) {
            return kl_xml_fail(element->node, "quat must not be zero");
        }
        kl_quat_normalize(q);
        return KL_OK;
    }
    KL_TRY(numbers(element, "axisangle", 4, 4, v, &read));
    if (read == 4) {
        double length = kl_norm3(v), turn[3];
        kl_scale3(length > 0.0 ? angle(reader, v[3]) / length : 0.0, v, turn);
        kl_quat_exp(turn, q);
        return KL_OK;
    }
    KL_TRY(numbers(element, "euler", 3, 3, v, &read));
    if (read == 3) {
        const double angles[3] = {angle(reader, v[0]), angle(reader, v[1]), angle(reader, v[2])};
        kl_quaternion_from_euler(angles, reader->euler, q);
        return KL_OK;
    }
    KL_TRY(numbers(element, "zaxis", 3, 3, v, &read));
    if (read == 3) {
        kl_frame_with_z(v, q);
        return KL_OK;
    }
    KL_TRY(numbers(element, "xyaxes", 6, 6, v, &read));
    if (read == 6) {  // turn x there, then about x so that y lies in the plane
        double y[3], z_axis[3], y_now[3], z_now[3], with_x[4], turn[4] = {0.0};
        double length = kl_norm3(v), x[3];
        kl_scale3(length > 0.0 ? 1.0 / length : 0.0, v, x);
        kl_copy3(v + 3, y);
        kl_axpy3(-kl_dot3(x, y), x, y);
        kl_frame_with_x(x, with_x);
        kl_quat_rotate(with_x, (const double[3]){0.0, 1.0, 0.0}, y_now);
        kl_quat_rotate(with_x, (const double[3]){0.0, 0.0, 1.0}, z_now);
        kl_cross3(x, y, z_axis);
        kl_sincos(0.5 * kl_atan2(kl_dot3(z_now, y), kl_dot3(y_now, y)), &turn[1], &turn[0]);
        kl_quat_mul(with_x, turn, q);
        return KL_OK;
    }
    return KL_OK;
}

static KlStatus read_pose(const Reader *reader, const Element *element, double pose[7]) {
    memset(pose, 0, 7 * sizeof *pose);
    pose[3] = 1.0;
    KL_TRY(numbers(element, "pos", 3, 3, pose, NULL));
    return read_orientation(reader, element, pose + 3);
}

// ------------------------------------------------------------------------------------ top level

static KlStatus read_compiler(Reader *reader, const KlXmlNode *node) {
    const char *angle_unit = kl_xml_get(node, "angle"), *euler = kl_xml_get(node, "eulerseq");
    const char *mesh_folder = kl_xml_get(node, "meshdir");
    mesh_folder = mesh_folder != NULL ? mesh_folder : kl_xml_get(node, "assetdir");
    if (angle_unit != NULL) {
        reader->degrees = strcmp(angle_unit, "degree") == 0;
    }
    if (euler != NULL) {
        if (strlen(euler) != 3 || strspn(euler, "xyzXYZ") != 3) {
            return kl_xml_fail(node, "eulerseq=\"%.20s\": must be three letters of xyzXYZ", euler);
        }
        memcpy(reader->euler, euler, sizeof reader->euler);
    }
    if (mesh_folder != NULL) {
        snprintf(reader->mesh_folder, sizeof reader->mesh_folder, "%s%.500s/", reader->folder, mesh_folder);
    }
    KL_TRY(kl_xml_bool(node, "autolimits", true, &reader->auto_limits));
    KL_TRY(kl_xml_numbers(node, "settotalmass", 1, 1, &reader->settle_mass, NULL));
    const char *coordinate = kl_xml_get(node, "coordinate");
    if (coordinate != NULL && strcmp(coordinate, "local") != 0) {
        return kl_xml_fail(node, "coordinate=\"%.20s\": only local is known", coordinate);
    }
    return KL_OK;
}

static KlStatus read_option(Reader *reader, const KlXmlNode *node) {
    KlSettings *settings = &reader->mechanism->settings;
    KL_TRY(kl_xml_numbers(node, "timestep", 1, 1, &settings->dt, NULL));
    if (!(settings->dt > 0.0)) {
        return kl_xml_fail(node, "timestep must be > 0 (got %g)", settings->dt);
    }
    return kl_xml_numbers(node, "gravity", 3, 3, settings->gravity, NULL);
}

static KlStatus include_file(Reader *reader, KlXmlNode *node);

// Replaces every <include> by the children of the file's root.
static KlStatus expand_includes(Reader *reader, KlXmlNode *parent) {
    for (KlXmlNode *node = parent->child; node != NULL; node = node->next) {
        if (strcmp(node->name, "include") == 0) {
            KL_TRY(include_file(reader, node));
        }
        KL_TRY(expand_includes(reader, node));
    }
    return KL_OK;
}

static KlStatus include_file(Reader *reader, KlXmlNode *node) {
    const char *file;
    char path[1024], *data = NULL;
    size_t size;
    KL_TRY(kl_xml_need(node, "file", &file));
    snprintf(path, sizeof path, "%s%.500s", reader->folder, file);
    for (int32_t i = 0; i < reader->include_count; i++) {
        if (strcmp(reader->includes[i], path) == 0) {
            return kl_xml_fail(node, "\"%.200s\" is included twice or includes itself", path);
        }
    }
    if (reader->include_count == MAX_INCLUDES) {
        return kl_xml_fail(node, "more than %d included files", (int)MAX_INCLUDES);
    }
    const KlFiles *files = reader->mechanism->files;
    KlStatus status = files->read(files->context, path, &data, &size);
    if (status != KL_OK) {
        return kl_xml_fail(node, "cannot read \"%.200s\" (%s)", path, kl_status_name(status));
    }
    KlXmlNode *root = NULL;
    char *copy = kl_arena_text(reader->mechanism->arena, path);
    status = copy != NULL ? kl_xml_parse(data, size, copy, reader->mechanism->arena, &root)
                          : kl_fail(KL_ERR_MEMORY, "out of memory");
    files->release(files->context, data);
    KL_TRY(status);
    reader->includes[reader->include_count++] = copy;
    node->name = "included";  // a neutral holder: its children are spliced in after it
    KlXmlNode *last = NULL;
    for (KlXmlNode *child = root->child; child != NULL; child = child->next) {
        child->parent = node->parent;
        last = child;
    }
    if (last != NULL) {
        last->next = node->next;
        node->next = root->child;
    }
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- geoms

static const KlXmlNode *find_asset(const Reader *reader, const char *kind, const char *name) {
    for (int32_t a = 0; a < reader->asset_count; a++) {
        for (const KlXmlNode *node = kl_xml_child(reader->asset[a], kind); node != NULL;
             node = kl_xml_sibling(node, kind)) {
            const char *own = kl_xml_get(node, "name"), *file = kl_xml_get(node, "file");
            if (own != NULL ? strcmp(own, name) == 0
                            : file != NULL && strncmp(file, name, strlen(name)) == 0 && file[strlen(name)] == '.') {
                return node;
            }
        }
    }
    return NULL;
}

static KlStatus load_mesh(Reader *reader, const KlXmlNode *geom, const char *name, int32_t *mesh) {
    const KlXmlNode *asset = find_asset(reader, "mesh", name);
    *mesh = -1;
    if (asset == NULL) {
        return kl_xml_fail(geom, "there is no mesh \"%.80s\"", name);
    }
    Element element;
    KL_TRY(make_element(reader, asset, "mesh", NULL, &element));
    const char *file = get(&element, "file");
    double scale[3] = {1.0, 1.0, 1.0};
    KL_TRY(numbers(&element, "scale", 3, 3, scale, NULL));
    if (file == NULL) {
        kl_mechanism_note(reader->mechanism, asset, true, "a mesh without a file is left out");
        return KL_OK;
    }
    *mesh = kl_mechanism_load_mesh(reader->mechanism, asset, file, reader->mesh_folder, scale);
    return KL_OK;
}

typedef struct GeomType {
    const char *name;
    KlGeomKind kind;
    int32_t sizes;
} GeomType;
static const GeomType geom_types[] = {
    {"sphere", KL_GEOM_SPHERE, 1},     {"box", KL_GEOM_BOX, 3},     {"capsule", KL_GEOM_CAPSULE, 2},
    {"cylinder", KL_GEOM_CYLINDER, 2}, {"plane", KL_GEOM_PLANE, 0}, {"mesh", KL_GEOM_CONVEX, 0},
};

// fromto: the segment that a capsule, cylinder or box runs along.
static KlStatus read_fromto(const Element *element, KlGeomDef *def, double *half, bool *found) {
    double ends[6], along[3];
    int32_t read;
    KL_TRY(numbers(element, "fromto", 6, 6, ends, &read));
    *found = read == 6;
    if (*found) {
        kl_sub3(ends + 3, ends, along);
        *half = 0.5 * kl_norm3(along);
        if (!(*half > 0.0)) {
            return kl_xml_fail(element->node, "fromto: the two points are the same");
        }
        for (int32_t k = 0; k < 3; k++) {
            def->pose[k] = 0.5 * (ends[k] + ends[3 + k]);
        }
        kl_frame_with_z(along, def->pose + 3);
    }
    return KL_OK;
}

static KlStatus read_size(const Element *element, const GeomType *type, KlGeomDef *def) {
    double size[3] = {0.0}, half = 0.0;
    int32_t read;
    bool from_to;
    KL_TRY(numbers(element, "size", 0, 3, size, &read));
    KL_TRY(read_fromto(element, def, &half, &from_to));
    int32_t needed = from_to ? 1 : type->sizes;
    if (read < needed) {
        return kl_xml_fail(element->node, "size of a %s needs %d numbers (got %d)", type->name, (int)needed, (int)read);
    }
    if (type->kind == KL_GEOM_BOX) {
        size[1] = from_to ? size[0] : size[1];
        size[2] = from_to ? half : size[2];
        kl_scale3(2.0, size, def->size);
    } else if (type->kind != KL_GEOM_PLANE) {
        def->size[0] = size[0];
        def->size[1] = 2.0 * (from_to ? half : size[1]);
    }
    return KL_OK;
}

static KlStatus read_bits(const Element *element, const char *attribute, uint32_t *bits) {
    double value = (double)*bits;
    KL_TRY(numbers(element, attribute, 1, 1, &value, NULL));
    if (value < 0.0 || value > 2147483647.0) {
        return kl_xml_fail(element->node, "%s must be a 31-bit mask (got %g)", attribute, value);
    }
    *bits = (uint32_t)value;
    return KL_OK;
}

static KlStatus read_geom(Reader *reader, const KlXmlNode *node, int32_t link, const char *child_class) {
    KlMechanism *mechanism = reader->mechanism;
    Element element;
    KL_TRY(make_element(reader, node, "geom", child_class, &element));
    const char *type_name = get(&element, "type"), *mesh_name = get(&element, "mesh");
    type_name = type_name != NULL ? type_name : mesh_name != NULL ? "mesh" : "sphere";
    const GeomType *type = NULL;
    for (size_t i = 0; i < sizeof geom_types / sizeof geom_types[0]; i++) {
        type = strcmp(geom_types[i].name, type_name) == 0 ? &geom_types[i] : type;
    }
    if (type == NULL) {
        kl_mechanism_note(mechanism, node, true, "a geom of type \"%.40s\" is left out", type_name);
        return KL_OK;
    }
    KlImportGeom made = {.node = node, .link = link, .density = 1000.0, .type = 1, .affinity = 1};
    KlGeomDef *def = &made.def;
    kl_default_geom_def(def);
    def->kind = type->kind;
    made.counts = type->kind != KL_GEOM_PLANE;
    double friction[3] = {1.0, 0.0, 0.0}, rgba[4] = {0.0};
    int32_t has_mass;
    KL_TRY(read_pose(reader, &element, def->pose));
    KL_TRY(read_size(&element, type, def));
    KL_TRY(numbers(&element, "friction", 1, 3, friction, NULL));
    KL_TRY(numbers(&element, "rgba", 4, 4, rgba, NULL));
    KL_TRY(numbers(&element, "density", 1, 1, &made.density, NULL));
    KL_TRY(numbers(&element, "mass", 1, 1, &made.mass, &has_mass));
    if (has_mass > 0 && made.mass < 0.0) {
        return kl_xml_fail(node, "mass must be >= 0 (got %g)", made.mass);
    }
    if (made.density < 0.0) {
        return kl_xml_fail(node, "density must be >= 0 (got %g)", made.density);
    }
    made.density = has_mass > 0 && made.mass == 0.0 ? 0.0 : made.density;
    KL_TRY(read_bits(&element, "contype", &made.type));
    KL_TRY(read_bits(&element, "conaffinity", &made.affinity));
    if (!(friction[0] >= 0.0 && friction[0] <= 1e6)) {
        return kl_xml_fail(node, "friction must be in [0, 1e6] (got %g)", friction[0]);
    }
    def->friction = friction[0];
    for (int32_t k = 0; k < 4; k++) {
        def->color[k] = (float)fmin(fmax(rgba[k], 0.0), 1.0);
    }
    made.collides = made.type != 0 || made.affinity != 0;
    def->visual_only = !made.collides;
    def->name = kl_xml_get(node, "name");
    if (type->kind == KL_GEOM_CONVEX) {
        int32_t mesh = -1;
        if (mesh_name == NULL) {
            return kl_xml_fail(node, "type=\"mesh\" needs the attribute \"mesh\"");
        }
        KL_TRY(load_mesh(reader, node, mesh_name, &mesh));
        if (!kl_mechanism_use_mesh(mechanism, mesh, &made)) {
            return KL_OK;
        }
    }
    if (!kl_mechanism_has_size(mechanism, &made)) {
        return KL_OK;
    }
    KlImportGeom *geom = kl_mechanism_add_geom(mechanism);
    if (geom == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    *geom = made;
    return KL_OK;
}

// --------------------------------------------------------------------------------------- bodies

static const char *made_name(Reader *reader, const char *prefix) {
    char name[48];
    snprintf(name, sizeof name, "%s_%d", prefix, (int)++reader->made);
    return kl_arena_text(reader->mechanism->arena, name);
}

static KlStatus add_link(Reader *reader, const KlXmlNode *node, const char *name, const double pose[7],
                         int32_t *index) {
    KlImportLink *link = kl_mechanism_add_link(reader->mechanism);
    KlImportFrame *frame = kl_mechanism_add_frame(reader->mechanism);
    if (link == NULL || frame == NULL || name == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    *index = reader->mechanism->link_count - 1;
    *link = (KlImportLink){.name = name, .node = node, .into = -1, .into_pose = {0, 0, 0, 1, 0, 0, 0}};
    memcpy(link->pose, pose, sizeof link->pose);
    *frame = (KlImportFrame){.name = name, .link = *index, .pose = {0, 0, 0, 1, 0, 0, 0}};
    return KL_OK;
}

static KlStatus read_inertial(Reader *reader, const KlXmlNode *node, KlImportLink *link) {
    Element element = {.node = node, .tag = "inertial"};
    double pose[7], diagonal[3] = {0.0}, full[6], rotation[9], half[9];
    int32_t has_diagonal, has_full;
    const char *mass;
    KL_TRY(kl_xml_need(node, "mass", &mass));
    KL_TRY(kl_xml_numbers(node, "mass", 1, 1, &link->mass, NULL));
    KL_TRY(read_pose(reader, &element, pose));
    KL_TRY(kl_xml_numbers(node, "diaginertia", 3, 3, diagonal, &has_diagonal));
    KL_TRY(kl_xml_numbers(node, "fullinertia", 6, 6, full, &has_full));
    if (link->mass < 0.0) {
        return kl_xml_fail(node, "mass must be >= 0 (got %g)", link->mass);
    }
    if (has_diagonal == 0 && has_full == 0) {
        return kl_xml_fail(node, "needs diaginertia or fullinertia");
    }
    double own[9] = {diagonal[0], 0, 0, 0, diagonal[1], 0, 0, 0, diagonal[2]};
    if (has_full > 0) {  // xx yy zz xy xz yz
        const double given[9] = {full[0], full[3], full[4], full[3], full[1], full[5], full[4], full[5], full[2]};
        memcpy(own, given, sizeof own);
    }
    kl_quat_to_mat3(pose + 3, rotation);
    kl_mat3_mul(rotation, own, half);
    kl_mat3_mul_t(half, rotation, link->inertia);
    kl_copy3(pose, link->centre);
    link->has_inertial = true;
    return KL_OK;
}

static KlStatus joint_kind(const KlXmlNode *node, const char *type, KlJointKind *kind) {
    if (type == NULL || strcmp(type, "hinge") == 0) {
        *kind = KL_JOINT_REVOLUTE;
    } else if (strcmp(type, "slide") == 0) {
        *kind = KL_JOINT_PRISMATIC;
    } else if (strcmp(type, "ball") == 0) {
        *kind = KL_JOINT_SPHERICAL;
    } else {
        return kl_xml_fail(node, "unknown joint type \"%.40s\": hinge, slide, ball and free are known", type);
    }
    return KL_OK;
}

static KlStatus add_slot(Reader *reader, int32_t link, int32_t joint, double reference) {
    if (reader->slot_count == reader->slot_capacity) {
        int32_t larger = reader->slot_capacity > 0 ? 2 * reader->slot_capacity : 64;
        Slot *slots = KL_ARENA_ARRAY(reader->mechanism->arena, Slot, larger);
        KL_TRY(kl_arena_check(reader->mechanism->arena));
        if (reader->slot_count > 0) {
            memcpy(slots, reader->slots, (size_t)reader->slot_count * sizeof *slots);
        }
        reader->slots = slots;
        reader->slot_capacity = larger;
    }
    reader->slots[reader->slot_count++] = (Slot){link, joint, reference};
    return KL_OK;
}

static KlStatus joint_limits(Reader *reader, const Element *element, double reference, KlImportJoint *joint) {
    double range[2] = {0.0}, force[2] = {0.0}, damping = 0.0, armature = 0.0, other = 0.0;
    int32_t has_range, has_force;
    KL_TRY(numbers(element, "range", 2, 2, range, &has_range));
    KL_TRY(numbers(element, "actuatorfrcrange", 2, 2, force, &has_force));
    KL_TRY(numbers(element, "damping", 1, 1, &damping, NULL));
    KL_TRY(numbers(element, "armature", 1, 1, &armature, NULL));
    bool limited = reader->auto_limits && has_range == 2;
    KL_TRY(kl_xml_bool(holder(element, "limited"), "limited", limited, &limited));
    for (int32_t i = 0; i < 6; i++) {
        joint->lower[i] = -INFINITY;
        joint->upper[i] = INFINITY;
        joint->effort_limit[i] = has_force == 2 && force[1] > 0.0 ? force[1] : INFINITY;
        joint->damping[i] = fmax(damping, 0.0);
        joint->armature[i] = fmax(armature, 0.0);
    }
    bool angular = joint->kind == KL_JOINT_REVOLUTE;
    if (limited && joint->kind != KL_JOINT_SPHERICAL) {
        joint->lower[0] = (angular ? angle(reader, range[0]) : range[0]) - reference;
        joint->upper[0] = (angular ? angle(reader, range[1]) : range[1]) - reference;
        if (joint->lower[0] > joint->upper[0]) {
            return kl_xml_fail(element->node, "range: %g is above %g", range[0], range[1]);
        }
    } else if (limited) {
        kl_mechanism_note(reader->mechanism, element->node, true, "the cone limit of a ball joint is not carried over");
    }
    static const char *const lost[] = {"stiffness", "frictionloss"};
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        KL_TRY(numbers(element, lost[i], 1, 2, (double[2]){0.0}, NULL));
        other = 0.0;
        KL_TRY(numbers(element, lost[i], 1, 1, &other, NULL));
        if (other != 0.0) {
            kl_mechanism_note(reader->mechanism, element->node, true, "%s %g is not carried over", lost[i], other);
        }
    }
    return KL_OK;
}

// A joint of the body `child` (world pose `pose`), hung on `parent`.
static KlStatus read_joint(Reader *reader, const KlXmlNode *node, int32_t parent, int32_t child,
                           const char *child_class) {
    KlMechanism *mechanism = reader->mechanism;
    Element element;
    KL_TRY(make_element(reader, node, "joint", child_class, &element));
    KlJointKind kind = KL_JOINT_REVOLUTE;
    KL_TRY(joint_kind(node, get(&element, "type"), &kind));
    double axis[3] = {0.0, 0.0, 1.0}, anchor[3] = {0.0}, world[7];
    KL_TRY(numbers(&element, "axis", 3, 3, axis, NULL));
    KL_TRY(numbers(&element, "pos", 3, 3, anchor, NULL));
    if (kind != KL_JOINT_SPHERICAL && kl_norm3(axis) < 1e-9) {
        return kl_xml_fail(node, "axis must not be zero");
    }
    KlImportJoint *joint = kl_mechanism_add_joint(mechanism);
    KlImportFrame *frame = kl_mechanism_add_frame(mechanism);
    if (joint == NULL || frame == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    const char *name = kl_xml_get(node, "name");
    *joint = (KlImportJoint){.name = name != NULL ? name : made_name(reader, "joint"),
                             .node = node,
                             .kind = kind,
                             .parent = parent,
                             .child = child};
    *frame = (KlImportFrame){.name = joint->name, .link = child, .pose = {0, 0, 0, 1, 0, 0, 0}};
    kl_copy3(anchor, joint->child_frame);
    kl_frame_with_x(axis, joint->child_frame + 3);
    kl_pose_mul(mechanism->links[child].pose, joint->child_frame, world);
    kl_pose_relative(mechanism->links[parent].pose, world, joint->parent_frame);
    double reference = 0.0;
    KL_TRY(numbers(&element, "ref", 1, 1, &reference, NULL));
    reference = kind == KL_JOINT_REVOLUTE ? angle(reader, reference) : reference;
    KL_TRY(add_slot(reader, -1, mechanism->joint_count - 1, reference));
    return joint_limits(reader, &element, reference, joint);
}

static bool is_free(const KlXmlNode *node) {
    const char *type = kl_xml_get(node, "type");
    return strcmp(node->name, "freejoint") == 0 ||
           (strcmp(node->name, "joint") == 0 && type != NULL && strcmp(type, "free") == 0);
}

// Several joints of one body are a chain through massless links, which reduction composes again.
static KlStatus read_joints(Reader *reader, const KlXmlNode *body, int32_t parent, int32_t link,
                            const char *child_class) {
    KlMechanism *mechanism = reader->mechanism;
    int32_t left = 0, from = parent;
    for (const KlXmlNode *node = body->child; node != NULL; node = node->next) {
        if (is_free(node)) {
            mechanism->links[link].floating = true;
            reader->free_joint_seen = true;
            return add_slot(reader, link, -1, 0.0);
        }
        left += strcmp(node->name, "joint") == 0;
    }
    if (left == 0) {
        KlImportJoint *joint = kl_mechanism_add_joint(mechanism);
        if (joint == NULL) {
            return kl_fail(KL_ERR_MEMORY, "out of memory");
        }
        *joint = (KlImportJoint){.name = made_name(reader, "weld"),
                                 .node = body,
                                 .kind = KL_JOINT_FIXED,
                                 .parent = parent,
                                 .child = link,
                                 .child_frame = {0, 0, 0, 1, 0, 0, 0}};
        kl_pose_relative(mechanism->links[parent].pose, mechanism->links[link].pose, joint->parent_frame);
        return KL_OK;
    }
    for (const KlXmlNode *node = kl_xml_child(body, "joint"); node != NULL; node = kl_xml_sibling(node, "joint")) {
        int32_t to = link;
        if (--left > 0) {
            KL_TRY(add_link(reader, node, made_name(reader, "between"), mechanism->links[link].pose, &to));
        }
        KL_TRY(read_joint(reader, node, from, to, child_class));
        from = to;
    }
    return KL_OK;
}

static KlStatus read_children(Reader *reader, const KlXmlNode *parent, int32_t link, const double frame[7],
                              const char *child_class);

static KlStatus read_body(Reader *reader, const KlXmlNode *node, int32_t parent, const double frame[7],
                          const char *child_class) {
    KlMechanism *mechanism = reader->mechanism;
    Element element = {.node = node, .tag = "body"};
    double local[7], in_parent[7], world[7];
    const char *own_class = kl_xml_get(node, "childclass"), *name = kl_xml_get(node, "name");
    child_class = own_class != NULL ? own_class : child_class;
    KL_TRY(read_pose(reader, &element, local));
    kl_pose_mul(frame, local, in_parent);
    kl_pose_mul(mechanism->links[parent].pose, in_parent, world);
    if (name != NULL && kl_mechanism_find_link(mechanism, name) >= 0) {
        return kl_xml_fail(node, "a body of this name stands above");
    }
    int32_t link;
    KL_TRY(add_link(reader, node, name != NULL ? name : made_name(reader, "body"), world, &link));
    const KlXmlNode *inertial = kl_xml_child(node, "inertial");
    if (inertial != NULL) {
        KL_TRY(read_inertial(reader, inertial, &mechanism->links[link]));
    }
    KL_TRY(read_joints(reader, node, parent, link, child_class));
    return read_children(reader, node, link, (const double[7]){0, 0, 0, 1, 0, 0, 0}, child_class);
}

// Geoms move with the frame they stand in; frames only transform.
static KlStatus read_geom_in(Reader *reader, const KlXmlNode *node, int32_t link, const double frame[7],
                             const char *child_class) {
    int32_t before = reader->mechanism->geom_count;
    KL_TRY(read_geom(reader, node, link, child_class));
    if (reader->mechanism->geom_count > before) {
        double *pose = reader->mechanism->geoms[before].def.pose, moved[7];
        kl_pose_mul(frame, pose, moved);
        memcpy(pose, moved, sizeof moved);
    }
    return KL_OK;
}

static KlStatus read_site(Reader *reader, const KlXmlNode *node, int32_t link, const double frame[7]) {
    Element element;
    const char *name = kl_xml_get(node, "name");
    KL_TRY(make_element(reader, node, "site", NULL, &element));
    KlImportFrame *site = name != NULL ? kl_mechanism_add_frame(reader->mechanism) : NULL;
    if (site != NULL) {
        double local[7];
        KL_TRY(read_pose(reader, &element, local));
        *site = (KlImportFrame){.name = name, .link = link};
        kl_pose_mul(frame, local, site->pose);
    }
    return KL_OK;
}

static KlStatus read_children(Reader *reader, const KlXmlNode *parent, int32_t link, const double frame[7],
                              const char *child_class) {
    for (const KlXmlNode *node = parent->child; node != NULL; node = node->next) {
        if (strcmp(node->name, "geom") == 0) {
            KL_TRY(read_geom_in(reader, node, link, frame, child_class));
        } else if (strcmp(node->name, "body") == 0) {
            KL_TRY(read_body(reader, node, link, frame, child_class));
        } else if (strcmp(node->name, "site") == 0) {
            KL_TRY(read_site(reader, node, link, frame));
        } else if (strcmp(node->name, "frame") == 0) {
            Element element = {.node = node, .tag = "frame"};
            double local[7], inner[7];
            const char *own_class = kl_xml_get(node, "childclass");
            KL_TRY(read_pose(reader, &element, local));
            kl_pose_mul(frame, local, inner);
            KL_TRY(read_children(reader, node, link, inner, own_class != NULL ? own_class : child_class));
        } else if (strcmp(node->name, "attach") == 0 || strcmp(node->name, "composite") == 0 ||
                   strcmp(node->name, "flexcomp") == 0 || strcmp(node->name, "replicate") == 0) {
            kl_mechanism_note(reader->mechanism, node, true, "<%s> is not carried over", node->name);
        }
    }
    return KL_OK;
}

// ------------------------------------------------------------------------------------ equalities

static KlStatus find_body(const Reader *reader, const KlXmlNode *node, const char *attribute, bool required,
                          int32_t *link) {
    const char *name = kl_xml_get(node, attribute);
    *link = 0;  // the world
    if (name == NULL) {
        return required ? kl_xml_fail(node, "lacks the attribute \"%s\"", attribute) : KL_OK;
    }
    *link = strcmp(name, "world") == 0 ? 0 : kl_mechanism_find_link(reader->mechanism, name);
    return *link >= 0 ? KL_OK : kl_xml_fail(node, "there is no body \"%.80s\"", name);
}

static KlStatus read_closure(Reader *reader, const KlXmlNode *node) {
    KlMechanism *mechanism = reader->mechanism;
    bool weld = strcmp(node->name, "weld") == 0;
    int32_t a, b;
    double frame_a[7] = {0, 0, 0, 1, 0, 0, 0}, frame_b[7] = {0, 0, 0, 1, 0, 0, 0}, world[7];
    const char *site_a = kl_xml_get(node, "site1"), *site_b = kl_xml_get(node, "site2");
    if (site_a != NULL && site_b != NULL) {
        int32_t fa = kl_mechanism_find_frame(mechanism, site_a), fb = kl_mechanism_find_frame(mechanism, site_b);
        if (fa < 0 || fb < 0) {
            return kl_xml_fail(node, "there is no site \"%.80s\"", fa < 0 ? site_a : site_b);
        }
        a = mechanism->frames[fa].link;
        b = mechanism->frames[fb].link;
        memcpy(frame_a, mechanism->frames[fa].pose, sizeof frame_a);
        memcpy(frame_b, mechanism->frames[fb].pose, sizeof frame_b);
    } else {
        double relative[7] = {0.0};
        int32_t has_relative = 0;
        KL_TRY(find_body(reader, node, "body1", true, &a));
        KL_TRY(find_body(reader, node, "body2", false, &b));
        // connect: the anchor is in body1; weld: in body2, whose pose in body1 is relpose or the start's.
        KL_TRY(kl_xml_numbers(node, "anchor", 3, 3, weld ? frame_b : frame_a, NULL));
        KL_TRY(kl_xml_numbers(node, "relpose", 7, 7, relative, &has_relative));
        bool given = weld && has_relative == 7 && relative[3] * relative[3] + kl_dot3(relative + 4, relative + 4) > 0.0;
        if (given) {
            kl_quat_normalize(relative + 3);
            kl_pose_mul(relative, frame_b, frame_a);
        } else if (weld) {
            kl_pose_mul(mechanism->links[b].pose, frame_b, world);
            kl_pose_relative(mechanism->links[a].pose, world, frame_a);
        } else {
            kl_pose_mul(mechanism->links[a].pose, frame_a, world);
            kl_pose_relative(mechanism->links[b].pose, world, frame_b);
        }
    }
    bool active = true;
    KL_TRY(kl_xml_bool(node, "active", true, &active));
    if (!active) {
        kl_mechanism_note(mechanism, node, true, "an inactive equality is left out");
        return KL_OK;
    }
    const char *name = kl_xml_get(node, "name");
    KlImportJoint *joint = kl_mechanism_add_joint(mechanism);
    if (joint == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    *joint = (KlImportJoint){.name = name != NULL ? name : made_name(reader, node->name),
                             .node = node,
                             .kind = weld ? KL_JOINT_FIXED : KL_JOINT_SPHERICAL,
                             .parent = a,
                             .child = b,
                             .closure = true};
    memcpy(joint->parent_frame, frame_a, sizeof frame_a);
    memcpy(joint->child_frame, frame_b, sizeof frame_b);
    for (int32_t k = 0; k < 6; k++) {
        joint->lower[k] = -INFINITY;
        joint->upper[k] = INFINITY;
        joint->effort_limit[k] = INFINITY;
    }
    return KL_OK;
}

static KlStatus read_equality(Reader *reader, const KlXmlNode *section) {
    for (const KlXmlNode *node = section->child; node != NULL; node = node->next) {
        if (strcmp(node->name, "connect") == 0 || strcmp(node->name, "weld") == 0) {
            KL_TRY(read_closure(reader, node));
        } else {
            const char *one = kl_xml_get(node, "joint1"), *other = kl_xml_get(node, "joint2");
            kl_mechanism_note(reader->mechanism, node, true, "equality <%s>%s%.60s%s%.60s is not carried over",
                              node->name, one != NULL ? " of " : "", one != NULL ? one : "",
                              other != NULL ? " and " : "", other != NULL ? other : "");
        }
    }
    return KL_OK;
}

static KlStatus find_geom(const Reader *reader, const KlXmlNode *node, const char *attribute, int32_t *geom) {
    const char *name;
    KL_TRY(kl_xml_need(node, attribute, &name));
    *geom = -1;
    for (int32_t g = 0; g < reader->mechanism->geom_count; g++) {
        const char *other = reader->mechanism->geoms[g].def.name;
        *geom = other != NULL && strcmp(other, name) == 0 ? g : *geom;
    }
    return KL_OK;
}

static KlStatus read_pair(Reader *reader, const KlXmlNode *node) {
    KlMechanism *mechanism = reader->mechanism;
    Element element;
    int32_t a, b;
    double friction[5] = {-1.0, 0.0, 0.0, 0.0, 0.0};
    KL_TRY(make_element(reader, node, "pair", NULL, &element));
    KL_TRY(find_geom(reader, node, "geom1", &a));
    KL_TRY(find_geom(reader, node, "geom2", &b));
    KL_TRY(numbers(&element, "friction", 1, 5, friction, NULL));
    if (a < 0 || b < 0 || a == b) {
        kl_mechanism_note(mechanism, node, true, "names no two geoms of the scene: left out");
        return KL_OK;
    }
    KlImportContact *contact = kl_mechanism_add_contact(mechanism);
    if (contact == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    *contact = (KlImportContact){node, a, b, fmin(friction[0], 1e6)};
    mechanism->geoms[a].def.visual_only = mechanism->geoms[b].def.visual_only = false;
    mechanism->geoms[a].collides = mechanism->geoms[b].collides = true;
    return KL_OK;
}

static KlStatus read_exclude(Reader *reader, const KlXmlNode *node) {
    int32_t a, b;
    KL_TRY(find_body(reader, node, "body1", true, &a));
    KL_TRY(find_body(reader, node, "body2", true, &b));
    KlImportPair *pair = kl_mechanism_add_exclude(reader->mechanism);
    if (pair == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    *pair = (KlImportPair){.link_a = a, .link_b = b};
    return KL_OK;
}

static KlStatus read_contact(Reader *reader, const KlXmlNode *section) {
    for (const KlXmlNode *node = section->child; node != NULL; node = node->next) {
        if (strcmp(node->name, "exclude") == 0) {
            KL_TRY(read_exclude(reader, node));
        } else if (strcmp(node->name, "pair") == 0) {
            KL_TRY(read_pair(reader, node));
        } else {
            kl_mechanism_note(reader->mechanism, node, true, "contact <%s> is not carried over", node->name);
        }
    }
    return KL_OK;
}

// ------------------------------------------------------------------------------------- actuators

static KlStatus read_actuator(Reader *reader, const KlXmlNode *node) {
    KlMechanism *mechanism = reader->mechanism;
    Element element;
    KL_TRY(make_element(reader, node, node->name, NULL, &element));
    const char *name = get(&element, "joint");
    KlImportJoint *joint = NULL;
    for (int32_t j = 0; name != NULL && j < mechanism->joint_count; j++) {
        joint = strcmp(mechanism->joints[j].name, name) == 0 ? &mechanism->joints[j] : joint;
    }
    if (joint == NULL) {
        kl_mechanism_note(mechanism, node, true,
                          name != NULL ? "drives no known joint" : "drives no joint: not carried over");
        return KL_OK;
    }
    joint->actuated = true;
    double kp = 1.0, kv = 0.0, range[2] = {0.0};
    int32_t has_force;
    KL_TRY(numbers(&element, "forcerange", 2, 2, range, &has_force));
    if (strcmp(node->name, "position") == 0) {
        KL_TRY(numbers(&element, "kp", 1, 1, &kp, NULL));
        KL_TRY(numbers(&element, "kv", 1, 1, &kv, NULL));
        joint->kp[0] = kp;
        joint->kd[0] = kv;
    } else if (strcmp(node->name, "velocity") == 0) {
        kv = 1.0;
        KL_TRY(numbers(&element, "kv", 1, 1, &kv, NULL));
        joint->kd[0] = kv;
    } else if (strcmp(node->name, "motor") == 0) {
        if (has_force == 0) {
            KL_TRY(numbers(&element, "ctrlrange", 2, 2, range, &has_force));
        }
    } else {
        kl_mechanism_note(mechanism, node, false, "<%s> is taken as a plain motor", node->name);
    }
    if (has_force == 2 && range[1] > 0.0) {
        joint->effort_limit[0] = range[1];
    }
    return KL_OK;
}

// ----------------------------------------------------------------------------------------- keyframe

// Enough for the largest models that are simulated here.
enum { MAX_QPOS = 4096 };

static KlStatus unit_quaternion(const KlXmlNode *key, const double *from, double q[4]) {
    memcpy(q, from, 4 * sizeof *q);
    if (q[0] * q[0] + kl_dot3(q + 1, q + 1) < 1e-12) {
        return kl_xml_fail(key, "qpos holds a quaternion that is zero");
    }
    kl_quat_normalize(q);
    return KL_OK;
}

// A ball's quaternion turns the child in the axes of its body; `motion` is in those of the joint frame.
static void ball_motion(const KlImportJoint *joint, const double q[4], double motion[7]) {
    double back[4], half[4];
    kl_quat_conjugate(joint->child_frame + 3, back);
    kl_quat_mul(back, q, half);
    kl_quat_mul(half, joint->child_frame + 3, motion + 3);
}

// Takes one slot's numbers from `qpos`; returns how many in `used`.
static KlStatus apply_slot(Reader *reader, const KlXmlNode *key, const Slot *slot, const double *qpos, int32_t *used) {
    double q[4];
    if (slot->joint < 0) {
        KlImportLink *link = &reader->mechanism->links[slot->link];
        KL_TRY(unit_quaternion(key, qpos + 3, q));
        kl_copy3(qpos, link->start);
        memcpy(link->start + 3, q, sizeof q);
        link->has_start = true;
        *used = 7;
        return KL_OK;
    }
    KlImportJoint *joint = &reader->mechanism->joints[slot->joint];
    double off = qpos[0] - slot->reference, motion[7] = {0, 0, 0, 1, 0, 0, 0};
    *used = joint->kind == KL_JOINT_SPHERICAL ? 4 : 1;
    if (joint->kind == KL_JOINT_SPHERICAL) {
        KL_TRY(unit_quaternion(key, qpos, q));
        ball_motion(joint, q, motion);
        off = kl_norm3(motion + 4);
    } else if (joint->kind == KL_JOINT_REVOLUTE) {
        kl_quat_exp((const double[3]){off, 0.0, 0.0}, motion + 3);
    } else {
        motion[0] = off;
    }
    joint->moved = off != 0.0;
    memcpy(joint->motion, motion, sizeof motion);
    return KL_OK;
}

static int32_t slot_size(const Reader *reader, const Slot *slot) {
    return slot->joint < 0 ? 7 : reader->mechanism->joints[slot->joint].kind == KL_JOINT_SPHERICAL ? 4 : 1;
}

static KlStatus apply_key(Reader *reader, const KlXmlNode *key) {
    int32_t wanted = 0, read, used;
    for (int32_t i = 0; i < reader->slot_count; i++) {
        wanted += slot_size(reader, &reader->slots[i]);
    }
    if (wanted > MAX_QPOS) {
        return kl_xml_fail(key, "more than %d coordinates", (int)MAX_QPOS);
    }
    double *qpos = KL_ARENA_ARRAY(reader->mechanism->arena, double, MAX_QPOS);
    KL_TRY(kl_arena_check(reader->mechanism->arena));
    KL_TRY(kl_xml_numbers(key, "qpos", 0, MAX_QPOS, qpos, &read));
    if (read != wanted) {
        kl_mechanism_note(reader->mechanism, key, true, "qpos has %d numbers, the joints read need %d: left out",
                          (int)read, (int)wanted);
        return KL_OK;
    }
    for (int32_t i = 0; i < reader->slot_count; i++, qpos += used) {
        KL_TRY(apply_slot(reader, key, &reader->slots[i], qpos, &used));
    }
    kl_mechanism_note(reader->mechanism, key, false, "the scene starts in this keyframe");
    return KL_OK;
}

// The chosen key with a qpos is where the scene starts; what else keys hold is told.
static KlStatus read_keyframe(Reader *reader, const KlXmlNode *section) {
    static const char *const lost[] = {"qvel", "act", "ctrl", "mpos", "mquat"};
    for (const KlXmlNode *key = kl_xml_child(section, "key"); key != NULL; key = kl_xml_sibling(key, "key")) {
        reader->key_count++;
        if (reader->key_count != reader->mechanism->options->keyframe) {
            kl_mechanism_note(reader->mechanism, key, true, "keyframe %d is not the chosen start",
                              (int)reader->key_count);
            continue;
        }
        if (kl_xml_get(key, "qpos") != NULL) {
            KL_TRY(apply_key(reader, key));
        }
        for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
            if (kl_xml_get(key, lost[i]) != NULL) {
                kl_mechanism_note(reader->mechanism, key, true, "%s is not carried over", lost[i]);
            }
        }
    }
    return KL_OK;
}

static KlStatus read_tendon(Reader *reader, const KlXmlNode *section) {
    for (const KlXmlNode *node = section->child; node != NULL; node = node->next) {
        kl_mechanism_note(reader->mechanism, node, true, "a <%s> tendon is not carried over", node->name);
    }
    return KL_OK;
}

// ------------------------------------------------------------------------------------ the document

typedef struct Section {
    const char *name;
    KlStatus (*read)(Reader *reader, const KlXmlNode *section);
} Section;

static KlStatus read_actuators(Reader *reader, const KlXmlNode *section) {
    for (const KlXmlNode *node = section->child; node != NULL; node = node->next) {
        KL_TRY(read_actuator(reader, node));
    }
    return KL_OK;
}

static KlStatus read_asset(Reader *reader, const KlXmlNode *section) {
    if (reader->asset_count == (int32_t)(sizeof reader->asset / sizeof reader->asset[0])) {
        return kl_xml_fail(section, "more than %d <asset> sections", (int)reader->asset_count);
    }
    reader->asset[reader->asset_count++] = section;
    return KL_OK;
}

static KlStatus read_default(Reader *reader, const KlXmlNode *section) {
    reader->default_root = reader->default_root == NULL ? section : reader->default_root;
    return KL_OK;
}

static KlStatus read_worldbody(Reader *reader, const KlXmlNode *section) {
    return read_children(reader, section, 0, (const double[7]){0, 0, 0, 1, 0, 0, 0}, kl_xml_get(section, "childclass"));
}

// Sections in the order in which they must be read; a section may stand several times.
static const Section sections[] = {
    {"compiler", read_compiler},   {"option", read_option},     {"default", read_default}, {"asset", read_asset},
    {"worldbody", read_worldbody}, {"equality", read_equality}, {"contact", read_contact}, {"actuator", read_actuators},
    {"tendon", read_tendon},       {"keyframe", read_keyframe},
};
static const char *const harmless[] = {"included", "size", "visual", "statistic", "custom", "sensor"};

static void note_unknown(Reader *reader, const KlXmlNode *root) {
    for (const KlXmlNode *node = root->child; node != NULL; node = node->next) {
        bool known = false;
        for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
            known = known || strcmp(sections[i].name, node->name) == 0;
        }
        for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++) {
            known = known || strcmp(harmless[i], node->name) == 0;
        }
        if (!known) {
            kl_mechanism_note(reader->mechanism, node, true, "<%s> is not carried over", node->name);
        }
    }
}

static void scale_total_mass(const Reader *reader) {
    double total = 0.0;
    for (int32_t i = 0; i < reader->mechanism->link_count; i++) {
        total += reader->mechanism->links[i].mass;
    }
    double scale = reader->settle_mass > 0.0 && total > 0.0 ? reader->settle_mass / total : 1.0;
    for (int32_t i = 0; i < reader->mechanism->link_count && scale != 1.0; i++) {
        reader->mechanism->links[i].mass *= scale;
        for (int32_t k = 0; k < 9; k++) {
            reader->mechanism->links[i].inertia[k] *= scale;
        }
    }
}

KlStatus kl_mjcf_read(KlMechanism *mechanism, const KlXmlNode *root) {
    Reader reader = {.mechanism = mechanism, .degrees = true, .auto_limits = true, .euler = "xyz"};
    const char *slash = strrchr(mechanism->file, '/'), *name = kl_xml_get(root, "model");
    size_t length = slash != NULL ? (size_t)(slash - mechanism->file) + 1 : 0;
    if (length >= sizeof reader.folder) {
        return kl_fail_at(KL_ERR_LIMIT, &(KlPlace){.file = mechanism->file}, "path longer than 511 bytes");
    }
    memcpy(reader.folder, mechanism->file, length);
    memcpy(reader.mesh_folder, reader.folder, sizeof reader.folder);
    reader.includes[reader.include_count++] = mechanism->file;
    mechanism->name = name != NULL ? name : "mujoco";
    KL_TRY(expand_includes(&reader, (KlXmlNode *)root));
    int32_t world;
    KL_TRY(add_link(&reader, NULL, "world", (const double[7]){0, 0, 0, 1, 0, 0, 0}, &world));
    mechanism->links[world].is_world = true;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        for (const KlXmlNode *node = kl_xml_child(root, sections[i].name); node != NULL;
             node = kl_xml_sibling(node, sections[i].name)) {
            KL_TRY(sections[i].read(&reader, node));
        }
    }
    note_unknown(&reader, root);
    scale_total_mass(&reader);
    return KL_OK;
}
