"""Placebos: Python's parser gives the same tree, and the text before the cut is another one."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterlens.datasets import open_dataset
from counterlens.mutations import apply_everywhere, counterfactuals, refusals
from counterlens.mutations.mutation import Example
from counterlens.mutations.placebos import BEHIND, placebos
from counterlens.python.mutations.language import MUTATIONS, PLACEBOS
from counterlens.python.mutations.module import Module
from counterlens.text import decode

LIBRARY = Path(ast.__file__).parent
FILES = sorted(path for path in LIBRARY.glob("*.py") if 2_000 < path.stat().st_size < 20_000)[::5]
CASES = [
    pytest.param(kind, example, id=f"{kind}-{number}")
    for kind, placebo in PLACEBOS.items()
    for number, example in enumerate(placebo.EXAMPLES)
]


@pytest.mark.parametrize(("kind", "example"), CASES)
def test_example(kind: str, example: Example) -> None:
    made = apply_everywhere(example.before, PLACEBOS[kind])
    assert made == (example.before if example.after is None else example.after)
    assert tree(made) == tree(example.before)
    reasons = [refusal.reason for refusal in refusals(example.before, mutations=[PLACEBOS[kind]])]
    assert any(example.refused in reason for reason in reasons) if example.refused else not reasons


def test_placebos_are_no_mutations_to_choose_nor_among_those_that_are_asked_by_default() -> None:
    assert not set(PLACEBOS) & set(MUTATIONS)
    made = counterfactuals('def f(a):\n    """Add."""\n    b = a  # c\n    return b\n')
    assert not {one.mutation for one in made} & set(PLACEBOS)


def tree(source: str) -> str:
    return ast.dump(ast.parse(source))


@cache
def module(path: Path) -> Module:
    return Module(decode(path.read_bytes()).text)


@cache
def problem(number: int) -> Module:
    return Module(tuple(open_dataset("humaneval"))[number].source)


@st.composite
def functions(draw: st.DrawFn) -> tuple[Module, str, list[int]]:
    """A function of the standard library or of HumanEval, and some places to cut it."""
    either = st.integers(0, 163).map(problem) | st.sampled_from(FILES).map(module)
    found = draw(either.filter(lambda one: any(len(one.lines_of(each)) > 1 for each in one.functions)))
    known = [one for one in found.functions if len(found.lines_of(one)) > 1]
    function = draw(st.sampled_from(known))
    cuts = st.sampled_from(found.lines_of(function)[1:])
    return found, function.qualname, draw(st.lists(cuts, min_size=1, max_size=4))


@settings(max_examples=40)
@given(functions(), st.integers(0, 5), st.integers(0, 3))
def test_a_placebo_has_the_same_tree_and_shows_another_text(
    chosen: tuple[Module, str, list[int]], wanted: int, seed: int
) -> None:
    source, name, cuts = chosen
    drawn = placebos(source, name, cuts, wanted, seed=seed)
    assert drawn == placebos(source, name, cuts, wanted, seed=seed)
    made = drawn.counterfactuals
    assert len(made) <= wanted
    assert len({one.source for one in made}) == len(made)
    for one in made:
        assert tree(one.source) == tree(source.source)
        assert one.cut is not None
        assert one.cut.original in cuts
        before, after = source.data[: one.cut.original], one.source.encode()[: one.cut.mutated]
        assert before.rstrip() != after.rstrip()
        assert source.data[one.cut.original :] == one.source.encode()[one.cut.mutated :]
    if len(made) < wanted:
        missing = set(PLACEBOS) - {one.mutation for one in made}
        assert {refusal.mutation for refusal in drawn.refusals} == missing
        assert all(refusal.reason for refusal in drawn.refusals)


SOURCE = '''def f(a):
    """Double and add."""
    b = 2 * a  # twice

    # one more
    b = b + 1
    return b
'''


def test_the_kinds_take_turns_and_the_seed_decides() -> None:
    cut = SOURCE.index("    return")
    drawn = [placebos(SOURCE, "f", [cut], 3, seed=seed).counterfactuals for seed in range(6)]
    assert all({one.mutation for one in made} == set(PLACEBOS) for made in drawn)
    assert len({tuple(one.source for one in made) for made in drawn}) > 1


def test_there_is_nothing_but_a_reason_where_nothing_stands_before_the_cut() -> None:
    bare = "def f(a):\n    return a\n"
    drawn = placebos(bare, "f", [bare.index("    return")], 3)
    assert not drawn.counterfactuals
    assert {one.mutation: one.reason for one in drawn.refusals} == {
        "comment-move": "it has no comment that could be moved by a line",
        "blank-line": BEHIND,
        "docstring-quotes": "it has no docstring that is a single literal",
    }


@pytest.mark.parametrize(
    "docstring",
    ["'''It's \"\"\" here.'''", '"""It ends with \'"""', '"What it isn\'t."', 'r"""\\d"""', '"""\\""""'],
)
def test_quotation_marks_are_exchanged_only_where_the_text_stays(docstring: str) -> None:
    source = f"def f(a):\n    {docstring}\n    b = a\n    return b\n"
    made = counterfactuals(source, mutations=[PLACEBOS["docstring-quotes"]])
    assert all(tree(one.source) == tree(source) for one in made)
    assert len(made) == (docstring[0] == "r" or docstring == '"""\\""""')
