"""`counterlens bench`: every function of a dataset or a repository, any number of models, resumable."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import click

from counterlens.cli.interrupting import INTERRUPTED
from counterlens.cli.lazy import BriefCommand
from counterlens.cli.options import print_report, refuse_given, require_trusted, strong_sandbox
from counterlens.cli.run_choices import RunChoices, engine_of, run_options
from counterlens.cli.run_reporting import EventReporter, PlanFacts, RunReporter, TerminalReporter
from counterlens.cli.runs import read_run
from counterlens.cli.saying import say
from counterlens.datasets.registry import repository_in
from counterlens.errors import Cancelled, CounterlensError
from counterlens.evaluation.engines.base import EvaluationEngine
from counterlens.evaluation.estimate import PromptCounts, counted_prompts
from counterlens.evaluation.gate import GateOutcome, gate, gate_outcome
from counterlens.evaluation.plan import Plan, make_plan
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.run import Ended, Run, holds_one
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Store
from counterlens.evaluation.time_left import TimeLeft, known_rates, note_rates
from counterlens.probes.registry import PROBES
from counterlens.reports.build.comparison import gate_lines
from counterlens.reports.build.evaluation import evaluation_report, plan_lines
from counterlens.reports.document import Report
from counterlens.reports.render import terminal
from counterlens.sandbox.base import Sandbox

EXIT_CODES = {GateOutcome.FAILED: 3, GateOutcome.INCONCLUSIVE: 4}
"""The exit codes of the gate, if it is not passed."""
RUN_REPORT: Callable[[RunResults], Report] = partial(evaluation_report, brief=True)
"""The report at the end of a run."""
_USUAL = {
    "Run": ("out", "data", "since", "limit", "minutes", "plan", "resume"),
    "Models": ("model", "base-url", "api"),
    "Questions": ("task", "mutation"),
    "Result and permissions": ("fail-under", "trust", "allow-weaker-sandbox"),
}


@click.command(cls=BriefCommand, usual=_USUAL)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of the run; required, except with --plan.",
)
@click.option(
    "--data", metavar="NAME_OR_PATH", help="A dataset, or repo:PATH for the functions of a repository."
)
@click.option("--since", metavar="REV", help="With repo: only functions that differ from this git revision.")
@click.option("--resume", is_flag=True, help="Resume the run in DIR, with its own options.")
@click.option(
    "--progress",
    "progress_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help=(
        "Format of plan and progress; json: one object per line, for programs. The run then stops at the "
        "end of standard input."
    ),
)
@run_options
@click.pass_context
def bench(
    context: click.Context,
    /,
    given: dict[str, Any],
    out: Path | None,
    resume: bool,
    only_plan: bool,
    fail_under: float | None,
    min_informative: int,
    progress_format: str,
    **_: Any,
) -> None:
    """Probe every function of a dataset or a tested repository with one or more models.

    DIR receives each result at once; `counterlens report DIR` shows them. --resume continues an interrupted
    run: no question is asked twice, and the tables are the same. An option applies to the tasks that take it,
    as the plan shows; an option that no task takes is refused. Defaults come from counterlens.toml, which
    `counterlens init` writes.

    Exit codes: 0 done, 1 failed, 2 bad usage, 3 a model keeps less than --fail-under (whole interval), 4
    it has fewer informative pairs than --min-informative, 130 interrupted.
    """
    choices = RunChoices.of(context, given)
    if choices.data is None and not resume:
        raise click.UsageError(
            "give the data: --data NAME_OR_PATH, such as --data humaneval or --data repo:."
        )
    if resume and only_plan:
        raise click.UsageError("--plan shows a new run, --resume continues one: give one of them")
    require_gate(fail_under)
    if only_plan:
        with _run_reporter(progress_format) as reporter:
            show_plan(choices, reporter)
        return
    if out is None:
        raise click.UsageError("give the folder of the run: --out DIR, such as --out runs/first")
    with _run_reporter(progress_format) as reporter:
        engine = context.with_resource(engine_of(context))
        run_bench(choices, out, engine, resume=resume, reporter=reporter)
        hold_to(out, fail_under, min_informative)


@contextmanager
def _run_reporter(progress_format: str) -> Iterator[RunReporter]:
    if progress_format == "text":
        yield TerminalReporter()
        return
    reporter = EventReporter()
    with reporter.reporting_errors():
        yield reporter


def show_plan(choices: RunChoices, reporter: RunReporter | None = None) -> None:
    """Print the plan of a run, with its expected duration if known.

    Args:
        reporter: Prints the messages.
    """
    reporter = reporter or TerminalReporter()
    plan = _plan(choices.settings(), strong_sandbox(), reporter)
    counted = _count(plan, reporter)
    reporter.planned(_facts(plan, counted, _time_left(plan, (), counted)), begins=False)


def _facts(
    plan: Plan, counted: Mapping[str, PromptCounts], left: TimeLeft, done: Collection[int] = ()
) -> PlanFacts:
    names = {name for targets in plan.targets.values() for name in targets}
    lines = plan_lines(plan, len(done), counted)
    return PlanFacts(plan.settings, lines, len(names), len(plan.items), len(done), left.seconds())


def require_gate(fail_under: float | None) -> None:
    """Refuse an option of the gate without one.

    Raises:
        click.UsageError: it is on the command line.
    """
    if fail_under is None:
        refuse_given(("min_informative",), "only with --fail-under")


def hold_to(out: Path, fail_under: float | None, min_informative: int) -> None:
    """Apply `--fail-under` to the models of a run, and print the result.

    Raises:
        click.exceptions.Exit: with one of `EXIT_CODES`, if the gate is not passed.
    """
    if fail_under is None:
        return
    results = gate(read_run(out), fail_under, min_informative)
    for line in gate_lines(results, fail_under):
        say(line)
    if code := EXIT_CODES.get(gate_outcome(results)):
        raise click.exceptions.Exit(code)


def run_bench(
    choices: RunChoices,
    out: Path,
    engine: EvaluationEngine,
    *,
    resume: bool = False,
    brief: bool = False,
    again: str = "",
    report: Callable[[RunResults], Report] = RUN_REPORT,
    reporter: RunReporter | None = None,
) -> None:
    """Start or resume a run, and show its results.

    Args:
        out: The folder of the run.
        engine: The engine of its models and programs.
        resume: Whether to resume an existing run.
        brief: Whether the folder is temporary, so that messages do not mention it.
        again: The command that resumes the run; by default that of this folder.
        report: The report on the results.
        reporter: Prints the messages.

    Raises:
        CounterlensError: the run cannot continue; the hint says how to resume it.
        click.exceptions.Exit: the user cancelled, or items failed.
    """
    reporter, sandbox = reporter or TerminalReporter(), engine.sandbox
    again = again or f"counterlens bench --resume --out {out}"
    resumed = "--out FOLDER stores the run" if brief else f"resume with: {again}"
    early = None
    if not Store.begun(out):
        early = _plan(choices.settings(out), sandbox, reporter)  # no folder yet
        _start(engine, reporter)
    with Store.create(out) as store:
        kept = store.settings
        if kept is not None and not resume:
            raise holds_one(store)
        plan = early
        if plan is None:
            plan = _plan(choices.settings(out, kept), sandbox, reporter)
            _start(engine, reporter)
        chosen = plan.settings.settings_file
        if chosen is not None and kept is None:
            reporter.note(f"from {chosen.name}: {', '.join(name.replace('_', '-') for name in chosen.chose)}")
        run = (Run.begin if kept is None else Run.resume)(store, plan, engine)
        for lost in store.lost:
            reporter.note(f"damaged, and repeated: {lost}")
        done, counted = store.done, _count(plan, reporter)
        cancel, left = Event(), _time_left(plan, done, counted)
        reporter.planned(_facts(plan, counted, left, done), begins=True)
        try:
            with reporter.show_progress(len(plan.items), len(done), left.seconds) as (advance, notice):
                ended = run.go(cancel, advance, notice, left)
        except (KeyboardInterrupt, Cancelled):
            cancel.set()
            reporter.note(f"{_stopped('stopped', store)}; {resumed}")
            raise click.exceptions.Exit(INTERRUPTED) from None
        except CounterlensError as error:
            hint = _stopped(f"{error.hint}; stopped" if error.hint else "stopped", store)
            raise CounterlensError(error.message, f"{hint}; {resumed}") from error
        finally:
            note_rates(plan.settings, left)
    _finish(out, ended, reporter, report, None if brief else again)


def _start(engine: EvaluationEngine, reporter: RunReporter) -> None:
    """Start the engine; if it cannot start, no run is begun."""
    with reporter.steps("starting the engine", total_known=False):
        _ = engine.programs


def _plan(settings: RunSettings, sandbox: Sandbox, reporter: RunReporter) -> Plan:
    if any(PROBES[task].runs_programs for task in settings.tasks):
        require_trusted(*repository_in(settings.data))
    with reporter.steps("reading the data", total_known=True) as report:
        return make_plan(settings, sandbox, report)


def _count(plan: Plan, reporter: RunReporter) -> dict[str, PromptCounts]:
    with reporter.steps("counting the prompts", total_known=False):
        return {task: counted_prompts(plan, task) for task in plan.targets}


def _time_left(plan: Plan, done: Collection[int], counted: Mapping[str, PromptCounts]) -> TimeLeft:
    prompts = {task: counted[task].of_each(functions) for task, functions in plan.targets.items()}
    minutes = plan.settings.minutes
    return TimeLeft(
        [item for item in plan.items if item.position not in done],
        prompts,
        rates=known_rates(plan.settings),
        most=None if minutes is None else 60 * minutes,
    )


def _finish(
    out: Path,
    ended: Ended,
    reporter: RunReporter,
    report: Callable[[RunResults], Report],
    again: str | None,
) -> None:
    """Show the results, and what is missing; `again` resumes a run that is kept."""

    def show() -> None:
        print_report(terminal.render(report(read_run(out))))
        if again:
            say(f"counterlens report {out} shows the pairs; --format html, markdown and others", err=True)

    reporter.ended(show, ended.done, ended.total)
    for remark in filter(None, (ended.apart, ended.unmeasured)):
        reporter.note(remark)
    if ended.over:
        more = f"continue with a larger --max-cost: {again}" if again else "a larger --max-cost goes further"
        reporter.note(f"{ended.over}, {ended.done} of {ended.total} done; {more}")
    if ended.failed:
        for name, error in ended.failed.items():
            reporter.note(f"{name} failed: {error}", colour="red")
        reporter.note(f"to repeat them: {again}" if again else "--out FOLDER stores the run")
        raise click.exceptions.Exit(1)


def _stopped(what: str, store: Store) -> str:
    """The progress of a stopped run."""
    return f"{what}, {len(store.done)} of {len(store.items)} done"
