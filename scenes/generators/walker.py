"""walker: a biped whose legs each close three loops (a lateral one at the hip, one along the thigh, one along the
shin), so that the pelvis moves without turning the feet; with both feet down the ground closes the seventh. Joint
limits are absent, as in the paper. Feet are non-convex plates of many vertices.

It walks in open loop. `gait` plans pelvis and feet so that the zero moment point stays in the standing foot; the four-bars
keep every orientation, so inverse kinematics is closed but for one Newton iteration; each drive's reference is the
planned coordinate plus the effort the plan asks for over the drive's gain (feed-forward through the controller)."""

import math

from gait import Walk
from mechanism import G, Mechanism, ON_GROUND, STABILIZED, add, dot, scale, sub, turned

LIGHTEST, RATIO = 0.06, 99.55
STIFF = 200.0  # [rad/s]
PAIRED = 140.0  # two drives share one motion
ANKLE = {"omega": 400.0, "zeta": 0.7}  # the ankles hold the whole machine upright
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
SHELL, STEEL, SOLE = [0.8, 0.3, 0.25], [0.5, 0.52, 0.56], [0.25, 0.25, 0.28]

SIDES = (("left", 1.0), ("right", -1.0))
HALF_WIDTH = 0.095         # [m] of the hips
HIP, ROLL = 0.74, 0.68     # [m] heights of the axes of hip yaw and roll, with the pelvis at HEIGHT
HEIGHT, ANKLE_ROLL = 0.83, 0.05
BAR, LATERAL = 0.21, 0.07  # [m] bars of thigh and shin, of the four-bar at the hip
STIFF_PART = 0.18          # [m] of the height between hip and ankle roll that no bar changes
LATERAL_SHARE = 1.5        # turn of the four-bar at the hip per turn of the hip

WALK = {"period": 2.3, "step": 0.14, "half_width": HALF_WIDTH, "zmp_outward": 0.085, "lift": 0.04,
        "double_share": 0.4, "height": HEIGHT}
SAMPLES = 46               # of the references


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


def leg_angles(pelvis, sole, side):
    """Inverse kinematics of a leg with pelvis and sole level: (hip roll, lateral turn, angles of the thigh's and of the
    shin's bars to the leg). Both four-bars keep the orientation, so that hip and ankle roll cancel."""
    x = sole[0] - pelvis[0]
    y = sole[1] - pelvis[1] - side * HALF_WIDTH
    z = sole[2] + ANKLE_ROLL - (pelvis[2] - HEIGHT + ROLL)
    roll = 0.0
    for _ in range(20):  # Newton: the ankle lies on the bars' plane
        across = y * math.cos(roll) + z * math.sin(roll) - LATERAL * math.sin(LATERAL_SHARE * roll)
        slope = z * math.cos(roll) - y * math.sin(roll) - LATERAL * LATERAL_SHARE * math.cos(LATERAL_SHARE * roll)
        roll -= across / slope
    lateral = LATERAL_SHARE * roll
    down = y * math.sin(roll) - z * math.cos(roll) - STIFF_PART - LATERAL * math.cos(lateral)
    reach = math.hypot(x, down)
    lean, bend = math.atan2(x, down), math.acos(0.5 * reach / BAR)
    return roll, lateral, bend + lean, bend - lean


def bar_vector(angle, sign):
    return (sign * BAR * math.sin(angle), 0.0, -BAR * math.cos(angle))


def leg(m, name, side, start):
    """`start`: angles of the thigh's and of the shin's bars."""
    y = HALF_WIDTH * side
    hip = (0.0, y, HIP)
    roll = (0.0, y, ROLL)
    m.box(name + "_hip_yaw", 0.9, add(hip, (0.0, 0.0, -0.03)), (0.1, 0.1, 0.05), color=STEEL)
    m.box(name + "_hip_roll", 0.9, add(roll, (0.0, 0.0, -0.02)), (0.1, 0.1, 0.05), color=STEEL)
    m.revolute(name + "_hip_yaw", "pelvis", name + "_hip_yaw", hip, Z, omega=100.0, amplitude=0.0)
    m.revolute(name + "_hip_roll", name + "_hip_yaw", name + "_hip_roll", roll, X, omega=100.0)

    top = add(roll, (0.0, -0.03, -0.04))
    carrier = m.parallelogram(name + "_lateral", name + "_hip_roll", top, (0.0, 0.0, -LATERAL), (0.0, 0.06, 0.0), X,
                              (0.2, 0.2, 0.9), 0.01, (0.1, 0.1, 0.05), PAIRED, color=STEEL)
    pitch = add(roll, (0.0, 0.0, -0.14))
    m.box(name + "_hip_pitch", 1.2, add(pitch, (0.0, 0.0, -0.02)), (0.14, 0.08, 0.06), color=STEEL)
    m.revolute(name + "_hip_pitch", carrier, name + "_hip_pitch", pitch, Y, omega=STIFF, zeta=0.6, amplitude=0.0)

    thigh, shin = bar_vector(start[0], 1.0), bar_vector(start[1], -1.0)
    thigh_top = add(pitch, (0.04, 0.0, -0.03))
    knee = m.parallelogram(name + "_thigh", name + "_hip_pitch", thigh_top, thigh, (-0.08, 0.0, 0.0), Y,
                           (1.0, 0.6, 1.0), 0.018, (0.14, 0.08, 0.05), PAIRED, color=SHELL)
    shin_top = add(add(thigh_top, thigh), (0.0, 0.0, -0.04))
    ankle = m.parallelogram(name + "_shin", knee, shin_top, shin, (-0.08, 0.0, 0.0), Y,
                            (0.8, LIGHTEST, 0.9), 0.015, (0.14, 0.08, 0.05), PAIRED, color=SHELL)
    x = shin_top[0] + shin[0] - 0.04
    joint = (x, y, 0.07)
    m.box(name + "_ankle", 0.8, joint, (0.1, 0.08, 0.04), color=STEEL)
    m.revolute(name + "_ankle_pitch", ankle, name + "_ankle", joint, Y, amplitude=0.0, **ANKLE)
    foot, toe = (x, y, 0.015), (x + 0.155, y, 0.015)
    m.box(name + "_foot", 1.6, foot, (0.23, 0.13, 0.03))
    m.bodies[name + "_foot"]["geoms"].clear()
    m.geom(name + "_foot", "mesh", foot, ON_GROUND, SOLE, mesh="sole")
    m.revolute(name + "_ankle_roll", name + "_ankle", name + "_foot", (x, y, ANKLE_ROLL), X, **ANKLE)
    m.box(name + "_toe", 0.3, toe, (0.07, 0.13, 0.03), ON_GROUND, SOLE)
    m.revolute(name + "_toe", name + "_foot", name + "_toe", (x + 0.12, y, 0.015), Y, omega=100.0, amplitude=0.0)
    m.geom(name + "_thigh_block", "box", m.bodies[name + "_thigh_block"]["centre"], ON_GROUND, size=(0.14, 0.08, 0.05))


def figure(angles):
    """The mechanism alone, at the bars' `angles` of both legs."""
    m = Mechanism("walker", "Walker (surrogate mechanism)",
                  "A biped with 36 revolute joints and three loops in each leg, redundantly driven; with both feet on the "
                  "ground seven loops are closed. It walks in open loop: joint controllers follow a looped reference and "
                  "nothing measures balance. A surrogate: the counts, the loops and the mass ratio are those of the "
                  "benchmark suite, shape, inertia and motion are our own.")
    holes = [(i, j) for i in (4, 5, 6, 11, 12, 13) for j in (3, 4, 5)]
    m.sole_vertices = plate_mesh(m, "sole", 0.23, 0.13, 0.03, 21, 10, holes)
    m.box("pelvis", RATIO * LIGHTEST, (0.0, 0.0, HEIGHT), (0.2, 0.3, 0.16), ON_GROUND, SHELL)
    for name, side in SIDES:
        leg(m, name, side, angles[name])
    return m


def four_bar(name):
    """Shares of its joints in the turn of a four-bar."""
    return {f"{name}_a": 1.0, f"{name}_b": -1.0, f"{name}_c": 1.0, f"{name}_d": -1.0}


def motions(name):
    """What the leg `name` can do with the toe left out: [{joint: share}]. The last three are held."""
    return [{name + "_hip_roll": 1.0}, {name + "_ankle_roll": 1.0}, four_bar(name + "_lateral"), four_bar(name + "_thigh"),
            four_bar(name + "_shin"), {name + "_hip_yaw": 1.0}, {name + "_hip_pitch": 1.0}, {name + "_ankle_pitch": 1.0}]


def bar_angles(walk, s):
    return {name: leg_angles(walk.pelvis(s), sole, side)[2:] for (name, side), sole in zip(SIDES, walk.feet(s))}


def coordinates(walk, s, start):
    """Joint coordinates at phase `s` of a figure built at the bars' angles `start`."""
    q, pelvis = {}, walk.pelvis(s)
    for (name, side), sole in zip(SIDES, walk.feet(s)):
        roll, lateral, thigh, shin = leg_angles(pelvis, sole, side)
        turns = (roll, -roll, lateral, start[name][0] - thigh, shin - start[name][1], 0.0, 0.0, 0.0)
        for motion, turn in zip(motions(name), turns):
            q.update({joint: share * turn for joint, share in motion.items()})
    return q


def walk_with_balance():
    """The walk whose pelvis keeps the ZMP on its path, and the bars' angles where it begins."""
    walk = Walk(**WALK)
    start = bar_angles(walk, 0.0)
    model = figure(start)
    masses = [body["mass"] for body in model.bodies.values()]

    def masses_at(s):
        places = model.places(coordinates(walk, s, start), {"pelvis": walk.pelvis(s)})
        return [(mass, places[name][1]) for mass, name in zip(masses, model.bodies)]

    left = walk.balance(masses_at)
    walk.begin_amid()
    print(f"  walker: ZMP within {1e3 * left:.1f} mm of its path")
    return walk, bar_angles(walk, walk.start)


def twists(places_at, s, period):
    """Velocities of all bodies at phase `s`, by central differences of their places."""
    h = 1e-4
    before, now, after = (places_at(s + k * h) for k in (-1, 0, 1))
    result = {}
    for name, (rotation, _) in now.items():
        (r0, c0), (r1, c1) = before[name], after[name]
        spin = [[dot(sub(r1[i], r0[i]), rotation[j]) for j in range(3)] for i in range(3)]
        result[name] = scale(0.5 / (h * period), sub(c1, c0) + (spin[2][1], spin[0][2], spin[1][0]))
    return result


def efforts(m, walk, s, start):
    """{drive: effort} that the walk asks for at phase `s`: virtual work of weight, inertia (of point masses) and sole
    forces. The wanted ZMP divides the load between the soles, with each force in the middle of its sole; drives of
    one motion share its effort."""
    def places(phase, more=()):
        q = coordinates(walk, phase, start)
        for name, turn in dict(more).items():
            q[name] += turn
        return m.places(q, {"pelvis": walk.pelvis(phase)})

    before, now, after = (places(s + k / walk.samples) for k in (-1, 0, 1))
    dt = walk.period / walk.samples
    force = {}  # [N] weight and inertia
    for name, body in m.bodies.items():
        rate = scale(1.0 / dt**2, sub(add(before[name][1], after[name][1]), scale(2.0, now[name][1])))
        force[name] = scale(-body["mass"], add(rate, (0.0, 0.0, G)))
    ground = scale(-1.0, tuple(map(sum, zip(*force.values()))))
    result, h = {}, 1e-5
    for (side, _), load, sole in zip(SIDES, walk.loads(s), walk.feet(s)):
        foot = side + "_foot"
        arm = sub(sole, now[foot][1])
        for motion in motions(side):
            moved = places(s, {joint: h * share for joint, share in motion.items()})
            work = sum(dot(force[name], sub(moved[name][1], now[name][1])) for name in m.bodies)
            work += load * dot(ground, sub(add(moved[foot][1], turned(moved[foot][0], arm)), sole))
            driven = {joint: share for joint, share in motion.items() if m.joints[joint]["omega"]}
            result.update({joint: -share * work / (h * len(driven)) for joint, share in driven.items()})
    return result


def walker():
    """The figure where its walk begins, with the velocities of the walk and its references: each drive is told the
    planned coordinate and, ahead of it, the effort over the gain."""
    walk, start = walk_with_balance()
    m = figure(start)
    m.period, m.samples, m.integral = walk.period, SAMPLES, 0.0  # an integral would count the load twice
    m.tune()
    told = []
    for i in range(SAMPLES):
        s = walk.start + i / SAMPLES
        q, effort = coordinates(walk, s, start), efforts(m, walk, s, start)
        told.append({name: q[name] + tau / m.joints[name]["kp"] for name, tau in effort.items()})
    for name in told[0]:
        m.joints[name]["wave"] = lambda s, name=name: told[round(s * SAMPLES)][name]
    places_at = lambda s: m.places(coordinates(walk, s, start), {"pelvis": walk.pelvis(s)})
    for name, twist in twists(places_at, walk.start, walk.period).items():
        m.bodies[name]["twist"] = twist
    return m


def build():
    m = walker()
    m.settings = {"cull_distance": 0.04}
    m.run("floating", "Floating without gravity", 23, gravity=[0, 0, 0], settings={"dt": 0.001},
          bodies={name: {"position": list(add(body["centre"], (0.0, 0.0, 0.5))), "twist": [0] * 6} for name, body in m.bodies.items()},
          text="No gravity and no ground contact: joints alone, redundantly driven.")
    m.run("hard", "On the ground, hard", 23, text="Ten strides with gravity and contacts, no stabilisation.")
    m.run("stabilized", "On the ground, stabilised", 23, settings=STABILIZED)
    m.run("stabilized_soft_contacts", "Stabilised, contacts softened", 23,
          settings=dict(STABILIZED, softening={"contacts": True}))
    m.run("high_throughput", "High throughput", 23, preset="high-throughput", max_iterations=500, tolerance=1e-4,
          settings=STABILIZED, text="At most 500 iterations to 1e-4.")
    m.solvers = ["admm-ncp-plus", "admm-ncp-fp", "pgs-ccp", "pgs-ncp", "nbgs", "raisim", "raisim-ds", "raisim-ds-es"]
    m.camera = ((1.5, -1.8, 1.1), (0.0, 0.0, 0.5))
    return m
