"""Checks that a run that is killed at random moments ends like an uninterrupted one.

    python benchmarks/resume.py [--kills N] [--seed S] [--functions N] [--quick]

A small run of `counterlens bench` on the examples, with the embedded model, is killed (SIGKILL) at random
moments from right after its start to its end, and resumed, until it is done; then the next one begins, until
there were N kills. The benchmark counts:

- `tables_that_differ`: reports (Markdown, JSON, CSV) that differ in any byte from those of an uninterrupted
  run;
- `asked_twice`: answers and records that were stored when the run was killed, and were computed again later;
- `left_behind`: processes of the run that still existed after ten seconds.

All three must be 0; otherwise the exit code is 1. An answer that was incomplete when the run was killed is
requested again, and does not count.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

COUNTERLENS = [sys.executable, "-m", "counterlens"]
EXAMPLES = Path(__file__).parents[1] / "examples"
FORMATS = ("markdown", "json", "csv")
PATIENCE = 10.0


def bench(code: Path, folder: Path, functions: int) -> list[str]:
    """The command that starts or resumes a run."""
    return [
        *(*COUNTERLENS, "bench", "--trust", "--resume", "--out", str(folder), "--data", f"repo:{code}"),
        *("--limit", str(functions), "--max-tokens", "12", "--threads", "1", "--allow-weaker-sandbox"),
        *("--mutation", "if-else-flip", "--mutation", "operand-swap"),
    ]


def reports(folder: Path) -> list[bytes]:
    """All reports on a run."""
    commands = [[*COUNTERLENS, "report", str(folder), "--format", form] for form in FORMATS]
    return [subprocess.run(command, capture_output=True, check=True).stdout for command in commands]


def kept(folder: Path) -> dict[object, float]:
    """The time of each answer, and the duration of each record; they would differ if computed again."""
    found: dict[object, float] = {}
    for name, table, columns in (
        ("answers.sqlite", "answers", "key, time"),
        ("run.sqlite", "records", "position, seconds"),
    ):
        if not (folder / name).exists():
            continue
        database = sqlite3.connect(folder / name)
        try:
            rows = database.execute(f"SELECT {columns} FROM {table}").fetchall()  # noqa: S608
        except sqlite3.OperationalError:  # killed before there was a table
            rows = []
        finally:
            database.close()
        found |= {(table, key): value for key, value in rows}
    return found


def killed(command: list[str], seconds: float) -> tuple[bool, int]:
    """Start and kill a run after some seconds; returns whether it still ran, and its leftover processes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        started = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.communicate()
        return True, len(psutil.wait_procs(started, PATIENCE)[1])
    if process.returncode:
        raise SystemExit(said.decode())
    return False, 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--functions", type=int, default=6)
    parser.add_argument("--quick", action="store_true", help="kill three times")
    given = parser.parse_args()
    wanted = given.kills or (3 if given.quick else 20)
    draw = random.Random(given.seed)  # noqa: S311 - no secret
    counts = {"tables_that_differ": 0, "asked_twice": 0, "left_behind": 0}
    kills = runs = with_work = 0
    with tempfile.TemporaryDirectory() as place:
        code, whole = Path(place) / "code", Path(place) / "whole"
        shutil.copytree(EXAMPLES, code)
        started = time.monotonic()
        subprocess.run(bench(code, whole, given.functions), capture_output=True, check=True)
        seconds = time.monotonic() - started
        while kills < wanted:
            folder, done = Path(place) / f"run{runs}", False
            runs += 1
            while not done:
                before = kept(folder)
                patience = draw.uniform(0.02, 1.0) * seconds if kills < wanted else 100 * seconds + 600
                was_killed, left = killed(bench(code, folder, given.functions), patience)
                after = kept(folder)
                again = sum(after.get(key) != value for key, value in before.items())
                counts["asked_twice"] += again
                counts["left_behind"] += left
                done = not was_killed
                kills += was_killed
                with_work += was_killed and bool(after)
                if was_killed:
                    print(f"kill {kills} after {patience:.1f} s: {len(after)} stored", file=sys.stderr)
            both = zip(FORMATS, reports(folder), reports(whole), strict=True)
            differing = [form for form, one, other in both if one != other]
            counts["tables_that_differ"] += len(differing)
            print(f"run {runs} is done; differs: {', '.join(differing) or 'nothing'}", file=sys.stderr)
    document = {
        "benchmark": "resume",
        "kills": kills,
        "kills_with_work_kept": with_work,
        "runs": runs,
        "functions": given.functions,
        **counts,
    }
    print(json.dumps(document))
    raise SystemExit(any(counts.values()))


if __name__ == "__main__":
    main()
