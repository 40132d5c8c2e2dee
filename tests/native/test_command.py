"""The command as others script against it: exit codes, JSON shapes, whole-or-nothing files.

Run by ctest with KL_COMMAND (the program) and KL_SOURCE (the repository) set.
"""
import csv
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request

COMMAND = os.environ["KL_COMMAND"]
SOURCE = os.environ["KL_SOURCE"]
DATA = os.path.join(SOURCE, "tests", "data")
CAPSULES = os.path.join(DATA, "fclib", "Capsules-i125-1213.hdf5")
CUBE = os.path.join(DATA, "fclib", "CubeH8.hdf5")
PROBLEMS = os.path.join(DATA, "problems.json")
SUBCOMMANDS = ["run", "solve", "bench", "dataset", "profile", "heatmap", "report", "check", "import", "list", "verify",
               "serve"]


def read(path, mode="r"):
    with open(path, mode) as file:
        return file.read()


def write(path, data):
    with open(path, "wb" if isinstance(data, bytes) else "w") as file:
        file.write(data)


def run(*args, **kwargs):
    return subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True, timeout=600, **kwargs)


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def ok(self, *args, **kwargs):
        done = run(*args, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def json(self, *args):
        return json.loads(self.ok(*args).stdout)

    def fails(self, code, *args):
        done = run(*args)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr


class Help(Command):
    def test_every_subcommand_of_the_specification_is_there_with_two_real_examples(self):
        listed = self.ok("--help").stdout
        for name in SUBCOMMANDS:
            self.assertRegex(listed, rf"(?m)^  {name} ")
            text = self.ok(name, "--help").stdout
            examples = text.split("examples\n")[1]
            self.assertGreaterEqual(len(re.findall(r"(?m)^  \S.*kinloop|^  kinloop", examples)), 2, name)

    def test_examples_name_options_that_exist(self):
        for name in SUBCOMMANDS:
            text = self.ok(name, "--help").stdout
            for line in text.split("examples\n")[1].splitlines():
                for part in re.split(r"&&|\||>", line):
                    word = re.match(r"\s*(?:parallel )?kinloop (\w+)(.*)", part)
                    if not word:
                        continue
                    known = set(re.findall(r"--[\w-]+", self.ok(word[1], "--help").stdout.split("examples\n")[0]))
                    for option in re.findall(r"(?<=\s)--[\w-]+", word[2]):
                        self.assertIn(option, known, line)

    def test_man_page_and_completions_follow_the_same_table(self):
        man = self.ok("--man").stdout
        bash = self.ok("--completion", "bash").stdout
        zsh = self.ok("--completion", "zsh").stdout
        for name in SUBCOMMANDS:
            options = re.findall(r"(?m)^  (?:-\w, |    )(--[\w-]+)", self.ok(name, "--help").stdout)
            self.assertIn("--json", options)
            for option in options:
                self.assertIn(option.replace("-", r"\-"), man)
                self.assertIn(option, bash)
                self.assertIn(option, zsh)
        subprocess.run(["bash", "-n"], input=bash, text=True, check=True)

    def test_bad_arguments_exit_2_and_say_what_was_meant(self):
        self.assertIn("did you mean solve", self.fails(2, "slove", "x"))
        self.assertIn("--solver", self.fails(2, "solve", "x", "--slover", "pgs-ncp"))
        self.assertIn("pgs-ncp", self.fails(2, "solve", PROBLEMS, "-s", "pgs-nc"))
        self.assertIn("boxes_fixed", self.fails(2, "run", "bxes_fixed"))
        self.assertIn("[0, 1]", self.fails(2, "solve", PROBLEMS, "--tol", "2"))
        self.assertIn("whole number", self.fails(2, "run", "box_on_plane", "--steps", "x"))
        self.assertIn("needs a value", self.fails(2, "run", "box_on_plane", "--steps"))
        self.assertIn("missing", self.fails(2, "solve"))
        self.assertIn("tolerance", self.fails(2, "solve", PROBLEMS, "--set", "tolerence=1"))
        self.assertIn("FILE", self.fails(2, "dataset", "make"))
        self.assertIn("run", self.fails(2, "run", "box_on_plane", "--run", "no-such-run"))

    def test_errors_with_json_are_json_on_stderr(self):
        for code, args in [(2, ["run", "bxes_fixed"]), (4, ["solve", "/nowhere.h5"]), (2, ["run", "--json", "x", "--nope"])]:
            done = run(*args, "--json")
            self.assertEqual(done.returncode, code)
            self.assertEqual(done.stdout, "")
            error = json.loads(done.stderr)["error"]
            self.assertLessEqual({"code", "message", "file", "line", "path"}, set(error))

    def test_colours_stay_out_of_pipes(self):
        self.assertNotIn("\033", self.ok("list", "solvers").stdout)


class Lists(Command):
    def test_tables_have_ids_and_titles(self):
        for name in ["solvers", "scenes", "metrics", "params"]:
            rows = self.json("list", name, "--json")
            self.assertGreater(len(rows), 3)
            for row in rows:
                self.assertTrue(row["id"] and row["title"])
        scene = self.json("list", "scenes", "--json")[0]
        self.assertLessEqual({"bodies", "joints", "actuated_dofs", "passive_dofs", "joint_rows", "mass_ratio", "loops",
                              "surrogate"}, set(scene))
        ids = self.ok("list", "solvers", "--ids").stdout.split()
        self.assertEqual(ids, [row["id"] for row in self.json("list", "solvers", "--json")])


class Solve(Command):
    def test_results_have_the_documented_shape(self):
        rows = self.json("solve", PROBLEMS, "-s", "pgs-ncp,admm-ncp-sa", "--json", "--lambda", "--trace")["results"]
        self.assertEqual(len(rows), 2 * len(json.loads(read(PROBLEMS))))
        for row in rows:
            self.assertLessEqual({"file", "index", "solver", "outcome", "iterations", "time_s", "r_p", "r_dual", "r_ncp",
                                  "r_nat", "r_nat_rel", "n", "contacts", "lambda", "trace"}, set(row))
            self.assertIn(row["outcome"], ["converged", "max-iterations", "stagnated", "diverged"])
            self.assertEqual(len(row["lambda"]), row["n"])

    def test_lambda_solves_the_reference_problems(self):
        reference = json.loads(read(PROBLEMS))
        rows = self.json("solve", PROBLEMS, "-s", "newton-ncp", "--json", "--lambda")["results"]
        for row, problem in zip(rows, reference):
            velocity = [sum(d * l for d, l in zip(line, row["lambda"])) + v for line, v in zip(problem["D"], problem["v_f"])]
            for found, expected in zip(velocity, problem["v_plus"]):
                self.assertAlmostEqual(found, expected, delta=1e-8 * (1 + abs(expected)), msg=problem["name"])

    def test_residuals_are_those_of_lambda(self):
        for problem, row in zip(json.loads(read(PROBLEMS)), self.json(
                "solve", PROBLEMS, "-s", "pgs-ncp", "--max-iter", 3, "--json", "--lambda")["results"]):
            lam, n, jr = row["lambda"], row["n"], problem["joint_rows"]
            v = [sum(d * l for d, l in zip(line, lam)) + f for line, f in zip(problem["D"], problem["v_f"])]
            for k, mu in enumerate(problem["mu"]):
                t = jr + 3 * k
                v[t + 2] += mu * (v[t] ** 2 + v[t + 1] ** 2) ** 0.5
            ncp = max([abs(sum(lam[jr + 3 * k + i] * v[jr + 3 * k + i] for i in range(3)))
                       for k in range(problem["contacts"])], default=0.0)
            self.assertEqual(n, len(lam))
            self.assertAlmostEqual(row["r_ncp"], ncp, delta=1e-10 * (1 + ncp))

    def test_selection_tolerance_and_limits_act(self):
        rows = self.json("solve", PROBLEMS + ":2", "--json", "-s", "pgs-ncp")["results"]
        self.assertEqual([row["index"] for row in rows], [2])
        rows = self.json("solve", PROBLEMS + ":1-3", "--json", "-s", "pgs-ncp")["results"]
        self.assertEqual([row["index"] for row in rows], [1, 2, 3])
        self.fails(2, "solve", PROBLEMS + ":999")
        loose = self.json("solve", CAPSULES, "-s", "pgs-ncp", "--tol", "1e-3", "--json")["results"][0]
        self.assertEqual(loose["outcome"], "converged")
        short = self.json("solve", CAPSULES, "-s", "pgs-ncp", "--max-iter", "5", "--json")["results"][0]
        self.assertEqual((short["outcome"], short["iterations"]), ("max-iterations", 5))
        self.fails(1, "solve", CAPSULES, "-s", "pgs-ncp", "--max-iter", "5", "--strict")

    def test_bad_input_exits_4_and_names_the_place(self):
        self.assertIn("/nowhere.h5", self.fails(4, "solve", "/nowhere.h5"))
        write(self.path("a.h5"), "no")
        self.assertIn("signature", self.fails(4, "solve", self.path("a.h5")))
        write(self.path("a.json"), '{\n"contacts": 1,\n"dt": }')
        self.assertIn("a.json:3", self.fails(4, "solve", self.path("a.json")))
        data = read(CUBE, "rb")
        write(self.path("cut.hdf5"), data[: len(data) // 2])
        self.assertIn("cut.hdf5", self.fails(4, "solve", self.path("cut.hdf5")))


class Run(Command):
    def test_a_folder_in_place_of_a_scene_is_called_what_it_is(self):
        self.assertIn("is not a file", self.fails(4, "run", self.path("")))
        self.assertIn("no such file", self.fails(4, "run", self.path("nowhere.json")))

    def test_result_has_the_documented_shape(self):
        result = self.json("run", "box_on_plane", "--steps", 20, "-s", "pgs-ncp,newton-ncp", "--json")
        self.assertEqual((result["scene"], result["steps"], result["dt"]), ("box_on_plane", 20, 0.001))
        for row in result["runs"]:
            self.assertEqual(row["outcome"], "finished")
            self.assertRegex(row["hash"], r"^[0-9a-f]{16}$")
            self.assertLessEqual({"total", "collide", "assemble", "solve"}, set(row["time_s"]))
            self.assertLessEqual({"median", "max", "sum"}, set(row["iterations"]))
            self.assertLessEqual({"r_pen", "r_dual", "r_ncp", "r_nat"}, set(row["max"]) & set(row["final"]))
            self.assertEqual(row["converged_steps"], 20)

    def test_the_same_run_gives_the_same_hash_and_another_dt_another(self):
        hashes = [self.ok("run", "nunchaku", "--steps", 50, "-s", "admm-ncp-sa", "--hash", *extra).stdout
                  for extra in ([], [], ["--dt", "0.002"], ["--edit", "bodies.0.twist=[0,0,1,0,0,0]"])]
        self.assertEqual(hashes[0], hashes[1])
        self.assertEqual(len(set(hashes)), 3)

    def test_curated_runs_solve_the_drivers_problems(self):
        both = self.json("run", "boxes_fixed", "--run", "dropped", "--steps", 350, "-s", "newton-ncp,admm-ncp-sa",
                         "--curated", "--json")
        alone = self.json("run", "boxes_fixed", "--run", "dropped", "--steps", 350, "-s", "newton-ncp", "--json")
        self.assertEqual(both["runs"][0]["hash"], alone["runs"][0]["hash"])
        self.assertEqual(both["runs"][1]["max"]["n_d"], alone["runs"][0]["max"]["n_d"])

    def test_a_table_of_a_curated_run_has_a_row_for_every_solver(self):
        done = self.ok("run", "boxes_fixed", "--steps", 3, "-s", "newton-ncp,pgs-ncp", "--curated", "--record", "-",
                       "--max-iter", 7)
        rows = list(csv.DictReader(line for line in done.stdout.splitlines() if line.count(",") > 10))
        self.assertEqual([(row["solver"], row["step"]) for row in rows],
                         [(solver, str(step)) for step in (1, 2, 3) for solver in ("newton-ncp", "pgs-ncp")])
        for row in rows:
            self.assertGreaterEqual(int(row["iterations"]), 1)
            self.assertGreater(float(row["t_iter"]), 0)
            self.assertEqual(row["n_jd"], "6")
        driver, guest = rows[0], rows[1]
        self.assertEqual(driver["factorizations"], "1")
        self.assertEqual((guest["iterations"], guest["outcome"]), ("7", "1"))
        self.assertEqual(driver["hash"], guest["hash"])
        self.assertEqual(guest["kinetic_energy"], "nan")
        self.assertEqual((driver["t_step"], guest["t_step"]), ("nan", "nan"))  # a step that many solve is nobody's

    def test_recorded_problems_are_solved_by_solve_and_the_run_verified(self):
        record = self.path("a.h5")
        self.ok("run", "boxes_fixed", "--steps", 5, "-s", "newton-ncp", "-o", record)
        rows = self.json("solve", record, "-s", "newton-ncp", "--json")["results"]
        self.assertEqual(len(rows), 5)
        self.assertTrue(all(row["outcome"] == "converged" for row in rows))
        self.ok("verify", record)
        self.ok("dataset", "verify", record)
        self.ok("check", record)

    def test_verify_tells_a_changed_result(self):
        result = self.json("run", "box_on_plane", "--steps", 5, "-s", "pgs-ncp", "--json")
        path = self.path("r.json")
        write(path, json.dumps(result))
        self.ok("verify", path)
        result["runs"][0]["hash"] = "0123456789abcdef"
        write(path, json.dumps(result))
        self.assertEqual(run("verify", path).returncode, 1)
        write(path, json.dumps({"runs": 3}))
        self.fails(4, "verify", path)

    def test_csv_goes_to_stdout(self):
        lines = self.ok("run", "box_on_plane", "--steps", 7, "-s", "pgs-ncp", "-o", "-").stdout.splitlines()
        self.assertEqual(len(lines), 8)
        self.assertEqual(len({line.count(",") for line in lines}), 1)

    def test_files_are_whole_or_absent(self):
        path = self.path("a.csv")
        write(path, "mine")
        self.assertIn("-f", self.fails(2, "run", "box_on_plane", "--steps", 2, "-s", "pgs-ncp", "-o", path))
        self.assertEqual(read(path), "mine")
        self.ok("run", "box_on_plane", "--steps", 2, "-s", "pgs-ncp", "-o", path, "-f")
        self.assertTrue(read(path).startswith("solver,step"))
        self.fails(1, "run", "box_on_plane", "--steps", 2, "-s", "pgs-ncp", "-o", self.path("none/a.h5"))
        self.assertEqual(os.listdir(self.folder.name), ["a.csv"])

    def test_a_full_disk_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        self.fails(1, "run", "box_on_plane", "--steps", 200, "-s", "pgs-ncp", "-o", "/dev/full")
        with open("/dev/full", "w") as full:
            done = subprocess.run([COMMAND, "list", "params"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("space", done.stderr)

    def test_interrupt_writes_what_is_done_and_exits_130(self):
        path = self.path("a.csv")
        child = subprocess.Popen([COMMAND, "run", "boxes_fixed", "--steps", "100000000", "--dt", "0.001", "-s", "pgs-ncp",
                                  "--max-iter", "50", "-o", path, "--json", "--progress", "json"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertTrue(child.stderr.readline())  # it runs
        child.send_signal(signal.SIGINT)
        text, words = child.communicate(timeout=600)
        self.assertEqual(child.returncode, 130)
        result = json.loads(text)["runs"][0]
        self.assertEqual(result["outcome"], "interrupted")
        self.assertEqual(len(read(path).splitlines()), result["steps"] + 1)
        last = [line for line in words.splitlines() if "progress" in line][-1]
        self.assertEqual(json.loads(last)["progress"]["done"], result["steps"])

    def test_progress_as_json_lines(self):
        words = self.ok("run", "box_on_plane", "--steps", 5, "-s", "pgs-ncp", "--progress", "json").stderr
        for line in words.splitlines():
            self.assertLessEqual({"done", "total", "rate", "left_s"}, set(json.loads(line)["progress"]))


class Links(Command):
    def test_a_link_runs_as_the_command_that_printed_it(self):
        args = ["boxes_fixed", "--run", "dropped", "-s", "pgs-ncp", "--edit", "bodies.1.mass=5", "--duration", "0.02"]
        link = self.ok("run", *args, "--print-link").stdout.strip()
        self.assertTrue(link.startswith("#v=1&scene=boxes_fixed@1"))
        self.assertEqual(self.ok("run", link, "--hash").stdout, self.ok("run", *args, "--hash").stdout)

    def test_own_scenes_travel_inside_the_link(self):
        own = os.path.join(SOURCE, "scenes", "nunchaku.json")
        link = self.ok("run", own, "-s", "pgs-ncp", "--duration", "0.02", "--print-link").stdout.strip()
        self.assertIn("scene=x", link)
        self.assertEqual(self.ok("run", link, "--hash").stdout,
                         self.ok("run", own, "-s", "pgs-ncp", "--duration", "0.02", "--hash").stdout)

    def test_expected_hashes_are_compared(self):
        found = self.ok("run", "nunchaku", "--steps", 10, "-s", "pgs-ncp", "--hash").stdout.split()[1]
        self.ok("run", f"#v=1&scene=nunchaku@1&s=pgs-ncp&T=0.01&h=10:{found}")
        self.assertEqual(run("run", "#v=1&scene=nunchaku@1&s=pgs-ncp&T=0.01&h=10:0000000000000001").returncode, 1)

    def test_bad_links_are_refused(self):
        for link in ["#v=2&scene=nunchaku", "#scene=nunchaku", "#v=1&scene=x&x=!!", "#v=1&scene=x&x=AAAA", "#v=1&scene=%zz",
                     "#v=1&scene=../../etc/passwd", "#v=1&scene=nunchaku&s=none", "#v=1&scene=x", "#v=1&scene=nunchaku&p=a"]:
            self.fails(2, "run", link)


class Sets(Command):
    RECIPE = ["--systems", "box_on_plane,nunchaku", "--units", 4, "--bucket", 20, "--steps", 120]

    def bytes(self, name):
        return read(self.path(name), "rb")

    def test_shards_and_interrupts_end_with_the_same_bytes(self):
        self.ok("dataset", "make", "-o", self.path("whole.h5"), *self.RECIPE)
        for i in (1, 2, 3):
            self.ok("dataset", "make", "-o", self.path(f"part{i}.h5"), "--shard", f"{i}/3", *self.RECIPE)
        parts = [self.path(f"part{i}.h5") for i in (1, 2, 3)]
        self.ok("dataset", "merge", parts[2], parts[0], "-o", self.path("some.h5"))
        self.ok("dataset", "merge", parts[1], self.path("some.h5"), "-o", self.path("merged.h5"))
        self.assertEqual(self.bytes("whole.h5"), self.bytes("merged.h5"))
        child = subprocess.Popen([COMMAND, "dataset", "make", "-o", self.path("killed.h5"), *map(str, self.RECIPE)])
        folder = self.path("killed.h5.parts")
        while child.poll() is None and not (os.path.isdir(folder) and len(os.listdir(folder)) > 2):
            time.sleep(0.005)
        child.kill()
        child.wait()
        self.ok("dataset", "make", "-o", self.path("killed.h5"), "-f", *self.RECIPE)
        self.assertEqual(self.bytes("whole.h5"), self.bytes("killed.h5"))
        self.assertFalse(os.path.exists(folder))

    def test_a_set_verifies_and_tells_what_it_holds(self):
        path = self.path("a.h5")
        self.ok("dataset", "make", "-o", path, *self.RECIPE)
        report = self.json("dataset", "verify", path, "--json")
        self.assertEqual(report["faults"], [])
        info = self.json("dataset", "info", path, "--json")
        self.assertEqual(info["problems"], report["checked"])
        self.assertTrue(all(bucket["problems"] <= 20 for bucket in info["buckets"]))
        self.assertGreater(len(info["buckets"]), 3)

    def test_solve_tells_rank_condition_and_the_internal_share(self):
        answer = self.json("solve", os.path.join(DATA, "problems.json") + ":10", "-s", "admm-ncp-plus", "-c", "--json")
        problem, result = answer["problems"][0], answer["results"][0]
        self.assertEqual((problem["n"], problem["rank"], len(problem["spectrum"])), (18, 12, 18))
        self.assertAlmostEqual(problem["condition"], problem["eigen_max"] / problem["eigen_min"], delta=1)
        self.assertTrue(0 <= result["internal_share"] <= 1)

    def test_rank_is_told_where_most_of_d_has_none(self):
        problem = self.json("solve", CAPSULES, "-s", "newton-ncp", "--max-iter", "1", "-c", "--json")["problems"][0]
        self.assertEqual((problem["rank"], problem["jacobian_rank"], problem["n"]), (570, 570, 858))
        self.assertIn("internal", self.ok("solve", PROBLEMS + ":10", "-s", "pgs-ncp", "-c").stdout)

    def test_the_committed_sample_holds_every_system_and_verifies(self):
        sample = os.path.join(DATA, "dataset", "sample.h5")
        self.assertEqual(self.json("dataset", "verify", sample, "--json")["faults"], [])
        info = self.json("dataset", "info", sample, "--json")
        self.assertEqual(len({bucket["id"].split("/")[0] for bucket in info["buckets"]}), 13)
        self.assertEqual(info["problems"], info["solved"])

    def test_conversion_to_fclib_and_back_keeps_the_problem(self):
        ours, theirs, again = self.path("a.h5"), self.path("b.hdf5"), self.path("c.h5")
        self.ok("dataset", "make", "-o", ours, *self.RECIPE)
        rows = self.json("solve", ours + ":box_on_plane/dense", "-s", "newton-ncp", "--json", "--lambda")["results"]
        index = rows[-1]["index"]
        self.ok("dataset", "convert", f"{ours}:{index}", "-o", theirs, "--to", "fclib")
        self.ok("dataset", "convert", theirs, "-o", again)
        for path in (theirs, again):
            row = self.json("solve", path, "-s", "newton-ncp", "--json", "--lambda")["results"][0]
            self.assertEqual(row["n"], rows[-1]["n"])
            self.assertLess(row["r_nat_rel"], 1e-9)
        self.fails(2, "dataset", "convert", ours, "-o", self.path("d.hdf5"), "--to", "fclib")

    def test_every_format_holds_every_problem(self):
        ours, solved = self.path("a.h5"), {}
        self.ok("dataset", "make", "-o", ours, *self.RECIPE)
        for form, target in (("json", self.path("b.json")), ("fclib", self.path("c/")), ("fclib-global", self.path("d/"))):
            self.ok("dataset", "convert", ours, "-o", target, "--to", form)
            parts = [target] if form == "json" else sorted(os.path.join(target, name) for name in os.listdir(target))
            back = self.path(f"{form}.h5")
            self.ok("dataset", "convert", *parts, "-o", back)
            self.assertEqual(self.json("dataset", "verify", back, "--json")["faults"], [])
            solved[form] = [row["n"] for row in self.json("solve", back, "-s", "newton-ncp", "--json")["results"]]
        first = sorted(row["n"] for row in self.json("solve", ours, "-s", "newton-ncp", "--json")["results"])
        self.assertGreater(len(first), 5)
        self.assertEqual(sorted(solved["json"]), first)
        self.assertEqual(sorted(solved["fclib"]), first)
        self.assertLessEqual(len(solved["fclib-global"]), len(first))  # those without softening

    def test_what_is_converted_twice_keeps_its_name(self):
        ours, once, twice = self.path("a.h5"), self.path("b.h5"), self.path("c.h5")
        self.ok("dataset", "make", "-o", ours, *self.RECIPE)
        self.ok("dataset", "convert", ours, "-o", once)
        self.ok("dataset", "convert", once, "-o", twice)
        names = [[row["name"] for row in self.json("solve", path, "-s", "newton-ncp", "--json")["results"]]
                 for path in (ours, once, twice)]
        self.assertEqual(names[1], names[2])
        self.assertEqual(sorted(re.sub(r"/\d{5}-", "/", name) for name in names[1]), sorted(names[0]))

    def test_other_recipes_do_not_mix(self):
        path = self.path("a.h5")
        self.ok("dataset", "make", "-o", path, "--keep", *self.RECIPE)
        self.assertIn("other options", self.fails(2, "dataset", "make", "-o", path, "-f", *self.RECIPE, "--seed", 2))


class Results(Command):
    def test_bench_tells_times_and_compares(self):
        old = self.path("old")
        args = ["bench", "quick", "--filter", "box_on_plane", "--repeat", 3, "--steps", 20]
        self.ok(*args, "-o", old, "--export", "json,csv,md,h5")
        for kind in ("json", "csv", "md", "h5"):
            self.assertTrue(os.path.getsize(f"{old}.{kind}") > 0)
        rows = self.json(*args, "--json")
        for row in rows:
            self.assertLessEqual({"median_s", "min_s", "mad_s", "repeats", "outcome", "residuals", "machine", "compiler",
                                  "commit"}, set(row))
            self.assertEqual(row["repeats"], 3)
            self.assertAlmostEqual(sum(row["stages_s"].values()) / min(row["samples_s"]), 1.0, delta=0.3)
        self.ok(*args, "--compare", old + ".json")
        slow = json.loads(read(old + ".json"))
        for row in slow:
            row["samples_s"] = [s / 1000 for s in row["samples_s"]]
        write(self.path("fast.json"), json.dumps(slow))
        self.assertEqual(run(*args, "--compare", self.path("fast.json"), "--fail-above", "1.1").returncode, 3)
        for row in slow:
            row["machine"] = "another"
        write(self.path("other.json"), json.dumps(slow))
        self.fails(2, *args, "--compare", self.path("other.json"))
        self.ok(*args, "--compare", self.path("other.json"), "--force")

    def test_bench_takes_a_scene_and_stored_problems(self):
        self.assertEqual(len(self.json("bench", "nunchaku", "--repeat", 1, "--steps", 5, "--json")), 1)
        self.ok("run", "nunchaku", "--steps", 30, "--record", self.path("set.h5"))
        rows = self.json("bench", self.path("set.h5"), "--repeat", 1, "--json")
        self.assertTrue(rows and all("stages_s" not in row for row in rows))
        self.fails(2, "bench", "nunchak")

    def test_roofline_keeps_kernels_under_the_roof(self):
        result = self.json("bench", "--roofline", "nunchaku", "--steps", 100, "--json")
        levels = [level["bytes_per_s"] for level in result["roof"]["levels"]]
        self.assertGreater(levels[0], levels[-1])
        self.assertGreater(len(result["kernels"]), 5)
        for row in result["kernels"]:
            self.assertGreater(row["share"], 0)
            self.assertLess(row["share"], 3, row)  # the roof is of another moment of a shared machine
            self.assertAlmostEqual(row["madds_per_s"] * row["cpu_s"], row["madds"], delta=1e-6 * row["madds"])

    def test_options_that_contradict_each_other_are_refused(self):
        self.assertIn("--compare", self.fails(2, "bench", "--roofline", "nunchaku", "--compare", "old.json"))
        self.assertIn("--output", self.fails(2, "bench", "--roofline", "nunchaku", "-o", self.path("roof")))
        for option in (["--curated"], ["--record", self.path("x.csv")]):
            self.assertIn("--measure-last", self.fails(2, "run", "nunchaku", "--measure-last", *option))
        self.assertIn("STEP:HASH", self.fails(2, "run", "nunchaku", "--expect", "5:zz"))

    def test_bench_shards_merge_to_the_same_bytes_in_any_order(self):
        for i in (1, 2):
            self.ok("bench", "quick", "--repeat", 1, "--warmup", 0, "--steps", 3, "--shard", f"{i}/2", "-o", self.path(f"s{i}"))
        for name, order in (("a", "12"), ("b", "21")):
            self.ok("bench", "--merge", *(self.path(f"s{i}.json") for i in order), "-o", self.path(name))
        self.assertEqual(read(self.path("a.json")), read(self.path("b.json")))

    def test_profile_counts_what_can_be_counted_by_hand(self):
        def row(index, solver, outcome, iterations):
            return {"file": "x", "index": index, "name": f"s/c/{index}", "solver": solver, "outcome": outcome,
                    "iterations": iterations, "time_s": {"a": 1.0, "b": 2.0}[solver]}
        rows = [row(0, "a", "converged", 10), row(0, "b", "converged", 40), row(1, "a", "max-iterations", 1),
                row(1, "b", "converged", 5)]
        write(self.path("r.json"), json.dumps({"results": rows}))
        profile = self.json("profile", self.path("r.json"), "-m", "iterations", "--tau-max", 100, "--json")[0]
        rho = {curve["solver"]: curve for curve in profile["solvers"]}
        self.assertEqual(profile["problems"], 2)
        self.assertEqual((rho["a"]["rho_1"], rho["a"]["rho_max"]), (0.5, 0.5))
        self.assertEqual((rho["b"]["rho_1"], rho["b"]["rho_max"]), (0.5, 1.0))
        profile = self.json("profile", self.path("r.json"), "-m", "t_iter", "--tau-max", 100, "--json")[0]
        best = {curve["solver"]: curve["rho_1"] for curve in profile["solvers"]}
        self.assertEqual(best, {"a": 0.0, "b": 1.0})  # 1/10 against 2/40 s; then b alone converged
        self.ok("profile", self.path("r.json"), "--by", "category", "-o", self.path("p"))
        self.assertIn("<svg", read(self.path("p-c-iterations.svg")))
        write(self.path("bad.json"), json.dumps({"nothing": 1}))
        self.fails(4, "profile", self.path("bad.json"))

    def test_heatmap_shards_merge_to_the_same_bytes(self):
        grid = ["-s", "newton-ncp", "-x", "bodies.0.mass=0.1..10:3", "-y", "bodies.1.mass=1..1000:3"]
        self.ok("heatmap", *grid, "-o", self.path("whole"))
        for i in (1, 2):
            self.ok("heatmap", *grid, "--shard", f"{i}/2", "-o", self.path(f"s{i}"))
        self.ok("heatmap", "--merge", self.path("s2.csv"), self.path("s1.csv"), *grid, "-o", self.path("merged"))
        for name in (".csv", "-newton-ncp-iterations.svg", "-newton-ncp-r_ncp.svg"):
            self.assertEqual(read(self.path("whole" + name)), read(self.path("merged" + name)))
        self.ok("heatmap", *grid, "--resume", "-o", self.path("s2"))
        self.assertEqual(read(self.path("whole.csv")), read(self.path("s2.csv")))

    def test_report_is_one_page_with_nothing_from_outside(self):
        results, page = self.path("r.json"), self.path("r.html")
        sample = os.path.join(SOURCE, "tests", "data", "dataset", "sample.h5")
        write(results, self.ok("solve", sample, "-s", "newton-ncp,pgs-ncp", "--max-iter", 100, "--trace", "--json").stdout)
        record = self.path("run.h5")
        self.ok("run", "box_on_plane", "--steps", 20, "-s", "newton-ncp,pgs-ncp", "-o", record)
        self.ok("report", results, record, "-o", page)
        text = read(page)
        self.assertGreater(text.count("<svg"), 3)
        self.assertIn("<circle", text)  # problems that newton-ncp solves in one iteration are points
        self.assertNotRegex(text, r"(?:src|href)=.https?:")
        for group in ("walker", "ironman", "dense-constraints", "single-contact"):
            self.assertIn(f"<summary>{group}</summary>", text)


class Checks(Command):
    def test_the_scenes_are_valid(self):
        folder = os.path.join(SOURCE, "scenes")
        names = [os.path.join(folder, name) for name in sorted(os.listdir(folder))
                 if name.endswith(".json") and name != "schema.json"]
        for row in self.json("check", *names, "--json")["files"]:
            self.assertTrue(row["valid"], row)

    def test_a_fault_is_told_with_line_and_path(self):
        path = self.path("bad.json")
        text = read(os.path.join(SOURCE, "scenes", "nunchaku.json"))
        write(path, re.sub(r'"mass": *[\d.]+', '"mass": -1', text, count=1))
        done = run("check", path, "--json")
        self.assertEqual(done.returncode, 4)
        error = json.loads(done.stderr)["error"]
        self.assertEqual(error["file"], path)
        self.assertGreater(error["line"], 0)
        self.assertIn("mass", error["path"])
        self.assertFalse(json.loads(done.stdout)["files"][0]["valid"])

    def test_an_unknown_solver_is_refused_with_its_line_and_the_known_ones(self):
        path = self.path("bad.json")
        text = read(os.path.join(SOURCE, "scenes", "nunchaku.json"))
        write(path, re.sub(r'"solvers": *\[', '"solvers": ["nosuch",', text, count=1))
        done = run("check", path, "--json")
        self.assertEqual(done.returncode, 4)
        error = json.loads(done.stderr)["error"]
        self.assertEqual(error["path"], "solvers[0]")
        self.assertEqual(error["line"], 1 + text[:text.index('"solvers"')].count("\n"))
        self.assertIn("nosuch", error["message"])
        self.assertIn("newton-ncp", error["message"])

    def test_a_file_without_a_problem_is_no_problem_file(self):
        path = self.path("none.json")
        write(path, "[]")
        done = run("check", path)
        self.assertEqual(done.returncode, 4)
        self.assertIn("none.json:1:1: holds no problem", done.stderr)


class Serve(Command):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("www"))
        write(self.path("www/index.html"), "<p>page")
        write(self.path("www/core.wasm"), b"\0asm")
        write(self.path("secret"), "secret")
        os.symlink(self.path("secret"), self.path("www/link"))
        self.server = subprocess.Popen([COMMAND, "serve", "--dir", self.path("www"), "--port", "0"], stdout=subprocess.PIPE,
                                       text=True)
        self.address = self.server.stdout.readline().strip()

    def tearDown(self):
        self.server.send_signal(signal.SIGINT)
        self.assertEqual(self.server.wait(timeout=600), 0)
        self.server.stdout.close()

    def raw(self, request):
        host, port = self.address.split("/")[2].split(":")
        with socket.create_connection((host, int(port)), timeout=600) as peer:
            peer.sendall(request)
            answer = b""
            while part := peer.recv(65536):
                answer += part
        return answer

    def test_files_come_with_their_types(self):
        with urllib.request.urlopen(self.address) as page:
            self.assertEqual(page.read(), b"<p>page")
            self.assertTrue(page.headers["Content-Type"].startswith("text/html"))
        with urllib.request.urlopen(self.address + "core.wasm") as core:
            self.assertEqual(core.headers["Content-Type"], "application/wasm")

    def test_nothing_outside_the_folder_is_served(self):
        for target in (b"/../secret", b"/%2e%2e/secret", b"/link", b"/x/../../secret", b"//../secret", b"/%00", b"/none"):
            answer = self.raw(b"GET " + target + b" HTTP/1.1\r\n\r\n")
            self.assertIn(b" 404 ", answer.split(b"\r\n")[0] + b" ")
            self.assertNotIn(b"secret", answer)
        self.assertIn(b"405", self.raw(b"POST / HTTP/1.1\r\n\r\n"))
        self.assertIn(b"400", self.raw(b"\r\n\r\n"))


if __name__ == "__main__":
    unittest.main()
