"""Formats that are files of records, recognised by their fields: JSON lines or one array, or Parquet.

Each record has its position, for error messages.
"""

from __future__ import annotations

import importlib.util
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from counterlens.datasets.base import Loader, Problem
from counterlens.errors import DataError
from counterlens.nested_text import parse_json
from counterlens.regular_file import numbered_lines, open_file, read_inflated, reason_of

PARQUET = ".parquet"
SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz", PARQUET)
_ROWS = 64  # of a Parquet file in memory at once


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """One JSON object or row of a file, and its position.

    Attributes:
        where: Its position, such as `HumanEval.jsonl.gz, line 3`.
    """

    fields: Mapping[str, Any]
    where: str

    def text(self, *names: str) -> str:
        """The first existing one of some fields, which must be a string.

        Raises:
            DataError: there is none, or it is not a string.
        """
        value = self._first(names)
        if not isinstance(value, str):
            raise self.wrong(f"`{self._name(names)}` is {_kind(value)}, not a string")
        return value

    def texts(self, *names: str) -> list[str]:
        """The first existing one of some fields, which must be a list of strings.

        Raises:
            DataError: there is none, or it is not a list of strings.
        """
        value = self._first(names)
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise self.wrong(f"`{self._name(names)}` is {_kind(value)}, not a list of strings")
        return value

    def wrong(self, what: str) -> DataError:
        """The error about a problem with this record."""
        return DataError(f"{self.where}: {what}")

    def _name(self, names: tuple[str, ...]) -> str:
        return next((name for name in names if name in self.fields), names[0])

    def _first(self, names: tuple[str, ...]) -> Any:
        for name in names:
            if name in self.fields:
                return self.fields[name]
        has = ", ".join(map(str, self.fields)) or "nothing"
        raise self.wrong(f"`{names[0]}` is missing; the record has {has}")


def _kind(value: object) -> str:
    names = {
        type(None): "null",
        bool: "a Boolean",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
        str: "a string",
    }
    return names.get(type(value), type(value).__name__)


def data_files(path: Path) -> list[Path]:
    """The record files of a folder, sorted; or the file itself."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file() and file.name.endswith(SUFFIXES))
    return [path]


def records(path: Path) -> Iterator[JsonRecord]:
    """The records of a file, or of all record files of a folder.

    Raises:
        DataError: it cannot be read, or is neither JSON nor Parquet; the message says where.
    """
    for file in data_files(path):
        try:
            if file.name.endswith(PARQUET):
                yield from _rows(file)
            elif file.name.removesuffix(".gz").endswith(".json"):
                yield from _array(file)
            else:
                yield from _lines(file)
        except FileNotFoundError:
            raise DataError(f"there is no file {file}") from None
        except OSError as error:
            raise DataError(f"{file} cannot be read: {reason_of(error)}") from error


def first_record(path: Path) -> Mapping[str, Any] | None:
    """The fields of the first record of a file or folder; None if there is no readable one."""
    record = _known_first(path)
    return None if isinstance(record, DataError) else record


def require_first_record(path: Path) -> None:
    """Continue if a file or folder can be read up to its first record, or has none.

    Raises:
        DataError: as `records`.
    """
    record = _known_first(path)
    if isinstance(record, DataError):
        raise record


def _known_first(path: Path) -> Mapping[str, Any] | DataError | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return _first_record(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _first_record(path: Path, _changed: int, _size: int) -> Mapping[str, Any] | DataError | None:
    """The same, or why there is none: every format asks for it, and an array must be read as a whole."""
    try:
        return next((record.fields for record in records(path)), None)
    except DataError as error:
        return DataError(error.message, error.hint)  # without the frames that hold what was read


def require_readable(path: Path) -> None:
    """Continue only if the form of a file, or of the files in a folder, can be read on this machine.

    Raises:
        DataError: it is Parquet, whose library is not installed.
    """
    parquet = next((file for file in data_files(path) if file.name.endswith(PARQUET)), None)
    if parquet is not None and importlib.util.find_spec("pyarrow") is None:
        raise DataError(
            f"{parquet} is a Parquet file, which needs pyarrow, and that is not installed",
            "pip install 'counterlens[data]', or give the data as JSON lines",
        )


def _rows(file: Path) -> Iterator[JsonRecord]:
    """The rows of a Parquet file, the form in which the Hugging Face hub stores datasets."""
    require_readable(file)
    import pyarrow
    from pyarrow import parquet

    number = 0
    try:
        with open_file(file) as content, parquet.ParquetFile(content) as table:
            for batch in table.iter_batches(batch_size=_ROWS):
                for row in batch.to_pylist():
                    number += 1
                    yield JsonRecord(row, f"{file.name}, row {number}")
    except pyarrow.ArrowException as error:
        raise DataError(f"{file} is not valid Parquet: {str(error).splitlines()[0]}") from None


def _lines(file: Path) -> Iterator[JsonRecord]:
    for number, line in numbered_lines(file):
        where = f"{file.name}, line {number}"
        yield JsonRecord(_object(line, where), where)


def _array(file: Path) -> Iterator[JsonRecord]:
    data = read_inflated(file)
    fault = ""
    try:
        document = parse_json(data)
    except ValueError as error:
        document, fault = None, f" ({error})"
        if data.lstrip()[:1] == b"{":  # JSON lines under the wrong name
            yield from _lines(file)
            return
    if (
        isinstance(document, dict)
        and document
        and all(isinstance(value, dict) for value in document.values())
    ):
        document = [{"id": name, **fields} for name, fields in document.items()]  # objects by id
    if not isinstance(document, list):
        raise DataError(f"{file.name} is not a JSON array of records{fault}")
    for number, record in enumerate(document, 1):
        where = f"{file.name}, record {number}"
        if not isinstance(record, dict):
            raise DataError(f"{where}: expected an object, found {_kind(record)}")
        yield JsonRecord(record, where)


def _object(line: bytes, where: str) -> Mapping[str, Any]:
    try:
        fields = parse_json(line)
    except ValueError as error:
        raise DataError(f"{where}: not JSON ({error})") from None
    if not isinstance(fields, dict):
        raise DataError(f"{where}: expected an object, found {_kind(fields)}")
    return fields


class RecordLoader(Loader):
    """A format of JSON lines (or one JSON array), or of Parquet with the same columns.

    Attributes:
        fields: The marks of the format: each entry is a field that its records have, or several separated by
            `|` of which they have one. The format with most matching fields wins.
    """

    fields: ClassVar[tuple[str, ...]]

    @abstractmethod
    def problem(self, record: JsonRecord) -> Problem:
        """The problem of one record.

        Raises:
            DataError: it is malformed; the message says where and why.
        """

    def recognises(self, path: Path) -> int:
        """Like `Loader.recognises`: the number of its fields, if the first record of each file has all."""
        if not path.is_dir() and not path.is_file():
            return 0
        files = data_files(path)
        return len(self.fields) if files and all(map(self._fits, files)) else 0

    def _fits(self, file: Path) -> bool:
        first = first_record(file)
        return first is not None and all(
            any(name in first for name in entry.split("|")) for entry in self.fields
        )

    def problems(self, path: Path) -> Iterator[Problem]:
        for record in records(path):
            yield self.problem(record)


def details(record: JsonRecord, *names: str) -> dict[str, str]:
    """Some fields of a record as texts, if they exist and are not empty."""
    values: dict[str, Any] = {name: record.fields.get(name) for name in names}
    return {name: str(value) for name, value in values.items() if value not in (None, "", [])}
