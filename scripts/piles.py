#!/usr/bin/env python3
"""Piles of spheres poured into a bin, 27 to 1000: how long newton-ncp and admm-ncp-plus take for problems on the way to
rest, from a cold start, with a factor and with conjugate gradients.

Every pile is simulated by `kinloop run` (admm-ncp-plus, at most 200 iterations a step, 2 ms steps), which records every
80th dual problem; `kinloop solve` then solves them. Processor seconds, the median of the repeats.

  scripts/piles.py --kinloop build/native/kinloop > piles.json
"""
import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import tempfile

RADIUS, SPACING, WALL = 0.05, 0.105, 0.1  # [m]
STEPS, EVERY = 400, 80
CASES = [("newton-ncp", "auto"), ("admm-ncp-plus", "sparse"), ("admm-ncp-plus", "iterative")]


def scene(side):
    """side^3 spheres in a loose lattice over a bin; radii and places differ a little."""
    chance = random.Random(3)
    width, bodies = side * SPACING, []
    for k in range(side**3):
        radius = RADIUS * (0.85 + 0.15 * chance.random())
        x, y = (SPACING * (i + 0.5) - width / 2 + 0.002 * chance.random() for i in (k % side, k // side % side))
        bodies.append({"name": f"s{k}", "mass": round(4188.8 * radius**3, 4),
                       "position": [round(x, 4), round(y, 4), round(0.055 + 0.103 * (k // side**2), 4)],
                       "geoms": [{"type": "sphere", "size": [round(radius, 4)]}]})
    geoms = [{"name": "ground", "type": "plane"}]
    for k, (x, y) in enumerate([(1, 0), (-1, 0), (0, 1), (0, -1)]):
        size = [WALL, width + 2 * WALL, 3] if x else [width + 2 * WALL, WALL, 3]
        away = (width + WALL) / 2
        geoms.append({"name": f"wall{k}", "type": "box", "size": size, "position": [x * away, y * away, 1.5]})
    return {"schema": 1, "id": f"pour{side}", "title": "Poured spheres", "text": "Spheres fall into a bin.",
            "gravity": [0, 0, -9.81], "dt": 0.002, "materials": {"default": {"friction": 0.5, "restitution": 0}},
            "bodies": bodies, "geoms": geoms, "solvers": ["admm-ncp-plus"],
            "runs": [{"id": "pour", "title": "Pour", "duration": STEPS * 0.002}]}


def record(kinloop, side, folder):
    path, problems = (os.path.join(folder, f"pour{side}.{end}") for end in ("json", "h5"))
    with open(path, "w", encoding="utf-8") as out:
        json.dump(scene(side), out)
    subprocess.run([kinloop, "run", path, "--max-iter", "200", "--tol", "1e-6", "--set", "warm_start=previous",
                    "--steps", str(STEPS), "--every", str(EVERY), "--record", problems, "--force"],
                   check=True, capture_output=True)
    return problems


def solve(kinloop, problems, solver, factorization, tolerance):
    done = subprocess.run([kinloop, "solve", problems, "--solver", solver, "--tol", tolerance,
                           "--set", f"factorization={factorization}", "--json"],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["results"]


def measure(arguments, side, folder):
    problems = record(arguments.kinloop, side, folder)
    for tolerance in ("1e-6", "1e-10"):
        for solver, factorization in CASES:
            runs = [solve(arguments.kinloop, problems, solver, factorization, tolerance)
                    for _ in range(arguments.repeats)]
            for same in zip(*runs):
                one = same[0]
                yield {"spheres": side**3, "problem": one["name"].split("-")[-1], "rows": one["n"],
                       "contacts": one["contacts"], "solver": solver, "factorization": factorization,
                       "tolerance": float(tolerance), "outcome": one["outcome"], "iterations": one["iterations"],
                       "r_nat_rel": one["r_nat_rel"], "cpu_s": statistics.median(r["cpu_s"] for r in same)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinloop", default="build/native/kinloop")
    parser.add_argument("--sides", type=int, nargs="+", default=[3, 5, 7, 10])
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    version = subprocess.run([arguments.kinloop, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for side in arguments.sides for row in measure(arguments, side, folder)]
    print(json.dumps({"machine": platform.processor() or platform.machine(), "version": version,
                      "piles": rows}, indent=1))


if __name__ == "__main__":
    main()
