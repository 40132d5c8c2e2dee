// Errors: one per thread, with the place in the user's document.
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local KlError last_error;

const KlError *kl_last_error(void) { return &last_error; }

const char *kl_status_name(KlStatus s) {
    static const char *const names[] = {
        "ok",    "argument",  "memory",          "io",       "format",      "scene",
        "limit", "not-found", "not-implemented", "diverged", "interrupted",
    };
    return (size_t)s < sizeof names / sizeof names[0] ? names[s] : "unknown";
}

static void copy_text(char *to, size_t size, const char *from) { snprintf(to, size, "%s", from != NULL ? from : ""); }

static void write_message(const KlPlace *place, const char *format, va_list args) {
    char what[sizeof last_error.message];
    vsnprintf(what, sizeof what, format, args);
    char where[sizeof last_error.file + sizeof last_error.path + 32] = "";
    if (place != NULL && place->file != NULL && place->file[0] != '\0') {
        if (place->line > 0) {
            snprintf(where, sizeof where, "%.200s:%d:%d: ", place->file, (int)place->line, (int)place->column);
        } else {
            snprintf(where, sizeof where, "%.200s: ", place->file);
        }
    }
    const char *path = place != NULL && place->path != NULL ? place->path : "";
    snprintf(last_error.message, sizeof last_error.message, "%s%.120s%s%.300s", where, path,
             path[0] != '\0' ? ": " : "", what);
}

KlStatus(kl_fail)(KlStatus status, const char *format, ...) {
    memset(&last_error, 0, sizeof last_error);
    last_error.status = status;
    va_list args;
    va_start(args, format);
    write_message(NULL, format, args);
    va_end(args);
    return status;
}

KlStatus(kl_fail_at)(KlStatus status, const KlPlace *place, const char *format, ...) {
    memset(&last_error, 0, sizeof last_error);
    last_error.status = status;
    copy_text(last_error.file, sizeof last_error.file, place->file);
    copy_text(last_error.path, sizeof last_error.path, place->path);
    last_error.line = place->line;
    last_error.column = place->column;
    va_list args;
    va_start(args, format);
    write_message(place, format, args);
    va_end(args);
    return status;
}

void kl_assert_failed(const char *condition, const char *reason, const char *file, int line) {
    kl_fail(KL_ERR_ARGUMENT, "internal error at %s:%d: %s (%s)", file, line, reason, condition);
    abort();
}
