"""Intervals hold the truth as often as they say, by the benchmarks that simulate them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def ratios_of(benchmark: str) -> dict[str, float]:
    """The output of a benchmark's quick run."""
    command = [sys.executable, str(ROOT / "benchmarks" / f"{benchmark}.py"), "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert found["benchmark"] == benchmark
    ratios: dict[str, float] = found["ratios"]
    return ratios


def test_pass_rates_cover_and_drawing_seldom_errs() -> None:
    ratios = ratios_of("pass_rates")
    assert 0.94 < ratios["coverage"] < 0.96
    assert ratios["lowest_coverage"] > 0.87
    assert ratios["mean_coverage"] > 0.92
    assert ratios["moved_in_error"] < 0.05
    assert ratios["held_in_error"] < 0.05
    assert ratios["share_of_draws"] < 0.6


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    ratios = ratios_of("interval_coverage")
    assert 0.945 < ratios["shares_independent"] < 0.96
    assert ratios["lowest_shares_independent"] >= 0.945
    assert 0.945 < ratios["shares_clustered"] < 0.975
    assert ratios["shares_few_clusters"] > 0.945  # conservative: two clusters cannot show how clusters differ
    assert 0.94 < ratios["means_normal"] < 0.985
    assert 0.94 < ratios["means_similarities"] < 0.99
    assert ratios["means_exponential"] > 0.9
    assert ratios["lowest_shares_clustered"] > 0.91
    assert 0.93 < ratios["differences"] < 0.98
    assert ratios["detected_in_error"] < 0.05
