"""`counterlens data`: find and check benchmark data."""

from __future__ import annotations

from pathlib import Path

import click

from counterlens.cli.options import (
    json_option,
    sandbox_option,
    show,
    strong_sandbox,
)
from counterlens.cli.progress_lines import steps
from counterlens.datasets import LOADERS, Dataset
from counterlens.datasets.checking import Check, Runner, check
from counterlens.datasets.hub import bring
from counterlens.datasets.registry import (
    absolute,
    downloads,
    find,
    installed_data,
    open_dataset,
    repository_in,
)
from counterlens.errors import DataError
from counterlens.reports.build.data import checks_report, data_report
from counterlens.reports.export.json import check_json, listing_json, provenance_json


@click.group()
def data() -> None:
    """List and check benchmark data."""


@data.command("list")
@click.argument("path", required=False)
@json_option
def list_data(path: str | None, as_json: bool) -> None:
    """List data in PATH, or in installed packages, COUNTERLENS_DATA and the user's data folder."""
    datasets = find(_existing(path)) if path is not None else installed_data()
    with steps("reading", total_known=True) as report:
        provenances, broken = [], []
        for i, dataset in enumerate(datasets):
            report(str(dataset.path), i, len(datasets))
            try:
                provenances.append(dataset.provenance)
            except DataError as error:
                broken.append((dataset.path, error.message))
    shown = data_report(provenances, broken, everywhere=path is None)
    show(shown, lambda: listing_json(provenances, broken), as_json=as_json)


@data.command("check")
@click.argument("specs", metavar="NAME_OR_PATH...", nargs=-1, required=True)
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="Only the first N problems of each dataset."
)
@click.option("--run", is_flag=True, help="Also run each solution's own tests, in the sandbox.")
@sandbox_option
@json_option
def check_data(specs: tuple[str, ...], limit: int | None, run: bool, as_json: bool) -> None:
    """Check that every record can be read and every reference solution parses (with --run, passes its tests).

    The exit code is 1 if one does not.
    """
    places = [place for spec in specs for place in repository_in(absolute(spec))]
    runner = Runner(strong_sandbox(*places)) if run else None
    checks: list[Check] = []
    with steps("reading", total_known=True) as report:
        checks += [
            check(dataset, run=runner.check if runner else None, limit=limit, progress=report)
            for spec in specs
            for dataset in _datasets(spec)
        ]
    show(checks_report(checks), lambda: [check_json(outcome) for outcome in checks], as_json=as_json)
    if any(outcome.faults for outcome in checks):
        raise click.exceptions.Exit(1)


@data.command("get")
@click.argument("name", type=click.Choice([loader.id for loader in LOADERS.values() if loader.hub]))
@click.option(
    "--to", type=click.Path(path_type=Path), help="Target folder; by default the user's data folder."
)
@json_option
def get_data(name: str, to: Path | None, as_json: bool) -> None:
    """Download a dataset from the Hugging Face hub; --data NAME finds it afterwards."""
    with steps(f"downloading {name}", total_known=False):
        dataset = open_dataset(f"{name}:{bring(LOADERS[name], to or downloads())}")
        origin = dataset.provenance
    report = data_report([origin], [], everywhere=False)
    show(report, lambda: provenance_json(origin), as_json=as_json)


def _datasets(spec: str) -> list[Dataset]:
    """The dataset with a name or path, or those in a folder of several."""
    path = Path(spec).expanduser()
    inside = find(path) if path.is_dir() else []
    return inside if len(inside) > 1 else [open_dataset(spec)]


def _existing(path: str) -> Path:
    location = Path(path).expanduser()
    if not location.exists():
        raise DataError(f"there is no file or folder {path}")
    return location
