// The state hashes of tests/golden/matrix.json: the first steps of every scene with every solver.
#include "golden.h"

GOLDEN_SUITE(KL_TEST_DATA "/../golden/matrix.json", every_scene_and_solver_reaches_its_golden_hash)
