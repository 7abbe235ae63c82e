"""A run as SARIF 2.1.0, for code scanning: every verdict that a mutation changed is a result at its line.

Of a repository the places are files and lines, relative to the root of its working tree; of a dataset they
are the names of its functions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import counterlens
from counterlens.datasets.repository import PREFIX
from counterlens.evaluation.figures import Found
from counterlens.evaluation.store import Item
from counterlens.mutations.registry import MUTATIONS
from counterlens.reports.evaluation.outcomes import WORDS, evidence, outcome
from counterlens.reports.phrases import done

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"lost": "warning", "gained": "note"}
Json = dict[str, Any]


def run_sarif(found: Found) -> str:
    """The document: one run of the tool."""
    before = _prefix(found.settings.data)
    told = list(_results(found, before))
    rules = sorted({one["ruleId"] for one in told})
    for one in told:
        one["ruleIndex"] = rules.index(one["ruleId"])
    driver = {
        "name": "Counterlens",
        "semanticVersion": counterlens.__version__,
        "rules": [_rule(name) for name in rules],
    }
    run: Json = {
        "tool": {"driver": driver},
        "results": told,
        "columnKind": "utf16CodeUnits",
        "properties": {"finished": len(found.records) == found.total, "task": found.settings.task},
    }
    if before is not None:
        run["originalUriBaseIds"] = {"SRCROOT": {"description": {"text": "the root of the working tree"}}}
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rule(name: str) -> Json:
    mutation = MUTATIONS.get(name)
    about = f"A verdict that depends on {mutation.concept}" if mutation else "A verdict that depends on form"
    return {
        "id": name,
        "shortDescription": {"text": f"{about} ({name})"},
        "fullDescription": {
            "text": "The model completes this function rightly in one of two shapes that do the same, and "
            "wrongly in the other. It says something about the model, not about the code: a suggestion of it "
            "deserves a second look here."
        },
        "defaultConfiguration": {"level": "warning"},
    }


def _results(found: Found, before: str | None) -> Iterator[Json]:
    for item, record in found.records:
        for pair in record.judged_pairs:
            shown = outcome(pair)
            if shown not in _LEVELS:
                continue
            key = "\0".join((item.model, item.task, item.problem, pair["mutation"], pair["description"]))
            yield {
                "ruleId": pair["mutation"],
                "level": _LEVELS[shown],
                "message": {"text": _message(item, pair, shown)},
                "locations": [_location(item, pair, before)],
                "partialFingerprints": {"pair/v1": hashlib.sha256(_utf8(key)).hexdigest()},
                "properties": {"model": item.model, "outcome": WORDS[shown], "record": item.position},
            }


def _message(item: Item, pair: Mapping[str, Any], shown: str) -> str:
    beginning = f"{done(pair['mutation'])}, {item.model}"
    if shown == "gained":
        return f"{beginning} gets {item.function} right, which it does not as it stands."
    return f"{beginning} no longer gets {item.function} right ({evidence(pair['counterfactual'])})."


def _location(item: Item, pair: Mapping[str, Any], before: str | None) -> Json:
    place: Json = {
        "logicalLocations": [{"name": item.function, "fullyQualifiedName": item.problem, "kind": "function"}]
    }
    if before is not None:
        file = item.problem.partition("::")[0]
        place["physicalLocation"] = {
            "artifactLocation": {"uri": quote(before + file), "uriBaseId": "SRCROOT"},
            "region": {"startLine": pair["start_line"], "endLine": pair["end_line"]},
        }
    return place


def _prefix(data: str) -> str | None:
    """What stands before a file's path for it to be relative to the working tree; None for a dataset."""
    if not data.startswith(PREFIX):
        return None
    folder = Path(data.removeprefix(PREFIX))
    for root in (folder, *folder.parents):
        if (root / ".git").exists():
            inside = folder.relative_to(root).as_posix()
            return "" if inside == "." else f"{inside}/"
    return ""


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
