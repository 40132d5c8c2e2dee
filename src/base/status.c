// Errors: one per thread, with the place in the user's document.
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __EMSCRIPTEN__
#include <emscripten/heap.h>
#endif

#include "base/memory.h"

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

// What was asked for and, where a limit is known, what is allowed.
static void tell_memory(char *text, size_t size) {
    size_t wanted = kl_alloc_refused();
    text[0] = '\0';
    if (last_error.status != KL_ERR_MEMORY) {
        kl_alloc_forget_refused();  // later errors are not about it
    } else if (wanted > 0) {
#ifdef __EMSCRIPTEN__
        snprintf(text, size, ": no %zu bytes more; the core has %.0f MB and may have %.0f MB", wanted,
                 (double)emscripten_get_heap_size() / 1e6, (double)emscripten_get_heap_max() / 1e6);
#else
        snprintf(text, size, ": the system has no %zu bytes more", wanted);
#endif
    }
}

static void write_message(const KlPlace *place, const char *format, va_list args) {
    char what[sizeof last_error.message], memory[128];
    vsnprintf(what, sizeof what, format, args);
    tell_memory(memory, sizeof memory);
    char where[sizeof last_error.file + sizeof last_error.path + 32] = "";
    if (place != NULL && place->file != NULL && place->file[0] != '\0') {
        if (place->line > 0) {
            snprintf(where, sizeof where, "%.200s:%d:%d: ", place->file, (int)place->line, (int)place->column);
        } else {
            snprintf(where, sizeof where, "%.200s: ", place->file);
        }
    }
    const char *path = place != NULL && place->path != NULL ? place->path : "";
    snprintf(last_error.message, sizeof last_error.message, "%s%.120s%s%.300s%s", where, path,
             path[0] != '\0' ? ": " : "", what, memory);
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
