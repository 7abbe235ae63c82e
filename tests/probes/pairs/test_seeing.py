"""Cuts behind which the tests see nothing: no completion there is judged by them."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from counterlens.attribution.base import LIMITS
from counterlens.attribution.registry import find_judge
from counterlens.probes.pairs.completion import CompletionOptions, CompletionProbe
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.pairs.seeing import emptied, unseen
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.gap import Gap
from counterlens.progress import Steps
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from tests.probes.pairs.test_completion import Scripted

CLAMPED = '''\
def clamped(value, low, high):
    """A value between two bounds.

{examples}
    """
    if low > high:
        raise ValueError("no bounds")
    if value < low:
        return low
    if value > high:
        return high
    return value
'''
BLIND = ["    >>> clamped(1, 2, 3)", "    2"]  # returns before the cut
TRUTH = ["    >>> bool(clamped(2, 1, 3))", "    True", *BLIND]  # and so would 42 be
SEEING = ["    >>> clamped(2, 1, 3)", "    2", *BLIND]


def gap_of(text: str, mark: str) -> tuple[Document, Gap]:
    document = Document(text)
    function = find_function(document, "clamped")
    return document, Gap.of(document, function, document.data.index(mark.encode()))


@pytest.mark.parametrize(
    ("examples", "with_"), [(BLIND, "nothing"), (TRUTH, "a constant"), (SEEING, None)], ids=str
)
def test_tests_see_a_cut_when_nothing_and_a_constant_fail_there(
    examples: list[str], with_: str | None
) -> None:
    document, gap = gap_of(CLAMPED.format(examples="\n".join(examples)), "    if value > high")
    function = find_function(document, "clamped")
    judge = find_judge(document, function, best_sandbox(), python=Path(sys.executable))
    reason = unseen(Judging(judge, document, function, Steps(), LIMITS), gap)
    assert (with_ is None and reason is None) or (with_ and f"with {with_} in the place" in (reason or ""))


def test_such_a_pair_is_not_asked_about_and_the_reason_is_given() -> None:
    model = Scripted(lambda _prompt: "        return value\n")
    found = {}
    for name, examples in (("blind", BLIND), ("seeing", SEEING)):
        text = CLAMPED.format(examples="\n".join(examples))
        options = CompletionOptions(prefix_ratio=0.9, placebos=0, ways=0)
        found[name] = CompletionProbe().run(
            Context(model, best_sandbox), Target(Document(text), "clamped"), options
        )
    assert found["seeing"].pairs
    assert not found["blind"].pairs
    reasons = [site.reason for site in found["blind"].refused if "could judge no completion" in site.reason]
    assert len(reasons) == len(found["seeing"].pairs)


@pytest.mark.parametrize("statement", ["pass", "return 42"])
def test_what_follows_any_cut_can_be_emptied(statement: str) -> None:
    text = '''\
def clamped(values):
    """All of them."""
    total = (1 +
             2)
    try:
        for value in values:
            if value:
                total += value
    finally:
        total -= 1
    while total > 3:
        total -= 1
    else:
        total = 0
    return total


def after():
    return 1
'''
    document = Document(text)
    function = find_function(document, "clamped")
    tried = 0
    for line, start in enumerate(text.splitlines(keepends=True)[:14]):
        if line < 2 or "2)" in start:  # no statement ends there
            continue
        offset = text.index(start)
        for cut in (offset, offset + len(start) - len(start.lstrip()) + 2):
            program = emptied(Gap.of(document, function, cut), statement)
            assert program is not None, start
            assert ast.parse(program).body[1].name == "after"  # type: ignore[attr-defined]
            assert statement in program
            tried += 1
    assert tried == 22
