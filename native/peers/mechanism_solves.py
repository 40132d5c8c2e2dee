#!/usr/bin/env python3
"""walker and ironman: processor time of a solve of each of our fast solvers beside the report's ADMM on a dense D.

newton-ncp drives; every solver re-solves its problems (--curated) to the same tolerance, cold or warm alike. A solver's
time is that of a run with it less that of a run without it, so that everything else cancels; step_s is the whole step of
newton-ncp alone. Medians over the repeats with the spread; no package is needed.

  native/peers/mechanism_solves.py --kinloop build/native/kinloop > results.json
"""
import argparse
import json
import platform
import resource
import statistics
import subprocess
import sys

from processor_time import spread

CASES = [("walker", "stabilized"), ("walker", "hard"), ("ironman", "ragdoll"), ("ironman", "track_stabilized")]
DRIVER, BASELINE = "newton-ncp", "admm-ncp-fp"
OTHERS = ["admm-ncp-plus", BASELINE]


def run(command, scene, run_id, steps, solvers, warm):
    line = [command, "run", scene, "--run", run_id, "--solver", ",".join(solvers), "--curated", "--tol", "1e-6",
            "--steps", str(steps), "--json"]
    for solver in solvers:
        line += ["--set", f"{solver}.warm_start={warm}"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, {r["solver"]: r for r in json.loads(done.stdout)["runs"]}


def step_seconds(arguments, scene, run_id, solvers, warm):
    """Seconds a step: all steps less a tenth of them; with the results of all."""
    short, _ = run(arguments.kinloop, scene, run_id, arguments.steps // 10, solvers, warm)
    whole, results = run(arguments.kinloop, scene, run_id, arguments.steps, solvers, warm)
    return (whole - short) / (arguments.steps - arguments.steps // 10), results


def measure(arguments, scene, run_id, warm):
    alone, solve, told = [], {s: [] for s in [DRIVER] + OTHERS}, {}
    for _ in range(arguments.repeats):
        step, results = step_seconds(arguments, scene, run_id, [DRIVER], warm)
        alone.append(step)
        share = results[DRIVER]["time_s"]["solve"] / results[DRIVER]["time_s"]["total"]
        solve[DRIVER].append(step * share)
        told[DRIVER] = results[DRIVER]
        for solver in OTHERS:
            both, results = step_seconds(arguments, scene, run_id, [DRIVER, solver], warm)
            solve[solver].append(both - step)
            told[solver] = results[solver]
    entry = {"scene": scene, "run": run_id, "warm_start": warm, "rows": told[DRIVER]["max"]["n_d"],
             "step_s": spread(alone), "solvers": {}}
    for solver, seconds in solve.items():
        entry["solvers"][solver] = {
            "solve_s": spread(seconds), "iterations_median": told[solver]["iterations"]["median"],
            "converged_steps": told[solver]["converged_steps"], "worst_r_nat_rel": told[solver]["max"]["r_nat_rel"],
            "baseline_over_it": statistics.median(a / b for a, b in zip(solve[BASELINE], seconds))}
    return entry


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinloop", required=True)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--filter", default="", help="only cases whose scene and run contain this")
    arguments = parser.parse_args()
    cases = []
    for scene, run_id in [c for c in CASES if arguments.filter in " ".join(c)]:
        for warm in ("none", "previous"):
            entry = measure(arguments, scene, run_id, warm)
            cases.append(entry)
            print(f"{scene} {run_id}, warm start {warm}: step {entry['step_s']['median'] * 1e3:.2f} ms  " + "  ".join(
                f"{s} {r['solve_s']['median'] * 1e3:.3f} ms ({r['baseline_over_it']:.1f}x, {r['worst_r_nat_rel']:.0e})"
                for s, r in entry["solvers"].items()), file=sys.stderr)
    json.dump({"machine": platform.processor() or platform.machine(), "steps": arguments.steps,
               "repeats": arguments.repeats, "cases": cases}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
