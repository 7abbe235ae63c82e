"""The texts in the source that the server translates into the editor's language, found by their use.

A text with values has placeholders: named ones for `t("… {name} …", name=…)`, numbered ones for an f-string.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "server" / "counterlens"

SAID = {
    "announce": (1, 2),
    "_announce": (1, 2),
    "show": (0,),
    "with_progress": (1,),
    "Announcements": (0, 1, 2, 3),
    "report": (0,),
    "_report": (0,),
    "progress": (0,),
    "next": (0,),
    "step": (1,),
    "_step": (1,),
    "LanguagePart": (2, 3),
}
"""Callees whose texts are translated when sent to the editor, with the positions of these arguments."""

_SENTENCE = re.compile(r"[A-Za-z]{2,}[,:;]? [a-z]{2,}")
_NO_ERRORS = frozenset({"ValueError", "TypeError", "RuntimeError", "NotImplementedError", "JsonRpcException"})


@dataclass
class Texts:
    """The texts found.

    Attributes:
        worded: The literal arguments of `t`.
        chosen: The places where the argument of `t` is not a literal.
        sentences: The texts that are translated when they are sent, by text; not those with only values.
        left: Other sentences, with their places.
    """

    worded: set[str] = field(default_factory=set)
    chosen: set[str] = field(default_factory=set)
    sentences: dict[str, str] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


def variants(node: ast.expr | None, constants: dict[str, ast.expr]) -> Iterator[str]:
    """The possible texts of an expression, if they are literals in it or in the constants."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = iter(range(len(node.values)))
        yield "".join(
            str(one.value) if isinstance(one, ast.Constant) else f"{{{next(parts)}}}" for one in node.values
        )
    elif isinstance(node, ast.IfExp):
        yield from variants(node.body, constants)
        yield from variants(node.orelse, constants)
    elif isinstance(node, ast.BoolOp):
        for one in node.values:
            yield from variants(one, constants)
    elif isinstance(node, ast.Tuple):
        for one in node.elts:
            yield from variants(one, constants)
    elif isinstance(node, ast.Name) and node.id in constants:
        yield from variants(constants[node.id], {})


def is_said(text: str) -> bool:
    """Whether a text needs translation: it has several words, or a word and values."""
    bare = re.sub(r"\{\w+\}", "\0", text)
    return bool(re.search(r"[A-Za-z]{3}", bare) and re.search(r"\s|\0", bare.strip()))


def name_of(call: ast.Call) -> str:
    """The name of the callee, without its module."""
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def texts_of(*places: str, sentences_in: tuple[str, ...] = ()) -> Texts:
    """The texts of files and folders of the package.

    Args:
        places: Files and folders, such as `lsp` or `confidence/exclusion.py`.
        sentences_in: Files and folders in which every text that reads like a sentence counts.
    """
    found = Texts()
    for place in places:
        for path in (
            sorted((PACKAGE / place).rglob("*.py")) if (PACKAGE / place).is_dir() else [PACKAGE / place]
        ):
            name = str(path.relative_to(PACKAGE))
            _read(ast.parse(path.read_text()), name, found, name.startswith(sentences_in or ("\0",)))
    return found


def _read(tree: ast.Module, name: str, found: Texts, everything: bool) -> None:
    constants = {
        target.id: one.value
        for one in tree.body
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    seen: set[ast.AST] = set()
    for node in ast.walk(tree):
        if _is_no_text(node):
            seen.update(ast.walk(node))
        elif isinstance(node, ast.Call) and name_of(node) == "t" and node.args:
            seen.update(ast.walk(node))
            literal = isinstance(node.args[0], ast.Constant)
            for text in variants(node.args[0], {}) if literal else ():
                found.worded.add(text)
            if not literal:
                found.chosen.add(f"{name}: {ast.unparse(node.args[0])}")
        elif isinstance(node, ast.Call):
            for one in _said(node):
                seen.update(ast.walk(one))
                found.sentences |= {text: name for text in variants(one, constants) if is_said(text)}
    for text, line in _strings(tree, seen):
        if everything:
            found.sentences[text] = name
        else:
            found.left.append(f"{name}:{line}: {text}")


def _is_no_text(node: ast.AST) -> bool:
    """Whether a node is a docstring, a mutation's source or example, or a log message."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) == "source"
    return isinstance(node, ast.Call) and ast.unparse(node.func).startswith(("LOG.", "Example"))


def _said(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call that are translated when they are sent to the editor."""
    called = name_of(call)
    if called.endswith("Error") and called not in _NO_ERRORS:
        return call.args[:2]
    return [call.args[at] for at in SAID.get(called, ()) if at < len(call.args)]


def _strings(tree: ast.Module, seen: set[ast.AST]) -> Iterator[tuple[str, int]]:
    """All other literals that read like a sentence, with their lines."""
    for node in ast.walk(tree):
        if node not in seen and isinstance(node, ast.JoinedStr | ast.Constant):
            seen.update(ast.walk(node))
            for text in variants(node, {}):
                if _SENTENCE.search(text) and "\n" not in text:
                    yield text, node.lineno
