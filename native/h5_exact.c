// What h5.h offers on top of its own readers.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "h5.h"

KlStatus h5_fail(const H5File *file, KlStatus status, const char *object, const char *format, ...) {
    char what[512];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    KlPlace place = {.file = file->path, .path = object};
    return kl_fail_at(status, &place, "%s", what);
}

KlStatus h5_check_count(const H5File *file, const char *object, int64_t found, int64_t wanted) {
    return found == wanted ? KL_OK
                           : h5_fail(file, KL_ERR_FORMAT, object, "must hold %lld values (found %lld)",
                                     (long long)wanted, (long long)found);
}

KlStatus h5_read_ints_into(const H5File *file, const char *object, int32_t *values, int64_t count) {
    int32_t *data = NULL;
    int64_t found = 0;
    KL_TRY(h5_read_ints(file, object, &data, &found));
    KlStatus status = h5_check_count(file, object, found, count);
    if (status == KL_OK && data != NULL && count > 0) {
        memcpy(values, data, (size_t)count * sizeof *values);
    }
    kl_free(data);
    return status;
}

KlStatus h5_read_reals_into(const H5File *file, const char *object, double *values, int64_t count) {
    double *data = NULL;
    int64_t found = 0;
    KL_TRY(h5_read_reals(file, object, &data, &found));
    KlStatus status = h5_check_count(file, object, found, count);
    if (status == KL_OK && data != NULL && count > 0) {
        memcpy(values, data, (size_t)count * sizeof *values);
    }
    kl_free(data);
    return status;
}

KlStatus h5_read_int(const H5File *file, const char *object, int32_t *value) {
    return h5_read_ints_into(file, object, value, 1);
}
