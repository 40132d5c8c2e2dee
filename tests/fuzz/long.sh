#!/usr/bin/env bash
# long.sh [COUNT [TARGET...]]: COUNT inputs a target (10000000), then a tenth of that with sanitizers.
# The bulk runs in a build with coverage alone, several times as fast; its corpus is then replayed, and fuzzed
# further, with AddressSanitizer and UndefinedBehaviorSanitizer. Works in turns of COUNT / 20 inputs and goes on
# where it was stopped. Everything lies in build/fuzz-long (KL_FUZZ_LONG): corpus/, crash/, log/, turns.tsv, and
# table.md, which is the result. A failing input is kept in crash/ and the run goes on; exits 1 when there is one.
#   tests/fuzz/long.sh                    ten million each
#   tests/fuzz/long.sh 100000000 mesh     a hundred million of one
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
out=${KL_FUZZ_LONG:-$top/build/fuzz-long}
count=${1:-10000000}
[ $# -gt 0 ] && shift
targets=${*:-link problem hdf5_bytes scene mesh urdf mjcf builder solver loops hdf5_objects hdf5}
turn=$(((count + 19) / 20))
most_failures=20 # of one target and build; then the next one comes
mkdir -p "$out/log"
turns=$out/turns.tsv # target, build, inputs, seconds, edges, failed
touch "$turns"

build() { # KIND KL_FUZZ
    cmake -S "$top" -B "$out/$1" -G Ninja -DKL_FUZZ="$2" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        -DCMAKE_C_COMPILER="$(command -v clang || command -v clang-14)" \
        -DCMAKE_CXX_COMPILER="$(command -v clang++ || command -v clang++-14)" >/dev/null &&
        for target in $targets; do
            nice cmake --build "$out/$1" -j "${KL_JOBS:-2}" --target "fuzz_$target" >"$out/log/build" || return 1
        done || { cat "$out/log/build" >&2; exit 1; }
}

total() { # TARGET KIND COLUMN
    awk -F'\t' -v t="$1" -v k="$2" -v c="$3" '$1 == t && $2 == k { sum += $c } END { printf "%d", sum }' "$turns"
}

one_turn() { # TARGET KIND INPUTS
    local target=$1 kind=$2 inputs=$3 log=$out/log/$1-$2 words=$top/tests/fuzz/words/$1.txt leaks=1 failed=0 options=()
    [ -f "$words" ] && options+=("-dict=$words")
    [ "$kind" = bulk ] && leaks=0  # without sanitizers there are none to look for
    [ "$target" = hdf5_bytes ] && options+=(-max_len=10000)  # small files, which reach as far
    mkdir -p "$out/corpus/$target" "$out/crash/$target"
    local begin=$SECONDS
    ASAN_OPTIONS=detect_leaks=$leaks:allocator_may_return_null=1:detect_stack_use_after_return=1 \
    UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
        nice -n 19 "$out/$kind/tests/fuzz/fuzz_$target" "-runs=$inputs" -timeout=10 -rss_limit_mb=2048 \
        -entropic=0 -print_final_stats=1 -detect_leaks=$leaks "${options[@]}" \
        -artifact_prefix="$out/crash/$target/" "$out/corpus/$target" "$top/tests/fuzz/corpus/${target%_objects}" >"$log" 2>&1 ||
        failed=1
    [ $failed = 0 ] || cp "$log" "$log-failure-$(date +%s)"
    local ran edges
    ran=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    edges=$(grep -o 'cov: [0-9]*' "$log" | tail -1 | cut -d' ' -f2)
    printf '%s\t%s\t%d\t%d\t%d\t%d\n' "$target" "$kind" "${ran:-0}" $((SECONDS - begin)) "${edges:-0}" $failed >>"$turns"
    [ "${ran:-0}" -gt 0 ]
}

# Until `wanted` inputs have been run, over all calls of this script.
fuzz() { # TARGET KIND WANTED
    local target=$1 kind=$2 wanted=$3 done
    while done=$(total "$target" "$kind" 3) && [ "$done" -lt "$wanted" ]; do
        [ "$(total "$target" "$kind" 6)" -lt $most_failures ] || return
        one_turn "$target" "$kind" $((wanted - done < turn ? wanted - done : turn)) || return
        table
    done
}

edges() { # TARGET: the most of any turn of the bulk
    awk -F'\t' -v t="$1" '$1 == t && $2 == "bulk" && $5 > most { most = $5 } END { printf "%d", most }' "$turns"
}

table() {
    {
        echo '| target | inputs | seconds | edges | with sanitizers | seconds | failures |'
        echo '|---|---|---|---|---|---|---|'
        for name in $(cut -f1 "$turns" | awk '!seen[$0]++'); do
            printf "| %s | %'d | %'d | %'d | %'d | %'d | %d |\n" "$name" "$(total "$name" bulk 3)" \
                "$(total "$name" bulk 4)" "$(edges "$name")" "$(total "$name" sanitized 3)" \
                "$(total "$name" sanitized 4)" $(($(total "$name" bulk 6) + $(total "$name" sanitized 6)))
        done
    } >"$out/table.md"
}

build bulk coverage
for target in $targets; do fuzz "$target" bulk "$count"; done
build sanitized ON
for target in $targets; do fuzz "$target" sanitized $(((count + 9) / 10)); done
table
cat "$out/table.md"
[ "$(awk -F'\t' '$6 > 0' "$turns" | wc -l)" -eq 0 ]
