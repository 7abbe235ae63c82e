"""Links to devices, pipes, bombs and deep nesting in place of files: a sentence, soon, in little memory."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.forks import SECONDS
from tests.test_regular_file import link_to_a_device, link_to_a_pipe, pipe

MEMORY = 300 << 20
GOOD = 'def f(x):\n    """Add one.\n\n    >>> f(1)\n    2\n    """\n    return x + 1\n'
TESTS = "from good import f\n\ndef test_f():\n    assert f(1) == 2\n"
TOY = ("--model", "toy")
Hostile = Callable[[Path], None]


def hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def folder(path: Path) -> None:
    path.mkdir()


def brackets(path: Path) -> None:
    path.write_text("x = " + "[" * 20_000 + "]" * 20_000 + "\n")


def latin(path: Path) -> None:
    path.write_bytes(b'name = "\xe4"\n')


def inflates(path: Path, head: bytes, megabyte: bytes) -> None:
    """Write a compressed file with a thousand times a megabyte, as gzip members one after the other."""
    path.write_bytes(gzip.compress(head) + 1_000 * gzip.compress(megabyte))


def zeros(path: Path) -> None:
    inflates(path, b"", bytes(1 << 20))


def blanks(path: Path) -> None:
    inflates(path, b"", b"\n" * (1 << 20))


def one_long_value(path: Path) -> None:
    inflates(path, b'{"task_id": "', b"x" * (1 << 20))


def json_brackets(path: Path) -> None:
    content = b'{"task_id": ' + b"[" * 20_000 + b"]" * 20_000 + b"}\n"
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def half_a_pair(path: Path) -> None:
    content = (
        b'{"task_id": "\\ud800", "prompt": "", "canonical_solution": "", "test": "", "entry_point": ""}\n'
    )
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def tar_bomb(path: Path) -> None:
    member = tarfile.TarInfo("a/main.py")
    member.size = 1_000 << 20
    inflates(path, member.tobuf(), bytes(1 << 20))


NOT_FILES: tuple[Hostile, ...] = (pipe, link_to_a_device, link_to_a_pipe, hole, folder)
ANY: tuple[Hostile, ...] = (*NOT_FILES, brackets, latin)
WHOLE = bool(os.environ.get("COUNTERLENS_HOSTILE_FILES"))
SOME = ANY if WHOLE else (pipe, link_to_a_device, brackets)
"""What every command meets; with the variable, all that is hostile."""
BESIDE_SOUND = tuple((kind,) for kind in ANY) if WHOLE else ((pipe, link_to_a_device), (brackets,))
"""What takes the place of one file after another; `tests/test_regular_file.py` shows that no kind is read."""

SOURCES: dict[str, tuple[str, ...]] = {
    "mutate": ("mutate", "{}"),
    "mutate a function": ("mutate", "{}::f"),
    "dependence": ("dependence", "{}::f"),
    "score": ("score", "{}", *TOY),
    "check": ("check", "{}", *TOY),
    "probe": ("probe", "{}::f", *TOY),
    "complete": ("complete", "{}:2", *TOY),
    "judge": ("judge", "{}"),
    "judge with its tests": ("judge", "good.py", "--tests", "{}"),
    "judge against": ("judge", "good.py", "--against", "{}"),
    "mutants": ("mutants", "{}::f", *TOY),
    "changed": ("changed", "{}", *TOY),
}
"""Commands by what they read, with the place of its path; not causal, whose libraries take 330 MB."""
BESIDE: dict[str, tuple[str, ...]] = {
    name: tuple(part.format("good.py") for part in command) for name, command in SOURCES.items()
} | {
    "bench": ("bench", "--data", "repo:.", "--plan", *TOY),
    "init": ("init",),
    "models": ("models",),
    "data": ("data", "list", "."),
}
"""Commands on sound files, beside which something hostile is; not doctor, which loads a model."""
SETTINGS = ("counterlens.toml", "pyproject.toml")
"""The first is read first."""
FILES = ("README.md", "test_good.py", "conftest.py", "pytest.ini", "setup.cfg")
RECORDS = ("x.jsonl", "x.json", "x.jsonl.gz", "x.json.gz", "x.tar.gz")
OPTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "--config": (("--config", "{}", "bench", "--data", "repo:.", "--plan"), ("x.toml",)),
    "--baseline": (("check", "good.py", "--baseline", "{}", *TOY), ("x.json",)),
    "--data": (("bench", "--data", "{}", "--plan", *TOY), RECORDS),
    "calibrate": (("calibrate", "--data", "{}", *TOY), ("x.jsonl",)),
    "data check": (("data", "check", "{}"), ("x.jsonl",)),
    "data list": (("data", "list", "{}"), ("x.jsonl.gz",)),
    "report": (("report", "{}"), ("x.toml",)),
    "compare": (("compare", "{}", "{}"), ("x.toml",)),
    "export": (("export", "{}"), ("x.toml",)),
    "models use": (("models", "use", "./{}"), ("x.gguf",)),
    "--model": (("score", "good.py", "--model", "./{}"), ("x.gguf",)),
}
"""Commands on other files than sources, with the names of what is tried."""
DATA: dict[str, tuple[Hostile, ...]] = {
    "x.jsonl": (*ANY, json_brackets, half_a_pair),
    "x.json": (*ANY, json_brackets, half_a_pair),
    "x.jsonl.gz": (*NOT_FILES, zeros, blanks, one_long_value, json_brackets, half_a_pair),
    "x.json.gz": (zeros, blanks, one_long_value, json_brackets),
    "x.tar.gz": (*NOT_FILES, zeros, tar_bomb),
    "x.gguf": (pipe, link_to_a_device, hole),
    "x.toml": ANY,
}
Run = Callable[[Sequence[str], Path], dict[str, Any]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Runs a command in a fork of a process that has imported all."""
    home = tmp_path_factory.mktemp("home")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.forks"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOME": str(home), "COUNTERLENS_TRUST": "1"},
        cwd=Path(__file__).parents[2],
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def answer(arguments: Sequence[str], place: Path) -> dict[str, Any]:
        process.stdin.write(json.dumps({"arguments": arguments, "folder": str(place)}) + "\n")
        process.stdin.flush()
        outcome: dict[str, Any] = json.loads(process.stdout.readline())
        return outcome

    yield answer
    process.communicate()


def check(outcome: dict[str, Any]) -> None:
    """A command ended with a sentence, soon, and in little memory."""
    said = outcome["output"]
    assert outcome["code"] in range(4), outcome
    assert "Traceback" not in said, said
    assert said.strip() or outcome["code"] == 0, outcome
    assert outcome["seconds"] < SECONDS, outcome
    assert outcome["memory"] < MEMORY, outcome


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A repository with a tested function."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "test_other.py").write_text(TESTS)
    return tmp_path


@pytest.mark.parametrize("hostile", SOME, ids=lambda hostile: hostile.__name__)
@pytest.mark.parametrize("command", SOURCES)
def test_a_source_that_is_none(run: Run, place: Path, command: str, hostile: Hostile) -> None:
    hostile(place / "bad.py")
    check(run([part.format("bad.py") for part in SOURCES[command]], place))


@pytest.mark.parametrize(
    "hostile", BESIDE_SOUND, ids=lambda hostile: " or ".join(kind.__name__ for kind in hostile)
)
@pytest.mark.parametrize("command", BESIDE)
def test_a_sound_file_beside_hostile_ones(
    run: Run, place: Path, command: str, hostile: tuple[Hostile, ...]
) -> None:
    for number, name in enumerate((*FILES, *SETTINGS)):
        hostile[number % len(hostile)](place / name)
    # A command that a settings file has stopped has not met what it reads later.
    for unread in SETTINGS:
        outcome = run([*BESIDE[command]], place)
        check(outcome)
        if not any(name in outcome["output"] for name in SETTINGS):
            return
        (place / unread).unlink()
        if command == "init":  # it has written a file that needs no other
            return
    check(run([*BESIDE[command]], place))


@pytest.mark.parametrize(
    ("option", "name", "hostile"),
    [
        (option, name, hostile)
        for option, (_, names) in OPTIONS.items()
        for name in names
        for hostile in DATA[name]
        if WHOLE or hostile in SOME or hostile not in ANY
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_data_settings_and_runs_that_are_none(
    run: Run, place: Path, option: str, name: str, hostile: Hostile
) -> None:
    hostile(place / name)
    check(run([part.format(name) for part in OPTIONS[option][0]], place))
