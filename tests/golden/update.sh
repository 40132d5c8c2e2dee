#!/usr/bin/env bash
# Writes the state hashes that the native deterministic build reaches into hashes.json and matrix.json.
# For changes that are meant to change numbers: commit the files with them.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build/native}
for suite in sim_test_golden sim_test_slow_golden; do
    cmake --build "$build" --target $suite
    "$build/tests/$suite" --update
done
git --no-pager diff --stat -- tests/golden
