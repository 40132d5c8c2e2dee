// HDF5 with our errors.
#include "h5.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/status.h"
#include "output.h"

enum { MAX_VALUES = 1 << 26 };  // of one dataset: 512 MiB of reals
enum { COMPRESS_FROM = 512 };   // values; smaller datasets stay as they are

static KlStatus fail_file(const char *path, KlStatus status, const char *what) {
    KlPlace place = {.file = path};
    return kl_fail_at(status, &place, "%s", what);
}

// --- opening --------------------------------------------------------------------------------------

// Every file is closed by its owner, so HDF5 need not do it at exit: there it reads freed memory when a
// close has failed on a full disk (HDF5 1.10, H5F__close_cb).
static void silence(void) {
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

bool h5_is_file(const char *path) {
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return false;
    }
    bool found = false;
    for (long at = 0; !found && at <= 1 << 20; at = at == 0 ? 512 : 2 * at) {
        unsigned char head[8];
        if (fseek(stream, at, SEEK_SET) != 0 || fread(head, 1, 8, stream) != 8) {
            break;
        }
        found = memcmp(head, signature, 8) == 0;
    }
    fclose(stream);
    return found;
}

KlStatus h5_open(const char *path, H5File *file) {
    silence();
    *file = (H5File){.id = -1};
    snprintf(file->path, sizeof file->path, "%s", path);
    struct stat info;
    if (stat(path, &info) != 0) {
        return fail_file(path, KL_ERR_IO, strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return fail_file(path, KL_ERR_IO, "is not a regular file");
    }
    if (!h5_is_file(path)) {
        return fail_file(path, KL_ERR_FORMAT, "is not an HDF5 file (no signature)");
    }
    file->id = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    return file->id >= 0
               ? KL_OK
               : fail_file(path, KL_ERR_FORMAT, "cannot be opened as HDF5: truncated, damaged or open for writing");
}

void h5_close(H5File *file) {
    if (file->id >= 0) {
        H5Fclose(file->id);
        file->id = -1;
    }
}

// --- objects --------------------------------------------------------------------------------------

// H5Lexists wants every parent to exist: ask for each prefix in turn.
bool h5_has(const H5File *file, const char *object) {
    if (strcmp(object, "/") == 0) {
        return true;
    }
    char prefix[512];
    for (const char *at = object;;) {
        at = strchr(at + 1, '/');
        size_t length = at != NULL ? (size_t)(at - object) : strlen(object);
        if (length >= sizeof prefix) {
            return false;
        }
        memcpy(prefix, object, length);
        prefix[length] = '\0';
        if (H5Lexists(file->id, prefix, H5P_DEFAULT) <= 0) {
            return false;
        }
        if (at == NULL) {
            return H5Oexists_by_name(file->id, object, H5P_DEFAULT) > 0;
        }
        if (!h5_is_group(file, prefix)) {
            return false;
        }
    }
}

static H5I_type_t kind_of(const H5File *file, const char *object) {
    hid_t id = H5Oopen(file->id, object, H5P_DEFAULT);
    if (id < 0) {
        return H5I_BADID;
    }
    H5I_type_t kind = H5Iget_type(id);
    H5Oclose(id);
    return kind;
}

bool h5_is_group(const H5File *file, const char *object) { return kind_of(file, object) == H5I_GROUP; }

bool h5_has_attribute(const H5File *file, const char *object, const char *name) {
    return H5Aexists_by_name(file->id, object, name, H5P_DEFAULT) > 0;
}

// --- reading --------------------------------------------------------------------------------------

static KlStatus check_class(const H5File *file, const char *object, hid_t set, bool reals) {
    hid_t type = H5Dget_type(set);
    H5T_class_t class = H5Tget_class(type);
    H5Tclose(type);
    if (class == H5T_INTEGER || (reals && class == H5T_FLOAT)) {
        return KL_OK;
    }
    return h5_fail(file, KL_ERR_FORMAT, object, "must hold %s", reals ? "numbers" : "integers");
}

static KlStatus count_values(const H5File *file, const char *object, hid_t set, int64_t *count) {
    hid_t space = H5Dget_space(set);
    hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    if (space >= 0) {
        H5Sclose(space);
    }
    if (points < 0) {
        return h5_fail(file, KL_ERR_FORMAT, object, "has a damaged shape");
    }
    if (points > MAX_VALUES) {
        return h5_fail(file, KL_ERR_LIMIT, object, "holds %lld values; at most %d are read", (long long)points,
                       (int)MAX_VALUES);
    }
    *count = points;
    return KL_OK;
}

static KlStatus open_set(const H5File *file, const char *object, bool reals, hid_t *set, int64_t *count) {
    if (!h5_has(file, object)) {
        return h5_fail(file, KL_ERR_FORMAT, object, "is missing");
    }
    if (kind_of(file, object) != H5I_DATASET) {
        return h5_fail(file, KL_ERR_FORMAT, object, "must be a dataset");
    }
    *set = H5Dopen2(file->id, object, H5P_DEFAULT);
    if (*set < 0) {
        return h5_fail(file, KL_ERR_FORMAT, object, "cannot be opened: damaged");
    }
    KlStatus status = check_class(file, object, *set, reals);
    if (status == KL_OK) {
        status = count_values(file, object, *set, count);
    }
    if (status != KL_OK) {
        H5Dclose(*set);
    }
    return status;
}

static KlStatus read_values(const H5File *file, const char *object, hid_t set, hid_t type, void *values) {
    herr_t result = H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    return result >= 0 ? KL_OK : h5_fail(file, KL_ERR_FORMAT, object, "cannot be read: damaged or truncated");
}

// Opens, allocates and reads; `size` of one value in memory.
static KlStatus read_all(const H5File *file, const char *object, hid_t type, size_t size, bool reals, void **values,
                         int64_t *count) {
    hid_t set = -1;
    *values = NULL;
    *count = 0;
    KL_TRY(open_set(file, object, reals, &set, count));
    *values = kl_alloc((size_t)(*count > 0 ? *count : 1) * size);
    KlStatus status = *values != NULL ? read_values(file, object, set, type, *values)
                                      : h5_fail(file, KL_ERR_MEMORY, object, "out of memory");
    H5Dclose(set);
    if (status != KL_OK) {
        kl_free(*values);
        *values = NULL;
    }
    return status;
}

static KlStatus check_finite(const H5File *file, const char *object, const double *values, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return h5_fail(file, KL_ERR_SCENE, object, "value %lld is not finite (%g)", (long long)i, values[i]);
        }
    }
    return KL_OK;
}

KlStatus h5_read_reals(const H5File *file, const char *object, double **values, int64_t *count) {
    void *data;
    KL_TRY(read_all(file, object, H5T_NATIVE_DOUBLE, sizeof(double), true, &data, count));
    KlStatus status = check_finite(file, object, data, *count);
    if (status != KL_OK) {
        kl_free(data);
        data = NULL;
    }
    *values = data;
    return status;
}

KlStatus h5_read_ints(const H5File *file, const char *object, int32_t **values, int64_t *count) {
    void *data;
    *values = NULL;
    KL_TRY(read_all(file, object, H5T_NATIVE_INT64, sizeof(int64_t), false, &data, count));
    const int64_t *wide = data;
    int32_t *narrow = data;  // narrowed in place: entry i is read before it is overwritten
    for (int64_t i = 0; i < *count; i++) {
        int64_t value;
        memcpy(&value, &wide[i], sizeof value);
        if (value < INT32_MIN || value > INT32_MAX) {
            kl_free(data);
            return h5_fail(file, KL_ERR_FORMAT, object, "value %lld does not fit 32 bits (%lld)", (long long)i,
                           (long long)value);
        }
        int32_t small = (int32_t)value;
        memcpy(&narrow[i], &small, sizeof small);
    }
    *values = narrow;
    return KL_OK;
}

KlStatus h5_read_ids_into(const H5File *file, const char *object, uint64_t *values, int64_t count) {
    void *data = NULL;
    int64_t found;
    KL_TRY(read_all(file, object, H5T_NATIVE_UINT64, sizeof(uint64_t), false, &data, &found));
    KlStatus status = h5_check_count(file, object, found, count);
    if (status == KL_OK && data != NULL && count > 0) {
        memcpy(values, data, (size_t)count * sizeof *values);
    }
    kl_free(data);
    return status;
}

// Text of a fixed-length or variable-length string type; `read` fetches the raw value.
typedef herr_t (*ReadRaw)(hid_t id, hid_t type, void *data);
static herr_t read_set_raw(hid_t id, hid_t type, void *data) {
    return H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
}
static herr_t read_attribute_raw(hid_t id, hid_t type, void *data) { return H5Aread(id, type, data); }

static bool read_string(hid_t id, hid_t type, hid_t space, ReadRaw read, char *text, size_t size) {
    if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) {
        return false;
    }
    if (H5Tis_variable_str(type) > 0) {
        char *value = NULL;
        hid_t memory = H5Tcopy(H5T_C_S1);
        H5Tset_size(memory, H5T_VARIABLE);
        H5Tset_cset(memory, H5Tget_cset(type));
        bool done = read(id, memory, &value) >= 0 && value != NULL;
        H5Tclose(memory);
        if (done) {
            snprintf(text, size, "%s", value);
        }
        H5free_memory(value);
        return done;
    }
    size_t length = H5Tget_size(type);
    if (length == 0 || length > 1 << 20) {
        return false;
    }
    char *value = kl_alloc(length + 1);
    bool done = value != NULL && read(id, type, value) >= 0;
    if (done) {
        snprintf(text, size, "%s", value);
    }
    kl_free(value);
    return done;
}

KlStatus h5_read_text(const H5File *file, const char *object, char *text, size_t size) {
    text[0] = '\0';
    if (!h5_has(file, object) || kind_of(file, object) != H5I_DATASET) {
        return h5_fail(file, KL_ERR_FORMAT, object, "must be a dataset of one text");
    }
    hid_t set = H5Dopen2(file->id, object, H5P_DEFAULT);
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    bool done = read_string(set, type, space, read_set_raw, text, size);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
    return done ? KL_OK : h5_fail(file, KL_ERR_FORMAT, object, "must be a dataset of one text");
}

// --- attributes -----------------------------------------------------------------------------------

static KlStatus fail_attribute(const H5File *file, const char *object, const char *name, const char *what) {
    char path[512];
    snprintf(path, sizeof path, "%s@%s", object, name);
    return h5_fail(file, KL_ERR_FORMAT, path, "%s", what);
}

static KlStatus open_attribute(const H5File *file, const char *object, const char *name, hid_t *id) {
    if (!h5_has(file, object) || !h5_has_attribute(file, object, name)) {
        return fail_attribute(file, object, name, "attribute is missing");
    }
    *id = H5Aopen_by_name(file->id, object, name, H5P_DEFAULT, H5P_DEFAULT);
    return *id >= 0 ? KL_OK : fail_attribute(file, object, name, "attribute is damaged");
}

static KlStatus read_number(const H5File *file, const char *object, const char *name, bool real, hid_t memory,
                            void *value) {
    hid_t id = -1;
    KL_TRY(open_attribute(file, object, name, &id));
    hid_t type = H5Aget_type(id), space = H5Aget_space(id);
    H5T_class_t class = H5Tget_class(type);
    bool fits = (class == H5T_INTEGER || (real && class == H5T_FLOAT)) && H5Sget_simple_extent_npoints(space) == 1 &&
                H5Aread(id, memory, value) >= 0;
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(id);
    return fits ? KL_OK : fail_attribute(file, object, name, real ? "must be one number" : "must be one integer");
}

KlStatus h5_attribute_int(const H5File *file, const char *object, const char *name, int64_t *value) {
    return read_number(file, object, name, false, H5T_NATIVE_INT64, value);
}

KlStatus h5_attribute_real(const H5File *file, const char *object, const char *name, double *value) {
    return read_number(file, object, name, true, H5T_NATIVE_DOUBLE, value);
}

KlStatus h5_attribute_text(const H5File *file, const char *object, const char *name, char *text, size_t size) {
    text[0] = '\0';
    hid_t id = -1;
    KL_TRY(open_attribute(file, object, name, &id));
    hid_t type = H5Aget_type(id), space = H5Aget_space(id);
    bool done = read_string(id, type, space, read_attribute_raw, text, size);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(id);
    return done ? KL_OK : fail_attribute(file, object, name, "must be one text");
}

// --- groups ---------------------------------------------------------------------------------------

typedef struct Walk {
    H5Visit visit;
    void *context;
    KlStatus status;
} Walk;

static herr_t on_link(hid_t group, const char *name, const H5L_info_t *info, void *data) {
    (void)group;
    (void)info;
    Walk *walk = data;
    walk->status = walk->visit(walk->context, name);
    return walk->status == KL_OK ? 0 : 1;
}

KlStatus h5_each(const H5File *file, const char *group, H5Visit visit, void *context) {
    if (!h5_has(file, group) || !h5_is_group(file, group)) {
        return h5_fail(file, KL_ERR_FORMAT, group, "must be a group");
    }
    hid_t id = H5Gopen2(file->id, group, H5P_DEFAULT);
    Walk walk = {visit, context, KL_OK};
    hsize_t index = 0;
    herr_t result = id >= 0 ? H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, &index, on_link, &walk) : -1;
    if (id >= 0) {
        H5Gclose(id);
    }
    if (walk.status != KL_OK) {
        return walk.status;
    }
    return result >= 0 ? KL_OK : h5_fail(file, KL_ERR_FORMAT, group, "cannot be listed: damaged");
}

// --- writing --------------------------------------------------------------------------------------

static KlStatus fail_write(const H5File *file, const char *object) {
    char what[512];
    snprintf(what, sizeof what, "%.300s cannot be written%s%s", object, errno != 0 ? ": " : "",
             errno != 0 ? strerror(errno) : "");
    return cli_fail_output(file->path, what);
}

KlStatus h5_create(const char *path, H5File *file) {
    silence();
    *file = (H5File){.id = -1};
    snprintf(file->path, sizeof file->path, "%s", path);
    hid_t create = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_obj_track_times(create, false);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);  // small object headers
    errno = 0;
    file->id = H5Fcreate(path, H5F_ACC_TRUNC, create, access);
    H5Pclose(create);
    H5Pclose(access);
    return file->id >= 0 ? KL_OK : cli_fail_output(path, errno != 0 ? strerror(errno) : "cannot be created");
}

KlStatus h5_finish(H5File *file) {
    errno = 0;
    bool flushed = H5Fflush(file->id, H5F_SCOPE_GLOBAL) >= 0;
    bool closed = H5Fclose(file->id) >= 0;
    file->id = -1;
    return flushed && closed ? KL_OK : cli_fail_output(file->path, errno != 0 ? strerror(errno) : "cannot be written");
}

// One level at a time: parents that the library makes by itself would carry time stamps.
static KlStatus make_one_group(const H5File *file, const char *group) {
    hid_t create = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(create, false);
    errno = 0;
    hid_t id = H5Gcreate2(file->id, group, H5P_DEFAULT, create, H5P_DEFAULT);
    H5Pclose(create);
    if (id < 0) {
        return fail_write(file, group);
    }
    H5Gclose(id);
    return KL_OK;
}

KlStatus h5_make_group(const H5File *file, const char *group) {
    char prefix[512];
    for (const char *at = group; at != NULL;) {
        at = strchr(at + 1, '/');
        size_t length = at != NULL ? (size_t)(at - group) : strlen(group);
        if (length >= sizeof prefix) {
            return h5_fail(file, KL_ERR_LIMIT, group, "is too long a name");
        }
        memcpy(prefix, group, length);
        prefix[length] = '\0';
        if (H5Lexists(file->id, prefix, H5P_DEFAULT) <= 0) {
            KL_TRY(make_one_group(file, prefix));
        }
    }
    return KL_OK;
}

// Small datasets live in their header, large ones are shuffled and deflated in one chunk.
static hid_t creation(int64_t values, size_t size, int rank, const hsize_t *shape) {
    hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(create, false);
    H5Pset_fill_time(create, H5D_FILL_TIME_NEVER);
    if (values < COMPRESS_FROM) {
        if (values * (int64_t)size < 16384) {
            H5Pset_layout(create, H5D_COMPACT);
        }
        return create;
    }
    hsize_t chunk[2] = {shape[0], rank > 1 ? shape[1] : 1};
    while (chunk[0] * chunk[1] > 1 << 17 && chunk[0] > 1) {
        chunk[0] = (chunk[0] + 1) / 2;
    }
    H5Pset_chunk(create, rank, chunk);
    H5Pset_shuffle(create);
    H5Pset_deflate(create, 4);
    return create;
}

static KlStatus write_set(const H5File *file, const char *object, hid_t file_type, hid_t memory_type, size_t size,
                          const void *values, int64_t rows, int64_t columns) {
    int rank = columns > 0 ? 2 : 1;
    hsize_t shape[2] = {(hsize_t)rows, (hsize_t)(columns > 0 ? columns : 1)};
    int64_t count = rows * (columns > 0 ? columns : 1);
    hid_t space = H5Screate_simple(rank, shape, NULL);
    hid_t create = creation(count, size, rank, shape);
    errno = 0;
    hid_t set = H5Dcreate2(file->id, object, file_type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    bool done = set >= 0 && (count == 0 || H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    if (set >= 0) {
        done = H5Dclose(set) >= 0 && done;
    }
    H5Pclose(create);
    H5Sclose(space);
    return done ? KL_OK : fail_write(file, object);
}

KlStatus h5_write_ints(const H5File *file, const char *object, const int32_t *values, int64_t rows, int64_t columns) {
    return write_set(file, object, H5T_STD_I32LE, H5T_NATIVE_INT32, sizeof *values, values, rows, columns);
}

KlStatus h5_write_reals(const H5File *file, const char *object, const double *values, int64_t rows, int64_t columns) {
    return write_set(file, object, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, sizeof *values, values, rows, columns);
}

KlStatus h5_write_ids(const H5File *file, const char *object, const uint64_t *values, int64_t count) {
    return write_set(file, object, H5T_STD_U64LE, H5T_NATIVE_UINT64, sizeof *values, values, count, 0);
}

static hid_t text_type(const char *text) {
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

KlStatus h5_write_text(const H5File *file, const char *object, const char *text) {
    hid_t type = text_type(text), space = H5Screate(H5S_SCALAR);
    hid_t create = creation(1, 1, 1, (const hsize_t[]){1});
    errno = 0;
    hid_t set = H5Dcreate2(file->id, object, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    bool done = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (set >= 0) {
        done = H5Dclose(set) >= 0 && done;
    }
    H5Pclose(create);
    H5Sclose(space);
    H5Tclose(type);
    return done ? KL_OK : fail_write(file, object);
}

static KlStatus write_attribute(const H5File *file, const char *object, const char *name, hid_t file_type,
                                hid_t memory_type, const void *value) {
    hid_t space = H5Screate(H5S_SCALAR);
    errno = 0;
    hid_t id = H5Acreate_by_name(file->id, object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool done = id >= 0 && H5Awrite(id, memory_type, value) >= 0;
    if (id >= 0) {
        H5Aclose(id);
    }
    H5Sclose(space);
    return done ? KL_OK : fail_write(file, object);
}

KlStatus h5_set_int(const H5File *file, const char *object, const char *name, int64_t value) {
    return write_attribute(file, object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

KlStatus h5_set_real(const H5File *file, const char *object, const char *name, double value) {
    return write_attribute(file, object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

KlStatus h5_set_text(const H5File *file, const char *object, const char *name, const char *text) {
    hid_t type = text_type(text);
    KlStatus status = write_attribute(file, object, name, type, type, text);
    H5Tclose(type);
    return status;
}

// --- copying --------------------------------------------------------------------------------------

// The types that our files hold, as stored.
static hid_t stored_type(hid_t type) {
    const hid_t known[] = {H5T_STD_I32LE, H5T_IEEE_F64LE, H5T_STD_U64LE, H5T_STD_I64LE};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (H5Tequal(type, known[i]) > 0) {
            return known[i];
        }
    }
    return -1;
}

typedef struct Copy {
    const H5File *from, *to;
    char object[320];
} Copy;

static KlStatus fail_type(const Copy *copy, const char *object) {
    return h5_fail(copy->from, KL_ERR_FORMAT, object, "has a type that data sets do not use");
}

static KlStatus copy_set(const Copy *copy, const char *object) {
    hid_t set = H5Dopen2(copy->from->id, object, H5P_DEFAULT);
    if (set < 0) {
        return h5_fail(copy->from, KL_ERR_FORMAT, object, "cannot be opened: damaged");
    }
    hid_t type = H5Dget_type(set), space = H5Dget_space(set), stored = stored_type(type);
    hsize_t shape[2] = {0, 0};
    int rank = H5Sget_simple_extent_ndims(space);
    KlStatus status = KL_OK;
    if (stored < 0 || rank < 1 || rank > 2) {
        status = fail_type(copy, object);
    } else {
        H5Sget_simple_extent_dims(space, shape, NULL);
        size_t size = H5Tget_size(stored), count = (size_t)shape[0] * (size_t)(rank > 1 ? shape[1] : 1);
        void *values = count <= MAX_VALUES ? kl_alloc((count + 1) * size) : NULL;
        status = values != NULL ? read_values(copy->from, object, set, stored, values)
                                : h5_fail(copy->from, KL_ERR_MEMORY, object, "out of memory");
        if (status == KL_OK) {
            status = write_set(copy->to, object, stored, stored, size, values, (int64_t)shape[0],
                               rank > 1 ? (int64_t)shape[1] : 0);
        }
        kl_free(values);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
    return status;
}

static KlStatus copy_attribute(Copy *copy, const char *name) {
    hid_t id = H5Aopen_by_name(copy->from->id, copy->object, name, H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0) {
        return fail_attribute(copy->from, copy->object, name, "attribute is damaged");
    }
    hid_t type = H5Aget_type(id), space = H5Aget_space(id), stored = stored_type(type);
    char text[1024];
    int64_t number;
    KlStatus status = KL_OK;
    bool single = H5Sget_simple_extent_npoints(space) == 1;
    if (single && stored >= 0) {
        status = H5Aread(id, stored, &number) >= 0
                     ? write_attribute(copy->to, copy->object, name, stored, stored, &number)
                     : fail_attribute(copy->from, copy->object, name, "attribute is damaged");
    } else if (single && read_string(id, type, space, read_attribute_raw, text, sizeof text)) {
        status = h5_set_text(copy->to, copy->object, name, text);
    } else {
        status = fail_type(copy, copy->object);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(id);
    return status;
}

typedef struct AttributeWalk {
    Copy *copy;
    KlStatus status;
} AttributeWalk;

static herr_t on_attribute(hid_t object, const char *name, const H5A_info_t *info, void *data) {
    (void)object;
    (void)info;
    AttributeWalk *walk = data;
    walk->status = copy_attribute(walk->copy, name);
    return walk->status == KL_OK ? 0 : 1;
}

static KlStatus copy_object(void *context, const char *name) {
    Copy *copy = context;
    char parent[sizeof copy->object], object[sizeof copy->object];
    memcpy(parent, copy->object, sizeof parent);
    if (snprintf(object, sizeof object, "%s/%s", parent, name) >= (int)sizeof object) {
        return h5_fail(copy->from, KL_ERR_LIMIT, parent, "holds a name that is too long");
    }
    H5I_type_t kind = kind_of(copy->from, object);
    if (kind == H5I_DATASET) {
        return copy_set(copy, object);
    }
    if (kind != H5I_GROUP) {
        return fail_type(copy, object);
    }
    KlStatus status = h5_copy(copy->from, copy->to, object);
    memcpy(copy->object, parent, sizeof parent);
    return status;
}

KlStatus h5_copy(const H5File *from, const H5File *to, const char *group) {
    Copy copy = {.from = from, .to = to};
    snprintf(copy.object, sizeof copy.object, "%s", group);
    KL_TRY(h5_make_group(to, group));
    AttributeWalk walk = {.copy = &copy, .status = KL_OK};
    hsize_t index = 0;
    herr_t result =
        H5Aiterate_by_name(from->id, group, H5_INDEX_NAME, H5_ITER_INC, &index, on_attribute, &walk, H5P_DEFAULT);
    if (walk.status != KL_OK || result < 0) {
        return walk.status != KL_OK ? walk.status : h5_fail(from, KL_ERR_FORMAT, group, "cannot be listed: damaged");
    }
    return h5_each(from, group, copy_object, &copy);
}
