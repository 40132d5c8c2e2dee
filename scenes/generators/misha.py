"""misha: a fixed-base figure with two parallelogram arms; every joint is driven, the loops redundantly."""

from mechanism import Mechanism, PAPER_SOLVERS, STABILIZED, add, raised_cosine

LIGHTEST, RATIO = 0.12, 90.67
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
FUR, STEEL = [0.55, 0.38, 0.22], [0.45, 0.45, 0.5]
TORSO, ARMS = (8, 1 | 4), (4, 1 | 8)  # arms meet the torso and the ground, not each other


def arm(m, name, side, phase):
    """Swivel, a parallelogram that lifts the elbow block and keeps it level, forearm, hand."""
    shoulder = (0.0, 0.2 * side, 0.78)
    near = add(shoulder, (0.06, 0.06 * side, 0.0))
    wave = raised_cosine(-0.6, phase)
    m.box(name + "_swivel", 0.6, add(shoulder, (0.03, 0.04 * side, 0.02)), (0.08, 0.06, 0.1), color=STEEL)
    m.revolute(name + "_swivel", "chest", name + "_swivel", shoulder, Z, limits=[-0.7, 0.7], omega=50.0,
               amplitude=0.4 * side, phase=phase)
    block = m.parallelogram(name + "_lift", name + "_swivel", near, (0.22, 0.0, -0.08), (0.0, 0.0, 0.06), Y,
                            (0.35, 0.35, 0.3), 0.014, (0.05, 0.05, 0.09), 50.0, limits=[-1.0, 1.0], wave=wave, color=STEEL)
    joint = m.joints  # the two passive joints of the loop are driven too: 23 of 23
    for letter, sign in (("b", -1.0), ("c", 1.0)):
        driven = joint[f"{name}_lift_{letter}"]
        driven["omega"], driven["wave"] = 50.0, (lambda s, w=wave, g=sign: g * w(s))
    elbow = add(near, (0.25, 0.0, -0.05))
    hand = add(elbow, (0.16, 0.0, 0.0))
    m.bar(name + "_fore", 0.5, elbow, hand, 0.035, ARMS, FUR)
    m.box(name + "_hand", 0.25, add(hand, (0.05, 0.0, 0.0)), (0.08, 0.07, 0.05), ARMS, FUR)
    m.revolute(name + "_fore", block, name + "_fore", elbow, Z, limits=[-0.8, 0.8], omega=50.0, amplitude=-0.5 * side,
               phase=phase)
    m.revolute(name + "_hand", name + "_fore", name + "_hand", hand, Y, limits=[-0.8, 0.8], omega=60.0, amplitude=0.7,
               phase=phase)


def build():
    m = Mechanism("misha", "Seated figure (surrogate mechanism)",
                  "A fixed-base figure with 23 driven revolute joints and a parallelogram in each arm, so that the drives of a loop work "
                  "on the same motion. A surrogate: the counts and the mass ratio are those of the benchmark suite, shape and inertia "
                  "are our own.")
    m.box("base", RATIO * LIGHTEST, (0.0, 0.0, 0.12), (0.5, 0.5, 0.24), color=STEEL)
    m.geom("base", "box", (0.3, 0.0, 0.44), (1, 4), FUR, size=(0.42, 0.4, 0.08))  # the lap
    m.fixed("mount", "world", "base", (0.0, 0.0, 0.0))
    m.box("spine_yaw", 1.2, (0.0, 0.0, 0.3), (0.14, 0.14, 0.1), color=STEEL)
    m.box("spine_pitch", 1.4, (0.0, 0.0, 0.42), (0.1, 0.16, 0.12), color=STEEL)
    m.box("chest", 3.5, (-0.02, 0.0, 0.66), (0.1, 0.3, 0.34), color=STEEL)
    m.barrel_mesh("belly", [(0.11, 0.12), (0.15, 0.16), (0.14, 0.15), (0.08, 0.09)], [-0.19, -0.06, 0.09, 0.2])
    m.geom("chest", "convex", (-0.1, 0.0, 0.66), TORSO, FUR, mesh="belly")
    m.revolute("spine_yaw", "base", "spine_yaw", (0.0, 0.0, 0.25), Z, limits=[-0.6, 0.6], omega=40.0, amplitude=0.4,
               phase=0.25)
    m.revolute("spine_pitch", "spine_yaw", "spine_pitch", (0.0, 0.0, 0.36), Y, limits=[-0.4, 0.4], omega=40.0,
               amplitude=0.15)
    m.revolute("chest_roll", "spine_pitch", "chest", (0.0, 0.0, 0.48), X, limits=[-0.4, 0.4], omega=40.0, amplitude=0.2,
               phase=0.25)
    arm(m, "left", 1, 0.0)
    arm(m, "right", -1, 0.25)
    m.box("neck_yaw", 0.4, (0.0, 0.0, 0.88), (0.07, 0.07, 0.06), color=STEEL)
    m.box("neck_pitch", 0.4, (0.0, 0.0, 0.94), (0.07, 0.08, 0.06), color=STEEL)
    m.ball("head", 1.3, (0.03, 0.0, 1.07), 0.12, TORSO, FUR)
    m.box("jaw", 0.2, (0.13, 0.0, 1.0), (0.1, 0.09, 0.03), color=FUR)
    m.revolute("neck_yaw", "chest", "neck_yaw", (0.0, 0.0, 0.84), Z, limits=[-0.8, 0.8], omega=50.0, amplitude=0.7,
               phase=0.25)
    m.revolute("neck_pitch", "neck_yaw", "neck_pitch", (0.0, 0.0, 0.91), Y, limits=[-0.5, 0.5], omega=50.0, amplitude=0.3)
    m.revolute("head_roll", "neck_pitch", "head", (0.0, 0.0, 0.97), X, limits=[-0.5, 0.5], omega=50.0, amplitude=0.3,
               phase=0.25)
    m.revolute("jaw", "head", "jaw", (0.08, 0.0, 1.02), Y, limits=[-0.1, 0.6], omega=60.0, amplitude=0.4)
    for name, side in (("left", 1), ("right", -1)):
        m.box(name + "_ear", LIGHTEST, (0.0, 0.09 * side, 1.2), (0.02, 0.06, 0.07), color=FUR)
        m.revolute(name + "_ear", "head", name + "_ear", (0.0, 0.08 * side, 1.165), X, limits=[-0.6, 0.6], omega=60.0,
                   amplitude=0.5 * side)
    m.run("track", "Tracking", 12, preset="high-throughput", text="All joints follow a looped reference by PID.")
    m.run("track_stabilized", "Tracking, stabilised", 12, preset="high-throughput", settings=STABILIZED)
    m.run("limp", "Limp", 6, actuated=False, preset="high-throughput", text="Without drives the figure sags into its limits; the arms fall into the lap.")
    m.solvers = PAPER_SOLVERS
    m.camera = ((1.8, -1.8, 1.2), (0.1, 0.0, 0.65))
    return m
