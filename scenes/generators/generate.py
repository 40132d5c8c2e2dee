"""Writes the surrogate scenes beside this folder:

    python3 generate.py [name ...]          writes them
    python3 generate.py --check [name ...]  says whether the files are what would be written (exit 1 if not)
"""

import importlib
import pathlib
import sys
import tempfile

NAMES = ["arm7d", "quadruped", "bdx", "lima", "misha", "walker", "gazelle", "ironman"]
SCENES = pathlib.Path(__file__).resolve().parent.parent


def is_current(mechanism, name):
    with tempfile.TemporaryDirectory() as folder:
        fresh = pathlib.Path(folder) / "scene.json"
        mechanism.write(fresh)
        return fresh.read_text() == (SCENES / f"{name}.json").read_text()


if __name__ == "__main__":
    check = "--check" in sys.argv
    stale = []
    for name in [a for a in sys.argv[1:] if a != "--check"] or NAMES:
        if name not in NAMES:
            sys.exit(f"unknown scene {name}; known are: {', '.join(NAMES)}")
        mechanism = importlib.import_module(name).build()
        if not check:
            mechanism.write(SCENES / f"{name}.json")
        elif not is_current(mechanism, name):
            stale.append(name)
    if stale:
        sys.exit(f"not what the generator writes: {', '.join(stale)}; run generate.py")
