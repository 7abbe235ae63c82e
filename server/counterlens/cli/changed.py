"""`counterlens changed`: probe the changes of a commit or a pull request; for hooks and for CI."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from counterlens.cli.bench import hold_to, require_gate, run_bench, show_plan
from counterlens.cli.run_choices import RunChoices, engine_of, run_options
from counterlens.cli.runs import read_run
from counterlens.cli.saying import say
from counterlens.datasets.base import PREFIX
from counterlens.datasets.repository import NothingChosenError
from counterlens.reports.build.evaluation import changed_report
from counterlens.reports.export.runs import exported_run
from counterlens.reports.export.verdicts import annotation_commands


@click.command()
@click.argument("files", nargs=-1, metavar="[FILES]...")
@click.option(
    "--since",
    default="HEAD",
    show_default=True,
    metavar="REV",
    help="Revision to compare with; for a branch, the merge base.",
)
@click.option("--repository", default=".", show_default=True, metavar="PATH", help="Folder of the code.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Store the run in this folder.")
@click.option("--github", is_flag=True, help="Annotate the lines on GitHub (workflow commands).")
@run_options
@click.pass_context
def changed(
    context: click.Context,
    /,
    given: dict[str, Any],
    files: tuple[str, ...],
    repository: str,
    out: Path | None,
    only_plan: bool,
    fail_under: float | None,
    min_informative: int,
    github: bool,
    **_: Any,
) -> None:
    """Probe the functions that differ from a revision, on the lines that differ.

    FILES limit the functions to those files. Counterfactuals rewrite only lines that differ. The
    model gets no prompts, and the exit code is 0, if no function with tests differs. A finding concerns the
    model, not the change: add a test that detects the model's error at these lines.

    Exit codes: 0 done, 1 failed, 2 bad usage, 3 a model keeps less than --fail-under (whole interval), 4
    it has fewer informative pairs than --min-informative, 130 interrupted.
    """
    require_gate(fail_under)
    named = {"paths": files} if files else {}
    choices = RunChoices.of(context, given, data=f"{PREFIX}{repository}", **named)
    with ExitStack() as stack:
        folder = out or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="counterlens-"))) / "run"
        try:
            if only_plan:
                show_plan(choices)
                return
            engine = stack.enter_context(engine_of(context))
            run_bench(choices, folder, engine, brief=out is None, report=changed_report)
        except NothingChosenError as error:
            say(f"nothing to ask: {error.message}")
            if error.hint:
                say(f"  {error.hint}")
            return
        results = read_run(folder)
        for annotation in annotation_commands(exported_run(results)):
            say(annotation.workflow_command if github else str(annotation))
        hold_to(folder, fail_under, min_informative)
