"""The changes that interventions make, and the code that they leave alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from counterlens.dependence import MODULE, dependences
from counterlens.probes.dependence.examined import ExaminedFunction, Intervention, NameRole
from counterlens.probes.dependence.reactions import readings
from counterlens.python.dependence.program import Program
from counterlens.python.examined import another, negated

SOURCE = """\
def f(text, n):
    count = 0
    for c in text:
        if c == 'a' and n:
            count += 1
    count = count + n
    return count
"""
EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("[!t]*.py"))


def subject(source: str = SOURCE, function: str = "f") -> ExaminedFunction:
    return ExaminedFunction.of(dependences(source, function))


def changed(number: int, kind: Intervention, source: str = SOURCE) -> list[str]:
    one = subject(source)
    return [reading.data.decode() for reading in readings(one, one.parts[number], kind)]


def test_a_renamed_definition_leaves_all_that_follows() -> None:
    (text,) = changed(1, Intervention.RENAME)
    assert text == SOURCE.replace("count = 0", "other = 0").rstrip("\n")


def test_hidden_uses_go_on_until_the_name_is_bound_anew() -> None:
    (text,) = changed(1, Intervention.HIDE)
    assert text == SOURCE.replace("count = 0", "other = 0").rstrip("\n")  # `+=` binds the name anew
    one = subject("def f(a):\n    x = a\n    g(x)\n    h(x)\n    x = 2\n    return x\n")
    texts = [reading.data.decode() for reading in readings(one, one.parts[1], Intervention.HIDE)]
    assert texts[0].endswith("other = a\n    g(x)")
    assert texts[1].endswith("other = a\n    g(other)\n    h(x)")
    assert texts[2].endswith("g(other)\n    h(other)\n    x = 2\n    return x")


def test_other_changes() -> None:
    assert "    count = 7\n" in changed(1, Intervention.REPLACE)[0]
    assert changed(1, Intervention.DELETE)[0].startswith("def f(text, n):\n    for c in text:")
    assert "if not (c == 'a' and n):" in changed(3, Intervention.NEGATE)[0]
    assert "for c in []:" in changed(2, Intervention.NEGATE)[0]
    assert (
        "        with open(path) as file:\n            count += 1" in changed(3, Intervention.NEUTRALISE)[0]
    )
    assert changed(6, Intervention.RENAME) == []


@pytest.mark.parametrize(
    ("test", "opposite"),
    [
        ("a < b", "a >= b"),
        ("x", "not x"),
        ("not x", "x"),
        ("a in b", "a not in b"),
        ("a or b", "not (a or b)"),
    ],
)
def test_conditions_become_their_opposite(test: str, opposite: str) -> None:
    assert negated(ast.parse(test, mode="eval").body) == opposite


@pytest.mark.parametrize(
    ("value", "other"),
    [
        ("1", "8"),
        ("True", "False"),
        ("'a'", "'other'"),
        ("[]", "[7]"),
        ("[7]", "[8]"),
        ("len(x)", "7"),
        ("x.upper()", "'other'"),
        ("a + 1", "8"),
        ("unknown(x)", "None"),
    ],
)
def test_another_value_of_the_same_type(value: str, other: str) -> None:
    assert another(ast.parse(value, mode="eval").body) == other


def test_every_change_of_every_example_can_be_read_back() -> None:
    """Statements that are looked at stand, byte for byte, where their shift says."""
    seen = 0
    for path in EXAMPLES:
        for found in Program(path.read_text(encoding="utf-8")).all():
            if not found.statements:
                continue
            one = ExaminedFunction.of(found)
            for part in one.parts:
                for kind in Intervention:
                    for reading in readings(one, part, kind):
                        for target, shift in reading.shifts.items():
                            low, high = one.parts[target].span
                            here = reading.data[low + shift : high + shift]
                            assert here == one.data[low:high], (path, part, kind, target)
                            seen += 1
    assert seen > 1000


def test_names_stand_where_they_are_said_to_be() -> None:
    source = (
        "def f(a, *b, c: int = 1):\n"
        "    ä = [é for é in a if (w := é)]\n"
        "    try:\n        import os.path as p, sys\n    except (A, B) as e:\n        raise e\n"
        "    match a:\n        case {'k': k, **r}:\n            b.append(k)\n"
        "    a.x[0] = lambda q: q + w\n    def g(z):\n        return z + a\n"
    )
    one = subject(source)
    for part in one.parts:
        for occurrence in part.occurrences:
            assert one.data[slice(*occurrence.span)].decode() == occurrence.name
    binds = [set(part.binds) for part in one.parts]
    assert binds[0] == {"a", "b", "c"}
    assert binds[1] == {"ä", "w"}
    assert {"p", "sys"} in binds
    assert {"e"} in binds
    assert {"k", "r"} in binds
    assert [o.name for part in one.parts for o in part.occurrences if o.role is NameRole.CHANGED] == [
        "b",
        "a",
    ]
    assert binds[-1] == {"g"}


def test_a_module_is_a_subject_too() -> None:
    one = ExaminedFunction.of(dependences("x = 1\r\nif x:\r\n    y = x\r\n", MODULE))
    assert one.text == "x = 1\nif x:\n    y = x"
    assert [part.binds for part in one.parts] == [{"x"}, set(), {"y"}]
