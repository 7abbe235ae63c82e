"""Records: the typed result of one probe on one function, the same in every front end.

msgspec turns them into JSON and back, checks what it reads against the types, and gives their JSON Schema.
Nothing in a record differs from run to run: no clock, no address, no temporary folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

import msgspec

from counterlens.errors import DataError

SCHEMA = 1
"""Version of the records' shape; raised whenever a key is renamed or taken away."""
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_FOLDER = re.compile(r"(?:/private)?(?:/var/folders|/tmp|/dev/shm)/[^\s'\"),:]+")


class Outcome(StrEnum):
    """Whether a function could be probed."""

    PROBED = "probed"
    LEFT_OUT = "left out"
    UNSTEADY = "not the same twice"  # the model's answer: it gets no figures for any function


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The result of one probe on one function; each probe has a class of its own below this one.

    Attributes:
        schema: Version of the shape, `SCHEMA`.
        probe: The id of the probe.
        protocol: The published protocol that was followed; empty if Counterlens's own definitions hold.
        model: The id of the model, as the user named it.
        target: The function's name in the dataset, or its qualified name.
        function: The qualified name of the function.
        outcome: Whether it could be probed.
        reason: Why not.
        hint: A remedy.
        left_out: How many sites, calls or answers of it do not count, by reason.
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
        """Whether there is something to count."""
        return self.outcome is Outcome.PROBED


RecordT = TypeVar("RecordT", bound=Record)


def plain(record: Record) -> dict[str, Any]:
    """A record as JSON has it: what `--json`, the store, Parquet and the editor hold."""
    document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(record))  # so that tuples are lists
    return document


def written(record: Record) -> str:
    """A record as one line of JSON, the same bytes wherever it was made."""
    return msgspec.json.encode(plain(record), order="sorted").decode()


def read(document: Mapping[str, Any] | str, kind: type[RecordT]) -> RecordT | Record:
    """A record that `plain` or `written` made; one that was left out has no more than a `Record`.

    Raises:
        DataError: it is of another version, or malformed.
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
    """The JSON Schema of the records of some probes, by their ids; one that was left out is a `Record`."""
    found, definitions = msgspec.json.schema_components(
        (Record, *kinds.values()), ref_template="#/$defs/{name}"
    )
    outcome = {"properties": {"outcome": {"const": Outcome.LEFT_OUT}}, "required": ["outcome"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Counterlens records, shape {SCHEMA}",
        "properties": {
            name: {"if": outcome, "then": found[0], "else": own}
            for name, own in zip(kinds, found[1:], strict=True)
        },
        "$defs": definitions,
    }


def steady(text: str) -> str:
    """A text without addresses and temporary folders, which no two runs share."""
    return _FOLDER.sub("…", _ADDRESS.sub("0x…", text))
