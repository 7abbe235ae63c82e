"""The same problems in another language, from which functions are translated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from counterlens.datasets.base import Dataset
from counterlens.datasets.files import SUFFIXES
from counterlens.datasets.registry import recognise
from counterlens.errors import DataError
from counterlens.languages.registry import title_of


@dataclass(frozen=True, slots=True)
class Counterparts:
    """The problems of a dataset in another language.

    Attributes:
        language: The id of that language.
        sources: The programs with the reference solutions, by `Problem.task`.
    """

    language: str
    dataset: Dataset
    sources: Mapping[str, str]


def counterparts(dataset: Dataset, language: str) -> Counterparts:
    """The problems of a dataset in another language.

    They are in the same data, else in other data of the same format: in the folder that the user named, or in
    a file beside the dataset's.

    Args:
        language: The id of the other language.

    Raises:
        DataError: there are none, or several files hold them; or the data cannot be read.
    """
    if not any(problem.task for problem in dataset):
        raise DataError(
            f"the problems of {dataset.path} are in one language",
            "A translation needs problems in several, such as those of humaneval-x",
        )
    if inside := _sources(dataset, language):
        return Counterparts(language, dataset, inside)
    siblings = [sibling for sibling in _others(dataset) if sibling.language == language]
    if len(siblings) > 1:
        names = ", ".join(str(sibling.path) for sibling in siblings)
        raise DataError(f"several files have the problems in {title_of(language)}: {names}", "Keep one")
    if not siblings:
        raise DataError(
            f"there are no problems in {title_of(language)} beside {dataset.path}",
            "Put the file of the same dataset in that language into the same folder",
        )
    return Counterparts(language, siblings[0], _sources(siblings[0], language))


def _sources(dataset: Dataset, language: str) -> dict[str, str]:
    return {
        problem.task: problem.source
        for problem in dataset
        if problem.task and problem.language == language and problem.source.strip()
    }


def _others(dataset: Dataset) -> Iterator[Dataset]:
    """Other data of a dataset's format: in the folder that the user named, and in the files beside it."""
    paths = {path.resolve(): path for path in dataset.alike}
    for path in sorted(dataset.path.parent.iterdir()) if dataset.path.is_file() else ():
        if path.is_file() and path.name.endswith(SUFFIXES) and recognise(path) is dataset.loader:
            paths.setdefault(path.resolve(), path)
    paths.pop(dataset.path.resolve(), None)
    return (Dataset(dataset.loader, path) for path in paths.values())
