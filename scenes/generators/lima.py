"""lima: a humanoid with twenty revolute joints: six a leg, one waist, three an arm, one head."""

from mechanism import Mechanism, ON_GROUND, PAPER_SOLVERS, STABILIZED, add

LIGHTEST, RATIO = 0.05, 321.39
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
SUIT, STEEL = [0.55, 0.35, 0.65], [0.3, 0.3, 0.33]


def leg(m, name, side):
    hip = (0.0, 0.1 * side, 0.86)
    pitch = add(hip, (0.0, 0.0, -0.08))
    knee = add(pitch, (0.04, 0.0, -0.34))
    ankle = add(knee, (-0.04, 0.0, -0.34))
    m.box(name + "_yaw", 0.8, add(hip, (0.0, 0.0, -0.02)), (0.08, 0.08, 0.05), color=STEEL)
    m.box(name + "_roll", 0.8, add(hip, (0.0, 0.0, -0.06)), (0.08, 0.08, 0.05), color=STEEL)
    m.bar(name + "_thigh", 3.2, pitch, knee, 0.055, ON_GROUND, SUIT)
    m.bar(name + "_shank", 2.2, knee, ankle, 0.045, ON_GROUND, SUIT)
    m.box(name + "_ankle", 0.4, ankle, (0.05, 0.05, 0.04), color=STEEL)
    m.box(name + "_foot", 1.7, (0.03, 0.1 * side, 0.03), (0.25, 0.11, 0.06), ON_GROUND, STEEL)
    m.revolute(name + "_hip_yaw", "pelvis", name + "_yaw", hip, Z, limits=[-0.6, 0.6], omega=100.0, amplitude=0.0)
    m.revolute(name + "_hip_roll", name + "_yaw", name + "_roll", add(hip, (0.0, 0.0, -0.04)), X, limits=[-0.5, 0.5],
               omega=110.0, amplitude=0.0)
    m.revolute(name + "_hip_pitch", name + "_roll", name + "_thigh", pitch, Y, limits=[-1.5, 0.8], omega=110.0,
               amplitude=-0.25)
    m.revolute(name + "_knee", name + "_thigh", name + "_shank", knee, Y, limits=[-0.2, 2.0], omega=130.0, amplitude=0.5)
    m.revolute(name + "_ankle_pitch", name + "_shank", name + "_ankle", ankle, Y, limits=[-0.9, 0.7], omega=200.0,
               zeta=1.0, amplitude=-0.25)
    m.revolute(name + "_ankle_roll", name + "_ankle", name + "_foot", ankle, X, limits=[-0.5, 0.5], omega=200.0,
               zeta=1.0, amplitude=0.0)


def arm(m, name, side):
    shoulder = (0.0, 0.2 * side, 1.3)
    roll = add(shoulder, (0.0, 0.04 * side, 0.0))
    elbow = add(roll, (0.0, 0.03 * side, -0.26))
    hand = add(elbow, (0.05, 0.0, -0.24))
    m.box(name + "_shoulder", 0.5, middle_of(shoulder, roll), (0.07, 0.05, 0.07), color=STEEL)
    m.bar(name + "_upper", 1.4, roll, elbow, 0.04, ON_GROUND, SUIT)
    m.bar(name + "_fore", 1.0, elbow, hand, 0.035, ON_GROUND, SUIT)
    m.revolute(name + "_shoulder_pitch", "chest", name + "_shoulder", shoulder, Y, limits=[-2.0, 2.0], omega=60.0,
               amplitude=-0.6, phase=0.0)
    m.revolute(name + "_shoulder_roll", name + "_shoulder", name + "_upper", roll, X, limits=[-1.5, 1.5], omega=60.0,
               amplitude=0.5 * side)
    m.revolute(name + "_elbow", name + "_upper", name + "_fore", elbow, Y, limits=[-1.8, 0.3], omega=80.0, amplitude=-0.9)


def middle_of(a, b):
    return tuple(0.5 * (x + y) for x, y in zip(a, b))


def build():
    m = Mechanism("lima", "Humanoid (surrogate mechanism)",
                  "A humanoid with twenty revolute joints and a very light head. A surrogate: the counts and the mass ratio are those "
                  "of the benchmark suite, shape and inertia are our own.")
    m.integral = 0.1  # a free base sways slowly: a strong integral would drive it
    m.box("pelvis", 5.0, (0.0, 0.0, 0.93), (0.2, 0.28, 0.14), ON_GROUND, SUIT)
    m.box("chest", RATIO * LIGHTEST, (0.0, 0.0, 1.2), (0.22, 0.32, 0.36), ON_GROUND, SUIT)
    m.ball("head", LIGHTEST, (0.02, 0.0, 1.5), 0.09, ON_GROUND, STEEL)
    m.revolute("waist_yaw", "pelvis", "chest", (0.0, 0.0, 1.01), Z, limits=[-0.8, 0.8], omega=60.0, amplitude=0.2,
               phase=0.25)
    for name, side in (("left", 1), ("right", -1)):
        leg(m, name, side)
        arm(m, name, side)
    m.revolute("head_yaw", "chest", "head", (0.0, 0.0, 1.4), Z, limits=[-1.0, 1.0], omega=60.0, amplitude=0.8, phase=0.25)
    m.run("squat", "Squats", 12, text="Legs and arms follow a looped reference by PID.")
    m.run("squat_stabilized", "Squats, stabilised", 12, settings=STABILIZED)
    m.run("limp", "Limp", 4, actuated=False, text="Without drives it collapses.")
    m.solvers = PAPER_SOLVERS
    m.camera = ((2.0, -2.4, 1.5), (0.0, 0.0, 0.8))
    return m
