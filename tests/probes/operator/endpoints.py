"""Endpoints that score texts by a rule, over HTTP, so that figures can be computed by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from counterlens.models.remote.scoring.scorer import TRIAL
from counterlens.probes.operator.pairs import OperatorPlace, pairings, sites_of
from counterlens.syntax.document import Document
from tests.models.remote.conftest import Handler, serving

LIKED, DISLIKED, FOREIGN = -0.125, -5.125, -12.0
"""Log-probabilities of a token: in a likely text, in any other text, and of the trial's odd word."""
_TOKENS = re.compile(r"==|!=|<=|>=|\w+|\s|.")
Rule = Callable[[str], float]


def holding(texts: Iterable[str]) -> Rule:
    """A rule for which only parts of some texts are likely."""
    known = list(texts)

    def rule(prompt: str) -> float:
        # A text without context is scored after a line end.
        parts = (prompt, prompt.removeprefix("\n"))
        return LIKED if any(part in text for part in parts for text in known) else DISLIKED

    return rule


def truth(document: Document, qualname: str) -> list[str]:
    """The unchanged function, and all its equivalent versions."""
    return [
        document.text,
        *(
            place.document.text
            for pair in pairings(document, qualname).pairs
            for place in (pair.original, pair.transformed)
        ),
    ]


def stubbornness(document: Document, qualname: str) -> list[str]:
    """Like `truth`, but with the original's operator in every version."""
    pairs = pairings(document, qualname).pairs
    versions = [_with(pair.transformed, pair.original.site.operator) for pair in pairs]
    return [document.text, *(pair.original.document.text for pair in pairs), *versions]


def _with(place: OperatorPlace, operator: str) -> str:
    site = sites_of(place.document, place.qualname)[place.index]
    data = place.document.data
    return replace(
        place.document, text=(data[: site.start] + operator.encode() + data[site.end :]).decode()
    ).text


@contextmanager
def scoring(rule: Rule) -> Iterator[str]:
    """The base URL of an endpoint that returns `prompt_logprobs` by a rule, while the context lasts."""

    def answer(handler: Handler) -> None:
        if handler.path == "/v1/completions" and "prompt_logprobs" in handler.body:
            handler.reply(200, _scored(handler.body["prompt"], rule))
        else:
            handler.reply(404, {"detail": "Not Found"})

    with serving(answer, models=["scripted"]) as script:
        yield script.url


def _scored(prompt: str, rule: Rule) -> dict[str, Any]:
    value = LIKED if prompt == TRIAL else rule(prompt)
    entries = [
        {str(at): {"logprob": FOREIGN if piece == "violin" else value, "rank": 1, "decoded_token": piece}}
        for at, piece in enumerate(_TOKENS.findall(prompt))
    ]
    return {"object": "text_completion", "choices": [{"text": "x", "prompt_logprobs": [None, *entries]}]}
