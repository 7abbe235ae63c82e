"""Marks at functions whose docstring and code disagree: who is asked, and what can be done about one."""

from __future__ import annotations

import doctest
import inspect
import sys
import textwrap
from pathlib import Path
from typing import Any, cast

import pytest

from counterlens.doubt.disagreeing import DisagreeingFunction
from counterlens.doubt.generating import scopes
from counterlens.errors import SourceError
from counterlens.judging.base import Setting
from counterlens.judging.languages import judging_of
from counterlens.models.base import Capability, Model
from counterlens.models.code_models import code_model
from counterlens.probes.probe import Context
from counterlens.probes.reading import marking
from counterlens.probes.reading.marking import docstring_mark, marking_rule, stated_mark
from counterlens.probes.reading.readings import Consensus, Majority
from counterlens.reports.export.doubts import mark_sentence
from counterlens.sandbox.base import Limits
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import functions
from tests.probes.reading.test_reading import HALF_UP, RIGHT_BODY, WRONG, Author

RULE = Consensus(Majority(4, 1.0))
EXAMPLE = "'''Say.\n\n    >>> f(0)\n    1\n    "


def mark_in(source: str, *bodies: str, rule: Consensus = RULE) -> DisagreeingFunction | None:
    context = Context(cast(Model, Author(bodies)), best_sandbox)
    setting = Setting(best_sandbox(), Path(sys.executable))
    (scope,) = [scope for scope in scopes(Document(source)) if scope.function.name == "half_up"]
    return docstring_mark(context, scope, setting, rule)


def test_a_mark_offers_the_version_and_an_example_that_the_code_fails() -> None:
    mark = mark_in(WRONG, *[RIGHT_BODY] * 6)
    assert mark is not None
    assert WRONG[slice(*mark.place)] == "half_up"
    assert (mark.raises, mark.agreeing, mark.of, mark.tested) == (False, 6, 6, True)
    assert int(mark.code) == int(mark.versions) - 1
    assert mark.edit is not None
    start, end, text = mark.edit
    assert WRONG[:start] + text + WRONG[end:] == HALF_UP.replace(
        "    return (n - parity(n)) // STEP + parity(n)\n", RIGHT_BODY
    )
    assert mark.example is not None
    start, end, text = mark.example
    space: dict[str, Any] = {}
    exec(WRONG[:start] + text + WRONG[end:], space)  # noqa: S102 - the program above
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(space["half_up"]) or "")
    assert [(each.source, each.want) for each in examples] == [
        ("half_up(3)\n", "2\n"),
        (f"{mark.call}\n", f"{mark.versions}\n"),
    ]


def test_a_method_is_read_with_objects_of_its_class() -> None:
    source = '''\
class Amount:
    def __init__(self, cents: int) -> None:
        self.cents = cents

    def half_up(self) -> int:
        """Return half of the cents as an integer, rounded up."""
        return self.cents // 2
'''
    mark = mark_in(source, *["        return (self.cents + 1) // 2\n"] * 6)
    assert mark is not None
    assert (mark.call, mark.code, mark.versions) == ("Amount.half_up(Amount(cents=1))", "0", "1")
    assert mark.example is not None
    start, end, text = mark.example
    space: dict[str, Any] = {}
    exec(source[:start] + text + source[end:], space)  # noqa: S102 - the program above
    (example,) = doctest.DocTestParser().get_examples(inspect.getdoc(space["Amount"].half_up) or "")
    assert (eval(example.source, space), example.want) == (0, "1\n")  # noqa: S307 - as above


def test_nothing_is_marked_without_a_majority_a_sentence_or_leave() -> None:
    others = [f"    return -(-n // 2) if n == 3 else n - {k}\n" for k in range(5)]
    assert mark_in(WRONG, RIGHT_BODY, *others) is None
    assert mark_in(HALF_UP, RIGHT_BODY) is None
    ignored = WRONG.replace(
        "def half_up(n: int) -> int:", "def half_up(n: int) -> int:  # counterlens: ignore"
    )
    assert mark_in(ignored) is None, "the model is not even asked"
    with pytest.raises(SourceError, match="shorter than a sentence"):
        mark_in(WRONG.replace("Return half of an integer, rounded up.", "Halve."))


BARE = HALF_UP.replace("return (n - parity(n)) // STEP + parity(n)", "return n // STEP").replace(
    "\n\n    >>> half_up(3)\n    2\n    ", ""
)


def test_without_given_inputs_fewer_versions_may_agree_on_a_simple_one() -> None:
    assert ">>>" not in BARE
    bodies = [RIGHT_BODY] * 5 + ["    return 7 * n\n"]
    assert mark_in(BARE, *bodies, rule=Consensus(Majority(2, 1.0))) is None
    mark = mark_in(BARE, *bodies, rule=Consensus(Majority(2, 1.0), Majority(4, 0.8)))
    assert mark is not None
    assert (mark.call, mark.code, mark.versions) == ("half_up(1)", "0", "1")
    assert (mark.agreeing, mark.of) == (5, 6)


STATED = '''def half(n):
    """Halve a number: half(3) == 1.5, and half(4) -> 2.0."""
    return n // 2
'''


@pytest.mark.parametrize(
    ("source", "call"),
    [
        (STATED, "half(3)"),
        (STATED.replace("//", "/"), None),
        (STATED.replace("half(n):", "half(n):  # counterlens: ignore"), None),
        (STATED.replace("return n // 2", "raise KeyError(n)"), None),
        (f"class A:\n{textwrap.indent(STATED, '    ')}", None),
        (STATED.replace("return n // 2", "while True: pass").replace("half(3) == 1.5, and ", ""), None),
    ],
)
def test_what_the_docstring_states_is_run_without_a_model(source: str, call: str | None) -> None:
    setting = Setting(best_sandbox(), Path(sys.executable), Limits(seconds=1.0, cpu_seconds=1))
    (scope,) = [scope for scope in scopes(Document(source)) if scope.function.name == "half"]
    mark = stated_mark(scope, setting)
    assert (mark and mark.call) == call
    if mark is not None:
        assert (mark.code, mark.versions, mark.edit, mark.of) == ("1", "1.5", None, 0)
        assert source[slice(*mark.place)] == "half"
        assert mark_sentence(mark) == (
            "docstring and code disagree: `half(3)` returns 1; the docstring says 1.5"
        )


def test_only_models_whose_versions_were_measured_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    author = cast(Model, Author([]))
    assert marking_rule(author) is None
    monkeypatch.setattr(marking, "FITTED", {author.info.identity: RULE})
    assert marking_rule(author) == RULE
    assert marking_rule(cast(Model, Author([], samples=False))) is None
    assert Capability.SAMPLE in author.info.capabilities


@pytest.mark.parametrize(
    ("docstring", "call", "value", "becomes"),
    [
        ('"""Say é."""', "f(1)", "2", '"""Say é.\n\n    >>> f(1)\n    2\n    """'),
        (
            '"""Say.\n    More.\n    """',
            "f(1)",
            "[2]",
            '"""Say.\n    More.\n\n    >>> f(1)\n    [2]\n    """',
        ),
        (f"{EXAMPLE}'''", "f(1)", "2", f"{EXAMPLE}>>> f(1)\n    2\n    '''"),
        ('"""Say."""', "f(1)", "None", None),
        ('"""Say."""', "f(1)", "<object>", None),
        ('"""Say."""', r"f('\n')", "2", None),
        ('"Say."', "f(1)", "2", None),
        ("", "f(1)", "2", None),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_example_goes_to_the_end_of_a_docstring(
    docstring: str, call: str, value: str, becomes: str | None, newline: str
) -> None:
    source = f"# ğ\ndef f(n):\n    {docstring}\n    return n\n".replace("\n", newline)
    document = Document(source)
    edit = judging_of("python").added_example(document, functions(document)[0], call, value)
    if becomes is None:
        assert edit is None
        return
    assert edit is not None
    data, (start, end, text) = source.encode(), edit
    assert (
        data[:start] + text.encode() + data[end:]
        == source.replace(docstring.replace("\n", newline), becomes.replace("\n", newline)).encode()
    )


def test_the_code_models_that_were_measured_have_a_rule() -> None:
    measured = ("qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b")
    assert set(marking.FITTED) == {code_model(name).sha256 for name in measured}
