// The choices of an import as a table.
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "kl.h"

#define CHOICE(id_, title_, text_, choices_, last) \
    { .id = id_, .title = title_, .unit = "", .text = text_, .kind = KL_PARAM_CHOICE, .max = last, .choices = choices_ }
#define FLAG(id_, title_, text_) \
    { .id = id_, .title = title_, .unit = "", .text = text_, .kind = KL_PARAM_BOOL, .max = 1.0, .choices = "" }
#define REAL(id_, title_, unit_, text_, initial_, min_, max_)                                                 \
    {                                                                                                         \
        .id = id_, .title = title_, .unit = unit_, .text = text_, .kind = KL_PARAM_REAL, .initial = initial_, \
        .min = min_, .max = max_, .log_scale = true, .choices = ""                                            \
    }

static const KlParam params[] = {
    CHOICE("base", "Base", "How the root stands; auto: URDF fixed, MJCF as its free joints say.", "auto|fixed|free", 2),
    CHOICE("motors", "Motors", "Driven joints hold the start pose, take efforts, or are passive.", "hold|force|passive",
           2),
    CHOICE("missing_mesh", "Missing meshes", "Left out, or a box with the link's mass and inertia.", "none|box", 1),
    FLAG("mesh_collision", "Exact mesh collision", "Triangle meshes collide as they are, not their convex hulls."),
    FLAG("self_collision", "Self collision", "The mechanism collides with itself, not with the world only."),
    FLAG("ground", "Ground", "A plane just below the start pose."),
    FLAG("keep_fixed", "Keep fixed joints", "Fixed joints stay joints; else their links are merged."),
    {.id = "decimate",
     .title = "Triangles of a mesh",
     .unit = "",
     .text = "Larger meshes are thinned out to about this many; 0: none is.",
     .kind = KL_PARAM_INT,
     .max = 2e6,
     .choices = ""},
    {.id = "keyframe",
     .title = "Keyframe",
     .unit = "",
     .text = "MJCF: the key to start in; 0: the file's own pose.",
     .kind = KL_PARAM_INT,
     .initial = 1.0,
     .max = 1000.0,
     .choices = ""},
    REAL("density", "Density", "kg/m^3", "For inertia from geometry.", 1000.0, 1e-3, 1e6),
    REAL("placeholder_mass", "Placeholder mass", "kg", "Given to moving links without mass.", 1e-3, 1e-9, 1e6),
};

enum { PARAM_COUNT = (int)(sizeof params / sizeof params[0]) };

int32_t kl_import_param_count(void) { return PARAM_COUNT; }

const KlParam *kl_import_param(int32_t index) { return index >= 0 && index < PARAM_COUNT ? &params[index] : NULL; }

// Where a member lies: one of the three kinds of pointers is set.
typedef struct Member {
    const char *id;
    bool *flag;
    double *real;
    int32_t *whole;
} Member;

static void assign(KlImportOptions *options, const char *id, double value) {
    int32_t base = (int32_t)options->base, motors = (int32_t)options->motors, missing = (int32_t)options->missing_mesh;
    const Member members[] = {
        {"base", .whole = &base},
        {"motors", .whole = &motors},
        {"missing_mesh", .whole = &missing},
        {"decimate", .whole = &options->decimate},
        {"keyframe", .whole = &options->keyframe},
        {"mesh_collision", .flag = &options->mesh_collision},
        {"self_collision", .flag = &options->self_collision},
        {"ground", .flag = &options->ground},
        {"keep_fixed", .flag = &options->keep_fixed},
        {"density", .real = &options->density},
        {"placeholder_mass", .real = &options->placeholder_mass},
    };
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const Member *member = &members[i];
        if (strcmp(member->id, id) != 0) {
            continue;
        }
        if (member->flag != NULL) {
            *member->flag = value != 0.0;
        } else if (member->real != NULL) {
            *member->real = value;
        } else {
            *member->whole = (int32_t)value;
        }
    }
    options->base = (KlImportBase)base;
    options->motors = (KlImportMotors)motors;
    options->missing_mesh = (KlImportMissing)missing;
}

KlStatus kl_import_options_set(KlImportOptions *options, const char *id, double value) {
    for (int32_t i = 0; i < PARAM_COUNT; i++) {
        const KlParam *param = &params[i];
        if (strcmp(param->id, id) != 0) {
            continue;
        }
        bool whole = param->kind == KL_PARAM_REAL || value == floor(value);
        if (!(whole && value >= param->min && value <= param->max)) {
            return kl_fail(KL_ERR_ARGUMENT, "import: %s must be%s in [%g, %g] (got %g)", id,
                           param->kind == KL_PARAM_REAL ? "" : " whole and", param->min, param->max, value);
        }
        assign(options, id, value);
        return KL_OK;
    }
    return kl_fail(KL_ERR_NOT_FOUND, "import: there is no option \"%.60s\"", id);
}

void kl_default_import_options(KlImportOptions *options) {
    *options = (KlImportOptions){0};
    for (int32_t i = 0; i < PARAM_COUNT; i++) {
        assign(options, params[i].id, params[i].initial);
    }
}
