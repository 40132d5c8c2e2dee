#!/usr/bin/env bash
# Man page and completions, as a user's shell takes them.
set -u
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$KL_COMMAND" "$work/kinloop"
PATH=$work:$PATH
passed=0 failed=0

# expect NAME FOUND WANTED
expect() {
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        printf 'FAILED %s\n  found:  %s\n  wanted: %s\n' "$1" "$2" "$3"
    fi
}

# --- man page
kinloop --man >"$work/kinloop.1"
if command -v groff >/dev/null; then
    expect "groff has nothing to say about the man page" "$(groff -ww -z -man -Tutf8 "$work/kinloop.1" 2>&1)" ""
    text=$(MANROFFOPT= groff -man -Tascii -P-cbou "$work/kinloop.1")
    for command in $(kinloop --help | sed -n 's/^  \([a-z]*\)  *[A-Za-z].*/\1/p'); do
        expect "the man page tells about $command" "$(grep -c "kinloop $command" <<<"$text" | sed 's/[1-9][0-9]*/some/')" some
    done
    expect "typed hyphens stay hyphens" "$(grep -c -e '--solver' <<<"$text" | sed 's/[1-9][0-9]*/some/')" some
fi

# --- bash
# shellcheck disable=SC1090
source <(kinloop --completion bash)
expect "bash knows the completion" "$(complete -p kinloop)" "complete -o filenames -F _kinloop kinloop"

# complete_line WORD ...: what bash would offer for the last word, sorted
complete_line() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _kinloop
    printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd' '
}
cd "$source_folder" || exit 1
expect "subcommands" "$(complete_line kinloop ru)" "run"
expect "options of the program" "$(complete_line kinloop --ver)" "--version"
expect "subcommands to help about" "$(complete_line kinloop help pro)" "profile"
expect "options of a subcommand" "$(complete_line kinloop run --sol)" "--solver"
expect "solvers" "$(complete_line kinloop run --solver newt)" "newton-ncp"
expect "solvers behind a comma" "$(complete_line kinloop run -s pgs-ncp,newt)" "pgs-ncp,newton-ncp"
expect "solvers behind =" "$(complete_line kinloop run --solver = newt)" "newton-ncp"
expect "choices" "$(complete_line kinloop run --preset high-t)" "high-throughput"
expect "parameters" "$(complete_line kinloop run --set pgs-ncp.om)" "pgs-ncp.omega= pgs-ncp.omega_min="
expect "scenes" "$(complete_line kinloop run nunch)" "nunchaku nunchaku_report"
expect "scene files" "$(complete_line kinloop run scenes/nun)" "scenes/nunchaku.json"
expect "words of an operand" "$(complete_line kinloop dataset ver)" "verify"
expect "nothing for a number" "$(complete_line kinloop run --steps 1)" ""

# --- zsh
if command -v zsh >/dev/null; then
    kinloop --completion zsh >"$work/_kinloop"
    expect "zsh parses its completion" "$(zsh -n "$work/_kinloop" 2>&1)" ""
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
