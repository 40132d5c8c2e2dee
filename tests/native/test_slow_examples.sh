#!/usr/bin/env bash
# The two examples in each subcommand's --help run as they stand, in a folder that has what a source tree
# has. Exit 3 of bench --fail-above is an answer, too. Examples that need a tool which is missing are told.
set -u
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/tree" "$work/tree/web"
ln -s "$KL_COMMAND" "$work/bin/kinloop"
PATH=$work/bin:$PATH
cd "$work/tree" || exit 1
ln -s "$source_folder/tests" "$source_folder/scenes" .
export PARALLEL=--will-cite
passed=0 failed=0

# A page for kinloop serve, which this test does not build.
mkdir web/dist
echo '<!doctype html><title>page</title>' >web/dist/index.html

# run_example COMMAND LINE
run_example() {
    local status
    case $2 in
        *parallel*) command -v parallel >/dev/null || { echo "skipped, no GNU parallel: $2"; return; } ;;
        *jq*) command -v jq >/dev/null || { echo "skipped, no jq: $2"; return; } ;;
    esac
    if [ "$1" = serve ]; then  # runs until it is told to end
        timeout -s INT 10 bash -c "exec $2" >out 2>err
        status=$?
        grep -q 'page is not built' err && { echo "skipped, no page built: $2"; return; }
        if grep -q 'http://127.0.0.1:' out err && { [ $status -eq 124 ] || [ $status -eq 130 ]; }; then status=0; fi
    else
        timeout 1800 bash -c "set -o pipefail; $2" >out 2>err </dev/null
        status=$?
        case $2 in *--fail-above*) [ $status -ne 3 ] || status=0 ;; esac
    fi
    if [ $status -eq 0 ] && [ -n "$(find . -maxdepth 1 -newer "$work/began" -type f -size +0)" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED (%d) %s\n%s\n' $status "$2" "$(tail -5 err)"
    fi
}

examples_of() { kinloop "$1" --help | sed -n '/^examples$/,$s/^  \([^ ].*\)/\1/p'; }

touch "$work/began"
commands=$(kinloop --help | sed -n 's/^  \([a-z]*\)  *[A-Za-z].*/\1/p' | grep -v '^dataset$')
for command in dataset $commands; do  # the others use its set.h5
    count=0
    while IFS= read -r line; do
        run_example "$command" "$line"
        count=$((count + 1))
    done < <(examples_of "$command")
    [ $count -eq 2 ] || { failed=$((failed + 1)); echo "FAILED $command shows $count examples"; }
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
