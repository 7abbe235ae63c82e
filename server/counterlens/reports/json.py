"""Results as plain data for `--json`. The keys are a contract: they are added to, never renamed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from counterlens.attribution.base import Verdict
from counterlens.confidence.aggregate import Confidence
from counterlens.confidence.granularity import LABELS, Granularity, spans
from counterlens.models.base import ModelInfo, TokenScores
from counterlens.mutations.base import Counterfactual, Refusal
from counterlens.probes.results import Attempt, CompletionProbe, Pair
from counterlens.reports import effects
from counterlens.reports.phrases import sentence
from counterlens.reports.wording import meaning

Json = dict[str, Any]


def model(info: ModelInfo) -> Json:
    """Who answered."""
    return {
        "id": info.id,
        "name": info.name,
        "identity": info.identity,
        "where": info.where,
        "capabilities": sorted(info.capabilities),
        "context": info.context,
        **dict(info.details),
    }


def counterfactual(found: Counterfactual) -> Json:
    """One mutated source."""
    return {
        "mutation": found.mutation,
        "concept": found.concept,
        "preserving": found.preserving,
        "function": found.function,
        "start_line": found.start_line,
        "end_line": found.end_line,
        "description": found.description,
        "assumptions": list(found.assumptions),
        "possibly_equivalent": found.possibly_equivalent,
        "changes": [{"original": list(c.original), "mutated": list(c.mutated)} for c in found.changes],
        "cut": {"original": found.cut.original, "mutated": found.cut.mutated} if found.cut else None,
        "seed": found.seed,
        "source": found.source,
    }


def refusal(found: Refusal) -> Json:
    """One site where a mutation was refused."""
    return {
        "mutation": found.mutation,
        "function": found.function,
        "line": found.line,
        "reason": found.reason,
    }


def tokens(scores: TokenScores, shift: int = 0) -> list[Json]:
    """Token scores; offsets are UTF-8 bytes, moved by `shift`, log-probabilities nats."""
    data = scores.text.encode("utf-8", "surrogatepass")
    return [
        {
            "start": int(scores.start[i]) + shift,
            "end": int(scores.end[i]) + shift,
            "text": data[scores.start[i] : scores.end[i]].decode("utf-8", "replace"),
            "logprob": _number(scores.logprob[i]),
            "entropy": _number(scores.entropy[i]),
            "rank": int(scores.rank[i]) if scores.rank[i] >= 0 else None,
            "alternatives": [
                {"text": text, "logprob": float(logprob)}
                for text, logprob in zip(
                    scores.alternative_text[i], scores.alternative_logprob[i], strict=False
                )
            ],
        }
        for i in range(len(scores))
    ]


def confidence(found: Confidence, info: ModelInfo, by: Granularity = Granularity.STATEMENT) -> Json:
    """Scores on the syntax of a whole document, and its spans at one granularity."""
    shift = 3 if found.document.decoded and found.document.decoded.bom else 0
    return {
        "model": info.id,
        "model_info": model(info),
        "path": str(found.document.path) if found.document.path else None,
        "language": found.document.language,
        "aggregation": found.aggregation,
        "rule": found.rule,
        "bits_per_byte": found.bits_per_byte,
        "tokens": tokens(found.scores, shift),
        "nodes": [
            {
                "type": node.kind,
                "named": node.named,
                "start": node.start + shift,
                "end": node.end + shift,
                "category": node.category,
                "confidence": node.confidence,
                "minimum": node.minimum,
                "bits": node.bits,
                "bits_per_byte": node.bits_per_byte,
                "parent": node.parent if node.parent >= 0 else None,
                "tokens": list(range(*node.tokens)),
            }
            for node in found.nodes
        ],
        "concepts": {category: value for category, (value, _) in found.concepts.items()},
        "concept_nodes": {category: n for category, (_, n) in found.concepts.items()},
        "by": by,
        "levels": list(LABELS),
        "spans": [
            {
                "start": span.start + shift,
                "end": span.end + shift,
                "type": span.kind,
                "category": span.category,
                "value": span.value,
                "level": span.level,
            }
            for span in spans(found, by)
        ],
    }


def verdict(found: Verdict) -> Json:
    """A judgement with its evidence."""
    return {
        "verdict": found.judgement,
        "evidence": {
            "attribution": found.evidence.attribution,
            "tests": found.evidence.tests,
            "failed": found.evidence.failed,
            "message": found.evidence.message,
            "strength": found.evidence.strength,
            "isolation": found.evidence.isolation,
        },
        "seconds": found.seconds,
    }


def attempt(found: Attempt) -> Json:
    """What the model wrote on one side, and what became of it."""
    return {**verdict(found.verdict), "completion": found.completion, "finish": found.finish}


def pair(found: Pair) -> Json:
    """One counterfactual pair."""
    effect = found.effect
    return {
        "mutation": found.counterfactual.mutation,
        "concept": found.counterfactual.concept,
        "function": found.counterfactual.function,
        "start_line": found.counterfactual.start_line,
        "end_line": found.counterfactual.end_line,
        "description": found.counterfactual.description,
        "assumptions": list(found.counterfactual.assumptions),
        "original": attempt(found.original),
        "counterfactual": attempt(found.mutated),
        "informative": effect.informative if effect else False,
        "effect": effect.mutation_effect if effect and effect.informative else None,
        "signed_effect": effect.signed if effect and effect.informative else None,
        "likelihood": effects.likelihood(found.likelihood),
        "text": sentence(found),
    }


def probe(found: CompletionProbe, scored: Confidence | None) -> Json:
    """The completion probe of one function."""
    span = found.function.start, found.function.end
    return {
        "model": found.model.id,
        "model_info": model(found.model),
        "task": found.task,
        "path": str(found.document.path) if found.document.path else None,
        "function": found.function.qualname,
        "start_line": found.function.start_line,
        "end_line": found.function.end_line,
        "seed": found.seed,
        "confidence": scored.within(*span) if scored else None,
        "pairs": [pair(one) for one in found.pairs],
        "refused": [refusal(one) for one in found.refusals],
        "dropped": [
            {
                "mutation": one.mutation,
                "start_line": one.start_line,
                "description": one.description,
                **verdict(reason),
            }
            for one, reason in found.dropped
        ],
        "summary": {
            **effects.summaries([found]),
            "judged_by": found.judged_by,
            "why_not_judged": found.why_not_judged,
            "text": meaning(found),
        },
        "note": found.note,
    }


def probes(
    found: list[tuple[CompletionProbe, Confidence | None]], skipped: Mapping[str, str] | None = None
) -> Json:
    """The completion probes of several functions.

    Args:
        found: The probes, with the confidence on their documents.
        skipped: The functions of the file that nothing could judge, and why.
    """
    each = [probe(one, scored) for one, scored in found]
    pairs = [one for document in each for one in document["pairs"]]
    judged = ", ".join(f"{result.function.name}: {result.judged_by}" for result, _ in found)
    known = [document["confidence"] for document in each if document["confidence"] is not None]
    return {
        "model": each[0]["model"] if each else None,
        "model_info": each[0]["model_info"] if each else None,
        "path": each[0]["path"] if each else None,
        "function": "<module>",
        "confidence": sum(known) / len(known) if known else None,
        "functions": each,
        "skipped": [{"function": name, "reason": reason} for name, reason in (skipped or {}).items()],
        "pairs": pairs,
        "summary": {
            **effects.summaries([result for result, _ in found]),
            "judged_by": judged or None,
        },
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
