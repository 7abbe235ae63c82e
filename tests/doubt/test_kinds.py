"""Every kind offers what its examples say and nothing else; what is certain is never in doubt."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.generating import alternatives_in, changed_text, fits, scopes
from counterlens.doubt.margins import EMBEDDED
from counterlens.doubt.mutants import MUTANT_KINDS
from counterlens.doubt.registry import DOUBT_KINDS
from counterlens.syntax.document import Document

KINDS = DOUBT_KINDS | MUTANT_KINDS
EXAMPLES = [(kind.id, example) for kind in KINDS.values() for example in kind.EXAMPLES]


def offers(kind: DoubtKind, program: str) -> set[str]:
    """The alternatives of one kind, as examples write them."""
    offered = set()
    for scope in scopes(Document(program)):
        for alternative in kind.alternatives(scope):
            stands = scope.text(alternative.start, alternative.end)
            if stands != alternative.text and fits(scope, alternative):
                was, text = (" ".join(each.split()) for each in (stands, alternative.text))
                offered.add(f"{was} -> {text}")
    return offered


@pytest.mark.parametrize(("kind", "example"), EXAMPLES)
def test_a_kind_offers_what_its_examples_say(kind: str, example: DoubtExample) -> None:
    assert offers(KINDS[kind], example.program) == set(example.offers)


def test_every_kind_has_an_example_that_offers_something_and_a_description() -> None:
    for kind in KINDS.values():
        assert any(example.offers for example in kind.EXAMPLES), kind.id
        assert kind.__doc__


def test_the_page_describes_every_kind_and_margins_are_of_kinds() -> None:
    page = (Path(__file__).parents[2] / "docs" / "doubt.md").read_text(encoding="utf-8")
    table = page.partition("## Kinds of doubt")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert rows == list(DOUBT_KINDS), "the table in docs/doubt.md has a row for each kind, in this order"
    assert set(EMBEDDED) <= set(DOUBT_KINDS)
    assert all(margin > 0 for margin in EMBEDDED.values())


def test_names_that_are_bound_imports_strings_and_comments_are_never_in_doubt() -> None:
    program = (
        "import a, b\n\n\n"
        "def f(x=1, *, y: int = 2):\n"
        '    """1 < 2 and 3."""\n'
        "    import c  # 1 < 2\n"
        "    from d import e\n"
        "    z = 'a < b and 1'\n"
        "    def g(w=1):\n"
        "        pass\n"
    )
    found = [one for scope in scopes(Document(program)) for one in alternatives_in(scope)]
    assert [one for one in found if not one.refuted] == []


def test_an_alternative_takes_the_line_ends_of_its_file() -> None:
    document = Document("def f(c):\r\n    if c:\r\n        g()\r\n    else:\r\n        h()\r\n")
    (scope,) = scopes(document)
    (one,) = [one for one in alternatives_in(scope) if one.kind == "branches"]
    assert changed_text(document, one) == (
        "def f(c):\r\n    if c:\r\n        h()\r\n    else:\r\n        g()\r\n"
    )


@pytest.mark.parametrize(
    ("program", "refuted"),
    [
        # A parameter has the name of its argument.
        ("def g(n, seq): pass\ndef f(seq):\n    return g(1, seq)\n", True),
        ("def g(n, seq): pass\ndef f(seq):\n    return g(seq, 1)\n", False),
        ("def g(a, b): pass\ndef f(x, y):\n    return g(x, y)\n", False),
        (
            "class A:\n    def g(self, low, high=0): pass\n    def f(self):\n        self.g(self._low, 1)\n",
            True,
        ),
        ("class A:\n    def __init__(self, n: int, seq): pass\ndef f(seq):\n    return A(1, seq)\n", True),
        ("def g(n, seq): pass\ndef g(seq, n): pass\ndef f(seq):\n    return g(1, seq)\n", False),
        ("def g(*n, seq): pass\ndef f(seq):\n    return g(1, seq)\n", False),
        ("def g(n, seq): pass\ndef f(a, seq):\n    return g(*a, 1, seq)\n", False),
        # Another call has one of the two at the same position.
        ("def f(x, y, z):\n    return g(x, y), g(x, [z])\n", True),
        ("def f(x, y, z):\n    return g(x, y), g([y], x)\n", False),
        ("def f(x, y, z):\n    return g(x, y), g(y, z), g(x, [z])\n", False),
        ("def f(x, y, z):\n    return g(x, y), h(x, y)\n", False),
    ],
)
def test_an_order_that_names_or_other_calls_support_is_only_doubted_by_tests(
    program: str, *, refuted: bool
) -> None:
    found = [one for scope in scopes(Document(program)) for one in alternatives_in(scope)]
    assert next(one for one in found if one.kind == "order" and "(" not in one.text).refuted is refuted


def test_what_does_not_parse_does_not_fit() -> None:
    (scope,) = scopes(Document("def f(a):\n    return a\n"))
    start = scope.document.text.index("return a") + 7
    assert not fits(scope, Alternative("variable", start, start + 1, "a b"))
    assert not fits(scope, Alternative("variable", start - 7, start + 1, "a"))
    assert fits(scope, Alternative("variable", start, start + 1, "b"))
