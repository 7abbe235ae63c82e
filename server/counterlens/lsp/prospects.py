"""What is known about a probe before it runs: kept results, shares of completions, refusals.

Results are kept in the user's cache by document and model; how often a model completes functions, by model.
Nothing of this runs a program, so it is also known in an untrusted folder.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import platformdirs

from counterlens.atomic_file import make_folder, replace_file
from counterlens.errors import DataError
from counterlens.judging.base import WeakAssertion
from counterlens.models.code_models import code_models
from counterlens.models.files import EMBEDDED_MODEL, note, recall
from counterlens.nested_text import read_json
from counterlens.probes import record as records
from counterlens.probes.pairs.record import PairsRecord
from counterlens.syntax.functions import Function

_MEMORY = "editor-completions.json"
_SHORT_LINES = 12  # a function with at most so many lines is short
_TELLING = 3  # functions from which a share is stated
_HOPELESS = 8  # functions of a kind without one completed, from which no other is offered
_WEAK = 0.4  # share of completed functions below which a larger model is named
_RESULT_FORM = 1  # increase it when the stored form changes
_MOST_BYTES = 8_000_000  # of one document's results


@dataclass(frozen=True, slots=True)
class CompletionCounts:
    """How many of the probed functions a model completed so that the tests passed."""

    completed: int = 0
    probed: int = 0

    def __add__(self, other: CompletionCounts) -> CompletionCounts:
        return CompletionCounts(self.completed + other.completed, self.probed + other.probed)


def counts_of_kind(model: str, function: Function) -> CompletionCounts:
    """The counts of a model for functions about as long as this one."""
    return _counts(model, _kind(function))


def note_completion(model: str, function: Function, *, completed: bool) -> None:
    """Count one more probed function."""
    kind = _kind(function)
    counts = _counts(model, kind) + CompletionCounts(int(completed), 1)
    note(_MEMORY, f"{model} {kind}", f"{counts.completed}/{counts.probed}")


def is_hopeless(counts: CompletionCounts) -> bool:
    """Whether a model has completed none of so many such functions that a probe will say nothing."""
    return counts.probed >= _HOPELESS and not counts.completed


def prospect(model: str, name: str) -> str:
    """What a model can do here, in a sentence, before a probe."""
    counts = _counts(model, "short") + _counts(model, "long")
    if counts.probed < _TELLING:
        said = f"How often {name} completes your functions is being measured"
        weak = model == EMBEDDED_MODEL
    else:
        share = counts.completed / counts.probed
        said = f"{name} completed {100 * share:.0f} % of the {counts.probed} functions probed so far"
        weak = share < _WEAK
    larger = _larger(model) if weak else ""
    return f"{said}; {larger} is likelier to tell you something" if larger else said


def refusal(weak: WeakAssertion) -> str:
    """Why a probe will be refused, and what to do, in a clause."""
    if weak.instead:
        return f"`{weak.assertion}` also accepts {weak.accepts}: compare with `{weak.instead}`"
    if weak.assertion.startswith(("assert ", "self.")):
        return f"`{weak.assertion}` also accepts {weak.accepts}: compare with the expected result"
    return f"no test looks at the result of `{weak.assertion}`: compare it with the expected one"


def _counts(model: str, kind: str) -> CompletionCounts:
    completed, _, probed = str(recall(_MEMORY, f"{model} {kind}") or "").partition("/")
    if completed.isdecimal() and probed.isdecimal() and int(completed) <= int(probed):
        return CompletionCounts(int(completed), int(probed))
    return CompletionCounts()


def _kind(function: Function) -> str:
    return "short" if function.end_line - function.start_line < _SHORT_LINES else "long"


def _larger(model: str) -> str:
    """The name of the next larger code model that is offered; empty if none is known to be larger."""
    offered = code_models()
    if model == EMBEDDED_MODEL:
        return offered[0].name
    ours = next((each for each in offered if each.id == model or model.endswith(each.file)), None)
    larger = [each for each in offered if ours is not None and each.parameters > ours.parameters]
    return larger[0].name if larger else ""


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
    stored = _read_results(path) | {
        function: {
            "form": _RESULT_FORM,
            "source": result.source,
            "record": records.plain(result.record),
            "answer": result.answer,
        }
    }
    data = msgspec.json.encode(stored).decode()
    if len(data) <= _MOST_BYTES:
        with contextlib.suppress(OSError):
            make_folder(path.parent)
            replace_file(path, data)


def kept_results(uri: str, model: str) -> dict[str, KeptResult]:
    """The results of a document with a model, by the function's qualified name."""
    kept = {}
    for name, stored in _read_results(_path(uri, model)).items():
        if not isinstance(stored, dict) or stored.get("form") != _RESULT_FORM:
            continue
        with contextlib.suppress(DataError, KeyError, TypeError):
            record = records.read(stored["record"], PairsRecord)
            if isinstance(record, PairsRecord):
                kept[name] = KeptResult(str(stored["source"]), record, dict(stored["answer"]))
    return kept


def _path(uri: str, model: str) -> Path:
    name = hashlib.sha256(f"{uri}\n{model}".encode()).hexdigest()[:32]
    return Path(platformdirs.user_cache_dir("counterlens")) / "editor-results" / f"{name}.json"


def _read_results(path: Path) -> dict[str, Any]:
    try:
        stored = read_json(path)
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}
