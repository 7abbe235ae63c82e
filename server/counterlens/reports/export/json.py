"""Results as plain data for `--json`. Keys are a contract: they are added to, never renamed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from counterlens.confidence.aggregate import Confidence
from counterlens.confidence.granularity import LABELS, Granularity, spans
from counterlens.datasets import LOADERS, Provenance
from counterlens.datasets.checking import Check
from counterlens.evaluation.trend import Trend, TrendPoint
from counterlens.explaining.completing import Explained
from counterlens.judging.base import Verdict
from counterlens.metrics.bootstrap import Estimate
from counterlens.metrics.effects import Proportion
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import ModelInfo, TokenScores
from counterlens.probes.record import SCHEMA, plain
from counterlens.probes.runner import ProbeRun

if TYPE_CHECKING:
    from counterlens.evaluation.comparison import Comparison

Json = dict[str, Any]


def model(info: ModelInfo) -> Json:
    """The model."""
    return {
        "id": info.id,
        "name": info.name,
        "identity": info.identity,
        "where": info.where,
        "capabilities": sorted(info.capabilities),
        "context": info.context,
        **dict(info.details),
    }


def tokens(scores: TokenScores, shift: int = 0) -> list[Json]:
    """Token scores; offsets are UTF-8 bytes, moved by `shift`, log-probabilities are in nats."""
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
    """Scores of the syntax of a whole document, and its spans at one granularity."""
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
        "verdict": found.judgement.value,
        "attribution": found.evidence.attribution,
        "evidence": {
            "tests": found.evidence.tests,
            "failed": found.evidence.failed,
            "message": found.evidence.message,
        },
        "contested": found.contested,
        "comparison": asdict(found.evidence.comparison) if found.evidence.comparison else None,
        "cheats": asdict(found.evidence.cheats) if found.evidence.cheats else None,
        "seconds": round(found.seconds, 4),
    }


def table_json(found: Table) -> Json:
    """A table of figures; a figure with its interval is an object."""
    return {
        "title": found.title,
        "columns": list(found.columns),
        "rows": [[cell(each) for each in row] for row in found.rows],
        "note": found.note,
    }


def cell(found: Cell) -> Any:
    """A cell of a table."""
    if isinstance(found, Proportion):
        interval = {"value": found.value, "low": found.low, "high": found.high}
        return {**interval, "count": found.count, "n": found.n}
    if isinstance(found, Estimate):
        return {"value": found.value, "low": found.low, "high": found.high, "n": found.n}
    return found


def probe_document(run: ProbeRun) -> Json:
    """All results of one probe."""
    return {
        "schema": SCHEMA,
        "probe": run.probe.id,
        "title": run.probe.title,
        "model": model(run.model) if run.model else None,
        "options": msgspec.to_builtins(run.options),
        "state": str(run.state),
        "reason": run.reason,
        "summary": run.summary,
        "tables": [table_json(table) for table in run.tables],
        "left_out": dict(run.left_out),
        "records": [plain(record) for record in run.records],
    }


def comparison_json(comparisons: Sequence[Comparison]) -> list[Json]:
    """Comparisons of runs or models."""
    return [asdict(comparison) for comparison in comparisons]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def provenance_json(one: Provenance) -> Json:
    """The origin of data, for `--json` and for manifests. Keys may be added, but never renamed."""
    return {
        "dataset": one.dataset,
        "title": one.title,
        "source": one.source,
        "licence": one.licence,
        "version": one.version,
        "sha256": one.sha256,
        "records": one.records,
        "path": str(one.path),
    }


def listing_json(found: Sequence[Provenance], broken: Sequence[tuple[Path, str]]) -> Json:
    """The datasets found, the unreadable ones, and the known formats."""
    return {
        "datasets": [provenance_json(one) for one in found],
        "unreadable": [{"path": str(path), "message": message} for path, message in broken],
        "formats": [
            {"dataset": one.id, "title": one.title, "source": one.source, "licence": one.licence}
            for one in LOADERS.values()
        ],
    }


def check_json(one: Check) -> Json:
    """The check of one dataset."""
    return {
        **provenance_json(one.provenance),
        "checked": len(one.problems),
        "counts": {str(finding): count for finding, count in one.counts.items()},
        "problems": [
            {"id": problem.id, "finding": str(problem.finding), "message": problem.message}
            for problem in one.problems
            if problem.finding.bad
        ],
    }


def trend_document(found: Trend) -> Json:
    """Several runs in chronological order: each point with its intervals, or why it is not connected."""
    return {
        "schema": SCHEMA,
        "ordered": found.ordered,
        "across": list(found.across),
        "runs": [asdict(run) for run in found.runs],
        "lines": [
            {"task": line.task, "model": line.model, "points": [_point(one) for one in line.points]}
            for line in found.lines
        ],
    }


def _point(one: TrendPoint) -> Json:
    return {
        "run": one.run.name,
        "average_mutation_effect": asdict(one.summary.average),
        "originals_right": asdict(one.summary.original_accuracy),
        "informative_pairs": one.informative,
        "pairs": one.summary.pairs,
        "functions": one.summary.functions,
        "connected": one.connected,
        "apart": list(one.apart),
        "effect_moved": None if one.effect is None else asdict(one.effect),
        "right_moved": None if one.right is None else asdict(one.right),
    }


def explanation_json(
    found: Sequence[tuple[str, Explained]], info: ModelInfo, path: str, qualname: str
) -> dict[str, Any]:
    """Completions at some places.

    Keys: `model`, `path`, `function`, `completions`; each completion has `title`, `text`, `finish`, `start`
        and `end` (bytes of the completed program), `tokens` (`text`, `line`, `probability`, `alternatives`),
        `nodes` (`kind`, `start`, `end`, `confidence`), `errors` (such nodes), and `departure` (null if the
        completion is the existing code).
    """
    return {
        "model": info.id,
        "path": path,
        "function": qualname,
        "completions": [_plain(title, one) for title, one in found],
    }


def _plain(title: str, found: Explained) -> dict[str, Any]:
    def nodes(every: Sequence[Any]) -> list[dict[str, Any]]:
        return [{key: getattr(node, key) for key in ("kind", "start", "end", "confidence")} for node in every]

    return {
        "title": title,
        "text": found.completion.text,
        "finish": found.completion.finish,
        "start": found.start,
        "end": found.end,
        "tokens": [asdict(token) for token in found.tokens],
        "nodes": nodes(found.nodes),
        "errors": nodes(found.errors),
        "departure": asdict(found.departure) if found.departure else None,
    }
