#!/usr/bin/env python3
"""The figures of docs/performance.md on growth, stages of a step and rooflines, measured anew:

  growth.json    build/native/tests/growth on chains, walls, lattices and poured piles of spheres
  stages.json    kinloop bench on scenes: a step by stages
  roofline.json  kinloop bench --roofline, in the deterministic build and in native-fast

  scripts/performance.py --output native/results/intel-xeon [--only growth,stages,roofline]
"""
import argparse
import json
import os
import subprocess
import tempfile

import piles

SIDES = [3, 4, 5, 7, 10]  # of the poured piles: 27 to 1000 spheres
STAGES = [  # scene, solver, steps, times; piles as they are poured
    ("box_on_plane", "newton-ncp", 500, 25), ("quadruped", "newton-ncp", 500, 25), ("walker", "newton-ncp", 200, 25),
    ("walker", "admm-ncp-plus", 200, 25), ("wall16", "newton-ncp", 20, 3),
    *((f"pour{side}", "admm-ncp-plus", piles.STEPS, 1) for side in (5, 10)),
]
SCENES = ["quadruped", "walker", "ironman"]
FCLIB = ["Confeti-ex13-Fc3D-SBM", "Capsules-i125-1213"]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def wall(side):
    """A wall of side x side bricks, alternate rows shifted by half a brick."""
    length, height = 0.2, 0.1
    bodies = [{"name": f"b{row}_{column}", "mass": 1.0 + 0.1 * ((row * side + column) % 7),
               "position": [round(column * length + row % 2 * length / 2, 4), 0, round((row + 0.5) * height, 4)],
               "geoms": [{"type": "box", "size": [length, 0.1, height]}]}
              for row in range(side) for column in range(side)]
    return {"schema": 1, "id": f"wall{side}", "title": "A wall", "text": "Bricks upon each other.",
            "gravity": [0, 0, -9.81], "dt": 0.001, "materials": {"default": {"friction": 0.7, "restitution": 0}},
            "bodies": bodies, "geoms": [{"name": "ground", "type": "plane"}], "solvers": ["newton-ncp"],
            "runs": [{"id": "stand", "title": "Stand", "duration": 1.0}]}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def stages(arguments, scenes):
    rows = []
    for scene, solver, steps, times in STAGES:
        done = output(arguments.kinloop, "bench", scenes.get(scene, scene), "--solver", solver, "--tol", "1e-6",
                      "--max-iter", "200", "--set", "warm_start=previous", "--steps", str(steps), "--repeat", str(times),
                      "--warmup", "0", "--json")
        for row in json.loads(done):
            rows.append({"scene": scene, **{key: row[key] for key in row if key not in ("id", "scene", "samples_s")}})
    return rows


def roofline(arguments, scenes, problems):
    small = [*SCENES, *(os.path.join(ROOT, "tests/data/fclib", f"{name}.hdf5") for name in FCLIB)]
    large = [scenes["wall16"], *(f"{problems[side]}:{last(arguments, problems[side])}" for side in (3, 5, 10))]
    both = []
    for kinloop in (arguments.kinloop, arguments.fast):
        own = json.loads(output(kinloop, "bench", "--roofline", *small, "--json"))
        more = json.loads(output(kinloop, "bench", "--roofline", *large, "--steps", "3", "--json"))
        wall = {"problem": "wall16"}
        own["kernels"] += [{**row, **(wall if row["problem"] == scenes["wall16"] else {})} for row in more["kernels"]]
        both.append(own)
    return both


def last(arguments, problems):
    """The name of the problem recorded last."""
    solved = json.loads(output(arguments.kinloop, "solve", problems, "--solver", "pgs-ncp", "--max-iter", "1", "--set",
                               "sweep=body-space", "--json"))["results"]
    return max((row["name"] for row in solved), key=lambda name: int(name.split("-t")[-1]))


def write(arguments, name, result):
    with open(os.path.join(arguments.output, name), "w", encoding="utf-8") as out:
        out.write(json.dumps(result, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinloop", default="build/native/kinloop")
    parser.add_argument("--fast", default="build/native-fast/kinloop")
    parser.add_argument("--growth", default="build/native/tests/growth")
    parser.add_argument("--output", default="native/results/intel-xeon")
    parser.add_argument("--only", default="growth,stages,roofline")
    arguments = parser.parse_args()
    parts = arguments.only.split(",")
    commit = output("git", "-C", ROOT, "rev-parse", "--short", "HEAD").strip()
    with tempfile.TemporaryDirectory() as folder:
        scenes = {f"pour{side}": os.path.join(folder, f"pour{side}.json") for side in SIDES}
        scenes["wall16"] = os.path.join(folder, "wall16.json")
        with open(scenes["wall16"], "w", encoding="utf-8") as out:
            json.dump(wall(16), out)
        problems = {side: piles.record(arguments.kinloop, side, folder) for side in SIDES}
        if "growth" in parts:
            families = json.loads(output(arguments.growth, *problems.values()))
            counted = None  # of no measurement, and no script of ours: kept from the file before
            if os.path.exists(os.path.join(arguments.output, "growth.json")):
                with open(os.path.join(arguments.output, "growth.json"), encoding="utf-8") as old:
                    counted = json.load(old).get("pile_factor")
            write(arguments, "growth.json",
                  {"machine": "2 cores of an Intel Xeon with AVX-512, shared with other work", "compiler": "gcc 12 -O3",
                   "commit": commit, "build": "native", "families": families, "pile_factor": counted})
        if "stages" in parts:
            write(arguments, "stages.json", {"commit": commit, "cases": stages(arguments, scenes)})
        if "roofline" in parts:
            write(arguments, "roofline.json", {"commit": commit, "builds": roofline(arguments, scenes, problems)})


if __name__ == "__main__":
    main()
