"""The substitution of operators."""

from __future__ import annotations

import pytest

from counterlens.probes.operator.forms import SwapForm
from counterlens.probes.operator.pairs import CHANGES, pairings
from counterlens.syntax.document import Document

SOURCE = """\
def f(items, wanted):
    low = 0
    count = len(items) - 1
    if low < count and count:
        count += 1
    if (low + 1) == wanted:
        low = 2
    else:
        low = 3
    return low <= wanted
"""


def by_row(source: str) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in CHANGES}
    for pair in pairings(Document(source), "f").pairs:
        found[pair.change].append((pair.original.site.operator, pair.transformed.site.operator))
    return found


def test_operators_are_followed_through_every_change() -> None:
    found = by_row(SOURCE)
    swapped = [("<", ">"), ("==", "=="), ("<=", ">=")]
    assert found["operand-swap"] == found["renamed operand-swap"] == swapped
    assert found["block-swap"] == found["renamed block-swap"] == [("==", "!=")]
    assert found["refactored block-swap"] == [("==", "!=")]
    everything = ["-", "<", "and", "+=", "+", "==", "<="]
    assert found["rename"] == [(name, name) for name in everything]
    assert found["refactor"] == [(name, name) for name in ("<", "and", "+", "==")]


def test_pairs_are_the_same_operation_in_another_shape() -> None:
    for pair in pairings(Document(SOURCE), "f").pairs:
        before, after = pair.original.site.text, pair.transformed.site.text
        if pair.change == "operand-swap":
            left, right = before.split(f" {pair.original.site.operator} ")
            assert after == f"{right} {pair.transformed.site.operator} {left}"
        elif pair.change in {"block-swap", "refactored block-swap"}:
            assert (before, after) == ("(low + 1) == wanted", "(low + 1) != wanted")
        elif pair.change == "refactor":
            assert before == after


def test_nested_comparisons_are_not_mixed_up() -> None:
    source = "def f(a, b):\n    return (a < b) == (b > 3)\n"
    found = by_row(source)["operand-swap"]
    assert sorted(found) == [("<", ">"), ("==", "=="), (">", "<")]
    texts = {p.original.site.text: p.transformed.site.text for p in pairings(Document(source), "f").pairs}
    assert texts["(a < b) == (b > 3)"] == "(b > 3) == (a < b)"


def test_what_is_left_out_has_a_reason() -> None:
    source = "def f(a):\n    if a:\n        return 1\n    else:\n        return 0 < a < 2\n"
    found = pairings(Document(source), "f")
    assert found.pairs == ()
    reasons = found.left_out
    assert reasons["operand-swap"]["a chain of comparisons evaluates its operands in order"] == 1
    assert reasons["block-swap"]["its condition is not a single comparison"] == 1
    assert any("no variables" in reason for reason in reasons["rename"])


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_line_ends_and_wide_characters_move_nothing(newline: str) -> None:
    source = ("# żółw 🐢\n" + SOURCE).replace("\n", newline)
    assert by_row(source) == by_row(SOURCE)


def test_other_languages_are_left_out_with_the_reason() -> None:
    document = Document("class A { int f(int a) { return a + 1; } }", language="java")
    found = pairings(document, "A.f")
    assert found.left_out["operand-swap"].total() == 1


JAVA = """\
class A {
    int f(int[] items, int wanted) {
        int low = 0;
        int count = items.length - 1;
        if (low < count && g(count)) {
            count += 1;
        }
        if ((low + 1) == wanted) {
            low = 2;
        } else {
            low = 3;
        }
        if (low > 3) {
            low = 4;
        } else if (low != wanted) {
            low = 5;
        } else {
            low = 6;
        }
        while (g(low) < wanted) {
            low++;
        }
        return low <= wanted ? 1 : 2;
    }
}
"""


def test_operators_of_java_are_followed_and_told_apart() -> None:
    pairs = pairings(Document(JAVA, language="java"), "A.f").pairs
    found: dict[str, list[tuple[str, str, str | None, bool]]] = {name: [] for name in CHANGES}
    for pair in pairs:
        sites = pair.original.site.operator, pair.transformed.site.operator
        found[pair.change].append((*sites, pair.form, pair.published))
    swapped = [
        ("<", ">", SwapForm.CONDITION, True),
        ("==", "==", SwapForm.CONDITION, True),
        (">", "<", SwapForm.CONDITION, True),
        ("!=", "!=", SwapForm.CONDITION, True),
        ("<", ">", SwapForm.CALLS, False),
        ("<=", ">=", SwapForm.ELSEWHERE, False),
    ]
    assert sorted(found["operand-swap"]) == sorted(swapped)
    assert sorted(found["block-swap"]) == [
        ("!=", "==", SwapForm.ELIF, False),
        ("==", "!=", SwapForm.IF_ELSE, True),
        (">", "<=", SwapForm.ELIF, False),
    ]
    assert {before for before, *_ in found["rename"]} == {"-", "<", "&&", "+=", "+", "==", ">", "!=", "<="}
    assert ("<", "<", None, False) in found["refactor"]
