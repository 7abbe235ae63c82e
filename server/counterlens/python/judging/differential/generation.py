"""Generated calls: from annotations, defaults, literals, and known calls, drawn by Hypothesis."""

from __future__ import annotations

import ast
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import platformdirs
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from counterlens.python.judging.differential.call_likeness import CallLikeness
from counterlens.python.judging.differential.inputs import Built, Call
from counterlens.python.judging.differential.observed import FunctionNode
from counterlens.python.judging.differential.shapes import (
    Shapes,
    Strategy,
    Unknown,
    kind_of,
    required_parameters,
)
from counterlens.python.syntax.parsing import undisturbed
from counterlens.syntax.tree import lent_recursion_limit

_COMBINATIONS = 36  # maximum combinations of types to try if types are unknown
_OMITTED = Built("omitted")

# Hypothesis would also draw constants of all modules outside of `site-packages`: those of a checkout of this
# package and of plug-ins. The same seed would give other calls than an installed package does, and
# `.hypothesis/constants` would be written into the current folder.
providers._get_local_constants = Constants
# It also keeps tables of characters; pytest would warn of their folder in the user's project.
if "HYPOTHESIS_STORAGE_DIRECTORY" not in os.environ:
    set_hypothesis_home_dir(platformdirs.user_cache_path("counterlens") / "hypothesis")


@dataclass(frozen=True)
class Parameter:
    """One parameter, and the values that can be passed for it.

    Attributes:
        by_name: Whether it is passed by keyword.
        optional: Whether it may be omitted.
        several: Whether it takes any number of values (`*args`).
        kinds: One strategy for each type that it may have; several if its type is unknown.
    """

    name: str
    by_name: bool
    optional: bool
    several: bool
    kinds: tuple[Strategy, ...]


@dataclass(frozen=True)
class CallPlan:
    """How to call one function.

    Attributes:
        target: The callee, as an expression over the names of its module.
        shapes: Values by type.
        parameters: Its parameters; the reason if values for one are unknown.
        seen: Calls found in the code, and those that the tests make; they come first.
        recorded: Whether tests make some of them: then drawn calls are like these, or depart from them.
    """

    target: str
    shapes: Shapes
    parameters: tuple[Parameter, ...] | str
    seen: tuple[Call, ...]
    recorded: bool = False

    @property
    def combinations(self) -> list[tuple[int, ...]]:
        """Indices into the `kinds` of each parameter; a single combination if all types are known."""
        every = [range(len(parameter.kinds)) for parameter in self._listed_parameters]
        alike = [
            tuple(min(kind, len(kinds) - 1) for kinds in every)
            for kind in range(max(map(len, every), default=1))
        ]
        others = list(islice(product(*every), 5000))
        random.Random(0).shuffle(others)  # noqa: S311 - the order of types to try
        return list(dict.fromkeys([*alike, *others]))[:_COMBINATIONS]

    def of_types(self, combination: Sequence[int]) -> st.SearchStrategy[Call]:
        """Calls with arguments of the given kinds."""
        parts = [
            self._part(parameter, parameter.kinds[kind])
            for parameter, kind in zip(self._listed_parameters, combination, strict=True)
        ]
        return st.tuples(*parts).map(self._call)

    @property
    def _listed_parameters(self) -> tuple[Parameter, ...]:
        return () if isinstance(self.parameters, str) else self.parameters

    def like(self, likeness: CallLikeness, calls: Sequence[Call]) -> st.SearchStrategy[Call]:
        """Calls like some, and calls with an argument of the same type that need not be like theirs."""
        apart = st.sampled_from(calls).flatmap(self._with_other)
        return likeness.strategy() | likeness.strategy() | apart

    def _with_other(self, call: Call) -> st.SearchStrategy[Call]:
        """A call with one argument replaced by another value of its type."""
        others = [
            st.builds(call.with_value, st.just(place), self.shapes.like(value))
            for place, value in (*enumerate(call.positional), *call.named)
        ]
        return st.one_of(others) if others else st.just(call)

    def _part(self, parameter: Parameter, kind: Strategy) -> Strategy:
        if parameter.several:
            return st.lists(kind, max_size=3)
        return st.just(_OMITTED) | kind if parameter.optional else kind

    def _call(self, values: Sequence[Any]) -> Call:
        positional: list[Any] = []
        named: list[tuple[str, Any]] = []
        for parameter, value in zip(self._listed_parameters, values, strict=True):
            if value is _OMITTED:
                continue
            if parameter.several:
                positional.extend(value)
            elif parameter.by_name:
                named.append((parameter.name, value))
            else:
                positional.append(value)
        return Call(tuple(positional), tuple(named))


def draw(calls: st.SearchStrategy[Call], number: int, of_seed: int) -> list[Call]:
    """Distinct calls; the same ones for the same seed."""
    drawn: dict[str, Call] = {}

    @seed(of_seed)
    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(calls)
    def collect(call: Call) -> None:
        drawn.setdefault(call.written(""), call)

    with lent_recursion_limit(), undisturbed():  # Hypothesis parses the sources of functions
        collect()
    return list(drawn.values())


def plan(
    shapes: Shapes,
    node: FunctionNode,
    owner: ast.ClassDef | None,
    seen: Sequence[Call],
    recorded: Sequence[Call] = (),
) -> CallPlan:
    """The plan of calls of a function.

    Args:
        shapes: Values by type.
        owner: Its class, if it is a method.
        seen: Calls of it found in the code.
        recorded: Those that its tests make, of a method with its object.
    """
    decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
    constructor = owner is not None and node.name in {"__init__", "__new__"}
    bound = owner is not None and "staticmethod" not in decorators
    of_object = owner is not None and bound and not constructor and "classmethod" not in decorators
    target = f"{owner.name}.{node.name}" if owner else node.name
    target = owner.name if owner is not None and constructor else target
    arguments = node.args
    needed = required_parameters(arguments)[1 if bound else 0 :]
    direct = () if of_object else tuple(call for call in seen if _fits(call, arguments, len(needed)))
    values = [*recorded, *seen] if not of_object else seen
    parameters: tuple[Parameter, ...] | str
    try:
        first = [_self(shapes, owner)] if owner is not None and of_object else []
        others = [
            Parameter(argument.arg, False, False, False, _kinds(shapes, argument, at, values))
            for at, argument in enumerate(needed)
        ]
        parameters = (*first, *others, *_others(shapes, arguments, len(needed), values))
    except Unknown as error:
        parameters = str(error)
    return CallPlan(target, shapes, parameters, (*recorded, *direct), bool(recorded))


def _self(shapes: Shapes, owner: ast.ClassDef) -> Parameter:
    return Parameter("self", False, False, False, (_instance(shapes, owner),))


def _instance(shapes: Shapes, owner: ast.ClassDef) -> Strategy:
    try:
        return shapes.instances(owner.name)
    except Unknown as error:
        raise Unknown(f"no object to call it on can be built: {error}") from None


def _others(shapes: Shapes, arguments: ast.arguments, needed: int, seen: Sequence[Call]) -> list[Parameter]:
    """Parameters that have defaults, are passed by name, or take any number of values."""
    parameters = []
    if arguments.vararg:
        kinds = _kinds(shapes, arguments.vararg, needed, seen)
        parameters.append(Parameter(arguments.vararg.arg, False, False, True, kinds[:1]))
    by_position = (
        arguments.args[len(arguments.args) - len(arguments.defaults) :] if arguments.defaults else []
    )
    pairs = list(zip(by_position[::-1], arguments.defaults[::-1], strict=False))[::-1]
    pairs += list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))  # type: ignore[arg-type]
    for argument, default in pairs:
        if arguments.vararg and argument not in arguments.kwonlyargs:
            continue  # it can only be passed by position, before the variable arguments
        kind = _optional(shapes, argument, default, seen)
        if kind is not None:
            parameters.append(Parameter(argument.arg, True, default is not None, False, (kind,)))
    return parameters


def _optional(
    shapes: Shapes, parameter: ast.arg, default: ast.expr | None, seen: Sequence[Call]
) -> Strategy | None:
    """Values for a parameter, usually with a default; None if it should be omitted."""
    try:
        if parameter.annotation is not None:
            return shapes.of(parameter.annotation)
        given_values = [value for call in seen for name, value in call.named if name == parameter.arg]
        if default is None:
            return (
                st.one_of([shapes.like(value) for value in given_values])
                if given_values
                else shapes.anything()
            )
        value = ast.literal_eval(default)
        alternatives = [shapes.like(example) for example in [*given_values, value] if example is not None]
        return st.one_of(alternatives) if alternatives else None
    except (Unknown, ValueError, TypeError, SyntaxError):
        if default is None:
            raise
        return None


def _kinds(shapes: Shapes, parameter: ast.arg, at: int, seen: Sequence[Call]) -> tuple[Strategy, ...]:
    if parameter.annotation is not None:
        try:
            return (shapes.of(parameter.annotation),)
        except Unknown as error:
            raise Unknown(f"no values of the type {error} are known, for {parameter.arg}") from None
    values = [call.positional[at] for call in seen if len(call.positional) > at]
    values += [value for call in seen for name, value in call.named if name == parameter.arg]
    if values:
        kinds = {kind_of(value): value for value in values}
        return (st.one_of([shapes.like(value) for value in kinds.values()]),)
    words = shapes.texts()
    return (
        shapes.integers(),
        words,
        shapes.lists(shapes.integers()),
        shapes.lists(words),
        shapes.floats(),
        st.dictionaries(words, shapes.integers(), max_size=5),
        shapes.lists(shapes.lists(shapes.integers())),
        shapes.lists(st.tuples(words, shapes.integers())),
        shapes.lists(shapes.integers()).map(tuple),
        st.booleans(),
    )


def _fits(call: Call, arguments: ast.arguments, needed: int) -> bool:
    given_names = {name for name, _ in call.named}
    parameter_names = {argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)}
    enough = len(call.positional) + len(given_names) >= needed
    most = len(arguments.posonlyargs) + len(arguments.args)
    return (
        enough
        and given_names <= parameter_names
        and (arguments.vararg is not None or len(call.positional) <= most)
    )
