"""Formats that are files of JSON records: recognised by the fields of the first one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from counterlens.datasets.base import Loader, Problem
from counterlens.datasets.files import JsonRecord, data_files, first_record, records


class RecordLoader(Loader):
    """A format of JSON lines (or one JSON array).

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
