// The state hashes of tests/golden/hashes.json: runs long enough for contacts, limits and events. Every
// build of the library must reach them, bit for bit.
#include "golden.h"

GOLDEN_SUITE(KL_TEST_DATA "/../golden/hashes.json", every_build_reaches_the_golden_hashes)
