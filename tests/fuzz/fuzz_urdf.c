// URDF documents.
#include "import_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const FuzzFile files[] = {{"fuzz.urdf", data, size},
                              {".obj", fuzz_mesh_obj, sizeof fuzz_mesh_obj - 1},
                              {".stl", fuzz_mesh_obj, sizeof fuzz_mesh_obj - 1}};
    fuzz_import("fuzz.urdf", &(FuzzFiles){files, 3}, size);
    return 0;
}
