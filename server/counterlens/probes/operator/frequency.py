"""Operators in a corpus: their counts (Ahmed et al. 2024, section 4.2.1), and their operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock

from counterlens.datasets import open_dataset
from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.languages.registry import LANGUAGES
from counterlens.syntax.document import Document
from counterlens.syntax.operators import operator_sites
from counterlens.trust import is_inside

MOST_BYTES = 1 << 20
"""Maximum bytes of a file; longer files are usually generated, and are left out."""
_State = tuple[tuple[Path, int, int], ...]


@dataclass(frozen=True, slots=True)
class OperatorCorpus:
    """The operators of a corpus.

    Attributes:
        frequency: Count of each operator in it, the most frequent first.
        operations: The operations themselves, such as `a<b`, as `squeeze`.
    """

    frequency: Mapping[str, float]
    operations: frozenset[str]


def squeeze(operation: str) -> str:
    """The search form of an operation: without blanks and line breaks."""
    return "".join(operation.split())


def read_corpus(corpus: str, *, language: str = "python", cancel: Event | None = None) -> OperatorCorpus:
    """Read the operators of a corpus; an unchanged one is cached.

    Args:
        corpus: A source file, a folder of them, or the name of a dataset for `open_dataset`. Programs in
            other languages are left out, as are files that are not text, or longer than `MOST_BYTES`.
        language: The id of the language of the probed functions: code in other languages is irrelevant.

    Raises:
        CounterlensError: there is no such file, folder or dataset, or no operator in it.
        Cancelled: `cancel` was set.
    """
    with _LOCK:
        state, known = _state(corpus, language), _READ.get((corpus, language))
        if known is None or known[0] != state:
            known = _READ[corpus, language] = state, _count(corpus, language, cancel)
        return known[1]


_READ: dict[tuple[str, str], tuple[_State, OperatorCorpus]] = {}
_LOCK = Lock()  # only one of several concurrent probes reads a corpus


def _count(corpus: str, language: str, cancel: Event | None) -> OperatorCorpus:
    counts: Counter[str] = Counter()
    operations: set[str] = set()
    for document in _documents(corpus, language):
        if cancel is not None and cancel.is_set():
            raise Cancelled
        sites = operator_sites(document)
        counts.update(site.operator for site in sites)
        operations.update(squeeze(site.text) for site in sites)
    if not counts:
        raise CounterlensError(
            f"there are no operators in {corpus}",
            "Choose a source file in the language of the functions, or a folder of them",
        )
    return OperatorCorpus(dict(counts.most_common()), frozenset(operations))


def _source_files(corpus: str, language: str) -> list[Path]:
    path, suffix = Path(corpus).expanduser(), LANGUAGES[language].suffixes[0]
    if path.is_dir():
        return [file for file in sorted(path.rglob(f"*{suffix}")) if is_inside(file, path)]
    return [path] if path.suffix == suffix else []


def _state(corpus: str, language: str) -> _State:
    """The files of a corpus, each with its modification time and size."""
    files = _source_files(corpus, language)
    if not files:
        path = open_dataset(corpus).path
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
    known = ((file, file.stat()) for file in files if file.is_file())
    return tuple((file, state.st_mtime_ns, state.st_size) for file, state in known)


def _documents(corpus: str, language: str) -> Iterator[Document]:
    files = _source_files(corpus, language)
    if not files:
        for problem in open_dataset(corpus):
            if problem.language == language:
                yield Document(problem.source, language=language)
    for file in files:
        if file.is_file() and file.stat().st_size <= MOST_BYTES:
            try:
                yield Document.read(file)
            except SourceError:
                continue
