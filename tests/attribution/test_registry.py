"""The order in which attribution functions are tried, and what is said of the one that a judge rests on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from counterlens.attribution.base import Evidence, Judge, Strength
from counterlens.attribution.registry import described, find_judge
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

Project = Callable[[Mapping[str, str]], Path]
FILES = {
    "pyproject.toml": "",
    "numbers_of.py": '''
        def tested(n: int) -> int:
            return _helper(n)

        def _helper(n: int) -> int:
            return n + 1 if n > 0 else 0

        def shown(n: int) -> int:
            """
            >>> shown(1)
            2
            """
            return n + 1

        def bare(n: int) -> int:
            return n - 1 if n > 3 else n

        def reads(path: str) -> str:
            return open(path).read()
    ''',
    "test_numbers_of.py": """
        from numbers_of import tested

        def test_it():
            assert tested(1) == 2
    """,
}


def found(root: Path, name: str, *, fallback: bool = True) -> Judge | None:
    document = Document.read(root / "numbers_of.py")
    function = find_function(document, name)
    return find_judge(document, function, best_sandbox(), python=Path(sys.executable), fallback=fallback)


def test_the_order_in_which_they_are_tried(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = project(FILES)
    judges = {name: found(root, name) for name in ("tested", "_helper", "shown", "bare", "reads")}
    assert {name: judge.attribution if judge else None for name, judge in judges.items()} == {
        "tested": "tests",  # which mention it
        "_helper": "tests",  # which reach it
        "shown": "doctest",
        "bare": "differential",
        "reads": None,
    }
    assert judges["tested"] is not None
    assert described(judges["tested"]).startswith("1 test")
    assert judges["bare"] is not None
    assert "inputs (differential execution, " in described(judges["bare"])
    assert described(judges["bare"]).endswith(" reached: moderate evidence)")


def test_without_a_fallback_only_what_somebody_wrote_counts(project: Project) -> None:
    root = project(FILES)
    assert found(root, "bare", fallback=False) is None
    assert found(root, "_helper", fallback=False) is None
    assert found(root, "shown", fallback=False) is not None


def test_evidence_is_as_strong_as_its_attribution_function() -> None:
    assert Evidence("tests", 1).strength is Strength.STRONG
    assert Evidence("given", 1).strength is Strength.STRONG
    assert Evidence("doctest", 1).strength is Strength.MODERATE
    assert Evidence("tests+doctest", 1).strength is Strength.STRONG
    assert Evidence("differential", 1).strength is Strength.WEAK
    assert Evidence("none", 0).strength is None
    assert Evidence("differential", 1, strength=Strength.MODERATE).strength is Strength.MODERATE
