"""The mutants of a function: one change each, which its tests should notice.

They are the breaking mutations and, for what these lack, alternatives of doubt: boundaries, constants,
indices, exits and results. Of comparisons only those are tried whose tests also notice the others: Kaminski,
Ammann and Offutt 2013, "Improving logic-based testing", Journal of Systems and Software 86(8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter

from counterlens.doubt.alternative import Alternative, DoubtExample, DoubtKind
from counterlens.doubt.generating import changed_text, fits
from counterlens.doubt.registry import DOUBT_KINDS
from counterlens.doubt.scope import DoubtScope, around
from counterlens.mutations import Counterfactual, mutated, survey
from counterlens.syntax.definitions import text_of

_SUFFICIENT = {
    "<": {"<=", "!="},
    ">": {">=", "!="},
    "<=": {"<", "=="},
    ">=": {">", "=="},
    "==": {"<=", ">="},
    "!=": {"<", ">"},
}
_SHOWN = frozenset(
    {"comparison_operator", "binary_operator", "boolean_operator", "call", "subscript", "pair", "assignment"}
    | {"augmented_assignment", "return_statement", "conditional_expression", "keyword_argument", "tuple"}
    | {"default_parameter", "typed_default_parameter", "list", "set", "unary_operator", "not_operator"}
)
"""Nodes that show where a change is."""
_WIDTH = 60


class LostResult(DoubtKind):
    """`None` is returned in place of a value."""

    id = "result"
    EXAMPLES = (
        DoubtExample("def f(a):\n    if a:\n        return\n    return a + 1\n", ("a + 1 -> None",)),
        DoubtExample("def f(a):\n    return None\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        for node in scope.of("return_statement"):
            for value in node.named_children:
                if value.type not in {"none", "comment"}:
                    yield self.instead(value, "None")


class LostText(DoubtKind):
    """A string is emptied, except in a message: the argument of an exception, or of an `assert`."""

    id = "text"
    EXAMPLES = (
        DoubtExample("def f(a):\n    '''Doc.'''\n    return a + 'x' + ''\n", ("'x' -> ''",)),
        DoubtExample("def f(a):\n    assert a, 'why'\n    raise ValueError('no')\n", ()),
    )

    def alternatives(self, scope: DoubtScope) -> Iterator[Alternative]:
        for node in scope.strings:
            if around(node, "raise_statement", "assert_statement") is None:
                quotes = [child for child in node.children if child.type in {"string_start", "string_end"}]
                yield self.instead(node, "".join(map(text_of, quotes)))


MUTANT_KINDS = {
    kind.id: kind
    for kind in (
        *(DOUBT_KINDS[name] for name in ("comparison", "boolean", "membership", "boundary", "constant")),
        *(DOUBT_KINDS[name] for name in ("index", "exits", "return")),
        LostResult(),
        LostText(),
    )
}
"""The kinds of alternatives that tests should notice, by id."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A function with one change.

    Attributes:
        kind: The id of its mutation, or of its kind of alternatives.
        description: The change, in words.
        alternative: The change.
        start_line: The first line that it changes, 1-based.
        end_line: The last one.
    """

    scope: DoubtScope
    kind: str
    description: str
    alternative: Alternative
    start_line: int
    end_line: int

    @property
    def source(self) -> str:
        """The whole document with the change; each call makes it anew."""
        return changed_text(self.scope.document, self.alternative)


def mutants_of(scope: DoubtScope) -> list[Mutant]:
    """The mutants of a function and of those inside it, each text once, by position."""
    made: dict[str, Mutant] = {}
    for mutant in (*_by_mutations(scope), *_by_alternatives(scope)):
        made.setdefault(mutant.source, mutant)
    return sorted(made.values(), key=lambda mutant: mutant.alternative.start)


def _by_mutations(scope: DoubtScope) -> Iterator[Mutant]:
    """The mutants by breaking mutations."""
    breaking = [
        mutation
        for mutation in mutated(scope.document.language).mutations.values()
        if not mutation.preserving
    ]
    name = scope.function.qualname
    for counterfactual in survey(scope.document.text, mutations=breaking).counterfactuals:
        if counterfactual.function == name or counterfactual.function.startswith(f"{name}."):
            yield Mutant(
                scope,
                counterfactual.mutation,
                counterfactual.description,
                _as_alternative(counterfactual),
                counterfactual.start_line,
                counterfactual.end_line,
            )


def _as_alternative(counterfactual: Counterfactual) -> Alternative:
    changes = counterfactual.changes
    start, end = changes[0].original[0], changes[-1].original[1]
    first, last = changes[0].mutated[0], changes[-1].mutated[1]
    text = counterfactual.rendered.data[first:last].decode("utf-8", "replace").replace("\r\n", "\n")
    return Alternative(counterfactual.mutation, start, end, text)


def _by_alternatives(scope: DoubtScope) -> Iterator[Mutant]:
    """The mutants by alternatives."""
    line_of = scope.document.positions.line_of
    for kind in MUTANT_KINDS.values():
        offered = list(kind.alternatives(scope))
        for alternative in offered:
            text = scope.text(alternative.start, alternative.end)
            if (
                text != alternative.text
                and _is_needed(text, alternative, offered)
                and fits(scope, alternative)
            ):
                start, end = (line_of(at) + 1 for at in alternative.place)
                yield Mutant(scope, kind.id, _describe(scope, alternative), alternative, start, end)


def _is_needed(text: str, alternative: Alternative, offered: list[Alternative]) -> bool:
    """Whether a mutant says something that the others of its place do not."""
    if alternative.kind == "boundary" and text.isdecimal():
        return alternative.text.isdecimal() and abs(int(text) - int(alternative.text)) == 1
    sufficient = _SUFFICIENT.get(text, set()) if alternative.kind == "comparison" else set()
    near = {other.text for other in offered if other.place == alternative.place} & sufficient
    return not near or alternative.text in near


def _describe(scope: DoubtScope, alternative: Alternative) -> str:
    """A change in words, with the code around it if there is room."""
    start, end = alternative.place
    text, other = " ".join(scope.text(start, end).split()), " ".join(alternative.text.split())
    if alternative.start == alternative.end:
        return f"added `{other}`"
    if text == other:
        return f"moved `{text}` to another block"
    node = _around(scope, start, end)
    before, after = scope.text(node.start_byte, start), scope.text(end, node.end_byte)
    whole, changed = f"{before}{text}{after}", f"{before}{other}{after}"
    if "\n" not in whole and max(len(whole), len(changed)) <= _WIDTH:
        text, other = whole, changed
    return f"replaced `{text}` by `{other}`"


def _around(scope: DoubtScope, start: int, end: int) -> tree_sitter.Node:
    """The innermost expression or statement that shows where a changed range is."""
    node = scope.document.tree.root_node.descendant_for_byte_range(start, end)
    assert node is not None
    while node.type not in _SHOWN or (node.start_byte, node.end_byte) == (start, end):
        if node.parent is None or node.parent.type in {"block", "parameters", "module"}:
            break
        node = node.parent
    return node
