"""Options of the commands that run tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from counterlens.attribution.base import LIMITS, LONGEST, SHORTEST
from counterlens.probes.inference.inferred import Method
from counterlens.probes.robustness.programs import Code

Command = TypeVar("Command", bound=Callable[..., Any])


def task_options(command: Command) -> Command:
    """What only some tasks take: each names them."""
    for option in (
        click.option(
            "--method",
            type=click.Choice([str(method) for method in Method]),
            help="How dependences are found out (dependence); without it, as the model allows.",
        ),
        click.option(
            "--corpus",
            metavar="NAME_OR_PATH",
            help="Python files or a dataset to count operators in (operator, memorisation).",
        ),
        click.option(
            "--encoder",
            metavar="M",
            help="The model whose embeddings compare summaries, named as with --model (summary); otherwise "
            "MiniLM.",
        ),
        click.option(
            "--code",
            type=click.Choice([str(code) for code in Code]),
            default=str(Code.GIVEN),
            show_default=True,
            help="Which programs are asked about (summary, name, output): the given, also the same with the "
            "bugs that a dataset gives, or what the model itself writes of them.",
        ),
        click.option("--unroll", is_flag=True, help="Also with loops written out as they run (execution)."),
        click.option("--windows", is_flag=True, help="Also with less context (operator)."),
    ):
        command = option(command)
    return command


def timeout_option(command: Command) -> Command:
    """`--timeout`: for programs and the tests that judge them."""
    return click.option(
        "--timeout",
        type=click.FloatRange(SHORTEST, LONGEST),
        default=LIMITS.seconds,
        show_default=True,
        metavar="SECONDS",
        help="What a program has for one run, together with all tests that judge it.",
    )(command)
