"""Versions that a scripted model writes for a function that fails its tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from counterlens.doubt.failing import FailingFunction, nearest_failure
from counterlens.doubt.generating import scopes
from counterlens.doubt.settling import judge_for
from counterlens.judging.base import Setting
from counterlens.judging.projects import interpreter_for
from counterlens.models.base import Capability, Model
from counterlens.probes.reading.repairing import written_fix
from counterlens.reports.export.doubts import mark_data, mark_sentence
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.doubt.conftest import WordModel
from tests.probes.reading.test_reading import Author

WRONG = '''\
def half(n: int) -> int:
    """Return half of an integer, rounded up.

    >>> half(4)
    2
    >>> half(3)
    2
    """
    whole = n // 2
    return whole
'''
KEPT = "    whole = n // 2\n    return whole + n % 2\n"
ANEW = "    return -(-n // 2)\n"
SPECIAL = "    return 2\n"
USELESS = "    return n\n"


def mark_in(folder: Path, author: Author, source: str = WRONG) -> FailingFunction:
    """The mark of the function, with what was written."""
    path = folder / "halves.py"
    path.write_text(source)
    (scope,) = scopes(Document(source, path))
    setting = Setting(best_sandbox(), interpreter_for(path))
    judge = judge_for(scope, setting)
    assert judge is not None
    standing = judge.standing(source)
    assert standing is not None
    failed = nearest_failure(scope, standing.failures)
    assert failed is not None
    mark = FailingFunction(scope, failed)
    return replace(mark, written=written_fix(cast(Model, author), mark, standing.judge, setting))


def with_it(mark: FailingFunction) -> str:
    """The file with the version."""
    assert mark.written is not None
    start, end, text = mark.written.edit
    return mark.scope.document.text[:start] + text + mark.scope.document.text[end:]


@pytest.mark.parametrize(
    ("bodies", "offered", "confirmed"),
    [
        ([USELESS, ANEW, KEPT, SPECIAL, USELESS, ""], KEPT, False),
        ([USELESS, ANEW, KEPT, KEPT, USELESS, ANEW], KEPT, True),
        ([KEPT] * 6, KEPT, False),
        ([USELESS] * 6, None, False),
    ],
    ids=["passes by accident", "two agree", "alone", "none passes"],
)
def test_the_smallest_change_that_passes_is_offered_and_confirmed_by_another(
    bodies: list[str], offered: str | None, confirmed: bool, tmp_path: Path
) -> None:
    mark = mark_in(tmp_path, Author(bodies))
    if offered is None:
        assert mark.written is None
        assert "version" not in mark_sentence(mark)
        assert mark_data(mark)["patch"] == ""
        return
    body = "".join(WRONG.splitlines(keepends=True)[8:])
    assert with_it(mark) == WRONG.replace(body, offered)
    assert mark.written is not None
    assert mark.written.confirmed == confirmed
    assert "; a version that the model wrote passes" in mark_sentence(mark)
    assert ("not confirmed" in mark_sentence(mark)) != confirmed
    (moved,) = scopes(Document(f"import os\n\n\n{WRONG}", tmp_path / "halves.py"))
    assert with_it(mark.within(moved)) == f"import os\n\n\n{with_it(mark)}"


def test_the_model_sees_the_failing_test_and_the_description_alone(tmp_path: Path) -> None:
    author = Author([KEPT, ANEW, ANEW, ANEW, ANEW, ANEW])
    mark_in(tmp_path, author)
    bug, described = (prompt.text for prompt in author.asked[:2])
    assert "# half has a bug: half(3) gives 1 instead of 2. Here is the mended version:" in bug
    assert bug.count("def half") == 2
    assert "whole = n // 2" not in described
    assert described.count("def half") == 1


def test_methods_are_written_too_and_a_model_that_cannot_write_is_not_asked(tmp_path: Path) -> None:
    method = "class A:\n" + "".join(
        f"    {line}\n" for line in WRONG.replace("n: int", "self, n: int").split("\n")
    )
    method = method.replace("half(4)", "A().half(4)").replace("half(3)", "A().half(3)")
    indented = [f"    {body}".replace("\n    ", "\n        ") for body in (KEPT, ANEW)]
    author = Author([*indented, *[indented[1]] * 4])
    mark = mark_in(tmp_path, author, method)
    assert "return whole + n % 2" in with_it(mark)
    unable = Author([KEPT] * 6)
    unable.info = WordModel({}).info
    assert Capability.COMPLETE not in unable.info.capabilities
    assert mark_in(tmp_path, unable).written is None
    assert unable.asked == []
