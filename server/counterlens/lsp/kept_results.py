"""Results of completion probes, kept in the user's cache over restarts, by document and model."""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import platformdirs

from counterlens.atomic_file import replace_file
from counterlens.errors import DataError
from counterlens.probes import record as records
from counterlens.probes.pairs.record import PairsRecord
from counterlens.regular_file import read_text

_FORM = 1  # increase it when the stored form changes
_MOST_BYTES = 8_000_000  # of one document's results


@dataclass(frozen=True, slots=True)
class KeptResult:
    """The last result of one function.

    Attributes:
        source: The probed text of the function.
        answer: The answer to the client, as plain data.
    """

    source: str
    record: PairsRecord
    answer: dict[str, Any]


def keep_result(uri: str, model: str, function: str, result: KeptResult) -> None:
    """Store a result; a cache that cannot be written costs time, nothing else."""
    path = _path(uri, model)
    stored = _stored(path) | {
        function: {
            "form": _FORM,
            "source": result.source,
            "record": records.plain(result.record),
            "answer": result.answer,
        }
    }
    data = msgspec.json.encode(stored).decode()
    if len(data) <= _MOST_BYTES:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, data)


def kept_results(uri: str, model: str) -> dict[str, KeptResult]:
    """The results of a document with a model, by the function's qualified name."""
    kept = {}
    for name, stored in _stored(_path(uri, model)).items():
        if not isinstance(stored, dict) or stored.get("form") != _FORM:
            continue
        with contextlib.suppress(DataError, KeyError, TypeError):
            record = records.read(stored["record"], PairsRecord)
            if isinstance(record, PairsRecord):
                kept[name] = KeptResult(str(stored["source"]), record, dict(stored["answer"]))
    return kept


def _path(uri: str, model: str) -> Path:
    name = hashlib.sha256(f"{uri}\n{model}".encode()).hexdigest()[:32]
    return Path(platformdirs.user_cache_dir("counterlens")) / "editor-results" / f"{name}.json"


def _stored(path: Path) -> dict[str, Any]:
    try:
        stored = msgspec.json.decode(read_text(path))
    except (OSError, ValueError, msgspec.DecodeError):
        return {}
    return stored if isinstance(stored, dict) else {}
