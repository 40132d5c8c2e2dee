"""A mechanism described in the world frame at its start pose, written as a kinloop scene.

Bodies are named, have a mass and a solid shape (its inertia in closed form), and keep world-aligned
frames at the start pose. Joints are given by a world position and axes, so that every loop is closed
by construction. Gains of the joint controllers follow from the inertia that each actuated coordinate
feels with all other joints free (`tune`). Standard library only.
"""

import json
import math

DT = 0.001  # [s] step of all surrogate scenes
G = 9.81


# ---------------------------------------------------------------------------------------------- vectors
def add(a, b):
    return tuple(x + y for x, y in zip(a, b))


def sub(a, b):
    return tuple(x - y for x, y in zip(a, b))


def scale(s, a):
    return tuple(s * x for x in a)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a):
    return scale(1.0 / math.sqrt(dot(a, a)), a)


def middle(a, b):
    return scale(0.5, add(a, b))


def mirror(p):
    """The point on the other side of the x-z plane."""
    return (p[0], -p[1], p[2])


def perpendicular(axis):
    least = min(range(3), key=lambda k: abs(axis[k]))
    e = tuple(1.0 if k == least else 0.0 for k in range(3))
    return unit(sub(e, scale(dot(e, axis), axis)))


def turned(rotation, a):
    return tuple(dot(row, a) for row in rotation)


def turned_row(row, rotation):
    """A row of the product with `rotation` from the right."""
    return tuple(sum(row[k] * rotation[k][j] for k in range(3)) for j in range(3))


def rotation_about(axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = axis
    skew = ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))
    return tuple(tuple((c if i == j else 0.0) + (1.0 - c) * axis[i] * axis[j] + s * skew[i][j] for j in range(3))
                 for i in range(3))


def turn_to(direction):
    """Unit quaternion (w, x, y, z) that turns z to `direction`."""
    z = unit(direction)
    if z[2] < -1.0 + 1e-12:
        return (0.0, 1.0, 0.0, 0.0)
    q = (1.0 + z[2], -z[1], z[0], 0.0)  # (1 + z.d, z x d)
    norm = math.sqrt(sum(x * x for x in q))
    return tuple(x / norm for x in q)


# ---------------------------------------------------------------------------------------------- inertia
def about_axis(axis, along, across):
    """Tensor with moment `along` the axis and `across` it."""
    return [[(across if i == j else 0.0) + (along - across) * axis[i] * axis[j] for j in range(3)] for i in range(3)]


def box_inertia(mass, size):
    x, y, z = (s * s for s in size)
    k = mass / 12.0
    return [[k * (y + z), 0.0, 0.0], [0.0, k * (x + z), 0.0], [0.0, 0.0, k * (x + y)]]


def rod_inertia(mass, axis, radius, length):
    """Solid cylinder."""
    return about_axis(axis, 0.5 * mass * radius**2, mass * (3.0 * radius**2 + length**2) / 12.0)


# ---------------------------------------------------------------------------------------------- mechanism
FREE_AXES = {  # translations and rotations (of the joint's x, y, z) that a kind leaves free, in coordinate order
    "fixed": [],
    "revolute": [("turn", 0)],
    "prismatic": [("slide", 0)],
    "universal": [("turn", 0), ("turn", 1)],
    "spherical": [("turn", 0), ("turn", 1), ("turn", 2)],
}


class Mechanism:
    def __init__(self, name, title, text, ground=True):
        self.scene = {"schema": 1, "id": name, "title": title, "text": text, "surrogate": True}
        self.ground = ground
        self.bodies, self.joints, self.meshes, self.references = {}, {}, {}, {}
        self.exclude, self.settings = [], {}
        self.runs, self.solvers, self.camera = [], [], None
        self.preset = "high-precision"
        self.integral = 1.0  # [1/s] ki / kp
        self.period, self.samples = 4.0, 40  # of the references [s]

    # ------------------------------------------------------------------ bodies
    def body(self, name, mass, centre, inertia):
        assert name not in self.bodies, name
        self.bodies[name] = {"mass": mass, "centre": tuple(centre), "inertia": inertia, "geoms": []}
        return name

    def geom(self, body, kind, at, collide=None, color=None, direction=None, size=None, mesh=None):
        """A geom at a world place. `collide`: None is drawn only, else (group, mask)."""
        geom = {"type": kind}
        local = sub(at, self.bodies[body]["centre"])
        if any(abs(x) > 0.0 for x in local):
            geom["position"] = local
        if direction is not None and unit(direction) != (0.0, 0.0, 1.0):
            geom["orientation"] = turn_to(direction)
        if size is not None:
            geom["size"] = list(size)
        if mesh is not None:
            geom["mesh"] = mesh
        if collide is None:
            geom["visual_only"] = True
        else:
            geom["group"], geom["mask"] = collide
        if color is not None:
            geom["color"] = color
        self.bodies[body]["geoms"].append(geom)

    def box(self, name, mass, centre, size, collide=None, color=None):
        self.body(name, mass, centre, box_inertia(mass, size))
        self.geom(name, "box", centre, collide, color, size=size)
        return name

    def bar(self, name, mass, start, end, radius, collide=None, color=None):
        """A round bar between two points; its ends are rounded where it collides or is drawn."""
        axis = sub(end, start)
        length = math.sqrt(dot(axis, axis))
        self.body(name, mass, middle(start, end), rod_inertia(mass, unit(axis), radius, length))
        self.geom(name, "capsule", middle(start, end), collide, color, axis, (radius, length))
        return name

    def ball(self, name, mass, centre, radius, collide=None, color=None):
        i = 0.4 * mass * radius**2
        self.body(name, mass, centre, [[i, 0.0, 0.0], [0.0, i, 0.0], [0.0, 0.0, i]])
        self.geom(name, "sphere", centre, collide, color, size=(radius,))
        return name

    def barrel_mesh(self, name, widths, heights, sides=12):
        """A convex shell: rings of `widths` (half axes x, y) at `heights`, closed at both ends."""
        vertices = []
        for (a, b), z in zip(widths, heights):
            for k in range(sides):
                angle = 2.0 * math.pi * k / sides
                vertices.append((round(a * math.cos(angle), 6), round(b * math.sin(angle), 6), z))
        triangles = []
        for ring in range(len(heights) - 1):
            for k in range(sides):
                a, b = ring * sides + k, ring * sides + (k + 1) % sides
                triangles += [(a, b, b + sides), (a, b + sides, a + sides)]
        last = (len(heights) - 1) * sides
        for k in range(1, sides - 1):
            triangles += [(0, k + 1, k), (last, last + k, last + k + 1)]
        self.meshes[name] = (vertices, triangles)
        return name

    # ------------------------------------------------------------------ joints
    def joint(self, name, kind, base, follower, at, axis=(1.0, 0.0, 0.0), axis2=None, limits=None, damping=0.0,
              omega=None, amplitude=None, phase=0.0, wave=None, zeta=0.7):
        """`omega` [rad/s]: the joint is actuated, with this bandwidth. `wave`: its looped reference, a function of
        the phase in [0, 1]; or `amplitude`: a raised cosine of this height that starts at `phase`."""
        assert name not in self.joints, name
        axis = unit(axis)
        axis2 = perpendicular(axis) if axis2 is None else unit(axis2)
        if wave is None and amplitude is not None:
            wave = raised_cosine(amplitude, phase)
        self.joints[name] = {
            "kind": kind, "base": base, "follower": follower, "at": tuple(at),
            "frame": (axis, axis2, cross(axis, axis2)), "limits": limits, "damping": damping,
            "omega": omega, "zeta": zeta, "wave": wave,
        }

    def revolute(self, name, base, follower, at, axis, **more):
        self.joint(name, "revolute", base, follower, at, axis, **more)

    def fixed(self, name, base, follower, at):
        self.joint(name, "fixed", base, follower, at)

    def parallelogram(self, name, base, at, arm, span, axis, masses, radius, follower_box, drive, limits=None,
                      damping=0.0, wave=None, color=None, both_driven=True):
        """A four-bar: two equal bars hang from `base` at `at` and `at` + span, run along `arm` and carry a block that
        keeps its orientation. Joints: NAME_a (base, first bar), NAME_b (first bar, block), NAME_c (base, second bar),
        NAME_d (second bar, block). a and the opposite d are driven, or a alone; for a turn of the bars by q the
        coordinates are q, -q, q, -q. Bodies: NAME_front, NAME_rear, NAME_block. Returns the block."""
        near, far = tuple(at), add(at, span)
        near_end, far_end = add(near, arm), add(far, arm)
        front = self.bar(name + "_front", masses[0], near, near_end, radius, color=color)
        rear = self.bar(name + "_rear", masses[1], far, far_end, radius, color=color)
        block = self.box(name + "_block", masses[2], middle(near_end, far_end), follower_box, color=color)
        negative = None if wave is None else (lambda s: -wave(s))
        more = {"limits": limits, "damping": damping}
        self.revolute(name + "_a", base, front, near, axis, omega=drive, wave=wave, **more)
        self.revolute(name + "_b", front, block, near_end, axis, **more)
        self.revolute(name + "_c", base, rear, far, axis, **more)
        self.revolute(name + "_d", rear, block, far_end, axis, omega=drive if both_driven else None,
                      wave=negative if both_driven else None, **more)
        return block

    def actuator(self, name, base, follower, start, end, masses, radius, drive, stroke, amplitude, phase=0.0, damping=0.0):
        """A linear drive: universal joint at `start` on the base, slider, spherical joint at `end` on the follower."""
        axis = unit(sub(end, start))
        side = perpendicular(axis)
        half = middle(start, end)
        cylinder = self.bar(name + "_cylinder", masses[0], start, half, 1.5 * radius, color=[0.35, 0.35, 0.4])
        rod = self.bar(name + "_rod", masses[1], half, end, radius, color=[0.75, 0.75, 0.8])
        self.joint(name + "_u", "universal", base, cylinder, start, side, cross(axis, side), damping=damping)
        self.joint(name + "_p", "prismatic", cylinder, rod, half, axis, limits=[-stroke, stroke], omega=drive,
                   amplitude=amplitude, phase=phase)
        self.joint(name + "_s", "spherical", rod, follower, end, damping=damping)

    def link_rod(self, name, base, follower, start, end, mass, radius, first="universal", damping=0.0):
        """A coupling rod with a universal (or spherical) joint at `start` and a spherical one at `end`."""
        axis = unit(sub(end, start))
        side = perpendicular(axis)
        rod = self.bar(name + "_rod", mass, start, end, radius, color=[0.75, 0.75, 0.8])
        self.joint(name + "_start", first, base, rod, start, side, cross(axis, side), damping=damping)
        self.joint(name + "_end", "spherical", rod, follower, end, damping=damping)

    def run(self, identity, title, duration, **more):
        self.runs.append({"id": identity, "title": title, "duration": duration, **more})

    # ------------------------------------------------------------------ kinematics
    def places(self, coordinates, roots):
        """(rotation, centre) of each body that revolute joints connect to the bodies in `roots` (name: centre, upright),
        along the joints in their order; `coordinates` that are not given are 0."""
        places = {name: (((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), centre) for name, centre in roots.items()}
        for name, joint in self.joints.items():
            base, follower = joint["base"], joint["follower"]
            if base in places and follower not in places:
                rotation, centre = places[base]
                at = add(centre, turned(rotation, sub(joint["at"], self.bodies[base]["centre"])))
                turn = rotation_about(joint["frame"][0], coordinates.get(name, 0.0))
                rotation = tuple(turned_row(row, turn) for row in rotation)
                arm = sub(self.bodies[follower]["centre"], joint["at"])
                places[follower] = (rotation, add(at, turned(rotation, arm)))
        return places

    # ------------------------------------------------------------------ controller gains
    def velocity_rows(self, joint):
        """(constraint rows, coordinate rows), each [(body, six numbers)]: velocities of the follower against the base."""
        free = FREE_AXES[joint["kind"]]
        constraints = []
        for motion in ("slide", "turn"):
            for k in range(3):
                if (motion, k) not in free:
                    constraints.append(self.velocity_row(joint, motion, k))
        return constraints, [self.velocity_row(joint, motion, k) for motion, k in free]

    def velocity_row(self, joint, motion, k):
        axis, row = joint["frame"][k], []
        for name, sign in ((joint["base"], -1.0), (joint["follower"], 1.0)):
            if name == "world":
                continue
            arm = sub(joint["at"], self.bodies[name]["centre"])
            six = axis + cross(arm, axis) if motion == "slide" else (0.0, 0.0, 0.0) + axis
            row.append((name, scale(sign, six)))
        return row

    def actuated_mobility(self):
        """Accelerations of the actuated coordinates under unit efforts, all other joints free: a dense matrix."""
        inverse = {name: inverse_inertia(b["mass"], b["inertia"]) for name, b in self.bodies.items()}
        constraints, actuated = [], []
        for joint in self.joints.values():
            rows, coordinates = self.velocity_rows(joint)
            constraints += rows
            actuated += coordinates if joint["omega"] else []
        gram = gram_matrix(constraints, constraints, inverse)
        coupling = gram_matrix(constraints, actuated, inverse)
        mobility = gram_matrix(actuated, actuated, inverse)
        solved = solve_semidefinite(gram, coupling)  # (constraints x actuated)
        n = len(actuated)
        return [[mobility[i][j] - sum(coupling[k][i] * solved[k][j] for k in range(len(constraints)))
                 for j in range(n)] for i in range(n)]

    def tune(self):
        """kp = I w^2, kd = 2 zeta I w, ki = `integral` kp, with I the free inertia of each coordinate. The explicit
        controller in a semi-implicit Euler step is stable while 2 dt l(kd) + dt^2 l(kp) < 4, with l the largest
        eigenvalue of (mobility * gains): checked, with room."""
        drives = [j for j in self.joints.values() if j["omega"]]
        if not drives or "ki" in drives[0]:  # none, or done
            return
        mobility = self.actuated_mobility()
        for i, joint in enumerate(drives):
            assert mobility[i][i] > 1e-9, "an actuated coordinate cannot move"
            inertia = 1.0 / mobility[i][i]
            joint["kp"] = inertia * joint["omega"] ** 2
            joint["kd"] = 2.0 * joint["zeta"] * inertia * joint["omega"]
        damping = largest_eigenvalue(mobility, [j["kd"] for j in drives]) * DT
        stiffness = math.sqrt(largest_eigenvalue(mobility, [j["kp"] for j in drives])) * DT
        assert 2.0 * damping + stiffness**2 < 3.0, (self.scene["id"], damping, stiffness)
        for joint in drives:
            joint["ki"] = self.integral * joint["kp"]
        print(f"  {self.scene['id']}: kd dt / I = {damping:.3f}, w dt = {stiffness:.3f}")

    # ------------------------------------------------------------------ output
    def reference(self, name, wave, period, samples):
        values = [round(wave(i / samples), 6) + 0.0 for i in range(samples)]
        values.append(values[0])
        self.references[name] = {"name": name, "loop": True, "step": period / samples, "values": values}

    def write(self, path):
        self.tune()
        scene = dict(self.scene, gravity=[0, 0, -G], dt=DT)
        if self.settings:
            scene["settings"] = self.settings
        scene["materials"] = {"default": {"friction": 0.7, "restitution": 0}}
        joints = [self.joint_element(name, joint, self.period, self.samples) for name, joint in self.joints.items()]
        if self.meshes:
            scene["meshes"] = [{"name": n, "vertices": v, "triangles": t} for n, (v, t) in self.meshes.items()]
        if self.references:
            scene["references"] = list(self.references.values())
        scene["bodies"] = [body_element(name, body) for name, body in self.bodies.items()]
        if self.ground:
            scene["geoms"] = [{"name": "ground", "type": "plane"}]
        scene["joints"] = joints
        if self.exclude:
            scene["exclude"] = self.exclude
        scene["runs"] = self.runs
        scene["solvers"] = self.solvers
        scene["preset"] = self.preset
        if self.camera:
            scene["camera"] = {"position": self.camera[0], "target": self.camera[1]}
        with open(path, "w", encoding="utf-8") as file:
            file.write(to_text(scene))

    def joint_element(self, name, joint, period, samples):
        element = {"name": name, "type": joint["kind"], "base": joint["base"], "follower": joint["follower"],
                   "position": joint["at"]}
        if joint["kind"] != "fixed":
            element["axis"] = joint["frame"][0]
            element["axis2"] = joint["frame"][1]
        if joint["limits"]:
            element["limits"] = joint["limits"]
        if joint["omega"]:
            element["actuation"] = "pid"
            for key in ("kp", "ki", "kd"):
                element[key] = float(f"{joint[key]:.4g}")
            if joint["wave"]:
                self.reference(name, joint["wave"], period, samples)
                element["reference"] = name
        if joint["damping"]:
            element["damping"] = joint["damping"]
        return element


def raised_cosine(amplitude, phase=0.0):
    """Starts at 0 with no velocity when phase is 0; else shifted so that it starts at 0 all the same."""
    start = math.cos(2.0 * math.pi * phase)
    return lambda s: 0.5 * amplitude * (start - math.cos(2.0 * math.pi * (s + phase)))


# ---------------------------------------------------------------------------------------------- linear algebra
def inverse_inertia(mass, inertia):
    (a, b, c), (_, d, e), (_, _, f) = inertia
    minors = [[d * f - e * e, c * e - b * f, b * e - c * d], [0, a * f - c * c, b * c - a * e], [0, 0, a * d - b * b]]
    determinant = a * minors[0][0] + b * minors[0][1] + c * minors[0][2]
    block = [[minors[min(i, j)][max(i, j)] / determinant for j in range(3)] for i in range(3)]
    return 1.0 / mass, block


def gram_matrix(left, right, inverse):
    """L M^-1 R^T of sparse rows."""
    weighted = []
    for row in right:
        parts = {}
        for name, six in row:
            lightness, block = inverse[name]
            parts[name] = scale(lightness, six[:3]) + tuple(dot(block[i], six[3:]) for i in range(3))
        weighted.append(parts)
    return [[sum(dot(six, parts[name]) for name, six in row if name in parts) for parts in weighted] for row in left]


def solve_semidefinite(gram, right):
    """x with gram x = right on an independent subset of the rows, zero on the rest (right is consistent): Cholesky
    with diagonal pivots on the matrix scaled to unit diagonal."""
    n, columns = len(gram), len(right[0])
    s = [1.0 / math.sqrt(gram[i][i]) for i in range(n)]
    a = [[gram[i][j] * s[i] * s[j] for j in range(n)] for i in range(n)]
    b = [[right[i][k] * s[i] for k in range(columns)] for i in range(n)]
    order, left = [], list(range(n))
    while left:
        p = max(left, key=lambda i: a[i][i])
        if a[p][p] < 1e-9:  # the remaining rows depend on those taken
            break
        left.remove(p)
        order.append(p)
        for i in left:
            factor = a[i][p] / a[p][p]
            if factor != 0.0:
                row, pivot = a[i], a[p]
                for j in left:
                    row[j] -= factor * pivot[j]
                for k in range(columns):
                    b[i][k] -= factor * b[p][k]
                row[p] = 0.0
        rest = set(left)
        a[p] = [a[p][j] if j in rest or j == p else 0.0 for j in range(n)]
    x = [[0.0] * columns for _ in range(n)]
    for p in reversed(order):
        for k in range(columns):
            x[p][k] = (b[p][k] - sum(a[p][j] * x[j][k] for j in range(n) if a[p][j] != 0.0 and j != p)) / a[p][p]
    return [[s[i] * x[i][k] for k in range(columns)] for i in range(n)]


def largest_eigenvalue(matrix, weights):
    """Of W^1/2 A W^1/2 by power iteration."""
    root = [math.sqrt(w) for w in weights]
    x = [1.0 + 0.01 * i for i in range(len(root))]
    value = 0.0
    for _ in range(200):
        y = [root[i] * sum(matrix[i][j] * root[j] * x[j] for j in range(len(x))) for i in range(len(x))]
        value = math.sqrt(dot(y, y))
        x = [v / value for v in y]
    return value


# ---------------------------------------------------------------------------------------------- text
def clean(value):
    """Lengths to a nanometre: rounding noise of the construction does not belong into a file."""
    if isinstance(value, float):
        rounded = round(value, 9)
        return int(rounded) if rounded == int(rounded) and abs(rounded) < 1e9 else rounded
    if isinstance(value, (list, tuple)):
        return [clean(v) for v in value]
    return value


def body_element(name, body):
    inertia = [[float(f"{x:.9g}") + 0.0 for x in row] for row in body["inertia"]]
    diagonal = all(inertia[i][j] == 0.0 for i in range(3) for j in range(3) if i != j)
    element = {"name": name, "mass": body["mass"]}
    element["inertia"] = [inertia[i][i] for i in range(3)] if diagonal else inertia
    element["position"] = clean(body["centre"])
    if "twist" in body:
        element["twist"] = clean(body["twist"])
    if body["geoms"]:
        element["geoms"] = [clean_geom(g) for g in body["geoms"]]
    return element


def clean_geom(geom):
    return {key: value if key == "orientation" else clean(value) for key, value in geom.items()}


def to_text(scene):
    """One element a line: bodies, joints, geoms, runs."""
    lines = []
    for key, value in scene.items():
        if key == "joints":
            value = [{k: clean(v) if k == "position" else v for k, v in joint.items()} for joint in value]
        if isinstance(value, list) and value and isinstance(value[0], dict):
            rows = ",\n".join("    " + json.dumps(row) for row in value)
            lines.append(f'  "{key}": [\n{rows}\n  ]')
        else:
            lines.append(f'  "{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


PAPER_SOLVERS = ["admm-ncp-plus", "admm-ncp-fp", "pgs-ccp", "nbgs", "raisim", "raisim-ds", "raisim-ds-es"]
STABILIZED = {"stabilization": {"joints": 0.1, "limits": 0.1, "contacts": 0.1}}
ON_GROUND = (2, 1)  # group and mask of parts that meet the ground only
