"""Every form that results can be written in, by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from counterlens.probes.record import SCHEMA
from counterlens.probes.runner import ProbeRun
from counterlens.reports.build.probe_run import probe_report
from counterlens.reports.build.several import several_report
from counterlens.reports.document import Report
from counterlens.reports.export.annotations import github
from counterlens.reports.export.csv import as_csv
from counterlens.reports.export.json import probe_document
from counterlens.reports.export.junit import junit
from counterlens.reports.export.sarif import sarif
from counterlens.reports.export.view import Exported, exported
from counterlens.reports.render import html, latex, markdown, terminal

_RENDERED: dict[str, Callable[[Report], str]] = {
    "text": terminal.plain,
    "html": html.page,
    "markdown": markdown.render,
    "latex": latex.render,
}
_EXPORTED: dict[str, Callable[[Exported], str]] = {
    "csv": as_csv,
    "sarif": sarif,
    "junit": junit,
    "github": github,
}
FORMATS = (*_RENDERED, "json", *_EXPORTED)
"""The names, in the order in which they are offered."""


def write_probes(
    form: str, runs: Sequence[ProbeRun], subject: str, about: str, *, path: str | None = None
) -> str:
    """What one or more probes found, in a form.

    Args:
        form: One of `FORMATS`.
        runs: The probes; one alone has a report of its own.
        subject: What was probed, as the user named it.
        about: Where it is, and who was asked.
        path: The file that the functions stand in; None for those of a dataset.

    Raises:
        DataError: the form cannot hold several probes.
    """
    if form == "json":
        return written_json(probes_document(runs, subject, about))
    if form in _EXPORTED:
        return _EXPORTED[form](exported(runs, subject, path))
    return _RENDERED[form](probes_report(runs, subject, about, path=path))


def probes_report(runs: Sequence[ProbeRun], subject: str, about: str, *, path: str | None = None) -> Report:
    """The report on one or more probes; arguments as of `write_probes`."""
    if len(runs) == 1:
        return probe_report(runs[0], subject, path=path)
    return several_report(subject, about, runs, path=path)


def probes_document(runs: Sequence[ProbeRun], subject: str, about: str) -> dict[str, Any]:
    """The same as plain data: of one probe its document, of several all of them."""
    if len(runs) == 1:
        return probe_document(runs[0])
    documents = [probe_document(run) for run in runs]
    return {"schema": SCHEMA, "title": subject, "about": about, "probes": documents}


def written_json(document: Any) -> str:
    """Plain data as it is printed."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
