#!/usr/bin/env bash
# Says which Debian packages are missing for "run", "test" and "docs", and installs them when it may (root, or
# sudo). Debian's Node is too old for the page's build: then a newer one comes from npm into the cache.
set -eu

declare -A packages=(
    [run]='cmake ninja-build gcc g++ pkg-config libjansson-dev libexpat1-dev libyaml-dev libhdf5-dev libcmocka-dev emscripten node-acorn'
    [test]='chromium clang libclang-rt-dev clang-format clang-tidy valgrind parallel jq groff-base'
    [docs]='doxygen'
)
declare -A used_for=(
    [cmake]='build' [ninja-build]='build' [gcc]='the C core' [g++]='ODE' [pkg-config]='build'
    [libjansson-dev]='JSON' [libexpat1-dev]='URDF and MJCF' [libyaml-dev]='loop closures' [libhdf5-dev]='data sets'
    [emscripten]='the core as WebAssembly (about 1 GB on disk)' [node-acorn]='emcc' [nodejs]='the page'
    [npm]='the page' [libcmocka-dev]='C tests' [chromium]='tests of the page' [clang]='equal numbers by another compiler'
    [libclang-rt-dev]='fuzzing and sanitizers' [clang-format]='format of the code'
    [clang-tidy]='lint of the code' [valgrind]='memory of the command' [parallel]='shards' [jq]='examples of the command'
    [groff-base]='man page'
    [doxygen]='make docs'
)
cache=${KL_DEPS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kinloop}
PATH=$cache/node/bin:$PATH

fail() { echo "setup: $*" >&2; exit 1; }

is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

install() {
    echo "setup: installing $# Debian packages:"
    local name
    for name in "$@"; do printf '    %-16s %s\n' "$name" "${used_for[$name]}"; done
    local as=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "not root and no sudo here; please install: $*"
        as=(sudo)
        # Without a terminal nobody could type a password.
        [ -t 0 ] || sudo -n true 2>/dev/null || fail "sudo asks for a password; please install: $*"
    fi
    local quiet=(-y -q --no-install-recommends -o Dpkg::Use-Pty=0)
    "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${quiet[@]}" install "$@" >"$log" 2>&1 ||
        { "${as[@]}" apt-get -q update >>"$log" 2>&1 &&
          "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${quiet[@]}" install "$@" >>"$log" 2>&1; } ||
        { tail -20 "$log" >&2; fail "apt-get could not install them"; }
}

node_suffices() {
    command -v node >/dev/null && command -v npm >/dev/null &&
        node -e 'const [a, b] = process.versions.node.split(".").map(Number);
                 process.exit(a > 22 || (a === 22 && b >= 12) || (a === 20 && b >= 19) ? 0 : 1)'
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

missing=()
if command -v dpkg-query >/dev/null; then
    for group in "$@"; do
        for name in ${packages[$group]}; do is_installed "$name" || missing+=("$name"); done
    done
    if ! command -v node >/dev/null || ! command -v npm >/dev/null; then missing+=(nodejs npm); fi
    [ ${#missing[@]} -eq 0 ] || install "${missing[@]}"
else
    for tool in cmake ninja cc c++ pkg-config emcc node npm; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    [ ${#missing[@]} -eq 0 ] || fail "no Debian package manager here; please provide: ${missing[*]}"
fi

if ! node_suffices; then
    echo "setup: Node $(node --version) is older than the page's build needs; putting a newer one into $cache/node"
    npm install --silent --no-audit --no-fund --prefix "$cache/node" node@22 npm@10 >"$log" 2>&1 ||
        { tail -20 "$log" >&2; fail "npm could not install node@22"; }
    mkdir -p "$cache/node/bin"
    for tool in node npm npx; do ln -sf "../node_modules/.bin/$tool" "$cache/node/bin/$tool"; done
    hash -r
    node_suffices || fail "Node $(node --version) is still too old: version 20.19 or 22.12 is needed"
fi
