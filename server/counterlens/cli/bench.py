"""`counterlens bench`: every function of a dataset or a repository, any number of models, resumable."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from counterlens.cli.options import (
    exact_option,
    print_report,
    require_trusted,
    sandbox_option,
    steps,
    strong_sandbox,
)
from counterlens.cli.probe_options import probe_options, task_option
from counterlens.cli.saying import say
from counterlens.errors import Cancelled, CounterlensError, DataError
from counterlens.evaluation.engines.base import EvaluationEngine
from counterlens.evaluation.engines.registry import ENGINES, LOCAL, Where
from counterlens.evaluation.plan import Plan, absolute, make_plan, repository_in
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.run import Ended, Run, holds_one
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Store
from counterlens.models.registry import DEFAULT_MODEL
from counterlens.probes.options import flag_of
from counterlens.probes.registry import PROBES
from counterlens.reports.build.evaluation import evaluation_report, plan_lines
from counterlens.reports.render import terminal
from counterlens.sandbox.base import Sandbox
from counterlens.text import printable

_EVERY_SECONDS = 15.0  # a line of progress where there is no terminal
_INTERRUPTED = 130
_ENGINE = ("engine", "address", "replicas")
_KEPT = ("tasks", "data", "models", "limit", "since", "paths", "threads", "base_url", "api", "exact")


@click.command()
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of the run.",
)
@click.option("--data", metavar="NAME_OR_PATH", help="A dataset, or repo:PATH for a repository's functions.")
@task_option(
    "tasks", help="The probe to run (repeatable).", multiple=True, default=("completion",), show_default=True
)
@click.option(
    "--model",
    "-m",
    "models",
    multiple=True,
    default=(DEFAULT_MODEL,),
    show_default=True,
    metavar="M",
    help="Model to evaluate (repeatable): smollm2-135m, a GGUF file, hf:OWNER/REPO/FILE.gguf or remote:NAME.",
)
@click.option("--base-url", metavar="URL", help="Where a remote model is served.")
@click.option(
    "--api",
    type=click.Choice(["completions", "fill", "chat"]),
    default="completions",
    show_default=True,
    help="Prompt format: plain completion, fill-in-the-middle (also shown what follows), or chat.",
)
@click.option(
    "--threads", type=click.IntRange(0), default=0, help="CPU threads for a local model (0 = auto)."
)
@exact_option
@click.option("--limit", type=click.IntRange(1), metavar="N", help="A sample of the data, drawn by --seed.")
@click.option("--since", metavar="REV", help="repo: only functions that differ from this revision of git.")
@click.option(
    "--paths", multiple=True, metavar="PATTERN", help="repo: only these files or folders (repeatable)."
)
@probe_options
@click.option("--resume", is_flag=True, help="Resume the run in DIR; its options are kept there.")
@click.option("--jobs", type=click.IntRange(1, 64), metavar="N", help="Functions in work at a time.")
@click.option(
    "--engine",
    type=click.Choice(list(ENGINES)),
    default=LOCAL,
    show_default=True,
    help="Where work is done: on this machine, or on the nodes of a Ray cluster; what comes out is the same.",
)
@click.option(
    "--address",
    metavar="HOST:PORT",
    envvar="RAY_ADDRESS",
    help="ray: the head of the cluster, or auto for the one that this machine is part of.",
)
@click.option(
    "--replicas",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="ray: of each model; one per node by default.",
)
@click.option("--plan", "only_plan", is_flag=True, help="Say what would be asked, and ask nothing.")
@sandbox_option
@click.pass_context
def bench(
    context: click.Context,
    /,
    given: dict[str, Any],
    out: Path,
    resume: bool,
    jobs: int | None,
    only_plan: bool,
    **_: Any,
) -> None:
    """Ask one or more models about every function of a dataset, or of a repository with tests.

    Results are kept in DIR at once. An interrupted run resumes with --resume, asks nothing twice, and ends
    with the same tables. `counterlens report DIR` shows them. An option that only some tasks take applies to
    these, which the plan says; one that none of the tasks takes is refused.
    """
    choices = BenchChoices.of(context, given)
    if only_plan:
        for line in _plan_lines(_plan(choices.settings(out), strong_sandbox())):
            say(line)
        return
    engine = context.with_resource(_engine(context))
    run_bench(choices, out, engine, resume=resume, jobs=jobs)


class BenchChoices:
    """The choices of the command line.

    Args:
        chosen: All, by the names of `RunSettings`.
        explicit: The names of those that were given.
        given: Values of probes' options, by their names.
    """

    def __init__(self, chosen: dict[str, Any], explicit: set[str], given: dict[str, Any]) -> None:
        self._chosen, self._explicit, self._given = chosen, explicit, given

    @classmethod
    def of(cls, context: click.Context, given: dict[str, Any]) -> BenchChoices:
        """Read the command line.

        Raises:
            click.UsageError: no data is named.
        """
        values = context.params
        chosen = {name: values[name] for name in _KEPT}
        explicit = {
            name for name in _KEPT if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        }
        if chosen["data"] is not None:
            chosen["data"] = absolute(chosen["data"])
        elif not values["resume"]:
            raise click.UsageError(
                "name the data: --data NAME_OR_PATH, such as --data humaneval or --data repo:."
            )
        if given.get("corpus"):
            given = given | {"corpus": absolute(given["corpus"])}
        return cls(chosen, explicit, given)

    def settings(self, out: Path, kept: RunSettings | None = None) -> RunSettings:
        """What was kept, where a run is resumed; options that are given beside it must say the same.

        Raises:
            DataError: they do not, or there is nothing to resume and no data is named.
            OptionError: an option is taken by none of the tasks.
        """
        if kept is None:
            if self._chosen["data"] is None:
                raise DataError(f"there is no run in {out} to resume", "Start one with --data NAME_OR_PATH")
            return RunSettings.of(given=self._given, **self._chosen)
        differing = [
            f"--{name.replace('_', '-')} was {getattr(kept, name)!r}, now {self._chosen[name]!r}"
            for name in self._explicit
            if getattr(kept, name) != self._chosen[name]
        ]
        again = RunSettings.of(kept.tasks, kept.data, self._given)
        for name in self._given:
            for task, options in kept.options.items():
                if name in options and options[name] != again.options[task][name]:
                    flag = flag_of(PROBES.values(), name)
                    differing.append(f"{flag} was {options[name]!r}, now {again.options[task][name]!r}")
                    break
        if differing:
            raise DataError(
                f"the run in {out} was begun with other options: {'; '.join(differing)}",
                f"--resume keeps them: counterlens bench --resume --out {out}; or choose another folder",
            )
        return kept


def run_bench(
    choices: BenchChoices,
    out: Path,
    engine: EvaluationEngine,
    *,
    resume: bool = False,
    jobs: int | None = None,
    brief: bool = False,
) -> None:
    """Begin or resume a run, and show what it found.

    Args:
        choices: What to ask.
        out: The folder.
        engine: Where its models answer and its programs run.
        resume: Whether a run that is there is resumed.
        jobs: Functions in work at a time; None for as many as the engine has work for.
        brief: Whether the folder does not outlive the command, so that nothing is said about it.

    Raises:
        CounterlensError: the run cannot go on; the hint says how to resume it.
        click.exceptions.Exit: the user ended it, or items failed.
    """
    sandbox = engine.sandbox
    early = None if Store.begun(out) else _plan(choices.settings(out), sandbox)  # no folder yet
    with Store.create(out) as store:
        kept = store.settings
        if kept is not None and not resume:
            raise holds_one(store)
        plan = early or _plan(choices.settings(out, kept), sandbox)
        with steps("starting the engine", total_known=False):
            room = engine.jobs  # where it cannot start, no run is begun
        run = (Run.begin if kept is None else Run.resume)(store, plan, engine)
        for lost in store.lost:
            say(f"damaged, and made anew: {lost}", err=True)
        done = len(store.done)
        for line in _plan_lines(plan, done):
            say(line, err=True)
        cancel = Event()
        try:
            with _progress(len(plan.items), done) as advance:
                ended = run.go(cancel, advance, jobs or room)
        except (KeyboardInterrupt, Cancelled):
            cancel.set()
            say(_resume_with("stopped", store), err=True)
            raise click.exceptions.Exit(_INTERRUPTED) from None
        except CounterlensError as error:
            hint = _resume_with(f"{error.hint}; stopped" if error.hint else "stopped", store)
            raise CounterlensError(error.message, hint) from error
    _finish(out, ended, brief=brief)


def _engine(context: click.Context) -> EvaluationEngine:
    """Where the work is done, as the options say.

    Raises:
        click.UsageError: an option is given that this engine does not have.
    """
    name, address, replicas = (context.params[option] for option in _ENGINE)
    given = {one for one in _ENGINE if context.get_parameter_source(one) is ParameterSource.COMMANDLINE}
    if name == LOCAL and given & {"address", "replicas"}:
        raise click.UsageError("--address and --replicas are of a cluster: add --engine ray")

    def warn(what: str) -> None:
        say(f"warning: {what}", err=True, colour="yellow")

    return ENGINES[name](strong_sandbox(), Where(address, replicas, warn))


def _plan(settings: RunSettings, sandbox: Sandbox) -> Plan:
    if any(PROBES[task].runs_programs for task in settings.tasks):
        require_trusted(*repository_in(settings.data))
    with steps("reading the data", total_known=True) as report:
        return make_plan(settings, sandbox, report)


def _plan_lines(plan: Plan, done: int = 0) -> list[str]:
    with steps("counting what will be asked", total_known=False):
        return plan_lines(plan, done)


def _finish(out: Path, ended: Ended, *, brief: bool) -> None:
    print_report(terminal.render(evaluation_report(RunResults.read(out), brief=True)))
    if not brief:
        say(f"counterlens report {out} shows the pairs; --format html, markdown and others", err=True)
    if ended.failed:
        for name, error in ended.failed.items():
            say(f"{name} failed: {error}", err=True, colour="red")
        say(f"try these again: counterlens bench --resume --out {out}", err=True)
        raise click.exceptions.Exit(1)


def _resume_with(what: str, store: Store) -> str:
    where, done, total = store.folder, len(store.done), len(store.items)
    return f"{what}, {done} of {total} done; resume with: counterlens bench --resume --out {where}"


@contextmanager
def _progress(total: int, done: int) -> Iterator[Callable[[int, int, str], None]]:
    """Live progress with rate and remaining time; without a terminal a line now and then."""
    console, started, last = Console(stderr=True), time.monotonic(), time.monotonic()
    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    shown = Progress(*columns, console=console, disable=not console.is_terminal, speed_estimate_period=300)
    with shown as bar:
        task = bar.add_task("loading the model", total=total, completed=done, rate="")

        def advance(now: int, of: int, name: str) -> None:
            nonlocal last
            rate = (now - done) / max(time.monotonic() - started, 1e-9) * 60
            said = f"{rate:.1f} per minute"
            bar.update(task, completed=now, rate=said, description=printable(name, keep=""))
            if not console.is_terminal and time.monotonic() - last > _EVERY_SECONDS:
                last = time.monotonic()
                left = (of - now) / rate if rate else 0.0
                say(f"{now} of {of}, {said}, about {left:.0f} min left", err=True)

        yield advance
