#!/usr/bin/env bash
# clang-tidy over src, native and wasm, as built in build/native and build/wasm. A file that was clean is not looked
# at again until it, a header it includes, .clang-tidy or clang-tidy changes: the cache keeps a stamp of what it saw.
# Ends with "N passed, N failed", one a file.
set -eu
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
stamps=${KL_DEPS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kinloop}/tidy
export stamps
mkdir -p "$stamps" build/tidy
find "$stamps" -type f -mtime +30 -delete

# Each source with the project's files it is made of, as the last build found them: "BUILD SOURCE HEADER ...".
parts_of() {
    ninja -C "$1" -t deps | awk -v build="$1" -v top="$PWD/" '
        /^[^ ].*: #deps/ { wanted = $1 ~ /^CMakeFiles\/(kl|kinloop_parts|kinloop|kinloop_wasm|kinloop_import_wasm)\.dir\//; if (wanted && line) print line
                           line = wanted ? build : ""; next }
        wanted && NF { file = $1; sub(/^(\.\.\/)+/, "", file); if (index(file, top) == 1) file = substr(file, length(top) + 1)
                       if (file ~ /^(src|native|wasm)\//) line = line " " file; next }
        !NF { if (line) print line; line = "" }'
}

tool=$(clang-tidy --version | sha256sum)
rules=$(sha256sum .clang-tidy)
{ parts_of build/native; if [ -f build/wasm/build.ninja ]; then parts_of build/wasm | grep ' wasm/'; fi; } |
    sort -u | while read -r build source headers; do
        # shellcheck disable=SC2086
        key=$( (echo "$tool$rules"; sha256sum "$source" $headers) | sha256sum | cut -c1-32)
        echo "$build $source $key"
    done >build/tidy/files
[ -s build/tidy/files ] || { echo "tidy: nothing is built in build/native"; exit 1; }

# The shared library compiles each source a second time; clang-tidy would look at it twice.
for build in build/native build/wasm; do
    [ -f "$build/compile_commands.json" ] || continue
    mkdir -p "build/tidy/${build#build/}"
    awk '/^{/ { entry = "" } { entry = entry $0 "\n" }
         /^}/ { if (entry !~ /kl_shared\.dir|\/tests\//) { sub(/,\n$/, "\n", entry); printf "%s%s", (n++ ? "," : ""), entry } }
         BEGIN { print "[" } END { print "]" }' "$build/compile_commands.json" >"build/tidy/${build#build/}/compile_commands.json"
done

tidy_one() {
    [ -e "$stamps/$3" ] && { echo "clean $2"; return; }
    local log
    if log=$(clang-tidy -p "build/tidy/${1#build/}" --quiet --warnings-as-errors='*' "$2" 2>&1); then
        touch "$stamps/$3"
        echo "clean $2"
    else
        printf 'unclean %s\n%s\n' "$2" "$log"
    fi
}
export -f tidy_one
xargs -a build/tidy/files -n 3 -P "$jobs" bash -c 'tidy_one "$@"' tidy >build/tidy/log

failed=$(grep -c '^unclean ' build/tidy/log || true)
grep -v '^clean ' build/tidy/log || true
echo "$(grep -c '^clean ' build/tidy/log || true) passed, $failed failed"
[ "$failed" -eq 0 ]
