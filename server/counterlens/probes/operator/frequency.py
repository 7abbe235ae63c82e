"""Operators in a corpus: how often each is there (Ahmed et al. 2024, section 4.2.1), in which operations."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock

from counterlens.datasets import open_dataset
from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.syntax.document import Document
from counterlens.syntax.operators import TABLES, operator_sites

MOST_BYTES = 1 << 20
"""Longer files are generated ones, and are left out."""
_KEPT = 4  # corpora that were read
_Stamp = tuple[str, tuple[tuple[Path, int, int], ...]]


@dataclass(frozen=True, slots=True)
class OperatorCorpus:
    """What a corpus holds of operators.

    Attributes:
        frequency: How often each operator stands in it, the most frequent first.
        operations: The operations themselves, such as `a<b`, as `squeezed`.
    """

    frequency: Mapping[str, float]
    operations: frozenset[str]


def squeezed(operation: str) -> str:
    """An operation as it is searched for: without blanks and line breaks."""
    return "".join(operation.split())


def read_corpus(corpus: str, *, cancel: Event | None = None) -> OperatorCorpus:
    """Read the operators of a corpus; one that has not changed since is not read again.

    Args:
        corpus: A Python file, a folder of them, or a dataset as `open_dataset` knows it. Files that are no
            text, or longer than `MOST_BYTES`, are left out.
        cancel: Set it to give up.

    Raises:
        CounterlensError: there is no such file, folder or dataset, or not one operator in it.
        Cancelled: `cancel` was set.
    """
    return _CORPORA.read(corpus, cancel)


class _Corpora:
    """The corpora that were read last, by their name and the state of their files."""

    def __init__(self) -> None:
        self._read: OrderedDict[_Stamp, OperatorCorpus] = OrderedDict()
        self._lock = Lock()  # of several functions probed at once, one reads

    def read(self, corpus: str, cancel: Event | None) -> OperatorCorpus:
        with self._lock:
            stamp = corpus, tuple(_states(_sources(corpus)))
            if stamp not in self._read:
                self._read[stamp] = _counted(corpus, cancel)
            self._read.move_to_end(stamp)
            while len(self._read) > _KEPT:
                self._read.popitem(last=False)
            return self._read[stamp]


_CORPORA = _Corpora()


def _counted(corpus: str, cancel: Event | None) -> OperatorCorpus:
    counts: Counter[str] = Counter()
    operations: set[str] = set()
    for document in _documents(corpus):
        if cancel is not None and cancel.is_set():
            raise Cancelled
        sites = operator_sites(document)
        counts.update(site.operator for site in sites)
        operations.update(squeezed(site.text) for site in sites)
    if not counts:
        raise CounterlensError(
            f"there are no operators in {corpus}", "Name a Python file or a folder of them"
        )
    return OperatorCorpus(dict(counts.most_common()), frozenset(operations))


def _python_files(corpus: str) -> list[Path]:
    path = Path(corpus).expanduser()
    return sorted(path.rglob("*.py")) if path.is_dir() else [path] if path.suffix == ".py" else []


def _sources(corpus: str) -> list[Path]:
    """The files that a corpus is read from."""
    files = _python_files(corpus)
    if files:
        return files
    path = open_dataset(corpus).path
    return sorted(path.rglob("*")) if path.is_dir() else [path]


def _states(files: list[Path]) -> Iterator[tuple[Path, int, int]]:
    for file in files:
        if file.is_file():
            state = file.stat()
            yield file, state.st_mtime_ns, state.st_size


def _documents(corpus: str) -> Iterator[Document]:
    files = _python_files(corpus)
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
