// MJCF documents.
#include "import_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const FuzzFile files[] = {{"fuzz.xml", data, size},
                              {".obj", fuzz_mesh_obj, sizeof fuzz_mesh_obj - 1},
                              {"part.xml", "<mujoco><worldbody><body name='p'/></worldbody></mujoco>", 56}};
    fuzz_import("fuzz.xml", &(FuzzFiles){files, 3}, size);
    return 0;
}
