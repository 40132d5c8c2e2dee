#!/usr/bin/env bash
# Set-up without apt, without network and without root: scripts/deps.sh takes the tarballs from KL_DEPS_DIR, refuses
# one with another sum, works from its cache alone ever after; scripts/setup.sh of a user who may not install asks for
# nothing when all is there, and names what is missing when it is not. Usage: test_slow_setup.sh SOURCE
set -eu
source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
passed=0
ok() { passed=$((passed + 1)); }
fail() { echo "FAILED $*"; tail -5 "$scratch/log"; exit 1; }

# A place without apt: a path of tools among which there is no apt-get, dpkg-query, sudo.
mkdir "$scratch/bin"
for tool in bash sh env awk sed cmake cp rm mv mkdir touch flock sha256sum dirname basename cat id mktemp tail; do
    ln -s "$(command -v $tool)" "$scratch/bin/"
done
bare() { env -i HOME="$scratch/home" PATH="$scratch/bin" "$@" >"$scratch/out" 2>"$scratch/log"; }

# The tarballs, as a user would have brought them: from the cache of this build.
"$source/scripts/deps.sh" >"$scratch/sources"
cached=$(dirname "$(cat "$scratch/sources")")/tarballs
mkdir "$scratch/brought"
for name in $(sed -n 's/^[0-9a-f]\{64\} \([^ ]*\) .*/\1/p' "$source/scripts/deps.sh"); do
    [ -f "$cached/$name" ] || { echo "skipped: no $name in the cache"; exit 77; }
    cp "$cached/$name" "$scratch/brought/"
done

if bare "$source/scripts/deps.sh"; then fail "deps without apt and KL_DEPS_DIR went through"; fi
grep -q 'KL_DEPS_DIR' "$scratch/log" || fail "deps without apt does not name KL_DEPS_DIR"
ok
bare KL_DEPS_DIR="$scratch/brought" "$source/scripts/deps.sh" || fail "deps from KL_DEPS_DIR"
sources=$(cat "$scratch/out")
[ -f "$sources/ode-0.16.2/CMakeLists.txt" ] || fail "no source of ODE in $sources"
[ -f "$sources/libyaml-0.2.5/CMakeLists.txt" ] || fail "no source of libyaml in $sources"
ok
bare "$source/scripts/deps.sh" || fail "deps from its cache alone"
[ "$(cat "$scratch/out")" = "$sources" ] || fail "another folder the second time"
ok
echo 'not what upstream wrote' >"$scratch/brought/expat_2.5.0.orig.tar.gz"
if bare KL_DEPS_CACHE="$scratch/other" KL_DEPS_DIR="$scratch/brought" "$source/scripts/deps.sh"; then
    fail "a changed tarball went through"
fi
grep -q 'expat_2.5.0.orig.tar.gz .*SHA-256' "$scratch/log" || fail "the changed tarball is not named"
[ ! -e "$scratch/other/src/libexpat-R_2_5_0" ] || fail "the changed tarball was unpacked"
ok
rm "$scratch/brought/expat_2.5.0.orig.tar.gz"
if bare KL_DEPS_CACHE="$scratch/other" KL_DEPS_DIR="$scratch/brought" "$source/scripts/deps.sh"; then
    fail "deps without a tarball went through"
fi
grep -q "has no expat_2.5.0.orig.tar.gz" "$scratch/log" || fail "the missing tarball is not named"
ok

# As another user, who has no sudo; of one package that is there, and of one that is nowhere.
if [ "$(id -u)" -eq 0 ] && command -v setpriv node npm dpkg-query >/dev/null; then
    mkdir "$scratch/nobody" && chmod 777 "$scratch/nobody"
    for tool in dpkg-query apt-get node npm; do ln -s "$(command -v $tool)" "$scratch/bin/"; done
    user() {
        sed "s/^    \\[run\\]=.*/    [run]='$1'/; s/^declare -A used_for=(/&[no-such-package]='a test'/" \
            "$source/scripts/setup.sh" >"$scratch/setup.sh"
        setpriv --reuid=65534 --regid=65534 --clear-groups env -i HOME="$scratch/nobody" PATH="$scratch/bin" \
            bash "$scratch/setup.sh" run >"$scratch/out" 2>"$scratch/log" </dev/null
    }
    user bash || fail "set-up of a user with everything installed"
    [ ! -s "$scratch/log" ] || fail "set-up of a user with everything installed complains"
    ok
    if user 'bash no-such-package'; then fail "set-up of a user went through without a package"; fi
    grep -q 'not root and no sudo here; please install: no-such-package' "$scratch/log" || fail "it does not name the package"
    ok
fi
echo "$passed passed, 0 failed"
