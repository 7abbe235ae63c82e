"""Records as SARIF 2.1.0, for code scanning: every verdict that a mutation changed is a result at its line.

Paths of files are relative to the root of the working tree; functions in a dataset have their names
instead.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import counterlens
from counterlens.metrics.effects import PairOutcome
from counterlens.mutations import every_mutation
from counterlens.probes.pairs.contested_wording import contested_sentence
from counterlens.probes.pairs.phrases import change_phrase
from counterlens.probes.pairs.record import PairRecord
from counterlens.probes.pairs.stability_wording import unstable_sentence
from counterlens.probes.pairs.wording import OUTCOMES
from counterlens.reports.export.view import Exported, ExportedRecord
from counterlens.reports.wording import evidence
from counterlens.text import json_text

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {PairOutcome.LOST: "warning", PairOutcome.GAINED: "note"}
Json = dict[str, Any]


def sarif(export: Exported) -> str:
    """The document: one run of the tool."""
    properties = {"finished": export.finished, "task": ", ".join(export.probes)}
    return sarif_run(list(_results(export)), _rule, properties, rooted=export.before is not None)


def sarif_run(results: list[Json], rule: Callable[[str], Json], properties: Json, *, rooted: bool) -> str:
    """A document of one run of the tool.

    Args:
        results: Its results, each with its `ruleId`.
        rule: Describes a rule.
        rooted: Whether paths are relative to the root of the working tree.
    """
    rules = sorted({result["ruleId"] for result in results})
    for result in results:
        result["ruleIndex"] = rules.index(result["ruleId"])
    driver = {
        "name": "Counterlens",
        "semanticVersion": counterlens.__version__,
        "rules": [rule(name) for name in rules],
    }
    run: Json = {
        "tool": {"driver": driver},
        "results": results,
        "columnKind": "utf16CodeUnits",
        "properties": properties,
    }
    if rooted:
        run["originalUriBaseIds"] = {"SRCROOT": {"description": {"text": "the root of the working tree"}}}
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_text(document) + "\n"


def sarif_rule(name: str, title: str, about: str, level: str) -> Json:
    """The description of a rule."""
    return {
        "id": name,
        "shortDescription": {"text": title},
        "fullDescription": {"text": about},
        "defaultConfiguration": {"level": level},
    }


def sarif_result(
    rule: str,
    level: str,
    message: str,
    place: Json,
    identity: tuple[str, tuple[str, ...]],
    properties: Json,
    **more: object,
) -> Json:
    """A result at one place.

    Args:
        identity: The name of its fingerprint, and what the fingerprint is made of: equal results of two
            runs have the same.
        more: Further properties of a SARIF result.
    """
    name, parts = identity
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": message},
        "locations": [place],
        **more,
        "partialFingerprints": {name: digest},
        "properties": properties,
    }


def file_region(path: str, **region: int) -> Json:
    """The physical location of a region of a file."""
    return {"artifactLocation": {"uri": quote(os.fsencode(path))}, "region": region}


def in_function(name: str, region: Json) -> Json:
    """The location of a region in a function."""
    return {
        "physicalLocation": region,
        "logicalLocations": [{"fullyQualifiedName": name, "kind": "function"}],
    }


def _rule(name: str) -> Json:
    mutation = every_mutation().get(name)
    title = f"A verdict that depends on {mutation.concept}" if mutation else "A verdict that depends on form"
    about = (
        "The model completes one of two equivalent versions of this function correctly, and the other one "
        "wrongly. This concerns the model, not the code: check its suggestions here."
    )
    return sarif_rule(name, f"{title} ({name})", about, "warning")


def _results(export: Exported) -> Iterator[Json]:
    for exported in export.records:
        for pair in exported.judged_pairs:
            if pair.outcome not in _LEVELS:
                continue
            said = exported.noise, unstable_sentence(pair), contested_sentence(pair)
            caveats = [text for text in said if text]
            parts = (exported.model, exported.probe, exported.target, pair.mutation, pair.description)
            yield sarif_result(
                pair.mutation,
                "note" if caveats else _LEVELS[pair.outcome],
                " ".join((_message(exported, pair), *caveats)),
                _location(exported, pair, export.before),
                ("pair/v1", parts),
                {"model": exported.model, "outcome": OUTCOMES[pair.outcome], "record": exported.position},
            )


def _message(exported: ExportedRecord, pair: PairRecord) -> str:
    beginning, function = f"{change_phrase(pair.mutation)}, {exported.model}", exported.function
    if pair.outcome is PairOutcome.GAINED:
        return f"{beginning} gets {function} right, but not the original."
    return f"{beginning} no longer gets {function} right ({evidence(pair.counterfactual)})."


def _location(exported: ExportedRecord, pair: PairRecord, before: str | None) -> Json:
    function = exported.function
    place: Json = {
        "logicalLocations": [{"name": function, "fullyQualifiedName": exported.target, "kind": "function"}]
    }
    if before is not None:
        place["physicalLocation"] = {
            "artifactLocation": {"uri": quote(before + exported.file), "uriBaseId": "SRCROOT"},
            "region": {"startLine": pair.start_line, "endLine": pair.end_line},
        }
    return place
