"""Hover: pending answers about a place, the model's confidence in it, its expectation; then "more"."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from lsprotocol import types

from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer, HoverPart
from counterlens.lsp.places import Places
from counterlens.metrics.summary import summarize
from counterlens.probes.pairs.phrases import contested_count, unstable_changes
from counterlens.probes.pairs.wording import outcome
from counterlens.reports.correctness_wording import correctness_sentence
from counterlens.reports.nodes import (
    chain_at,
    chain_markdown,
    confidence_note,
    expected_markdown,
    node_markdown,
)
from counterlens.reports.render.markdown import code_span, escape, prose
from counterlens.syntax.functions import function_at

_GRACE_SECONDS = 0.25
"""Seconds that a hover waits for a pending answer, so that the user need not hover again."""
LINES = 3
"""Lines above "more"."""


def register(server: CounterlensServer) -> None:
    server.feature(types.TEXT_DOCUMENT_HOVER)(_hover)


async def _hover(ls: CounterlensServer, params: types.HoverParams) -> types.Hover | None:
    """Return the known results for a place at once, or after a short wait for a pending answer."""
    analysis = ls.analyses.get(params.text_document.uri)
    if analysis is None:
        return None
    places = ls.places(analysis)
    offset = places.offset(params.position)
    asked = (wait(ls, analysis, offset) for wait in ls.hover_waits)
    answers = [asyncio.ensure_future(answer) for answer in asked if answer is not None]
    if answers:
        _, late = await asyncio.wait(answers, timeout=_GRACE_SECONDS)
        for answer in late:
            answer.cancel()
    parts = [hover_part(ls, analysis, offset) for hover_part in ls.hovers]
    menu = function_menu(analysis, offset) if ls.client_shows_results else ""
    content = HoverContent(parts, menu, folds=ls.client_shows_results)
    return hover(analysis, places, params.position, ls.host.name, content)


@dataclass(frozen=True, slots=True)
class HoverContent:
    """The parts of a hover except the confidence.

    Attributes:
        parts: The parts of other features.
        menu: Available commands.
        folds: Whether the client can fold less important parts.
    """

    parts: Sequence[HoverPart] = ()
    menu: str = ""
    folds: bool = False

    def with_parts(self, *parts: HoverPart) -> str:
        """The text: the parts of other features first, because the user asked for them, then these parts."""
        return join([*self.parts, *parts], self.menu, folds=self.folds)


def hover(
    analysis: Analysis, places: Places, position: types.Position, model: str, content: HoverContent
) -> types.Hover | None:
    """Return the hover at a place immediately, even while scores are being computed.

    Args:
        model: The model's name.
        content: The other parts of the hover.
    """
    offset = places.offset(position)
    if analysis.waits_at(offset):
        waiting = HoverPart(f"*Counterlens: {escape(model)} is scoring…*")
        return _markdown(content.with_parts(waiting))
    confidence = analysis.shown
    if confidence is None:
        why = HoverPart(f"*Counterlens: no confidence, {prose(analysis.reason)}*")
        return _markdown(content.with_parts(why))
    chain = chain_at(confidence, offset)
    if not chain:
        text = content.with_parts()
        return _markdown(text) if text else None
    answered = any(part.brief and part.detail for part in content.parts)
    expected = expected_markdown(confidence, chain[0])
    correct = correctness_sentence(confidence, chain[0].start, analysis.correctness, model)
    holds = analysis.correctness is not None and analysis.correctness.statement.holds
    note = confidence_note(confidence, model)
    text = content.with_parts(
        HoverPart(node_markdown(chain[0]), chain_markdown(confidence, chain)),
        HoverPart(correct if holds else ""),
        # the answer about an operator considers all the code, so the first token alone is a detail
        HoverPart(detail=expected) if answered else HoverPart(expected),
        HoverPart(*_probe(analysis, offset)),
        HoverPart(detail=note if holds or not correct else f"{note} *{correct}*"),
    )
    return _markdown(text, places.range(chain[0].start, chain[0].end))


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
    return f"{shown}\n\n<details><summary>more</summary>\n\n{rest}\n\n</details>"


def function_menu(analysis: Analysis, offset: int) -> str:
    """Return the commands for a function, on the line of its name."""
    data, function = analysis.document.data, function_at(analysis.document, offset)
    if function is None or b"\n" in data[function.header : offset]:
        return ""
    given = json.dumps([{"uri": analysis.uri, "function": function.qualname}])
    argument = quote(given.replace("%", "%25"))  # VS Code decodes the argument of a link twice
    offers = (
        ("Probe counterfactually", "counterlens.probe"),
        ("Show counterfactual…", "counterlens.showCounterfactual"),
        ("Show dependences", "counterlens.showDependences"),
    )
    return " · ".join(f"[{title}](command:{command}?{argument})" for title, command in offers)


def _probe(analysis: Analysis, offset: int) -> tuple[str, str]:
    """Return the result of a probe of the function around a place: a line, and each pair."""
    function = function_at(analysis.document, offset) if analysis.results else None
    probe = analysis.known_function(function.qualname).probe if function else None
    if function is None or probe is None or not probe.pairs:
        return "", ""
    changed = summarize(probe.observations).average
    head = f"Counterfactual probe of {code_span(function.name)}:"
    pairs = "\n".join(f"- {escape(pair.mutation)}: {outcome(pair)}" for pair in probe.pairs)
    if changed.n:
        sentence = f"{changed.count} of {changed.n} informative pairs changed the verdict"
        sentence = ", ".join(
            filter(None, (sentence, *(say(probe) for say in (unstable_changes, contested_count))))
        )
        return f"{head} {sentence}", f"{head}\n{pairs}"
    return "", f"{head}\n{pairs}"


def _markdown(text: str, where: types.Range | None = None) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), where)
