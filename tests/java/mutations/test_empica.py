"""The transformations of Nguyen et al. 2024, Table 1, for Java: all sites of a method at once."""

from __future__ import annotations

import pytest

from counterlens.java.mutations.language import JAVA_TRANSFORMATIONS
from counterlens.java.mutations.module import JavaModule
from counterlens.mutations import everywhere
from counterlens.mutations.base import WHOLE_PROGRAM
from counterlens.python.mutations.language import TRANSFORMATIONS

BY_TITLE = {known.title: known.mutation for known in JAVA_TRANSFORMATIONS}
SOURCE = """\
class A {
    int f(int[] xs, int low) {
        int data = 10;
        for (int i = 0; i < xs.length; i++) {
            data = data + xs[i];
        }
        if (low < 3) {
            data = data * 2;
        }
        if (data > 9 && low > 1) {
            return f(xs, 5);
        } else if (low == 1) {
            return low - 1;
        } else {
            return data;
        }
    }
}
"""


def made(title: str, source: str = SOURCE) -> str:
    """The mutated `f`; empty if there is no site."""
    found = everywhere(JavaModule(source), BY_TITLE[title], "A.f").counterfactuals
    return found[0].source if found else ""


def test_they_are_those_of_python() -> None:
    assert [(one.title, one.dependence, one.mutation.id) for one in JAVA_TRANSFORMATIONS] == [
        (one.title, one.dependence, one.mutation.id) for one in TRANSFORMATIONS
    ]
    assert [one.preserving for one in JAVA_TRANSFORMATIONS] == [one.preserving for one in TRANSFORMATIONS]


@pytest.mark.parametrize(
    ("title", "replaced"),
    [
        (
            "Convert For/While",
            {
                "for (int i = 0; i < xs.length; i++) {": "int i = 0;\n        while (i < xs.length) {",
                "data + xs[i];\n": "data + xs[i];\n            i++;\n",
            },
        ),
        (
            "Flip IfElse",
            {
                "else if (low == 1)": "else if (!(low == 1))",
                "return low - 1": "@",
                "return data": "return low - 1",
                "@": "return data",
            },
        ),
        (
            "Rename Variable",
            {
                "xs": "VAR1",
                "low": "VAR2",
                "data": "VAR3",
                "int i": "int VAR4",
                "i <": "VAR4 <",
                "i++": "VAR4++",
                "[i]": "[VAR4]",
            },
        ),
        ("Reorder Parameters", {"int[] xs, int low": "int low, int[] xs", "f(xs, 5)": "f(5, xs)"}),
        (
            "Negate Relational Condition",
            {
                "(low < 3)": "(!(low < 3))",
                "(low == 1)": "(!(low == 1))",
                "(data > 9 && low > 1)": "(!(data > 9 && low > 1))",
            },
        ),
        (
            "Remove Conditional Statement",
            {"        if (low < 3) {\n            data = data * 2;\n        }": "        data = data * 2;"},
        ),
        (
            "Remove Def Statement",
            {"            data = data + xs[i];\n": "", "            data = data * 2;\n": ""},
        ),
    ],
)
def test_every_site_is_changed(title: str, replaced: dict[str, str]) -> None:
    expected = SOURCE
    for old, new in replaced.items():
        expected = expected.replace(old, new)
    assert made(title) == expected


def test_an_operator_becomes_any_other_one() -> None:
    operator = BY_TITLE["Replace Arithmetic Operator"]
    found = {
        everywhere(JavaModule(SOURCE), operator, "A.f", seed=seed)
        .counterfactuals[0]
        .source.split("low ")[-1][0]
        for seed in range(40)
    }
    assert found == {"+", "*", "/", "%"}


def test_parameters_change_places_where_the_file_is_the_whole_program() -> None:
    found = everywhere(JavaModule(SOURCE), BY_TITLE["Reorder Parameters"], "A.f")
    assert found.counterfactuals[0].assumptions == (WHOLE_PROGRAM,)
    assert made("Reorder Parameters", SOURCE.replace("int f(", "@Override public int f(")) == ""
    assert made("Flip IfElse", "class A { int f(int a) { if (a > 1) return 1; return 2; } }") == ""
