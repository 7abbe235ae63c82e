"""Counterfactuals that are run: what holds, what breaks, what nothing tells apart."""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from counterlens.cli.main import cli
from counterlens.judging.settlement import Settled, Settlement, counts, settle
from counterlens.mutations import counterfactuals
from counterlens.mutations.edits import Edit
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

SOURCE = textwrap.dedent('''
    import random

    def sign(n: int) -> int:
        """Of a number.

        >>> sign(3)
        1
        """
        if n < 0:
            return -1
        else:
            return 1

    def same(n: int) -> int:
        if n > 3:
            return n
        else:
            return +n

    def roll(n: int) -> int:
        if n > 3:
            return random.randint(0, n)
        else:
            return 0

    def outer(values: list[int]) -> list[int]:
        def double(n):
            if n > 0:
                return 2 * n
            else:
                return n
        return [double(value) for value in values]
''')


@pytest.fixture(scope="module")
def settled() -> list[Settled]:
    document = Document(SOURCE)
    found = list(counterfactuals(SOURCE, mutations=["if-else-flip", "negate-condition"]))
    return settle(document, found, best_sandbox())


def of(settled: list[Settled], mutation: str, function: str) -> Settled:
    (found,) = [
        one for one in settled
        if one.counterfactual.mutation == mutation and one.counterfactual.function == function
    ]  # fmt: skip
    return found


def test_what_keeps_the_meaning_holds(settled: list[Settled]) -> None:
    one = of(settled, "if-else-flip", "sign")
    assert one.finding is Settlement.HOLDS
    assert one.reason.startswith("run, passes 1 doctest and equal on ")
    assert "2 of 2 branches" in one.reason


def test_what_breaks_the_meaning_is_found_to(settled: list[Settled]) -> None:
    one = of(settled, "negate-condition", "sign")
    assert one.finding is Settlement.BREAKS
    assert "sign(3)" in one.reason
    assert not one.counterfactual.possibly_equivalent


def test_what_nothing_tells_apart_is_possibly_equivalent(settled: list[Settled]) -> None:
    one = of(settled, "negate-condition", "same")
    assert one.finding is Settlement.POSSIBLY_EQUIVALENT
    assert one.counterfactual.possibly_equivalent
    assert re.fullmatch(r"run, equal on \d+ inputs, which reach 2 of 2 branches of the original", one.reason)


def test_a_function_inside_of_another_is_judged_by_what_that_one_does(settled: list[Settled]) -> None:
    one = of(settled, "negate-condition", "outer.double")
    assert one.finding is Settlement.BREAKS
    assert "outer([1])" in one.reason


def test_what_cannot_be_judged_stays_unsettled_and_says_why(settled: list[Settled]) -> None:
    one = of(settled, "negate-condition", "roll")
    assert one.finding is Settlement.UNSETTLED
    assert one.reason.startswith("not run: ")
    assert "different results for the same input" in one.reason
    assert sum(counts(settled).values()) == len(settled)


def test_a_preserving_one_that_is_wrong_is_discarded() -> None:
    found = next(iter(counterfactuals(SOURCE, mutations=["if-else-flip"], function="sign")))
    text = found.source.replace("return -1", "return -2")
    wrong = replace(found, edits=(Edit(0, len(found.original), (text,)),))
    assert wrong.source == text != found.source
    (one,) = settle(Document(SOURCE), [wrong], best_sandbox())
    assert one.finding is Settlement.DISCARDED
    assert one.verdict is not None
    assert one.verdict.evidence.failed == "sign(-1)"


def test_the_command_line_says_what_was_found(tmp_path: Path) -> None:
    path = tmp_path / "numbers.py"
    path.write_text(SOURCE)
    arguments = ["mutate", f"{path}::same", "--mutation", "negate-condition", "--settle"]
    shown = CliRunner().invoke(cli, arguments)
    assert "possibly equivalent" in shown.output
    assert "1 counterfactual: 1 possibly equivalent." in shown.output
    assert "not run" in CliRunner().invoke(cli, arguments[:-1]).output
    (one,) = json.loads(CliRunner().invoke(cli, [*arguments[:-1], "--json"]).output)
    assert one["run"] is False
    (one,) = json.loads(CliRunner().invoke(cli, [*arguments, "--json"]).output)
    assert one["run"] is True
    assert one["possibly_equivalent"] is True
    assert one["settled"]["attribution"] == "differential"
