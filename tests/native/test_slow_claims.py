"""The cheap ones of the report's claims, measured anew, end with the verdicts of docs/reproduction.md."""
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ['KL_SOURCE'])

with tempfile.TemporaryDirectory() as cache:
    sys.exit(subprocess.run([sys.executable, '-B', SOURCE / 'scripts' / 'reproduce.py', '--quick',
                             '--program', os.environ['KL_COMMAND'], '--cache', cache]).returncode)
