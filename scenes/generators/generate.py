"""Writes the surrogate scenes beside this folder: python3 generate.py [name ...]."""

import importlib
import pathlib
import sys

NAMES = ["arm7d", "quadruped", "bdx", "lima", "misha", "walker", "gazelle", "ironman"]

if __name__ == "__main__":
    for name in sys.argv[1:] or NAMES:
        if name not in NAMES:
            sys.exit(f"unknown scene {name}; known are: {', '.join(NAMES)}")
        module = importlib.import_module(name)
        module.build().write(pathlib.Path(__file__).resolve().parent.parent / f"{name}.json")
