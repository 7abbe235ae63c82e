"""Measures the error of the expected and remaining times of a run.

    python benchmarks/time_left.py REPOSITORY [--functions 20] [--latency SECONDS] [--mutations ID…]

`counterlens bench` runs twice on functions of a repository, sampled with two seeds, with an endpoint that
answers after the latency (see `benchmarks/endpoint.py`) and the repository's own tests as the judge. The
first run records its pace, so the plan of the second has a time.

- `within_factor_2`: the share of the second run's moments, one second apart, at which the last shown time
  left was right within a factor of two; `first_within_factor_2` is that of the first run.
- `by_number`: the same for a time computed from the number of functions, as a baseline.
- `plan_over_truth`: the time in the plan of the second run over its actual time.
- `prompts_over_asked`: the prompts in the plan of each run over those that the endpoint was sent.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from endpoint import Served

RIGHT = 2.0


def is_right(seconds: float, truth: float) -> bool:
    """Whether an estimate is right within the factor."""
    return truth / RIGHT <= seconds <= RIGHT * truth


class Followed:
    """One run, with its messages and their times."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.planned: float | None = None
        self.prompts: float | None = None
        self.said: list[tuple[float, float | None, int, int]] = []
        begun = 0.0
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                event: dict[str, Any] = json.loads(line)
                now = time.monotonic() - begun
                if event["event"] == "begun":
                    self.planned, begun = event["seconds"], time.monotonic()
                    self.prompts = sum(
                        float(number.replace(",", ""))
                        for number in re.findall(r"(?:about )?([\d,]+) prompts", " ".join(event["lines"]))
                    )
                elif event["event"] == "progress":
                    self.said.append((now, event["seconds"], event["done"], event["total"]))
                elif event["event"] == "error":
                    raise SystemExit(event["message"])
                elif event["event"] == "ended":
                    self.seconds = now
                    break
        self.begun, self.over = begun, time.monotonic()

    def prompts_over_asked(self, times: list[tuple[float, float]]) -> float | None:
        """The prompts of the plan over the requests, given the times of all requests."""
        asked = sum(self.begun <= came <= self.over for came, _ in times)
        return round(self.prompts / asked, 3) if self.prompts and asked else None

    def shares(self) -> tuple[float, float]:
        """The shares of moments at which the time left was right: as shown, and by number."""
        own, by_number = [], []
        for moment in range(1, int(self.seconds)):
            known = [one for one in self.said if one[0] <= moment]
            if not known:
                continue
            at, left, done, total = known[-1]
            truth = self.seconds - moment
            own.append(left is not None and is_right(left - (moment - at), truth))
            simple = moment * (total - done) / done if done else None
            by_number.append(simple is not None and is_right(simple, truth))
        count = max(1, len(own))
        return sum(own) / count, sum(by_number) / count


def main() -> None:
    """Run twice, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--functions", type=int, default=20)
    parser.add_argument("--latency", type=float, default=0.3)
    parser.add_argument("--mutations", nargs="*", default=[])
    options = parser.parse_args()
    served = Served(options.latency)
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) / "configuration"
        (home / "counterlens").mkdir(parents=True)
        entry = f'[models.slow]\nbase-url = "{served.url}"\nconcurrency = 4\n'
        (home / "counterlens" / "counterlens.toml").write_text(entry)
        environment = {**os.environ, "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home)}
        runs = []
        for seed in (1, 2):
            command = [sys.executable, "-m", "counterlens", "bench", "--out", f"{place}/run{seed}"]
            command += ["--data", f"repo:{options.repository.resolve()}", "-m", "slow", "--progress", "json"]
            command += ["--limit", str(options.functions), "--seed", str(seed), "--max-tokens", "32"]
            command += ["--trust", "--allow-weaker-sandbox"]
            for mutation in options.mutations:
                command += ["--mutation", mutation]
            runs.append(Followed(command, environment))
    times = served.times()
    first, second = runs
    (one, _), (two, by_number) = first.shares(), second.shares()
    result = {
        "within_factor_2": round(two, 3),
        "first_within_factor_2": round(one, 3),
        "by_number": round(by_number, 3),
        "plan_over_truth": round(second.planned / second.seconds, 3) if second.planned else None,
        "seconds": [round(run.seconds, 1) for run in runs],
        "prompts_over_asked": [run.prompts_over_asked(times) for run in runs],
        "requests": len(times),
        "load": [round(load, 1) for load in os.getloadavg()],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
