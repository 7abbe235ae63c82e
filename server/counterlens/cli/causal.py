"""`counterlens causal`: the effect of confidence in a concept on a model's cross-entropy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.text import Text

from counterlens.cli.measuring import functions_of, measure, unscored_functions
from counterlens.cli.options import (
    MODEL_OPTIONS,
    ChosenModel,
    cache_option,
    json_option,
    model_options,
    print_json,
    print_report,
    refuse_given,
)
from counterlens.cli.probe import Subject
from counterlens.cli.probe_options import options_of
from counterlens.cli.progress_lines import steps
from counterlens.cli.runs import read_run
from counterlens.cli.saying import say
from counterlens.evaluation.causal import TASK, Absent, absent_of, confidence_records
from counterlens.evaluation.causal_results import CausalResults, estimate, keep
from counterlens.metrics.causal import SIMULATIONS, require_dowhy
from counterlens.metrics.table import Table
from counterlens.probes.confidence import ConfidenceRecord
from counterlens.probes.options import make
from counterlens.probes.registry import PROBES
from counterlens.reports.export.json import table_json
from counterlens.reports.render.terminal import FittedTable
from counterlens.text import printable

_PROBE = PROBES[TASK]


@click.command()
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, metavar="[PATH...]")
@click.option("--data", metavar="NAME_OR_PATH", help="The functions of a dataset.")
@click.option(
    "--run",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Reuse the scores of a `bench --task confidence` run.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Sample size; --seed draws the sample.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed for samples and intervals.")
@click.option(
    "--simulations",
    type=click.IntRange(1, 1000),
    default=SIMULATIONS,
    show_default=True,
    help="Repetitions of each refutation test.",
)
@click.option(
    "--absent",
    type=click.Choice([member.value for member in Absent]),
    help="Functions that lack a concept: count their confidence in it as zero (zero), or leave them out of "
    "that concept (drop).  [default: drop; zero by --protocol astxplainer]",
)
@options_of(TASK, "protocol", "concepts", "no_context")
@model_options
@cache_option
@json_option
def causal(
    paths: tuple[Path, ...],
    data: str | None,
    folder: Path | None,
    limit: int | None,
    seed: int,
    simulations: int,
    absent: str | None,
    given: dict[str, Any],
    model: ChosenModel,
    as_json: bool,
) -> None:
    """Estimate the causal effect of confidence in a concept on cross-entropy, with confounders controlled.

    The functions are those of Python files and folders (PATH), of a dataset (--data), or of a run (--run).
    docs/causal.md explains the assumptions of the figures, and their limits.
    """
    if (bool(paths), data is not None, folder is not None).count(True) != 1:
        raise click.UsageError("give one of PATH, --data or --run")
    if given and folder is not None:
        raise click.UsageError("the options of a run belong to its bench command: give them there")
    if folder is not None:
        refuse_given(MODEL_OPTIONS, "not with --run, which has the scores of its own models")
    if data is None:
        refuse_given(("limit",), "only with --data")
    options, filled = make(_PROBE.options, {"seed": seed, **given}), Absent(absent) if absent else None
    absent_of(options.chosen_protocol, filled)
    require_dowhy()
    left_out: dict[str, str] = {}
    run = read_run(folder) if folder is not None else None
    records: Mapping[str, list[ConfidenceRecord]]
    if run is not None:
        records = confidence_records(run)
    else:
        chosen = (
            list(functions_of(paths, left_out))
            if paths
            else Subject("", data, limit).targets(_PROBE, options)
        )
        with model.opened() as loaded:
            run_of = measure(loaded, chosen, options)
            records = {
                loaded.info.name: [record for record in run_of.probed if isinstance(record, ConfidenceRecord)]
            }
            left_out |= unscored_functions(run_of)
    with steps("estimating") as report:
        estimated = estimate(records, seed=seed, simulations=simulations, absent=filled, progress=report)
    if as_json:
        print_json(_json(estimated, left_out))
    else:
        print_report(Group(*_report(estimated, left_out)))
    if folder is not None and run is not None:
        where = f"stored: counterlens report {folder} shows them in every format"
        say(where if keep(folder, run, estimated) else f"not stored: {folder} is read-only", err=True)


def _report(estimated: CausalResults, left_out: Mapping[str, str]) -> Iterator[RenderableType]:
    for table in _tables(estimated):
        yield Text(table.title, style="bold")
        yield FittedTable(table)
        yield Text(table.note + "\n", style="dim")
    for name, reason in list(left_out.items())[:8]:
        yield Text(printable(f"left out: {name}: {reason}", keep=""))
    if len(left_out) > 8:
        yield Text(f"… and {len(left_out) - 8} more")


def _json(estimated: CausalResults, left_out: Mapping[str, str]) -> dict[str, Any]:
    return {
        "seed": estimated.seed,
        "simulations": estimated.simulations,
        "protocol": estimated.protocol,
        "absent": estimated.absent,
        "models": {
            model: {
                "effects": [asdict(effect) for effect in effects],
                "tables": [
                    table_json(table) for table in _tables(replace(estimated, effects={model: effects}))
                ],
            }
            for model, effects in estimated.effects.items()
        },
        "left_out": dict(left_out),
    }


def _tables(estimated: CausalResults) -> list[Table]:
    """Tables per model, as a terminal has no room for two side by side."""
    return estimated.tables(side_by_side=False)
