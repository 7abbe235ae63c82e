"""Counts the lines that the calm overlay colours in correct code, and prints them for a reader to judge.

    python benchmarks/overlay.py FILE... --model M [--threads N] [--everything]

Correct code is coloured for nothing, so the rate belongs near zero. `--everything` also counts imports,
headers and keywords, which the calm overlay leaves out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from counterlens.confidence import confidence, score_document
from counterlens.confidence.granularity import Granularity, calm, spans
from counterlens.models.opening import open_cached
from counterlens.models.registry import Options
from counterlens.syntax.document import Document


def main() -> None:
    """Score and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--everything", action="store_true")
    given = parser.parse_args()
    lines = coloured = 0
    with open_cached(given.model, Options(threads=given.threads)) as model:
        for path in given.files:
            document = Document.read(path)
            scored = confidence(document, score_document(model, document))
            chosen = calm(
                scored,
                spans(scored, Granularity.STATEMENT),
                Granularity.STATEMENT,
                ordinary=given.everything,
            )
            lines += document.positions.lines
            for span in chosen:
                first = document.positions.line_of(span.start)
                coloured += document.positions.line_of(span.end - 1) - first + 1
                text = " ".join(document.data[span.start : span.end].decode().split())
                print(f"{path.name}:{first + 1}: {span.value:.3f} {text[:100]}", flush=True)
    print(f"{coloured} of {lines:,} lines: {1000 * coloured / max(lines, 1):.1f} per 1,000")


if __name__ == "__main__":
    main()
