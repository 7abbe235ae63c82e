"""A probe as Markdown and as a page: everything that was found, escaped, and nothing besides."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from counterlens.counting import plural
from counterlens.judging.base import (
    CheatTrial,
    Evidence,
    Judgement,
    OriginalComparison,
    OriginalSays,
    Verdict,
)
from counterlens.metrics.summary import summarize
from counterlens.models.base import Capability, ModelInfo
from counterlens.mutations import survey
from counterlens.probes.options import make
from counterlens.probes.pairs.attempts import Attempt, Pair
from counterlens.probes.pairs.counterfactuals import gaps_of
from counterlens.probes.pairs.likelihood_effect import ChangedToken, LikelihoodEffect
from counterlens.probes.pairs.phrases import change_phrase, rests_on
from counterlens.probes.pairs.record import PairsRecord, RefusedSite
from counterlens.probes.pairs.recording import pairs_record
from counterlens.probes.pairs.wording import figures, sentence
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import ProbeRun, State
from counterlens.python.mutations.language import MUTATIONS
from counterlens.reports.build.pairs import pairs_blocks
from counterlens.reports.build.probe_run import probe_report
from counterlens.reports.document import Report
from counterlens.reports.formats import FORMATS, write_probes
from counterlens.reports.render import html, markdown, terminal
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
EFFECT = LikelihoodEffect(-0.5, -1.0, 10, 10, 9, -0.6, (ChangedToken(" <return>", 4, -0.1, -3.0),))


def probe(
    original: Verdict, mutated: Verdict, wrote: str = REST, effect: LikelihoodEffect | None = None
) -> PairsRecord:
    function = find_function(DOCUMENT, "sign")
    found = survey(SOURCE, mutations=["if-else-flip", "rename-random"], function="sign")
    pairs = [
        Pair(
            made,
            *gaps_of(DOCUMENT, function, made),
            Attempt(REST, "stop", original),
            Attempt(wrote, "length", mutated),
            effect,
        )
        for made in found.counterfactuals
    ]
    record = pairs_record(
        DOCUMENT,
        function,
        pairs,
        refusals=found.refusals,
        dropped=((found.counterfactuals[0], FAILED),),
        judged_by="2 tests",
    )
    target = f"{DOCUMENT.path}::sign"
    return replace(record, probe="completion", model=INFO.id, target=target, function="sign")


def run(*records: PairsRecord) -> ProbeRun:
    completion = PROBES["completion"]
    return ProbeRun(completion, completion.options(), State.DONE, model=INFO, records=records)


def report(*records: PairsRecord) -> Report:
    return probe_report(run(*records), str(DOCUMENT.path))


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
    text = markdown.render(report(probe(PASSED, FAILED)))
    assert "With the branches flipped, the model still wrote the code for the unflipped condition." in text
    assert "-    if number < 0:" in text
    assert "+    if number >= 0:" in text
    assert text.count(REST.rstrip("\n")) == 2
    assert "(**failed**, cut off at the token limit)" in text
    assert "test_sign\\[\\<script\\>\\]" in text
    assert "````text\n```\n1 != 2 <script>\n````" in text  # evidence cannot close its own block
    assert "1 lost, 0 gained" in text
    assert "refused: " in text
    assert "its own program failed" in text


def test_the_protocol_is_named_on_top_and_with_every_table() -> None:
    own, published = probe(PASSED, FAILED), replace(probe(PASSED, FAILED), protocol="cacp")
    assert "protocol" not in markdown.render(report(own))
    assert "probe by the protocol cacp of" in markdown.render(report(published))
    options = make(PROBES["completion"].options, {"protocol": "cacp"})
    tables = replace(run(published), options=options).tables
    assert tables
    assert all("(protocol cacp)" in table.title for table in tables)


def test_the_page_is_well_formed_fetches_and_runs_nothing_and_escapes_all() -> None:
    text = html.page(report(*[probe(PASSED, FAILED, effect=EFFECT)] * 2))
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
    assert "default-src 'none'" in html.policy()
    assert "&lt;return&gt;" in text


def test_a_fragment_has_buttons_for_a_host_that_opens_differences() -> None:
    one = probe(PASSED, FAILED)
    fragment = html.fragment(pairs_blocks(one, model=INFO, path=None, actions=True))
    buttons = [found for tag, found in _tags(fragment) if tag == "button"]
    assert [(each["data-action"], each["data-pair"]) for each in buttons] == [
        (action, str(number))
        for number in range(len(one.pairs))
        for action in ("difference", "wrote", "explain")
    ]
    assert len({each["aria-label"] for each in buttons}) == len(buttons)
    assert "button" not in {tag for tag, _ in _tags(html.page(report(one)))}


def _tags(text: str) -> list[tuple[str, dict[str, str | None]]]:
    page = Page()
    page.feed(text)
    assert page.open == []
    return page.seen


def test_a_verdict_says_what_it_rests_on() -> None:
    one = probe(PASSED, FAILED)
    sides = (side for pair in one.pairs for side in (pair.original, pair.counterfactual))
    side = next(side for side in sides if side.verdict == "passed")
    agrees = "agrees with the original on 62 inputs; the tests fail for 9 of 9 cheats"
    assert rests_on(side) == "tests, 2 cases"
    heard = replace(side, comparison=OriginalComparison(OriginalSays.AGREES, 62), cheats=CheatTrial(9))
    assert rests_on(heard) == f"tests, 2 cases; {agrees}"
    differs = OriginalComparison(OriginalSays.DIFFERS, 9, "f(1)", "returned 2", "returned 3")
    contested = replace(side, comparison=differs, cheats=CheatTrial(14, ("return 1", "return True")))
    assert "differs from the original: f(1); original: returned 2; this one: returned 3" in rests_on(
        contested
    )
    assert rests_on(contested).endswith("the tests pass 2 of 14 cheats, such as `return 1`")
    assert rests_on(replace(side, attribution="none", tests=0)) == ""
    for text in (markdown.render(report(one)), html.page(report(one))):
        assert "ests, 2 cases." in text


def test_a_contested_pass_counts_and_is_shown_beside_the_effect() -> None:
    one = probe(PASSED, FAILED)
    differs = OriginalComparison(OriginalSays.DIFFERS, 9, "f(1)", "returned 2", "returned 3")
    pairs = tuple(
        replace(pair, original=replace(pair.original, comparison=differs, contested=True))
        for pair in one.pairs
    )
    contested = replace(one, pairs=pairs)
    assert contested.observations[0].effect == one.observations[0].effect
    assert "informative pairs contested" in figures(summarize(contested.observations))
    assert "contested" not in figures(summarize(one.observations))
    assert "differs from the original on f(1)" in markdown.render(report(contested))


def test_the_end_of_the_prompt_is_never_shown_as_what_the_model_wrote() -> None:
    found = report(probe(PASSED, FAILED))
    written = Written()
    written.feed(html.page(found))
    assert [text.strip("\n") for text in written.wrote] == [REST.strip("\n")] * 2
    assert written.prompts == ["    if number < 0:", "    if number >= 0:"]
    behind = "the model wrote after the prompt's last line `if number < 0:` (**passed**):"
    assert f"After the original {behind}\n\n```python\n{REST}```" in markdown.render(found)
    rows = [line.split("│")[1].strip(" ╌") for line in terminal.plain(found).splitlines() if "│ │" in line]
    assert rows[:3] == ["if number < 0:", "end of the prompt; completion", 'return "below"']


@pytest.mark.parametrize(
    ("discriminating", "wrote", "said", "shown"),
    [
        (True, REST, "opied completion fails, with", 1),
        (True, "        return 41\n\n", "opied completion is the same", 1),  # as the model's own
        (False, REST, "opied completion passes, too", 0),
        (None, REST, "", 0),
    ],
)
def test_every_form_says_what_a_copier_comes_to(
    discriminating: bool | None, wrote: str, said: str, shown: int
) -> None:
    found = probe(PASSED, FAILED, wrote)
    copier = None if discriminating is None else "        return 41\n"
    pair = replace(found.pairs[0], discriminating=discriminating, copier=copier)
    for render in (markdown.render, html.page, terminal.plain):
        text = render(report(replace(found, pairs=(pair,))))
        text = " ".join(text.split())
        assert said in text if said else "opied completion" not in text
        assert text.count("return 41") == shown


class Written(HTMLParser):
    """The model's texts on a page, and the ends of the prompts."""

    def __init__(self) -> None:
        super().__init__()
        self.wrote: list[str] = []
        self.prompts: list[str] = []
        self._inside: list[str] = []
        self._sides = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._sides = self._sides or dict(attrs).get("class") == "sides"
        self._inside.append("prompt" if dict(attrs).get("class") == "prompt" else tag)

    def handle_endtag(self, tag: str) -> None:
        self._sides = self._sides and tag != "div"
        self._inside.pop()

    def handle_data(self, data: str) -> None:
        if self._sides and self._inside[-1] == "prompt":
            self.prompts.append(data)
        elif self._sides and self._inside[-2:] == ["pre", "code"]:
            self.wrote.append(data)


def test_a_terminal_shows_both_sides_and_ends_with_what_it_means() -> None:
    text = terminal.plain(report(probe(PASSED, FAILED)))
    assert "─ after the original ─" in text
    assert "─ failed ─" in text
    assert text.index("─ failed ─") < text.index("1 pair, 1 informative") < text.index("What this means: ")


def test_pairs_without_information_are_only_in_the_table_of_a_terminal_and_folded_in_a_page() -> None:
    told, silent = probe(PASSED, FAILED), probe(FAILED, FAILED)
    both = report(replace(told, pairs=(*silent.pairs, *told.pairs), dropped=()))
    text = terminal.plain(both)
    assert text.count("after the original") == len(told.pairs)
    assert f"details of {plural(len(silent.pairs), 'uninformative pair')}" in text
    assert " ".join(text.split()).count("both completions failed") == len(silent.pairs)
    page = html.page(both)
    assert page.count("<details") == len(silent.pairs)
    assert page.lower().count("after the original") == len(told.pairs) + len(silent.pairs)
    assert markdown.render(both).lower().count("after the original") == len(told.pairs) + len(silent.pairs)


def test_a_mutation_without_pairs_has_its_main_reason_and_a_page_has_every_place() -> None:
    told = probe(PASSED, FAILED)
    sites = [("if-else-flip", "z"), ("def-use-break", "a"), ("def-use-break", "b"), ("def-use-break", "b")]
    refused = tuple(RefusedSite(mutation, 3, reason) for mutation, reason in sites)
    found = report(replace(told, refused=refused, dropped=()))
    rows = [line.split() for line in terminal.plain(found).splitlines() if line.startswith(("def-", "if-"))]
    assert [row[:4] for row in rows if "refused:" in row] == [["def-use-break", "3", "refused:", "b,"]]
    page = html.page(found)
    assert all(f"refused: {reason}<" in page for reason in "abz")


def test_if_no_pair_has_information_one_is_shown() -> None:
    silent = probe(FAILED, FAILED)
    text = terminal.plain(report(replace(silent, pairs=(*silent.pairs, *silent.pairs))))
    assert text.count("after the original") == 1


def test_nothing_that_a_model_writes_commands_the_terminal() -> None:
    text = terminal.plain(report(probe(PASSED, FAILED, "x\x1b]0;title\x07\x9b31m\u202e\n")))
    assert not set(text) & set("\x1b\x07\x9b\u202e")
    assert r"x\x1b]0;title\x07\x9b31m\u202e" in text


@pytest.mark.parametrize("form", FORMATS)
def test_a_probe_has_every_format(form: str) -> None:
    text = write_probes(form, [run(probe(PASSED, FAILED))], "signs.py::sign", "asked of a model")
    assert ("failed" if form == "latex" else "if-else-flip") in text
    assert text == write_probes(form, [run(probe(PASSED, FAILED))], "signs.py::sign", "asked of a model")
    if form == "json":
        (record,) = json.loads(text)["records"]
        assert record["pairs"][0]["outcome"] == "lost"


@pytest.mark.parametrize(
    ("original", "mutated", "wrote", "said"),
    [
        (PASSED, PASSED, REST, "still completed it correctly"),
        (FAILED, PASSED, REST, "failed on the original"),
        (FAILED, FAILED, REST, "so the pair is uninformative"),
        (PASSED, FAILED, "        return 1\n", "no longer completed it correctly"),
        (PASSED, Verdict(Judgement.INVALID, Evidence("tests", 0)), "(", "does not parse"),
        (PASSED, Verdict(Judgement.REFUSED, Evidence("none", 0)), REST, "nothing can judge"),
    ],
)
def test_a_sentence_claims_what_was_measured(
    original: Verdict, mutated: Verdict, wrote: str, said: str
) -> None:
    assert said in sentence(probe(original, mutated, wrote).pairs[0])


def test_every_mutation_that_keeps_the_meaning_has_plain_words() -> None:
    for name, mutation in MUTATIONS.items():
        assert not mutation.preserving or not change_phrase(name).startswith("After "), name


def test_a_likelihood_effect_below_the_noise_is_not_shown() -> None:
    small = LikelihoodEffect(-0.5, -0.52, 10, 10, 10, -0.02, ())
    assert "rounding" in markdown.render(report(probe(PASSED, PASSED, effect=small)))
    assert "-0.02" not in markdown.render(report(probe(PASSED, PASSED, effect=small)))
    assert "less likely than before: -0.50" in markdown.render(report(probe(PASSED, PASSED, effect=EFFECT)))
