"""The datasets by name. To add one: write its file, and name it here; or a `counterlens.datasets` plug-in."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import platformdirs

from counterlens.datasets.base import PREFIX, Dataset, Loader
from counterlens.datasets.files import SUFFIXES, data_files, require_first_record, require_readable
from counterlens.datasets.folders import PROGRAMS
from counterlens.errors import DataError
from counterlens.plugins import Registry

VARIABLE = "COUNTERLENS_DATA"
"""The environment variable with folders to search for data, like `PATH` for programs."""
PREFERRED = "python"
"""The preferred language of data in several: the one whose functions every task supports."""

_PLACES = {
    "humaneval": "counterlens.datasets.humaneval:HumanEval",
    "humanevalplus": "counterlens.datasets.evalplus:HumanEvalPlus",
    "humanevalpack": "counterlens.datasets.humaneval:HumanEvalPack",
    "humaneval-x": "counterlens.datasets.humaneval:HumanEvalX",
    "mbpp": "counterlens.datasets.mbpp:Mbpp",
    "mbppplus": "counterlens.datasets.evalplus:MbppPlus",
    "mbppplus-hub": "counterlens.datasets.evalplus:MbppPlusTexts",
    "cruxeval": "counterlens.datasets.cruxeval:CruxEval",
    "codecontests": "counterlens.datasets.codecontests:CodeContests",
    "codecontests-folders": "counterlens.datasets.codecontests:CodeContestsFolders",
    "codenet": "counterlens.datasets.codecontests:CodeNet",
    "avatar": "counterlens.datasets.codecontests:Avatar",
    "codesearchnet": "counterlens.datasets.codesearchnet:CodeSearchNet",
    "galeras": "counterlens.datasets.codesearchnet:Galeras",
    "core": "counterlens.datasets.core:Core",
    "mbpp-test": "counterlens.datasets.mbpp:MbppTest",
}

LOADERS: Registry[Loader] = Registry(
    "counterlens.datasets", places=_PLACES, name=lambda loader: loader.id, kind=Loader
)


def open_dataset(spec: str | Path) -> Dataset:
    """Open the dataset of `--data`.

    The file in `PREFERRED` is used if a dataset has files in several languages.

    Args:
        spec: A name (`humaneval`), a file or folder in a published format, `NAME:PATH` for a path with a
            given format, or `repo:PATH` for the tested functions of a repository.

    Raises:
        DataError: there is no such dataset or file, or its format is unknown.
    """
    text = str(spec)
    if text.startswith(PREFIX):
        from counterlens.datasets.repository import repository  # reads Git, and tests

        return repository(text)
    path = Path(text).expanduser()
    name, colon, rest = text.partition(":")
    loader = LOADERS.get(name)
    if loader is not None and not path.exists() and (colon or text in LOADERS):
        whole = LOADERS[loader.whole] if loader.whole else loader
        dataset = _load(whole, _existing(Path(rest).expanduser())) if colon else _by_name(whole)
        return replace(dataset, loader=loader) if loader.whole else dataset
    if not path.exists() and os.sep not in text and "." not in text:
        raise DataError(
            f"there is no dataset and no file {text}", f"Known datasets: {', '.join(LOADERS)}; or give a path"
        )
    require_readable(_existing(path))
    loader = recognise(path)
    if loader is not None:
        return _load(loader, path)
    inside = find(path)
    if len(inside) > 1:
        alike = len({dataset.id for dataset in inside}) == 1
        preferred = _preferred_dataset(inside) if alike else None
        if preferred is not None:
            return preferred
        names = ", ".join(str(dataset.path) for dataset in inside[:4])
        raise DataError(f"{path} holds {len(inside)} datasets", f"Choose one of them: {names}")
    if not inside:
        if path.name.endswith(SUFFIXES):
            require_first_record(path)  # raises, with the reason, if it cannot be read at all
        raise DataError(
            f"{path} has an unknown format",
            f"Give its format: NAME:{path}, with one of {', '.join(LOADERS)}",
        )
    return inside[0]


def repository_in(data: str) -> tuple[Path, ...]:
    """The folder of the repository with the data; none for a dataset."""
    name, colon, rest = data.partition(":")
    return (Path(rest or ".").expanduser(),) if colon and name == "repo" else ()


def absolute(data: str) -> str:
    """A dataset's name or path as it is stored: paths are absolute, so that a run can be resumed anywhere."""
    name, colon, rest = data.partition(":")
    if Path(data).expanduser().exists():
        return str(Path(data).expanduser().resolve())
    if colon and (data.startswith(PREFIX) or Path(rest).expanduser().exists()):
        return f"{name}:{Path(rest or '.').expanduser().resolve()}"
    return data


def recognise(path: Path) -> Loader | None:
    """The loader whose format a file or folder has."""
    marks = [(loader.recognises(path), loader) for loader in LOADERS.values()]
    best = max(mark for mark, _ in marks)
    return next(loader for mark, loader in marks if mark == best) if best else None


def places() -> list[Path]:
    """The folders that are searched for data: those of `COUNTERLENS_DATA`, then the user's own."""
    named = [Path(folder).expanduser() for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder]
    return [*named, downloads()]


def downloads() -> Path:
    """The folder of downloaded data."""
    return Path(platformdirs.user_data_dir("counterlens")) / "datasets"


def installed_data() -> list[Dataset]:
    """All data that is found without a path: in packages, and in `places`, in search order."""
    datasets: list[Dataset] = []
    for loader in LOADERS.values():
        path = loader.installed()
        if path is not None:
            datasets.append(Dataset(loader, path))
    for place in places():
        for path in sorted(place.iterdir()) if place.is_dir() else ():
            datasets += find(path)
    return datasets


def find(path: Path) -> list[Dataset]:
    """The datasets at a path: the path itself, or the datasets in it if it is a folder of several."""
    if path.is_file():
        loader = recognise(path)
        return [Dataset(loader, path)] if loader else []
    if not path.is_dir():
        return []
    of_programs = any((child / name).is_file() for child in path.iterdir() for name in PROGRAMS)
    inside = [] if of_programs else [dataset for child in sorted(path.iterdir()) for dataset in find(child)]
    if inside:
        return inside
    loader = recognise(path)
    return [Dataset(loader, path)] if loader else []


def _load(loader: Loader, path: Path) -> Dataset:
    """Load the data at a path, in one format; for files in several languages, the preferred one."""
    inside = [dataset for dataset in find(path) if dataset.id == loader.id] if path.is_dir() else []
    if len(inside) > 1:
        return _preferred_dataset(inside) or Dataset(loader, path)
    files = data_files(path)
    return Dataset(loader, files[0] if len(files) == 1 and loader.recognises(files[0]) else path)


def _preferred_dataset(datasets: list[Dataset]) -> Dataset | None:
    """The dataset in the preferred language, if there is exactly one."""
    preferred = [dataset for dataset in datasets if dataset.language == PREFERRED]
    return _among(datasets, preferred[0]) if len(preferred) == 1 else None


def _among(datasets: list[Dataset], chosen: Dataset) -> Dataset:
    """A dataset that knows the others of its format."""
    alike = tuple(
        dataset.path
        for dataset in datasets
        if dataset.loader is chosen.loader and dataset.path != chosen.path
    )
    return replace(chosen, alike=alike)


def _by_name(loader: Loader) -> Dataset:
    datasets = [
        dataset for dataset in installed_data() if loader.id in (dataset.loader.id, dataset.loader.family)
    ]
    if len(datasets) > 1:
        return _among(
            datasets, next((dataset for dataset in datasets if dataset.language == PREFERRED), datasets[0])
        )
    if datasets:
        return datasets[0]
    looked = ", ".join(str(place) for place in places())
    raise DataError(
        f"the data of {loader.title} is not on this machine (looked in {looked})",
        f"Download it with: counterlens data get {loader.id}; or get it from {loader.source}, and give its "
        f"path or set its folder in {VARIABLE}",
    )


def _existing(path: Path) -> Path:
    if not path.exists():
        raise DataError(f"there is no file or folder {path}")
    if not path.is_file() and not path.is_dir():
        raise DataError(f"{path} is neither a file nor a folder")
    return path
