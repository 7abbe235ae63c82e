"""The text of a function: its visible part, its docstring, and the function without a body."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

import tree_sitter

from counterlens.confidence.units import Unit, units
from counterlens.probes.prompts.language import PromptLanguage, prompting_of
from counterlens.syntax.document import Document
from counterlens.syntax.functions import MODULE, Function, find_function
from counterlens.text import line_start

WHOLE_BYTES = 2048
"""Length up to which a whole file is shown; of a longer one, only what the function uses."""
SHOWN_BYTES = 4096
"""Maximum length of a function and of the definitions shown with it, in bytes."""
_WORD = re.compile(rb"\w+")
MASK = "<FILL>"
"""The placeholder for a hidden name, as in the paper (Nguyen et al. 2024, section 4.3)."""


def visible_part(document: Document, function: Function) -> str:
    r"""The visible part of a program: the whole program if it is short, else what the function uses.

    That is the header of the file, the definitions of the file that the function uses, also through others,
    as far as there is room, and the definition around the function up to the function's end. The function's
    docstring is left out, because its examples would reveal answers. Line ends are `\n`.
    """
    return _text_of(document, _visible(document, function))


def body_lines(document: Document, function: Function) -> tuple[list[str], range]:
    """The lines of the visible part without blank ones at its ends, and which are of the function's body."""
    shown = _visible(document, function)
    text = _text_of(document, shown)
    blank = text[: len(text) - len(text.lstrip())].count("\n")
    first, last = (
        _text_of(document, [(low, min(high, end)) for low, high in shown if low < end]).rstrip().count("\n")
        for end in (function.start + 1, function.end)
    )
    header = document.data[function.start : function.body].count(b"\n")
    return text.strip().split("\n"), range(first - blank + header, last - blank + 1)


def _visible(document: Document, function: Function) -> list[tuple[int, int]]:
    """The byte ranges of the visible part, in order."""
    data = document.data
    whole = len(data) <= WHOLE_BYTES or function.name == MODULE
    shown = [(0, len(data))] if whole else used_parts(document, function)
    first, behind = docstring(document, function)
    return [
        (max(start, low), min(end, high))
        for start, end in shown
        for low, high in ((0, first), (behind, end))
        if max(start, low) < min(end, high)
    ]


def _text_of(document: Document, parts: Sequence[tuple[int, int]]) -> str:
    text = b"".join(document.data[start:end] for start, end in parts)
    return text.replace(b"\r\n", b"\n").decode("utf-8", "replace")


def used_parts(document: Document, function: Function) -> list[tuple[int, int]]:
    """The byte ranges of the header, of what a function uses (by name), and of the function, in order.

    The part of the function ends with the function, and begins with the definition around it.
    """
    data, parts = document.data, units(document)
    own = next(unit for unit in parts if unit.start <= function.header < unit.end)
    shown = [(own.start, function.end)]
    others = {
        (max(unit.start, own.context), unit.end): _names_defined(document.tree.root_node, unit)
        for unit in parts
        if unit != own and unit.end > own.context
    }
    for start, end in shown:  # grows: what is shown may use more
        words = set(_WORD.findall(data[start:end]))
        for part, names in others.items():
            room = SHOWN_BYTES - sum(end - start for start, end in shown)
            if part not in shown and names & words and part[1] - part[0] <= room:
                shown.append(part)
    return [(0, own.context), *sorted(shown)]


def _names_defined(node: tree_sitter.Node, unit: Unit) -> set[bytes]:
    """The names that a part of a file defines: of functions, types and variables."""
    if node.end_byte <= unit.start or unit.end <= node.start_byte:
        return set()
    if node.start_byte < unit.start or unit.end < node.end_byte or node.parent is None:
        return {name for child in node.children for name in _names_defined(child, unit)}
    inner: tree_sitter.Node | None = node
    while inner is not None:
        named = inner.child_by_field_name("name") or inner.child_by_field_name("left")
        if named is not None:
            return {named.text or b""}
        inner = (
            inner.child_by_field_name("definition")
            or inner.child_by_field_name("declarator")
            or (
                inner.named_children[0] if inner.type.endswith("statement") and inner.named_children else None
            )
        )
    return set()


def definition(document: Document, qualname: str) -> str:
    r"""A function's definition without its docstring, dedented, with `\n` at line ends."""
    function = find_function(document, qualname)
    return _edit(document, function, _cut_out(document, function))


def mask(document: Document, qualname: str) -> str:
    """Like `definition`, with every reference to the function by its name hidden.

    References are recursive calls, also through `self` or the class, and the word in comments and strings,
    which would reveal the name. An attribute of another object and an argument's name are not references.
    """
    function = find_function(document, qualname)
    owners, cut = set(function.qualname.partition("(")[0].split(".")[:-1]), docstring(document, function)
    names = [
        (start, end, MASK)
        for start, end in _names(document.tree.root_node, function, owners, prompting_of(document.language))
        if function.start <= start and end <= function.end and not cut[0] <= start < cut[1]
    ]
    return _edit(document, function, sorted([*_cut_out(document, function), *names]))


def docstring(document: Document, function: Function) -> tuple[int, int]:
    return prompting_of(document.language).docstring(document, function)


def behind_docstring(document: Document, function: Function) -> int:
    return prompting_of(document.language).behind_docstring(document, function)


def hollow(document: Document, function: Function, text: str = "") -> Document:
    return prompting_of(document.language).hollow(document, function, text)


def _cut_out(document: Document, function: Function) -> list[tuple[int, int, str]]:
    """The edit that removes a docstring inside a function; none for documentation above it."""
    start, end = docstring(document, function)
    return [(start, end, "")] if start >= function.start else []


def _edit(document: Document, function: Function, edits: Sequence[tuple[int, int, str]]) -> str:
    """A function's text, dedented, with some byte ranges replaced; the edits are in order."""
    data, at, pieces = document.data, line_start(document.data, function.start), []
    for start, end, text in edits:
        pieces += [data[at:start], text.encode()]
        at = end
    whole = b"".join([*pieces, data[at : function.end]]).replace(b"\r\n", b"\n")
    return textwrap.dedent(whole.decode("utf-8", "replace")).rstrip()


def _names(
    node: tree_sitter.Node, function: Function, owners: set[str], language: PromptLanguage
) -> Iterator[tuple[int, int]]:
    """The byte ranges where the name refers to the function, in the order of the text."""
    name = function.name.encode()
    if node.type == "identifier":
        if node.text == name and language.names(node, owners):
            yield node.start_byte, node.end_byte
    elif node.type in language.texts:
        for word in re.finditer(rb"(?<!\w)" + re.escape(name) + rb"(?!\w)", node.text or b""):
            yield node.start_byte + word.start(), node.start_byte + word.end()
    else:
        for child in node.children:
            yield from _names(child, function, owners, language)
