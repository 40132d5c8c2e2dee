#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kl_test_near(double a, double b, double tolerance, const char *a_text, const char *b_text, const char *file,
                  int line) {
    if (fabs(a - b) <= tolerance) {
        return;
    }
    print_error("%s = %.17g\n%s = %.17g\ndiffer by %.3g > %.3g\n", a_text, a, b_text, b, fabs(a - b), tolerance);
    _fail(file, line);
}

void kl_test_near_array(const double *a, const double *b, int32_t count, double tolerance, const char *a_text,
                        const char *b_text, const char *file, int line) {
    for (int32_t i = 0; i < count; i++) {
        if (!(fabs(a[i] - b[i]) <= tolerance)) {
            print_error("at [%d] of %d:\n", (int)i, (int)count);
            kl_test_near(a[i], b[i], tolerance, a_text, b_text, file, line);
        }
    }
}

void kl_test_ok(KlStatus status, const char *call, const char *file, int line) {
    if (status == KL_OK) {
        return;
    }
    print_error("%s\nfailed: %s: %s\n", call, kl_status_name(status), kl_last_error()->message);
    _fail(file, line);
}

void kl_test_fails(KlStatus status, KlStatus expected, const char *part, const char *call, const char *file, int line) {
    if (status != expected) {
        print_error("%s\ngave %s, not %s\n", call, kl_status_name(status), kl_status_name(expected));
        _fail(file, line);
    }
    if (part != NULL && strstr(kl_last_error()->message, part) == NULL) {
        print_error("%s\nmessage \"%s\" lacks \"%s\"\n", call, kl_last_error()->message, part);
        _fail(file, line);
    }
}

char *kl_test_read(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail_msg("cannot open %s", path);
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *text = malloc((size_t)length + 1);
    assert_non_null(text);
    size_t got = fread(text, 1, (size_t)length, file);
    fclose(file);
    assert_int_equal(got, length);
    text[length] = '\0';
    *size = (size_t)length;
    return text;
}
