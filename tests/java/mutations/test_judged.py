"""A sample of HumanEval-X in Java, compiled and run; `benchmarks/mutation_safety.py` runs all of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no Java development kit (javac)")
def test_the_counterfactuals_of_a_sample_compile_and_do_what_they_say(published: Path) -> None:
    script = ROOT / "benchmarks" / "mutation_safety.py"
    options = ["--data", str(published), "--language", "java", "--sample", "3", "--seed", "3"]
    command = [sys.executable, str(script), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["failures"] == []
    assert figures["preserving"] >= 15
    assert figures["breaking_told_apart"] >= 0.8 * figures["breaking_that_compile"] > 0
