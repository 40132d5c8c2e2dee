"""walker: a biped whose legs each close three loops (a lateral one at the hip, one along the thigh, one along the
shin), so that the pelvis moves without turning the feet; with both feet down the ground closes the seventh. Joint
limits are absent, as in the paper. Feet are non-convex plates of many vertices."""

import math

from mechanism import Mechanism, ON_GROUND, STABILIZED, add

LIGHTEST, RATIO = 0.06, 99.55
STIFF = 200.0  # [rad/s]
PAIRED = 140.0  # two drives share one motion
ANKLE = {"omega": 200.0, "zeta": 1.2}  # the ankles hold the whole machine upright
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
SHELL, STEEL, SOLE = [0.8, 0.3, 0.25], [0.5, 0.52, 0.56], [0.25, 0.25, 0.28]


def plate_mesh(m, name, length, width, height, nx, ny, holes):
    """A plate over a grid of nx x ny vertices, centred at its middle; `holes` are cells (i, j) left out, walls included."""
    cells = {(i, j) for i in range(nx - 1) for j in range(ny - 1)} - set(holes)
    used = sorted({(i + a, j + b) for i, j in cells for a in (0, 1) for b in (0, 1)})
    number = {node: k for k, node in enumerate(used)}
    vertices = [(round(length * (i / (nx - 1) - 0.5), 6), round(width * (j / (ny - 1) - 0.5), 6), z)
                for z in (-0.5 * height, 0.5 * height) for i, j in used]
    n, triangles = len(used), []
    for i, j in sorted(cells):
        a, b, c, d = (number[(i + p, j + q)] for p, q in ((0, 0), (1, 0), (1, 1), (0, 1)))
        triangles += [(a, c, b), (a, d, c), (a + n, b + n, c + n), (a + n, c + n, d + n)]
        for p, q, beside in ((a, b, (i, j - 1)), (b, c, (i + 1, j)), (c, d, (i, j + 1)), (d, a, (i - 1, j))):
            if beside not in cells:
                triangles += [(p, q, q + n), (p, q + n, p + n)]
    m.meshes[name] = (vertices, triangles)
    return n


def knee_bend(s):
    """Two bends a period, zero at the start with no velocity."""
    return 0.14 * (1.0 - math.cos(4.0 * math.pi * s))


def sway(s):
    """To one side and to the other."""
    return 0.06 * math.sin(2.0 * math.pi * s) * (1.0 - math.cos(2.0 * math.pi * s))


def leg(m, name, side):
    y = 0.11 * side
    hip = (0.0, y, 0.74)
    roll = add(hip, (0.0, 0.0, -0.06))
    m.box(name + "_hip_yaw", 0.9, add(hip, (0.0, 0.0, -0.03)), (0.1, 0.1, 0.05), color=STEEL)
    m.box(name + "_hip_roll", 0.9, add(roll, (0.0, 0.0, -0.02)), (0.1, 0.1, 0.05), color=STEEL)
    m.revolute(name + "_hip_yaw", "pelvis", name + "_hip_yaw", hip, Z, omega=100.0, amplitude=0.0)
    m.revolute(name + "_hip_roll", name + "_hip_yaw", name + "_hip_roll", roll, X, omega=100.0, wave=sway)

    top = add(roll, (0.0, -0.03, -0.04))
    carrier = m.parallelogram(name + "_lateral", name + "_hip_roll", top, (0.0, 0.0, -0.07), (0.0, 0.06, 0.0), X,
                              (0.2, 0.2, 0.9), 0.01, (0.1, 0.1, 0.05), PAIRED, wave=lambda s: 0.0, color=STEEL)
    pitch = add(roll, (0.0, 0.0, -0.14))
    m.box(name + "_hip_pitch", 1.2, add(pitch, (0.0, 0.0, -0.02)), (0.14, 0.08, 0.06), color=STEEL)
    m.revolute(name + "_hip_pitch", carrier, name + "_hip_pitch", pitch, Y, omega=STIFF, zeta=0.6, amplitude=0.0)

    thigh_top = add(pitch, (0.04, 0.0, -0.03))
    knee = m.parallelogram(name + "_thigh", name + "_hip_pitch", thigh_top, (0.05, 0.0, -0.19), (-0.08, 0.0, 0.0), Y,
                           (1.0, 0.6, 1.0), 0.018, (0.14, 0.08, 0.05), PAIRED, wave=lambda s: -knee_bend(s), color=SHELL)
    shin_top = add(thigh_top, (0.05, 0.0, -0.23))
    ankle = m.parallelogram(name + "_shin", knee, shin_top, (-0.05, 0.0, -0.19), (-0.08, 0.0, 0.0), Y,
                            (0.8, LIGHTEST, 0.9), 0.015, (0.14, 0.08, 0.05), PAIRED, wave=knee_bend, color=SHELL)
    joint = (0.0, y, 0.07)
    m.box(name + "_ankle", 0.8, joint, (0.1, 0.08, 0.04), color=STEEL)
    m.revolute(name + "_ankle_pitch", ankle, name + "_ankle", joint, Y, amplitude=0.0, **ANKLE)
    foot, toe = (0.0, y, 0.015), (0.155, y, 0.015)
    m.box(name + "_foot", 1.6, foot, (0.23, 0.13, 0.03))
    m.bodies[name + "_foot"]["geoms"].clear()
    m.geom(name + "_foot", "mesh", foot, ON_GROUND, SOLE, mesh="sole")
    m.revolute(name + "_ankle_roll", name + "_ankle", name + "_foot", (0.0, y, 0.05), X,
               wave=lambda s: -sway(s), **ANKLE)
    m.box(name + "_toe", 0.3, toe, (0.07, 0.13, 0.03), ON_GROUND, SOLE)
    m.revolute(name + "_toe", name + "_foot", name + "_toe", (0.12, y, 0.015), Y, omega=100.0, amplitude=0.0)
    m.geom(name + "_thigh_block", "box", m.bodies[name + "_thigh_block"]["centre"], ON_GROUND, size=(0.14, 0.08, 0.05))


def build():
    m = Mechanism("walker", "Walker (surrogate mechanism)",
                  "A biped with 36 revolute joints and three loops in each leg, redundantly driven; with both feet on the ground seven "
                  "loops are closed. It bends its knees and shifts its weight. A surrogate: the counts, the loops and the mass ratio are "
                  "those of the benchmark suite, shape, inertia and motion are our own.")
    holes = [(i, j) for i in (4, 5, 6, 11, 12, 13) for j in (3, 4, 5)]
    m.sole_vertices = plate_mesh(m, "sole", 0.23, 0.13, 0.03, 21, 10, holes)
    m.box("pelvis", RATIO * LIGHTEST, (0.0, 0.0, 0.83), (0.2, 0.3, 0.16), ON_GROUND, SHELL)
    leg(m, "left", 1)
    leg(m, "right", -1)
    m.integral = 0.1  # a free base sways slowly: a strong integral would drive it
    m.settings = {"cull_distance": 0.04}
    m.run("floating", "Floating without gravity", 23, gravity=[0, 0, 0], settings={"dt": 0.001},
          bodies={name: {"position": list(add(body["centre"], (0.0, 0.0, 0.5)))} for name, body in m.bodies.items()},
          text="No gravity and no ground contact: joints alone, redundantly driven.")
    m.run("hard", "On the ground, hard", 23, text="Gravity and contacts, no stabilisation.")
    m.run("stabilized", "On the ground, stabilised", 23, settings=STABILIZED)
    m.run("stabilized_soft_contacts", "Stabilised, contacts softened", 23,
          settings=dict(STABILIZED, softening={"contacts": True}))
    m.run("high_throughput", "High throughput", 23, preset="high-throughput", max_iterations=500, tolerance=1e-4,
          settings=STABILIZED, text="At most 500 iterations to 1e-4.")
    m.solvers = ["admm-ncp-plus", "admm-ncp-fp", "pgs-ccp", "pgs-ncp", "nbgs", "raisim", "raisim-ds", "raisim-ds-es"]
    m.camera = ((1.5, -1.8, 1.1), (0.0, 0.0, 0.5))
    return m
