"""The check before figures: a repeated question gets the same answer. A model that is exact is not asked.

A function whose repeated question gets another answer is left out. Its model keeps its other functions, up to
a limit: if a share r of the answers changes by itself, up to a share 2 r of comparisons between two answers
changes without any mutation. Above `LIMIT`, that is as large as the effects to be measured.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from counterlens.errors import UnsteadyModelError
from counterlens.metrics.effects import Proportion, wilson
from counterlens.models.base import Capability, Model
from counterlens.probes.record import Outcome, Record

Answer = TypeVar("Answer")

LIMIT: Final = 0.1
"""Largest share of functions with unsteady answers; exceeded if the 95 % interval lies above it."""
FEWEST: Final = 3
"""Minimum number of such functions before the limit applies: one or two of the first few show no rate."""


def require_repeatable(model: Model, does: str, first: Answer, ask: Callable[[], Answer]) -> None:
    """Ask again for completions, unless the model was seen to be exact, and leave out unsteady ones.

    Args:
        model: The model.
        does, first, ask: As `require_same`.

    Raises:
        As `require_same`.
    """
    if repeats(model):
        require_same(model.info.name, does, first, ask)


def repeats(model: Model) -> int:
    """Number of questions that `require_repeatable` repeats, for estimates."""
    return 0 if model.offers(Capability.EXACT) else 1


def require_same(
    model: str,
    does: str,
    first: Answer,
    ask: Callable[[], Answer],
    *,
    same: Callable[[Answer, Answer], bool] = operator.eq,
) -> None:
    """Ask again, and leave the function out if the answer differs.

    Args:
        model: The model's name.
        does: The model's task for the message, such as `answer the same question`.
        ask: Asks the same question again, without the cache (`Context.uncached`).
        same: Compares two answers.

    Raises:
        UnsteadyModelError: the second answer differs.
        And any error of `ask`.
    """
    if not same(first, ask()):
        raise UnsteadyModelError(
            f"{model} does not {does} the same way twice",
            "Figures would be meaningless: use a model at temperature 0",
        )


def unsteady_share(records: Sequence[Record]) -> Proportion:
    """The share of functions whose repeated question got another answer.

    Args:
        records: Records of one model and one task.
    """
    asked = [record for record in records if record.asked]
    return wilson(sum(record.outcome is Outcome.UNSTEADY for record in asked), len(asked))


def require_steady(records: Sequence[Record], *, ended: bool = False) -> None:
    """Refuse figures if too many answers of one model in one task are unsteady.

    Args:
        records: Records of that model and task so far.
        ended: Whether there will be no more of them.

    Raises:
        UnsteadyModelError: they certainly exceed `LIMIT`, or all are unsteady in the end.
    """
    share = unsteady_share(records)
    everything = ended and share.count == share.n > 0
    if not everything and (share.count < FEWEST or share.low is None or share.low <= LIMIT):
        return
    first = next(record for record in records if record.outcome is Outcome.UNSTEADY)
    many = f": {share.count} of {share.n} functions changed their answer" if share.n > 1 else ""
    raise UnsteadyModelError(f"{first.reason}{many}", first.hint or None)
