"""`python -m tests.fuzz --steps 10000 --seed 1`."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests.fuzz.test_fuzz import fuzz

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=10_000)
parser.add_argument("--seed", type=int, default=1)
asked = parser.parse_args()
with tempfile.TemporaryDirectory() as folder:
    began = time.monotonic()
    played = fuzz(Path(folder), asked.steps, asked.seed)
    took, peak = time.monotonic() - began, max(played.memory) / 2**20
    print(f"{asked.steps} steps in {took:.0f} s: {dict(played.done)}, at most {peak:.0f} MiB")
