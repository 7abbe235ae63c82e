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
from counterlens.confidence.exclusion import directive, ignore_comments
from counterlens.confidence.scoring import distinguishable
from counterlens.syntax.concepts import Category
from counterlens.syntax.document import STRICT, WORDS, Document

_HEAD = re.compile(rb"#!|[ \t]*#.*?coding[:=]")

_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Replacement:
    """A piece of a document, and the text that the model would have written there.

    Attributes:
        start: First byte to replace.
        end: The byte after the last.
        probability: Probability of its first token.
    """

    start: int
    end: int
    text: str
    probability: float


def replacements(confidence: Confidence, token: int, *, limit: int = 3) -> tuple[Replacement, ...]:
    """The alternatives to a token that parse and that the model finds likelier, by more than noise.

    An alternative replaces the token and the rest of its leaf of the tree, because that rest belongs to a
    word that the model would not have begun.

    Args:
        confidence: The document's scores.
        token: The index of a token.
        limit: Maximum number of alternatives.
    """
    scores, document = confidence.scores, confidence.document
    start, end = int(scores.start[token]), int(scores.end[token])
    start += _blank(document.data[start:end].decode("utf-8", "replace"))
    leaf = _leaf(document.tree, start)
    end = max(end, leaf.end_byte) if leaf is not None else end
    now = document.data[start:end].decode("utf-8", "replace")
    head = document.data[leaf.start_byte : start].decode("utf-8", "replace") if leaf is not None else ""
    words = known_words(document)
    kept: dict[str, Replacement] = {}
    for text, logprob in zip(
        scores.alternative_text[token], scores.alternative_logprob[token].tolist(), strict=False
    ):
        written = text.strip()
        if logprob < scores.logprob[token] or not distinguishable(logprob, float(scores.logprob[token])):
            continue
        if not written or "\n" in written or written in kept or written == now.strip():
            continue
        replacement = Replacement(start, end, written, math.exp(logprob))
        whole = _WORD.fullmatch(head + written)
        if (whole is None or head + written in words) and parses(document, replacement):
            kept[written] = replacement
    return tuple(kept.values())[:limit]


def parses(document: Document, replacement: Replacement) -> bool:
    """Whether the top-level definition or statement around a replacement has no errors with it."""
    changed = replace_in(document, replacement)
    tree = Document(changed, document.path, document.language).tree
    size = len(replacement.text.encode())
    inside = (
        child for child in tree.root_node.children if child.start_byte <= replacement.start < child.end_byte
    )
    around = next(inside, None)
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


def replace_in(document: Document, replacement: Replacement) -> str:
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


def known_words(document: Document) -> frozenset[str]:
    """The words of a document, and the keywords and builtins of its language."""
    return frozenset(_WORD.findall(document.text)) | WORDS.get(document.language, frozenset())


def ignoring_edit(
    document: Document, start: int, end: int, category: Category | None
) -> tuple[int, str] | None:
    """The position and text of a comment that ignores a place: a byte offset and a text.

    Without a category it ignores all. It goes to the end of the line of the place, or above that line if it
    would not be a comment there; None if it would not be one in either position.
    """
    data, positions = document.data, document.positions
    comment = directive(document.language, category)
    line = positions.line_of(start)
    begin = positions.line_start(line)
    stop = positions.line_start(line + 1) if line + 1 < positions.lines else len(data)
    content = data[begin:stop].rstrip(b"\r\n")
    indentation = content[: len(content) - len(content.lstrip())].decode("utf-8", "replace")
    choices = [
        (begin + len(content.rstrip()), f"  {comment}", 0),
        (begin, f"{indentation}{comment}{_newline(document)}", 1),
    ]
    broken = document.tree.root_node.has_error
    meant = [category] if category else list(Category)
    for offset, text, above in choices:
        size = len(text.encode()) if above else 0
        changed = (data[:offset] + text.encode() + data[offset:]).decode("utf-8", "surrogatepass")
        edited = Document(changed, document.path, document.language)
        if edited.tree.root_node.has_error and not broken:
            continue
        if all(ignore_comments(edited).covers(start + size, end + size, kind) for kind in meant):
            return offset, text
    return None


def below_head(document: Document) -> int:
    """The offset after the lines that must be first in a file: interpreter and encoding."""
    line = 0
    while line < 2 and _HEAD.match(document.data, document.positions.line_start(line)):
        line += 1
    return document.positions.line_start(line)


def ignoring_file(document: Document, category: Category) -> tuple[int, str]:
    """The position (a byte offset) and text of a comment that ignores a category in the whole file."""
    comment = directive(document.language, category, whole_file=True)
    return below_head(document), f"{comment}{_newline(document)}"


def _newline(document: Document) -> str:
    return "\r\n" if b"\r\n" in document.data else "\n"
