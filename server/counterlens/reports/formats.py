"""Every format of results, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from counterlens.errors import DataError
from counterlens.evaluation.results import RunResults
from counterlens.probes.record import SCHEMA
from counterlens.probes.runner import ProbeRun
from counterlens.reports.build.evaluation import evaluation_report, runs_report
from counterlens.reports.build.probe_run import probe_report, several_report
from counterlens.reports.document import Report
from counterlens.reports.export.csv import as_csv
from counterlens.reports.export.json import probe_document
from counterlens.reports.export.verdicts import github, sarif
from counterlens.reports.export.view import Exported, export_runs, exported_run, run_document, runs_document
from counterlens.reports.render import html, latex, markdown, terminal
from counterlens.text import json_text

_RENDERED: dict[str, Callable[[Report], str]] = {
    "text": terminal.plain,
    "html": html.page,
    "markdown": markdown.render,
    "latex": latex.render,
}
_EXPORTED: dict[str, Callable[[Exported], str]] = {
    "csv": as_csv,
    "sarif": sarif,
    "github": github,
}
FORMATS = (*_RENDERED, "json", *_EXPORTED)
"""The names, in the order in which they are offered."""


def write_probes(form: str, runs: Sequence[ProbeRun], title: str, about: str) -> str:
    """Write the results of probes in a format.

    Args:
        form: One of `FORMATS`.
        runs: The probes; a single one has a separate report.
        title: The probed functions.
        about: Its path, and the model.

    Raises:
        DataError: the format cannot contain several probes.
    """
    if form == "json":
        return _json(probes_document(runs, title, about))
    if form in _EXPORTED:
        return _EXPORTED[form](export_runs(runs, title))
    single = len(runs) == 1
    return _RENDERED[form](probe_report(runs[0], title) if single else several_report(title, about, runs))


def write_evaluation(form: str, results: RunResults, sizes: Mapping[str, int] | None = None) -> str:
    """Write the results of a run, finished or not, in a format.

    Args:
        form: One of `FORMATS`.
        sizes: Numbers of parameters given by the user, by model.

    Raises:
        DataError: the format cannot contain several tasks.
    """
    if form == "json":
        return _json(run_document(results))
    if form in _EXPORTED:
        return _EXPORTED[form](exported_run(results))
    return _RENDERED[form](evaluation_report(results, brief=form == "text", sizes=sizes))


def write_runs(form: str, runs: Mapping[str, RunResults], sizes: Mapping[str, int] | None = None) -> str:
    """Write the results of several runs, by name, in a format.

    Args:
        form: One of `FORMATS`.
        sizes: Numbers of parameters given by the user, by model.

    Raises:
        DataError: the format contains single records, not tables.
    """
    if form == "json":
        return _json(runs_document(runs, sizes))
    if form in _EXPORTED:
        raise DataError(f"{form} takes one run", f"For several runs, use {', '.join(_RENDERED)} and json")
    return _RENDERED[form](runs_report(runs, sizes))


def probes_document(runs: Sequence[ProbeRun], title: str, about: str) -> dict[str, Any]:
    """One or more probes as plain data: the document of a single one, or a list of all of them."""
    if len(runs) == 1:
        return probe_document(runs[0])
    documents = [probe_document(run) for run in runs]
    return {"schema": SCHEMA, "title": title, "about": about, "probes": documents}


def _json(document: Any) -> str:
    return json_text(document) + "\n"
