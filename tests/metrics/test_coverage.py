"""Intervals hold the truth as often as they say, by `benchmarks/interval_coverage.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    script = ROOT / "benchmarks" / "interval_coverage.py"
    command = [sys.executable, str(script), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=250)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["benchmark"] == "interval_coverage"
    ratios = found["ratios"]
    assert 0.945 < ratios["shares_independent"] < 0.96
    assert ratios["lowest_shares_independent"] >= 0.945
    assert 0.945 < ratios["shares_clustered"] < 0.975
    assert ratios["shares_few_clusters"] > 0.945  # conservative: two clusters cannot show how clusters differ
    assert 0.94 < ratios["means_normal"] < 0.985
    assert 0.94 < ratios["means_similarities"] < 0.99
    assert ratios["means_exponential"] > 0.9
    assert ratios["lowest_shares_clustered"] > 0.91
    assert 0.93 < ratios["differences"] < 0.98
    assert ratios["told_in_error"] < 0.05
