"""The operator that the embedded model expects, by the probability of the code that follows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from counterlens.errors import SourceError
from counterlens.models.llama.model import LlamaModel
from counterlens.probes.operator import OperatorDistribution, OperatorScorer, operator_distribution
from counterlens.syntax.document import Document
from counterlens.syntax.operators import OperatorSite, operator_sites

SOURCE = """\
def largest(items):
    best = items[0]
    for item in items:
        if item > best:
            best = item
    return best
"""


def gap(source: str, operator: str) -> tuple[Document, OperatorSite]:
    document = Document(source)
    return document, next(site for site in operator_sites(document) if site.operator == operator)


def distribution(*probability: float) -> OperatorDistribution:
    (site,) = operator_sites(Document("a and b\n"))
    return OperatorDistribution(site, np.log(np.array(probability)))


def test_shares_entropy_and_margin() -> None:
    sure = distribution(0.3, 0.1)
    assert sure.probability.tolist() == pytest.approx([0.75, 0.25])
    assert sure.entropy == pytest.approx(-0.75 * math.log(0.75) - 0.25 * math.log(0.25))
    assert (sure.predicted, sure.correct) == ("and", True)
    assert sure.expected == pytest.approx(0.75)
    assert sure.margin == pytest.approx(-math.log(3))
    assert distribution(0.1, 0.3).margin == pytest.approx(math.log(3))
    assert distribution(1e-300, 1e-305).entropy < 1e-3


def test_the_whole_text_decides_as_scoring_it_says(model: LlamaModel) -> None:
    document, site = gap(SOURCE, ">")
    found = operator_distribution(model, document, site)
    whole = [
        np.nansum(model.score(SOURCE.replace(">", other).rstrip("\n"), alternatives=0).logprob)
        for other in site.candidates
    ]
    expected = np.exp(np.array(whole) - max(whole))
    # Tokens that are grouped otherwise round otherwise, a little.
    assert found.probability == pytest.approx(expected / expected.sum(), abs=0.05)
    assert found.predicted == site.candidates[int(np.argmax(whole))]


def test_what_follows_the_gap_is_seen(model: LlamaModel) -> None:
    up = "def pick(a, b):\n    if a > b:\n        return 'a is larger than b'\n    return 'a is not larger'\n"
    down = up.replace("larger", "smaller").replace(">", "<")
    shares = []
    for source, operator in ((up, ">"), (down, "<")):
        document, site = gap(source, operator)
        scores = OperatorScorer(model, document).score(site)
        blind, seeing = scores.distribution(after=0), scores.distribution()
        shares.append(seeing.probability[site.candidates.index(">")] / seeing.expected)
        assert blind.probability.tolist() != pytest.approx(seeing.probability.tolist())
    # What stands before the gap is the same in both, so a model that saw nothing else would answer alike.
    assert shares[0] > shares[1]


def test_the_answer_does_not_depend_on_what_stands_there(model: LlamaModel) -> None:
    document, site = gap(SOURCE, ">")
    forced = Document(SOURCE.replace(" > ", " != "))
    (other,) = [one for one in operator_sites(forced) if one.operator == "!="]
    one, two = operator_distribution(model, document, site), operator_distribution(model, forced, other)
    assert one.logprob == pytest.approx(two.logprob, abs=1e-6)


def test_windows_read_less(model: LlamaModel) -> None:
    document, site = gap(SOURCE, ">")
    scorer = OperatorScorer(model, document)
    whole = scorer.score(site)
    assert whole.distribution(after=10_000).logprob == pytest.approx(whole.distribution().logprob)
    near = scorer.score(site, before=3, after=5)
    shown = [f"\n        if item {c} best:\n            best = item" for c in site.candidates]
    assert [scores.text for scores in near.scores] == shown
    after_only = scorer.score(site, before=0, after=1)
    assert [scores.text for scores in after_only.scores] == [
        f"{candidate} best" for candidate in site.candidates
    ]


def test_line_ends_do_not_matter(model: LlamaModel) -> None:
    document, site = gap(SOURCE, ">")
    windows, there = gap(SOURCE.replace("\n", "\r\n"), ">")
    assert operator_distribution(model, windows, there).logprob == pytest.approx(
        operator_distribution(model, document, site).logprob, abs=1e-6
    )


def test_a_site_of_another_document_is_refused(model: LlamaModel) -> None:
    document, site = gap(SOURCE, ">")
    with pytest.raises(SourceError, match="there is no `>`"):
        operator_distribution(model, document, replace(site, start=site.start + 1, end=site.end + 1))


def test_operators_in_the_first_line_and_outside_of_functions(model: LlamaModel) -> None:
    for source in ("x = 1 + 2\n", "def f(a): return a + 1", "import os\n\nX = os.sep + 'a'\n"):
        document, site = gap(source, "+")
        assert np.isfinite(operator_distribution(model, document, site).logprob).all()
