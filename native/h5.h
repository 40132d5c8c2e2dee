// HDF5 with our errors: every failure names the file and the object, the library's own error stack
// stays silent, and nothing that a file claims is believed before it is checked.
#ifndef KINLOOP_H5_H
#define KINLOOP_H5_H

#include <hdf5.h>

#include "kl.h"

typedef struct H5File {
    hid_t id;         // -1 when closed
    char path[1024];  // as given by the user, for messages
} H5File;

// --- reading --------------------------------------------------------------------------------------

bool h5_is_file(const char *path);  // starts with the HDF5 signature (at 0, 512, 1024 ...)
KlStatus h5_open(const char *path, H5File *file);
void h5_close(H5File *file);

// Objects are named by absolute paths, e.g. "/fclib_local/W/x".
bool h5_has(const H5File *file, const char *object);
bool h5_is_group(const H5File *file, const char *object);
bool h5_has_attribute(const H5File *file, const char *object, const char *name);
KlStatus h5_fail(const H5File *file, KlStatus status, const char *object, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// All values of a dataset of any shape; `count` out. The caller frees with kl_free. Integers must fit
// int32_t, reals must be finite; KL_ERR_LIMIT above 2^26 values.
KlStatus h5_read_ints(const H5File *file, const char *object, int32_t **values, int64_t *count);
KlStatus h5_read_reals(const H5File *file, const char *object, double **values, int64_t *count);
KlStatus h5_check_count(const H5File *file, const char *object, int64_t found, int64_t wanted);  // of values
// Into memory of the caller; the dataset must hold exactly `count` values.
KlStatus h5_read_ints_into(const H5File *file, const char *object, int32_t *values, int64_t count);
KlStatus h5_read_reals_into(const H5File *file, const char *object, double *values, int64_t count);
KlStatus h5_read_ids_into(const H5File *file, const char *object, uint64_t *values, int64_t count);
KlStatus h5_read_int(const H5File *file, const char *object, int32_t *value);  // one value
KlStatus h5_read_text(const H5File *file, const char *object, char *text, size_t size);

KlStatus h5_attribute_int(const H5File *file, const char *object, const char *name, int64_t *value);
KlStatus h5_attribute_real(const H5File *file, const char *object, const char *name, double *value);
KlStatus h5_attribute_text(const H5File *file, const char *object, const char *name, char *text, size_t size);

// Calls `visit` with the name of every link of a group, in ascending order of names, until it fails.
typedef KlStatus (*H5Visit)(void *context, const char *name);
KlStatus h5_each(const H5File *file, const char *group, H5Visit visit, void *context);

// --- writing --------------------------------------------------------------------------------------
// Files are written without time stamps: the same calls give the same bytes.

KlStatus h5_create(const char *path, H5File *file);             // truncates
KlStatus h5_finish(H5File *file);                               // flushes and closes; KL_ERR_IO on a full disk
KlStatus h5_make_group(const H5File *file, const char *group);  // with its parents; fine when it exists
KlStatus h5_write_ints(const H5File *file, const char *object, const int32_t *values, int64_t rows,
                       int64_t columns);  // columns 0: a vector
KlStatus h5_write_reals(const H5File *file, const char *object, const double *values, int64_t rows, int64_t columns);
KlStatus h5_write_ids(const H5File *file, const char *object, const uint64_t *values, int64_t count);
KlStatus h5_write_text(const H5File *file, const char *object, const char *text);
KlStatus h5_set_int(const H5File *file, const char *object, const char *name, int64_t value);
KlStatus h5_set_real(const H5File *file, const char *object, const char *name, double value);
KlStatus h5_set_text(const H5File *file, const char *object, const char *name, const char *text);

// Copies a group with all it holds, from file to file: groups, datasets of reals, integers and texts in
// the order of their names, and attributes. The bytes depend on the content alone.
KlStatus h5_copy(const H5File *from, const H5File *to, const char *group);

#endif
