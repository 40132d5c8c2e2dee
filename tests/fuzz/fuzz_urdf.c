// URDF documents.
#include "import_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const FuzzFile files[] = {
        {"fuzz.urdf", data, size}, FUZZ_TEXT(".obj", fuzz_mesh_obj), FUZZ_TEXT(".stl", fuzz_mesh_obj)};
    fuzz_import("fuzz.urdf", &(FuzzFiles){files, 3}, size);
    return 0;
}
