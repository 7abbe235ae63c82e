"""A program without comments and docstrings (Liu et al. 2024, section IV-B)."""

from __future__ import annotations

import io
import tokenize
from dataclasses import replace

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
