#!/usr/bin/env bash
# Draws the measured figures of the documentation anew into docs/figures: the report's mass grids of the fixed boxes,
# and performance profiles over the committed sample of the data set. Minutes on one core.
set -euo pipefail
cd "$(dirname "$0")/.."
kinloop=${KL_COMMAND:-build/native/kinloop}
work=build/figures
mkdir -p "$work" docs/figures

grid_solvers=admm-ncp-fp,pgs-ccp,newton-ncp
"$kinloop" heatmap -s $grid_solvers -o "$work/mass-rest" -f --progress none
"$kinloop" heatmap -s $grid_solvers --push 1.01 -o "$work/mass-push" -f --progress none

profile_solvers=newton-ncp,admm-ncp-plus,admm-ncp-sa,admm-ncp-fp,pgs-ccp,pgs-ncp,raisim-ds,raisim-ds-es
"$kinloop" solve tests/data/dataset/sample.h5 -s $profile_solvers --max-iter 2000 --set sweep=body-space \
    --json --progress none > "$work/sample.json"
"$kinloop" profile "$work/sample.json" -o "$work/profile" -f
for by in system category; do
    "$kinloop" profile "$work/sample.json" --by $by -m r_nat_rel -o "$work/profile-$by" -f >"$work/profile-$by.txt"
done

cp "$work"/mass-*.svg "$work"/profile-all-{iterations,time_s,r_nat,r_nat_rel}.svg "$work"/profile-category-*.svg docs/figures/
