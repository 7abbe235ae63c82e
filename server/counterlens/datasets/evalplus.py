"""HumanEval+ and MBPP+ (Liu et al. 2023): many more inputs; the reference solution defines the outputs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from counterlens.datasets.base import Problem, TestForm, Tests
from counterlens.datasets.files import JsonRecord, RecordLoader
from counterlens.datasets.mbpp import tested_function
from counterlens.syntax.document import STRICT

_INPUTS = ("base_input", "plus_input")
_RTOL, _ATOL = 1e-7, 1e-6  # tolerances of floats if the dataset does not say

_TESTS = """\
def _check_against_reference(candidate):
    import copy, math
    inf, nan = math.inf, math.nan
    reference = {{"__name__": "reference"}}
    exec({source!r}, reference)
    inputs = {inputs}
    atol = {atol!r}

    def near(found, expected):
        if found == expected:
            return True
        if isinstance(expected, float) and isinstance(found, (int, float)):
            return math.isclose(found, expected, rel_tol={rtol!r}, abs_tol=atol or {default!r}) or (
                expected != expected and found != found
            )
        if isinstance(expected, (list, tuple)) and isinstance(found, (list, tuple)):
            return len(found) == len(expected) and all(map(near, found, expected))
        return False

    for arguments in inputs:
        expected = reference[{function!r}](*copy.deepcopy(arguments))
        found = candidate(*copy.deepcopy(arguments))
        assert {oracle}, f"{function}(*{{arguments!r}}) is {{found!r}}, not {{expected!r}}"


_check_against_reference({function})
"""
_ORACLE = "near(found, expected)"


class _EvalPlus(RecordLoader):
    """The common parts of both formats."""

    fields: ClassVar[tuple[str, ...]] = (
        "task_id",
        "prompt",
        "entry_point",
        "canonical_solution",
        "base_input",
        "plus_input",
        "contract",
        "atol",
    )
    oracles: ClassVar[Mapping[str, str]] = {}

    def problem(self, record: JsonRecord) -> Problem:
        prompt, function = record.text("prompt"), record.text("entry_point")
        source = prompt + record.text("canonical_solution")
        base, plus = (self.inputs(record, name) for name in _INPUTS)
        atol = record.fields.get("atol", 0)
        if not isinstance(atol, int | float):
            raise record.wrong("`atol` is not a number")

        def tests(inputs: list[list[Any]]) -> Tests:
            text = _TESTS.format(
                source=source,
                inputs=repr(inputs),
                atol=float(atol),
                rtol=_RTOL,
                default=_ATOL,
                function=function,
                oracle=self.oracles.get(function, _ORACLE),
            )
            return Tests(TestForm.PYTHON, text)

        return Problem(
            id=record.text("task_id"),
            dataset=self.id,
            language="python",
            source=source,
            function=function,
            prompt=prompt,
            tests=tests(base + plus),
            base_tests=tests(base),
            details={"inputs": str(len(base + plus))},
        )

    def inputs(self, record: JsonRecord, name: str) -> list[list[Any]]:
        """The argument lists of one field."""
        listed = record.fields.get(name)
        if not isinstance(listed, list) or not all(isinstance(arguments, list) for arguments in listed):
            raise record.wrong(f"`{name}` is not a list of argument lists")
        return listed


class HumanEvalPlus(_EvalPlus):
    """`HumanEvalPlus.jsonl.gz`, in full or as the Mini."""

    id = "humanevalplus"
    title = "HumanEval+"
    source = "github.com/evalplus/humanevalplus_release"
    licence = "Apache-2.0"
    published: ClassVar[Mapping[str, str]] = {
        "91486741f1627101021fbe50523df08eebb5b0bf5e804b633dcd5ca3c14dbd2f": "Mini"
    }
    hub = ("evalplus/humanevalplus", None, "test")
    oracles: ClassVar[Mapping[str, str]] = {  # any root is right
        "find_zero": 'abs(reference["poly"](*arguments, found)) <= max(atol, 1e-4)'
    }


class MbppPlus(_EvalPlus):
    """`MbppPlus.jsonl.gz`. JSON has no tuples and sets: the arguments of the assertions show which are."""

    id = "mbppplus"
    title = "MBPP+"
    source = "github.com/evalplus/mbppplus_release"
    licence = "Apache-2.0"
    hub = ("evalplus/mbppplus", None, "test")
    fields = (*_EvalPlus.fields, "assertion")
    oracles: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            (
                "similar_elements",
                "find_char_long",
                "common_in_nested_lists",
                "extract_singly",
                "larg_nnum",
                "intersection_array",
                "find_dissimilar",
                "Diff",
            ),
            "set(found) == set(expected)",  # the order is not specified
        ),
        **dict.fromkeys(
            ("check_str", "text_match_three", "text_starta_endb"),
            "found == expected if isinstance(found, bool) else expected == (found is not None)",
        ),
    }

    def inputs(self, record: JsonRecord, name: str) -> list[list[Any]]:
        """The argument lists of one field, with the tuples and sets of the assertions."""
        if record.fields.get(name) == {}:  # the published form of an empty one
            return []
        shapes = next(calls(record.text("assertion"), record.text("entry_point")), [])
        return [
            [shape(value, shapes[i]) if i < len(shapes) else value for i, value in enumerate(arguments)]
            for arguments in super().inputs(record, name)
        ]


class MbppPlusTexts(RecordLoader):
    """MBPP+ in the hub's format, with the tests as a text."""

    id = "mbppplus-hub"
    title = "MBPP+ (hub)"
    family = MbppPlus.id
    source = MbppPlus.source
    licence = MbppPlus.licence
    hub = MbppPlus.hub
    fields = ("task_id", "code", "prompt", "test", "test_list", "test_imports")

    def problem(self, record: JsonRecord) -> Problem:
        source, listed = record.text("code"), "\n".join(record.texts("test_list"))
        return Problem(
            id=f"Mbpp/{record.fields.get('task_id')}",
            dataset=self.id,
            language="python",
            source=source,
            function=tested_function(source, listed),
            description=record.text("prompt"),
            tests=Tests(TestForm.PYTHON, record.text("test") + "\n"),
        )


def calls(tests: str, function: str) -> Iterator[list[Any]]:
    """The arguments of a function's calls in some tests, if they are literals."""
    try:
        tree = STRICT.require("python")(tests)
    except SyntaxError:
        return
    for node in ast.walk(tree) if isinstance(tree, ast.Module) else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function:
            try:
                yield [ast.literal_eval(argument) for argument in node.args]
            except ValueError:
                continue


def shape(value: Any, like: Any) -> Any:
    """A JSON value with the containers of an example: lists become tuples or sets as in the example."""
    if not isinstance(value, list):
        return value
    inner = [next(iter(like), None)] * len(value) if isinstance(like, list | tuple | set | frozenset) else []
    if isinstance(like, tuple) and len(like) == len(value):
        inner = list(like)
    parts = [shape(part, inner[i]) if i < len(inner) else part for i, part in enumerate(value)]
    if isinstance(like, tuple):
        return tuple(parts)
    return set(parts) if isinstance(like, set) else parts
