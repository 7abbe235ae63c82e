"""No command runs code of the folder that it is called in, unless that is trusted."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from counterlens.cli.main import cli
from tests.current_folder.hostile import HostileFolder, short

pytestmark = pytest.mark.timeout(900)  # the first test waits for all commands
SERVERS = {"serve", "mcp"}  # see test_starts.py
REFUSED = {
    "calibrate",
    "causal",
    "changed",
    "judge",
    "mutants",
    "models add",
    "models allow",
    "models fetch",
    "data get",
}
"""Commands that end with an error for want of trust, of functions, of an endpoint or of the network."""


def arguments() -> dict[str, list[str]]:
    """The arguments of each command; the first one writes what others read."""
    return {
        "bench": ["--data", "problems.jsonl", "--max-tokens", "4", "--out", "run", *short()],
        "report": ["run"],
        "compare": ["run", "run"],
        "replay": ["run", "0"],
        "export": ["run"],
        "causal": ["--data", "problems.jsonl", *short()],
        "calibrate": ["--data", "problems.jsonl", *short()],
        "changed": ["--repository", ".", *short()],
        "reproduce": ["cacp", "--data", "problems.jsonl", "--max-tokens", "4", "--out", "table", *short()],
        "check": ["target.py", *short()],
        "complete": ["target.py:9", "--max-tokens", "4", *short()],
        "data check": ["problems.jsonl", "--run"],
        "data get": ["humaneval"],
        "data list": ["."],
        "dependence": ["target.py::total"],
        "doctor": [],
        "init": ["."],
        "judge": ["target.py", "--against", "target.py"],
        "models add": ["mine", "--base-url", "http://127.0.0.1:9/v1"],
        "models allow": ["mine"],
        "models fetch": ["hf:owner/repository/file.gguf"],
        "models list": [],
        "models test": short()[1:2],
        "models use": short()[1:2],
        "mutants": ["target.py::total", "--no-model"],
        "mutate": ["target.py::total"],
        "probe": ["target.py::total", "--likelihood", *short()],
        "score": ["target.py", *short()],
    }


def command_names(group: click.Group, prefix: str = "") -> Iterator[str]:
    """The names of all commands and subcommands."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from command_names(command, f"{prefix}{name} ")
        else:
            yield prefix + name


NAMES = sorted({*command_names(cli)} - SERVERS)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, list[str]]]:
    """The exit code of each command and the marks that it left; one front end runs them all."""
    above = tmp_path_factory.mktemp("hostile")
    folder = HostileFolder(above)
    script = Path(__file__).with_name("commands.py")
    files = [above / name for name in ("commands.json", "outcomes.json", "mark")]
    files[0].write_text(json.dumps(arguments()))
    done = folder.call([sys.executable, str(script), *map(str, files)], seconds=800)
    assert done.returncode == 0, done.stderr.decode()
    print(done.stdout.decode(), done.stderr.decode())  # shown if a test fails
    found: dict[str, tuple[int, list[str]]] = json.loads(files[1].read_text())
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_command_runs_no_code_of_the_current_folder(
    outcomes: dict[str, tuple[int, list[str]]], name: str
) -> None:
    code, marks = outcomes[name]
    assert marks == []
    assert (code == 0) == (name not in REFUSED), code
