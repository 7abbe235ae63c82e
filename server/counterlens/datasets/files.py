"""Records in files: JSON lines, JSON arrays, gzipped or not, with the position of each for error messages."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from counterlens.errors import DataError

SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz")
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """One JSON object of a file, and its position.

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
        DataError: it cannot be read, or is not JSON; the message says where.
    """
    for file in data_files(path):
        try:
            if file.name.removesuffix(".gz").endswith(".json"):
                yield from _array(file)
            else:
                yield from _lines(file)
        except FileNotFoundError:
            raise DataError(f"there is no file {file}") from None
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise DataError(f"{file} cannot be read: {reason}") from error


def first_record(path: Path) -> Mapping[str, Any] | None:
    """The fields of the first record of a file or folder; None if there is no readable one."""
    try:
        return next((record.fields for record in records(path)), None)
    except DataError:
        return None


def digest(path: Path) -> str:
    """The SHA-256 of a file; for a folder, over the names and digests of its files, sorted by name.

    Raises:
        DataError: it cannot be read.
    """
    try:
        if not path.is_dir():
            return _digest(path)
        total = hashlib.sha256()
        for file in sorted(entry for entry in path.rglob("*") if entry.is_file()):
            total.update(f"{file.relative_to(path).as_posix()}\0{_digest(file)}\n".encode())
        return total.hexdigest()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _open(file: Path) -> BinaryIO | gzip.GzipFile:
    return gzip.open(file, "rb") if file.name.endswith(".gz") else file.open("rb")


def _lines(file: Path) -> Iterator[JsonRecord]:
    with _open(file) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                where = f"{file.name}, line {number}"
                yield JsonRecord(_object(line, where), where)


def _array(file: Path) -> Iterator[JsonRecord]:
    with _open(file) as content:
        data = content.read()
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
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
        raise DataError(f"{file.name} is not a JSON array of records")
    for number, record in enumerate(document, 1):
        where = f"{file.name}, record {number}"
        if not isinstance(record, dict):
            raise DataError(f"{where}: expected an object, found {_kind(record)}")
        yield JsonRecord(record, where)


def _object(line: bytes, where: str) -> Mapping[str, Any]:
    try:
        fields = json.loads(line)
    except UnicodeDecodeError:
        raise DataError(f"{where}: not valid UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not JSON ({error})") from None
    if not isinstance(fields, dict):
        raise DataError(f"{where}: expected an object, found {_kind(fields)}")
    return fields
