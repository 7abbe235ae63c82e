"""`counterlens changed`: what a commit or a pull request changes, probed; for hooks and for CI."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from counterlens.cli.asking import timeout_option
from counterlens.cli.bench import bench
from counterlens.cli.options import (
    mutation_option,
    sandbox_option,
    seed_option,
    weaker_allowed,
)
from counterlens.datasets.repository import NothingChosenError
from counterlens.evaluation.figures import Found
from counterlens.models.registry import DEFAULT_MODEL
from counterlens.reports.evaluation.annotations import annotated


@click.command()
@click.argument("files", nargs=-1, metavar="[FILES]...")
@click.option("--since", default="HEAD", show_default=True, metavar="REV", help="What to compare with.")
@click.option("--repository", default=".", show_default=True, metavar="PATH", help="The folder of the code.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Keep the run in this folder.")
@click.option("--model", "-m", default=DEFAULT_MODEL, show_default=True, metavar="M", help="Who is asked.")
@click.option("--base-url", metavar="URL", help="Where a remote model is served.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most so many functions.")
@seed_option
@mutation_option
@timeout_option
@click.option("--github", is_flag=True, help="Annotate the lines on GitHub (workflow commands).")
@click.option("--strict", is_flag=True, help="Exit with 1 where a right verdict was lost.")
@sandbox_option
def changed(
    files: Sequence[str],
    since: str,
    repository: str,
    out: Path | None,
    model: str,
    base_url: str | None,
    limit: int | None,
    seed: int,
    mutations: Sequence[str],
    timeout: float,
    github: bool,
    strict: bool,
) -> None:
    """Probe the functions that differ from a revision, and name the lines where a model is easily misled.

    FILES limit it to these. Where no function with tests has changed there is nothing to ask, and that is no
    error. What is said concerns the model: look twice at what it suggests at these lines.
    """
    with ExitStack() as stack:
        folder = out or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="counterlens-"))) / "run"
        asked = ["--data", f"repo:{repository}", "--since", since, "--out", str(folder)]
        asked += ["--model", model, "--seed", str(seed), "--timeout", str(timeout)]
        asked += [] if out else ["--brief"]
        asked += ["--allow-weaker-sandbox"] if weaker_allowed() else []
        asked += ["--base-url", base_url] if base_url else []
        asked += ["--limit", str(limit)] if limit else []
        asked += [part for file in files for part in ("--paths", file)]
        asked += [part for name in mutations for part in ("--mutation", name)]
        try:
            code = bench.main(asked, standalone_mode=False)
        except NothingChosenError as error:
            click.echo(f"nothing to ask: {error.message}")
            return
        lost = list(annotated(Found.read(folder)))
    for one in lost:
        click.echo(one.workflow_command if github else str(one))
    if code or (strict and lost):
        raise click.exceptions.Exit(code or 1)
