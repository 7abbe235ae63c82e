"""The figure that docs/adding-a-figure.md declares works as the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from counterlens.metrics.figures import GroupedFigure
from counterlens.probes.prompts.closed_task import ClosedAnswer, ClosedRecord

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-figure.md"


def answer(truth: str, given: str) -> ClosedAnswer:
    """An answer to a question with two candidates."""
    candidates = ("no", "in part")
    return ClosedAnswer(
        asked="it",
        question="Is it?",
        candidates=candidates,
        truth=truth,
        said=given,
        answer=given,
        logprobs=(),
    )


def test_the_figure_of_the_guide_groups_the_answers() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    space: dict[str, Any] = {"__name__": "guide"}
    exec(code, space)  # noqa: S102
    figure: GroupedFigure[ClosedRecord, ClosedAnswer] = space["BY_LENGTH"]
    answers = (answer("no", "no"), answer("in part", "no"), answer("no", "in part"))
    table = figure.table([ClosedRecord(target="f", answers=answers)], seed=0)
    assert table.columns == ("true answer", "n", "right")
    shares = [(group, n, share.value) for group, n, share in table.rows]  # type: ignore[union-attr]
    assert shares == [("one word", 2, 0.5), ("several words", 1, 0.0)]
