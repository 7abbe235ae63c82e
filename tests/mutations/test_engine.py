"""The library's own interface: what a caller gets, and what happens with odd sources."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace

import pytest

from counterlens.errors import CounterlensError, SourceError
from counterlens.mutations import Concept, apply_everywhere, counterfactuals, refusals, survey
from counterlens.python.mutations.if_else_flip import IfElseFlip
from counterlens.python.mutations.language import MUTATIONS

RUNS = '''\
import math


class Runs:
    def longest(self, numbers):
        """The longest run of equal numbers.

        More words.
        """
        best = 0
        current = 0
        last = None
        for number in numbers:
            if number == last:
                current += 1
            else:
                current = 1
            last = number
            if current > best:
                best = current
        return best


def area(r):
    if r < 0:
        raise ValueError
    return math.pi * r * r
'''


def test_a_counterfactual_says_everything_about_itself() -> None:
    flip, _ = counterfactuals(RUNS, mutations=["if-else-flip"], seed=3)
    assert (flip.mutation, flip.concept, flip.preserving) == ("if-else-flip", Concept.CONTROL_FLOW, True)
    assert (flip.function, flip.start_line, flip.end_line) == ("Runs.longest", 14, 17)
    assert flip.seed == 3
    assert flip.assumptions == ("eq-ne-consistent",)
    assert flip.cut is not None
    assert RUNS.encode()[: flip.cut.original].endswith(b"if number == last:\n")
    assert flip.source.encode()[: flip.cut.mutated].endswith(b"if number != last:\n")


def test_the_cut_of_a_guard_is_where_what_follows_begins() -> None:
    (flip,) = counterfactuals(RUNS, mutations=["if-else-flip"], function="area")
    assert flip.cut is not None
    assert RUNS.encode()[flip.cut.original :].startswith(b"        raise ValueError\n")
    assert flip.source.encode()[: flip.cut.mutated].endswith(b"def area(r):\n    if r >= 0:\n")
    assert flip.source.endswith("        return math.pi * r * r\n    else:\n        raise ValueError\n")


def test_the_cut_of_the_others_is_the_trailing_quarter() -> None:
    (rename,) = counterfactuals(RUNS, mutations=["rename-generic"], function="Runs.longest")
    assert rename.cut is not None
    kept = RUNS.encode()[: rename.cut.original].decode()
    # Twelve lines of code follow the docstring; nine of them stay.
    assert kept.splitlines()[-1] == "            last = number"
    assert len(rename.source.encode()[: rename.cut.mutated].decode().splitlines()) == len(kept.splitlines())
    (earlier,) = counterfactuals(
        RUNS, mutations=["rename-generic"], function="Runs.longest", prefix_ratio=0.3
    )
    assert earlier.cut is not None
    assert earlier.cut.original < rename.cut.original


@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.5, 0.75, 0.9, 1.0])
def test_every_cut_is_at_a_statement_and_behind_the_docstring(ratio: float) -> None:
    lines = RUNS.encode().splitlines(keepends=True)
    starts = {sum(map(len, lines[:n])) for n in range(len(lines))}
    statements = {node.lineno for node in ast.walk(ast.parse(RUNS)) if isinstance(node, ast.stmt)}
    usual = counterfactuals(RUNS, prefix_ratio=ratio)
    every = survey(RUNS, prefix_ratio=ratio, every_cut=True).counterfactuals
    assert [replace(pair, other_cuts=()) for pair in every] == usual
    for pair in every:
        cuts = [cut for cut in (pair.cut, *pair.other_cuts) if cut is not None]
        assert len({cut.original for cut in cuts}) == len(cuts)
        for cut in cuts:
            assert cut.original in starts
            line = RUNS.encode()[: cut.original].count(b"\n") + 1
            assert line in statements
            assert RUNS.encode()[: cut.original] != pair.source.encode()[: cut.mutated]


def test_other_cuts_are_nearest_first_and_of_a_swap_also_between_its_statements() -> None:
    text = "def f(n):\n    low = 0\n    high = n\n    mid = g(low)\n    return mid, high\n"
    swap, *_ = survey(text, mutations=["independent-swap"], every_cut=True).counterfactuals
    assert swap.cut is not None
    assert [text[cut.original :].split()[0] for cut in (swap.cut, *swap.other_cuts)] == [
        "return",
        "mid",
        "high",
    ]
    between = swap.other_cuts[-1]
    assert swap.source[: between.mutated] == "def f(n):\n    high = n\n"
    flip = "def f(n):\n    if n > 1:\n        m = 2\n    else:\n        m = n\n    return m\n"
    (said,) = survey(flip, mutations=["if-else-flip"], every_cut=True).counterfactuals
    assert said.cut is not None
    assert said.other_cuts == ()  # its mutation says where


def test_only_a_function() -> None:
    found = survey(RUNS, function="area")
    assert {pair.function for pair in found.counterfactuals} == {"area"}
    assert {refusal.function for refusal in found.refusals} == {"area"}
    with pytest.raises(SourceError, match=r"Runs\.longest, area"):
        survey(RUNS, function="perimeter")


def test_an_unknown_mutation_names_those_there_are() -> None:
    with pytest.raises(CounterlensError, match="rename-random"):
        counterfactuals(RUNS, mutations=["rename"])


def test_a_mutation_of_ones_own() -> None:
    pair, _ = counterfactuals(RUNS, mutations=[IfElseFlip("not")])
    assert "if not (number == last):" in pair.source
    assert not pair.assumptions


def test_refusals_say_where_and_why() -> None:
    (refusal,) = refusals("x = 1\ndef f():\n    if a:\n        pass\n", mutations=["if-else-flip"])
    assert (refusal.mutation, refusal.function, refusal.line) == ("if-else-flip", "f", 3)
    assert "else" in refusal.reason


@pytest.mark.parametrize("name", MUTATIONS)
def test_the_same_seed_gives_the_same(name: str) -> None:
    assert survey(RUNS, mutations=[name], seed=1) == survey(RUNS, mutations=[name], seed=1)


def test_another_seed_gives_other_names_and_an_edit_elsewhere_does_not() -> None:
    def renamed(source: str, seed: int) -> str:
        (found,) = counterfactuals(source, mutations=["rename-random"], function="Runs.longest", seed=seed)
        return found.description

    assert renamed(RUNS, 1) != renamed(RUNS, 2)
    assert renamed(RUNS, 1) == renamed("def before():\n    x = 1\n    return x\n\n" + RUNS, 1)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(:\n    pass\n", "line 1"),
        ("x = 1\nif x:\npass\n", "line 3"),
        ("x = '\ud800'\n", "valid Unicode"),
        ("x = 'open\n", "line 1"),
    ],
)
def test_a_source_that_does_not_parse(source: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        counterfactuals(source)


@pytest.mark.parametrize("source", ["", "\n", "\r\n", "# only a comment", "\f\n", "x", "x\r"])
@pytest.mark.parametrize("name", MUTATIONS)
def test_where_nothing_applies_nothing_changes(name: str, source: str) -> None:
    assert apply_everywhere(source, name) == source


ODD = (
    "def f(a,\tb) :\f\n\tif a  <  b :  # \U0001f600 é\n\t\tx = 'ü\\\n'\n"
    "\telse :\n\n\t\tx = 2 ;\n\n\treturn  x"
)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("ending", ["", "\n", "\n\n   \n# end"])
def test_everything_else_survives_byte_for_byte(newline: str, ending: str) -> None:
    source = (ODD + ending).replace("\n", newline)
    flipped = "\tif a  >=  b :\n\n\t\tx = 2 ;\n\telse :  # \U0001f600 é\n\t\tx = 'ü\\\n'\n"
    start, end = ODD.index("\tif a"), ODD.index("\n\treturn")
    expected = (ODD[:start] + flipped + ODD[end:] + ending).replace("\n", newline)
    assert apply_everywhere(source, "if-else-flip") == expected
    for name in MUTATIONS:
        for pair in counterfactuals(source, mutations=[name]):
            ast.parse(pair.source)
            before, after = source.encode(), pair.source.encode()
            at = moved = 0
            for change in pair.changes:
                assert before[at : change.original[0]] == after[moved : change.mutated[0]]
                at, moved = change.original[1], change.mutated[1]
            assert before[at:] == after[moved:]


def test_a_blank_that_the_parser_forgets() -> None:
    source = "try:\n    pass\nexcept (A, B) :\n    if a:\n        b\n    else:\n        c\n"
    assert apply_everywhere(source, "negate-condition") == source.replace("if a", "if not a")


def test_a_very_long_expression() -> None:
    parts = 1200 if sys.version_info < (3, 12) else 600  # newer ones bound recursion through C
    source = f"def f(a):\n    if a:\n        x = {' + '.join(['1'] * parts)}\n    else:\n        x = 0\n"
    assert apply_everywhere(source, "if-else-flip").startswith("def f(a):\n    if not a:\n        x = 0\n")
