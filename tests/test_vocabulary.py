"""Words that were retired do not come back: in documents, help, settings, messages and docstrings.

The prompts are not looked at: they are part of the instrument, and change only with a measurement.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RETIRED = {
    re.compile(phrase["retired"].replace(" ", r"\s+"), re.IGNORECASE | re.MULTILINE): phrase["instead"]
    for phrase in tomllib.loads((ROOT / "tests" / "vocabulary.toml").read_text(encoding="utf-8"))["phrase"]
}
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "client" / "README.md",
    ROOT / "client" / "package.json",
    *(page for page in sorted((ROOT / "client" / "walkthrough").glob("*.md")) if ".nls." not in page.name),
]
MODULES = sorted((ROOT / "server" / "counterlens").rglob("*.py"))
SCRIPTS = sorted((ROOT / "client" / "src").rglob("*.ts"))
SAID = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`')  # what stands between quotation marks


def texts_of(module: str) -> Iterator[tuple[int, str]]:
    """The texts of a Python module, with their lines: messages, help and docstrings."""
    nodes = list(ast.walk(ast.parse(module)))
    parts = {part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            said = [part.value if isinstance(part, ast.Constant) else "…" for part in node.values]
            yield node.lineno, "".join(map(str, said))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in parts:
            yield node.lineno, node.value


def is_prompt(text: str) -> bool:
    """Whether a text is what the repair probe puts before the code."""
    return text.startswith("…… ")


def found_in(text: str) -> list[str]:
    """The retired phrases in a text, each with what stands in its place."""
    return [
        f"{match[0]!r}: {instead}" for pattern, instead in RETIRED.items() for match in pattern.finditer(text)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_have_no_retired_words(page: Path) -> None:
    assert found_in(page.read_text(encoding="utf-8")) == []


def test_messages_help_and_docstrings_have_no_retired_words() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {one}"
        for path in MODULES
        for line, text in texts_of(path.read_text(encoding="utf-8"))
        if not is_prompt(text)
        for one in found_in(text)
    ]
    assert found == [], "\n".join(found)


def test_messages_of_the_extension_have_no_retired_words() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {one}"
        for path in SCRIPTS
        for said in SAID.findall(path.read_text(encoding="utf-8"))
        for one in found_in(said)
    ]
    assert found == [], "\n".join(found)


def test_a_retired_word_would_be_found() -> None:
    assert found_in("Measured in Bits\na byte.")
    assert found_in("half a bit per byte") == []
    said = [
        text for _, text in texts_of('def f(n):\n    """Who is asked."""\n    return f"goes on {n} with"')
    ]
    assert said == ["Who is asked.", "goes on … with"]
