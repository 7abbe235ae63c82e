"""Hover: the syntax node under the cursor, how sure the model is of it, and what it would have expected."""

from __future__ import annotations

import math

from lsprotocol import types

from counterlens.confidence import Confidence, NodeConfidence
from counterlens.lsp.analysis import Analysis, State
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.places import Places
from counterlens.reports.wording import outcome, share
from counterlens.syntax.functions import function_at

_ANCESTORS = 3
_ALTERNATIVES = 4


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.feature(types.TEXT_DOCUMENT_HOVER)(_hover)


def _hover(ls: CounterlensServer, params: types.HoverParams) -> types.Hover | None:
    """Say what is known about a place, at once."""
    analysis = ls.analyses.get(params.text_document.uri)
    if analysis is None:
        return None
    return hover(analysis, ls.places(analysis), params.position, ls.host.name)


def hover(analysis: Analysis, places: Places, position: types.Position, model: str) -> types.Hover | None:
    """What there is to say about a place, at once: also while the scores are still being made."""
    if analysis.state is State.SCORING:
        return _markdown(f"*Counterlens: {model} is scoring…*")
    if analysis.confidence is None:
        return _markdown(f"*Counterlens: no confidence, {analysis.reason}*")
    offset = places.offset(position)
    chain = [node for node in analysis.confidence.at(offset) if node.kind != "module"]
    if not chain:
        return None
    parts = [_first(analysis.confidence, chain[0], model), _ancestors(chain[1:])]
    parts.append(_probe(analysis, offset))
    node = chain[0]
    return _markdown("\n\n".join(part for part in parts if part), places.range(node.start, node.end))


def _first(found: Confidence, node: NodeConfidence, model: str) -> str:
    head = f"**`{node.kind}`** · {node.category.capitalize()} · confidence **{_share(node.confidence)}**"
    token = found.least_certain(node)
    if token is None:
        return head
    scores = found.scores
    data = found.document.data[int(scores.start[token]) : int(scores.end[token])]
    lines = [
        f"least certain: {_code(data.decode('utf-8', 'replace'))} {_share(math.exp(scores.logprob[token]))}"
    ]
    expected = [
        f"{_code(text)} {_share(math.exp(logprob))}"
        for text, logprob in zip(
            scores.alternative_text[token], scores.alternative_logprob[token].tolist(), strict=False
        )
    ]
    if expected:
        lines.append(f"it expected: {' · '.join(expected[:_ALTERNATIVES])}")
    note = (
        f"*Confidence: the {found.aggregation} of the probabilities that {model} gives the tokens of this "
        "node, having read the header of the file and what precedes it in its definition. It is no measure "
        "of correctness.*"
    )
    return "\n\n".join([head, "  \n".join(lines), note])


def _ancestors(chain: list[NodeConfidence]) -> str:
    named = [node for node in chain if node.kind not in {"block", "expression_statement"}][:_ANCESTORS]
    return " · ".join(f"in `{node.kind}` ({node.category}) {_share(node.confidence)}" for node in named)


def _probe(analysis: Analysis, offset: int) -> str:
    function = function_at(analysis.document, offset)
    if function is None or function.qualname not in analysis.probed:
        return ""
    probe = analysis.probed[function.qualname][1].probe
    lines = [f"- {pair.counterfactual.mutation}: {outcome(pair)}" for pair in probe.pairs]
    return "\n".join([f"Counterfactual probe of `{function.name}`:", *lines]) if lines else ""


def _share(value: float | None) -> str:
    return "unknown" if value is None else share(value)


def _code(text: str) -> str:
    """A token as inline code: blanks made visible, backticks kept harmless."""
    shown = text.strip(" ") or text
    if not shown.strip():
        names = {"\n": "line end", "\t": "tab", " ": "blank"}
        first = names.get(shown[0], "blank") if shown else "nothing"
        return f"*{first}*"
    shown = shown.replace("\n", "⏎").replace("\t", "⇥")
    fence = "``" if "`" in shown else "`"
    pad = " " if "`" in shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _markdown(text: str, where: types.Range | None = None) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), where)
