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

from counterlens.cli.asking import task_options, timeout_option
from counterlens.cli.options import (
    mutation_option,
    prefix_ratio,
    sandbox_option,
    seed_option,
    steps,
    strong_sandbox,
    without_option,
)
from counterlens.errors import Cancelled, CounterlensError, DataError
from counterlens.evaluation.engines.base import Engine
from counterlens.evaluation.engines.registry import ENGINES, LOCAL, Where
from counterlens.evaluation.figures import Found
from counterlens.evaluation.plan import Plan, absolute, make_plan
from counterlens.evaluation.run import Ended, Run, holds_one
from counterlens.evaluation.settings import Settings
from counterlens.evaluation.store import Store
from counterlens.models.registry import DEFAULT_MODEL
from counterlens.mutations.cuts import PREFIX_RATIO
from counterlens.probes.completion import MAX_TOKENS
from counterlens.probes.pairs import Variant
from counterlens.probes.registry import BENCHABLE
from counterlens.reports.evaluation.terminal import run_report
from counterlens.reports.evaluation.wording import plan_lines
from counterlens.sandbox.base import Sandbox

_EVERY_SECONDS = 15.0  # a line of progress where there is no terminal
_INTERRUPTED = 130
_ENGINE = ("engine", "address", "replicas")
_KEPT_AS = {"model": "models", "task": "tasks"}


@click.command()
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of the run.",
)
@click.option("--data", metavar="NAME_OR_PATH", help="A dataset, or repo:PATH for a repository's functions.")
@click.option(
    "--task",
    type=click.Choice(list(BENCHABLE)),
    multiple=True,
    default=(str(Variant.COMPLETE),),
    show_default=True,
    help="What is probed (repeatable).",
)
@click.option(
    "--model",
    "-m",
    multiple=True,
    default=(DEFAULT_MODEL,),
    show_default=True,
    metavar="M",
    help="Who is asked (repeatable): smollm2-135m, a GGUF file, hf:OWNER/REPO/FILE.gguf, or remote:NAME.",
)
@click.option("--base-url", metavar="URL", help="Where a remote model is served.")
@click.option(
    "--api",
    type=click.Choice(["completions", "fill", "chat"]),
    default="completions",
    show_default=True,
    help="How models are asked.",
)
@click.option("--threads", type=click.IntRange(0), default=0, help="Threads of a local model.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="A sample of the data, drawn by --seed.")
@seed_option
@mutation_option
@without_option
@click.option("--max-tokens", type=click.IntRange(1, 4096), default=MAX_TOKENS, show_default=True)
@click.option(
    "--prefix-ratio",
    callback=prefix_ratio,
    metavar="RATIO",
    default=str(PREFIX_RATIO),
    show_default=True,
    help="Which part of a function the model is shown, or the range that it lies in.",
)
@click.option("--since", metavar="REV", help="repo: only functions that differ from this revision of git.")
@click.option(
    "--paths", multiple=True, metavar="PATTERN", help="repo: only these files or folders (repeatable)."
)
@task_options
@timeout_option
@click.option("--resume", is_flag=True, help="Go on with the run in DIR; its options are kept there.")
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
    "--replicas", type=click.IntRange(1, 1024), metavar="N", help="ray: of each model; one a node by default."
)
@click.option("--brief", is_flag=True, hidden=True)  # for a folder that does not outlive the command
@click.option("--plan", "only_plan", is_flag=True, help="Say what would be asked, and ask nothing.")
@sandbox_option
@click.pass_context
def bench(
    context: click.Context,
    /,
    out: Path,
    resume: bool,
    jobs: int | None,
    only_plan: bool,
    brief: bool,
    **_: Any,
) -> None:
    """Ask one or more models about every function of a dataset, or of a repository with tests.

    What comes out is kept in DIR at once. A run that was ended, in whatever way, goes on with --resume, asks
    nothing twice, and ends with the same tables. `counterlens report DIR` shows them.
    """
    given = _given(context)
    if only_plan:
        del given["_explicit"]
        for line in _told(_plan(Settings(**given), strong_sandbox())):
            click.echo(line)
        return
    engine = context.with_resource(_engine(context))
    sandbox = engine.sandbox
    early = None if Store.begun(out) else _plan(_settings(None, given, out), sandbox)  # no folder yet
    with Store.create(out) as store:
        kept = store.settings
        if kept is not None and not resume:
            raise holds_one(store)
        plan = early or _plan(_settings(kept, given, out), sandbox)
        with steps("starting the engine", total_known=False):
            room = engine.jobs  # where it cannot start, no run is begun
        run = (Run.begin if kept is None else Run.resume)(store, plan, engine)
        done = len(store.done)
        for line in _told(plan, done):
            click.echo(line, err=True)
        cancel = Event()
        try:
            with _progress(len(plan.items), done) as advance:
                ended = run.go(cancel, advance, jobs or room)
        except (KeyboardInterrupt, Cancelled):
            cancel.set()
            click.echo(_resume_with("stopped", store), err=True)
            raise click.exceptions.Exit(_INTERRUPTED) from None
        except CounterlensError as error:
            hint = _resume_with(f"{error.hint}; stopped" if error.hint else "stopped", store)
            raise CounterlensError(error.message, hint) from error
    _finish(out, ended, brief=brief)


def _engine(context: click.Context) -> Engine:
    """Where the work is done, as the options say.

    Raises:
        click.UsageError: an option is given that this engine does not have.
    """
    name, address, replicas = (context.params[option] for option in _ENGINE)
    given = {one for one in _ENGINE if context.get_parameter_source(one) is ParameterSource.COMMANDLINE}
    if name == LOCAL and given & {"address", "replicas"}:
        raise click.UsageError("--address and --replicas are of a cluster: add --engine ray")

    def warn(what: str) -> None:
        click.secho(f"warning: {what}", err=True, fg="yellow")

    return ENGINES[name](strong_sandbox(), Where(address, replicas, warn))


def _given(context: click.Context) -> dict[str, Any]:
    """The options of the run, as `Settings` names them."""
    values = context.params
    own = {"out", "resume", "jobs", "only_plan", "brief", "model", "task", "data", "corpus"} | {*_ENGINE}
    given = {name: value for name, value in values.items() if name not in own}
    given["models"], given["tasks"] = tuple(values["model"]), tuple(values["task"])
    if values["corpus"] is not None:
        given["corpus"] = absolute(values["corpus"])
    if values["data"] is not None:
        given["data"] = absolute(values["data"])
    elif not values["resume"]:
        raise click.UsageError(
            "name the data: --data NAME_OR_PATH, such as --data humaneval or --data repo:."
        )
    for name, value in given.items():
        given[name] = tuple(value) if isinstance(value, list) else value
    given["_explicit"] = {
        _KEPT_AS.get(name, name)
        for name in values
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    return given


def _settings(kept: Settings | None, given: dict[str, Any], out: Path) -> Settings:
    """What was kept; options that are given beside `--resume` must say the same.

    Raises:
        DataError: they do not, or there is nothing to resume and no data is named.
    """
    explicit = given.pop("_explicit", set[str]())
    if kept is None:
        if "data" not in given:
            raise DataError(f"there is no run in {out} to resume", "Start one with --data NAME_OR_PATH")
        return Settings(**given)
    asked = {name: value for name, value in given.items() if name in explicit}
    differing = [
        f"--{name.replace('_', '-')} was {getattr(kept, name)!r}, now {value!r}"
        for name, value in asked.items()
        if getattr(kept, name) != value
    ]
    if differing:
        raise DataError(
            f"the run in {out} was begun with other options: {'; '.join(differing)}",
            f"--resume keeps them: counterlens bench --resume --out {out}; or choose another folder",
        )
    return kept


def _plan(settings: Settings, sandbox: Sandbox) -> Plan:
    with steps("reading the data", total_known=True) as report:
        return make_plan(settings, sandbox, report)


def _told(plan: Plan, done: int = 0) -> list[str]:
    with steps("counting what will be asked", total_known=False):
        return plan_lines(plan, done)


def _finish(out: Path, ended: Ended, *, brief: bool) -> None:
    Console(highlight=False, width=None if Console().is_terminal else 120).print(run_report(Found.read(out)))
    if not brief:
        click.echo(f"counterlens report {out} shows the pairs; --format html, markdown and others", err=True)
    if ended.failed:
        for name, error in ended.failed.items():
            click.secho(f"{name} failed: {error}", err=True, fg="red")
        click.echo(f"try these again: counterlens bench --resume --out {out}", err=True)
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
        TextColumn("{task.description}"),
    )
    shown = Progress(*columns, console=console, disable=not console.is_terminal, speed_estimate_period=300)
    with shown as bar:
        task = bar.add_task("loading the model", total=total, completed=done, rate="")

        def advance(now: int, of: int, name: str) -> None:
            nonlocal last
            rate = (now - done) / max(time.monotonic() - started, 1e-9) * 60
            said = f"{rate:.1f} a minute"
            bar.update(task, completed=now, rate=said, description=name)
            if not console.is_terminal and time.monotonic() - last > _EVERY_SECONDS:
                last = time.monotonic()
                left = (of - now) / rate if rate else 0.0
                click.echo(f"{now} of {of}, {said}, about {left:.0f} min left", err=True)

        yield advance
