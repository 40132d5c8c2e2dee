#!/bin/sh
# Follows docs/adding-a-solver.md to the letter in a temporary copy: the page's file, the page's line,
# a build, the suites that loop over all solvers, and the command, which lists it and solves with it.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
(cd "$root" && tar cf - --exclude=./build --exclude=./.git --exclude=./web/node_modules .) | (cd "$copy" && tar xf -)

page=$root/docs/adding-a-solver.md
awk '/^```c$/ { block++; on = 1; next } /^```$/ { on = 0 } on && block == 1' "$page" > "$copy/src/solver/apgd.c"
line=$(awk '/^```c$/ { block++; on = 1; next } /^```$/ { on = 0 } on && block == 2' "$page")
list=$copy/src/solver/solver_list.h
last=$(grep -n 'SOLVER(' "$list" | tail -n 1 | cut -d: -f1)
sed -i "${last}s/\$/ \\\\/" "$list"
{ head -n "$last" "$list"; printf '%s\n' "$line"; tail -n "+$((last + 1))" "$list"; } > "$list.new"
mv "$list.new" "$list"

cmake -S "$copy" -B "$copy/build" -G Ninja -DCMAKE_BUILD_TYPE=Release > "$copy/log" 2>&1 || { cat "$copy/log"; exit 1; }
nice cmake --build "$copy/build" -j2 --target solver_test_solver solver_test_conformance kinloop > "$copy/log" 2>&1 || { tail -n 40 "$copy/log"; exit 1; }
if grep 'apgd.c.*warning' "$copy/log"; then exit 1; fi
"$copy/build/tests/solver_test_solver"
"$copy/build/tests/solver_test_conformance"
"$copy/build/kinloop" list solvers | grep -w apgd
"$copy/build/kinloop" list params | grep "^apgd.step "
"$copy/build/kinloop" solve "$copy/tests/data/problems.json:1" --solver apgd --set apgd.step=0.9 --strict
