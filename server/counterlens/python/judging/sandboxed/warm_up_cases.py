"""Tests that a waiting interpreter runs once, so that pytest has compiled and cached what all runs need."""

import unittest

import pytest


@pytest.fixture
def value() -> int:
    """A fixture."""
    return 2


@pytest.mark.parametrize("other", [1, 2])
def test_function(other: int, value: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A function with parameters."""
    assert other + value > 0
    with pytest.raises(ValueError, match="invalid"):
        int("x")
    assert not capsys.readouterr().out


class TestClass:
    """A plain class."""

    def test_method(self) -> None:
        """A method."""
        assert [1] == [1]


class TestUnit(unittest.TestCase):
    """A class of unittest."""

    def test_method(self) -> None:
        """A method."""
        self.assertEqual(1, 1)  # noqa: PT009 - another part of unittest than a plain assertion
