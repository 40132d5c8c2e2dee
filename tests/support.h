// What all suites share: cmocka with its prerequisites, comparisons of doubles, files.
//
// KL_TEST_DATA and KL_SCENES are the absolute folders tests/data and scenes, without a final slash.
#ifndef KL_TESTS_SUPPORT_H
#define KL_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kl.h"

// |a - b| <= tolerance; NaN never passes. cmocka's own assert_float_equal compares in single precision.
#define assert_near(a, b, tolerance) kl_test_near((a), (b), (tolerance), #a, #b, __FILE__, __LINE__)
// max |a_i - b_i| <= tolerance over `count` entries; tells the first that fails.
#define assert_near_array(a, b, count, tolerance) \
    kl_test_near_array((a), (b), (count), (tolerance), #a, #b, __FILE__, __LINE__)
// The call returns KL_OK; shows kl_last_error otherwise.
#define assert_ok(call) kl_test_ok((call), #call, __FILE__, __LINE__)
// The call fails with this status, and its message holds `part`.
#define assert_fails(call, status, part) kl_test_fails((call), (status), (part), #call, __FILE__, __LINE__)

void kl_test_near(double a, double b, double tolerance, const char *a_text, const char *b_text, const char *file,
                  int line);
void kl_test_near_array(const double *a, const double *b, int32_t count, double tolerance, const char *a_text,
                        const char *b_text, const char *file, int line);
void kl_test_ok(KlStatus status, const char *call, const char *file, int line);
void kl_test_fails(KlStatus status, KlStatus expected, const char *part, const char *call, const char *file, int line);

// The whole of a file, ended by a zero; fails the test when it cannot be read. free() it.
char *kl_test_read(const char *path, size_t *size);

#endif
