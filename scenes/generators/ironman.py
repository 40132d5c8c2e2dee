"""ironman: the largest row of the suite, here a heavy armoured figure of our own on a fixed base. Thirteen loops:
four universal joints (waist, neck, wrists) on two linear drives each, torso lean and both elbows on one, and two
shoulder plates that follow the shoulders through rods. Shells are bodies of their own, fixed around the links. The right
forearm carries more, so that the limp figure falls to that side."""

from mechanism import Mechanism, PAPER_SOLVERS, STABILIZED, add

LIGHTEST, RATIO = 0.009, 25544.44
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
BRONZE, STEEL = [0.72, 0.5, 0.25], [0.42, 0.43, 0.48]
TORSO, ARMS = (8, 1 | 4), (4, 1 | 8)  # arms meet the torso and the ground


def shell(m, name, body, mass, place, widths, heights, collide):
    """A convex shell fixed to a body; inertia of a hollow ellipsoid-like barrel, from its mean half axes."""
    m.barrel_mesh(name, widths, heights)
    a, b = max(w[0] for w in widths), max(w[1] for w in widths)
    c = 0.5 * (heights[-1] - heights[0])
    m.body(name, mass, place, [[mass * (b * b + c * c) / 3.0, 0.0, 0.0], [0.0, mass * (a * a + c * c) / 3.0, 0.0],
                               [0.0, 0.0, mass * (a * a + b * b) / 3.0]])
    m.geom(name, "convex", place, collide, BRONZE, mesh=name)
    m.fixed(name, body, name, place)


def arm(m, name, side, phase):
    shoulder = (0.0, 0.27 * side, 1.42)
    roll = add(shoulder, (0.0, 0.1 * side, 0.0))
    turn = add(roll, (0.0, 0.02 * side, -0.07))
    elbow = add(turn, (0.0, 0.0, -0.25))
    wrist = add(elbow, (0.2, 0.0, -0.12))
    m.box(name + "_shoulder", 1.6, add(shoulder, (0.0, 0.05 * side, 0.0)), (0.1, 0.08, 0.1), color=STEEL)
    m.box(name + "_roll", 0.9, add(roll, (0.0, 0.02 * side, -0.03)), (0.08, 0.06, 0.08), color=STEEL)
    m.bar(name + "_upper", 2.2, turn, elbow, 0.035, color=STEEL)
    m.bar(name + "_fore", 1.6, elbow, wrist, 0.03, color=STEEL)
    m.box(name + "_hand", 0.6, add(wrist, (0.06, 0.0, -0.02)), (0.1, 0.08, 0.06), ARMS, BRONZE)
    m.revolute(name + "_shoulder_pitch", "chest", name + "_shoulder", shoulder, Y, limits=[-1.0, 1.0], omega=80.0,
               amplitude=-0.6, phase=phase)
    m.revolute(name + "_shoulder_roll", name + "_shoulder", name + "_roll", roll, X, limits=[-0.8, 0.8], omega=80.0,
               amplitude=0.35 * side)  # away from the hip
    m.revolute(name + "_upper_turn", name + "_roll", name + "_upper", turn, Z, limits=[-0.8, 0.8], omega=80.0,
               amplitude=0.4 * side, phase=phase)
    m.revolute(name + "_elbow", name + "_upper", name + "_fore", elbow, Y, limits=[-0.7, 0.7], damping=0.1)
    m.actuator(name + "_elbow_drive", name + "_upper", name + "_fore", add(turn, (0.05, 0.0, -0.04)),
               add(elbow, (0.1, 0.0, -0.01)), (0.25, 0.15), 0.01, 100.0, 0.05, 0.03, phase, damping=0.005)
    m.joint(name + "_wrist", "universal", name + "_fore", name + "_hand", wrist, Y, Z, limits=[[-0.5, 0.5], [-0.5, 0.5]],
            damping=0.02)
    for letter, offset in (("a", 1), ("b", -1)):  # together they tip the hand, against each other they swing it
        m.actuator(f"{name}_wrist_{letter}", name + "_fore", name + "_hand", add(elbow, (0.09, 0.03 * offset, 0.0)),
                   add(wrist, (0.03, 0.035 * offset, 0.04)), (0.05, 0.03), 0.005, 100.0, 0.03, 0.012, phase, damping=0.001)
    # The shoulder plate: its rod makes a parallelogram with the shoulder block.
    plate, lever = add(shoulder, (-0.12, 0.0, 0.02)), (0.0, 0.0, 0.07)
    m.body(name + "_plate", 0.5, add(plate, (0.04, 0.03 * side, 0.1)), [[0.002, 0.0, 0.0], [0.0, 0.002, 0.0], [0.0, 0.0, 0.003]])
    m.geom(name + "_plate", "box", add(plate, (0.04, 0.03 * side, 0.1)), None, BRONZE, size=(0.16, 0.14, 0.02))
    m.revolute(name + "_plate", "chest", name + "_plate", plate, Y, limits=[-1.1, 1.1], damping=0.02)
    m.link_rod(name + "_plate_link", name + "_plate", name + "_shoulder", add(plate, lever),
               add(add(shoulder, (0.0, 0.0, 0.02)), lever), 0.08, 0.006, damping=0.001)
    shell(m, name + "_upper_shell", name + "_upper", 0.8, middle(turn, elbow),
          [(0.05, 0.045), (0.065, 0.06), (0.05, 0.045)], [-0.1, 0.0, 0.09], ARMS)
    shell(m, name + "_fore_shell", name + "_fore", 0.6 if side > 0 else 1.4, middle(elbow, wrist),  # the right one is heavy
          [(0.05, 0.04), (0.06, 0.05), (0.05, 0.04)], [-0.06, 0.0, 0.06], ARMS)


def middle(a, b):
    return tuple(0.5 * (x + y) for x, y in zip(a, b))


def build():
    m = Mechanism("ironman", "Bronze figure (surrogate mechanism)",
                  "The largest system: an armoured figure of 54 bodies and 67 joints on a heavy fixed base, with thirteen loops of linear "
                  "drives and rods. A surrogate for the last row of the benchmark suite (row id ironman): the counts and the mass ratio "
                  "are the row's, shape, inertia, motion and name are our own.")
    m.box("base", RATIO * LIGHTEST, (0.0, 0.0, 0.1), (0.9, 0.9, 0.2), color=STEEL)
    m.fixed("mount", "world", "base", (0.0, 0.0, 0.0))
    m.box("pelvis", 9.0, (0.0, 0.0, 0.95), (0.18, 0.24, 0.14), color=STEEL)
    m.geom("base", "capsule", (0.0, 0.0, 0.5), None, STEEL, size=(0.05, 0.6))
    m.box("torso", 6.0, (0.0, 0.0, 1.1), (0.14, 0.18, 0.1), color=STEEL)
    m.box("chest", 14.0, (0.0, 0.0, 1.38), (0.16, 0.34, 0.2), color=STEEL)
    m.revolute("turntable", "base", "pelvis", (0.0, 0.0, 0.85), Z, limits=[-0.6, 0.6], omega=40.0, amplitude=0.5, phase=0.25)
    m.revolute("lean", "pelvis", "torso", (0.0, 0.0, 1.04), Y, limits=[-0.3, 0.3], damping=1.0)
    m.actuator("lean_drive", "pelvis", "torso", (-0.13, 0.0, 0.92), (-0.11, 0.0, 1.12), (0.8, 0.5), 0.015, 100.0, 0.04,
               0.016, damping=0.02)
    m.joint("waist", "universal", "torso", "chest", (0.0, 0.0, 1.2), X, Y, limits=[[-0.6, 0.6], [-0.3, 0.3]], damping=1.0)
    for name, side in (("left", 1), ("right", -1)):
        m.actuator(f"waist_{name}", "torso", "chest", (0.09, 0.1 * side, 1.08), (0.1, 0.12 * side, 1.31), (0.6, 0.4), 0.012,
                   100.0, 0.09, 0.014, phase=0.0 if side > 0 else 0.25, damping=0.02)
    m.box("neck", 0.9, (0.0, 0.0, 1.58), (0.07, 0.07, 0.06), color=STEEL)
    m.joint("neck", "universal", "chest", "neck", (0.0, 0.0, 1.54), X, Y, limits=[[-0.4, 0.4], [-0.4, 0.4]], damping=0.05)
    for name, side in (("left", 1), ("right", -1)):
        m.actuator(f"neck_{name}", "chest", "neck", (-0.07, 0.06 * side, 1.46), (-0.05, 0.05 * side, 1.6), (0.08, 0.05), 0.006,
                   70.0, 0.025, 0.012, phase=0.0 if side > 0 else 0.25, damping=0.002)
    m.box("head", 2.2, (0.03, 0.0, 1.72), (0.15, 0.13, 0.18), color=STEEL)
    m.revolute("head_yaw", "neck", "head", (0.0, 0.0, 1.62), Z, limits=[-0.8, 0.8], omega=50.0, amplitude=0.8, phase=0.25)
    m.box("visor", LIGHTEST, (0.115, 0.0, 1.74), (0.008, 0.1, 0.05), color=BRONZE)
    m.revolute("visor", "head", "visor", (0.115, 0.0, 1.77), Y, limits=[-1.2, 0.1], omega=70.0, amplitude=-0.9)
    shell(m, "pelvis_shell", "pelvis", 2.0, (0.0, 0.0, 0.93), [(0.13, 0.18), (0.19, 0.25), (0.14, 0.18)], [-0.1, 0.0, 0.09],
          TORSO)
    shell(m, "chest_shell", "chest", 5.0, (-0.02, 0.0, 1.38), [(0.12, 0.12), (0.15, 0.17), (0.11, 0.12)],
          [-0.14, 0.0, 0.12], TORSO)
    shell(m, "helmet", "head", 1.0, (0.02, 0.0, 1.75), [(0.08, 0.07), (0.1, 0.09), (0.05, 0.05)], [-0.1, 0.0, 0.11], TORSO)
    for name, side, phase in (("left", 1, 0.0), ("right", -1, 0.25)):
        arm(m, name, side, phase)
        shell(m, name + "_leg", "base", 6.0, (0.0, 0.13 * side, 0.55), [(0.07, 0.06), (0.1, 0.08), (0.09, 0.08)],
              [-0.3, 0.05, 0.24], TORSO)
        shell(m, name + "_boot", "base", 3.0, (0.05, 0.13 * side, 0.26), [(0.15, 0.08), (0.14, 0.08), (0.08, 0.07)],
              [-0.06, 0.0, 0.05], TORSO)
    m.run("ragdoll", "Rag-doll", 6, preset="high-throughput", actuated=False,
          text="Without drives the figure collapses into its limits, towards its heavy right arm; the left hand falls on the "
          "hip. At most 1000 iterations to 1e-6.")
    m.run("track", "Tracking", 12, preset="high-throughput", text="Twenty drives follow looped references by PID.")
    m.run("track_stabilized", "Tracking, stabilised", 12, preset="high-throughput", settings=STABILIZED)
    m.preset = "high-throughput"
    m.solvers = PAPER_SOLVERS
    m.camera = ((2.4, -2.2, 1.9), (0.0, 0.0, 1.1))
    return m
