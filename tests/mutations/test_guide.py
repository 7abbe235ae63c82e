"""The mutation that docs/adding-a-mutation.md builds works as the page says."""

from __future__ import annotations

import re
from pathlib import Path

from counterlens.mutations import Mutation, apply_everywhere, refusals

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-mutation.md"


def test_the_example_of_the_guide_works() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    space: dict[str, object] = {"__name__": "guide"}
    exec(code, space)  # noqa: S102
    kind = space["DoubleNegation"]
    assert isinstance(kind, type)
    assert issubclass(kind, Mutation)
    mutation = kind()
    first, second = mutation.EXAMPLES
    assert apply_everywhere(first.before, mutation) == first.after
    assert [refusal.reason for refusal in refusals(second.before, mutations=[mutation])]
