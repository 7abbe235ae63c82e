"""Confidence at a terminal: readable without colour, and harmless whatever stands in the file."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console, RenderableType

from counterlens.confidence import Confidence, confidence
from counterlens.confidence.corpus import FileConfidence, corpus_confidence
from counterlens.confidence.granularity import LABELS, Granularity
from counterlens.models.base import ModelInfo
from counterlens.reports.build.confidence import corpus_report
from counterlens.reports.render import terminal
from counterlens.reports.scores import BARS, score_report
from counterlens.syntax.document import Document
from tests.confidence.test_confidence import scores_of

INFO = ModelInfo("m", "Model", "0", "local", frozenset())


def shown(report: RenderableType, *, colour: bool = False, width: int = 100) -> str:
    out = io.StringIO()
    console = Console(
        file=out, force_terminal=colour, color_system="truecolor" if colour else None, width=width
    )
    console.print(report)
    return out.getvalue()


def scored(text: str, logprob: float = -0.3) -> Confidence:
    each = list(range(1, len(text.encode())))
    return confidence(Document(text), scores_of(text, each, [logprob] * (len(each) + 1)))


@pytest.mark.parametrize(
    ("probability", "level"), [(0.005, 0), (0.03, 1), (0.1, 2), (0.3, 3), (0.6, 4), (0.9, 5)]
)
def test_every_level_has_a_bar_of_its_own(probability: float, level: int) -> None:
    text = shown(score_report(scored("x = 1\n", math.log(probability)), INFO))
    (line,) = [line for line in text.splitlines() if line.rstrip().endswith("x = 1") and line.startswith("1")]
    assert line.split()[1] == BARS[level]
    assert len(set(BARS)) == len(LABELS)
    for bar, label in zip(BARS, LABELS, strict=True):
        assert f"{bar} {label}" in text


def test_the_lowest_levels_are_underlined_too() -> None:
    assert "\x1b[1;4;" in shown(score_report(scored("x = 1\n", math.log(0.005)), INFO), colour=True)
    certain = shown(score_report(scored("x = 1\n", math.log(0.9)), INFO), colour=True)
    (line,) = [line for line in certain.splitlines() if "x = 1\x1b" in line and "\u2588" in line]
    assert "4;" not in line.replace("114;", "")


@pytest.mark.parametrize("by", list(Granularity))
def test_every_line_of_code_is_shown_as_it_stands(by: Granularity) -> None:
    source = 'def f(x):\r\n\t"""😀 é"""\r\n\r\n\treturn [x]  # [bold]no markup[/bold]\r\n'
    text = shown(score_report(scored(source), INFO, by))
    for part in ("1 ▆ def f(x):", '"""😀 é"""', "return [x]  # [bold]no markup[/bold]", f"by {by}:"):
        assert part in text


@pytest.mark.parametrize(("logprob", "named"), [(-0.1, False), (-2.0, True)])
def test_an_alternative_that_is_likelier_by_no_more_than_the_noise_is_not_named(
    logprob: float, named: bool
) -> None:
    text = shown(score_report(scored("x = 1\n", logprob), INFO))  # the alternative `a` has probability 1
    assert ("expected" in text) is named


def test_a_character_that_tokens_split_is_shown_whole() -> None:
    text = shown(score_report(scored('x = "😀é"\n'), INFO, Granularity.TOKEN))
    assert '"😀é"' in text.splitlines()[2]


def test_nothing_in_a_file_commands_the_terminal() -> None:
    source = 'x = "\x1b]0;title\x07\x1b[31m\u202e\u2028\x9b"\n'
    text = shown(score_report(scored(source), INFO, Granularity.TOKEN))
    assert not set(text) & set("\x1b\x07\u202e\u2028\x9b")
    assert r"\x1b[31m" in text


def test_a_corpus_has_a_row_for_each_concept_and_says_what_was_left_out() -> None:
    files = [FileConfidence.of(scored("x = 1\n", math.log(p))) for p in (0.2, 0.3, 0.4, 0.4, 0.5, 0.6)]
    text = terminal.plain(
        corpus_report({"python": corpus_confidence(files, seed=7)}, INFO, [("a.py", "it is generated")])
    )
    assert "6 files" in text
    assert "0.40" in text
    assert "seed 7" in text
    assert "not scored: a.py: it is generated" in text
    alone = terminal.plain(corpus_report({"python": corpus_confidence(files[:1])}, INFO, []))
    assert "too few files" in alone


def test_languages_are_never_pooled() -> None:
    files = [FileConfidence.of(scored("x = 1\n", math.log(p))) for p in (0.2, 0.3, 0.8)]
    summed = {"java": corpus_confidence(files[:1]), "python": corpus_confidence(files[1:])}
    text = terminal.plain(corpus_report(summed, INFO, []))
    assert "java: 1 file" in text
    assert "python: 2 files" in text
    assert "0.20" in text
    assert "0.55" in text
    assert "3 files" not in text
