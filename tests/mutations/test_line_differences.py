"""The differences of counterfactuals: each is a patch, as small as that of `difflib` on the whole texts."""

from __future__ import annotations

import difflib
import re
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.mutations import Concept, Counterfactual, survey
from counterlens.mutations.edits import Edit, insert, replace
from counterlens.mutations.line_differences import line_difference
from counterlens.reports.build.mutations import mutation_report
from counterlens.reports.export.counterfactuals import counterfactuals_json
from tests.standard_library import LIBRARY


def whole(before: str, after: str) -> tuple[str, ...]:
    """The difference of whole texts, as `difflib` gives it."""
    return tuple(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]


def patched(source: str, difference: tuple[str, ...]) -> list[str]:
    """The lines of a source after a unified difference was applied to it, each line of which is checked."""
    before, after, at = source.splitlines(), list[str](), 0
    for line in difference:
        if line.startswith("@@"):
            heading = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line)
            assert heading is not None, line
            start = int(heading[1]) - (heading[2] != "0")
            after += before[at:start]
            at = start
            assert len(after) == int(heading[3]) - (heading[4] != "0")
            continue
        if line[0] in " -":
            assert before[at] == line[1:]
            at += 1
        if line[0] in " +":
            after.append(line[1:])
    return after + before[at:]


def changed(difference: tuple[str, ...]) -> int:
    return sum(line[0] in "+-" for line in difference)


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
def test_a_difference_is_a_patch(source: str, edit: Edit) -> None:
    made = edited(source, edit)
    difference = line_difference(made)
    assert patched(source, difference) == made.source.splitlines()
    assert changed(difference) <= changed(whole(source, made.source))


_LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "ä\n", "  a\r\n", "x\x0cy\n", "c"]), max_size=60)


@given(lines=_LINES, text=_LINES, data=st.data())
def test_it_is_so_in_texts_whose_lines_repeat(lines: list[str], text: list[str], data: st.DataObject) -> None:
    source = "".join(lines)
    start = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(start, len(source)))
    ends = [len(source[:at].encode()) for at in (start, end)]
    made = edited(source, replace(*ends, "".join(text)))
    assert patched(source, line_difference(made)) == made.source.splitlines()


@pytest.mark.parametrize("name", ["heapq", "textwrap"])
def test_it_is_so_in_the_standard_library(name: str) -> None:
    source = (LIBRARY / f"{name}.py").read_text()
    for made in survey(source).counterfactuals:
        difference = line_difference(made)
        assert patched(source, difference) == made.source.splitlines(), (made.mutation, made.start_line)
        assert changed(difference) <= changed(whole(source, made.source)), (made.mutation, made.start_line)


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
        made = survey(functions(count)).counterfactuals
        start = time.process_time()
        mutation_report(made, (), explain=False)
        return time.process_time() - start

    assert seconds(480) < 9 * seconds(120)
