"""Sentences about how often code that a model wrote with some confidence was right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterlens.confidence import Confidence
from counterlens.confidence.alignment import align
from counterlens.confidence.correctness import ChanceMap, Correctness, RightShare
from counterlens.probes.prompts.function_text import behind_docstring
from counterlens.reports.render.markdown import escape
from counterlens.syntax.functions import function_at
from counterlens.syntax.statements import is_statement, statement_parts

_SURE, _FEW = 0.95, 10


def correctness_sentence(scored: Confidence, start: int, maps: Correctness | None, model: str) -> str:
    """How often statements that the model wrote were right, if it was as sure of them as of the one here.

    Nothing if they were right less often than others: code that people wrote is unlikely and right, so little
    confidence is no sign of a mistake (docs/results/correctness.md).

    Args:
        start: A byte of the statement.
        maps: The model's maps; None if there are none.
        model: Its name.
        t: The reader's language.
    """
    name = escape(model)
    if maps is None or maps.language != scored.document.language:
        return _not_measured(name)
    if not maps.statement.holds:
        return (
            f"The confidence of {name} does not tell right statements from wrong ones (measured on "
            f"{maps.statement.n} that it wrote)."
        )
    function = function_at(scored.document, start)
    if function is None:
        return ""
    body = behind_docstring(scored.document, function)
    share = _share_at(scored, start, (body, function.end), maps.statement)
    if share is None or share.right < maps.statement.right * share.n:
        return ""
    return (
        f"Of statements that {name} wrote and was this sure of, in functions that it was this sure of, "
        f"{tenths(share.right, share.n)} were right (n = {share.n})."
    )


def completion_sentence(
    logprobs: Sequence[float], maps: Correctness | None, language: str, model: str
) -> str:
    """How often completions that the model was as sure of passed the tests.

    Args:
        logprobs: Log-probabilities of the tokens of the completion, in nats.
        maps: The model's maps; None if there are none.
        language: The language of the code.
        model: Its name.
        t: The reader's language.
    """
    if not logprobs:
        return ""
    if maps is None or maps.language != language:
        return _not_measured(model)
    if not maps.completion.holds:
        return (
            f"The confidence of {model} does not tell completions that pass from those that fail (measured "
            f"on {maps.completion.n})."
        )
    share = maps.completion.share(logprobs)
    if share is None:
        return ""
    return (
        f"Of completions that {model} was this sure of, {tenths(share.right, share.n)} passed their tests (n "
        f"= {share.n})."
    )


def _not_measured(model: str) -> str:
    return (
        f"Whether the confidence of {model} says anything about correctness is not measured: `counterlens "
        "calibrate` does."
    )


def right_by_line(scored: Confidence, start: int, end: int, maps: Correctness | None) -> dict[int, str]:
    """The share of such statements that were right, by the line on which each of a byte range begins.

    Empty if the maps do not hold. Lines are 1-based.
    """
    document = scored.document
    if maps is None or maps.language != document.language or not maps.statement.holds:
        return {}
    shares: dict[int, str] = {}
    for part in statement_parts(document.tree.root_node, document.data, start, end):
        share = _share_at(scored, part.start, (start, end), maps.statement)
        if share is not None:
            line = document.positions.line_of(part.start) + 1
            shares.setdefault(line, f"{tenths(share.right, share.n)} (n = {share.n})")
    return shares


def _share_at(
    scored: Confidence, start: int, body: tuple[int, int], statement: ChanceMap
) -> RightShare | None:
    """The share for the innermost statement at a byte; None behind its body, or without scores.

    Args:
        body: The byte range of the completion, or function body, that the statement is part of.
    """
    document = scored.document
    around = [node for node in scored.at(start) if is_statement(node.kind) or node.kind.endswith("_clause")]
    if not around:
        return None
    parts = statement_parts(document.tree.root_node, document.data, around[0].start, around[0].end)
    if not parts or not parts[0].start <= start < parts[0].end:
        return None
    text = document.data[slice(*body)]
    starts = np.array([parts[0].start, body[0] + len(text) - len(text.lstrip())])
    ends = np.array([parts[0].end, body[1]])
    first, last = align(scored.scores, starts, ends, scored.rule)
    logprobs, whole = (scored.scores.logprob[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True))
    if not len(logprobs) or np.isnan(logprobs).any() or np.isnan(whole).any():
        return None
    return statement.share(logprobs, parts[0].kind, whole)


def tenths(right: int, n: int) -> str:
    """A share in words: `8 in 10`, near its ends `97 in 100`, of few the numbers themselves."""
    if n < _FEW or right in (0, n):
        return f"{right} of {n}"
    share = right / n
    whole = 100 if share >= _SURE or share <= 1 - _SURE else 10
    return f"{min(max(round(share * whole), 1), whole - 1)} in {whole}"
