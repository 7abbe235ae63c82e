"""Measures the numerical noise of scores: how much they change if tokens are decoded in other groups.

    python benchmarks/noise.py [--quick] [--threads N]

The baseline is the scoring of Counterlens: groups of 128 tokens from the start of the unit. It is compared
with the same tokens in groups of 64, of 32, and one at a time. The output gives, for the log-probability of a
token (nats), its probability, and the confidence of a node (mean of probabilities), the mean, the 95th
percentile and the largest difference; and the number of spans that change their level. Ratios: the noise over
the standard deviation between the tokens, which must be small for a score to be meaningful.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import numpy as np

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # as in the model's own process

from counterlens.confidence import Confidence, confidence
from counterlens.confidence.granularity import Granularity, spans
from counterlens.models.base import TokenScores
from counterlens.models.files import embedded_model
from counterlens.models.llama.native import CHUNK, Engine
from counterlens.models.local.model import DEFAULT_CONTEXT
from counterlens.models.local.scoring import Scorer
from counterlens.syntax.document import Document

SOURCES = ("models/stopping.py", "sandbox/pipes.py", "text.py")
PACKAGE = Path(__file__).parents[1] / "server/counterlens"


def head(path: Path, size: int) -> Document:
    """The first lines of a file, up to some bytes."""
    text = Document.read(path).text
    return Document(text[: text.rfind("\n", 0, size) + 1], path)


def scored(engine: Engine, document: Document, group: int) -> Confidence:
    """The confidence on a document whose tokens are decoded in groups of a given size."""
    engine.forget()
    engine.chunk = group
    found = Scorer(engine).score(document.data, b"", 1, lambda _done, _total: None)
    end = np.asarray(found.end, np.int64)
    n = len(end)
    scores = TokenScores(
        text=document.text,
        start=np.concatenate([[0], end[:-1]]),
        end=end,
        logprob=found.logprob,
        entropy=found.entropy,
        rank=found.rank,
        alternative_logprob=found.alternative_logprob,
        alternative_text=((),) * n,
        context=found.context,
    )
    return confidence(document, scores)


def told(name: str, differences: np.ndarray) -> dict[str, float]:
    """Print and return the figures of some differences."""
    figures = {
        "mean": float(differences.mean()),
        "p95": float(np.quantile(differences, 0.95)),
        "largest": float(differences.max()),
    }
    print(f"  {name:22}" + "  ".join(f"{key} {value:.3f}" for key, value in figures.items()))
    return {key: round(value, 4) for key, value in figures.items()}


def differences(one: list[Confidence], two: list[Confidence]) -> dict[str, dict[str, float]]:
    """The differences between two ways to score the same documents."""

    def column(found: list[Confidence]) -> np.ndarray:
        return np.concatenate([each.scores.logprob[1:] for each in found])

    def nodes(found: list[Confidence]) -> np.ndarray:
        return np.array(
            [node.confidence for each in found for node in each.nodes if node.confidence is not None]
        )

    def levels(found: list[Confidence]) -> np.ndarray:
        return np.array([span.level for each in found for span in spans(each, Granularity.STATEMENT)])

    first, second = column(one), column(two)
    figures = {
        "log-probability": told("log-probability, nats", np.abs(first - second)),
        "probability": told("probability", np.abs(np.exp(first) - np.exp(second))),
        "node": told("confidence of a node", np.abs(nodes(one) - nodes(two))),
    }
    changed = levels(one) != levels(two)
    print(f"  statements that change their level: {changed.sum()} of {len(changed)}")
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="use only the beginning of each file; under a minute"
    )
    parser.add_argument("--threads", type=int, default=min(len(os.sched_getaffinity(0)), 8))
    options = parser.parse_args()
    engine = Engine(embedded_model(), threads=options.threads, context=DEFAULT_CONTEXT)
    documents = [head(PACKAGE / name, 1_500 if options.quick else 8_000) for name in SOURCES]
    base = [scored(engine, document, CHUNK) for document in documents]
    same = [scored(engine, document, CHUNK) for document in documents]
    logprobs = np.concatenate([one.scores.logprob[1:] for one in base])
    print(f"{len(logprobs)} tokens in {len(documents)} files, groups of {CHUNK} compared with")
    print("the same groups again:")
    figures = {"same": differences(base, same)}
    for group in (64, 32, 1):
        print("one at a time:" if group == 1 else f"groups of {group}:")
        other = [scored(engine, document, group) for document in documents]
        figures[str(group)] = differences(base, other)
    ratios = {
        f"noise_over_spread_{group}": round(each["log-probability"]["mean"] / float(logprobs.std()), 4)
        for group, each in figures.items()
    }
    print(json.dumps({"benchmark": "noise", "ratios": ratios, "differences": figures}))


if __name__ == "__main__":
    main()
