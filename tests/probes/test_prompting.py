"""A source cut in two comes back whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.models.base import Stop
from counterlens.probes.prompts.gap import Gap
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

SOURCE = """import os


class Box:
    def get(self, größe):
        if größe:
            return 1
        return 2

    def put(self):
        pass
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@given(st.data())
def test_filling_the_hole_with_what_was_in_it_gives_the_source_back(
    newline: str, data: st.DataObject
) -> None:
    source = SOURCE.replace("\n", newline)
    document = Document(source)
    function = find_function(document, "get")
    starts = [document.positions.line_start(line) for line in (5, 6, 7)]
    gap = Gap.of(document, function, data.draw(st.sampled_from(starts)))
    assert gap.fill(gap.removed.replace("\r\n", "\n")) == source
    assert gap.fill(gap.removed.replace("\r\n", "\n") + "\n") == source


def test_the_model_is_shown_unix_lines_and_stops_at_the_functions_end() -> None:
    document = Document(SOURCE.replace("\n", "\r\n"))
    gap = Gap.of(document, find_function(document, "get"), document.positions.line_start(5))
    prompt = gap.prompt(64)
    assert "\r" not in prompt.text
    assert prompt.stop == Stop(indent=4)
    assert prompt.text.endswith("größe):\n")


def test_a_function_at_the_end_without_a_newline_gets_one() -> None:
    document = Document("def f():\n    return 1")
    gap = Gap.of(document, find_function(document, "f"), document.positions.line_start(1))
    assert gap.fill("    return 2\n") == "def f():\n    return 2\n"


LONG = (
    '"""Doc."""\n\nimport os\n\n\n'
    + "".join(f"def other_{i}():\n    return {i}\n\n\n" for i in range(50))
    + "class Box(dict):\n    size = 1\n\n"
    + "".join(f"    def method_{i}(self):\n        return {i}\n\n" for i in range(300))
    + "    @property\n    def last(self):\n        return self.size\n"
)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_model_is_shown_the_header_and_the_definition_alone(newline: str) -> None:
    source = LONG.replace("\n", newline)
    document = Document(source)
    for name, expected in (
        ("other_7", '"""Doc."""\n\nimport os\n\n\ndef other_7():\n'),
        (
            "last",
            '"""Doc."""\n\nimport os\n\n\nclass Box(dict):\n    @property\n    def last(self):\n',
        ),
    ):
        function = find_function(document, name)
        cut = document.data.index(b"return", function.header) - (4 if name == "other_7" else 8)
        gap = Gap.of(document, function, cut)
        assert gap.shown == expected
        assert gap.fill(gap.removed.replace("\r\n", "\n")) == source


def test_a_source_without_a_header_is_shown_from_the_definition_on() -> None:
    document = Document("def f():\n    return 1\n\n\ndef g():\n    return 2\n")
    gap = Gap.of(document, find_function(document, "g"), document.data.index(b"    return 2"))
    assert gap.shown == "def g():\n"
