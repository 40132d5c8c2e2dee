#!/usr/bin/env bash
# Puts the sources of ODE, meshoptimizer, jansson, expat and libyaml into a cache and prints the folder they lie in.
#
#   KL_DEPS_DIR     take the tarballs from this folder instead of from apt
#   KL_DEPS_CACHE   the cache; ${XDG_CACHE_HOME:-~/.cache}/kinloop unless set
#
# Nothing of the system's apt is changed: the machine's own package sources are copied, as source
# entries, into a temporary folder, and apt is pointed there. Each tarball must match its SHA-256.
set -eu

cache=${KL_DEPS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kinloop}
tarballs='
b26aebdcb015e2d89720ef48e0cb2e8a3ca77915f89d853893e7cc861f810f22 ode_0.16.2.orig.tar.gz ode-0.16.2
881ea2cc687f1fef5ce70484e0ca6504e13856dd856677749f3763bc685956d3 meshoptimizer_0.18+dfsg.orig.tar.xz meshoptimizer-0.18
c739578bf6b764aa0752db9a2fdadcfe921c78f1228c7ec0bb47fa804c55d17b jansson_2.14.orig.tar.gz jansson-2.14
ab00ee05c7067fd10a35c5d2a4922ebba746ddd50ff83b79c828da17bbdf1757 expat_2.5.0.orig.tar.gz libexpat-R_2_5_0
fa240dbf262be053f3898006d502d514936c818e422afdcf33921c63bed9bf2e libyaml_0.2.5.orig.tar.gz libyaml-0.2.5
'

fail() { echo "deps: $*" >&2; exit 1; }
matches() { [ -f "$1" ] && echo "$2  $1" | sha256sum --check --status; }

# Fetches the upstream tarball of a Debian source package into the current folder.
fetch_by_apt() {
    local package=$1 scratch=$cache/apt
    command -v apt-get >/dev/null || fail "no apt-get here: set KL_DEPS_DIR to a folder with:$names"
    if [ ! -d "$scratch/parts" ]; then
        mkdir -p "$scratch/parts.new" "$scratch/lists/partial" "$scratch/archives/partial"
        local file
        for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
            [ -f "$file" ] || continue
            sed -nE 's/^deb[[:space:]]/deb-src /p' "$file" >"$scratch/parts.new/$(basename "$file")"
        done
        for file in /etc/apt/sources.list.d/*.sources; do
            [ -f "$file" ] || continue
            sed -E 's/^Types:.*/Types: deb-src/' "$file" >"$scratch/parts.new/$(basename "$file")"
        done
        mv "$scratch/parts.new" "$scratch/parts"
        apt_private update -qq >&2
    fi
    apt_private source -qq --only-source --tar-only --download-only "$package" >&2
}

apt_private() {
    apt-get -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$cache/apt/parts" \
        -o "Dir::State::Lists=$cache/apt/lists" -o "Dir::Cache=$cache/apt" \
        -o APT::Sandbox::User=root "$@"
}

names=$(echo "$tarballs" | awk 'NF { printf " %s", $2 }')
mkdir -p "$cache/tarballs" "$cache/src"
exec 8>"$cache/lock"
flock 8
echo "$tarballs" | sed '/^$/d' | while read -r sum name folder; do
    [ -f "$cache/src/$folder/.complete" ] && continue
    if ! matches "$cache/tarballs/$name" "$sum"; then
        if [ -n "${KL_DEPS_DIR:-}" ]; then
            [ -f "$KL_DEPS_DIR/$name" ] || fail "KL_DEPS_DIR=$KL_DEPS_DIR has no $name"
            cp "$KL_DEPS_DIR/$name" "$cache/tarballs/"
        else
            echo "deps: fetching $name" >&2
            (cd "$cache/tarballs" && fetch_by_apt "${name%%_*}") || fail "cannot fetch $name by apt"
        fi
        matches "$cache/tarballs/$name" "$sum" || fail "$name is missing or has another SHA-256 than $sum"
    fi
    rm -rf "${cache:?}/src/$folder"
    (cd "$cache/src" && cmake -E tar xf "$cache/tarballs/$name")
    touch "$cache/src/$folder/.complete"
done
rm -rf "$cache/apt"
echo "$cache/src"
