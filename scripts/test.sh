#!/usr/bin/env bash
# All tests, one stage after another; ends with a line "N passed, N failed".
#   --all   also what takes long: every slow test, sanitizers over them, the package in a clean
#           system, times of the page, thousands of mutated links and files
set -u
cd "$(dirname "$0")/.."
all=false
[ "${1:-}" = --all ] && all=true && export KINLOOP_TIMINGS=1 KINLOOP_MUTATIONS=2000
jobs=$(nproc)
passed=0
failed=0
failures=()
told=build/failures.log # what failed, by name and error: printed last
mkdir -p build
: >$told

stage() { printf '\n== %s\n' "$*"; }

# count NAME PASSED FAILED STATUS: a stage that ends badly without a failed test counts as one.
count() {
    local bad=$3
    [ "$4" -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
    passed=$((passed + $2))
    failed=$((failed + bad))
    [ "$bad" -gt 0 ] && failures+=("$1")
    printf '%s: %d passed, %d failed\n' "$1" "$2" "$bad"
}

# A stage that cannot run here is told, not passed over.
skip() { printf 'SKIPPED %s: %s\n' "$1" "$2"; }

# tell NAME: keeps the end of what comes in, for the end of the output.
tell() {
    echo "-- $1"
    cut -c1-3000 | tail -16
} >>$told

# A single claim: passes when the command does.
claim() {
    local name=$1 log=build/$1.log
    shift
    "$@" >"$log" 2>&1
    local status=$?
    cat "$log"
    if [ $status -eq 0 ]; then count "$name" 1 0 0; else
        tell "$name" <"$log"
        count "$name" 0 1 1
    fi
}

# build NAME COMMAND...: says of a build that fails what it complained about.
build() {
    local name=$1 log=build/$1.log complaints
    shift
    "$@" >"$log" 2>&1 && return
    complaints=$(grep -E 'error|undefined|FAILED' -A3 "$log" || tail -20 "$log")
    echo "$complaints" | head -40
    echo "$complaints" | head -20 | tell "$name"
    count "$name" 0 1 1
    return 1
}

# ctest in a build folder; cmocka says one RUN and one OK a test.
run_ctest() {
    local name=$1 folder=$2 log
    shift 2
    log=$folder/Testing/Temporary/LastTest.log
    rm -f "$log"
    (cd "$folder" && ctest -j"$jobs" --output-on-failure --no-tests=error "$@") >"$folder/ctest.log" 2>&1
    local status=$?
    if [ $status -ne 0 ]; then
        grep -vE '^ *[0-9]+/[0-9]+ .* Passed|^ *Start ' "$folder/ctest.log" | tail -60
        grep -E '^\[  (FAILED|ERROR)|^\[   LINE|^[[:space:]]*[0-9]+ - |ERROR: |last error: |^INPUT |runtime error|No tests' "$folder/ctest.log" |
            awk '!seen[$0]++' | tell "$name"
    fi
    local began ok
    began=$(grep -c '^\[ RUN ' "$log" 2>/dev/null)
    ok=$(grep -c '^\[ *OK \]' "$log" 2>/dev/null)
    count "$name" "${ok:-0}" $((${began:-0} - ${ok:-0})) $status
}

# A command whose last line is "N passed, N failed"; other lines that are not fine say what failed.
fine='^(ok|clean|skipped) |^[0-9]+ passed|: equal$|^ *$'
run_counted() {
    local name=$1 log
    shift
    log=build/$name.log
    "$@" >"$log" 2>&1
    local status=$? line
    line=$(grep -oE '[0-9]+ passed, [0-9]+ failed' "$log" | tail -1)
    if [ $status -ne 0 ]; then
        grep -vE "$fine" "$log" | tail -40
        grep -vE "$fine" "$log" | tell "$name"
    else
        grep -E '^flaky' "$log"
    fi
    set -- $(echo "${line:-0 passed, 0 failed}" | grep -oE '[0-9]+')
    count "$name" "$1" "$2" $status
}

stage "floors and format"
claim floors tests/check_floors.sh
if command -v clang-format >/dev/null; then claim format tests/check_format.sh; else skip format "no clang-format"; fi

stage "builds"
for target in native-tests wasm; do build build-$target make --no-print-directory $target; done

if command -v clang-tidy >/dev/null; then
    stage "clang-tidy"
    run_counted clang-tidy tests/check_tidy.sh
else
    skip clang-tidy "not installed"
fi

stage "C tests, native build"
if $all; then run_ctest c-tests build/native; else run_ctest c-tests build/native -LE exhaustive; fi

stage "C tests under AddressSanitizer and UndefinedBehaviorSanitizer"
if build configure-sanitizers cmake -S . -B build/sanitize -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DKL_SANITIZE=ON -DKL_WERROR=ON && build build-sanitizers cmake --build build/sanitize -j"$jobs"; then
    if $all; then run_ctest sanitizers build/sanitize; else run_ctest sanitizers build/sanitize -L quick; fi
fi

if $all && command -v clang >/dev/null; then
    for kind in memory thread; do
        stage "quick C tests under the ${kind} sanitizer"
        if make --no-print-directory sanitize-$kind >build/make-sanitize-$kind.log 2>&1; then
            count "sanitize-$kind" "$(grep -c ' Passed ' build/make-sanitize-$kind.log)" 0 0
        else
            tail -40 build/make-sanitize-$kind.log
            count "sanitize-$kind" 0 1 1
        fi
    done
elif $all; then
    skip sanitize-memory "no clang"
fi

if command -v clang >/dev/null; then
    stage "the golden hashes by other compilers and optimisation levels"
    run_counted compilers tests/golden/compilers.sh
else
    skip compilers "no clang"
fi

if $all; then
    stage "results by vectors of other widths"
    run_counted widths tests/golden/widths.sh
fi

if [ -f wasm/parity.mjs ]; then
    stage "WebAssembly against native, under Node"
    run_counted wasm-parity node wasm/parity.mjs
    run_counted wasm-golden node wasm/golden.mjs
    run_counted wasm-traces node wasm/traces.mjs
    run_counted wasm-memory node wasm/memory.mjs
    run_counted wasm-long node wasm/long.mjs --fresh --parts 5 --seconds 2 fourbar_fixed quadruped
    $all && run_counted wasm-models node wasm/models.mjs
fi

if [ -d web/tests/unit ]; then
    stage "units of the page"
    build page-packages make --no-print-directory web/node_modules/.package-lock.json
    (cd web && NO_COLOR=1 npx vitest run --reporter=default --reporter=json --outputFile.json=../build/vitest.json) >build/vitest.log 2>&1
    status=$?
    if [ $status -ne 0 ]; then
        tail -40 build/vitest.log
        grep -E '^ *FAIL |^[A-Za-z]*Error:' build/vitest.log | awk '!seen[$0]++' | tell page-units
    fi
    counts=$(node -e 'const r = JSON.parse(require("fs").readFileSync("build/vitest.json"));
                      console.log(r.numPassedTests, r.numFailedTests)' 2>/dev/null || echo '0 0')
    # shellcheck disable=SC2086
    count page-units $counts $status
    stage "lint and types of the page"
    claim page-lint npm --prefix web run --silent lint
fi

stage "the npm package, installed into an empty project"
build build-npm make --no-print-directory npm && run_counted npm node tests/package/npm.mjs

if [ -f web/tests/e2e/run.mjs ]; then
    stage "the page in Chromium"
    build build-page make --no-print-directory web && run_counted page npm --prefix web run --silent e2e
fi

printf '\n'
if [ ${#failures[@]} -gt 0 ]; then
    cat $told
    echo "failed: ${failures[*]}"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
