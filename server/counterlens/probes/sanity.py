"""The check that comes before figures: the same question gets the same answer."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TypeVar

from counterlens.errors import UnsteadyModelError

Answer = TypeVar("Answer")


def require_repeatable(
    model: str,
    does: str,
    first: Answer,
    ask: Callable[[], Answer],
    *,
    same: Callable[[Answer, Answer], bool] = operator.eq,
) -> None:
    """Ask again, and refuse figures where the answer differs.

    Args:
        model: The model's name.
        does: What it does, such as `answer the same question`.
        first: Its first answer.
        ask: Asks the same once more, without the cache (`Context.anew`).
        same: Whether two answers are the same.

    Raises:
        UnsteadyModelError: the second answer is another one.
        And what `ask` raises.
    """
    if not same(first, ask()):
        raise UnsteadyModelError(
            f"{model} does not {does} the same way twice",
            "Figures would be meaningless: use a model at temperature 0",
        )
