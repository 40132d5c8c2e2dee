#!/usr/bin/env bash
# Shards under GNU parallel end with the bytes of one process: data set, heatmap.
set -euo pipefail
command -v parallel >/dev/null || { echo "skipped: no GNU parallel"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export recipe="--systems box_on_plane,nunchaku,fourbar_free --units 6 --bucket 30 --steps 300"
export grid="-s newton-ncp -x bodies.0.mass=1e-3..1e3:7 -y bodies.1.mass=1e-3..1e3:7"

"$KL_COMMAND" dataset make -o whole.h5 $recipe
parallel --will-cite -j2 "$KL_COMMAND dataset make -o part{}.h5 --shard {}/4 $recipe" ::: 4 2 1 3
"$KL_COMMAND" dataset merge part3.h5 part1.h5 part4.h5 part2.h5 -o merged.h5
cmp whole.h5 merged.h5

"$KL_COMMAND" heatmap $grid -o whole
parallel --will-cite -j2 "$KL_COMMAND heatmap $grid --shard {}/3 -o part{} 2>/dev/null" ::: 3 1 2
"$KL_COMMAND" heatmap --merge part2.csv part3.csv part1.csv $grid -o merged
cmp whole.csv merged.csv
cmp whole-newton-ncp-r_ncp.svg merged-newton-ncp-r_ncp.svg
echo "shards under parallel give the same bytes"
