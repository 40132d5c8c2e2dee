// Loop closures in yaml, beside a four-bar as a tree.
#include "import_target.h"

#define LINK(name) \
    "<link name='" name "'><inertial><mass value='1'/><inertia ixx='.1' iyy='.1' izz='.1'/></inertial></link>"
#define JOINT(name, kind, from, to, x)                                                                      \
    "<joint name='" name "' type='" kind "'><parent link='" from "'/><child link='" to "'/><origin xyz='" x \
    " 0 .1'/><axis xyz='0 1 0'/></joint>"

static const char urdf[] = "<robot name='r'>" LINK("base") LINK("a") LINK("b") LINK("c") LINK("closedloop1_A")
    LINK("closedloop1_B") JOINT("mot1", "revolute", "base", "a", "0") JOINT("mot2", "continuous", "base", "c", ".1")
        JOINT("free1", "continuous", "a", "b", "0") JOINT("fix1", "fixed", "b", "closedloop1_A", ".1")
            JOINT("fix2", "fixed", "c", "closedloop1_B", "0") "</robot>";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const FuzzFile files[] = {FUZZ_TEXT("four.urdf", urdf), {"robot.yaml", data, size}};
    fuzz_import("four.urdf", &(FuzzFiles){files, 2}, size);
    return 0;
}
