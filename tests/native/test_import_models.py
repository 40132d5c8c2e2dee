#!/usr/bin/env python3
"""Models of others, made here with everything that such files bring: what can be simulated is, what cannot be
carried over is told by name and line, what is broken is refused with a place. No input ends the command otherwise."""
import itertools
import json
import math
import os
import pathlib
import random
import struct
import subprocess
import tempfile
import unittest

COMMAND = os.environ["KL_COMMAND"]
INPUT_ERROR = 4


def inertial(mass=1.0, moment=0.01, at="0 0 0"):
    return (f"<inertial><origin xyz='{at}'/><mass value='{mass}'/>"
            f"<inertia ixx='{moment}' iyy='{moment}' izz='{moment}' ixy='0' ixz='0' iyz='0'/></inertial>")


def link(name, inside=None):
    return f"<link name='{name}'>{inertial() if inside is None else inside}</link>\n"


def joint(name, parent, child, at="0 0 0", axis="0 1 0", kind="revolute", inside="", rpy="0 0 0"):
    return (f"<joint name='{name}' type='{kind}'><origin xyz='{at}' rpy='{rpy}'/><parent link='{parent}'/><child link='{child}'/>"
            f"<axis xyz='{axis}'/>{inside}</joint>\n")


def urdf(*parts, name="made"):
    return f"<?xml version='1.0'?>\n<robot name='{name}'>\n" + "".join(parts) + "</robot>\n"


def mesh(file, scale=""):
    return f"<collision><geometry><mesh filename='{file}'{scale}/></geometry></collision>"


def tetrahedron_stl(mirrored=False):
    corners = [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    if mirrored:
        faces = [f[::-1] for f in faces]
    records = b"".join(struct.pack("<12fH", 0, 0, 0, *[x for i in f for x in corners[i]], 0) for f in faces)
    return bytes(80) + struct.pack("<I", len(faces)) + records


def flat_stl():
    return bytes(80) + struct.pack("<I", 1) + struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)


def parallel_leg(side, loops):
    """A leg of `loops` parallelograms, one below the other: hip, then crank, rocker and coupler each."""
    y = 0.1 * side
    along_y = "0 0 1.5707963267948966"  # a 5d closure turns about x
    prefix = "left" if side > 0 else "right"
    parts = [link(f"{prefix}_plate_0"), joint(f"{prefix}_hip", "pelvis", f"{prefix}_plate_0", f"0 {y} 0", "1 0 0")]
    closed = []
    for i in range(loops):
        above, below, rocker = f"{prefix}_plate_{i}", f"{prefix}_plate_{i + 1}", f"{prefix}_rocker_{i}"
        crank = f"{prefix}_crank_{i}"
        parts += [link(crank), link(rocker), link(below), link(f"{prefix}_pin_a{i}", ""), link(f"{prefix}_pin_b{i}", ""),
                  joint(f"{prefix}_drive_{i}", above, crank, "0.05 0 0"),
                  joint(f"{prefix}_knee_{i}", crank, below, "0 0 -0.2"),
                  joint(f"{prefix}_free_{i}", above, rocker, "-0.05 0 0"),
                  joint(f"{prefix}_end_a{i}", rocker, f"{prefix}_pin_a{i}", "0 0 -0.2", kind="fixed", rpy=along_y),
                  joint(f"{prefix}_end_b{i}", below, f"{prefix}_pin_b{i}", "-0.1 0 0", kind="fixed", rpy=along_y)]
        closed.append([f"{prefix}_pin_a{i}", f"{prefix}_pin_b{i}"])
    return parts, closed, [f"{prefix}_drive_{i}" for i in range(loops)]


class Models(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, path, content):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(file)

    def command(self, *args):
        done = subprocess.run([COMMAND, *args], capture_output=True, timeout=600)
        self.assertGreaterEqual(done.returncode, 0, f"{args} ended by signal {-done.returncode}")
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def good(self, model, *options, steps=20):
        """Imports, checks, writes again to the same bytes, and simulates; the report."""
        scene = str(self.root / "scene.json")
        code, out, err = self.command("import", model, "-o", scene, "-f", "--json", *options)
        self.assertEqual(code, 0, err)
        code, _, err = self.command("check", scene)
        self.assertEqual(code, 0, err)
        code, _, err = self.command("run", scene, "--solver", "newton-ncp,admm-ncp-plus", "--steps", str(steps),
                                    "--progress", "none", "--hash")
        self.assertEqual(code, 0, err)
        self.scene = json.loads(pathlib.Path(scene).read_text())
        return json.loads(out)

    def refused(self, model, part, place):
        code, _, err = self.command("import", model, "-o", str(self.root / "scene.json"), "-f")
        self.assertEqual(code, INPUT_ERROR, err)
        self.assertIn(part, err)
        self.assertIn(place, err)

    def told(self, report, part, lost=None):
        found = [n for n in report["notes"] if part in n["text"] and (lost is None or n["lost"] == lost)]
        self.assertTrue(found, f"nothing tells \"{part}\" among {[n['text'] for n in report['notes']]}")
        return found[0]

    def test_two_parallel_legs_with_six_loops_and_more_than_forty_links(self):
        left, left_closed, left_motors = parallel_leg(1, 3)
        right, right_closed, right_motors = parallel_leg(-1, 3)
        tail = [p for i in range(12) for p in
                (link(f"tail_{i}"), joint(f"t{i}", f"tail_{i - 1}" if i else "pelvis", f"tail_{i}", "-0.1 0 0"))]
        model = self.write("robot.urdf", urdf(link("pelvis"), *left, *right, *tail))
        motors = left_motors + right_motors
        self.write("robot.yaml", f"closed_loop: {left_closed + right_closed}\ntype: {['5d'] * 6}\nname_mot: {motors}\n")
        report = self.good(model)
        self.assertEqual(report["loops"], 6)
        self.assertEqual(report["actuated_dofs"], 6)
        self.assertEqual(report["bodies"], 2 * 10 + 12)  # of 45 links: the pelvis stands, 12 pins are merged
        self.assertLess(report["residual_after"], 1e-10)
        self.assertEqual(report["mobility"], 2 + 6 + 12)  # hips, one each parallelogram, tail

    def test_missing_meshes_are_told_and_boxes_stand_in(self):
        model = self.write("a.urdf", urdf(link("root", ""), link("l", inertial(2.0, 0.02) + mesh("package://no/x.stl")),
                                          joint("j", "root", "l")))
        report = self.good(model)
        note = self.told(report, "x.stl", True)
        self.assertEqual((note["line"], note["element"]), (4, "mesh"))
        report = self.good(model, "--missing-mesh", "box")
        self.told(report, "stand-in", False)
        edge = math.sqrt(6 * 0.02 / 2.0)
        for size in self.scene["bodies"][0]["geoms"][0]["size"]:
            self.assertAlmostEqual(size, edge, places=12)

    def test_meshes_are_found_where_packages_have_them(self):
        self.write("foot_description/meshes/left/foot 1.stl", tetrahedron_stl())
        spellings = ["package://foot_description/meshes/left/foot%201.stl", "../meshes/left/foot 1.stl",
                     "package://other_name/meshes/left/foot 1.stl", "file:///home/x/foot_description/meshes/left/foot 1.stl",
                     "C:\\work\\foot_description\\meshes\\left\\foot 1.stl", "meshes/left/foot 1.stl"]
        for spelling in spellings:
            model = self.write("foot_description/urdf/a.urdf",
                               urdf(link("root", ""), link("l", mesh(spelling)), joint("j", "root", "l")))
            report = self.good(model)
            self.told(report, "from its geometry", False)
            self.assertFalse([n for n in report["notes"] if n["lost"]], spelling)

    def test_mirrored_meshes_have_the_same_mass_and_a_mirrored_centre(self):
        self.write("m.stl", tetrahedron_stl())
        for scale, sign in (("1 1 1", 1), ("1 -1 1", -1)):
            model = self.write("a.urdf", urdf(link("root", ""), link("l", mesh("m.stl", f" scale='{scale}'")),
                                              joint("j", "root", "l")))
            self.good(model)
            body = self.scene["bodies"][0]
            self.assertAlmostEqual(body["mass"], 1000 * 0.1 ** 3 / 6, places=7)  # STL is single precision
            self.assertAlmostEqual(body["position"][1], sign * 0.025, places=7)

    def test_odd_meshes_are_told_and_do_not_stop_the_simulation(self):
        cases = {"inside.stl": (tetrahedron_stl(True), "inside out"), "flat.stl": (flat_stl(), "flat"),
                 "open.stl": (tetrahedron_stl()[:80] + struct.pack("<I", 3) + tetrahedron_stl()[84:84 + 150], "watertight"),
                 "huge.obj": ("v 0 0 0\nv 1e4 0 0\nv 0 1e4 0\nv 0 0 1e4\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", "check the units"),
                 "empty.stl": (b"", "not an STL"), "nan.obj": ("v nan 0 0\n", "finite"), "part.dae": ("<COLLADA/>", ".stl or .obj"),
                 "cut.stl": (tetrahedron_stl()[:100], "not an STL"), "points.obj": ("v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n", "no triangle has an area")}
        for exact in ((), ("--mesh-collision",), ("--missing-mesh", "box")):
            for name, (content, part) in cases.items():
                self.write(name, content)
                model = self.write("a.urdf", urdf(link("root", ""), link("l", inertial() + mesh(name)), joint("j", "root", "l")))
                self.told(self.good(model, "--ground", *exact), part)

    def test_large_meshes_are_thinned_out_on_request(self):
        rings, sides, text = 24, 32, ""
        for i in range(rings):
            polar = math.pi * (i + 0.5) / rings
            for k in range(sides):
                turn = 2 * math.pi * k / sides
                text += f"v {math.sin(polar) * math.cos(turn)} {math.sin(polar) * math.sin(turn)} {math.cos(polar)}\n"
        for i, k in itertools.product(range(rings - 1), range(sides)):
            a, b = i * sides + k + 1, i * sides + (k + 1) % sides + 1
            text += f"f {a} {a + sides} {b + sides} {b}\n"
        text += "f " + " ".join(str(k + 1) for k in range(sides)) + "\n"
        text += "f " + " ".join(str((rings - 1) * sides + k + 1) for k in reversed(range(sides))) + "\n"
        self.write("ball.obj", text)
        model = self.write("a.urdf", urdf(link("root", ""), link("l", mesh("ball.obj")), joint("j", "root", "l")))
        self.good(model)
        whole, body = self.scene["meshes"][0], self.scene["bodies"][0]
        self.told(self.good(model, "--decimate", "100"), "triangles kept", False)
        thin = self.scene["meshes"][0]
        self.assertGreater(len(thin["triangles"]), 50)
        self.assertLessEqual(len(thin["triangles"]), 100)
        corners = {tuple(v) for v in whole["vertices"]}
        self.assertTrue(all(tuple(v) in corners for v in thin["vertices"]))
        self.assertEqual(self.scene["bodies"][0]["mass"], body["mass"])

    def test_what_has_no_counterpart_is_told_by_element_and_line(self):
        model = self.write("a.urdf", urdf(
            link("root", ""), link("a"), link("b"), joint("j", "root", "a"),
            joint("k", "a", "b", inside="<mimic joint='j' multiplier='2'/><dynamics friction='0.1'/>"), "<gazebo/>\n",
            "<transmission name='t'><joint name='none'/></transmission>\n"))
        report = self.good(model)
        for part, line, element in (("coupling to joint \"j\"", 7, "mimic"), ("dry joint friction", 7, "dynamics"),
                                    ("<gazebo>", 8, "gazebo"), ("drives no known joint", 9, "transmission[t]")):
            note = self.told(report, part, True)
            self.assertEqual((note["line"], note["element"]), (line, element))

    def test_names_in_other_scripts_long_names_and_comments(self):
        names = ["脚", "Bein é ü", "n" * 500, "a/b c.d", "world_"]
        parts = [link("root", "")]
        for i, name in enumerate(names):
            parts += ["<!-- a comment with -- dashes is refused by XML, this one is not: - -->\n".replace(" -- ", " "),
                      link(name), joint(f"to {name}", names[i - 1] if i else "root", name)]
        report = self.good(self.write("ü/модель.urdf", urdf(*parts, name="Rö bot")))
        self.assertEqual([b["name"] for b in self.scene["bodies"]][:2], names[:2])
        self.told(report, "is named", False)

    def test_numbers_out_of_range_are_refused_with_their_place_or_simulated(self):
        values = ["nan", "inf", "-inf", "1e400", "-1", "0", "1e-300", "1e300", "", "x", "1,5"]
        for value in values:
            models = [urdf(link("root", ""), link("l", inertial(mass=value)), joint("j", "root", "l")),
                      urdf(link("root", ""), link("l", inertial(moment=value)), joint("j", "root", "l")),
                      urdf(link("root", ""), link("l"), joint("j", "root", "l", at=f"0 0 {value}")),
                      urdf(link("root", ""), link("l"), joint("j", "root", "l", axis=f"0 0 {value}")),
                      urdf(link("root", ""), link("l"), joint("j", "root", "l", inside=f"<limit lower='{value}' upper='1'/>")),
                      urdf(link("root", ""), link("l", f"<collision><geometry><sphere radius='{value}'/></geometry></collision>"),
                           joint("j", "root", "l"))]
            for i, text in enumerate(models):
                model = self.write("a.urdf", text)
                code, _, err = self.command("import", model, "-o", str(self.root / "scene.json"), "-f")
                self.assertIn(code, (0, INPUT_ERROR), f"value {value}, case {i}: {err}")
                if code == 0:
                    self.assertEqual(self.command("check", str(self.root / "scene.json"))[0], 0, f"{value}, case {i}")
                else:
                    self.assertRegex(err, r"a\.urdf:\d+|bodies\[|joints\[|geoms\[", f"value {value}, case {i}")

    def test_structures_that_are_no_tree(self):
        two = link("a") + link("b")
        cases = [(urdf(two, joint("j", "a", "b"), joint("k", "b", "a")), "cycle"),
                 (urdf(two, joint("j", "a", "a")), "itself"), (urdf(two, link("a")), "stands above"),
                 (urdf(two, joint("j", "a", "c")), 'no link "c"'), ("<robot name='x'><link name='a'>", "not well-formed"),
                 ("", "not well-formed"), ("\0\0\0", "not well-formed"), ("<html/>", "neither")]
        for text, part in cases:
            self.refused(self.write("a.urdf", text), part, "a.urdf")
        report = self.good(self.write("a.urdf", urdf(link("root", ""), two, joint("j", "root", "a"), joint("k", "root", "b"),
                                                     joint("l", "a", "b"), joint("j", "root", "a"))))
        self.told(report, "closes a loop", False)
        self.told(report, "is named", False)  # the second joint "j"
        self.good(self.write("a.urdf", urdf(link("one"), link("two"))), "--base", "free")  # two trees

    def mjcf(self, inside, before="", after=""):
        return f"<mujoco model='m'>\n{before}\n<worldbody>\n{inside}\n</worldbody>\n{after}\n</mujoco>"

    def test_mjcf_classes_and_includes_nest_deeply(self):
        depth = 60
        classes = "".join(f"<default class='c{i}'><geom size='0.{i + 10}'/>" for i in range(depth)) + "</default>" * depth
        body = f"<body name='b'><freejoint/><geom name='g' class='c{depth - 1}'/><geom name='h' class='c3' pos='1 0 0'/></body>"
        self.good(self.write("m.xml", self.mjcf(body, f"<default>{classes}</default>")))
        sizes = {g["name"]: g["size"][0] for g in self.scene["bodies"][0]["geoms"]}
        self.assertEqual(sizes, {"g": float(f"0.{depth + 9}"), "h": 0.13})
        for i in range(20):
            self.write(f"part{i}.xml", f"<mujoco><include file='part{i + 1}.xml'/></mujoco>")
        self.write("part20.xml", self.mjcf("<body name='deep'><freejoint/><geom size='0.1'/></body>"))
        self.good(self.write("n.xml", "<mujoco><include file='part0.xml'/></mujoco>"))
        self.assertEqual(self.scene["bodies"][0]["name"], "deep")
        self.write("part20.xml", "<mujoco>\n<include file='part3.xml'/></mujoco>")
        self.refused(str(self.root / "n.xml"), "includes itself", "part20.xml:2")
        self.refused(self.write("o.xml", "<mujoco>\n<include file='gone.xml'/></mujoco>"), "gone.xml", "o.xml:2")

    def test_mjcf_masks_meet_as_mujoco_says(self):
        """(type_a & affinity_b) or (type_b & affinity_a); a <pair> whatever the masks."""
        kinds = [(0, 0), (1, 1), (1, 0), (0, 1), (2, 4), (4, 2), (6, 1)]
        bodies = "".join(f"<body name='b{i}' pos='0 0 {i}'><freejoint/><geom name='g{i}' size='0.1' contype='{t}' "
                         f"conaffinity='{a}'/></body>" for i, (t, a) in enumerate(kinds))
        report = self.good(self.write("m.xml", self.mjcf(bodies, after="<contact><pair geom1='g0' geom2='g4' friction='0.25'/>"
                                                         "<pair geom1='g0' geom2='none'/></contact>")))
        self.told(report, "names no two geoms", True)
        geoms = [b["geoms"][0] for b in self.scene["bodies"]]
        for i, j in itertools.combinations(range(len(kinds)), 2):
            (ti, ai), (tj, aj) = kinds[i], kinds[j]
            wanted = bool(ti & aj or tj & ai) or (i, j) == (0, 4)
            bits = [(g.get("group", 1), g.get("mask", 0xffffffff)) for g in (geoms[i], geoms[j])]
            both_seen = not any(g.get("visual_only") for g in (geoms[i], geoms[j]))
            meet = both_seen and bool(bits[0][0] & bits[1][1]) and bool(bits[1][0] & bits[0][1])
            self.assertEqual(meet, wanted, f"{kinds[i]} and {kinds[j]}")
        self.assertEqual(self.scene["pairs"], [{"geoms": ["g0", "g4"], "friction": 0.25, "restitution": 0}])

    def test_mjcf_starts_in_its_keyframe(self):
        body = ("<body name='a' pos='0 0 1'><freejoint/><geom size='0.1'/><body name='b' pos='0.5 0 0'>"
                "<joint name='h' axis='0 0 1' ref='30'/><geom size='0.1' pos='0.5 0 0'/></body></body>")
        keys = ("<keyframe><key name='k' qpos='1 2 3 2 0 0 0 2.0943951023931957' ctrl='1'/><key name='l' qpos='0'/></keyframe>"
                "<actuator><position joint='h' kp='9'/></actuator>")
        model = self.write("m.xml", self.mjcf(body, after=keys))
        report = self.good(model)
        self.told(report, "ctrl is not carried over", True)
        self.assertEqual(self.told(report, "keyframe 2", True)["element"], "key[l]")
        a, b = (body["position"] for body in self.scene["bodies"])
        turn = 2.0943951023931957 - math.radians(30)  # 90 degrees
        self.assertEqual(a, [1, 2, 3])
        for got, wanted in zip(b, [1.5 + 0.5 * math.cos(turn), 2 + 0.5 * math.sin(turn), 3]):
            self.assertAlmostEqual(got, wanted, places=12)
        self.assertAlmostEqual(self.scene["joints"][0]["target"][0], turn, places=12)
        self.good(model, "--keyframe", "0")
        self.assertEqual(self.scene["bodies"][0].get("position"), [0, 0, 1])
        self.told(self.good(model, "--keyframe", "2"), "qpos has 1 numbers", True)

    def test_mjcf_without_counterpart_is_told(self):
        body = ("<body name='a'><joint name='x' type='slide' stiffness='5' frictionloss='1'/><geom type='ellipsoid' size='1 1 1'/>"
                "<geom size='0.1'/></body><body name='b'><joint name='y'/><geom size='0.1'/><composite type='rope'/></body>")
        after = ("<tendon>\n<fixed name='t'><joint joint='x' coef='1'/></fixed>\n<spatial name='s'/></tendon>"
                 "<equality>\n<joint name='e' joint1='x' joint2='y'/><tendon tendon1='t'/></equality>"
                 "<actuator>\n<motor name='m' tendon='t'/></actuator><deformable/>")
        report = self.good(self.write("m.xml", self.mjcf(body, after=after)))
        for part, element in (("stiffness 5", "joint[x]"), ("frictionloss 1", "joint[x]"), ("ellipsoid", "geom"),
                              ("<composite>", "composite"), ("<fixed> tendon", "fixed[t]"), ("<spatial> tendon", "spatial[s]"),
                              ("of x and y", "joint[e]"), ("equality <tendon>", "tendon"), ("drives no joint", "motor[m]"),
                              ("<deformable>", "deformable")):
            note = self.told(report, part, True)
            self.assertEqual(note["element"], element)
            self.assertGreater(note["line"], 1)

    def test_documents_cut_anywhere_and_shuffled_end_well(self):
        random.seed(7)
        left, closed, motors = parallel_leg(1, 2)
        whole = urdf(link("pelvis"), *left)
        mjcf = self.mjcf("<body name='a'><freejoint/><geom type='box' size='.1 .1 .1'/><body name='b' pos='0 0 .3'>"
                         "<joint name='h' axis='0 1 0' range='-1 1'/><geom type='capsule' fromto='0 0 0 0 0 .2' size='.02'/></body></body>",
                         "<default><joint damping='1'/></default>", "<keyframe><key qpos='0 0 1 1 0 0 0 0.5'/></keyframe>")
        for name, text in (("a.urdf", whole), ("m.xml", mjcf)):
            for _ in range(60):
                change = random.choice(["cut", "drop", "digit", "swap"])
                at = random.randrange(len(text))
                broken = {"cut": text[:at], "drop": text[:at] + text[at + random.randrange(1, 30):],
                          "digit": text[:at] + random.choice("0123456789-.e<>'/") + text[at + 1:],
                          "swap": text[:at] + text[at:at + 200][::-1] + text[at + 200:]}[change]
                code, _, err = self.command("import", self.write(name, broken), "-o", str(self.root / "s.json"), "-f")
                self.assertIn(code, (0, INPUT_ERROR), err)
                if code == 0:
                    self.assertEqual(self.command("check", str(self.root / "s.json"))[0], 0)
                    self.assertEqual(self.command("run", str(self.root / "s.json"), "--solver", "newton-ncp", "--steps", "3",
                                                  "--hash", "--progress", "none")[0], 0, broken)


if __name__ == "__main__":
    unittest.main()
