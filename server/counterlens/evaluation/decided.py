"""Whether a run knows the main figure of a task well enough to stop (`--until-told`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from counterlens.errors import OptionError
from counterlens.evaluation.order import in_random_order
from counterlens.evaluation.settings import RunSettings
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.metrics.sequences import sequence_interval
from counterlens.probes.probe import Probe
from counterlens.probes.registry import PROBES


@dataclass(frozen=True, slots=True)
class Excess:
    """The mean of a task's main figure above what chance gives.

    Attributes:
        n: Number of functions that it is over.
        low: The lower end of its confidence sequence.
        high: The upper end.
    """

    n: int
    mean: float
    low: float
    high: float

    @property
    def decided(self) -> bool:
        """Whether the whole interval is above chance, or below it."""
        return self.low > 0 or self.high < 0


def require_excess(tasks: Iterable[str]) -> None:
    """Refuse tasks whose main figure has no chance to compare it with.

    Raises:
        OptionError: there is one.
    """
    without = [task for task in tasks if type(PROBES[task]).excess is Probe.excess]
    if without:
        able = ", ".join(
            sorted(name for name, probe in PROBES.items() if type(probe).excess is not Probe.excess)
        )
        raise OptionError(
            f"--until-told needs a figure that chance could give, which {', '.join(without)} does not have",
            f"It is for {', '.join(able)}; use --limit or --minutes",
        )


def excess_of(
    settings: RunSettings,
    model: str,
    task: str,
    items: Iterable[Item],
    records: Iterable[tuple[Item, StoredRecord]],
) -> Excess | None:
    """The main figure of one model in one task so far; None without a record that shows something about it.

    Only the functions at the beginning of the run's random order count that are all done: those that are
    quickly asked are no sample.

    Args:
        model: The model, as the user named it.
        items: All items of the plan.
        records: The finished ones.
    """
    probe, values = PROBES[task], list[float]()
    done = {item.position: stored for item, stored in records}
    own = [item for item in items if (item.model, item.task) == (model, task)]
    for item in in_random_order(own, settings):
        stored = done.get(item.position)
        if stored is None:
            break
        value = probe.excess(stored.record) if stored.record.probed else None
        if value is not None:
            values.append(value)
    if not values:
        return None
    return Excess(len(values), sum(values) / len(values), *sequence_interval(values))
