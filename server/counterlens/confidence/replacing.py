"""The model's replacement of a surprising token, if the code still parses with it.

An alternative is one token, so it may be only the beginning of a word. Hence a word is offered only if it is
complete: a keyword or builtin of the language, or a word of the document.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import tree_sitter

from counterlens.confidence.aggregate import Confidence
from counterlens.confidence.noise import distinguishable
from counterlens.syntax.document import Document
from counterlens.syntax.strictness import STRICT, WORDS

_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Replacement:
    """A piece of a document, and the text that the model would have written there.

    Attributes:
        start: First byte to replace.
        end: The byte after the last.
        text: The replacement.
        probability: Probability of its first token.
    """

    start: int
    end: int
    text: str
    probability: float


def replacements(found: Confidence, token: int, *, limit: int = 3) -> tuple[Replacement, ...]:
    """The alternatives to a token that parse and that the model finds likelier, by more than noise.

    An alternative replaces the token and the rest of its leaf of the tree, because that rest belongs to a
    word that the model would not have begun.

    Args:
        found: The document's scores.
        token: The index of a token.
        limit: Maximum number of alternatives.
    """
    scores, document = found.scores, found.document
    start, end = int(scores.start[token]), int(scores.end[token])
    start += _blank(document.data[start:end].decode("utf-8", "replace"))
    leaf = _leaf(document.tree, start)
    end = max(end, leaf.end_byte) if leaf is not None else end
    now = document.data[start:end].decode("utf-8", "replace")
    head = document.data[leaf.start_byte : start].decode("utf-8", "replace") if leaf is not None else ""
    words = _words(document)
    kept: dict[str, Replacement] = {}
    for text, logprob in zip(
        scores.alternative_text[token], scores.alternative_logprob[token].tolist(), strict=False
    ):
        written = text.strip()
        if logprob < scores.logprob[token] or not distinguishable(logprob, float(scores.logprob[token])):
            continue
        if not written or "\n" in written or written in kept or written == now.strip():
            continue
        one = Replacement(start, end, written, math.exp(logprob))
        whole = _WORD.fullmatch(head + written)
        if (whole is None or head + written in words) and parses(document, one):
            kept[written] = one
    return tuple(kept.values())[:limit]


def parses(document: Document, replacement: Replacement) -> bool:
    """Whether the top-level definition or statement around a replacement has no errors with it."""
    changed = replaced(document, replacement)
    tree = Document(changed, document.path, document.language).tree
    size = len(replacement.text.encode())
    around = _top_level(tree, replacement.start)
    written = _leaf(tree, replacement.start)
    if around is None or around.has_error or written is None or written.type.endswith("comment"):
        return False
    if size and around.end_byte < replacement.start + size:
        return False
    strict = STRICT.get(document.language)
    if strict is None:
        return True
    try:
        strict(changed.encode()[around.start_byte : around.end_byte])
    except (SyntaxError, ValueError):
        return False
    return True


def replaced(document: Document, replacement: Replacement) -> str:
    """The whole text with the replacement."""
    data = document.data
    return (data[: replacement.start] + replacement.text.encode() + data[replacement.end :]).decode(
        "utf-8", "surrogatepass"
    )


def _blank(text: str) -> int:
    """The number of leading bytes of a token that are blanks."""
    return len(text.encode()) - len(text.lstrip().encode())


def _leaf(tree: tree_sitter.Tree, offset: int) -> tree_sitter.Node | None:
    node = tree.root_node.descendant_for_byte_range(offset, offset + 1)
    return node if node is not None and node.child_count == 0 else None


def _top_level(tree: tree_sitter.Tree, offset: int) -> tree_sitter.Node | None:
    inside = (child for child in tree.root_node.children if child.start_byte <= offset < child.end_byte)
    return next(inside, None)


def _words(document: Document) -> frozenset[str]:
    return frozenset(_WORD.findall(document.text)) | WORDS.get(document.language, frozenset())
