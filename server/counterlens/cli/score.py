"""`counterlens score`: what the model finds likely in a file, per token and per syntax node."""

from __future__ import annotations

from pathlib import Path

import click

from counterlens.cli.options import (
    cache_option,
    json_option,
    model_options,
    opened,
    print_json,
    print_report,
    steps,
)
from counterlens.confidence import Aggregation, confidence, score_document
from counterlens.confidence.scoring import MAX_BYTES
from counterlens.errors import SourceError
from counterlens.reports import json as plain
from counterlens.reports.terminal import score_report
from counterlens.syntax.document import Document


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@model_options
@click.option(
    "--aggregation",
    type=click.Choice(list(Aggregation)),
    default=Aggregation.MEAN,
    show_default=True,
    help="How token probabilities become a node's confidence.",
)
@click.option("--alternatives", type=click.IntRange(0, 100), default=5, show_default=True)
@click.option("--max-bytes", type=click.IntRange(1), default=MAX_BYTES, show_default=True)
@cache_option
@json_option
def score(
    path: Path,
    model: str,
    base_url: str | None,
    api: str,
    threads: int,
    aggregation: Aggregation,
    alternatives: int,
    max_bytes: int,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Score every token of a file and show how sure the model is of each concept."""
    document = Document.read(path)
    if not document.text.strip():
        raise SourceError(f"{path} is empty: there is nothing to score")
    if len(document.data) > max_bytes:
        raise SourceError(
            f"{path} has {len(document.data):,} bytes, and scoring is limited to {max_bytes:,}",
            "Raise the limit with --max-bytes if you can wait: the embedded model reads about 1 kB a second",
        )
    with opened(model, threads, base_url, api, no_cache=no_cache) as loaded:
        with steps(f"scoring {path.name}") as report:
            scores = score_document(
                loaded,
                document,
                alternatives=alternatives,
                max_bytes=max_bytes,
                progress=lambda done, total: report(f"scoring {path.name}", done, total),
            )
        scored = confidence(document, scores, Aggregation(aggregation))
        if as_json:
            print_json(plain.confidence(scored, loaded.info))
        else:
            print_report(score_report(scored, loaded.info))
