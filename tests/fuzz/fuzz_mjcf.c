// MJCF documents.
#include "import_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const FuzzFile files[] = {{"fuzz.xml", data, size},
                              FUZZ_TEXT(".obj", fuzz_mesh_obj),
                              FUZZ_TEXT("part.xml", "<mujoco><worldbody><body name='p'/></worldbody></mujoco>")};
    fuzz_import("fuzz.xml", &(FuzzFiles){files, 3}, size);
    return 0;
}
