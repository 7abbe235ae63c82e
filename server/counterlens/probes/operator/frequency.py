"""Operators in a corpus: how often each is there (Ahmed et al. 2024, section 4.2.1), in which operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from counterlens.datasets import open_dataset
from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.syntax.document import Document
from counterlens.syntax.operators import TABLES, OperatorSite, operator_sites

MOST_BYTES = 1 << 20
"""Longer files are generated ones, and are left out."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What a corpus holds of operators.

    Attributes:
        frequency: How often each operator stands in it, the most frequent first.
        operations: The operations themselves, such as `a < b`, as `written`.
    """

    frequency: dict[str, float]
    operations: frozenset[str]


def written(site: OperatorSite) -> str:
    """An operation as it is searched for: blanks and line breaks aside."""
    return "".join(site.text.split())


def corpus_frequencies(corpus: str, *, cancel: Event | None = None) -> dict[str, float]:
    """How often each operator stands in a corpus; the arguments and errors are those of `read_corpus`."""
    return read_corpus(corpus, cancel=cancel).frequency


def read_corpus(corpus: str, *, cancel: Event | None = None) -> Corpus:
    """Read the operators of a corpus.

    Args:
        corpus: A Python file, a folder of them, or a dataset as `open_dataset` knows it. Files that are no
            text, or longer than `MOST_BYTES`, are left out.
        cancel: Set it to give up.

    Raises:
        CounterlensError: there is no such file, folder or dataset, or not one operator in it.
        Cancelled: `cancel` was set.
    """
    counts: Counter[str] = Counter()
    operations: set[str] = set()
    for document in _documents(corpus):
        if cancel is not None and cancel.is_set():
            raise Cancelled
        sites = operator_sites(document)
        counts.update(site.operator for site in sites)
        operations.update(map(written, sites))
    if not counts:
        raise CounterlensError(
            f"there are no operators in {corpus}", "Name a Python file or a folder of them"
        )
    return Corpus(dict(counts.most_common()), frozenset(operations))


def _documents(corpus: str) -> Iterator[Document]:
    path = Path(corpus).expanduser()
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path] if path.suffix == ".py" else []
    if not files:
        for problem in open_dataset(corpus):
            if problem.language in TABLES:
                yield Document(problem.source, language=problem.language)
    for file in files:
        if file.is_file() and file.stat().st_size <= MOST_BYTES:
            try:
                yield Document.read(file)
            except SourceError:
                continue
