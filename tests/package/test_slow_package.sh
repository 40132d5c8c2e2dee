#!/usr/bin/env bash
# The installed library serves a program outside the tree by pkg-config (shared and static) and by CMake;
# the Debian package's command runs from where it was unpacked. Usage: test_slow_package.sh BUILD SOURCE
set -eu
build=$1 source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --build "$build" --target package_parts >"$scratch/log" 2>&1 || { tail -20 "$scratch/log"; exit 1; }
cmake --install "$build" --prefix "$scratch/usr" >"$scratch/log"

pc=$(find "$scratch/usr" -name kinloop.pc)
lib=$(dirname "$(dirname "$pc")")
sed -i "s|^prefix=.*|prefix=$scratch/usr|" "$pc"
export PKG_CONFIG_PATH=${pc%/*}
# shellcheck disable=SC2046
cc "$source/tests/package/example.c" -o "$scratch/shared" $(pkg-config --cflags --libs kinloop)
# shellcheck disable=SC2046
cc "$source/tests/package/example.c" -o "$scratch/static" -Wl,-Bstatic $(pkg-config --cflags --libs kinloop) \
    -lkl_ode -lkl -Wl,-Bdynamic $(pkg-config --libs jansson expat yaml-0.1) -lstdc++ -lm
shared=$(LD_LIBRARY_PATH=$lib "$scratch/shared")
static=$("$scratch/static")
echo "$shared"
[ "$shared" = "$static" ] || { echo "shared and static disagree: $static"; exit 1; }

# The program of the documentation, as it stands there.
sed -n '/^```c$/,/^```$/p' "$source/docs/get-started.md" | grep -v '^```' >"$scratch/started.c"
# shellcheck disable=SC2046
cc -Wall -Wextra -Werror "$scratch/started.c" -o "$scratch/started" $(pkg-config --cflags --libs kinloop)
(cd "$source" && LD_LIBRARY_PATH=$lib "$scratch/started") | grep -q '^0.100 s, hash '

mkdir "$scratch/app"
cat >"$scratch/app/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(app C)
find_package(kinloop 0.1 REQUIRED)
foreach(kind kl kl_static)
    add_executable(with_${kind} ${EXAMPLE})
    target_link_libraries(with_${kind} PRIVATE kinloop::${kind})
endforeach()
CMAKE
cmake -S "$scratch/app" -B "$scratch/app/build" -DCMAKE_PREFIX_PATH="$scratch/usr" \
    -DEXAMPLE="$source/tests/package/example.c" >"$scratch/log"
cmake --build "$scratch/app/build" >>"$scratch/log"
for program in with_kl with_kl_static; do
    [ "$("$scratch/app/build/$program")" = "$shared" ] || { echo "$program disagrees"; exit 1; }
done

exported=$(nm -D --defined-only "$lib/libkl.so" | awk '$2 == "T" && $3 !~ /^kl_/ { print $3 }')
[ -z "$exported" ] || { echo "the shared library exports more than kl.h declares: $exported"; exit 1; }

(cd "$build" && cpack -G DEB -B "$scratch/deb" >"$scratch/log")
mkdir "$scratch/root"
dpkg-deb -x "$scratch"/deb/*.deb "$scratch/root"
[ -s "$(find "$scratch/root" -name 'kinloop.1')" ]
"$scratch/root/usr/bin/kinloop" run box_on_plane --solver pgs-ncp --steps 10 --json | grep -q '"hash"'
echo '5 passed, 0 failed'
