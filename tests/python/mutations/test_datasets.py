"""A sample of HumanEval and MBPP; `benchmarks/mutation_safety.py` runs all of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_preserving_counterfactual_of_a_sample_passes(published: Path) -> None:
    script = ROOT / "benchmarks" / "mutation_safety.py"
    command = [
        sys.executable,
        str(script),
        "--data",
        str(published),
        "--sample",
        "60",
        "--seed",
        "1",
        "--preserving",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["original_passed"] > 50
    assert not figures["failures"]
    assert sum(row["judged"] for row in figures["mutations"].values()) > 200
