"""The short help of commands with many options."""

from __future__ import annotations

import re

import click
import pytest
from click.testing import CliRunner

from counterlens.cli.bench import bench
from counterlens.cli.probe import probe


def flags(command: click.Command, *arguments: str) -> set[str]:
    shown = CliRunner().invoke(command, arguments)
    assert shown.exit_code == 0, shown.output
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", shown.output, re.MULTILINE))


@pytest.mark.parametrize("command", [probe, bench], ids=["probe", "bench"])
def test_the_short_help_has_fifteen_options_and_the_long_one_all(command: click.Command) -> None:
    known = {max(option.opts, key=len) for option in command.params if isinstance(option, click.Option)}
    short, long = flags(command, "--help"), flags(command, "--help-all")
    assert long == {*known, "--help"}
    assert short < long
    assert len(short - {"--help", "--help-all"}) == 15
    assert flags(command, "--help-all", "--help") == long
