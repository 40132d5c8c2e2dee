// Errors: one per thread, with the place in the user's document.
#ifndef KL_BASE_STATUS_H
#define KL_BASE_STATUS_H

#include "kl.h"

#if defined(__GNUC__)
#define KL_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define KL_PRINTF(format_index, first)
#endif

// Records the failure and returns `status`, so that one can write `return kl_fail(...)`.
KlStatus kl_fail(KlStatus status, const char *format, ...) KL_PRINTF(2, 3);

// Where in a document a fault lies. `line` and `column` are 1-based, 0 when unknown.
typedef struct KlPlace {
    const char *file;
    int32_t line, column;
    const char *path;
} KlPlace;

// The same with the place; the message becomes "file:line:column: path: what".
KlStatus kl_fail_at(KlStatus status, const KlPlace *place, const char *format, ...) KL_PRINTF(3, 4);

#ifdef __clang_analyzer__  // does not see that these never return KL_OK
#define kl_fail(status, ...) (kl_fail((status), __VA_ARGS__), (status))
#define kl_fail_at(status, ...) (kl_fail_at((status), __VA_ARGS__), (status))
#endif

// Our own mistakes. Prints nothing: stops the program with the reason kept in the last error.
_Noreturn void kl_assert_failed(const char *condition, const char *reason, const char *file, int line);
#define KL_ASSERT(condition, reason) ((condition) ? (void)0 : kl_assert_failed(#condition, reason, __FILE__, __LINE__))

// Returns from the calling function when `call` fails.
#define KL_TRY(call)                     \
    do {                                 \
        KlStatus kl_try_status = (call); \
        if (kl_try_status != KL_OK) {    \
            return kl_try_status;        \
        }                                \
    } while (0)

#endif
