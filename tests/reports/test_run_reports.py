"""A run as a page, LaTeX and SARIF: whatever its texts hold, each stays what it is."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from counterlens.evaluation.effects import all_tables
from counterlens.evaluation.results import RunResults
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import PairOutcome
from counterlens.probes.pairs.record import judged_pairs
from counterlens.reports.build.evaluation import evaluation_report
from counterlens.reports.document import Heading, TableBlock
from counterlens.reports.render.latex import PARAGRAPHS, escape, table_parts
from counterlens.reports.run_formats import write_evaluation
from tests.reports.runs import MUTATIONS, hostile_run


@pytest.fixture(scope="module")
def run() -> RunResults:
    return hostile_run()


@pytest.fixture(scope="module")
def page(run: RunResults) -> str:
    return write_evaluation("html", run)


def outcomes(run: RunResults) -> list[str]:
    return [str(pair.outcome) for _, stored in run.records for pair in judged_pairs(stored.record)]


class Reader(HTMLParser):
    """Elements with their attributes, the texts of scripts and styles, and the nesting."""

    VOID = frozenset({"meta", "input", "br", "img", "link"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.code: dict[str, list[str]] = {"script": [], "style": []}
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in self.code and dict(attrs).get("type") != "application/json":
            self.code[tag].append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        if inside in self.code and self.elements[-1][1].get("type") != "application/json":
            self.code[inside][-1] += data


def test_the_page_is_whole_and_lets_nothing_in(page: str) -> None:
    read = Reader(page)
    assert read.open == []
    names = {tag for tag, _ in read.elements}
    assert not names & {"img", "link", "iframe", "object", "base"}
    loading = {"src", "srcset", "onerror", "onclick"}
    assert not any(set(attributes) & loading for _, attributes in read.elements)
    links = [attributes["href"] for tag, attributes in read.elements if tag == "a"]
    assert all(str(link).startswith("#") for link in links)
    policy = next(a["content"] or "" for t, a in read.elements if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for text in (*read.code["script"], *read.code["style"]):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_the_page_has_every_pair_and_is_accessible(run: RunResults, page: str) -> None:
    read = Reader(page)
    pairs = [a for tag, a in read.elements if tag == "details" and a.get("class") == "pair"]
    assert [pair["data-outcome"] for pair in pairs] == outcomes(run)
    assert {*PairOutcome} == set(outcomes(run))
    tables = sum(tag == "table" for tag, _ in read.elements)
    assert tables == sum(tag == "caption" for tag, _ in read.elements) > 8
    assert all(a.get("scope") in {"col", "row"} for tag, a in read.elements if tag == "th")
    drawn = [a for _, a in read.elements if a.get("class") == "plot"]
    assert len(drawn) == 6  # an overview, averages, outcomes, a correlation for each model, sizes
    assert all(a["role"] == "img" and a["aria-label"] for a in drawn)
    levels = [int(tag[1]) for tag, _ in read.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert dict(read.elements)["html"] == {"lang": "en"}


@pytest.mark.parametrize("form", ["text", "markdown", "json", "csv", "github"])
def test_a_run_has_every_other_format(run: RunResults, form: str) -> None:
    text = write_evaluation(form, run)
    lost = outcomes(run).count("lost")
    if form == "json":
        assert len(json.loads(text)["records"]) == len(run.records)
    elif form == "csv":
        assert len(text.split("\n")) > len(outcomes(run))
    elif form == "github":
        assert text.count("::warning file=src/a b/file") == lost
    elif form == "markdown":
        assert text.count("\n#### ") == lost + outcomes(run).count("gained")
        assert "Other findings" not in text
    else:
        assert "mutation effect" in text
        assert not set(text) & set("\x00\x1b")


def test_the_same_records_give_the_same_page(run: RunResults, page: str) -> None:
    assert write_evaluation("html", run) == page


def test_the_page_has_plots_with_their_tables(page: str) -> None:
    drawn = [part.partition("</figure>")[0] for part in page.split("<figure")[1:]]
    titles = (
        "Average mutation effect",
        "Outcomes of the pairs",
        "Correlation",
        "Correlation",
        "Effect by model size",
    )
    assert all(title in part for title, part in zip(titles, drawn[-5:], strict=True))
    for part in drawn[-5:]:
        picture = ElementTree.fromstring(part[part.index("<svg") : part.index("</svg>") + 6])  # noqa: S314
        words = [node.text or "" for node in picture.iter()]
        assert all(any(name[:20] in word for word in words) for name in MUTATIONS), words
    assert len(page) < 1_000_000
    assert "Average mutation effect" in page


def test_a_run_without_plots_has_no_heading_for_them(run: RunResults) -> None:
    headings = [block.text for block in evaluation_report(run).blocks if isinstance(block, Heading)]
    assert "Plots" in headings
    none = replace(run, records=())
    headings = [block.text for block in evaluation_report(none).blocks if isinstance(block, Heading)]
    assert headings
    assert "Plots" not in headings


def test_latex_tables_are_whole(run: RunResults) -> None:
    text = write_evaluation("latex", run)
    assert all(line.startswith("%") for line in text.split("\n\n")[0].splitlines())
    body = re.sub(r"(?m)^%.*$", "", text)
    stack: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", body):
        if kind == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert stack == []
    bare = re.sub(r"\\[\\{}&%$#_]", "", body)
    assert bare.count("{") == bare.count("}")
    assert PARAGRAPHS in body
    body = body.replace(PARAGRAPHS, "p")
    for tabular in re.findall(r"\\begin\{tabular\}\{([lrp]+)\}(.*?)\\end\{tabular\}", body, re.DOTALL):
        rows = [line for line in tabular[1].splitlines() if line.endswith(r"\\")]
        assert len(rows) > 1
        assert all(len(re.findall(r"(?<!\\)&", row)) == len(tabular[0]) - 1 for row in rows)
        assert [tabular[1].count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    labels = re.findall(r"\\label\{(.*?)\}", body)
    assert len(labels) == len(set(labels))


def test_no_two_tables_have_one_title() -> None:
    mutations = [*MUTATIONS, *(f"other-{i}" for i in range(8))]
    titles = [table.title for table in all_tables(hostile_run(mutations))]
    assert sum(title.startswith("average mutation effect") for title in titles) == 3
    assert len(titles) == len(set(titles))


def test_latex_tables_fit_a_page_and_figures_have_a_minus() -> None:
    rows = tuple((f"f{i} -1", Estimate(-0.5, -0.75, 0.1, 9), "-0.05", "4e-07") for i in range(100))
    parts = list(table_parts(TableBlock("functions", ("function", "r", "signed", "p"), rows, "note")))
    captions = [re.search(r"caption\{(.*?)\}\n *\\label\{(.*?)\}", part) for part in parts]
    assert [one and one.groups() for one in captions] == [
        (f"Functions ({i} of 3)", f"tab:functions-{i}-of-3") for i in (1, 2, 3)
    ]
    assert sum(part.count(r" \\") - 1 for part in parts) == 100
    assert all(part.count("note.") == 1 for part in parts)
    row = r"f7 -1 & $-$0.50 {[}$-$0.75, 0.10{]} & $-$0.05 & $4\cdot10^{-7}$ \\"
    assert row in parts[0]
    assert r"\begin{tabular}{lrrr}" in parts[0]


def test_latex_sets_every_character() -> None:
    assert escape(r"50% of a_b & \x {y} #1 $2 ~^ <|>") == (
        r"50\% of a\_b \& \textbackslash{}x \{y\} \#1 \$2 \textasciitilde{}\textasciicircum{} "
        r"\textless{}\textbar{}\textgreater{}"
    )
    assert escape("é\n😀") == "é ?"
    assert escape("Δ(A→B)") == r"$\Delta$(A$\rightarrow$B)"


def test_sarif_names_the_places_of_what_changed(run: RunResults) -> None:
    document = json.loads(write_evaluation("sarif", run))
    (only,) = document["runs"]
    assert document["version"] == "2.1.0"
    rules = [rule["id"] for rule in only["tool"]["driver"]["rules"]]
    assert rules == sorted(MUTATIONS)
    said = outcomes(run)
    levels = [one["level"] for one in only["results"]]
    assert (levels.count("warning"), levels.count("note")) == (said.count("lost"), said.count("gained"))
    for one in only["results"]:
        assert rules[one["ruleIndex"]] == one["ruleId"]
        (place,) = one["locations"]
        physical = place["physicalLocation"]
        assert re.fullmatch(r"src/a%20b/file\d\.py", physical["artifactLocation"]["uri"])
        assert physical["artifactLocation"]["uriBaseId"] in only["originalUriBaseIds"]
        assert 1 <= physical["region"]["startLine"] <= physical["region"]["endLine"]
        assert one["message"]["text"]
    prints = [one["partialFingerprints"]["pair/v1"] for one in only["results"]]
    assert len(set(prints)) == len(prints)
