"""Every format of results, by name, and the results of probes in one of them."""

from __future__ import annotations

from collections.abc import Sequence
from pkgutil import resolve_name
from typing import Any

from counterlens.probes.record import SCHEMA
from counterlens.probes.runner import ProbeRun
from counterlens.reports.build.probe_run import probe_report, several_report
from counterlens.reports.document import Report
from counterlens.reports.export.json import probe_document
from counterlens.reports.export.view import Exported, export_runs
from counterlens.text import json_text

# A format is imported when it is written.
RENDERED = {
    "text": "counterlens.reports.render.terminal:plain",
    "html": "counterlens.reports.render.html:page",
    "markdown": "counterlens.reports.render.markdown:render",
    "latex": "counterlens.reports.render.latex:render",
}
"""The place of each format of reports, by its name."""
EXPORTED = {
    "csv": "counterlens.reports.export.csv:as_csv",
    "sarif": "counterlens.reports.export.verdicts:sarif",
    "github": "counterlens.reports.export.verdicts:github",
}
"""The place of each format of records, by its name."""
FORMATS = (*RENDERED, "json", *EXPORTED)
"""The names, in the order in which they are offered."""


def render(form: str, report: Report) -> str:
    """A report in a format of `RENDERED`."""
    text: str = resolve_name(RENDERED[form])(report)
    return text


def export(form: str, records: Exported) -> str:
    """Records in a format of `EXPORTED`.

    Raises:
        DataError: the format cannot contain several tasks.
    """
    text: str = resolve_name(EXPORTED[form])(records)
    return text


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
        return json_text(probes_document(runs, title, about)) + "\n"
    if form in EXPORTED:
        return export(form, export_runs(runs, title))
    single = len(runs) == 1
    return render(form, probe_report(runs[0], title) if single else several_report(title, about, runs))


def probes_document(runs: Sequence[ProbeRun], title: str, about: str) -> dict[str, Any]:
    """One or more probes as plain data: the document of a single one, or a list of all of them."""
    if len(runs) == 1:
        return probe_document(runs[0])
    documents = [probe_document(run) for run in runs]
    return {"schema": SCHEMA, "title": title, "about": about, "probes": documents}
