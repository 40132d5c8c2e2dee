"""quadruped: a trunk and four legs of three revolute joints each."""

from mechanism import Mechanism, ON_GROUND, PAPER_SOLVERS, STABILIZED, add

LIGHTEST, RATIO = 0.22, 29.07
DARK, LIGHT = [0.25, 0.27, 0.3], [0.85, 0.7, 0.3]


def leg(m, name, front, side, phase):
    hip = (0.22 * front, 0.06 * side, 0.42)
    root = add(hip, (0.0, 0.07 * side, 0.0))
    knee = add(root, (-0.12, 0.0, -0.19))
    foot = add(knee, (0.12, 0.0, -0.208))
    m.bar(name + "_hip", 0.7, hip, root, 0.04, color=DARK)
    m.bar(name + "_thigh", 0.9, root, knee, 0.03, ON_GROUND, LIGHT)
    m.bar(name + "_shank", LIGHTEST, knee, foot, 0.012, color=DARK)
    m.geom(name + "_shank", "sphere", foot, ON_GROUND, DARK, size=(0.022,))
    m.revolute(name + "_abduct", "trunk", name + "_hip", hip, (1.0, 0.0, 0.0), limits=[-0.8, 0.8], omega=120.0,
               amplitude=0.0)
    m.revolute(name + "_swing", name + "_hip", name + "_thigh", root, (0.0, 1.0, 0.0), limits=[-1.2, 1.8], omega=120.0,
               amplitude=0.25, phase=phase)
    m.revolute(name + "_knee", name + "_thigh", name + "_shank", knee, (0.0, 1.0, 0.0), limits=[-1.2, 1.2], omega=160.0,
               amplitude=-0.5, phase=phase)


def build():
    m = Mechanism("quadruped", "Quadruped (surrogate mechanism)",
                  "A four-legged robot with twelve revolute joints that sinks and rises on its feet. A surrogate: the counts and "
                  "the mass ratio are those of the benchmark suite, shape and inertia are our own.")
    m.integral = 0.1  # a free base sways slowly: a strong integral would drive it
    m.box("trunk", RATIO * LIGHTEST, (0.0, 0.0, 0.44), (0.5, 0.18, 0.12), ON_GROUND, LIGHT)
    for name, front, side in (("fl", 1, 1), ("fr", 1, -1), ("hl", -1, 1), ("hr", -1, -1)):
        leg(m, name, front, side, 0.0)
    m.run("squat", "Squats", 12, text="Hips and knees follow a looped reference by PID.")
    m.run("squat_stabilized", "Squats, stabilised", 12, settings=STABILIZED)
    m.run("limp", "Limp", 4, actuated=False, text="Without drives it collapses.")
    m.solvers = PAPER_SOLVERS
    m.camera = ((1.0, -1.3, 0.7), (0.0, 0.0, 0.3))
    return m
