"""Tests that accept nearly any result are recognised by their shape, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterlens.judging.base import WeakAssertion
from counterlens.python.judging.proposal import weak_assertion
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

PROGRAM = "def can_ship(n: int) -> bool:\n    return n > 0\n\n\ndef stock(n):\n    return [n]\n"


def weakness(
    folder: Path, tests: str, name: str = "can_ship", program: str = PROGRAM
) -> WeakAssertion | None:
    (folder / "shop.py").write_text(program)
    (folder / "test_shop.py").write_text(f"import shop\nfrom shop import can_ship, stock\n\n\n{tests}")
    document = Document.read(folder / "shop.py")
    return weak_assertion(document, find_function(document, name))


@pytest.mark.parametrize(
    ("tests", "name", "expected"),
    [
        (
            "def test_it():\n    assert can_ship(1)\n",
            "can_ship",
            WeakAssertion("assert can_ship(1)", "42", "is True"),
        ),
        (
            "def test_it():\n    assert not shop.can_ship(0)\n",
            "can_ship",
            WeakAssertion("assert not shop.can_ship(0)", "None", "is False"),
        ),
        (
            "class TestIt:\n    def test_it(self):\n        self.assertTrue(can_ship(1), 'why')\n",
            "can_ship",
            WeakAssertion("self.assertTrue(can_ship(1), 'why')", "42", "is True"),
        ),
        ("def test_it():\n    assert stock(1)\n", "stock", WeakAssertion("assert stock(1)", "42", "")),
        ("def test_it():\n    stock(1)\n", "stock", WeakAssertion("stock(1)", "None", "")),
    ],
)
def test_an_assertion_that_accepts_any_result_is_named(
    tmp_path: Path, tests: str, name: str, expected: WeakAssertion
) -> None:
    assert weakness(tmp_path, tests, name) == expected


@pytest.mark.parametrize(
    "tests",
    [
        "def test_it():\n    assert can_ship(1) is True\n",
        "def test_it():\n    assert can_ship(1)\n    assert not can_ship(0)\n",
        "def test_it():\n    assert can_ship(1)\n    assert can_ship(0) == False\n",
        "def test_it():\n    found = can_ship(1)\n    assert found\n",
        "def test_it():\n    assert can_ship(1)\n    assert all(map(can_ship, [1, 2]))\n",
        "import pytest\ndef test_it():\n    with pytest.raises(ValueError):\n        can_ship('a')\n",
        "def test_other():\n    pass\n",
    ],
)
def test_tests_of_another_shape_say_nothing(tmp_path: Path, tests: str) -> None:
    assert weakness(tmp_path, tests) is None


def test_a_result_in_the_docstring_is_a_test(tmp_path: Path) -> None:
    program = 'def can_ship(n):\n    """Say so.\n\n    >>> can_ship(1)\n    True\n    """\n    return n > 0\n'
    assert weakness(tmp_path, "def test_it():\n    assert can_ship(1)\n", program=program) is None


def test_a_changed_test_is_read_again(tmp_path: Path) -> None:
    assert weakness(tmp_path, "def test_it():\n    assert can_ship(1)\n") is not None
    assert weakness(tmp_path, "def test_it():\n    assert can_ship(1) is True\n") is None
