"""Measures the cost of starting, relative to pygls alone: imports, and memory before a file is open.

Run it: `.venv/bin/python benchmarks/startup.py`. The last line is JSON. Times are processor seconds of a
child, the minimum of several runs in turn, to exclude other work of the machine; only their ratios are
meaningful.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys

BASE = "pygls"
PROGRAMS = {
    "python": "pass",
    BASE: "import click, pygls.lsp.server",
    "serve": "import counterlens.cli.serve, counterlens.lsp.server",
    # For comparison: with all commands and the judges' input generators imported.
    "eager": (
        "import click, hypothesis, coverage.parser, counterlens.lsp.server\n"
        "from counterlens.cli.main import cli; cli.get_help(click.Context(cli))"
    ),
    "help": "import click; from counterlens.cli.main import cli; cli.get_help(click.Context(cli))",
}
MEMORY = (
    "{program}\n"
    "print([int(line.split()[1]) for line in open('/proc/self/status') if line.startswith('VmRSS')][0])"
)


def seconds(program: str) -> float:
    """The processor seconds of a Python process that runs a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def megabytes(program: str) -> float:
    """The resident memory of a Python process after a program."""
    run = [sys.executable, "-c", MEMORY.format(program=program)]
    return int(subprocess.run(run, check=True, capture_output=True, text=True).stdout) / 1024


def main() -> None:
    """Measure, and print a table and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    times = [{name: seconds(program) for name, program in PROGRAMS.items()} for _ in range(rounds)]
    least = {name: min(each[name] for each in times) for name in PROGRAMS}
    memory = {name: megabytes(program) for name, program in PROGRAMS.items()}
    for name in PROGRAMS:
        ratio = least[name] / least[BASE]
        print(f"{name:8} {least[name]:6.3f} s  {ratio:5.2f} times {BASE}  {memory[name]:6.1f} MB")
    result = {
        "benchmark": "startup",
        "rounds": rounds,
        "times_of_pygls": {name: round(each / least[BASE], 2) for name, each in least.items()},
        "megabytes": {name: round(each, 1) for name, each in memory.items()},
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
