"""Results as plain data for `--json`. Keys are a contract: they are added to, never renamed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from counterlens.confidence.aggregate import Confidence
from counterlens.confidence.granularity import LABELS, Granularity, spans
from counterlens.datasets import LOADERS, Provenance
from counterlens.judging.base import Verdict
from counterlens.metrics.bootstrap import Estimate, IntervalEstimate
from counterlens.metrics.effects import Proportion
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import ModelInfo, TokenScores
from counterlens.probes.record import SCHEMA, plain
from counterlens.probes.runner import ProbeRun

if TYPE_CHECKING:  # results of other commands, which import what these need
    from counterlens.confidence.corpus import CorpusConfidence, Median
    from counterlens.datasets.checking import Check
    from counterlens.evaluation.comparison import Comparison
    from counterlens.explaining.completing import Explained

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


def confidence(scored: Confidence, info: ModelInfo, by: Granularity = Granularity.STATEMENT) -> Json:
    """Scores of the syntax of a whole document, and its spans at one granularity."""
    shift = 3 if scored.document.decoded and scored.document.decoded.bom else 0
    return {
        "model": info.id,
        "model_info": model(info),
        "path": str(scored.document.path) if scored.document.path else None,
        "language": scored.document.language,
        "aggregation": scored.aggregation,
        "rule": scored.rule,
        "bits_per_byte": scored.bits_per_byte,
        "tokens": tokens(scored.scores, shift),
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
            for node in scored.nodes
        ],
        "concepts": {category: value for category, (value, _) in scored.concepts.items()},
        "concept_nodes": {category: n for category, (_, n) in scored.concepts.items()},
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
            for span in spans(scored, by)
        ],
    }


def verdict(judgement: Verdict) -> Json:
    """A judgement with its evidence."""
    return {
        "verdict": judgement.judgement.value,
        "attribution": judgement.evidence.attribution,
        "evidence": {
            "tests": judgement.evidence.tests,
            "failed": judgement.evidence.failed,
            "message": judgement.evidence.message,
        },
        "contested": judgement.contested,
        "comparison": asdict(judgement.evidence.comparison) if judgement.evidence.comparison else None,
        "cheats": asdict(judgement.evidence.cheats) if judgement.evidence.cheats else None,
        "seconds": round(judgement.seconds, 4),
    }


def table_json(table: Table) -> Json:
    """A table of figures; a figure with its interval is an object."""
    return {
        "title": table.title,
        "columns": list(table.columns),
        "rows": [[cell(each) for each in row] for row in table.rows],
        "note": table.note,
    }


def cell(value: Cell) -> Any:
    """A cell of a table."""
    if isinstance(value, Proportion):
        interval = {"value": value.value, "low": value.low, "high": value.high}
        return {**interval, "count": value.count, "n": value.n}
    if isinstance(value, Estimate):
        return {"value": value.value, "low": value.low, "high": value.high, "n": value.n}
    return value


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


def provenance_json(provenance: Provenance) -> Json:
    """The origin of data, for `--json` and for manifests. Keys may be added, but never renamed."""
    return {**asdict(provenance), "path": str(provenance.path)}


def listing_json(provenances: Sequence[Provenance], broken: Sequence[tuple[Path, str]]) -> Json:
    """The datasets found, the unreadable ones, and the known formats."""
    return {
        "datasets": [provenance_json(provenance) for provenance in provenances],
        "unreadable": [{"path": str(path), "message": message} for path, message in broken],
        "formats": [
            {"dataset": loader.id, "title": loader.title, "source": loader.source, "licence": loader.licence}
            for loader in LOADERS.values()
        ],
    }


def check_json(check: Check) -> Json:
    """The check of one dataset."""
    return {
        **provenance_json(check.provenance),
        "checked": len(check.problems),
        "counts": {str(finding): count for finding, count in check.counts.items()},
        "problems": [
            {"id": problem.id, "finding": str(problem.finding), "message": problem.message}
            for problem in check.problems
            if problem.finding.bad
        ],
    }


def explanation_json(
    completions: Sequence[tuple[str, Explained]], info: ModelInfo, path: str, qualname: str
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
        "completions": [_plain(title, explained) for title, explained in completions],
    }


def _plain(title: str, explained: Explained) -> dict[str, Any]:
    def nodes(every: Sequence[Any]) -> list[dict[str, Any]]:
        return [{key: getattr(node, key) for key in ("kind", "start", "end", "confidence")} for node in every]

    return {
        "title": title,
        "text": explained.completion.text,
        "finish": explained.completion.finish,
        "start": explained.start,
        "end": explained.end,
        "tokens": [asdict(token) for token in explained.tokens],
        "nodes": nodes(explained.nodes),
        "errors": nodes(explained.errors),
        "departure": asdict(explained.departure) if explained.departure else None,
    }


def corpus(
    summed: Mapping[str, CorpusConfidence],
    info: ModelInfo,
    paths: Mapping[str, Sequence[str]],
    skipped: Sequence[tuple[str, str]],
) -> Json:
    """The global aggregation over some files by language, and the skipped files.

    Languages are never pooled, since a model knows one better than another: the figures of all files are
    beside `languages` only if there is one language.

    Args:
        summed: Results by language; at least one.
        skipped: Files that were not scored, with the reasons.
    """
    first, *others = summed.values()
    return {
        "model": info.id,
        "model_info": model(info),
        "files": sorted(path for of_language in paths.values() for path in of_language),
        "skipped": [{"path": path, "reason": reason} for path, reason in skipped],
        "seed": first.seed,
        "resamples": first.resamples,
        **_corpus_figures(first),
        **({"concepts": {}, "all": None, "bits_per_byte": None} if others else {}),
        "tokens": sum(each.tokens for each in summed.values()),
        "languages": {
            language: {"files": list(paths[language]), **_corpus_figures(each)}
            for language, each in summed.items()
        },
    }


def _corpus_figures(summed: CorpusConfidence) -> Json:
    bits = summed.bits_per_byte
    return {
        "tokens": summed.tokens,
        "concepts": {category: _median(median) for category, median in summed.categories.items()},
        "all": _median(summed.whole) if summed.whole else None,
        "bits_per_byte": {"value": bits.value, "interval": _interval(bits)} if bits else None,
    }


def _median(median: Median) -> Json:
    return {
        "median": median.value,
        "interval": _interval(median),
        "snippets": median.snippets,
        "files": median.files,
    }


def _interval(estimate: IntervalEstimate) -> list[float | None] | None:
    return None if estimate.low is None else [estimate.low, estimate.high]
