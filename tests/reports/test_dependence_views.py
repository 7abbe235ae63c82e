"""Dependences in words and as arcs: each edge once, with what the model makes of it, escaped."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from counterlens.dependence import MODULE, Dependences, dependences
from counterlens.errors import SourceError
from counterlens.models.base import Capability, ModelInfo
from counterlens.probes.dependence.examined import ExaminedFunction, Relation, true_edges
from counterlens.probes.dependence.inferred import InferenceMethod, Inferred, compare
from counterlens.probes.dependence.rules import pairs_by_rule
from counterlens.reports.build.dependences import inferred_report
from counterlens.reports.dependence_views import ROW, dependence_fragment, dependence_markdown
from counterlens.reports.edges import edge_status, overview, phrase, shown_edges
from counterlens.reports.export.dependences import inferred_json
from counterlens.reports.render import markdown

SOURCE = '''class Box:
    def put(self, a, b):
        """Say <b> | `x`."""
        if a < b | 1:
            c = "<i>"; d = c
        else:
            d = a
        return d
'''
INFO = ModelInfo("m", "M<1>", "0", "local", frozenset({Capability.SCORE}))


def inferred(found: Dependences) -> Inferred:
    """Finds 0 to 2, misses the others, and takes 1 to 2 for a dependence."""
    pairs = {Relation.CONTROL: set[tuple[int, int]](), Relation.DATA: {(0, 2), (1, 2)}}
    beliefs = {Relation.CONTROL: {}, Relation.DATA: {(0, 2): 2.345, (1, 2): 0.9, (0, 5): 0.1}}
    return compare(ExaminedFunction.of(found), INFO, InferenceMethod.PAIRWISE, pairs, beliefs)


class Fragment(HTMLParser):
    """Checks that elements nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_every_true_edge_is_said_once_and_drawn_once() -> None:
    found = dependences(SOURCE, "Box.put")
    edges = shown_edges(found)
    assert {(e.source.line, e.target.line) for e in edges if e.relation is Relation.CONTROL} == found.control
    assert {(e.source.line, e.target.line, v) for e in edges for v in e.variables} == found.data
    arcs = [each for tag, each in Fragment(dependence_fragment(found)).seen if tag == "g"]
    assert len(arcs) == len(edges)
    assert {each["class"] for each in arcs} == {"true"}
    assert overview(found) == f"{len(edges)} dependences: 3 control, {len(edges) - 3} data."


def test_what_a_model_makes_of_an_edge_is_a_class_and_a_word() -> None:
    found = dependences(SOURCE, "Box.put")
    view = inferred(found)
    text = dependence_fragment(found, view)
    arcs = [each for tag, each in Fragment(text).seen if tag == "g"]
    assert {each["class"] for each in arcs} == {"found", "missed", "invented"}
    assert [(a["data-from"], a["data-to"]) for a in arcs if a["class"] == "invented"] == [("3", "4")]
    assert "m&lt;1&gt; shows 0 of 3 control dependences, and 0 that do not exist" in text.lower()
    words = dependence_markdown(found, view)
    assert "a value from line 3: *invented (yes 90 %); recurring names: no*" in words
    assert "decided by line 4 (false): *missed; indentation: found*" in words
    assert "decided by line 4 (true): *missed; indentation: found*" in words


def test_no_figure_of_a_model_stands_without_that_of_the_rule() -> None:
    found = dependences(SOURCE, "Box.put")
    view = inferred(found)
    # of `c = "<i>"; d = c` the rule takes the first alone for decided: the second does not begin its line
    assert view.summary == "control F1 0.00 (indentation 0.80), data F1 0.29 (recurring names 1.00)"
    said = overview(found, view)
    assert (
        "indentation shows 2 of 3, and 0 that do not exist (F1 0.80); of the 1 pair where it is wrong" in said
    )
    assert "the model can add nothing" in said
    document = inferred_json(view)
    assert document["rules"]["control"]["rule"] == "indentation"
    assert document["rules"]["data"]["f1"] == 1.0
    assert document["where_rule_and_graph_differ"]["data"]["f1"] is None
    assert {edge["ruled"] for edge in document["edges"]} == {True, False}
    text = markdown.render(inferred_report(view, Path("box.py")))
    assert "Without a model, indentation shows 2 of 3" in " ".join(text.split())


def test_what_the_model_adds_is_counted_where_the_rule_is_wrong() -> None:
    looped = (
        "def f(n):\n    a = 0\n    while n:\n        a = n\n        n = g(a)\n        a = 1\n    return a\n"
    )
    found = dependences(looped, "f")
    subject = ExaminedFunction.of(found)
    true, rule = set(true_edges(subject, Relation.DATA)), pairs_by_rule(subject, Relation.DATA)
    missed, invented = true - rule, rule - true
    assert missed
    assert invented
    pairs = {Relation.CONTROL: set[tuple[int, int]](), Relation.DATA: set(missed) | {min(invented)}}
    none: dict[Relation, dict[tuple[int, int], float]] = {relation: {} for relation in Relation}
    view = compare(subject, INFO, InferenceMethod.PAIRWISE, pairs, none)
    wrong, right = len(missed) + len(invented), len(missed) + len(invented) - 1
    assert f"of the {wrong} pairs where it is wrong, M<1> is right about {right}" in overview(found, view)


def test_lines_are_buttons_that_are_described_and_as_high_as_the_arcs_say() -> None:
    found = dependences(SOURCE, "Box.put")
    seen = Fragment(dependence_fragment(found)).seen
    identifiers = {each["id"] for _, each in seen if "id" in each}
    buttons = [each for tag, each in seen if tag == "button"]
    assert [each["data-line"] for each in buttons] == ["2", "3", "4", "5", "7", "8"]
    described = [name for each in buttons for name in (each["aria-describedby"] or "").split()]
    assert set(described) == identifiers
    assert len(described) == len(found.statements)  # two of them are on one line
    lines = sum(tag == "li" and "data-line" in each for tag, each in seen)
    heights = {each["height"] for tag, each in seen if tag == "svg" and each["class"] == "arcs"}
    assert heights == {str(ROW * lines)}


def test_source_and_model_are_escaped() -> None:
    text = dependence_fragment(dependences(SOURCE, "Box.put"), inferred(dependences(SOURCE, "Box.put")))
    assert not {"b", "i"} & {tag for tag, _ in Fragment(text).seen}
    assert "&lt;i&gt;" in text
    rows = [line for line in dependence_markdown(dependences(SOURCE, "Box.put")).splitlines() if "|" in line]
    assert {row.replace("\\|", "").count("|") for row in rows} == {5}


def test_a_shift_moves_the_lines_that_are_named() -> None:
    (edge, *_) = shown_edges(dependences(SOURCE, "Box.put"))
    assert phrase(edge, 10) == "decided by line 14 (true)"
    assert edge_status(edge, None) == ""


def test_a_module_can_be_drawn_and_an_empty_one_says_why_not() -> None:
    assert 'data-from="1"' in dependence_fragment(dependences("x = 1\nprint(x)\n", MODULE))
    assert "0 dependences" in dependence_fragment(dependences("x = 1\n", MODULE))
    with pytest.raises(SourceError, match="no statements"):
        dependence_fragment(dependences("", MODULE))
