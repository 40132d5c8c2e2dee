#!/usr/bin/env bash
# Writes the state hashes that the native deterministic build reaches into hashes.json. For changes that
# are meant to change numbers: commit the file with them.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build/native}
cmake --build "$build" --target sim_test_golden
"$build/tests/sim_test_golden" --update
git --no-pager diff --stat -- tests/golden/hashes.json
