#!/usr/bin/env python3
"""Siconos on FCLIB files, beside the kinloop command, in one run on one machine.

Needs Debian's python3-siconos, python3-scipy and python3-h5py. Every problem is scaled to unit mean diagonal
of W first, because Siconos's error has units. All residuals are the scale-free natural map r_nat_rel, computed
here from the reactions; times are medians over the repeats with the spread (least, most), in processor seconds
of this process, one thread, less what reading that clock takes (a third of a microsecond; ours carry their own).
Whoever exceeds --budget seconds in one solve is not repeated.

  native/peers/siconos_fc3d.py --kinloop build/native/kinloop tests/data/fclib/*.hdf5 > results.json
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import h5py  # noqa: E402
import numpy as np  # noqa: E402
import scipy.sparse as sparse  # noqa: E402
import scipy.sparse.linalg as sparse_linalg  # noqa: E402
import siconos.numerics as sn  # noqa: E402


def read_matrix(group):
    m, n, nz = (int(group[k][0]) for k in ("m", "n", "nz"))
    x, i, p = group["x"][()], group["i"][()], group["p"][()]
    if nz == -2:
        return sparse.csr_matrix((x, i, p), (m, n))
    if nz == -1:
        return sparse.csc_matrix((x, i, p), (m, n))
    return sparse.coo_matrix((x[:nz], (i[:nz], p[:nz])), (m, n))


def read_problem(path):
    """W, q, mu with the normal first in each contact, as FCLIB has them; global problems are reduced."""
    with h5py.File(path, "r") as file:
        if "fclib_local" in file:
            group = file["fclib_local"]
            w, q = read_matrix(group["W"]).tocsc(), group["vectors/q"][()]
        else:
            group = file["fclib_global"]
            mass, h = read_matrix(group["M"]).tocsc(), read_matrix(group["H"]).tocsc()
            factor = sparse_linalg.splu(mass)
            w = sparse.csc_matrix(h.T @ factor.solve(h.toarray()))
            q = h.T @ factor.solve(group["vectors/f"][()]) + group["vectors/w"][()]
        mu = group["vectors/mu"][()]
    w.sum_duplicates()
    scale = w.diagonal().mean()
    return w / scale, q.copy(), mu.copy()


def natural_relative(w, q, mu, reaction):
    nc = len(mu)
    s = 1.0 / w.diagonal().reshape(nc, 3).max(1)
    v = (w @ reaction + q).reshape(nc, 3)
    v[:, 0] += mu * np.hypot(v[:, 1], v[:, 2])
    r = reaction.reshape(nc, 3)
    y = r - s[:, None] * v
    tangent, normal = np.hypot(y[:, 1], y[:, 2]), y[:, 0]
    p = y.copy()
    polar = mu * tangent <= -normal
    surface = ~polar & ~(tangent <= mu * normal)
    p[polar] = 0.0
    height = (mu[surface] * tangent[surface] + normal[surface]) / (mu[surface] ** 2 + 1.0)
    p[surface, 1:] = (height * mu[surface] / tangent[surface])[:, None] * y[surface, 1:]
    p[surface, 0] = height
    size = max(abs(reaction).max(), abs(np.repeat(s, 3) * q).max(), 1e-300)
    return float(abs(r - p).max() / size)


# Gauss-Seidel sweeps blocks; the others factor, for which Siconos does best with sparse storage.
SOLVERS = {"NSGS": "dense", "PROX": "sparse", "ADMM": "sparse"}


def clock_time():
    """Seconds between two readings of the clock with nothing in between."""
    pairs = [(time.process_time(), time.process_time()) for _ in range(1000)]
    return statistics.median(end - begin for begin, end in pairs)


CLOCK = clock_time()


def run_siconos(name, w, q, mu, tolerance, repeats, budget):
    nc, times = len(mu), []
    for _ in range(repeats):
        matrix = w.toarray() if SOLVERS[name] == "dense" else w.copy()
        problem = sn.FrictionContactProblem(3, nc, matrix, q, mu)
        options = sn.SolverOptions(getattr(sn, "SICONOS_FRICTION_3D_" + name))
        options.dparam[sn.SICONOS_DPARAM_TOL] = tolerance
        options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = 20000
        reaction, velocity = np.zeros(3 * nc), np.zeros(3 * nc)
        begin = time.process_time()
        info = sn.fc3d_driver(problem, reaction, velocity, options)
        times.append(time.process_time() - begin - CLOCK)
        if times[-1] > budget:
            break
    return {"solver": "siconos " + name, "converged": info == 0,
            "iterations": int(options.iparam[sn.SICONOS_IPARAM_ITER_DONE]),
            "natural_relative": natural_relative(w, q, mu, reaction), **spread(times)}


def spread(times):
    return {"time": statistics.median(times), "least": min(times), "most": max(times), "repeats": len(times)}


def run_kinloop(command, path, solver, tolerance, repeats):
    line = [command, "solve", path, "--solver", solver, "--tol", str(tolerance), "--repeat", str(repeats), "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)["results"][0]
    return {"solver": "kinloop " + solver, "converged": result["outcome"] == "converged",
            "iterations": result["iterations"], "natural_relative": result["r_nat_rel"],
            # Both are upper bounds: other programs run in the first, reading its clock is in the second.
            "time": min(result["time_s"], result["cpu_s"]),
            "repeats": repeats}


def tell(entry):
    """One line: the fastest Siconos solver that solves it, and ours as shares of its time."""
    theirs = [r for r in entry["runs"] if r["solver"].startswith("siconos") and r["converged"]]
    best = min(theirs, key=lambda r: r["time"]) if theirs else None
    line = f"{entry['file']:48s} {best['solver']} {best['time'] * 1e3:.4g} ms" if best else f"{entry['file']:48s} none"
    for run in entry["runs"]:
        if run["solver"].startswith("kinloop"):
            share = f", {run['time'] / best['time']:.2f}x" if best else ""
            line += f"  {run['solver']} {run['time'] * 1e3:.4g} ms ({run['iterations']} it{share})"
    print(line, file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--kinloop", help="the kinloop command; without it Siconos alone")
    parser.add_argument("--tolerance", type=float, default=1e-8)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--budget", type=float, default=2.0)
    args = parser.parse_args()
    results = {"machine": platform.processor() or platform.machine(), "siconos": sn.__dict__.get("__version__", "4"),
               "tolerance": args.tolerance, "problems": []}
    for path in args.files:
        w, q, mu = read_problem(path)
        entry = {"file": os.path.basename(path), "contacts": len(mu), "runs": []}
        for name in SOLVERS:
            entry["runs"].append(run_siconos(name, w, q, mu, args.tolerance, args.repeats, args.budget))
        for solver in ("newton-ncp", "admm-ncp-plus") if args.kinloop else ():
            entry["runs"].append(run_kinloop(args.kinloop, path, solver, args.tolerance, args.repeats))
        results["problems"].append(entry)
        tell(entry)
    json.dump(results, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
