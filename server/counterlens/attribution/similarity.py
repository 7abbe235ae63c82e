"""Textual and structural similarity of two functions: a weak hint, never a verdict.

Different texts may behave the same, and similar texts may not (Hooda et al. 2024, section 4.3), so similarity
has a separate type, which is never mixed with judgements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

import tree_sitter

from counterlens.dependence import Kind, dependences
from counterlens.errors import CounterlensError
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function


@dataclass(frozen=True, slots=True)
class Similarity:
    """The similarity of a candidate to a reference; every part is between 0 and 1.

    Attributes:
        ngrams: BLEU over the tokens of the code (sacrebleu, smoothed).
        syntax: Share of the reference's subtrees that the candidate has, ignoring names and literals.
        data_flow: Share of the reference's data dependences that the candidate has, with variables numbered
            in order of appearance; None if the reference has none or does not parse.
        chrf: chrF over the characters (Popović 2015, sacrebleu).
    """

    ngrams: float
    syntax: float
    data_flow: float | None
    chrf: float

    @property
    def combined(self) -> float:
        """The mean of the first three, as in CodeBLEU, but without its keyword weights."""
        parts = [part for part in (self.ngrams, self.syntax, self.data_flow) if part is not None]
        return sum(parts) / len(parts)


def similarity(reference: Document, candidate: Document, qualname: str) -> Similarity:
    """Compare one function of two versions of a file.

    Args:
        reference: The right version.
        candidate: The version to compare.
        qualname: The function, which both must have.

    Raises:
        SourceError: a version does not have the function.
        CounterlensError: sacrebleu is not installed.
    """
    try:
        import sacrebleu
    except ImportError:
        raise CounterlensError(
            "text similarity needs sacrebleu", "Install it with: pip install 'counterlens[statistics]'"
        ) from None
    ours, theirs = _part(reference, qualname), _part(candidate, qualname)
    one, other = _text(reference, ours), _text(candidate, theirs)
    tokens = " ".join(_tokens(_node(reference, ours))), " ".join(_tokens(_node(candidate, theirs)))
    bleu = sacrebleu.sentence_bleu(tokens[1], [tokens[0]], tokenize="none", smooth_method="exp")
    return Similarity(
        ngrams=min(bleu.score / 100, 1.0),
        syntax=_share(_subtrees(_node(reference, ours)), _subtrees(_node(candidate, theirs))) or 0.0,
        data_flow=_share(_flow(reference, qualname), _flow(candidate, qualname)),
        chrf=min(sacrebleu.sentence_chrf(other, [one]).score / 100, 1.0),
    )


def _part(document: Document, qualname: str) -> Function:
    return find_function(document, qualname)


def _text(document: Document, function: Function) -> str:
    return document.data[function.header : function.end].decode("utf-8", "replace")


def _node(document: Document, function: Function) -> tree_sitter.Node:
    found = document.tree.root_node.descendant_for_byte_range(function.header, function.end - 1)
    while found is not None and found.type not in {"function_definition", "module"}:
        found = found.parent
    return found or document.tree.root_node


def _walk(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type != "comment":
            yield node
            waiting.extend(reversed(node.children))


def _tokens(root: tree_sitter.Node) -> Iterator[str]:
    for node in _walk(root):
        if not node.children and node.text:
            yield node.text.decode("utf-8", "replace").replace(" ", "\u2423").replace("\n", "\u2424")


def _subtrees(root: tree_sitter.Node) -> Iterable[Hashable]:
    """The shape of every inner node: its type, and the types of its descendants to two levels."""
    for node in _walk(root):
        if node.named_children:
            yield (
                node.type,
                tuple((child.type, tuple(below.type for below in child.children)) for child in node.children),
            )


def _flow(document: Document, qualname: str) -> Iterable[Hashable]:
    """The data dependences: the types of both statements, and the number of the variable."""
    try:
        found = dependences(document.text, qualname)
    except (CounterlensError, SyntaxError, ValueError):
        return []
    numbers: dict[str, int] = {}
    edges = sorted(
        (edge for edge in found.edges if edge.kind is not Kind.CONTROL),
        key=lambda edge: (edge.source, edge.target, edge.variable),
    )
    kinds = [type(node).__name__ for node in found.nodes]
    return [
        (kinds[edge.source], kinds[edge.target], numbers.setdefault(edge.variable, len(numbers)))
        for edge in edges
    ]


def _share(reference: Iterable[Hashable], candidate: Iterable[Hashable]) -> float | None:
    """The share of the reference's parts that the candidate also has; None if there are none."""
    wanted, there = Counter(reference), Counter(candidate)
    total = sum(wanted.values())
    return sum((wanted & there).values()) / total if total else None
