// A file in shared memory, and reading every problem of it.
#ifndef KL_TESTS_FUZZ_MEMORY_FILE_H
#define KL_TESTS_FUZZ_MEMORY_FILE_H

#include <unistd.h>

#include "dataset_file.h"
#include "input.h"
#include "problem_file.h"

static char memory_file_path[] = "/dev/shm/kinloop-fuzz-XXXXXX";

static void memory_file_remove(void) { unlink(memory_file_path); }

// Empties the file, made at the first call.
static inline int memory_file_reset(void) {
    static int descriptor = -1;
    if (descriptor < 0) {
        descriptor = mkstemp(memory_file_path);
        CLAIM(descriptor >= 0);
        atexit(memory_file_remove);
    }
    CLAIM(ftruncate(descriptor, 0) == 0);
    return descriptor;
}

static inline void read_problems(void) {
    ProblemFile file;
    KlStatus status = problem_file_open(memory_file_path, &file);
    if (status != KL_OK) {
        claim_failure(status);
        return;
    }
    for (int32_t i = 0; i < file.count && i < 8; i++) {
        ProblemRecord record;
        status = problem_file_read(&file, i, &record);
        if (status == KL_OK) {
            CLAIM(kl_problem_check(record.problem) == KL_OK);
        } else {
            claim_failure(status);
        }
        problem_record_free(&record);
    }
    problem_file_close(&file);
}

#endif
