#!/usr/bin/env python3
"""MuJoCo beside the kinloop command: time per step and joint error of the same mechanism, step size and load.

Needs the packages mujoco and numpy from PyPI. A scene becomes MJCF by its joint tree: joints that close a loop
become equality constraints (a revolute one as two connects on its axis, a fixed one as a weld). Everything is
passive: the runs named below have no actuation that matters. The loop leg is the public model of that name under
tests/data/models, imported passive and hung from its hip, without its geometry: both sides take the imported scene. Both sides step from the start pose and start each solve from the last step's reactions; times are processor seconds, medians over
the repeats with the spread, one thread, the two programs in turn.

  native/peers/mujoco_steps.py --kinloop build/native/kinloop --scenes scenes > results.json
"""
import argparse
import json
import math
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import mujoco
import numpy as np

from processor_time import kinloop_step_seconds, spread

# scene, kinloop's run, steps
CASES = [
    ("box_on_plane", "hard", 2000),
    ("nunchaku", "stabilized", 2000),
    ("fourbar_free", "stabilized", 2000),
    ("fourbar_fixed", "limp", 2000),
    ("quadruped", "limp", 1000),
    ("loop_leg", "default", 2000),
]
SOLVERS = ["newton-ncp", "admm-ncp-plus"]


def quaternion(value):
    if value is None:
        return np.array([1.0, 0, 0, 0])
    if isinstance(value, dict):
        axis = np.array(value["axis"], float)
        half = 0.5 * value["angle"]
        return np.concatenate([[math.cos(half)], math.sin(half) * axis / np.linalg.norm(axis)])
    return np.array(value, float)


def rotation(q):
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, q)
    return matrix.reshape(3, 3)


def numbers(values):
    return " ".join(f"{v:.17g}" for v in values)


def sizes(geom):
    return np.atleast_1d(np.array(geom.get("size", []), float)).tolist()


def geom_xml(geom):
    kind = geom["type"]
    size = sizes(geom)
    if kind == "box":
        size = [0.5 * s for s in size]
    elif kind in ("capsule", "cylinder"):
        size = [size[0], 0.5 * size[1]]
    elif kind == "plane":
        size = [10, 10, 0.1]
    elif kind != "sphere":
        raise SystemExit(f"geometry {kind} is not compared")
    group, mask = geom.get("group", 1), geom.get("mask", 0xFFFF) & 0xFFFF
    return (f'<geom type="{kind}" size="{numbers(size)}" pos="{numbers(geom.get("position", [0, 0, 0]))}" '
            f'quat="{numbers(quaternion(geom.get("orientation")))}" friction="{MU} 0 0" mass="0" '
            f'contype="{group}" conaffinity="{mask}"/>')


MU = 0.7


def place_joints(document):
    """Joints given by frames get their place and axis in the world, as Tree reads them; a gimbal is a ball."""
    bodies = {b["name"]: b for b in document["bodies"]}
    for joint in document.get("joints", []):
        if joint["type"] == "gimbal":
            joint["type"] = "spherical"
        if "base_frame" not in joint:
            continue
        frame, base = joint["base_frame"], bodies.get(joint.get("base"), {})
        turn = rotation(quaternion(base.get("orientation")))
        joint["position"] = (np.array(base.get("position", [0, 0, 0]), float) + turn @ np.array(frame["position"])).tolist()
        joint["axis"] = (turn @ rotation(quaternion(frame.get("orientation")))[:, 0]).tolist()  # of a revolute joint: x


def make_loop_leg(command, model, path):
    """The imported leg without geometry, which its passive swing does not need."""
    subprocess.run([command, "import", model, "--motors", "passive", "--base", "fixed", "-o", path, "-f"], check=True,
                   capture_output=True)
    with open(path) as file:
        document = json.load(file)
    document["geoms"], document["meshes"], document["dt"] = [], [], 0.001
    for body in document["bodies"]:
        body["geoms"] = []
    with open(path, "w") as file:
        json.dump(document, file)


class Tree:
    """The scene's bodies hung into MuJoCo's tree; what is left over closes loops."""

    def __init__(self, scene):
        self.scene = scene
        self.bodies = {b["name"]: b for b in scene["bodies"]}
        self.joints_of = {}
        for joint in scene.get("joints", []):
            for side in ("base", "follower"):
                self.joints_of.setdefault(joint.get(side), []).append(joint)
        self.done, self.used, self.equalities = set(), set(), []

    def pose(self, name):
        if name is None or name == "world":
            return np.zeros(3), np.eye(3), np.array([1.0, 0, 0, 0])
        body = self.bodies[name]
        q = quaternion(body.get("orientation"))
        return np.array(body["position"], float), rotation(q), q

    def body_xml(self, name, parent, joint):
        self.done.add(name)
        body = self.bodies[name]
        r, rot, q = self.pose(name)
        pr, prot, pq = self.pose(parent)
        conj, relative = np.zeros(4), np.zeros(4)
        mujoco.mju_negQuat(conj, pq)
        mujoco.mju_mulQuat(relative, conj, q)
        lines = [f'<body name="{name}" pos="{numbers(prot.T @ (r - pr))}" quat="{numbers(relative)}">']
        inertia = body.get("inertia")
        mass = body["mass"]
        if inertia is None or inertia == "from geometry":
            size = sizes(body["geoms"][0])
            if body["geoms"][0]["type"] == "box":
                x, y, z = (s * s for s in size)
                inertia = [mass / 12 * (y + z), mass / 12 * (x + z), mass / 12 * (x + y)]
            else:
                inertia = [0.4 * mass * size[0] ** 2] * 3
        flat = np.array(inertia, float).ravel()
        if len(flat) == 3:
            lines.append(f'<inertial pos="0 0 0" mass="{mass:.17g}" diaginertia="{numbers(flat)}"/>')
        else:
            full = [flat[0], flat[4], flat[8], flat[1], flat[2], flat[5]]
            lines.append(f'<inertial pos="0 0 0" mass="{mass:.17g}" fullinertia="{numbers(full)}"/>')
        if joint is None:
            lines.append("<freejoint/>")
        elif joint["type"] != "fixed":
            kind = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}[joint["type"]]
            where = rot.T @ (np.array(joint["position"], float) - r)
            axis = rot.T @ np.array(joint.get("axis", [0, 0, 1]), float)
            limits = joint.get("limits")
            limited = f'range="{numbers(limits)}" limited="true"' if limits and kind != "ball" else ""
            if limited and joint["follower"] != name:
                limited = f'range="{-limits[1]:.17g} {-limits[0]:.17g}" limited="true"'
            lines.append(f'<joint type="{kind}" pos="{numbers(where)}" axis="{numbers(axis)}" {limited}/>')
        lines += [geom_xml(g) for g in body.get("geoms", []) if not g.get("visual_only")]
        for other in self.joints_of.get(name, []):
            if other["name"] in self.used:
                continue
            self.used.add(other["name"])
            child = other["follower"] if other.get("base") == name else other.get("base")
            if child in self.done or child is None or child == "world":
                self.equalities.append((other, name, child))
            else:
                lines += self.body_xml(child, name, other)
        lines.append("</body>")
        return lines

    def equality_xml(self, joint, here, there):
        r, rot, _ = self.pose(here)
        anchors = [np.array(joint["position"], float)]
        if joint["type"] == "revolute":
            axis = np.array(joint["axis"], float)
            anchors = [anchors[0] + s * 0.02 * axis / np.linalg.norm(axis) for s in (-1, 1)]
        other = f'body2="{there}"' if there not in (None, "world") else ""
        if joint["type"] == "fixed":
            return [f'<weld body1="{here}" {other}/>']
        return [f'<connect body1="{here}" {other} anchor="{numbers(rot.T @ (a - r))}"/>' for a in anchors]

    def mjcf(self, dt):
        world = [geom_xml(g) for g in self.scene.get("geoms", [])]
        for joint in self.joints_of.get(None, []) + self.joints_of.get("world", []):
            if joint["name"] not in self.used and joint["follower"] not in self.done:
                self.used.add(joint["name"])
                world += self.body_xml(joint["follower"], None, joint)
        for name in self.bodies:
            if name not in self.done:
                world += self.body_xml(name, None, None)
        equal = [line for e in self.equalities for line in self.equality_xml(*e)]
        gravity = self.scene.get("gravity", [0, 0, -9.81])
        return "\n".join([
            "<mujoco>", f'<option timestep="{dt}" gravity="{numbers(gravity)}" cone="elliptic"/>',
            "<worldbody>", *world, "</worldbody>", "<equality>", *equal, "</equality>", "</mujoco>"])


def run_mujoco(model, steps):
    data = mujoco.MjData(model)
    start = time.process_time()
    mujoco.mj_step(model, data, steps)
    seconds = (time.process_time() - start) / steps
    mujoco.mj_forward(model, data)
    equality = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    error = float(np.abs(data.efc_pos[equality]).max()) if equality.any() else 0.0
    return seconds, error, int(data.ncon)


def run_kinloop(command, scene, run, steps, solver):
    seconds, result = kinloop_step_seconds(command, scene, run, steps, solver)
    return seconds, result["final"].get("r_pen_joints", result["final"]["r_pen"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinloop", required=True)
    parser.add_argument("--scenes", default="scenes")
    parser.add_argument("--leg", default="tests/data/models/cassie_like/robot.urdf")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    cases = []
    folder = tempfile.TemporaryDirectory()
    for scene, run, steps in CASES:
        path = f"{args.scenes}/{scene}.json"
        if scene == "loop_leg":
            path = f"{folder.name}/{scene}.json"
            make_loop_leg(args.kinloop, args.leg, path)
        with open(path) as file:
            document = json.load(file)
        place_joints(document)
        dt = document["dt"]
        model = mujoco.MjModel.from_xml_string(Tree(document).mjcf(dt))
        theirs, ours = [], {solver: [] for solver in SOLVERS}
        errors = {}
        for _ in range(args.repeats):
            seconds, errors["mujoco"], contacts = run_mujoco(model, steps)
            theirs.append(seconds)
            for solver in SOLVERS:
                seconds, errors[solver] = run_kinloop(args.kinloop, path, run, steps, solver)
                ours[solver].append(seconds)
        case = {"scene": scene, "run": run, "steps": steps, "dt": dt, "final_contacts_mujoco": contacts,
                "step_s": {"mujoco": spread(theirs), **{s: spread(v) for s, v in ours.items()}},
                "joint_error": errors,
                "ratio_to_mujoco": {s: statistics.median(a / b for a, b in zip(v, theirs)) for s, v in ours.items()}}
        cases.append(case)
        print(f"{scene:15s} mujoco {case['step_s']['mujoco']['median'] * 1e6:8.1f} us  " + "  ".join(
            f"{s} {case['step_s'][s]['median'] * 1e6:8.1f} us ({case['ratio_to_mujoco'][s]:.2f}x, joints {errors[s]:.1e})"
            for s in SOLVERS) + f"  mujoco loops {errors['mujoco']:.1e}", file=sys.stderr)
    json.dump({"mujoco": mujoco.__version__, "machine": platform.processor() or platform.machine(),
               "repeats": args.repeats, "cases": cases}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
