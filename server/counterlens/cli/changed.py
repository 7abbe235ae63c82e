"""`counterlens changed`: what a commit or a pull request changes, probed; for hooks and for CI."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from counterlens.cli.bench import BenchChoices, run_bench
from counterlens.cli.options import sandbox_option, strong_sandbox
from counterlens.cli.probe_options import probe_options
from counterlens.cli.saying import say
from counterlens.datasets.repository import NothingChosenError
from counterlens.evaluation.engines.local import LocalEngine
from counterlens.evaluation.plan import absolute
from counterlens.evaluation.results import RunResults
from counterlens.models.registry import DEFAULT_MODEL
from counterlens.reports.export.annotations import annotated
from counterlens.reports.export.run import exported_run


@click.command()
@click.argument("files", nargs=-1, metavar="[FILES]...")
@click.option("--since", default="HEAD", show_default=True, metavar="REV", help="What to compare with.")
@click.option("--repository", default=".", show_default=True, metavar="PATH", help="The folder of the code.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Keep the run in this folder.")
@click.option(
    "--model",
    "-m",
    "models",
    multiple=True,
    default=(DEFAULT_MODEL,),
    show_default=True,
    metavar="M",
    help="Model to evaluate (repeatable).",
)
@click.option("--base-url", metavar="URL", help="Where a remote model is served.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Most functions.")
@probe_options
@click.option("--github", is_flag=True, help="Annotate the lines on GitHub (workflow commands).")
@click.option("--strict", is_flag=True, help="Exit with 1 where a right verdict was lost.")
@sandbox_option
def changed(
    files: tuple[str, ...],
    since: str,
    repository: str,
    out: Path | None,
    models: tuple[str, ...],
    base_url: str | None,
    limit: int | None,
    given: dict[str, Any],
    github: bool,
    strict: bool,
) -> None:
    """Probe the functions that differ from a revision, and name the lines where a model is easily misled.

    FILES limit it to these. Where no function with tests has changed there is nothing to ask, and that is no
    error. What is said concerns the model: look twice at what it suggests at these lines.
    """
    choices = BenchChoices(
        {
            "tasks": ("completion",),
            "data": absolute(f"repo:{repository}"),
            "models": models,
            "limit": limit,
            "since": since,
            "paths": files,
            "base_url": base_url,
        },
        set(),
        given,
    )
    with ExitStack() as stack:
        folder = out or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="counterlens-"))) / "run"
        try:
            run_bench(choices, folder, LocalEngine(strong_sandbox()), brief=out is None)
        except NothingChosenError as error:
            say(f"nothing to ask: {error.message}")
            return
        lost = list(annotated(exported_run(RunResults.read(folder))))
    for annotation in lost:
        say(annotation.workflow_command if github else str(annotation))
    if strict and lost:
        raise click.exceptions.Exit(1)
