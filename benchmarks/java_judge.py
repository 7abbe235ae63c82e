"""Judges Java programs in one warm Java machine: compiles them in memory, and runs their `Main.main`.

For measurements on published reference solutions, which are trusted: there is no sandbox around it.
"""

from __future__ import annotations

import base64
import gzip
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

SOURCE = Path(__file__).parent / "java" / "Judge.java"


@dataclass(frozen=True)
class JavaProblem:
    """A reference solution of Java and its tests, a class `Main` that throws where one fails."""

    name: str
    source: str
    tests: str


def java_problems(folder: Path) -> Iterator[JavaProblem]:
    """The problems of HumanEval-X and HumanEvalPack whose data are in a folder; those of both once."""
    known: set[tuple[str, str]] = set()
    for problem in (*_humaneval_x(folder), *_humanevalpack(folder)):
        if (problem.source, problem.tests) not in known:
            known.add((problem.source, problem.tests))
            yield problem


def _humaneval_x(folder: Path) -> Iterator[JavaProblem]:
    with gzip.open(folder / "humaneval-x" / "humaneval_java.jsonl.gz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            source = record["prompt"] + record["canonical_solution"]
            yield JavaProblem(f"HumanEval-X {record['task_id']}", source, record["test"])


def _humanevalpack(folder: Path) -> Iterator[JavaProblem]:
    with (folder / "humanevalpack" / "java" / "humanevalpack.jsonl").open(encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            source = record["prompt"] + record["canonical_solution"]
            yield JavaProblem(f"HumanEvalPack {record['task_id']}", source, record["test"])


class JavaJudge:
    """One Java machine that judges programs one after the other; `passed`, `failed`, `late`, `uncompiled`."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="counterlens-java-")
        compiled = ["javac", "-d", self._folder.name, "-Xlint:-options", "-nowarn", str(SOURCE)]
        subprocess.run(compiled, check=True, capture_output=True)
        self._process = self._start()

    @staticmethod
    def available() -> bool:
        """Whether a Java development kit is installed."""
        return shutil.which("javac") is not None and shutil.which("java") is not None

    def judge(self, source: str, tests: str, seconds: float = 20.0) -> tuple[str, str]:
        """What became of a program and its tests, and what the compiler or the program said."""
        given, answers = self._process.stdin, self._process.stdout
        assert given is not None
        assert answers is not None
        encoded = base64.b64encode(f"{source}\n{tests}".encode()).decode()
        given.write(f"{seconds} {encoded}\n")
        given.flush()
        answer = answers.readline()
        if not answer:  # it took the whole machine with it
            self._process = self._start()
            return "failed", "the Java machine ended"
        verdict, _, said = answer.strip().partition(" ")
        return verdict, base64.b64decode(said).decode("utf-8", "replace")

    def _start(self) -> subprocess.Popen[str]:
        command = ["java", "-Xmx1g", "-XX:+UseSerialGC", "-cp", self._folder.name, "Judge"]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def __enter__(self) -> JavaJudge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()
