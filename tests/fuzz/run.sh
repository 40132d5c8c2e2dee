#!/bin/sh
# run.sh TARGET|all SECONDS|COUNTruns [libFuzzer options]: builds the fuzz targets with libFuzzer, ASan and
# UBSan (clang) and runs them one after the other from tests/fuzz/corpus/TARGET. New inputs stay in
# build/fuzz/corpus/TARGET; a failure leaves its input in build/fuzz/crash/TARGET and exits 1.
#   tests/fuzz/run.sh scene 60          a minute
#   tests/fuzz/run.sh all 10000runs     ten thousand inputs each
set -eu
[ $# -ge 2 ] || { sed -n 2,6p "$0" >&2; exit 2; }
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${KL_FUZZ_BUILD:-$top/build/fuzz}
target=$1 amount=$2
shift 2
clang=$(command -v clang || command -v clang-14)
cmake -S "$top" -B "$build" -G Ninja -DKL_FUZZ=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_C_COMPILER="$clang" -DCMAKE_CXX_COMPILER="$(command -v clang++ || command -v clang++-14)" >/dev/null
case $target in
all) targets=$(cd "$top/tests/fuzz" && ls fuzz_*.c | sed 's/^fuzz_//; s/\.c$//') ;;
*) targets=$target ;;
esac
case $amount in
*runs) limit=-runs=${amount%runs} ;;
*) limit=-max_total_time=$amount ;;
esac

# What went wrong, and the input that showed it, so that it can be had from a log alone when it is small.
failed() { # TARGET
    tail -60 "$build/$1.log"
    for input in "$build/crash/$1"/*; do
        [ ! -f "$input" ] || echo "INPUT $1 $(gzip -9 -c "$input" | base64 -w 0 | head -c 2900)"
    done
}

for name in $targets; do
    cmake --build "$build" -j "${KL_JOBS:-2}" --target "fuzz_$name" >"$build/build.log" 2>&1 ||
        { cat "$build/build.log" >&2; exit 1; }
    mkdir -p "$build/corpus/$name" "$build/crash/$name"
    words=$top/tests/fuzz/words/$name.txt
    [ -f "$words" ] && dictionary=-dict=$words || dictionary=
    echo "== $name"
    ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:detect_stack_use_after_return=1 \
    UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
    nice -n 19 "$build/tests/fuzz/fuzz_$name" "$limit" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
        $dictionary -artifact_prefix="$build/crash/$name/" "$@" \
        "$build/corpus/$name" "$top/tests/fuzz/corpus/${name%_objects}" >"$build/$name.log" 2>&1 ||
        { failed "$name" >&2; exit 1; }
    grep -E 'cov:|stat::number_of_executed_units|stat::average_exec' "$build/$name.log" | tail -3
done
