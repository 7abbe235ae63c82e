"""Places of tests are searched near the line that is asked about, and none is missed there."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from counterlens.attribution.sandboxed.runner.isolated import places, sources
from counterlens.attribution.sandboxed.runner.isolated.assertions import Assertions, Reached
from counterlens.attribution.sandboxed.runner.isolated.known_reliance import KnownReliance
from counterlens.attribution.sandboxed.runner.isolated.places import TestPlaces
from counterlens.attribution.sandboxed.runner.isolated.reliance import Reliance

TestPlaces.__test__ = False  # type: ignore[attr-defined]  # pytest takes it for a test by its name
CAUGHT = """
import shop

try:
    def test_total():
        with contextlib.suppress(ValueError):
            assert shop.total([]) == 0
        try:
            assert shop.total([1]) == 1
            shop.check(shop.total([2]))
        except shop.Closed:
            pass
    assert shop.total([3]) == 3
except shop.Closed:
    pass
"""
TEXTS = [CAUGHT, *(path.read_text() for path in sorted(Path(__file__).parent.glob("test_[cdu]*.py")))]


@pytest.mark.parametrize("kind", ["taken", "again", "mirrored", "ordered", "within", "caught"])
def test_all_places_of_a_file_are_found_at_their_lines(kind: str) -> None:
    count = 0
    for text in TEXTS:
        scopes = sources.scopes_of(text)
        found = TestPlaces(text)
        names = Assertions(scopes).names
        for scope in scopes:
            search = places.caught(scope, names) if kind == "caught" else places._KINDS[kind](scope)
            for span in search:
                count += 1
                assert span in set(found.near(kind, span[0]))
                assert span in set(found.near(kind, span[2]))
    assert count > 5


LOOPS = """\
def draw(number):
    return list(x for x in
                range(number))


def test_draw():
    kept = draw(300)
    assert len(kept) == 300
    assert all(x >= 0 for x in kept)
"""


def test_only_functions_with_an_assertion_are_followed_line_by_line() -> None:
    scope: dict[str, Any] = {}
    exec(compile(LOOPS, "tests.py", "exec"), scope)  # noqa: S102 - the text above
    assertions = Assertions(sources.scopes_of(LOOPS))
    followed: set[tuple[str, int]] = set()
    reached = Reached(lambda frame: assertions if frame.f_code.co_filename == "tests.py" else None)
    follow = reached._trace_line

    def note(frame: FrameType, event: str, argument: Any) -> Any:
        followed.add((frame.f_code.co_name, frame.f_lineno))
        return follow(frame, event, argument)

    reached._trace_line = note  # type: ignore[method-assign]
    before = sys.gettrace()
    try:
        reached.begin("test_draw")
        scope["test_draw"]()
    finally:
        sys.settrace(before)
    assert reached.without(["test_draw"]) == []
    assert {name for name, _ in followed} == {"test_draw"}


def test_what_tests_rely_on_is_computed_once_and_only_for_the_same_tests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "from shop import total\n\ndef test():\n    assert total(1) == total(2)\n"
    first = KnownReliance(text, "shop", ["test"])
    assert first.holds("compares_its_own")
    assert not first.holds("skips")
    assert first.asks_for("total")
    assert not first.asks_for("price")
    other = text.replace("total(2)", "2")
    monkeypatch.setattr(Reliance, "__init__", lambda *_: pytest.fail("computed again"))
    again = KnownReliance(text, "shop", ["test"], dict(first.facts))
    assert again.holds("compares_its_own")
    assert not again.holds("skips")
    assert again.asks_for("total")
    monkeypatch.undo()
    assert not KnownReliance(other, "shop", ["test"], dict(first.facts)).holds("compares_its_own")
    assert not KnownReliance(text, "shop", ["other"], dict(first.facts)).holds("compares_its_own")
