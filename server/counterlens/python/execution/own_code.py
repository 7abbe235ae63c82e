"""A program without comments, and without texts that are statements (Liu et al. 2024, section IV-B)."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import replace

from counterlens.python.syntax.parsing import parse_module
from counterlens.syntax.document import Document


def without_comments(document: Document) -> Document:
    """A document without its comments; unchanged if it cannot be parsed as Python."""
    lines = document.text.splitlines(keepends=True)
    try:
        comments = [
            token
            for token in tokenize.generate_tokens(io.StringIO(document.text).readline)
            if token.type == tokenize.COMMENT
        ]
    except (tokenize.TokenError, SyntaxError):
        return document
    alone: set[int] = set()
    for token in comments:
        row, column = token.start
        line = lines[row - 1]
        kept = line[:column].rstrip()
        ending = line[len(line.rstrip("\r\n")) :]
        lines[row - 1] = kept + ending
        if not kept:
            alone.add(row - 1)
    text = "".join(line for number, line in enumerate(lines) if number not in alone)
    return replace(document, text=text)


def without_texts(document: Document) -> Document:
    """A document without docstrings and other texts that are statements, whole lines of them.

    A text stays if it is all that its block has. A document that cannot be read as Python stays as it is.
    """
    try:
        module = parse_module(document.text)
    except (SyntaxError, ValueError):
        return document
    cut: set[int] = set()
    for node in ast.walk(module):
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if not isinstance(block, list):
                continue
            texts = [statement for statement in block if _is_text(statement)]
            others = {
                line
                for sibling in block
                if sibling not in texts
                for line in (sibling.lineno, sibling.end_lineno)
            }
            if len(texts) < len(block):
                spans = (range(text.lineno, (text.end_lineno or text.lineno) + 1) for text in texts)
                cut.update(line for span in spans if not others & {*span} for line in span)
    lines = document.text.split("\n")
    return replace(
        document, text="\n".join(line for number, line in enumerate(lines, 1) if number not in cut)
    )


def _is_text(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
