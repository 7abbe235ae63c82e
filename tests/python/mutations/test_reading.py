"""Sources that are nested so deep that a parser in machine code would end the process."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import typing
from pathlib import Path
from types import ModuleType

import pytest
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

from counterlens.errors import SourceError
from counterlens.python.mutations.reading import parse, spans
from counterlens.syntax.tree import deep_recursion

LONG = 1200 if sys.version_info < (3, 12) else 600
"""Parts of an expression: from Python 3.12 on, recursion through C has a bound that no program can raise."""
DEEP = {
    "parentheses": "x = " + "(" * 10_000 + "1" + ")" * 10_000,
    "lists": "x = " + "[" * 10_000 + "]" * 10_000,
    "calls": "f(" * 5000 + ")" * 5000,
    "lambdas": "x = " + "lambda: " * 10_000 + "1",
    "blocks": "".join(" " * at + "if x:\n" for at in range(2000)) + " " * 2000 + "y\n",
    "not closed": "x = " + "(" * 10_000,
}


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP.keys())
def test_what_is_nested_too_deep_is_refused(source: str) -> None:
    with pytest.raises(SourceError, match=r"nested|too many|never closed"):
        parse(source)


def test_long_expressions_are_read() -> None:
    source = "x = " + "1 + " * LONG + "1\n"
    with deep_recursion():
        assert parse(source).code == source


@pytest.mark.parametrize("module", [contextlib, dataclasses, typing], ids=lambda module: str(module.__name__))
def test_the_ranges_of_nodes_are_those_of_libcst(module: ModuleType) -> None:
    text = Path(str(module.__file__)).read_text(encoding="utf-8") + 'blank = ("é",  # 漢字\n  "😀" ) ;\n'
    tree = parse(text)
    found = MetadataWrapper(tree, unsafe_skip_copy=True).resolve(ByteSpanPositionProvider)
    assert spans(tree, text.encode()) == {
        node: (span.start, span.start + span.length) for node, span in found.items()
    }
