// What fuzz targets share: bytes taken as numbers, files in memory, and claims that abort.
//
// A target is LLVMFuzzerTestOneInput of one file. With KL_FUZZ it links libFuzzer (run.sh); otherwise it
// links replay.c, which runs the kept inputs and a fixed set of mutations of each in the quick tests.
#ifndef KL_TESTS_FUZZ_INPUT_H
#define KL_TESTS_FUZZ_INPUT_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A property of the library that no input may break.
#define CLAIM(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, #condition, kl_last_error()->message); \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

typedef struct FuzzInput {
    const uint8_t *data;
    size_t size, at;
} FuzzInput;

static inline uint8_t fuzz_byte(FuzzInput *in) { return in->at < in->size ? in->data[in->at++] : 0; }

// Uniform enough in [0, count).
static inline int32_t fuzz_below(FuzzInput *in, int32_t count) { return fuzz_byte(in) % count; }

// A finite number: mostly plain ones, now and then from the whole range of doubles.
static inline double fuzz_real(FuzzInput *in) {
    static const double special[] = {0.0, -0.0, 1.0, -1.0, 1e-12, 1e12, 1e-300, 1e300, 5e-324, -1e300, 0.5, 1e-6};
    uint8_t kind = fuzz_byte(in);
    if (kind < 24) {
        return special[kind / 2];
    }
    if (kind < 32) {
        double value = 0.0;
        uint8_t bytes[sizeof value];
        for (size_t i = 0; i < sizeof bytes; i++) {
            bytes[i] = fuzz_byte(in);
        }
        memcpy(&value, bytes, sizeof value);
        return isfinite(value) ? value : 1.0;
    }
    int8_t mantissa = (int8_t)fuzz_byte(in);
    return (double)mantissa / 16.0 * ((kind & 1) != 0 ? 1.0 : 0.01);
}

// The same, but also infinities and NaN.
static inline double fuzz_any(FuzzInput *in) {
    uint8_t kind = fuzz_byte(in);
    return kind == 1 ? (double)NAN : kind == 2 ? (double)INFINITY : kind == 3 ? -(double)INFINITY : fuzz_real(in);
}

// Files that a document under test can refer to. An entry with name NULL answers for every other name.
typedef struct FuzzFile {
    const char *name;
    const void *data;
    size_t size;
} FuzzFile;

#define FUZZ_TEXT(name, text) \
    { name, text, sizeof(text) - 1 }

typedef struct FuzzFiles {
    const FuzzFile *files;
    size_t count;
} FuzzFiles;

static KlStatus fuzz_read(void *context, const char *path, char **data, size_t *size) {
    const FuzzFiles *all = context;
    for (size_t i = 0; i < all->count; i++) {
        const FuzzFile *file = &all->files[i];
        size_t length = strlen(path), wanted = file->name != NULL ? strlen(file->name) : 0;
        if (wanted <= length && (wanted == 0 || strcmp(path + length - wanted, file->name) == 0)) {
            *data = malloc(file->size + 1);
            CLAIM(*data != NULL);
            if (file->size > 0) {
                memcpy(*data, file->data, file->size);
            }
            (*data)[file->size] = '\0';
            *size = file->size;
            return KL_OK;
        }
    }
    return KL_ERR_NOT_FOUND;
}

static void fuzz_release(void *context, char *data) {
    (void)context;
    free(data);
}

static inline KlFiles fuzz_files(FuzzFiles *files) {
    return (KlFiles){.context = files, .read = fuzz_read, .release = fuzz_release};
}

// A failure names itself: a status of the list and a message.
static inline void claim_failure(KlStatus status) {
    CLAIM(status > KL_OK && status <= KL_ERR_INTERRUPTED);
    CLAIM(kl_last_error()->message[0] != '\0');
}

// A tetrahedron of 0.1 m.
static const char fuzz_mesh_obj[] = "v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

void fuzz_step(const KlModel *model, int32_t steps);  // simulate.c

#endif
