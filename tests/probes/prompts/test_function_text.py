"""The text of a function: what is shown of it, where its body begins, and it without one."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from counterlens.probes.prompts.function_text import (
    SHOWN_BYTES,
    WHOLE_BYTES,
    behind_docstring,
    body_lines,
    docstring,
    hollow,
    visible_part,
)
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

TEXTS = {
    "described": 'def f(x):\n    """Say it."""\n    # then\n    return x\n',
    "described alone": 'def f(x):\n    """Say it."""\n',
    "commented": "def f(x):  # of\n    # which\n    return x\n",
    "tabs": 'class A:\n\tdef f(self):\n\t\t"""Say it."""\n\t\treturn 1\n',
    "one line": "def f(x): return x\n",
}


def parts(name: str, text: str | None = None) -> tuple[str, str, str]:
    """What docstring and first statement are in a text, and what is behind the docstring."""
    document = Document(text or TEXTS[name])
    function = find_function(document, "f")
    start, end = docstring(document, function)
    behind = document.data[behind_docstring(document, function) : function.end]
    return document.data[start:end].decode(), behind.decode(), visible_part(document, function)


def test_a_docstring_is_what_stands_before_another_statement() -> None:
    assert parts("described") == (
        '"""Say it."""\n    # then\n    ',
        "    # then\n    return x",
        "def f(x):\n    return x\n",
    )
    assert parts("described alone") == ("", '    """Say it."""', TEXTS["described alone"])
    assert parts("commented") == ("", "    return x", TEXTS["commented"])
    assert parts("tabs")[:2] == ('"""Say it."""\n\t\t', "\t\treturn 1")


def test_of_a_long_file_the_header_and_the_definition_are_shown() -> None:
    other = f"def g():\n    return {'x' * WHOLE_BYTES!r}\n"
    text = f"import os\n\n\n{other}\n\n{TEXTS['described']}"
    assert parts("", text)[2].split() == ["import", "os", "def", "f(x):", "return", "x"]


LONG = f"""import os
{"# why" * WHOLE_BYTES}
LIMIT = 3


def unused(x):
    return LIMIT


class Pair:
    def first(self):
        return unused(1)


STEP = 2


@cached(name="twice")
def twice(x):
    return {{"step": STEP}}["step"] * x


def f(x):
    '''Say it.'''
    return twice(x) + other.unused_method


async def after(x):
    return f(x)
"""


def test_of_a_long_file_what_the_function_uses_is_shown() -> None:
    text = parts("", LONG)[2]
    shown = re.findall(r"^(?:def|class|async def|\w+ =|import) ?\w*", text, re.MULTILINE)
    assert shown == ["import os", "STEP = 2", "def twice", "def f"]
    assert text.count('@cached(name="twice")') == 1
    assert "Say it" not in text


@pytest.mark.parametrize(
    "text", [LONG, *TEXTS.values(), "\n\nimport os\n\n\ndef f(x):\n    return x\n\n\ny = 1\n"]
)
def test_the_body_is_found_in_the_lines_that_are_shown(text: str) -> None:
    document = Document(text)
    lines, own = body_lines(document, find_function(document, "f"))
    assert "\n".join(lines) == parts("", text)[2].strip()
    header = re.compile(r"^ *\t*def f\(", re.MULTILINE)
    assert header.search("\n".join(lines[: own.start + 1]))
    assert not header.search("\n".join(lines[own.start + 1 :]))
    assert "return" in lines[own.stop - 1] or "Say it" in lines[own.stop - 1]
    assert not any(line.startswith(("y =", "async def")) for line in lines[own.start : own.stop])


def test_what_the_function_uses_is_shown_as_far_as_there_is_room() -> None:
    long = f"def twice(x):\n    return {'x' * SHOWN_BYTES!r}\n\n\n"
    text = parts("", f"def g(x):\n    return 2\n\n\n{long}def f(x):\n    return g(x) + twice(x)\n")[2]
    assert re.findall(r"def (\w)", text) == ["g", "f"]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("text", ["", 'Say "it"', "Say it.\n\n>>> f(1)\n'\\\\'"])
def test_a_hollow_function_has_its_docstring_and_fails(name: str, text: str) -> None:
    document = Document(TEXTS[name])
    found = hollow(document, find_function(document, "f"), text)
    space: dict[str, Any] = {}
    exec(found.text, space)  # noqa: S102 - it is ours
    function = space["f"] if "f" in space else space["A"].f
    with pytest.raises(NotImplementedError):
        function(1)
    assert (inspect.getdoc(function) or "").rstrip() == text
