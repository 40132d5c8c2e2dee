#!/usr/bin/env bash
# The Debian package in a clean system: mmdebstrap makes a root of nothing but Debian's required packages and apt, by
# the machine's own package sources; there apt installs the package with what it depends on, the command, its man page
# and its completion are tried, and a purge leaves nothing. Usage: test_slow_debian.sh BUILD
# Exit 77, a skipped test, where there is no mmdebstrap or it cannot make a root.
set -eu
build=$1
skip() { echo "skipped: $*"; exit 77; }
command -v mmdebstrap >/dev/null || skip "no mmdebstrap"
# shellcheck disable=SC1091
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[ -n "$suite" ] || skip "no Debian release here"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --build "$build" --target package_parts >"$scratch/log" 2>&1 || { tail -20 "$scratch/log"; exit 1; }
(cd "$build" && cpack -G DEB -B "$scratch/deb" >"$scratch/log") || { tail -20 "$scratch/log"; exit 1; }
cp "$scratch"/deb/*.deb "$scratch/kinloop.deb"

cat >"$scratch/inside.sh" <<'INSIDE'
set -eu
echo "clean root: $(dpkg-query -W | wc -l) packages"
export DEBIAN_FRONTEND=noninteractive
apt-get install -y -q --no-install-recommends /tmp/kinloop.deb >/tmp/apt.log 2>&1 || { tail -20 /tmp/apt.log; exit 1; }
cd /
kinloop --version
kinloop run box_on_plane --solver pgs-ncp --steps 10 --hash | grep -Eq '[0-9a-f]{16}'
kinloop run fourbar_free --solver newton-ncp --steps 200 --json | grep -q '"finished"'
kinloop list scenes | grep -q ironman
zcat -f /usr/share/man/man1/kinloop.1* | grep -q '^\.TH KINLOOP 1'
bash -c '. /usr/share/bash-completion/completions/kinloop; COMP_WORDS=(kinloop ru); COMP_CWORD=1; _kinloop
         [ "${COMPREPLY[*]}" = run ]'
[ -s /usr/share/zsh/vendor-completions/_kinloop ]
[ -s /usr/share/doc/kinloop/LICENSE ]
dpkg -L kinloop | grep kinloop >/tmp/files
[ -z "$(dpkg -V kinloop)" ]
apt-get purge -y -q kinloop >/tmp/apt.log 2>&1 || { tail -20 /tmp/apt.log; exit 1; }
while read -r file; do [ ! -e "$file" ] || { echo "left behind: $file"; exit 1; }; done </tmp/files
left=$(find / -xdev -path /proc -prune -o -path /tmp -prune -o -iname '*kinloop*' -print | grep -v '^/var/cache\|^/var/log' || true)
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
echo "purged: nothing left"
INSIDE

mmdebstrap --quiet --variant=minbase --dpkgopt=force-unsafe-io --format=null \
    --customize-hook="copy-in $scratch/kinloop.deb $scratch/inside.sh /tmp" \
    --customize-hook='chroot "$1" sh /tmp/inside.sh' "$suite" - >"$scratch/log" 2>&1 || {
    grep -q '^clean root' "$scratch/log" || { tail -5 "$scratch/log"; skip "mmdebstrap could not make a root"; }
    tail -30 "$scratch/log"
    exit 1
}
grep -A99 '^clean root' "$scratch/log"
grep -q '^purged: nothing left' "$scratch/log"
echo '1 passed, 0 failed'
