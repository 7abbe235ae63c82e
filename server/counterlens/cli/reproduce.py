"""`counterlens reproduce`: the runs that a table of a paper needs, and its figures over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from counterlens.cli.bench import run_bench, show_plan
from counterlens.cli.lazy import BriefCommand
from counterlens.cli.options import print_report, refuse_given
from counterlens.cli.run_choices import RunChoices, engine_of, run_options
from counterlens.cli.runs import read_run
from counterlens.cli.saying import say
from counterlens.datasets.registry import LOADERS, open_dataset
from counterlens.errors import DataError
from counterlens.evaluation.papers import paper_tables
from counterlens.evaluation.reproducing import EXPERIMENTS, experiment_of, pool_runs
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.store import Store
from counterlens.probes.protocols import PROTOCOLS
from counterlens.reports.build.evaluation import evaluation_report, runs_report
from counterlens.reports.build.run_wording import progress_of, title
from counterlens.reports.document import Paragraph, Report, TableBlock
from counterlens.reports.render import terminal

_USUAL = {
    "Table": ("table", "data", "add-mutation", "limit", "minutes"),
    "Runs": ("out", "plan"),
    "Models": ("model", "base-url", "api"),
    "Permissions": ("allow-weaker-sandbox",),
}


@click.command(cls=BriefCommand, usual=_USUAL)
@click.argument("paper", type=click.Choice(list(EXPERIMENTS)))
@click.option("--table", metavar="TABLE", help="A table of the paper; default: its main ones.")
@click.option(
    "--data",
    "named",
    multiple=True,
    metavar="NAME_OR_PATH",
    help="Only this dataset of the table, or a file of it (repeatable).",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder for the runs, one for each dataset; required, except with --plan.",
)
@run_options
@click.pass_context
def reproduce(
    context: click.Context,
    /,
    given: dict[str, Any],
    paper: str,
    table: str | None,
    named: tuple[str, ...],
    out: Path | None,
    only_plan: bool,
    **_: Any,
) -> None:
    """Ask what a table of a PAPER needs, on all of its data, and show the table for your models.

    PAPER is a protocol: cacp (Hooda et al. 2024), astxplainer (Palacio et al. 2023), codemind (Liu et al.
    2024), operators (Ahmed et al. 2024), empica (Nguyen et al. 2024), core (Xie et al. 2025) or
    reasoning-robustness (Orvalho and Kwiatkowska 2026); reference asks for the usual scores of
    benchmarks. The same command goes on after an interruption. --add-mutation has columns beside those of
    the paper.

    Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted.
    """
    refuse_given(("tasks", "protocol", "paths"), "not with reproduce: the paper chooses")
    refuse_given(("mutations",), "not with reproduce: the paper chooses; --add-mutation asks about more")
    refuse_given(("fail_under", "min_informative"), "not with reproduce, which has no gate")
    experiment = experiment_of(paper, table)
    datasets = tuple(dict.fromkeys(named or experiment.data))
    populations = experiment.groups_of(_formats(datasets))
    asked = {**given, **experiment.options, "protocol": paper}
    choices = [RunChoices.of(context, asked, data=data, tasks=experiment.tasks) for data in datasets]
    tables = f" (tables {', '.join(experiment.tables)})" if experiment.tables else ""
    say(f"{PROTOCOLS[paper].paper}, {experiment.about}{tables}: {', '.join(datasets)}", err=True)
    if only_plan:
        for each in choices:
            show_plan(each)
        return
    if out is None:
        raise click.UsageError(f"give the folder of the runs: --out DIR, such as --out runs/{paper}")
    folders = _folders(datasets, out)
    engine = context.with_resource(engine_of(context))
    for each, folder in zip(choices, folders.values(), strict=True):
        resume, again = Store.begun(folder), "the same command"
        run_bench(each, folder, engine, resume=resume, again=again, report=_in_a_line)
    shown = _side_by_side(populations, folders)
    printed = paper_tables(paper, experiment.tables if table is None else [table.upper()])
    print_report(terminal.render(replace(shown, blocks=(*shown.blocks, *map(TableBlock.of, printed)))))
    for population in populations:
        of = " ".join(str(folders[data]) for data in population)
        if len(population) > 1:
            say(f"counterlens report --pool {of} shows their pairs together", err=True)


def _side_by_side(populations: Sequence[Sequence[str]], folders: Mapping[str, Path]) -> Report:
    """The tables of runs, in which the functions of a population are one row.

    Args:
        folders: The folder of the run on each dataset.
    """
    runs = {
        " and ".join(folders[data].name for data in population): pool_runs(
            [read_run(folders[data]) for data in population]
        )
        for population in populations
    }
    return evaluation_report(*runs.values(), brief=True) if len(runs) == 1 else runs_report(runs)


def _folders(datasets: Sequence[str], out: Path) -> dict[str, Path]:
    """The folder of the run on each dataset.

    Raises:
        click.UsageError: two would be the same.
    """
    names = {data: _folder_name(data) for data in datasets}
    for name in names.values():
        alike = [data for data in datasets if names[data] == name]
        if len(alike) > 1:
            raise click.UsageError(
                f"{' and '.join(alike)} have the same name, so both runs would be in {out / name}: "
                "rename one of the files, or ask about them in two commands with different folders --out"
            )
    return {data: out / name for data, name in names.items()}


def _formats(names: Sequence[str]) -> dict[str, set[str]]:
    """The ids of the datasets that each is, or is a part or a variant of; all must be there.

    Raises:
        DataError: some are not.
    """
    formats, missing = dict[str, set[str]](), dict[str, DataError]()
    for name in names:
        try:
            loader = open_dataset(name).loader
        except DataError as error:
            missing[name] = error
        else:
            formats[name] = {loader.id, *filter(None, (loader.family, loader.whole))}
    if not missing:
        return formats
    there = [name for name in names if name not in missing]
    commands = [f"`counterlens data get {name}`" for name in missing if name in LOADERS]
    advice = [f"Get it with {' and '.join(commands)}", "name its file with --data PATH"] if commands else []
    if there:
        advice.append(f"ask about the rest with {' '.join(f'--data {name}' for name in there)}")
    why = "; ".join(error.message for error in missing.values())
    raise DataError(f"data of the table is missing: {why}", ", or ".join(advice) or None)


def _folder_name(data: str) -> str:
    """The name of the folder of a run: that of the dataset, or of its file."""
    name, colon, path = data.partition(":")
    return name if colon and name in LOADERS else Path(path or data).name.partition(".")[0]


def _in_a_line(results: RunResults) -> Report:
    return Report(title(results), (Paragraph(f"{title(results)}: {progress_of(results)}"),))
