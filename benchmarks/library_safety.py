"""Checks that the standard library passes its own tests with a mutation at every safe site of a module.

    python benchmarks/library_safety.py                       # all modules and mutations, about half an hour
    python benchmarks/library_safety.py --modules textwrap,bisect --mutations if-else-flip

Each module is mutated everywhere and placed first on the path of a fresh interpreter, which runs the module's
suite from CPython's `test` package. The unchanged module must pass first; a module that does not, or takes
more than --seconds, is left out and listed. The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from counterlens.mutations import apply_everywhere
from counterlens.python.mutations.language import MUTATIONS
from counterlens.text import decode

# Modules of one file, written in Python, whose own suite is quick and needs no network or display.
MODULES = [
    "argparse",
    "ast",
    "base64",
    "bdb",
    "bisect",
    "calendar",
    "cgi",
    "chunk",
    "cmd",
    "codeop",
    "colorsys",
    "configparser",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "difflib",
    "dis",
    "enum",
    "filecmp",
    "fileinput",
    "fnmatch",
    "fractions",
    "functools",
    "genericpath",
    "getopt",
    "gettext",
    "glob",
    "graphlib",
    "gzip",
    "heapq",
    "hmac",
    "html",
    "imghdr",
    "inspect",
    "ipaddress",
    "keyword",
    "linecache",
    "locale",
    "lzma",
    "mailbox",
    "mailcap",
    "mimetypes",
    "modulefinder",
    "netrc",
    "nntplib",
    "numbers",
    "opcode",
    "operator",
    "optparse",
    "pathlib",
    "pickle",
    "pickletools",
    "pipes",
    "pkgutil",
    "plistlib",
    "posixpath",
    "pprint",
    "profile",
    "pstats",
    "pyclbr",
    "queue",
    "quopri",
    "random",
    "reprlib",
    "rlcompleter",
    "sched",
    "secrets",
    "selectors",
    "shelve",
    "shlex",
    "shutil",
    "smtplib",
    "sndhdr",
    "statistics",
    "string",
    "stringprep",
    "struct",
    "sunau",
    "symtable",
    "tabnanny",
    "tarfile",
    "tempfile",
    "textwrap",
    "timeit",
    "token",
    "tokenize",
    "trace",
    "traceback",
    "types",
    "typing",
    "uu",
    "uuid",
    "warnings",
    "wave",
    "weakref",
    "webbrowser",
    "xdrlib",
    "zipapp",
    "zipfile",
]
# Suites that compare lines of the module's own source text, which no mutation can keep.
QUOTED = {"contextlib": "test_exit_exception_traceback expects the text of a line of contextlib itself"}


@dataclass(frozen=True)
class Run:
    """The result of one suite."""

    module: str
    mutation: str
    passed: bool
    changed: bool
    seconds: float
    output: str


def source_of(module: str) -> Path | None:
    """The file of a single-file module."""
    spec = importlib.util.find_spec(module)
    if spec is None or not spec.origin or not spec.origin.endswith(".py") or spec.submodule_search_locations:
        return None
    return Path(spec.origin)


def run_suite(module: str, source: str | None, seconds: float) -> tuple[bool, float, str]:
    """Run a module's suite, optionally with another source for the module."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        if source is not None:
            (here / f"{module}.py").write_bytes(source.encode())
        work = here / "work"
        work.mkdir()
        paths = {"PYTHONPATH": str(here), "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(work)}
        started = time.monotonic()
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", "unittest", "-q", f"test.test_{module}"],
                env={**os.environ, **paths},
                cwd=work,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return False, seconds, "timed out"
        return done.returncode == 0, time.monotonic() - started, done.stderr[-4000:]


def examine(module: str, mutations: list[str], seconds: float, without: list[str]) -> tuple[str, list[Run]]:
    """The results of all mutations of one module, or the reason why it was left out."""
    if module in QUOTED:
        return QUOTED[module], []
    path = source_of(module)
    if path is None:
        return "not a single-file module here", []
    source = decode(path.read_bytes()).text
    passed, took, _ = run_suite(module, source, seconds)
    if not passed:
        return "its suite fails or times out when the module is loaded from another folder", []
    runs = []
    for name in mutations:
        mutated = apply_everywhere(source, name, without=without)
        if mutated == source:
            runs.append(Run(module, name, passed=True, changed=False, seconds=0.0, output=""))
            continue
        passed, elapsed, output = run_suite(module, mutated, max(seconds, 3 * took + 10))
        runs.append(Run(module, name, passed=passed, changed=True, seconds=elapsed, output=output))
    return "", runs


def main() -> int:
    """Run everything; returns 1 if a preserving mutation broke a suite."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--modules", help="comma-separated modules; default: all listed ones")
    parser.add_argument("--mutations", help="comma-separated mutations; default: all preserving ones")
    parser.add_argument("--without", default="", help="comma-separated assumptions to disable")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="time limit of an unmutated suite in seconds"
    )
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    modules = arguments.modules.split(",") if arguments.modules else MODULES
    names = [name for name, mutation in MUTATIONS.items() if mutation.preserving]
    if arguments.mutations:
        names = arguments.mutations.split(",")
    without = [name for name in arguments.without.split(",") if name]
    left_out: dict[str, str] = {}
    runs: list[Run] = []
    with ThreadPoolExecutor(arguments.processes) as pool:
        jobs = pool.map(lambda module: (module, *examine(module, names, arguments.seconds, without)), modules)
        for module, reason, found in jobs:
            if reason:
                left_out[module] = reason
                continue
            runs += found
            marks = "".join("." if not r.changed else "+" if r.passed else "F" for r in found)
            print(f"{module:16}{marks}", flush=True)
    failed = [run for run in runs if not run.passed]
    for run in failed:
        print(f"\nFAILED {run.module} under {run.mutation}:\n{run.output[-1500:]}")
    for module, reason in left_out.items():
        print(f"left out {module}: {reason}")
    total = {
        "benchmark": "library-safety",
        "modules": len({run.module for run in runs}),
        "left_out": sorted(left_out),
        "failures": [[run.module, run.mutation] for run in failed],
        "mutations": {
            name: {
                "changed": sum(run.changed for run in runs if run.mutation == name),
                "passed": sum(run.changed and run.passed for run in runs if run.mutation == name),
            }
            for name in names
        },
    }
    print(json.dumps(total))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
