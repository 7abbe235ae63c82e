"""The check before figures: a repeated question gets the same answer."""

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
    """Ask again, and refuse figures if the answer differs.

    Args:
        model: The model's name.
        does: The model's task for the message, such as `answer the same question`.
        first: Its first answer.
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
