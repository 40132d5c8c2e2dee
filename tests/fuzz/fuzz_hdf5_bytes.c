// Files of dual problems by their bytes: HDF5 (its own reader included), and JSON by content.
#include "memory_file.h"

// HDF5 itself leaks a little on damaged files.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libhdf5"; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int descriptor = memory_file_reset();
    CLAIM(pwrite(descriptor, data, size, 0) == (ssize_t)size);
    read_problems();
    return 0;
}
