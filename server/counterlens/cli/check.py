"""`counterlens check`: the places where a concrete alternative makes the code likelier."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click

from counterlens.cli.flags import DurationType
from counterlens.cli.options import (
    ChosenModel,
    cache_option,
    excluded_tests_option,
    format_options,
    model_options,
    print_json,
    refuse_given,
    sandbox_option,
    strong_sandbox,
)
from counterlens.cli.probe_options import chosen_file
from counterlens.cli.progress_lines import StepLine, progress_at, steps
from counterlens.cli.saying import say, say_document
from counterlens.cli.sources import files_of
from counterlens.confidence.exclusion import ScoringLimits, reason_to_skip
from counterlens.counting import plural
from counterlens.datasets.changes import Lines, changed_lines
from counterlens.doubt.accepted import new_marks, write_accepted
from counterlens.doubt.blaming import culprits, is_failing
from counterlens.doubt.fitting import ALLOWED, code_lines, fit_margins
from counterlens.doubt.generating import scopes
from counterlens.doubt.margins import margins_of, save_margins
from counterlens.doubt.marking import Doubt, Mark
from counterlens.doubt.registry import DOUBT_KINDS
from counterlens.doubt.scope import DoubtScope
from counterlens.errors import Cancelled, SandboxError, SourceError
from counterlens.languages.language import Feature
from counterlens.models.base import Model
from counterlens.probes.reading.checking import DocstringReader, marks_of
from counterlens.progress import EndOfTime, Steps, TimeBudget
from counterlens.reports.export.doubts import DOUBT_FORMATS
from counterlens.sandbox.base import Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import has_feature, require_feature
from counterlens.trust import TrustError

_ANY_SIZE = ScoringLimits(bytes=None)
_PATIENCE = 3.0  # seconds after which a mark is stated before the end


@click.command()
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="PATH...")
@click.option("--since", metavar="REV", help="Only functions that differ from this git revision.")
@click.option(
    "--budget",
    type=DurationType(),
    metavar="TIME",
    help="End after this time, such as 60s or 2m, or with the first function; the files edited last come "
    "first, in each the functions whose docstrings can be read, the shortest first.",
)
@click.option("--tests", is_flag=True, help="Verify marks and find fixes with the tests of each function.")
@click.option(
    "--no-readings",
    is_flag=True,
    help="Run no examples of docstrings, and do not have the model write functions from them.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    help="File of accepted marks, which are not reported [default: baseline of counterlens.toml].",
)
@click.option("--write-baseline", is_flag=True, help="Accept all marks of now in the file of --baseline.")
@click.option("--fit", is_flag=True, help="Fit the model's margins on PATH, which is assumed to be correct.")
@excluded_tests_option
@format_options(DOUBT_FORMATS)
@model_options
@cache_option
@sandbox_option
def check(
    paths: tuple[Path, ...],
    since: str | None,
    budget: float | None,
    tests: bool,
    no_readings: bool,
    baseline: Path | None,
    write_baseline: bool,
    fit: bool,
    excluded_tests: tuple[str, ...],
    form: str,
    model: ChosenModel,
) -> None:
    """Mark likely mistakes: places where an alternative makes the code clearly likelier.

    PATH are Python files, or folders of them. The exit code is 1 if there is a mark that the baseline does
    not accept, else 0; with --tests, a function whose tests fail is a mark, whether or not a fix is known; if
    no alternative passes them, the model writes the function anew, and a version that does is shown. A
    comment `# counterlens: ignore` on its line silences a mark. A model marks places by itself if it
    has margins, as the embedded model and Qwen2.5-Coder 0.5B and 1.5B have. Fit those of another one with
    --fit, on a few hundred functions of tested code. In a trusted repository the code runs, too: a function
    that does not return what its docstring states, such as `half(3) == 1.5`, is marked. A model for which
    that was fitted also writes each function from its docstring, and those that do otherwise are marked.
    """
    _refuse_conflicts(tests=tests, fit=fit, since=since, form=form, write_baseline=write_baseline)
    time_left = None if budget is None else TimeBudget(budget)
    accepted = baseline or _configured_baseline(paths)
    if write_baseline and accepted is None:
        raise click.UsageError("--write-baseline needs --baseline FILE, or baseline in counterlens.toml")
    chosen = chosen_scopes(paths, since)
    if fit:
        _fit(chosen, model, as_json=form == "json")
        return
    sandbox = strong_sandbox(*paths) if tests else None
    marks, checked = list[Mark](), list[DoubtScope]()
    if chosen:
        with model.opened() as loaded:
            reader = None if no_readings else _docstrings(loaded, paths, excluded_tests)
            checker = Checker(loaded, sandbox, excluded_tests, reader, states=form == "text")
            marks = culprits(checker.marks_in(chosen, time_left))
            checked = checker.checked
            if reader is not None and reader.balance:
                say(reader.balance, err=True)
    if accepted is not None:
        all_marks = marks
        if write_baseline:
            write_accepted(all_marks, accepted)
        marks = new_marks(all_marks, accepted)
        if number := len(all_marks) - len(marks):
            say(f"{plural(number, 'mark')} accepted in {accepted}", err=True)
    say_document(DOUBT_FORMATS[form](marks))
    if chosen and form == "text":
        say(_balance(marks, sum(len(code_lines(scope)) for scope in checked)), err=True)
    if marks:
        raise click.exceptions.Exit(1)


def _refuse_conflicts(*, tests: bool, fit: bool, since: str | None, form: str, write_baseline: bool) -> None:
    """Refuse options that exclude each other."""
    if not tests:
        refuse_given(("excluded_tests",), "only with --tests")
    if fit and (tests or since is not None or form not in {"text", "json"}):
        raise click.UsageError("--fit excludes --tests, --since and --format")
    if fit:
        refuse_given(("budget",), "not with --fit")
    if write_baseline and (fit or since is not None):
        raise click.UsageError("--write-baseline excludes --fit and --since")


def _configured_baseline(paths: tuple[Path, ...]) -> Path | None:
    """The baseline of the chosen settings file, or of the nearest one around the first path."""
    first = paths[0].resolve()
    file = chosen_file(click.get_current_context(), first if first.is_dir() else first.parent)
    return file.baseline if file is not None else None


def _balance(marks: Sequence[Mark], lines: int) -> str:
    """The number of marks, beside the number that the margins allow on code without mistakes."""
    unverified = sum(isinstance(mark, Doubt) and not is_failing(mark) for mark in marks)
    text = f"{plural(len(marks), 'mark')} in {plural(lines, 'line')} of code"
    if not unverified:
        return text
    allowed = max(ALLOWED * lines / 1000, 0.1)
    which = "" if unverified == len(marks) else f" {unverified} without a failing test;"
    return f"{text};{which} the margins allow up to {allowed:.1f} if there are no mistakes"


def chosen_scopes(paths: tuple[Path, ...], since: str | None) -> list[DoubtScope]:
    """The functions of the files; with a revision, only those that changed since.

    Raises:
        SourceError: a file is missing, or is not Python.
        DataError: as `changed_lines`.
    """
    named = {path for path in paths if not path.is_dir()}
    changed: dict[Path, dict[Path, Lines]] = {}
    chosen: list[DoubtScope] = []
    for path in files_of(paths):
        try:
            document = Document.read(path)
            if path in named:
                require_feature(document, Feature.DOUBTS)
            elif not has_feature(document, Feature.DOUBTS) or reason_to_skip(document, _ANY_SIZE):
                continue
        except SourceError:
            if path in named:
                raise
            continue
        lines = Lines(None)
        if since is not None:
            folder = path.resolve().parent
            if folder not in changed:
                changed[folder] = changed_lines(folder, since)
            lines = changed[folder].get(path.resolve(), Lines(()))
        chosen += [
            scope
            for scope in scopes(document)
            if lines.overlaps(scope.function.start_line, scope.function.end_line)
        ]
    return chosen


def _docstrings(model: Model, paths: Sequence[Path], excluded: Sequence[str]) -> DocstringReader | None:
    """What reads docstrings; None if code may not run here."""
    try:
        return DocstringReader(model, strong_sandbox(*paths), excluded)
    except (SandboxError, TrustError) as error:
        say(f"no examples of docstrings were run: {error}", err=True)
        return None


class Checker:
    """Checks functions; `checked` has them.

    Args:
        sandbox: Where their tests verify marks; None if they do not.
        states: Whether a mark is stated when it is found, if that takes long: the others take their time.
    """

    def __init__(
        self,
        model: Model,
        sandbox: Sandbox | None,
        excluded: Sequence[str],
        reader: DocstringReader | None,
        *,
        states: bool,
    ) -> None:
        self._model, self._sandbox, self._excluded, self._reader = model, sandbox, excluded, reader
        self._states = states
        self.checked: list[DoubtScope] = []

    def marks_in(self, chosen: Sequence[DoubtScope], budget: TimeBudget | None) -> list[Mark]:
        """The marks of some functions.

        Args:
            budget: The time after which the checking ends, unless it is at the first function.
        """
        if margins_of(self._model.info) is None:
            only = "only tests mark anything" if self._sandbox else "nothing is marked"
            say(
                f"no margins are fitted for {self._model.info.name}, so {only}; "
                "fit them on tested code with: counterlens check --fit PATH",
                err=True,
            )
        order = self._readable_first(chosen) if budget else range(len(chosen))
        with steps("checking") as report:
            marks = self._stated(chosen, order, budget, report)
            unstated, begun = list[Mark](), time.monotonic()
            for number, at in enumerate(order):
                scope = chosen[at]
                if number and budget and budget.left <= 0:
                    break
                if unstated and time.monotonic() - begun > _PATIENCE:
                    self._say_so_far(unstated, report)
                    unstated = []
                report(f"checking {scope.document.path}::{scope.function.qualname}", number, len(order))
                until = EndOfTime(None, budget) if number and budget else None
                watched = Steps(until, progress_at(report, number, len(order)))
                try:
                    new = marks_of(
                        self._model, scope, self._sandbox, self._reader, watched, excluded=self._excluded
                    )
                except Cancelled:
                    if until is None:
                        raise
                    break
                unstated += [mark for mark in new if mark not in marks[at]]
                marks[at] = new
                self.checked.append(scope)
        if len(self.checked) < len(chosen):
            say(
                f"the time sufficed for {len(self.checked)} of {plural(len(chosen), 'function')}; "
                "asked again, it goes on from cached answers",
                err=True,
            )
        return [mark for of_function in marks for mark in of_function]

    def _stated(
        self, chosen: Sequence[DoubtScope], order: Sequence[int], budget: TimeBudget | None, report: StepLine
    ) -> list[list[Mark]]:
        """The marks of each function by what its docstring states, said at once: they need no model."""
        marks: list[list[Mark]] = [[] for _ in chosen]
        for number, at in enumerate(order):
            if self._reader is None or (number and budget and budget.left <= 0):
                break
            report("running what docstrings state", number, len(order))
            mark = self._reader.stated(chosen[at], Steps())
            if mark is not None:
                marks[at] = [mark]
                self._say_so_far([mark], report)
        return marks

    def _readable_first(self, chosen: Sequence[DoubtScope]) -> list[int]:
        """The functions, by index: of the files edited last, with a docstring to read, the shortest first."""

        def precedence(at: int) -> tuple[float, bool, int]:
            path, function = chosen[at].document.path, chosen[at].function
            read = self._reader is not None and self._reader.may_read(chosen[at])
            return -path.stat().st_mtime if path else 0.0, not read, function.end - function.start

        return sorted(range(len(chosen)), key=precedence)

    def _say_so_far(self, marks: Sequence[Mark], report: StepLine) -> None:
        if self._states:
            for line in DOUBT_FORMATS["text"](marks).splitlines():
                report.state(f"so far: {line}")


def _fit(chosen: list[DoubtScope], model: ChosenModel, *, as_json: bool) -> None:
    """Fit the margins of a model, store them, and print them."""
    with model.opened() as loaded, steps("fitting") as report:
        fit = fit_margins(loaded, chosen, report)
        path = save_margins(loaded.info, fit.margins, fit.lines)
    if as_json:
        print_json(fit.data)
        return
    say(f"{plural(len(chosen), 'function')}, {plural(fit.lines, 'line')} of code")
    for kind, margin in fit.margins.items():
        say(f"{kind}: {margin:g} nats, with which {fit.found[kind]:.0%} of planted alternatives are found")
    silent = sorted(set(DOUBT_KINDS) - set(fit.margins))
    say(f"silent: {', '.join(silent) or 'none'}")
    say(f"kept in {path}")
