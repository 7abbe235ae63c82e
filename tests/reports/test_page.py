"""The page needs nothing else, runs nothing but its own script, and shows a document as it is."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.confidence import Confidence, confidence
from counterlens.confidence.granularity import Granularity
from counterlens.models.base import ModelInfo
from counterlens.reports.page import page
from counterlens.syntax.document import Document
from tests.confidence.test_confidence import scores_of

INFO = ModelInfo("m", "Model </script><script>alert(0)</script>", "0", "local", frozenset())
EVIL = """# </script><script>alert(1)</script> <!-- <![CDATA[ {{data}} {{title}}
x = "</SCRIPT ><img src=x onerror=alert(2)>😀\u2028&lt;"  # \x1b[31m é
"""


def scored(text: str) -> Confidence:
    size = len(text.encode("utf-8", "surrogatepass"))
    return confidence(Document(text), scores_of(text, list(range(1, size)), [-0.3] * max(size, 1)))


class Tags(HTMLParser):
    """The tags of a page, its data, its policy."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.blocks: dict[str, str] = {}
        self.policy = ""
        self.data: Any = None
        self._inside = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.attributes |= set(given)
        self._inside = "data" if given.get("type") == "application/json" else tag
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""

    def handle_data(self, data: str) -> None:
        if self._inside == "data":
            self.data = json.loads(data)
        elif self._inside in {"script", "style", "title"}:
            self.blocks[self._inside] = self.blocks.get(self._inside, "") + data
        self._inside = "" if data.strip() else self._inside


@pytest.mark.parametrize("text", [EVIL, "x = 1\n", "", "a\r\nb\r\n", "{{script}}"])
def test_nothing_of_a_document_becomes_a_part_of_the_page(text: str) -> None:
    benign = Tags(page(scored("y = 2\n"), ModelInfo("m", "M", "0", "local", frozenset())))
    found = Tags(page(scored(text), INFO))
    assert found.tags == benign.tags
    assert found.attributes == benign.attributes
    assert found.blocks == benign.blocks
    assert found.data["text"] == text
    assert found.data["model"] == INFO.name


def test_a_files_name_is_only_text() -> None:
    one = scored("x = 1\n")
    named = Confidence(
        Document("x = 1\n", Path("</title><script>{{data}}.py")), one.scores, one.nodes, one.aggregation
    )
    found = Tags(page(named, INFO))
    assert found.blocks["title"] == "title><script>{{data}}.py - Counterlens"
    assert found.tags.count("script") == 2
    assert found.data["text"] == "x = 1\n"


def test_the_policy_allows_the_pages_own_script_and_style_and_nothing_else() -> None:
    source = page(scored(EVIL), INFO)
    found = Tags(source)
    assert source.isascii()
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(found.blocks[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in found.policy
    assert "default-src 'none'" in found.policy
    assert "unsafe" not in found.policy
    assert not {"src", "href", "style", "onclick"} & found.attributes
    assert not re.search(r"https?://|innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", source)


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_offsets_count_what_the_pages_script_counts(text: str) -> None:
    source = f"x = 1  # {text.splitlines()[0] if text.splitlines() else ''}\ny = 'é😀'\n"
    found = scored(source)
    data = Tags(page(found, INFO)).data
    units = source.encode("utf-16-le", "surrogatepass")
    for row, node in zip(data["nodes"], found.nodes, strict=True):
        shown = units[2 * row[2] : 2 * row[3]].decode("utf-16-le", "surrogatepass")
        assert shown == found.document.data[node.start : node.end].decode("utf-8", "surrogatepass")
    for name in Granularity:
        spans = data["spans"][name]
        assert all(one[1] <= two[0] for one, two in pairwise(spans))
