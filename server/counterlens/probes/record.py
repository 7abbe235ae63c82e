"""Records: the typed result of one probe on one function, the same in every front end.

msgspec converts them to JSON and back, validates them against the types, and gives their JSON Schema. Records
are the same in every run: they contain no time, no address, no temporary folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

import msgspec

from counterlens.errors import DataError

SCHEMA = 2
"""Version of the records' schema; increased whenever a key is renamed or removed."""
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_FOLDER = re.compile(r"(?:/private)?(?:/var/folders|/tmp|/dev/shm)/[^\s'\"),:]+")


class Outcome(StrEnum):
    """Whether a function could be probed."""

    PROBED = "probed"
    LEFT_OUT = "left out"
    UNSTEADY = "not the same twice"  # the model's answer to the same question varies (`sanity.py`)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The result of one probe on one function; each probe has a subclass.

    Attributes:
        schema: Version of the schema, `SCHEMA`.
        probe: The id of the probe.
        protocol: The published protocol that was followed; empty if Counterlens's own definitions hold.
        model: The id of the model, as the user named it.
        target: The function's name in the dataset, or its qualified name.
        function: The qualified name of the function.
        outcome: Whether it could be probed.
        reason: Why it could not be probed.
        hint: A remedy.
        left_out: Number of its sites, calls or answers that do not count, by reason.
    """

    schema: int = SCHEMA
    probe: str = ""
    protocol: str = ""
    model: str = ""
    target: str = ""
    function: str = ""
    outcome: Outcome = Outcome.PROBED
    reason: str = ""
    hint: str = ""
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def probed(self) -> bool:
        """Whether the function could be probed."""
        return self.outcome is Outcome.PROBED

    @property
    def asked(self) -> bool:
        """Whether the model was asked about the function, and so, if a probe repeats one, asked twice."""
        return self.outcome is not Outcome.LEFT_OUT


RecordT = TypeVar("RecordT", bound=Record)


def plain(record: Record) -> dict[str, Any]:
    """A record as plain JSON data, as in `--json`, the store, Parquet and the editor."""
    document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(record))  # so that tuples are lists
    return document


def write_record(record: Record) -> str:
    """A record as one line of JSON, with the same bytes on every machine."""
    return msgspec.json.encode(plain(record), order="sorted").decode()


def read(document: Mapping[str, Any] | str, kind: type[RecordT]) -> RecordT | Record:
    """Read a record from `plain` or `write_record`; one of a function that was left out is only a `Record`.

    Raises:
        DataError: the record has another version, or is malformed.
    """
    data: Any = msgspec.json.decode(document) if isinstance(document, str) else document
    if data.get("schema") != SCHEMA:
        raise DataError(
            f"a record has schema {data.get('schema')}, but this version reads schema {SCHEMA}",
            "Read it with the version of Counterlens that wrote it",
        )
    left_out = data.get("outcome") in {Outcome.LEFT_OUT, Outcome.UNSTEADY}
    try:
        return msgspec.convert(data, Record if left_out else kind)
    except msgspec.ValidationError as error:
        raise DataError(f"a record of {data.get('probe') or 'a probe'} is malformed: {error}") from None


def schema(kinds: Mapping[str, type[Record]]) -> dict[str, Any]:
    """The JSON Schema of the records of some probes, by probe id; left-out functions have a `Record`."""
    schemas, definitions = msgspec.json.schema_components(
        (Record, *kinds.values()), ref_template="#/$defs/{name}"
    )
    left_out = [Outcome.LEFT_OUT, Outcome.UNSTEADY]
    outcome = {"properties": {"outcome": {"enum": left_out}}, "required": ["outcome"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Counterlens records, shape {SCHEMA}",
        "properties": {
            name: {"if": outcome, "then": schemas[0], "else": own}
            for name, own in zip(kinds, schemas[1:], strict=True)
        },
        "$defs": definitions,
    }


def steady(text: str) -> str:
    """A text without addresses and temporary folders, which differ in every run."""
    return _FOLDER.sub("…", _ADDRESS.sub("0x…", text))
