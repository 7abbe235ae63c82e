"""Tests that rely on the program, told apart from those that only give it their own literals."""

from __future__ import annotations

import pytest

from counterlens.attribution.sandboxed.runner.isolated.reliance import Reliance

IMPORTING = """
import importlib
from program import convert

def test_every_backend():
    for backend in {values}:
        assert convert("x", backend=backend) == "x"
        importlib.import_module(backend.replace("-", "_"))
"""


@pytest.mark.parametrize(
    ("values", "runs"),
    [
        ('("first", "second-one")', False),
        ('("first", ("second", 2))', False),
        ('["first", "second"]', False),
        ('["first", ["second"]]', True),  # the program may change a list
        ('("first", given())', True),
        ("convert(1)", True),
    ],
)
def test_literals_that_are_also_given_to_the_program_are_not_its_values(values: str, runs: bool) -> None:
    assert Reliance(IMPORTING.format(values=values), "program").runs_what_it_gives == runs


def test_an_ignored_call_cannot_alter_a_literal() -> None:
    text = """
    from program import sort
    def test_sort():
        given = {given}
        sort(given)
        assert sort([1, 2]) == given
    """.replace("\n    ", "\n")
    assert Reliance(text.format(given="[1, 2]"), "program").compares_altered
    assert not Reliance(text.format(given="(1, 2)"), "program").compares_altered
