"""`counterlens mutants`: what the tests do not see, as mutants that pass, each with a test that it fails."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import cache

import click

from counterlens.cli.check import chosen_scopes
from counterlens.cli.options import (
    MODEL_OPTIONS,
    ChosenModel,
    cache_option,
    excluded_tests_option,
    format_options,
    model_options,
    refuse_given,
    sandbox_option,
    split_target,
    strong_sandbox,
)
from counterlens.cli.progress_lines import progress_at, steps
from counterlens.cli.saying import say, say_document
from counterlens.judging.base import LIMITS, Setting, lasting
from counterlens.judging.projects import interpreter_for
from counterlens.models.base import Capability, Model
from counterlens.progress import Steps
from counterlens.reports.export.survivors import SURVIVOR_FORMATS, balance
from counterlens.survivors import SHOWN, Search
from counterlens.syntax.functions import function_named


@click.command()
@click.argument("targets", nargs=-1, required=True, metavar="PATH[::QUALNAME]...")
@click.option("--since", metavar="REV", help="Only functions that differ from this git revision.")
@click.option(
    "--shown",
    type=click.IntRange(1),
    default=SHOWN,
    show_default=True,
    help="Maximum mutants to show per function.",
)
@click.option("--no-model", is_flag=True, help="Use no model: first one mutant of each line.")
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 3600.0),
    default=LIMITS.seconds,
    show_default=True,
    help="Time limit in seconds for one program run, tests included.",
)
@excluded_tests_option
@format_options(SURVIVOR_FORMATS)
@model_options
@cache_option
@sandbox_option
def mutants(
    targets: tuple[str, ...],
    since: str | None,
    shown: int,
    no_model: bool,
    timeout: float,
    excluded_tests: tuple[str, ...],
    form: str,
    model: ChosenModel,
) -> None:
    """Show what the tests do not see: mutants that pass, each with a test that they fail.

    PATH are Python files, or folders of them. A mutant is the function with one change that should break it.
    It is shown only if it passes the function's tests although an input distinguishes it; the test
    asserts the original's result for that input, so read it before you keep it. The model puts the likeliest
    mutants first. The exit code is 1 if a mutant is shown, else 0.
    """
    if no_model:
        refuse_given(MODEL_OPTIONS, "not with --no-model")
    named = [split_target(target) for target in targets]
    paths = tuple(dict.fromkeys(path for path, _ in named))
    scopes = chosen_scopes(paths, since)
    for path, qualname in named:
        if qualname is not None:
            inside = [scope for scope in scopes if scope.document.path == path]
            chosen = function_named([scope.function for scope in inside], qualname, path)
            scopes = [scope for scope in scopes if scope not in inside or scope.function is chosen]
    survivals = []
    names: set[str] = set()
    sandbox = strong_sandbox(*paths)
    with ExitStack() as stack, steps("looking for surviving mutants") as report:
        opened = None if no_model else _ranking(model, stack)
        if opened is not None:
            opened()  # an option for the model is honoured or refused even if nothing is to be ranked
        for number, scope in enumerate(scopes):
            progress = Steps(None, progress_at(report, number, len(scopes)))
            python = interpreter_for(scope.document.path)
            setting = Setting(sandbox, python, lasting(timeout), vetted=True, excluded=excluded_tests)
            survivals.append(Search(setting, opened, shown, progress, names).survival(scope))
    say_document(SURVIVOR_FORMATS[form](survivals))
    if form == "text":
        say(balance(survivals), err=True)
    if any(survival.survivors for survival in survivals):
        raise click.exceptions.Exit(1)


def _ranking(chosen: ChosenModel, stack: ExitStack) -> Callable[[], Model | None]:
    """Opens the model once; None if it returns no token probabilities."""

    @cache
    def opened() -> Model | None:
        model = stack.enter_context(chosen.opened())
        if model.offers(Capability.SCORE):
            return model
        say(f"{model.info.name} returns no token probabilities: mutants are not ranked", err=True)
        return None

    return opened
