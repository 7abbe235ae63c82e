"""`counterlens report`, `compare`, `replay` and `export`: what is done with the results of runs."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any

import click

from counterlens.cli.options import (
    json_option,
    print_json,
    print_report,
    refuse_given,
    refuse_untaken,
    sandbox_option,
    strong_sandbox,
)
from counterlens.cli.probe_options import task_option
from counterlens.cli.progress_lines import steps
from counterlens.cli.runs import agreed_settings, read_run
from counterlens.cli.saying import say, say_document
from counterlens.datasets.registry import absolute, repository_in
from counterlens.evaluation.causal import TASK, confidence_records
from counterlens.evaluation.causal_results import (
    FILE,
    CausalResults,
    estimate,
    keep,
    stored_effects,
    with_effects,
)
from counterlens.evaluation.comparison import compare_models, compare_runs
from counterlens.evaluation.export import export as write
from counterlens.evaluation.reproducing import pool_runs
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.work import find_record
from counterlens.evaluation.work import replay as ask_again
from counterlens.models.parameters import given_count
from counterlens.reports.build.comparison import comparison_report
from counterlens.reports.build.evaluation import evaluation_report
from counterlens.reports.export.json import comparison_json
from counterlens.reports.formats import FORMATS
from counterlens.reports.render import markdown, terminal
from counterlens.reports.run_formats import write_evaluation, write_runs

_folder = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


class SizeType(click.ParamType[tuple[str, int]]):
    """A model and its number of parameters, such as `remote:big=70B`."""

    name = "size"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> tuple[str, int]:
        model, _, text = str(value).rpartition("=")
        size = given_count(text)
        if not model or size is None:
            self.fail(f"{value!r} is not MODEL=SIZE, such as remote:big=70B", parameter, context)
        return model, size


@click.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True)
@task_option(help="Only this task of a run.")
@click.option(
    "--causal",
    is_flag=True,
    help=(
        "Include the causal effects of the task confidence: stored ones, or newly estimated and stored ones."
    ),
)
@click.option(
    "--size",
    "sizes",
    multiple=True,
    type=SizeType(),
    metavar="MODEL=SIZE",
    help=(
        "Number of parameters of a model, such as remote:big=70B, if neither its file nor its name gives it "
        "(repeatable)."
    ),
)
@click.option(
    "--pool",
    is_flag=True,
    help="Several runs as one: their functions are one population, as of a paper's table.",
)
@click.option("--output", "-o", type=click.File("w", encoding="utf-8", lazy=True), help="Output file.")
def report(
    folders: tuple[Path, ...],
    form: str,
    task: str | None,
    causal: bool,
    sizes: tuple[tuple[str, int], ...],
    pool: bool,
    output: IO[str] | None,
) -> None:
    """Show the results of the run in DIR, finished or not, or of several runs in one set of tables.

    HTML is one page with plots and every pair, Markdown has the tables and every pair whose verdict changed,
    LaTeX the tables, JSON everything, CSV one line per pair; SARIF is for code scanning, github for
    annotations. Causal effects that `counterlens causal --run DIR` estimated are included.

    The tables of several runs have a column "run": as text, HTML, Markdown, LaTeX or JSON. With --pool they
    are one set of figures, for runs with the same tasks, options and models.
    """
    runs = [read_run(folder) for folder in folders]
    if task is not None:
        runs = [run.only(task) for run in runs]
    if causal and len(runs) > 1:
        raise click.UsageError("--causal takes one run")
    if pool:
        runs = [pool_runs(runs)]
    if len(runs) > 1:
        named = {str(folder): run for folder, run in zip(folders, runs, strict=True)}
        _write(write_runs(form, named, dict(sizes)), output)
        return
    (results,), folder = runs, folders[0]
    if form not in {"text", "html", "markdown", "latex"}:
        refuse_given(("sizes",), "not for this format, whose records are those of the run")
    estimated = None if pool else _effects_of(folder, results, estimate_missing=causal)
    if estimated is not None:
        results = with_effects(results, estimated, side_by_side=form != "text")
    if form == "text" and output is None:
        print_report(terminal.render(evaluation_report(results, brief=True, sizes=dict(sizes))))
        return
    _write(write_evaluation("markdown" if form == "text" else form, results, dict(sizes)), output)


def _write(text: str, output: IO[str] | None) -> None:
    if output is None:
        say_document(text)
    else:
        output.write(text)


def _effects_of(folder: Path, run: RunResults, *, estimate_missing: bool) -> CausalResults | None:
    """The stored causal effects of a run; if there are none, estimate them if requested.

    Raises:
        DataError: the run does not have the task `confidence`, or has too few functions.
        CounterlensError: DoWhy is not installed.
    """
    if TASK not in run.settings.tasks and not estimate_missing:
        return None
    functions = confidence_records(run)
    effects = stored_effects(folder, run)
    if effects is None and estimate_missing:
        with steps("estimating") as progress:
            effects = estimate(functions, seed=run.settings.seed, progress=progress)
        keep(folder, run, effects)
    elif effects is None and (folder / FILE).exists():
        say("the stored causal effects are damaged, or of other records; use --causal for new ones", err=True)
    return effects


@click.command()
@click.argument("first", metavar="DIR1", type=click.Path(path_type=Path))
@click.argument("second", metavar="[DIR2]", required=False, type=click.Path(path_type=Path))
@json_option
def compare(first: Path, second: Path | None, as_json: bool) -> None:
    """Compare the runs in DIR1 and DIR2, function by function.

    Without DIR2, the models of the run in DIR1 are compared with each other. The tests are McNemar's for
    verdicts and Wilcoxon's for scores, adjusted together (Holm).
    """
    run = read_run(first)
    runs = {"": run}
    if second is None:
        comparison = compare_models(run)
    else:
        names = str(first), str(second)
        runs = dict(zip(names, (run, read_run(second)), strict=True))
        comparison = compare_runs(run, runs[names[1]], names)
    if as_json:
        print_json(comparison_json(comparison))
    else:
        say_document(markdown.render(comparison_report(comparison, runs)))


@click.command()
@_folder
@click.argument("record", metavar="ID")
@click.option(
    "--base-url",
    metavar="URL",
    help="Address of a remote model, instead of the address in the run; needed if somebody else started it.",
)
@click.option(
    "--data",
    metavar="NAME_OR_PATH",
    help="The data, instead of the data in the run; needed if somebody else started it on a repository.",
)
@sandbox_option
@json_option
def replay(folder: Path, record: str, base_url: str | None, data: str | None, as_json: bool) -> None:
    """Probe one record of the run in DIR again, and compare the results.

    ID is the record's position, its id MODEL|TASK|PROBLEM, or the name of the problem or function if that was
    asked once. The exit code is 1 if the result differs. If somebody else started the run, the address of a
    remote model and the repository must be named here, or allowed before.
    """
    read_run(folder)
    stored = find_record(folder, record)
    settings = stored.settings
    if base_url is not None:
        refuse_untaken(["base_url"], [stored.item.model], settings.entries)
        settings = replace(settings, base_url=base_url)
    if data is not None:
        data = absolute(data)
        settings = replace(settings, data=data)
    settings = agreed_settings(settings, [stored.item.model], base_url=base_url, data=data)
    sandbox = strong_sandbox(*repository_in(settings.data))
    with steps("reading the data", total_known=True) as progress:
        comparison = ask_again(stored, settings, sandbox, progress=progress)
    if as_json:
        print_json(
            {
                "item": asdict(comparison.item),
                "same": comparison.same,
                "differences": list(comparison.differences),
                "circumstances": list(comparison.circumstances),
            }
        )
    else:
        say(f"{comparison.item.id}: {'the same' if comparison.same else 'not the same'}")
        for line in comparison.differences:
            say(f"  {line}")
        for line in comparison.circumstances:
            say(f"  changed since: {line}")
    if not comparison.same:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--output",
    "-o",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Target folder.  [default: DIR/parquet]",
)
def export(folder: Path, output: Path | None) -> None:
    """Write the records of the run in DIR as Parquet files, for DuckDB, Polars and pandas.

    records.parquet has one row per question, TASK-LIST.parquet one per pair, operator or answer, and
    manifests.parquet what the figures depend on. See docs/evaluation.md.
    """
    for path in write(read_run(folder), output or folder / "parquet"):
        say(path)
