"""The differences of counterfactuals, which must be those of `difflib`, whatever lines repeat."""

from __future__ import annotations

import difflib
import random
import time
import tracemalloc
from pathlib import Path

import pytest

from counterlens.mutations import Concept, Counterfactual, survey
from counterlens.mutations.edits import Edit, insert, replace
from counterlens.mutations.line_differences import LineDifferences
from counterlens.reports.build.mutations import mutation_report
from counterlens.reports.export.counterfactuals import counterfactuals_json
from counterlens.syntax.document import Document
from tests.standard_library import LIBRARY


def whole(before: str, after: str) -> tuple[str, ...]:
    """The difference of whole texts, as `difflib` gives it."""
    return tuple(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]


def edited(source: str, *edits: Edit) -> Counterfactual:
    return Counterfactual(
        mutation="some",
        concept=Concept.NAMING,
        preserving=True,
        function="f",
        start_line=1,
        end_line=1,
        description="",
        original=source.encode(),
        edits=edits,
        cut=None,
        seed=0,
    )


def functions(count: int) -> str:
    """A file of functions that differ in two lines."""
    body = (
        "    for q in range(b):\n        if q < a:\n            x += q\n        else:\n            y += x\n"
    )
    return "\n\n".join(
        f"def f{i}(a, b):\n    x = {i}\n    y = a\n{body}    return x, y\n" for i in range(count)
    )


@pytest.mark.parametrize(
    ("source", "edit"),
    [
        ("", insert(0, "a\n")),
        ("a", insert(1, "\nb")),
        ("a\nb\n", replace(0, 4, "")),
        ("a\r\nb\r\n", replace(3, 4, "c")),
        ("a\x0c\nb\x1cc\n", replace(3, 4, "d")),
        ("ä\n" * 300, replace(300, 302, "ö")),
        ("a\n" * 300, replace(300, 302, "")),
        ("a\nb\nc\n" * 100, insert(300, "b\nc\na\n")),
        ("".join(f"{i}\n\n" for i in range(200)), replace(400, 404, "\n\n\n")),
    ],
)
def test_a_difference_is_that_of_the_whole_texts(source: str, edit: Edit) -> None:
    made = edited(source, edit)
    assert LineDifferences(source).of(made) == whole(source, made.source)


@pytest.mark.parametrize("seed", range(60))
def test_it_is_so_in_texts_whose_lines_repeat(seed: int) -> None:
    """`difflib` may align a repeated line with another of the kind, and leaves frequent lines out."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    kinds, share = chance.choice([1, 3, 20, 200]), chance.choice([0, 0.05, 0.3])
    lines = [
        f"unique {i}\n" if chance.random() < share else f"line {int(kinds * chance.random() ** 2)}\n"
        for i in range(chance.choice([6, 150, 199, 200, 450]))
    ]
    source = "".join(lines)
    differences = LineDifferences(source)
    for _ in range(8):
        start = chance.randrange(len(source) + 1)
        end = min(len(source), start + chance.choice([0, 0, 8, 40]))
        text = "".join(chance.choices([*lines, "new\n", "x", "\n"], k=chance.randrange(4)))
        made = edited(source, replace(start, end, text))
        assert differences.of(made) == whole(source, made.source), (start, end, text)


@pytest.mark.parametrize("name", ["heapq", "textwrap"])
def test_it_is_so_in_the_standard_library(name: str) -> None:
    source = (LIBRARY / f"{name}.py").read_text()
    differences = LineDifferences(source)
    for made in survey(source).counterfactuals:
        assert differences.of(made) == whole(source, made.source), (made.mutation, made.start_line)


def test_many_counterfactuals_hold_no_text_of_their_own() -> None:
    """Memory grows with the file, not with its square: each of thousands would hold the whole file."""

    def used(count: int) -> int:
        source = functions(count)
        tracemalloc.start()
        try:
            made = survey(source).counterfactuals
            assert len(made) > 10 * count
            longest = max(map(len, counterfactuals_json(made)))
            assert longest < 4 * len(source)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert used(160) < 6 * used(40)


def test_the_time_for_a_file_grows_with_the_file() -> None:
    def seconds(count: int) -> float:
        document = Document(functions(count), Path("many.py"))
        made = survey(document.text).counterfactuals
        start = time.process_time()
        mutation_report(document, made, (), explain=False)
        return time.process_time() - start

    assert seconds(480) < 9 * seconds(120)
