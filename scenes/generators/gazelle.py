"""gazelle: a fixed-base animal figure. Seven loops: a spine and a neck on linear drives (one and two), parallelograms
in both front legs and at the jaw, and a tail that follows a crank through a rod with two spherical joints."""

from mechanism import Mechanism, PAPER_SOLVERS, STABILIZED, add, raised_cosine

LIGHTEST, RATIO = 0.04, 1012.54
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
COAT, STEEL, HORN = [0.75, 0.55, 0.32], [0.45, 0.45, 0.5], [0.2, 0.17, 0.15]
SHELL = (8, 1)


def front_leg(m, name, side, phase):
    shoulder = (0.34, 0.1 * side, 0.78)
    wave = raised_cosine(-0.5, phase)
    knee = m.parallelogram(name + "_upper", "chest", shoulder, (0.0, 0.0, -0.28), (-0.05, 0.0, 0.0), Y, (0.7, 0.4, 0.3),
                           0.018, (0.09, 0.05, 0.05), 60.0, limits=[-0.9, 0.9], damping=0.02, wave=wave, color=STEEL,
                           both_driven=False)
    joint = add(shoulder, (-0.025, 0.0, -0.31))
    hoof = add(joint, (0.0, 0.0, -0.24))
    m.bar(name + "_lower", 0.4, joint, hoof, 0.02, SHELL, COAT)
    m.box(name + "_hoof", 0.15, add(hoof, (0.02, 0.0, -0.03)), (0.07, 0.05, 0.04), SHELL, HORN)
    m.revolute(name + "_lower", knee, name + "_lower", joint, Y, limits=[-0.4, 1.2], omega=60.0, amplitude=0.6, phase=phase)
    m.revolute(name + "_hoof", name + "_lower", name + "_hoof", hoof, Y, limits=[-0.6, 0.6], omega=70.0, amplitude=0.4,
               phase=phase)


def hind_leg(m, name, side, phase):
    hip = (-0.22, 0.1 * side, 0.78)
    knee = add(hip, (0.04, 0.0, -0.3))
    m.bar(name + "_thigh", 1.1, hip, knee, 0.03, SHELL, COAT)
    m.bar(name + "_shank", 0.5, knee, add(knee, (-0.04, 0.0, -0.28)), 0.02, SHELL, COAT)
    m.revolute(name + "_hip", "pelvis", name + "_thigh", hip, Y, limits=[-0.9, 0.9], omega=60.0, amplitude=-0.4, phase=phase)
    m.revolute(name + "_knee", name + "_thigh", name + "_shank", knee, Y, limits=[-1.2, 0.2], omega=60.0, amplitude=-0.3,
               phase=phase)


def neck_and_head(m):
    root = (0.42, 0.0, 0.98)
    top = add(root, (0.14, 0.0, 0.32))
    m.bar("neck", 1.4, root, top, 0.04, SHELL, COAT)
    m.joint("neck", "universal", "chest", "neck", root, X, Y, limits=[[-0.5, 0.5], [-0.5, 0.5]], damping=0.05)
    for name, side in (("left", 1), ("right", -1)):  # together they nod, against each other they lean
        m.actuator(f"neck_{name}", "chest", "neck", (0.26, 0.08 * side, 0.92), add(root, (0.0, 0.05 * side, 0.15)),
                   (0.15, 0.1), 0.01, 60.0, 0.06, 0.02, phase=0.0, damping=0.005)
    m.box("head_carrier", 0.2, add(top, (0.0, 0.0, 0.03)), (0.06, 0.06, 0.04), color=STEEL)
    m.box("head", 0.9, add(top, (0.07, 0.0, 0.1)), (0.2, 0.1, 0.08), SHELL, COAT)
    m.revolute("head_yaw", "neck", "head_carrier", add(top, (0.0, 0.0, 0.01)), Z, limits=[-0.8, 0.8], omega=60.0,
               amplitude=0.6, phase=0.25)
    m.revolute("head_pitch", "head_carrier", "head", add(top, (0.0, 0.0, 0.05)), Y, limits=[-0.6, 0.6], omega=60.0,
               amplitude=0.3)
    m.parallelogram("jaw", "head", add(top, (0.1, 0.0, 0.055)), (0.04, 0.0, -0.03), (0.05, 0.0, 0.0), Y,
                    (0.06, 0.05, 0.08), 0.006, (0.12, 0.06, 0.015), 70.0, limits=[-0.5, 0.5], damping=0.001,
                    wave=raised_cosine(0.3, 0.0), color=COAT, both_driven=False)
    for name, side in (("left", 1), ("right", -1)):
        m.box(name + "_ear", LIGHTEST, add(top, (0.0, 0.06 * side, 0.19)), (0.015, 0.04, 0.1), color=COAT)
        m.revolute(name + "_ear", "head", name + "_ear", add(top, (0.0, 0.045 * side, 0.14)), X, limits=[-0.6, 0.6],
                   omega=60.0, amplitude=0.5 * side)


def tail(m):
    root = (-0.34, 0.0, 0.88)
    middle, end = add(root, (-0.1, 0.0, -0.02)), add(root, (-0.2, 0.0, -0.08))
    m.bar("tail1", 0.12, root, middle, 0.015, color=COAT)
    m.bar("tail2", 0.08, middle, end, 0.012, color=COAT)
    m.bar("tail3", 0.05, end, add(end, (-0.05, 0.0, -0.08)), 0.01, color=COAT)
    crank = (-0.2, 0.0, 0.88)
    m.bar("tail_crank", 0.1, crank, add(crank, (0.0, 0.0, 0.06)), 0.01, color=STEEL)
    m.revolute("tail_crank", "pelvis", "tail_crank", crank, Y, limits=[-0.7, 0.7], omega=60.0, amplitude=0.6)
    m.revolute("tail1", "pelvis", "tail1", root, Y, limits=[-0.8, 0.8], damping=0.002)
    m.link_rod("tail", "tail_crank", "tail1", add(crank, (0.0, 0.0, 0.05)), add(root, (0.0, 0.0, 0.05)), 0.06, 0.006,
               first="spherical", damping=0.0005)
    m.revolute("tail2", "tail1", "tail2", middle, Z, limits=[-0.8, 0.8], omega=60.0, amplitude=0.7, phase=0.25)
    m.revolute("tail3", "tail2", "tail3", end, Z, limits=[-0.8, 0.8], omega=60.0, amplitude=0.7, phase=0.25)


def build():
    m = Mechanism("gazelle", "Animal figure (surrogate mechanism)",
                  "A fixed-base animal figure: linear drives move spine and neck through universal and spherical joints, four-bars fold "
                  "the front legs and the jaw, a rod moves the tail. Seven loops. A surrogate: the counts and the mass ratio are those "
                  "of the benchmark suite, shape, inertia and motion are our own.")
    m.barrel_mesh("chest_shell", [(0.1, 0.07), (0.2, 0.13), (0.22, 0.14), (0.12, 0.08)], [-0.14, -0.05, 0.05, 0.15])
    m.barrel_mesh("pelvis_shell", [(0.09, 0.08), (0.16, 0.13), (0.14, 0.12), (0.08, 0.07)], [-0.13, -0.04, 0.06, 0.13])
    m.box("plinth", RATIO * LIGHTEST, (0.0, 0.0, 0.03), (1.0, 0.6, 0.06), (1, 8), STEEL)
    m.geom("plinth", "capsule", (-0.1, 0.0, 0.42), None, STEEL, size=(0.03, 0.6))
    m.fixed("mount", "world", "plinth", (0.0, 0.0, 0.0))
    m.box("pelvis", 4.0, (-0.15, 0.0, 0.82), (0.2, 0.16, 0.14), color=STEEL)
    m.box("chest", 5.0, (0.25, 0.0, 0.86), (0.2, 0.16, 0.16), color=STEEL)
    m.revolute("turntable", "plinth", "pelvis", (-0.1, 0.0, 0.72), Z, limits=[-0.5, 0.5], omega=40.0, amplitude=0.4,
               phase=0.25)
    m.revolute("spine", "pelvis", "chest", (0.0, 0.0, 0.84), Y, limits=[-0.4, 0.4], damping=0.5)
    m.actuator("spine", "pelvis", "chest", (-0.1, 0.0, 0.95), (0.2, 0.0, 0.97), (0.4, 0.3), 0.014, 60.0, 0.06, 0.03,
               damping=0.01)
    for shell, body, place, mass in (("chest_shell", "chest", (0.25, 0.0, 0.88), 1.5),
                                     ("pelvis_shell", "pelvis", (-0.17, 0.0, 0.82), 1.2)):
        m.body(shell, mass, place, [[mass * 0.011, 0.0, 0.0], [0.0, mass * 0.016, 0.0], [0.0, 0.0, mass * 0.015]])
        m.geom(shell, "convex", place, SHELL, COAT, mesh=shell)
        m.fixed(shell, body, shell, place)
    for name, side, phase in (("left", 1, 0.0), ("right", -1, 0.25)):
        front_leg(m, name + "_front", side, phase)
        hind_leg(m, name + "_hind", side, phase)
    neck_and_head(m)
    tail(m)
    m.run("track", "Tracking", 12, preset="high-throughput", text="22 drives follow looped references by PID.")
    m.run("track_stabilized", "Tracking, stabilised", 12, preset="high-throughput", settings=STABILIZED)
    m.run("limp", "Limp", 6, actuated=False, preset="high-throughput", text="Without drives the figure sags into its limits; the front hooves meet the plinth.")
    m.solvers = PAPER_SOLVERS
    m.camera = ((1.9, -2.0, 1.5), (0.1, 0.0, 0.8))
    return m
