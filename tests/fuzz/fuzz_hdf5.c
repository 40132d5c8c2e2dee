// Our HDF5 layout and FCLIB, object by object: a sound small file in which any object may have other
// values, another shape or type, or be missing. The library under test is ours, not HDF5, so the file's
// bytes are always HDF5's own (fuzz_hdf5_bytes is for the bytes). The file lives in shared memory.
#include "memory_file.h"

typedef enum Kind { INTS, REALS } Kind;

typedef struct Object {
    const char *path;
    Kind kind;
    int32_t count;
    double values[12];
} Object;

// One frictional contact each.
static const Object local[] = {
    {"/fclib_local/spacedim", INTS, 1, {3}},
    {"/fclib_local/W/m", INTS, 1, {3}},
    {"/fclib_local/W/n", INTS, 1, {3}},
    {"/fclib_local/W/nz", INTS, 1, {-2}},
    {"/fclib_local/W/nzmax", INTS, 1, {3}},
    {"/fclib_local/W/p", INTS, 4, {0, 1, 2, 3}},
    {"/fclib_local/W/i", INTS, 3, {0, 1, 2}},
    {"/fclib_local/W/x", REALS, 3, {1, 2, 3}},
    {"/fclib_local/V/m", INTS, 1, {3}},
    {"/fclib_local/V/n", INTS, 1, {1}},
    {"/fclib_local/V/nz", INTS, 1, {1}},
    {"/fclib_local/V/nzmax", INTS, 1, {1}},
    {"/fclib_local/V/p", INTS, 1, {0}},
    {"/fclib_local/V/i", INTS, 1, {1}},
    {"/fclib_local/V/x", REALS, 1, {0.5}},
    {"/fclib_local/R/m", INTS, 1, {1}},
    {"/fclib_local/R/n", INTS, 1, {1}},
    {"/fclib_local/R/nz", INTS, 1, {1}},
    {"/fclib_local/R/nzmax", INTS, 1, {1}},
    {"/fclib_local/R/p", INTS, 1, {0}},
    {"/fclib_local/R/i", INTS, 1, {0}},
    {"/fclib_local/R/x", REALS, 1, {2}},
    {"/fclib_local/vectors/q", REALS, 3, {-1, 0.2, 0}},
    {"/fclib_local/vectors/mu", REALS, 1, {0.5}},
    {"/fclib_local/vectors/s", REALS, 1, {0.1}},
};
static const Object global[] = {
    {"/fclib_global/spacedim", INTS, 1, {3}},
    {"/fclib_global/M/m", INTS, 1, {6}},
    {"/fclib_global/M/n", INTS, 1, {6}},
    {"/fclib_global/M/nz", INTS, 1, {6}},
    {"/fclib_global/M/nzmax", INTS, 1, {6}},
    {"/fclib_global/M/p", INTS, 6, {0, 1, 2, 3, 4, 5}},
    {"/fclib_global/M/i", INTS, 6, {0, 1, 2, 3, 4, 5}},
    {"/fclib_global/M/x", REALS, 6, {2, 2, 2, 1, 1, 1}},
    {"/fclib_global/H/m", INTS, 1, {6}},
    {"/fclib_global/H/n", INTS, 1, {3}},
    {"/fclib_global/H/nz", INTS, 1, {3}},
    {"/fclib_global/H/nzmax", INTS, 1, {3}},
    {"/fclib_global/H/p", INTS, 3, {0, 1, 2}},
    {"/fclib_global/H/i", INTS, 3, {2, 0, 1}},
    {"/fclib_global/H/x", REALS, 3, {1, 1, 1}},
    {"/fclib_global/vectors/f", REALS, 6, {0, 0, -1, 0, 0, 0}},
    {"/fclib_global/vectors/w", REALS, 3, {0, 0, 0}},
    {"/fclib_global/vectors/mu", REALS, 1, {0.5}},
};
// Ours: one joint row and one contact, in explicit form and in body form.
static const Object plain[] = {
    {"/s/c/p@n_d", INTS, 1, {4}},
    {"/s/c/p@n_jd", INTS, 1, {1}},
    {"/s/c/p@n_j", INTS, 1, {1}},
    {"/s/c/p@n_l", INTS, 1, {0}},
    {"/s/c/p@n_c", INTS, 1, {1}},
    {"/s/c/p@n_b", INTS, 1, {1}},
    {"/s/c/p@dt", REALS, 1, {0.001}},
    {"/s/c/p@rank", INTS, 1, {4}},
    {"/s/c/p@seed", INTS, 1, {7}},
    {"/s/c/p@r_nat_rel", REALS, 1, {0.0}},
    {"/s/c/p/i_j", INTS, 1, {0}},
    {"/s/c/p/mu", REALS, 1, {0.7}},
    {"/s/c/p/v_f", REALS, 4, {0, 0.1, 0.1, -1}},
    {"/s/c/p/softening", REALS, 4, {0, 0, 0, 0}},
    {"/s/c/p/lambda", REALS, 4, {0, 0, 0, 0.5}},
    {"/s/c/p/D/start", INTS, 5, {0, 1, 2, 3, 4}},
    {"/s/c/p/D/index", INTS, 4, {0, 1, 2, 3}},
    {"/s/c/p/D/value", REALS, 4, {1, 2, 2, 2}},
};
static const Object bodies[] = {
    {"/s/c/p@n_d", INTS, 1, {1}},
    {"/s/c/p@n_jd", INTS, 1, {0}},
    {"/s/c/p@n_j", INTS, 1, {0}},
    {"/s/c/p@n_l", INTS, 1, {1}},
    {"/s/c/p@n_c", INTS, 1, {0}},
    {"/s/c/p@n_b", INTS, 1, {1}},
    {"/s/c/p@dt", REALS, 1, {0.001}},
    {"/s/c/p/v_f", REALS, 1, {-1}},
    {"/s/c/p/mu", REALS, 0, {0}},
    {"/s/c/p/i_j", INTS, 0, {0}},
    {"/s/c/p/J/body", INTS, 2, {0, -1}},
    {"/s/c/p/J/value", REALS, 12, {1, 0, 0, 0, 0, 0}},
    {"/s/c/p/M/mass", REALS, 1, {2}},
    {"/s/c/p/M/inertia", REALS, 9, {1, 0, 0, 0, 1, 0, 0, 0, 1}},
    {"/s/c/p/M/inverse_mass", REALS, 1, {0.5}},
    {"/s/c/p/M/inverse_inertia", REALS, 9, {1, 0, 0, 0, 1, 0, 0, 0, 1}},
};

typedef struct Layout {
    const Object *objects;
    size_t count;
    bool ours;
} Layout;
#define LAYOUT(table, is_ours) \
    { table, sizeof table / sizeof table[0], is_ours }
static const Layout layouts[] = {LAYOUT(local, false), LAYOUT(global, false), LAYOUT(plain, true),
                                 LAYOUT(bodies, true)};

enum { MOST_VALUES = 40 };

static void make_parents(const H5File *file, const char *path) {
    char group[128];
    snprintf(group, sizeof group, "%s", path);
    char *last = strrchr(group, '/');
    if (last != group) {
        *last = '\0';
        CLAIM(h5_make_group(file, group) == KL_OK);
    }
}

static int32_t strange_int(FuzzInput *in) {
    static const int32_t special[] = {-1, -2, 0, 1, 2, 3, 4, 6, 1000000, 1000001, INT32_MAX, INT32_MIN};
    return special[fuzz_below(in, 12)];
}

// An integer datum; what no integer can be becomes 0.
static int64_t whole(double value, double bound) { return value >= -bound && value <= bound ? (int64_t)value : 0; }

static void write_dataset(const H5File *file, const char *path, Kind kind, const double *values, int32_t count) {
    int32_t ints[MOST_VALUES];
    for (int32_t i = 0; i < count; i++) {
        ints[i] = (int32_t)whole(values[i], 2147483647.0);
    }
    CLAIM((kind == INTS ? h5_write_ints(file, path, ints, count, 0) : h5_write_reals(file, path, values, count, 0)) ==
          KL_OK);
}

// "/group@name"
static void write_attribute(const H5File *file, const char *path, Kind kind, double value, bool text) {
    char group[128];
    snprintf(group, sizeof group, "%s", path);
    char *name = strchr(group, '@');
    *name++ = '\0';
    CLAIM(h5_make_group(file, group) == KL_OK);
    CLAIM((text           ? h5_set_text(file, group, name, "four")
           : kind == INTS ? h5_set_int(file, group, name, whole(value, 9e18))
                          : h5_set_real(file, group, name, value)) == KL_OK);
}

static void write_object(FuzzInput *in, const H5File *file, const Object *object) {
    uint8_t what = fuzz_byte(in);  // below 232: as it is
    double values[MOST_VALUES];
    memcpy(values, object->values, sizeof object->values);
    int32_t count = object->count;
    Kind kind = object->kind;
    if (what >= 232) {
        count = what < 240 ? count : fuzz_below(in, MOST_VALUES + 1);
        for (int32_t i = 0; i < count; i++) {
            values[i] = kind == INTS ? strange_int(in) : fuzz_any(in);
        }
        kind = what == 250 ? REALS : what == 251 ? INTS : kind;
    }
    if (what == 255) {
        return;
    }
    if (strchr(object->path, '@') != NULL) {
        write_attribute(file, object->path, kind, count > 0 ? values[0] : 0.0, what == 254);
        return;
    }
    make_parents(file, object->path);
    if (what == 254) {
        CLAIM(h5_write_text(file, object->path, "three") == KL_OK);
    } else if (what == 253) {
        CLAIM(h5_make_group(file, object->path) == KL_OK);
    } else {
        write_dataset(file, object->path, kind, values, count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FuzzInput in = {data, size, 0};
    const Layout *layout = &layouts[fuzz_below(&in, 4)];
    int descriptor = memory_file_reset();
    H5File file;
    CLAIM((layout->ours ? dataset_create(memory_file_path, &file) : h5_create(memory_file_path, &file)) == KL_OK);
    for (size_t i = 0; i < layout->count; i++) {
        write_object(&in, &file, &layout->objects[i]);
    }
    CLAIM(h5_finish(&file) == KL_OK);
    (void)descriptor;
    read_problems();
    return 0;
}
