"""The functions of files and folders, measured by the confidence probe, for the commands that sum them up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from counterlens.cli.options import steps
from counterlens.cli.sources import files_of
from counterlens.errors import SourceError
from counterlens.evaluation.causal import TASK
from counterlens.models import Model
from counterlens.probes.confidence import ConfidenceRecord
from counterlens.probes.options import ProbeOptions
from counterlens.probes.probe import Context, Target
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import require_one_language, run_probe
from counterlens.probes.subjects import targets_in
from counterlens.progress import Steps
from counterlens.syntax.document import Document


def functions_of(paths: Sequence[Path], left_out: dict[str, str]) -> Iterator[Target]:
    """The functions of some files, named after them.

    Args:
        paths: Files and folders.
        left_out: Gets the files without any, with the reason.
    """
    for path in files_of(paths):
        try:
            for target in targets_in(Document.read(path), root=Path.cwd()):
                yield replace(target, id=f"{path}::{target.qualname}")
        except SourceError as error:
            left_out[str(path)] = error.message


def measure(
    model: Model, chosen: Sequence[Target], options: ProbeOptions, left_out: dict[str, str]
) -> list[ConfidenceRecord]:
    """What the confidence probe finds of some functions.

    Args:
        model: Who is asked.
        chosen: The functions.
        options: Of the probe.
        left_out: Gets the functions that cannot be scored, with the reason.

    Raises:
        DataError: the functions are of several languages.
    """
    require_one_language(target.document.language for target in chosen)
    measured: list[ConfidenceRecord] = []
    with steps("scoring") as report:
        context = Context(model, steps=Steps(None, report))
        for number, target in enumerate(chosen):
            report(f"scoring {target.name}", number, len(chosen))
            record = run_probe(PROBES[TASK], context, target, options)
            if isinstance(record, ConfidenceRecord):
                measured.append(record)
            else:
                left_out[target.name] = record.reason
    return measured
