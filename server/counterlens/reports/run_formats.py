"""The results of runs of many functions in every format."""

from __future__ import annotations

from collections.abc import Mapping

from counterlens.errors import DataError
from counterlens.evaluation.results import RunResults
from counterlens.reports.build.evaluation import evaluation_report, runs_report
from counterlens.reports.export.runs import exported_run, run_document, runs_document
from counterlens.reports.formats import EXPORTED, RENDERED, export, render
from counterlens.text import json_text


def write_evaluation(form: str, results: RunResults, sizes: Mapping[str, int] | None = None) -> str:
    """Write the results of a run, finished or not, in a format.

    Args:
        form: One of `FORMATS`.
        sizes: Numbers of parameters given by the user, by model.

    Raises:
        DataError: the format cannot contain several tasks.
    """
    if form == "json":
        return json_text(run_document(results)) + "\n"
    if form in EXPORTED:
        return export(form, exported_run(results))
    return render(form, evaluation_report(results, brief=form == "text", sizes=sizes))


def write_runs(form: str, runs: Mapping[str, RunResults], sizes: Mapping[str, int] | None = None) -> str:
    """Write the results of several runs, by name, in a format.

    Args:
        form: One of `FORMATS`.
        sizes: Numbers of parameters given by the user, by model.

    Raises:
        DataError: the format contains single records, not tables.
    """
    if form == "json":
        return json_text(runs_document(runs, sizes)) + "\n"
    if form in EXPORTED:
        raise DataError(f"{form} takes one run", f"For several runs, use {', '.join(RENDERED)} and json")
    return render(form, runs_report(runs, sizes))
