"""A scored document as one self-contained page: the code, its levels, hover details and the tree.

The page loads nothing and may run only its own script, which its content security policy names by hash. Text
from the document or the model is JSON in a block that it cannot leave (it contains no `<`), and the script
creates only text nodes from it.
"""

from __future__ import annotations

import re
from importlib.resources import files

from counterlens.confidence.aggregate import Confidence
from counterlens.confidence.granularity import Granularity
from counterlens.models.base import ModelInfo
from counterlens.reports.page.payload import payload
from counterlens.reports.render.html import embedded, escape, policy

__all__ = ["page"]


def page(found: Confidence, info: ModelInfo, by: Granularity = Granularity.STATEMENT) -> str:
    """The page, as one text of ASCII characters.

    Args:
        found: The scored document.
        info: The model that scored it.
        by: The granularity of the colours when the page opens.
    """
    template, style, script = (_asset(f"page.{ending}") for ending in ("html", "css", "js"))
    name = found.document.path.name if found.document.path else "text"
    values = {
        "title": escape(f"{name} - Counterlens"),
        "policy": policy([script], [style]),
        "style": style,
        "script": script,
        "data": embedded(payload(found, info, by)),
    }
    # In one pass, so that a placeholder inside an inserted text is not replaced.
    filled = re.sub(r"\{\{(\w+)\}\}", lambda place: values[place[1]], template)
    return filled.encode("ascii", "xmlcharrefreplace").decode()


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
