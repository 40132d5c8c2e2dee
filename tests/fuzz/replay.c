// Runs a target without libFuzzer: `fuzz_NAME MUTATIONS FOLDER|FILE...` feeds every file, sorted by
// name, and MUTATIONS altered copies of each: bytes changed, cut out, doubled, numbers replaced. The same
// arguments give the same inputs on every machine.
#include <dirent.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "input.h"

enum { LARGEST_INPUT = 1 << 20, MOST_FILES = 4096 };

static uint8_t buffer[LARGEST_INPUT];

static size_t read_file(const char *path, uint8_t *data) {
    FILE *file = fopen(path, "rb");
    CLAIM(file != NULL);
    size_t size = fread(data, 1, LARGEST_INPUT, file);
    fclose(file);
    return size;
}

static size_t cut(KlRng *rng, uint8_t *data, size_t size) {
    size_t from = (size_t)kl_rng_index(rng, (int32_t)size), count = (size_t)kl_rng_index(rng, 40) + 1;
    count = count < size - from ? count : size - from;
    memmove(data + from, data + from + count, size - from - count);
    return size - count;
}

static size_t insert(KlRng *rng, uint8_t *data, size_t size, const void *text, size_t count) {
    size_t at = (size_t)kl_rng_index(rng, (int32_t)size + 1);
    if (size + count > LARGEST_INPUT) {
        return size;
    }
    memmove(data + at + count, data + at, size - at);
    memcpy(data + at, text, count);
    return size + count;
}

static size_t repeat(KlRng *rng, uint8_t *data, size_t size) {
    uint8_t piece[64];
    size_t from = (size_t)kl_rng_index(rng, (int32_t)size), count = (size_t)kl_rng_index(rng, 63) + 1;
    count = count < size - from ? count : size - from;
    memcpy(piece, data + from, count);
    return insert(rng, data, size, piece, count);
}

static size_t put_number(KlRng *rng, uint8_t *data, size_t size) {
    static const char *const numbers[] = {"-1",  "0",          "1e308",   "1e-320", "nan",
                                          "inf", "2147483648", "9999999", "-0.5",   "1e9"};
    const char *text = numbers[kl_rng_index(rng, 10)];
    size_t at = 0;
    for (int tries = 0; tries < 30 && size > 0; tries++) {  // in place of some number
        at = (size_t)kl_rng_index(rng, (int32_t)size);
        if (data[at] >= '0' && data[at] <= '9') {
            memmove(data + at, data + at + 1, size - at - 1);
            size--;
            break;
        }
    }
    if (size + strlen(text) > LARGEST_INPUT) {
        return size;
    }
    memmove(data + at + strlen(text), data + at, size - at);
    memcpy(data + at, text, strlen(text));
    return size + strlen(text);
}

static size_t mutate(KlRng *rng, uint8_t *data, size_t size) {
    int32_t changes = 1 + kl_rng_index(rng, 4);
    for (int32_t i = 0; i < changes && size > 0; i++) {
        switch (kl_rng_index(rng, 5)) {
            case 0: data[kl_rng_index(rng, (int32_t)size)] = (uint8_t)kl_rng_next(rng); break;
            case 1: data[kl_rng_index(rng, (int32_t)size)] ^= (uint8_t)(1u << kl_rng_index(rng, 8)); break;
            case 2: size = cut(rng, data, size); break;
            case 3: size = repeat(rng, data, size); break;
            default: size = put_number(rng, data, size); break;
        }
    }
    return size;
}

// Exactly as large as the input, so that a sanitizer sees reads past its end.
static void feed(const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size > 0 ? size : 1);
    CLAIM(exact != NULL);
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static int32_t run_file(const char *path, int32_t mutations) {
    size_t size = read_file(path, buffer);
    feed(buffer, size);
    KlRng rng = {size};
    for (int32_t i = 0; i < mutations; i++) {
        size = read_file(path, buffer);
        feed(buffer, mutate(&rng, buffer, size));
    }
    return 1 + mutations;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int32_t run_folder(const char *path, int32_t mutations) {
    static char *names[MOST_FILES];
    DIR *folder = opendir(path);
    CLAIM(folder != NULL);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL && count < MOST_FILES;) {
        if (entry->d_name[0] != '.') {
            names[count] = malloc(strlen(path) + strlen(entry->d_name) + 2);
            CLAIM(names[count] != NULL);
            sprintf(names[count++], "%s/%s", path, entry->d_name);
        }
    }
    closedir(folder);
    qsort(names, count, sizeof *names, by_name);
    int32_t inputs = 0;
    for (size_t i = 0; i < count; i++) {
        inputs += run_file(names[i], mutations);
        free(names[i]);
    }
    return inputs;
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: %s MUTATIONS FOLDER|FILE...\n", arguments[0]);
        return 2;
    }
    int32_t mutations = (int32_t)strtol(arguments[1], NULL, 10), inputs = 0;
    for (int i = 2; i < count; i++) {
        struct stat info;
        CLAIM(stat(arguments[i], &info) == 0);
        inputs += S_ISDIR(info.st_mode) ? run_folder(arguments[i], mutations) : run_file(arguments[i], mutations);
    }
    printf("%d inputs\n", (int)inputs);
    return inputs > 0 ? 0 : 1;
}
