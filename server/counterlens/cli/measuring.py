"""Functions of files and folders, measured by the confidence probe, for commands that aggregate them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from counterlens.cli.progress_lines import steps
from counterlens.cli.sources import files_of
from counterlens.errors import SourceError
from counterlens.evaluation.causal import TASK
from counterlens.models import Model
from counterlens.probes.options import ProbeOptions
from counterlens.probes.probe import Context, Target
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import ProbeRun, run_targets
from counterlens.probes.subjects import targets_in
from counterlens.progress import Steps
from counterlens.syntax.document import Document


def functions_of(paths: Sequence[Path], left_out: dict[str, str]) -> Iterator[Target]:
    """The functions of some files, with names that begin with the file.

    Args:
        paths: Files and folders.
        left_out: Filled with the files without functions, and the reasons.
    """
    for path in files_of(paths):
        try:
            for target in targets_in(Document.read(path), root=Path.cwd()):
                yield replace(target, id=f"{path}::{target.qualname}")
        except SourceError as error:
            left_out[str(path)] = error.message


def measure(model: Model, chosen: Sequence[Target], options: ProbeOptions) -> ProbeRun:
    """Run the confidence probe on some functions.

    Raises:
        ModelError: the model returns no token probabilities.
        DataError: the functions are of several languages.
    """
    with steps("scoring") as report:
        return run_targets(PROBES[TASK], Context(model, steps=Steps(None, report)), chosen, options)


def unscored_functions(run: ProbeRun) -> dict[str, str]:
    """The functions that could not be scored, with the reasons."""
    return {record.target: record.reason for record in run.records if not record.probed}
