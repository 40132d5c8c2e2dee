#!/usr/bin/env bash
# The golden hashes by other compilers and optimisation levels than build/native's (gcc -O3).
# Prints a line a build, then "N passed, N failed". Usage: compilers.sh [COMPILER:LEVEL ...]
set -u
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- gcc:-O0 clang:-O0 clang:-O3
passed=0 failed=0
for build in "$@"; do
    compiler=${build%%:*} level=${build#*:}
    folder=build/parity-$compiler$level
    log=$folder.log
    good=true
    { cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$compiler" \
        -DCMAKE_CXX_COMPILER="$(echo "$compiler" | sed "s/gcc/g/; s/clang/clang/")++" -DCMAKE_C_FLAGS_RELEASE="$level" &&
        cmake --build "$folder" --target sim_test_golden sim_test_slow_golden; } >"$log" 2>&1 ||
        { tail -20 "$log"; good=false; }
    for suite in sim_test_golden sim_test_slow_golden; do
        $good && { "$folder/tests/$suite" >"$log" 2>&1 || { tail -20 "$log"; good=false; }; }
    done
    if $good; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    echo "$compiler $level: $($good && echo equal || echo differs)"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
