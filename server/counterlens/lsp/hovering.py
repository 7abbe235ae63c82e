"""The content of a hover from several features: three lines, and the rest behind "more"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from counterlens.lsp.language import t


@dataclass(frozen=True, slots=True)
class HoverPart:
    """One part of a hover, as Markdown.

    Attributes:
        brief: A line.
        detail: The text behind "more".
    """

    brief: str = ""
    detail: str = ""


LINES = 3
"""Lines above "more"."""


def join(parts: Iterable[HoverPart], menu: str = "", *, folds: bool) -> str:
    """Join all parts: the first lines, then the rest.

    Args:
        parts: The parts, most important first.
        menu: Commands below the lines.
        folds: Whether the client can fold; if not, everything is shown.
    """
    shown_parts = [part for part in parts if part.brief or part.detail]
    lines = [part.brief for part in shown_parts if part.brief]
    behind = [*lines[LINES:], *(part.detail for part in shown_parts if part.detail)]
    shown = "\n\n".join([*lines[:LINES], *([menu] if menu else ())])
    rest = "\n\n".join(behind)
    if not (shown and rest):
        return shown or rest
    if not folds:
        return f"{shown}\n\n---\n\n{rest}"
    return f"{shown}\n\n<details><summary>{t('more')}</summary>\n\n{rest}\n\n</details>"
