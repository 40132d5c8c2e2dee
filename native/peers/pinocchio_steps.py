#!/usr/bin/env python3
"""Pinocchio beside the kinloop command: time per step of the same mechanism without contacts, same step size and load.

Needs the packages pin and numpy from PyPI. A scene becomes Pinocchio's tree of joints in reduced coordinates; a joint that
closes a loop becomes a point that stays together (a hinge too: in a planar loop the others hold the rest). Geometry, limits
and drives are taken out of the scene for both sides, since Pinocchio has no collision detection and constraintDynamics no
limits. Free mechanisms start as one turning body, the fixed four-bar swings under gravity turned over, the loop leg
(tests/data/models/cassie_like) hangs from its hip.

Pinocchio's step is: accelerations by constraintDynamics or lcaba, which compute the constraint data too (aba where there
are no loops), v + dt a, and pin.integrate of q; loops are held by Baumgarte's terms of the time constant of ours. kinloop's
is the whole step of the command, which looks for contacts, checks limits and measures residuals too, warm-started. Times are
processor seconds, medians over the repeats with the spread, one thread, by turns. Three calls from Python are in
Pinocchio's: call_s is the same loop over one hinge, which is that and little else.

  native/peers/pinocchio_steps.py --kinloop build/native/kinloop --scenes scenes > results.json
"""
import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import pinocchio as pin

from processor_time import kinloop_step_seconds, spread, whole_run

# scene, gravity, start's rotation about the common centre of mass [rad/s], steps
CASES = [
    ("fourbar_free", (0, 0, -9.81), (0.3, 1.0, 0.2), 2000),
    ("fourbar_fixed", (3, 0, 9.34), (0, 0, 0), 2000),
    ("loop_leg", (0, 0, -9.81), (0, 0, 0), 2000),
    ("quadruped", (0, 0, -9.81), (0.3, 1.0, 0.2), 1000),
]
SOLVERS = ["newton-ncp", "admm-ncp-plus"]
DT = 0.001
AGREE_SECONDS = 0.2
STABILIZATION = 0.1  # of ours, a step; Pinocchio's terms have the same time constant
ROWS = {"fixed": 6, "revolute": 5, "spherical": 3, "gimbal": 3}


def quaternion(value):
    if value is None:
        return pin.Quaternion(1.0, 0.0, 0.0, 0.0)
    if isinstance(value, dict):
        axis = np.array(value["axis"], float)
        return pin.Quaternion(pin.AngleAxis(float(value["angle"]), axis / np.linalg.norm(axis)))
    return pin.Quaternion(*(float(v) for v in value)).normalized()


def pose(thing):
    return pin.SE3(quaternion(thing.get("orientation")), np.array(thing.get("position", [0, 0, 0]), float))


def inertia(body):
    """About the centre of mass, which is the body's origin."""
    given, mass = body.get("inertia"), body["mass"]
    if given is None or given == "from geometry":
        geom = body["geoms"][0]
        if geom["type"] != "box":
            raise SystemExit(f"inertia of a {geom['type']} is not computed here")
        x, y, z = (s * s for s in geom["size"])
        given = [mass / 12 * (y + z), mass / 12 * (x + z), mass / 12 * (x + y)]
    given = np.array(given, float)
    return np.diag(given) if given.size == 3 else given.reshape(3, 3)


def read_scene(args, name, folder):
    """The scene passive and bare: joints with their place in the world, inertias as numbers."""
    path = f"{args.scenes}/{name}.json"
    if name == "loop_leg":
        path = f"{folder}/{name}.json"
        subprocess.run([args.kinloop, "import", args.leg, "--motors", "passive", "--base", "fixed", "-o", path, "-f"],
                       check=True, capture_output=True)
    with open(path) as file:
        scene = json.load(file)
    bodies = {b["name"]: b for b in scene["bodies"]}
    for body in bodies.values():
        body["inertia"] = inertia(body).tolist()
        body["geoms"] = []
    for joint in scene["joints"]:
        if "base_frame" in joint:
            at = pose(bodies.get(joint.get("base"), {})) * pose(joint.pop("base_frame"))
            joint.pop("follower_frame", None)
            joint["position"], joint["axis"] = at.translation.tolist(), at.rotation[:, 0].tolist()
        for drive in ("limits", "actuation", "kp", "ki", "kd", "effort_limit", "reference", "armature"):
            joint.pop(drive, None)
    return scene, bodies


def prepare(scene, bodies, gravity, rotation, dt):
    """What both sides start from: gravity, step, and the twists of all bodies turning as one."""
    mass = sum(b["mass"] for b in bodies.values())
    center = sum(b["mass"] * np.array(b["position"], float) for b in bodies.values()) / mass
    for body in bodies.values():
        if any(rotation):
            body["twist"] = [*np.cross(rotation, np.array(body["position"], float) - center), *rotation]
    scene.update(gravity=list(gravity), dt=dt, geoms=[], meshes=[], events=[], references=[], runs=[{
        "id": "bare", "duration": 10, "actuated": False,
        "settings": {"stabilization": {"joints": STABILIZATION, "limits": 0, "contacts": 0}}}])


def ends_of(joint):
    return [joint.get("base") or "world", joint["follower"]]


def spanning_tree(joints):
    """Joints of a tree that leaves the loops to joints of the fewest rows, and the joints left over (Kruskal)."""
    if not all(j["type"] in ROWS for j in joints):
        raise SystemExit(f"only joints of the types {', '.join(ROWS)} are compared")
    leader, tree, closing = {}, [], []

    def find(name):
        while leader.get(name, name) != name:
            name = leader[name]
        return name

    for joint in sorted(joints, key=lambda j: -ROWS[j["type"]]):
        one, other = (find(e) for e in ends_of(joint))
        (closing if one == other else tree).append(joint)
        leader[one] = other
    return tree, closing


class Tree:
    """Pinocchio's model, joint by joint from the world; what is left over closes loops."""

    def __init__(self, scene, bodies):
        self.bodies, self.dt = bodies, scene["dt"]
        self.joints, closing = spanning_tree(scene["joints"])
        self.model, self.placed, self.root = pin.Model(), {}, None
        self.model.gravity.linear = np.array(scene["gravity"], float)
        self.grow("world", 0, pin.SE3.Identity())
        for name in bodies:
            if name not in self.placed:
                at = pose(bodies[name])
                self.root = name
                self.add(name, self.model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name), at)
        self.loops = pin.StdVec_RigidConstraintModel()
        for joint in closing:
            self.loops.append(self.closure(joint))

    def start(self):
        q, v = pin.neutral(self.model), np.zeros(self.model.nv)
        if self.root:
            at = pose(self.bodies[self.root])
            q[:7] = pin.SE3ToXYZQUAT(at)
            twist = np.array(self.bodies[self.root].get("twist", np.zeros(6)), float)
            v[:3], v[3:6] = at.rotation.T @ twist[:3], at.rotation.T @ twist[3:]
        return q, v

    def add(self, name, joint, frame):
        """The body on a joint of Pinocchio whose frame stands there at the start."""
        self.placed[name] = (joint, frame)
        body = self.bodies[name]
        self.model.appendBodyToJoint(joint, pin.Inertia(body["mass"], np.zeros(3), np.array(body["inertia"])),
                                     frame.actInv(pose(body)))
        self.grow(name, joint, frame)

    def grow(self, name, parent, frame):
        """All that hangs from the body; frame: of the parent joint at the start."""
        for joint in self.joints:
            if name not in ends_of(joint):
                continue
            child = ends_of(joint)[1 - ends_of(joint).index(name)]
            if child in self.placed or child == "world":
                continue  # where we came from
            if joint["type"] == "fixed":
                self.add(child, parent, frame)
            else:
                at = pin.SE3(np.eye(3), np.array(joint["position"], float))
                kind = pin.JointModelSpherical()
                if joint["type"] == "revolute":  # about z of a frame of its own
                    axis = np.array(joint["axis"], float)
                    at.rotation = pin.Quaternion.FromTwoVectors(np.array([0.0, 0, 1]), axis).matrix()
                    kind = pin.JointModelRZ()
                self.add(child, self.model.addJoint(parent, kind, frame.actInv(at), joint["name"]), at)

    def closure(self, joint):
        at = pin.SE3(np.eye(3), np.array(joint["position"], float))
        ends = [self.placed.get(joint.get(side), (0, pin.SE3.Identity())) for side in ("base", "follower")]
        loop = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, ends[0][0], ends[0][1].actInv(at),
                                        ends[1][0], ends[1][1].actInv(at), pin.ReferenceFrame.LOCAL)
        rate = STABILIZATION / self.dt
        loop.m_baumgarte_parameters.Kp, loop.m_baumgarte_parameters.Kd = rate * rate, 2.0 * rate
        return loop

    def gap(self, q):
        """Largest distance of the ends of a loop [m]."""
        data = self.model.createData()
        pin.forwardKinematics(self.model, data, q)
        gaps = [np.linalg.norm((data.oMi[k.joint1_id] * k.joint1_placement).translation -
                               (data.oMi[k.joint2_id] * k.joint2_placement).translation) for k in self.loops]
        return float(max(gaps, default=0.0))

    def positions(self, q):
        """Centres of mass of all bodies (n x 3) [m]."""
        data = self.model.createData()
        pin.forwardKinematics(self.model, data, q)
        return np.array([(data.oMi[j] * frame.actInv(pose(self.bodies[name]))).translation
                         for name, (j, frame) in self.placed.items()])


def accelerations(tree, method):
    """The method as a function of q and v, with the memory it keeps."""
    model, data, loops = tree.model, tree.model.createData(), tree.loops
    tau = np.zeros(model.nv)
    if method == "aba":
        return lambda q, v: pin.aba(model, data, q, v, tau)
    datas = pin.StdVec_RigidConstraintData()
    for loop in loops:
        datas.append(loop.createData())
    if method == "lcaba":
        pin.computeJointMinimalOrdering(model, data, loops)
        proximal = pin.ProximalSettings(1e-10, 1e-2, 20)  # its rounding errors grow as this parameter shrinks
        return lambda q, v: pin.lcaba(model, data, q, v, tau, loops, datas, proximal)
    pin.initConstraintDynamics(model, data, loops, datas)
    proximal = pin.ProximalSettings(1e-10, 1e-10, 20)
    return lambda q, v: pin.constraintDynamics(model, data, q, v, tau, loops, datas, proximal)


def run_pinocchio(tree, method, steps):
    """Seconds a step, and q at the end."""
    acceleration, model, dt, integrate = accelerations(tree, method), tree.model, tree.dt, pin.integrate
    q, v = tree.start()
    start = time.process_time()
    for _ in range(steps):
        v = v + dt * acceleration(q, v)
        q = integrate(model, q, dt * v)
    return (time.process_time() - start) / steps, q


def call_seconds(method):
    """The same step of one hinge: the calls from Python, and little else."""
    hinge = {"bob": {"name": "bob", "mass": 1.0, "position": [0, 0, -1], "inertia": np.eye(3).tolist(), "geoms": []}}
    joints = [{"name": "hinge", "type": "revolute", "follower": "bob", "position": [0, 0, 0], "axis": [0, 1, 0]}]
    tree = Tree({"joints": joints, "gravity": [0, 0, -9.81], "dt": DT}, hinge)
    return min(run_pinocchio(tree, method, 2000)[0] for _ in range(5))


def case_at(args, case, folder, dt):
    """Pinocchio's tree and the file of our scene."""
    name, gravity, rotation, _ = case
    scene, bodies = read_scene(args, name, folder)
    prepare(scene, bodies, gravity, rotation, dt)
    path = f"{folder}/{name}_bare.json"
    with open(path, "w") as file:
        json.dump(scene, file)
    return Tree(scene, bodies), path


def apart(tree, q, result):
    """Largest distance of a body's centre there and here [m]."""
    ours = {b["name"]: b["pose"][:3] for b in result["bodies"]}
    return float(np.linalg.norm(tree.positions(q) - np.array([ours[name] for name in tree.placed]), axis=1).max())


def agreement(args, case, folder, methods):
    """How far both are apart after AGREE_SECONDS, at the step size and a fifth of it: a fifth if both are right."""
    told = []
    for dt in (DT, DT / 5):
        tree, path = case_at(args, case, folder, dt)
        steps = round(AGREE_SECONDS / dt)
        _, result = whole_run(args.kinloop, path, "bare", steps, SOLVERS[0])
        told.append({"dt": dt, **{m: apart(tree, run_pinocchio(tree, m, steps)[1], result) for m in methods}})
    return told


def measure(args, case, folder):
    name, gravity, rotation, steps = case
    tree, _ = case_at(args, case, folder, DT)
    methods = ["constraintDynamics", "lcaba"] if len(tree.loops) else ["aba"]
    apart_m = agreement(args, case, folder, methods)
    tree, path = case_at(args, case, folder, DT)
    times = {m: [] for m in methods + SOLVERS}
    ends, results = {}, {}
    for _ in range(args.repeats):
        for method in methods:
            seconds, ends[method] = run_pinocchio(tree, method, steps)
            times[method].append(seconds)
        for solver in SOLVERS:
            seconds, results[solver] = kinloop_step_seconds(args.kinloop, path, "bare", steps, solver)
            times[solver].append(seconds)
    theirs, calls = methods[0], {m: call_seconds(m) for m in methods}
    entry = {"scene": name, "steps": steps, "dt": DT, "gravity": gravity, "rotation": rotation,
             "pinocchio": {"coordinates": tree.model.nv, "loop_rows": 3 * len(tree.loops)},
             "kinloop": {"coordinates": 6 * len(tree.placed), "joint_rows": results[SOLVERS[0]]["max"]["n_d"]},
             "step_s": {m: spread(t) for m, t in times.items()}, "call_s": calls,
             "loop_gap": {m: tree.gap(ends[m]) for m in methods},
             "joint_error": {s: results[s]["final"]["r_pen"] for s in SOLVERS}, "apart_m": apart_m,
             f"ratio_to_{theirs}": {s: statistics.median(a / b for a, b in zip(times[s], times[theirs])) for s in SOLVERS},
             f"ratio_to_{theirs}_less_calls": {s: statistics.median(
                 a / (b - calls[theirs]) for a, b in zip(times[s], times[theirs])) for s in SOLVERS}}
    print(f"{name:14s} " + "  ".join(f"{m} {t['median'] * 1e6:.2f} us" for m, t in entry["step_s"].items()), calls,
          *(f"{key} {entry[key]}" for key in entry if key[:5] in ("loop_", "joint", "apart", "ratio")), sep="\n  ",
          file=sys.stderr)
    return entry


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinloop", required=True)
    parser.add_argument("--scenes", default="scenes")
    parser.add_argument("--leg", default="tests/data/models/cassie_like/robot.urdf")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases = [measure(args, case, folder) for case in CASES]
    json.dump({"pinocchio": pin.__version__, "machine": platform.processor() or platform.machine(),
               "repeats": args.repeats, "cases": cases}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
