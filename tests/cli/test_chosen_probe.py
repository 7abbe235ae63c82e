"""`probe` imports the chosen probe only, and says the same as with the flags of all."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from counterlens.cli.main import cli
from counterlens.cli.probe import probe
from counterlens.cli.probe_options import ProbeCommand
from counterlens.probes.options import specs
from counterlens.probes.registry import PROBES

_IMPORTED = """
import sys
from counterlens.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    print(*sorted(name for name in sys.modules if name.startswith("counterlens.probes.")))
"""


def narrowed(*arguments: str) -> click.Command:
    assert isinstance(probe, ProbeCommand)
    return probe.narrowed(click.Context(cli, help_option_names=["-h", "--help"]), list(arguments))


@pytest.mark.parametrize("task", sorted(PROBES))
def test_the_flags_are_those_of_the_chosen_probe(task: str) -> None:
    command = narrowed("a.py::f", "--task", task, "--seed", "3")
    own = {parameter.name for parameter in probe.params} - {
        name for known in PROBES.values() for name in specs(known.options)
    }
    assert {parameter.name for parameter in command.params} - own == {*specs(PROBES[task].options)}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("a.py", "--help-all"),
        ("a.py", "--task", "all"),
        ("a.py", "--task", "nothing"),
        ("a.py", "--corpus", "humaneval"),  # an option of another task
        ("a.py", "--protocol", "empica"),  # a protocol of another task
        ("a.py", "--no-such-option"),
        ("a.py", "--seed"),
    ],
)
def test_the_flags_of_all_probes_are_there_where_they_matter(arguments: tuple[str, ...]) -> None:
    assert narrowed(*arguments) is probe


def test_likelihood_is_the_task_likelihood() -> None:
    flags = {parameter.name for parameter in narrowed("a.py", "--likelihood").params}
    assert "samples" not in flags
    assert flags >= {*specs(PROBES["likelihood"].options)}


def test_no_other_probe_is_imported() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _IMPORTED, "probe", "there_is_no_file.py::f", "--trust"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "there_is_no_file.py" in ended.stderr
    assert "counterlens.probes.pairs.completion" in ended.stdout.split()
    for room in ("operator", "dependence", "robustness", "localisation", "equivalence", "runtime"):
        assert f"counterlens.probes.{room}" not in ended.stdout.split(), room
