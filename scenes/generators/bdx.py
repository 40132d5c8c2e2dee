"""bdx: a small biped with a long neck; five joints a leg, four for neck and head."""

from mechanism import Mechanism, ON_GROUND, PAPER_SOLVERS, STABILIZED, add

LIGHTEST, RATIO = 0.16, 42.49
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
SHELL, STEEL = [0.3, 0.6, 0.75], [0.3, 0.3, 0.33]


def leg(m, name, side):
    hip = (0.0, 0.09 * side, 0.42)
    roll = add(hip, (0.0, 0.0, -0.05))
    pitch = add(roll, (0.0, 0.02 * side, -0.03))
    knee = add(pitch, (0.10, 0.0, -0.15))
    ankle = add(knee, (-0.10, 0.0, -0.15))
    sole = ankle[2]
    m.box(name + "_yaw", 0.45, add(hip, (0.0, 0.0, -0.02)), (0.06, 0.06, 0.06), color=STEEL)
    m.box(name + "_roll", 0.4, add(roll, (0.0, 0.01 * side, -0.015)), (0.06, 0.06, 0.05), color=STEEL)
    m.bar(name + "_thigh", 0.8, pitch, knee, 0.03, ON_GROUND, SHELL)
    m.bar(name + "_shank", 0.5, knee, ankle, 0.025, ON_GROUND, SHELL)
    m.box(name + "_foot", 0.8, (ankle[0] + 0.01, ankle[1], sole / 2.0), (0.19, 0.09, sole), ON_GROUND, STEEL)
    m.revolute(name + "_hip_yaw", "trunk", name + "_yaw", hip, Z, limits=[-0.6, 0.6], omega=120.0, amplitude=0.0)
    m.revolute(name + "_hip_roll", name + "_yaw", name + "_roll", roll, X, limits=[-0.5, 0.5], omega=130.0,
               amplitude=0.0)
    m.revolute(name + "_hip_pitch", name + "_roll", name + "_thigh", pitch, Y, limits=[-1.2, 1.2], omega=130.0,
               amplitude=-0.2)
    m.revolute(name + "_knee", name + "_thigh", name + "_shank", knee, Y, limits=[-1.0, 1.2], omega=140.0, amplitude=0.4)
    m.revolute(name + "_ankle", name + "_shank", name + "_foot", ankle, Y, limits=[-0.9, 0.9], omega=200.0,
               zeta=1.2, amplitude=-0.2)


def build():
    m = Mechanism("bdx", "Small biped (surrogate mechanism)",
                  "A small biped with a long neck, fourteen revolute joints, bending its knees and looking around. A surrogate: the "
                  "counts and the mass ratio are those of the benchmark suite, shape and inertia are our own.")
    m.integral = 0.1  # a free base sways slowly: a strong integral would drive it
    m.box("trunk", RATIO * LIGHTEST, (0.0, 0.0, 0.5), (0.2, 0.2, 0.16), ON_GROUND, SHELL)
    leg(m, "left", 1)
    leg(m, "right", -1)
    neck, nod = (0.06, 0.0, 0.58), (0.10, 0.0, 0.72)
    m.bar("neck", 0.3, neck, nod, 0.025, color=STEEL)
    m.box("head_pitch", LIGHTEST, add(nod, (0.0, 0.0, 0.015)), (0.04, 0.05, 0.04), color=STEEL)
    m.box("head_yaw", 0.2, add(nod, (0.0, 0.0, 0.05)), (0.05, 0.05, 0.03), color=STEEL)
    m.box("head", 0.7, add(nod, (0.03, 0.0, 0.11)), (0.16, 0.14, 0.1), ON_GROUND, SHELL)
    m.revolute("neck_pitch", "trunk", "neck", neck, Y, limits=[-0.8, 0.8], omega=80.0, amplitude=0.25)
    m.revolute("head_pitch", "neck", "head_pitch", nod, Y, limits=[-0.8, 0.8], omega=90.0, amplitude=-0.35)
    m.revolute("head_yaw", "head_pitch", "head_yaw", add(nod, (0.0, 0.0, 0.035)), Z, limits=[-1.2, 1.2], omega=90.0,
               amplitude=0.8, phase=0.25)
    m.revolute("head_roll", "head_yaw", "head", add(nod, (0.0, 0.0, 0.065)), X, limits=[-0.6, 0.6], omega=90.0,
               amplitude=0.3)
    m.run("bob", "Bobbing", 12, text="Legs, neck and head follow a looped reference by PID.")
    m.run("bob_stabilized", "Bobbing, stabilised", 12, settings=STABILIZED)
    m.run("limp", "Limp", 4, actuated=False, text="Without drives it collapses.")
    m.solvers = PAPER_SOLVERS
    m.camera = ((1.1, -1.2, 0.8), (0.0, 0.0, 0.4))
    return m
