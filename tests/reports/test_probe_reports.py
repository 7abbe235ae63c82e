"""A probe as Markdown and as a page: everything that was found, escaped, and nothing besides."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from counterlens.attribution.base import Evidence, Isolation, Judgement, Strength, Verdict
from counterlens.models.base import Capability, ModelInfo
from counterlens.mutations import MUTATIONS, survey
from counterlens.probes.completion import gaps_of
from counterlens.probes.likelihood import LikelihoodEffect, TokenChange
from counterlens.probes.results import Attempt, CompletionProbe, Pair
from counterlens.reports.html import policy, probe_fragment, probe_html
from counterlens.reports.markdown import probe_markdown
from counterlens.reports.phrases import done, rests_on, sentence
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function

SOURCE = '''def sign(number):
    """Say `<b>below</b>` or not."""
    if number < 0:
        return "below"
    else:
        return "not below"
'''
DOCUMENT = Document(SOURCE, Path("<i>signs</i>.py"))
INFO = ModelInfo("m", "A *model*", "0", "local", frozenset({Capability.COMPLETE}))
PASSED = Verdict(Judgement.PASSED, Evidence("tests", 2))
FAILED = Verdict(Judgement.FAILED, Evidence("tests", 2, "test_sign[<script>]", "```\n1 != 2 <script>"))
REST = '        return "below"\n    else:\n        return "not below"\n'
EFFECT = LikelihoodEffect(-0.5, -1.0, 10, 10, 9, -0.6, (TokenChange(" <return>", 4, -0.1, -3.0),))


def probe(
    original: Verdict, mutated: Verdict, wrote: str = REST, effect: LikelihoodEffect | None = None
) -> CompletionProbe:
    function = find_function(DOCUMENT, "sign")
    found = survey(SOURCE, mutations=["if-else-flip", "rename-random"], function="sign")
    pairs = []
    for one in found.counterfactuals:
        gap, mutated_gap = gaps_of(DOCUMENT, function, one)
        pairs.append(
            Pair(
                one,
                gap,
                mutated_gap,
                Attempt(REST, "stop", original),
                Attempt(wrote, "length", mutated),
                effect,
            )
        )
    return CompletionProbe(
        DOCUMENT,
        function,
        INFO,
        "2 tests",
        tuple(pairs),
        found.refusals,
        ((found.counterfactuals[0], FAILED),),
        0,
    )


class Page(HTMLParser):
    """Checks that elements nest, and collects what there is."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_markdown_holds_the_diff_both_completions_verdicts_evidence_and_a_sentence() -> None:
    text = probe_markdown([probe(PASSED, FAILED)])
    assert "With the branches flipped, the model still wrote the code for the unflipped condition." in text
    assert "-    if number < 0:" in text
    assert "+    if number >= 0:" in text
    assert text.count(REST.rstrip("\n")) == 2
    assert "(**failed**, cut off at the token limit)" in text
    assert "test\\_sign\\[\\<script\\>\\]" in text
    assert "````text\n```\n1 != 2 <script>\n````" in text  # evidence cannot close its own block
    assert "1 lost, 0 gained" in text
    assert "refused: " in text
    assert "its own program failed" in text


def test_the_page_is_well_formed_fetches_and_runs_nothing_and_escapes_all() -> None:
    text = probe_html([probe(PASSED, FAILED, effect=EFFECT)] * 2)
    page = Page()
    page.feed(text)
    assert page.open == []
    tags = {tag for tag, _ in page.seen}
    assert not tags & {"script", "img", "link", "iframe", "i", "b", "a", "form"}
    for _, attributes in page.seen:
        assert not {"src", "href", "style", "onclick"} & set(attributes)
    headings = [int(tag[1]) for tag, _ in page.seen if re.fullmatch(r"h\d", tag)]
    assert headings[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))
    tables = sum(tag == "table" for tag, _ in page.seen)
    assert tables == sum(tag == "caption" for tag, _ in page.seen) > 2
    assert "default-src 'none'" in policy()
    assert "&lt;return&gt;" in text


def test_a_fragment_has_buttons_for_a_host_that_opens_differences() -> None:
    one = probe(PASSED, FAILED)
    buttons = [found for tag, found in _tags(probe_fragment(one, buttons=True)) if tag == "button"]
    assert [(each["data-action"], each["data-pair"]) for each in buttons] == [
        (action, str(number)) for number in range(len(one.pairs)) for action in ("difference", "wrote")
    ]
    assert len({each["aria-label"] for each in buttons}) == len(buttons)
    assert "button" not in {tag for tag, _ in _tags(probe_html([one]))}


def _tags(text: str) -> list[tuple[str, dict[str, str | None]]]:
    page = Page()
    page.feed(text)
    assert page.open == []
    return page.seen


def test_a_verdict_says_what_it_rests_on_and_how_strong_that_is() -> None:
    apart = Evidence("doctest", 1, isolation=Isolation.APART)
    assert (
        rests_on(apart) == "moderate evidence: doctest, 1 case; the program ran in a process apart from them"
    )
    forgeable = Evidence("tests", 3, strength=Strength.STRONG, isolation=Isolation.SHARED)
    assert "could have forged" in rests_on(forgeable)
    assert rests_on(Evidence("none", 0)) == ""
    one = probe(PASSED, FAILED)
    for text in (probe_markdown([one]), probe_html([one])):
        assert text.count("trong evidence: tests, 2 cases.") == 2 * len(one.pairs)


@pytest.mark.parametrize(
    ("original", "mutated", "wrote", "said"),
    [
        (PASSED, PASSED, REST, "still got it right"),
        (FAILED, PASSED, REST, "failed on the code as it stands"),
        (FAILED, FAILED, REST, "says nothing about the change"),
        (PASSED, FAILED, "        return 1\n", "no longer got it right"),
        (PASSED, Verdict(Judgement.INVALID, Evidence("tests", 0)), "(", "does not parse"),
        (PASSED, Verdict(Judgement.REFUSED, Evidence("none", 0)), REST, "nothing to judge by"),
    ],
)
def test_a_sentence_claims_what_was_measured(
    original: Verdict, mutated: Verdict, wrote: str, said: str
) -> None:
    assert said in sentence(probe(original, mutated, wrote).pairs[0])


def test_every_mutation_that_keeps_the_meaning_has_plain_words() -> None:
    for name, mutation in MUTATIONS.items():
        assert not mutation.preserving or not done(name).startswith("After "), name


def test_a_likelihood_effect_below_the_noise_is_not_shown() -> None:
    small = LikelihoodEffect(-0.5, -0.52, 10, 10, 10, -0.02, ())
    assert "rounding" in probe_markdown([probe(PASSED, PASSED, effect=small)])
    assert "-0.02" not in probe_markdown([probe(PASSED, PASSED, effect=small)])
    assert "less likely than before: -0.50" in probe_markdown([probe(PASSED, PASSED, effect=EFFECT)])
