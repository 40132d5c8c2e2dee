"""Processor seconds of a step of the kinloop command, as the scripts beside this one report them.

Metrics are asked for after the last step alone, as the peers' are."""
import json
import resource
import statistics
import subprocess


def whole_run(command, scene, run, steps, solver):
    """Processor seconds of the whole process, and the result it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([command, "run", scene, "--run", run, "--solver", solver, "--steps", str(steps),
                          "--set", f"{solver}.warm_start=previous", "--measure-last", "--json"],
                         capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = json.loads(out.stdout)["runs"][0]
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result


def kinloop_step_seconds(command, scene, run, steps, solver):
    """Seconds a step and the result: a run of all steps less one of a tenth, so that start-up cancels."""
    short, _ = whole_run(command, scene, run, steps // 10, solver)
    whole, result = whole_run(command, scene, run, steps, solver)
    return (whole - short) / (steps - steps // 10), result


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}
