#!/usr/bin/env bash
# The short native comparison of make run: one scene with loops and contacts, several solvers, both builds.
set -eu
scene=scenes/fourbar_free.json
[ -f "$scene" ] || scene=$(find scenes -maxdepth 1 -name '*.json' ! -name schema.json | sort | head -1)
for build in native native-fast; do
    echo
    echo "== $scene, $build build"
    "build/$build/kinloop" run "$scene" --preset high-throughput --steps 500 --solver pgs-ncp,nbgs,admm-ncp-fp,admm-ncp-plus
done
