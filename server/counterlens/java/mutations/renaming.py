"""The variables of a Java method that can be renamed, and the base class of the renaming mutations."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from counterlens.java.mutations.module import JavaModule
from counterlens.java.mutations.mutation import JavaContext, JavaMutation
from counterlens.java.mutations.variables import JavaKind, JavaVariable
from counterlens.mutations.base import Concept
from counterlens.mutations.edits import Edit, replace
from counterlens.mutations.mutation import Site, SiteRefused
from counterlens.mutations.names import renaming_described
from counterlens.mutations.parsed import FunctionSpan

_QUIET = {"@Override", "@Deprecated", "@SafeVarargs", "@SuppressWarnings"}


@dataclass(frozen=True, slots=True)
class JavaLocals:
    """The variables and parameters of one method, by name: a name is renamed at all places in the method.

    Attributes:
        safe: Those that can be renamed, by their first occurrence.
        refused: The names that cannot be renamed, with their offsets and the reasons.
    """

    safe: tuple[JavaVariable, ...]
    refused: tuple[tuple[str, int, str], ...]

    @property
    def names(self) -> list[str]:
        """The names that can be replaced; several variables may share one."""
        return list(dict.fromkeys(variable.name for variable in self.safe))


def locals_of(module: JavaModule, function: FunctionSpan) -> JavaLocals:
    """The variables of a method, those of its lambdas included, by whether they can be renamed."""
    known = module.scopes.within(function.start, function.end)
    free = module.scopes.free_names(function.start, function.end)
    node = module.function_nodes[function.start]
    annotated = _is_annotated(module, node)
    of_record = (
        node.type == "constructor_declaration"
        and module.parent(module.parent(node)).type == "record_declaration"
    )
    reasons: dict[str, tuple[int, str]] = {}
    for variable in known:
        reason = _why_not(variable, free)
        if reason is None and variable.kind is JavaKind.PARAMETER:
            reason = _why_fixed(variable.name, annotated=annotated, of_record=of_record)
            if reason is None and "getParameters" in module.words:
                reason = f"reflection may read the name of the parameter `{variable.name}`"
        if reason is not None:
            reasons.setdefault(variable.name, (variable.declared.start_byte, reason))
    safe = tuple(variable for variable in known if variable.name not in reasons)
    return JavaLocals(safe, tuple((name, at, why) for name, (at, why) in reasons.items()))


def _why_not(variable: JavaVariable, free: set[str]) -> str | None:
    name = variable.name
    if variable.kind is JavaKind.PATTERN:
        return f"`{name}` is bound by a pattern, and its scope depends on the control flow"
    if variable.in_class:
        return f"`{name}` is used in a class inside the method, which may have a field of that name"
    if variable.in_label:
        return f"`{name}` is used in a case, where it may be an enum constant"
    if name in free:
        return f"`{name}` also means something else in the method, such as a field"
    return None


def _why_fixed(name: str, *, annotated: bool, of_record: bool) -> str | None:
    """The reason why a parameter must keep its name; None if it need not."""
    if annotated:
        return f"an annotation may read the name of the parameter `{name}`"
    return f"the constructor of a record needs the name of the parameter `{name}`" if of_record else None


def _is_annotated(module: JavaModule, function: Node) -> bool:
    """Whether a method or one of its parameters has an annotation that other code may read."""
    parameters = function.child_by_field_name("parameters")
    parts = [function, *(parameters.named_children if parameters is not None else ())]
    annotations = (
        annotation
        for part in parts
        for modifiers in part.named_children
        if modifiers.type == "modifiers"
        for annotation in modifiers.named_children
        if "annotation" in annotation.type
    )
    return any(module.text(node).partition("(")[0] not in _QUIET for node in annotations)


def renaming_edits(variables: Sequence[JavaVariable], new: dict[str, str]) -> tuple[Edit, ...]:
    """The edits that rename variables at all their occurrences."""
    return tuple(
        replace(node.start_byte, node.end_byte, new[variable.name])
        for variable in variables
        for node in variable.occurrences
        if variable.name in new
    )


def outermost(module: JavaModule) -> list[FunctionSpan]:
    """The methods of a file that are not nested in another one."""
    functions: list[FunctionSpan] = []
    for function in module.functions:
        if not functions or function.start >= functions[-1].end:
            functions.append(function)
    return functions


class JavaRenaming(JavaMutation):
    """Base class: renames the variables and parameters of each method."""

    concept = Concept.NAMING

    @abstractmethod
    def choose(self, context: JavaContext, function: FunctionSpan, names: list[str]) -> dict[str, str]:
        """The new name of each old one; empty if there are none."""

    refusal = "the method has no variables that can be renamed"

    def sites(self, context: JavaContext) -> Iterator[Site | SiteRefused]:
        module = context.module
        for function in outermost(module):
            variables = locals_of(module, function)
            yield from (SiteRefused(at, why) for _, at, why in variables.refused)
            new = self.choose(context, function, variables.names)
            if not new:
                yield SiteRefused(function.start, self.refusal)
                continue
            renamed = [variable for variable in variables.safe if variable.name in new]
            yield Site(
                span=(function.start, function.end),
                description=renaming_described(new.items()),
                edits=renaming_edits(renamed, new),
            )


def derangement(names: list[str], chance: random.Random) -> dict[str, str]:
    """A random permutation of names without fixed points: a cycle in random order."""
    shuffled = list(names)
    chance.shuffle(shuffled)
    return dict(zip(shuffled, [*shuffled[1:], shuffled[0]], strict=True))
