"""The analysis against people's labels; `benchmarks/core_agreement.py` names each disagreement."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT.parent / "shared" / "data" / "core"


@pytest.mark.skipif(not CORE.is_dir(), reason=f"CoRe's labels are not in {CORE}")
def test_agreement_with_the_labels_of_people() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "core_agreement.py"), str(CORE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    figures = found["figures"]
    assert figures["control"]["both"] > 900
    assert figures["control"]["precision"] >= 0.95
    assert figures["control"]["recall"] >= 0.94
    assert figures["data"]["both"] > 600
    assert figures["data"]["precision"] >= 0.94
    assert figures["data"]["recall"] >= 0.99
    named = [line for line in done.stdout.splitlines() if "not labelled" in line or "not found" in line]
    assert len(named) == sum(one["not_labelled"] + one["not_found"] for one in figures.values())
