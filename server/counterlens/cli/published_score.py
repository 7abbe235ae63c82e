"""`counterlens score --protocol`: the functions of files, with a published protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from counterlens.cli.measuring import functions_of, measure, unscored
from counterlens.cli.options import ChosenModel, print_json, print_report
from counterlens.cli.saying import say
from counterlens.errors import SourceError
from counterlens.evaluation.causal import TASK
from counterlens.probes.options import make
from counterlens.probes.registry import PROBES
from counterlens.reports.build.probe_run import probe_report
from counterlens.reports.export.json import probe_document
from counterlens.reports.render import terminal


def score_by_protocol(
    paths: Sequence[Path], model: ChosenModel, given: Mapping[str, Any], *, as_json: bool
) -> None:
    """Score the functions of some files with a protocol, and show its tables.

    Args:
        paths: Files and folders.
        model: The model.
        given: Options of the probe `confidence`.
        as_json: Whether to print one JSON document.

    Raises:
        OptionError: an option contradicts the protocol.
        SourceError: no function could be scored.
    """
    options = make(PROBES[TASK].options, given)
    left_out: dict[str, str] = {}
    chosen = list(functions_of(paths, left_out))
    with model.opened() as loaded:
        measured = measure(loaded, chosen, options)
    left_out |= unscored(measured)
    run = replace(measured, records=measured.probed)
    if not run.records:
        name, reason = next(iter(left_out.items()), ("these", "they have no functions"))
        raise SourceError(f"no function is scored; {name}: {reason}")
    if as_json:
        print_json(probe_document(run) | {"not_scored": left_out})
        return
    print_report(terminal.render(probe_report(run, "functions")))
    for name, reason in left_out.items():
        say(f"not scored: {name}: {reason}")
