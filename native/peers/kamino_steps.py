#!/usr/bin/env python3
"""Newton's Kamino solver on the CPU, one world, beside the kinloop command: time per step.

Needs the packages newton, warp-lang and numpy from PyPI. The systems are Newton's own builders of the report's
primitives (box on a plane, nunchaku, four-bar), dropped on the ground; ours are the scenes of the same name, with the same
step size. Kamino runs as its examples set it (P-ADMM, 1e-6, at most 200 iterations, warm start), in single precision;
kinloop runs newton-ncp to 1e-10 in double. Both times are processor seconds per step of one process after warm-up,
medians over the repeats with the spread.

Warp compiles its kernels on the first run (minutes) and writes to stdout, so results go to a file.

  native/peers/kamino_steps.py --kinloop build/native/kinloop --output results.json
"""
import argparse
import json
import platform
import statistics
import sys
import time

import newton
import warp as wp
from newton.solvers import SolverKamino
from newton.tests.utils import basics

from processor_time import kinloop_step_seconds, spread

# Newton's builder; our scene and run
CASES = [
    ("build_box_on_plane", "box_on_plane", "hard"),
    ("build_boxes_nunchaku", "nunchaku", "stabilized"),
    ("build_boxes_fourbar", "fourbar_free", "stabilized"),
]
DT = 0.001


class Kamino:
    def __init__(self, builder_name):
        robot = newton.ModelBuilder(up_axis=newton.Axis.Z)
        SolverKamino.register_custom_attributes(robot)
        robot.default_shape_cfg.margin = 0.0
        robot.default_shape_cfg.gap = 0.0
        getattr(basics, builder_name)(builder=robot)
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        builder.add_world(robot)
        self.model = builder.finalize(skip_validation_joints=True)
        config = SolverKamino.Config.from_model(self.model)
        config.use_collision_detector = True
        config.use_fk_solver = False
        config.dynamics.preconditioning = True
        config.padmm.primal_tolerance = config.padmm.dual_tolerance = config.padmm.compl_tolerance = 1e-6
        config.padmm.max_iterations = 200
        config.padmm.rho_0 = 0.1
        config.padmm.use_acceleration = True
        config.padmm.warmstart_mode = "containers"
        config.padmm.contact_warmstart_method = "geom_pair_net_force"
        self.solver = SolverKamino(model=self.model, config=config)
        self.state, self.next = self.model.state(), self.model.state()
        self.control = self.model.control()
        self.solver.reset(state=self.state)

    def steps(self, count):
        for _ in range(count):
            self.state.clear_forces()
            self.solver.step(self.state, self.next, self.control, None, DT)
            self.state, self.next = self.next, self.state

    def seconds(self, count):
        start = time.process_time()
        self.steps(count)
        wp.synchronize()
        return (time.process_time() - start) / count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinloop", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()
    wp.config.quiet = True
    wp.set_device("cpu")
    cases = []
    for builder, scene, run in CASES:
        kamino = Kamino(builder)
        kamino.steps(20)  # compiles and warms up
        theirs, ours = [], []
        for _ in range(args.repeats):
            theirs.append(kamino.seconds(args.steps))
            ours.append(kinloop_step_seconds(args.kinloop, scene, run, 2000, "newton-ncp")[0])
        ratio = statistics.median(a / b for a, b in zip(theirs, ours))
        cases.append({"scene": scene, "run": run, "dt": DT, "steps": args.steps,
                      "step_s": {"kamino": spread(theirs), "newton-ncp": spread(ours)}, "kamino_over_newton-ncp": ratio})
        print(f"{scene:15s} kamino {statistics.median(theirs) * 1e6:9.0f} us  newton-ncp "
              f"{statistics.median(ours) * 1e6:7.1f} us  {ratio:.0f}x", file=sys.stderr)
    with open(args.output, "w") as file:
        json.dump({"newton": newton.__version__, "warp": wp.__version__,
                   "machine": platform.processor() or platform.machine(), "repeats": args.repeats, "cases": cases},
                  file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
