"""Records of probes with their origin, the input of every exporter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from counterlens.probes.pairs.phrases import noisy_verdict
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.record import Record
from counterlens.probes.runner import ProbeRun


@dataclass(frozen=True, slots=True)
class ExportedRecord:
    """The result of one probe on one function.

    Attributes:
        position: Its position among all records, from 0.
        model: The model, as the user named it.
        probe: The id of the probe.
        target: The function's name in the dataset, or `FILE::QUALNAME`.
        function: Its qualified name.
        file: Its path; for a dataset, the name of the problem.
    """

    position: int
    model: str
    probe: str
    target: str
    function: str
    file: str
    record: Record

    @property
    def noise(self) -> str:
        """Why its pairs show nothing: placebos change the verdict, too; empty if they do not."""
        return noisy_verdict(self.record) if isinstance(self.record, PairsRecord) else ""


@dataclass(frozen=True, slots=True)
class Exported:
    """Records in order.

    Attributes:
        title: The probed functions.
        before: The prefix that makes a file's path relative to the root of the working tree; None if the
            records are not of files.
        finished: Whether the records are complete.
        probes: The ids of the probes, in order.
    """

    title: str
    records: tuple[ExportedRecord, ...]
    before: str | None = None
    finished: bool = True
    probes: tuple[str, ...] = field(default=())


def export_runs(runs: Sequence[ProbeRun], title: str) -> Exported:
    """The records of some probes of one model.

    Args:
        title: The probed functions.
    """
    records = [(run, record) for run in runs for record in run.records]
    return Exported(
        title,
        tuple(
            ExportedRecord(
                position=position,
                model=record.model,
                probe=run.probe.id,
                target=record.target,
                function=record.function,
                file=record.target.partition("::")[0],
                record=record,
            )
            for position, (run, record) in enumerate(records)
        ),
        before=in_working_tree(Path()) if any("::" in record.target for _, record in records) else None,
        probes=tuple(run.probe.id for run in runs),
    )


def in_working_tree(folder: Path) -> str:
    """The prefix that makes a path below a folder relative to the root of the working tree."""
    whole = folder.resolve()
    for root in (whole, *whole.parents):
        if (root / ".git").exists():
            inside = whole.relative_to(root).as_posix()
            return "" if inside == "." else f"{inside}/"
    return ""
