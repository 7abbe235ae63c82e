"""Dependent execution reasoning and specification reasoning, with scripted answers and the real model."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, cast

import pytest
from hypothesis import given

from counterlens.errors import CounterlensError, SourceError
from counterlens.metrics.effects import Proportion
from counterlens.metrics.table import Cell
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.execution.dependent import DependentExecutionOptions, DependentExecutionProbe
from counterlens.probes.execution.dependent_tables import common, ranks
from counterlens.probes.execution.record import DependentExecutionRecord
from counterlens.probes.execution.specification import SpecificationOptions, SpecificationProbe
from counterlens.probes.execution.translation import Specification, description, without_examples
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.function_text import hollow
from counterlens.probes.runner import run_targets
from counterlens.probes.subjects import targets_in
from counterlens.python.execution.calls import without_comments
from counterlens.python.prompts.values import equal, misleading_value
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from tests.probes.execution.asking import context, entries, probed, table
from tests.probes.execution.test_answers import VALUES

SOURCE = '''\
def double(x):
    """Give twice a number.

    >>> double(4)
    8
    >>> double(-1)
    -2
    """
    return x + x


def negative(x):
    """Tell whether a number is below zero.

    >>> negative(3)
    False
    >>> negative(-3)
    True
    """
    return x < 0


def untested(x):
    """Do nothing of note."""
    return [x]
'''


def writes(text: str) -> str:
    """`double` right and in its own way, `negative` wrong; knows what its own code gives and nothing else."""
    if text.endswith('"""\n'):
        return "    return 2 * x  # twice\n" if "def double" in text else "    return x > 0\n"
    own = "2 * x" in text
    return f" {'8' if own else 'perhaps 8'}" if text.endswith("==") else f" so\n# Answer: {8 if own else 9}"


def test_only_what_was_written_right_is_asked_about_as_own_code() -> None:
    result = probed("dependent-execution", writes, SOURCE)
    syntheses = entries(result, "syntheses")
    assert {one["target"]: one["correct"] for one in syntheses} == {
        "double": True,
        "negative": False,
    }
    assert {one["target"]: one["s_der"] for one in syntheses} == {
        "double": {"direct": 1, "steps": 1},
        "negative": {"direct": 0, "steps": 0},
    }
    own = [one for one in entries(result, "answers") if one["form"] == "own"]
    assert {(one["target"], one["outcome"]) for one in own} == {("double", "right")}
    assert result.left_out == {"it has no tests to judge an implementation": 1}
    (left_out,) = [record for record in result.records if not record.probed]
    assert (left_out.target, left_out.hint) == ("untested", "Add a doctest or a test")


def test_the_rates_of_own_and_reference_code() -> None:
    result = probed("dependent-execution", writes, SOURCE)
    written, truncated, n, der, ier, same, known = table(result, "dependent execution reasoning")["direct"]
    assert (written.count, written.n, truncated, n) == (1, 2, 0, 1)
    assert (der.count, der.n) == (1, 1)
    assert (ier.count, ier.n) == (0, 2)
    assert (same.count, same.n) == (known.count, known.n) == (0, 1)
    gained = table(result, "its own code against the reference, function by function")["direct"]
    n, reference, own, difference, *test = gained
    assert (n, reference.count, own.count, difference.value, *test) == (1, 0, 1, 1.0, 1, 0, 1.0)
    assert table(result, "unreadable answers")  # `perhaps 8`


def test_its_own_code_is_shown_without_comments_and_docstring() -> None:
    seen: list[str] = []

    def answer(text: str) -> str:
        seen.append(text)
        return writes(text)

    probed("dependent-execution", answer, SOURCE)
    own = next(text for text in seen if "2 * x" in text)
    assert "# twice" not in own
    assert "twice a number" not in own


def test_figures_of_several_models_are_of_what_all_wrote_right() -> None:
    def all_right(text: str) -> str:
        if text.endswith('"""\n'):
            return "    return 2 * x\n" if "def double" in text else "    return 0 > x\n"
        return " False"

    runs = {
        name: probed("dependent-execution", one, SOURCE) for name, one in (("a", writes), ("b", all_right))
    }
    records = {name: cast(Sequence[DependentExecutionRecord], run.probed) for name, run in runs.items()}
    rows = {row[:2]: [_counted(cell) for cell in row[2:]] for row in common(records).rows}
    assert rows["a", "direct"] == [(1, 2), 1, (1, 1), 1, (1, 1)]
    assert rows["b", "direct"] == [(2, 2), 2, (1, 2), 1, (0, 1)]
    beside = DependentExecutionProbe().side_by_side(records, seed=0)
    assert beside[-2:] == (common(records), ranks(records))
    (rates,) = [table for table in beside if table.title == "dependent execution reasoning"]
    assert [row[:2] for row in rates.rows] == [
        ("a", "direct"),
        ("a", "step by step"),
        ("b", "direct"),
        ("b", "step by step"),
    ]


def _counted(cell: Cell) -> Any:
    return (cell.count, cell.n) if isinstance(cell, Proportion) else cell


def test_where_nothing_can_be_written_it_says_why() -> None:
    def run(source: str) -> None:
        (target,) = targets_in(Document(source))
        DependentExecutionProbe().run(context(writes), target, DependentExecutionOptions())

    with pytest.raises(SourceError, match="description") as caught:
        run("def f(x):\n    return x\n")
    assert caught.value.hint is not None
    weak = 'def f(x):\n    """Say it.\n\n    >>> bool(f) or f(1)\n    True\n    """\n    return x\n'
    with pytest.raises(SourceError, match="no tests to judge"):
        run(weak)


def copies(text: str) -> str:
    """Writes the output of the test that it is shown, and nonsense where there is none."""
    shown = text.rpartition(">>> ")[2].splitlines()
    return f"    return {shown[1].strip()}\n" if ">>> " in text else "    return None\n"


def test_a_model_that_follows_any_test() -> None:
    result = probed("specification", copies, SOURCE)
    rows = table(result, "specification reasoning")
    assert {title: (row[1].count, row[1].n) for title, row in rows.items()} == {
        "no test": (0, 3),
        "with test": (3, 3),
        "misleading test": (3, 3),
    }
    ((rate, of_failed, lost, p),) = table(result, "effect of the test").values()
    assert (rate.count, rate.n, of_failed.n, lost, p) == (3, 3, 3, 0, 0.25)
    (untested,) = [one for one in entries(result, "functions") if one["target"] == "untested"]
    assert untested["input"] == "generated"


def test_a_model_that_needs_no_test_and_follows_none() -> None:
    bodies = {"double": "x + x", "negative": "x < 0", "untested": "[x]"}

    def knows(text: str) -> str:
        return next(f"    return {body}\n" for name, body in bodies.items() if f"def {name}" in text)

    result = probed("specification", knows, SOURCE)
    counts = {title: row[1].count for title, row in table(result, "specification reasoning").items()}
    assert counts == {"no test": 3, "with test": 3, "misleading test": 0}
    ((rate, of_failed, _, p),) = table(result, "effect of the test").values()
    assert (rate.count, of_failed.n, p) == (0, 0, None)


def test_no_test_is_left_in_the_specification_without_one() -> None:
    seen: list[str] = []

    def answer(text: str) -> str:
        seen.append(text)
        return "    boom(\n"

    result = probed("specification", answer, SOURCE.partition("\n\n\ndef negative")[0] + "\n")
    none, test, misleading, again = seen
    assert none == again
    assert ">>>" not in none
    assert ">>> double(4)\n    8" in test
    assert ">>> double(4)\n    -105" in misleading
    assert "return x + x" not in "".join(seen)
    assert [row[2] for row in table(result, "specification reasoning").values()] == [1, 1, 1]


def test_a_model_that_wavers_gives_no_figures() -> None:
    numbers = count()
    with pytest.raises(CounterlensError, match="twice"):
        probed("specification", lambda _: f"    return {next(numbers)}\n", SOURCE)
    with pytest.raises(CounterlensError, match="twice"):
        probed("execution", lambda _: f" {next(numbers)}", SOURCE)


@given(VALUES)
def test_a_misleading_output_is_another_one_of_the_same_class(value: Any) -> None:
    other = misleading_value(value)
    assert not equal(other, value)
    assert value is None or type(other) is type(value)
    assert equal(misleading_value(True), False)
    assert misleading_value(5) < -50


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Add.\n\n>>> f(1)\n2\n>>> f(2)\n3\n\nMind zero.", "Add.\n\nMind zero."),
        ("Add.\nExamples:\nf(1) == 2\nf(2) ➞ 3", "Add."),
        ("Add.\nf(1) => 2\nMore.", "Add.\nMore."),
        ("Add.\nFor example:\n  for 1 it is 2\n\nCalls f(x) itself.", "Add.\n\nCalls f(x) itself."),
        (">>> f(1)\n2", ""),
    ],
)
def test_examples_are_taken_out_of_a_description(text: str, kept: str) -> None:
    assert without_examples(text, "f") == kept
    assert Specification("Add.").with_example("f(1)", "2").text == "Add.\n\n>>> f(1)\n2"


def test_descriptions_come_from_the_docstring_or_the_dataset() -> None:
    document = Document("def f(x):  # of\n    # which\n    return x\n")
    function = find_function(document, "f")
    assert description(Target(document, "f"), function) is None
    assert description(Target(document, "f", description="Echo."), function) == "Echo."
    empty = hollow(document, function).text
    assert empty == "def f(x):\n    raise NotImplementedError\n"


def test_comments_are_taken_out_and_nothing_else() -> None:
    text = "def f(x):  # one\n    # two\n    return '# no' + x  # three\n"
    assert without_comments(Document(text)).text == "def f(x):\n    return '# no' + x\n"
    assert without_comments(Document("def f(:  # broken\n  '''")).text.startswith("def f(:")


def test_specification_reasoning_of_the_embedded_model(model: LlamaModel) -> None:
    source = 'def add(a, b):\n    """Return the sum.\n\n    >>> add(2, 3)\n    5\n    """\n    return a + b\n'
    result = run_targets(
        SpecificationProbe(),
        Context(model, best_sandbox),
        targets_in(Document(source)),
        SpecificationOptions(max_tokens=24),
    )
    (one,) = entries(result, "functions")
    assert one["settings"]["none"]["program"].startswith('def add(a, b):\n    """Return the sum."""\n')
    assert set(one["settings"]) == {"none", "true", "misleading"}
    assert (one["gives"], one["misleading"]) == ("5", "-102")
    for told in one["settings"].values():
        assert (told["gave"] is None) == (told["failed"] is not None)
