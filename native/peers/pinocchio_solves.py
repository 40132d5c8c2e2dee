#!/usr/bin/env python3
"""Pinocchio's constraint solvers beside the kinloop command, on the same dual problems, in one run on one machine.

Needs the packages pin, numpy, scipy and h5py from PyPI. Files are whatever kinloop solve reads. Pinocchio gets D as a
matrix: joint rows as anchored points, three at a time (one or two empty rows fill the last), contacts as point contacts.
It needs a symmetric D, so all solvers get the symmetric part where a file's is not. Its Python interface has no
preconditioner, so every problem is scaled for it twice: by one number, to unit mean diagonal of D, and by the numbers that
kinloop takes itself (unit diagonal, one number a contact); v_f to largest 1 both times. Times are of the latter.

Accuracy is matched by the scale-free natural map r_nat_rel, computed here from the reactions of all: Pinocchio is stopped
after the least number of iterations whose reactions pass the tolerance, found by trials that are not timed. own_stop is
what its own test with that tolerance does. Times are processor seconds of the solve alone, cold, one thread, medians over
the repeats with the spread, the contenders in turn; call_s is what a call from Python costs, not subtracted. Whoever
exceeds --budget seconds in one solve is tried no further and timed once.

  native/peers/pinocchio_solves.py --kinloop build/native/kinloop tests/data/fclib/*.hdf5 > results.json
"""
import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import h5py  # noqa: E402
import numpy as np  # noqa: E402
import pinocchio as pin  # noqa: E402
import scipy.sparse as sparse  # noqa: E402

from processor_time import spread  # noqa: E402

# The best of some 25 choices tried on the data set's sample, at equal accuracy: the defaults' Lanczos iteration over all
# rows costs most of a solve, and a penalty that may change in every iteration keeps Anderson's acceleration from working.
TUNED = {"anderson_capacity": 5, "lanczos_size": 3, "rho_min_update_frequency": 20}
# solver, storage of D, settings besides the defaults
VARIANTS = {
    "ADMM": ("ADMM", "dense", {}),
    "ADMM sparse": ("ADMM", "sparse", {}),
    "ADMM tuned": ("ADMM", "dense", TUNED),
    "ADMM tuned sparse": ("ADMM", "sparse", TUNED),
    "PGS": ("PGS", "dense", {}),
}
CONTENDERS = [("blocks", v) for v in VARIANTS] + [("mean", v) for v in ("ADMM", "ADMM tuned", "PGS")]
OURS = ("newton-ncp", "admm-ncp-plus")
LOOP_SECONDS = 0.004  # of short solves timed together


class Problem:
    """D, v_f, mu with rows as joints, limits, contacts (t, o, n); D made symmetric."""

    def __init__(self, name, group):
        self.name = name
        n = int(group.attrs["n_d"])
        d = sparse.csr_matrix((group["D/value"][()], group["D/index"][()], group["D/start"][()]), (n, n)).toarray()
        if "softening" in group:
            d += np.diag(group["softening"][()])
        self.d = 0.5 * (d + d.T)
        self.asymmetry = float(abs(d - d.T).max() / abs(d).max())
        self.v_f, self.mu = group["v_f"][()], group["mu"][()]
        self.joints = group["d_j"][()] if "d_j" in group else np.zeros(0, int)
        self.joint_rows, self.limits = int(group.attrs["n_jd"]), int(group.attrs["n_l"])

    def blocks(self):
        """Largest diagonal of each joint or contact, a number for every row."""
        diagonal = self.d.diagonal()
        sizes = [int(r) for r in self.joints] + [3] * len(self.mu)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int)
        return np.repeat(np.maximum.reduceat(diagonal, starts), sizes)

    def natural_relative(self, reaction):
        s, start = 1.0 / self.blocks(), self.joint_rows
        v = self.d @ reaction + self.v_f
        contact = v[start:].reshape(-1, 3)
        contact[:, 2] += self.mu * np.hypot(contact[:, 0], contact[:, 1])
        p = reaction - s * v
        y = p[start:].reshape(-1, 3)
        tangent, normal = np.hypot(y[:, 0], y[:, 1]), y[:, 2].copy()
        polar = self.mu * tangent <= -normal
        surface = ~polar & ~(tangent <= self.mu * normal)
        y[polar] = 0.0
        mu = self.mu[surface]
        height = (mu * tangent[surface] + normal[surface]) / (mu**2 + 1.0)
        y[surface, :2] *= (height * mu / tangent[surface])[:, None]
        y[surface, 2] = height
        size = max(abs(reaction).max(), abs(s * self.v_f).max(), 1e-300)
        return float(abs(reaction - p).max() / size)

    def document(self):
        return {"name": self.name, "joint_rows": self.joint_rows, "joints": [int(r) for r in self.joints],
                "contacts": len(self.mu), "dt": 0.001, "mu": self.mu.tolist(), "v_f": self.v_f.tolist(),
                "D": self.d.tolist()}


def read_problems(command, path, folder):
    """The file's problems that move and have no active limits, and a file of the same problems with symmetric D."""
    converted = f"{folder}/converted.h5"
    subprocess.run([command, "dataset", "convert", path, "--to", "kinloop", "-o", converted, "-f"], check=True,
                   capture_output=True)
    problems = []

    def visit(name, group):
        if isinstance(group, h5py.Group) and "v_f" in group:
            problems.append(Problem(name, group))

    with h5py.File(converted, "r") as file:
        file.visititems(visit)
    if max(p.asymmetry for p in problems) > 1e-9:  # rounding alone is left as it is
        path = f"{folder}/{os.path.basename(path)}.json"
        with open(path, "w") as file:
            json.dump([p.document() for p in problems], file)
    return problems, path


def robot():
    """Constraint models must belong to some model; the solvers look at their sets alone."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    model.appendBodyToJoint(1, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    return model


ROBOT = robot()


class Scaled:
    """A problem as Pinocchio takes it."""

    def __init__(self, problem, scaling):
        n, joint_rows = len(problem.v_f), problem.joint_rows
        empty = -joint_rows % 3
        self.kept = np.r_[0:joint_rows, joint_rows + empty:n + empty]
        self.models, self.datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for _ in range((joint_rows + empty) // 3):
            self.models.append(pin.ConstraintModel(pin.PointAnchorConstraintModel(ROBOT, 1, pin.SE3.Identity())))
        for mu in problem.mu:
            contact = pin.PointContactConstraintModel(ROBOT, 1, pin.SE3.Identity())
            contact.setFriction(float(mu))
            self.models.append(pin.ConstraintModel(contact))
        for model in self.models:
            self.datas.append(model.createData())
        diagonal = problem.d.diagonal()
        if scaling == "blocks":
            e = problem.blocks() ** -0.5
            e[:joint_rows] = diagonal[:joint_rows] ** -0.5
        else:
            e = np.full(n, diagonal.mean() ** -0.5)
        size = abs(e * problem.v_f).max()
        self.d, self.g = np.eye(n + empty), np.zeros(n + empty)
        self.d[np.ix_(self.kept, self.kept)] = e[:, None] * problem.d * e
        self.g[self.kept] = e * problem.v_f / size
        self.unscale = e * size


class Run:
    """One of Pinocchio's solvers on one problem: what it needs in every call, made once."""

    def __init__(self, variant, problem, scaled):
        self.kind, storage, self.choices = VARIANTS[variant]
        self.problem, self.scaled = problem, scaled
        self.d = pin.DelassusOperatorDense(scaled.d) if storage == "dense" else \
            pin.DelassusOperatorSparse(sparse.csc_matrix(scaled.d))
        self.solver = getattr(pin, self.kind + "ConstraintSolver")(len(scaled.g))
        self.result = getattr(pin, self.kind + "SolverResult")()
        self.iterations, self.natural, self.own_stop, self.count, self.times = None, None, None, 1, []

    def settings(self, tolerance, iterations):
        settings = getattr(pin, self.kind + "SolverSettings")()
        settings.max_iterations = iterations - 1  # the loop runs to the limit and once more
        settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = tolerance
        settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0.0
        for name, value in self.choices.items():
            setattr(settings, name, value)
        return settings

    def seconds(self, settings, count=1):
        d, solver, result, q = self.d, self.solver, self.result, self.scaled
        start = time.process_time()
        for _ in range(count):
            solver.solve(d, q.g, q.models, q.datas, settings, result)
        return (time.process_time() - start) / count

    def judged(self):
        impulses = self.result.retrieveConstraintImpulses()
        return self.problem.natural_relative(self.scaled.unscale * impulses[self.scaled.kept])

    def trial(self, iterations):
        """Seconds of a solve of so many iterations and the residual it leaves."""
        return self.seconds(self.settings(0.0, iterations)), self.judged()

    def search(self, tolerance, most, budget):
        """The least number of iterations that passes, to 3 %: up from where its own test stops, then by halves."""
        seconds = self.seconds(self.settings(tolerance, most))
        stopped = self.result.iterations + self.result.converged
        self.natural = self.judged()
        self.own_stop = {"converged": self.result.converged, "iterations": stopped, "natural_relative": self.natural}
        failed, tried = 0, stopped if self.result.converged else 1
        if not self.result.converged:
            seconds, self.natural = self.trial(tried)
        while self.natural > tolerance:
            if tried >= most or seconds > budget:
                return
            failed, tried = tried, min(most, tried + tried // 2 + 1)
            seconds, natural = self.trial(tried)
            self.natural = min(self.natural, natural)
        while tried - failed > 1 + tried // 32:
            middle = (tried + failed) // 2
            seconds, natural = self.trial(middle)
            if natural <= tolerance:
                tried, self.natural = middle, natural
            else:
                failed = middle
        self.iterations, self.count = tried, max(1, min(100, int(LOOP_SECONDS / max(seconds, 1e-9))))

    def time(self, budget):
        if self.iterations and not (self.times and self.times[-1] > budget):
            self.times.append(self.seconds(self.settings(0.0, self.iterations), self.count))


def run_kinloop(command, path, tolerance):
    """The results of all problems of a file, by solver."""
    line = [command, "solve", path, "--solver", ",".join(OURS), "--tol", str(tolerance), "--repeat", "20", "--lambda",
            "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    results = {solver: {} for solver in OURS}
    for result in json.loads(done.stdout)["results"]:
        results[result["solver"]][result["index"]] = result
    return results


def call_seconds():
    """A solve with nothing to do, a contact that opens: what remains is the call."""

    class Open:
        d, v_f, mu, joints, joint_rows = np.eye(3), np.array([0.0, 0.0, 1.0]), np.array([0.5]), [], 0

        def blocks(self):
            return np.ones(3)

    run = Run("PGS", None, Scaled(Open(), "blocks"))
    settings = run.settings(1e-8, 1)
    return min(run.seconds(settings, 1000) for _ in range(5))


def measure(args, path, folder):
    problems, ours_path = read_problems(args.kinloop, path, folder)
    chosen = [i for i, p in enumerate(problems) if p.limits == 0 and abs(p.v_f).max() > 1e-9]
    runs = {}
    for i in chosen:
        scaled = {scaling: Scaled(problems[i], scaling) for scaling in ("blocks", "mean")}
        for scaling, variant in CONTENDERS:
            run = runs[i, scaling, variant] = Run(variant, problems[i], scaled[scaling])
            run.search(args.tolerance, args.iterations, args.budget)
    ours, last = {(i, solver): [] for i in chosen for solver in OURS}, None
    for _ in range(args.repeats):
        for (_, scaling, _), run in runs.items():
            if scaling == "blocks":
                run.time(args.budget)
        last = run_kinloop(args.kinloop, ours_path, args.tolerance)
        for i, solver in ours:
            ours[i, solver].append(last[solver][i]["cpu_s"])
    entries = []
    for i in chosen:
        problem = problems[i]
        entry = {"file": os.path.basename(path), "name": problem.name, "rows": len(problem.v_f),
                 "contacts": len(problem.mu), "asymmetry": problem.asymmetry, "runs": []}
        for scaling, variant in CONTENDERS:
            run = runs[i, scaling, variant]
            entry["runs"].append({
                "solver": "pinocchio " + variant, "scaling": scaling, "solved": run.iterations is not None,
                "iterations": run.iterations, "natural_relative": run.natural,
                "solve_s": spread(run.times) if run.times else None,
                "own_stop": run.own_stop})
        for solver in OURS:
            result = last[solver][i]
            natural = problem.natural_relative(np.array(result["lambda"]))
            entry["runs"].append({"solver": "kinloop " + solver, "solved": natural <= args.tolerance,
                                  "iterations": result["iterations"], "natural_relative": natural,
                                  "solve_s": spread(ours[i, solver])})
        entries.append(entry)
        tell(entry)
    return entries


def tell(entry):
    line = f"{entry['name'][-46:]:46s} {entry['rows']:4d} rows"
    for run in entry["runs"]:
        if run.get("scaling") != "mean":
            name = run["solver"].replace("pinocchio ", "").replace("kinloop ", "")
            line += f"  {name} " + (f"{run['solve_s']['median'] * 1e3:.4g} ms ({run['iterations']})" if run["solved"]
                                    else f"{run['natural_relative']:.0e}")
    print(line, file=sys.stderr)


def short(value):
    """Four digits, which is more than the spread."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {k: short(v) for k, v in value.items()}
    return [short(v) for v in value] if isinstance(value, list) else value


def write(results):
    """One line a problem."""
    problems = results.pop("problems")
    print(json.dumps(short(results))[:-1] + ', "problems": [')
    print(",\n".join(json.dumps(short(p)) for p in problems) + "\n]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--kinloop", required=True)
    parser.add_argument("--tolerance", type=float, default=1e-8)
    parser.add_argument("--iterations", type=int, default=10000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--budget", type=float, default=2.0)
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_STACK, (64 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    # Pinocchio's PGS puts a dense D on the stack: the usual 8 MB end it at a thousand rows
    entries = []
    with tempfile.TemporaryDirectory() as folder:
        for path in args.files:
            entries += measure(args, path, folder)
    write({"pinocchio": pin.__version__, "machine": platform.processor() or platform.machine(),
           "tolerance": args.tolerance, "most_iterations": args.iterations, "repeats": args.repeats,
           "call_s": call_seconds(), "problems": entries})


if __name__ == "__main__":
    main()
