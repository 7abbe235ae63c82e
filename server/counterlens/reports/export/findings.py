"""Findings at lines of files, such as marks and mutants: as SARIF 2.1.0 and as annotations on GitHub."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import quote

import counterlens
from counterlens.text import json_text, printable

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
Json = dict[str, Any]
Item = TypeVar("Item")
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = _DATA | {":": "%3A", ",": "%2C"}


@dataclass(frozen=True, slots=True)
class Annotation:
    """A right verdict that was lost.

    Attributes:
        file: As the user named it, or relative to the folder of the repository; for a dataset, the name of
            the problem.
        line: The changed line, 1-based.
        end_line: The last line of the change.
        mutation: The change.
        message: Its meaning, and a suggestion for the author of the line.
    """

    file: str
    line: int
    end_line: int
    mutation: str
    message: str

    def __str__(self) -> str:
        return printable(f"{self.file}:{self.line}: {self.message}", keep="\t")

    @property
    def workflow_command(self) -> str:
        """The format that GitHub Actions reads from a step's output and shows at the line."""
        place = {
            "file": self.file,
            "line": str(self.line),
            "endLine": str(self.end_line),
            "title": f"Counterlens: {self.mutation}",
        }
        properties = ",".join(f"{name}={_escape(value, _PROPERTY)}" for name, value in place.items())
        return f"::warning {properties}::{_escape(self.message, _DATA)}"


def _escape(text: str, how: dict[str, str]) -> str:
    return "".join(how.get(character, character) for character in printable(text, keep="\t\r\n"))


def patch_of(path: str, before: str, after: str, *, around: int) -> str:
    """A change of a file as a unified difference, with some lines around it."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return "".join(unified_diff(old, new, path, path, n=around))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFinding:
    """A finding at a place in a function of a file.

    Attributes:
        rule: Its kind.
        level: `error`, `warning` or `note`.
        message: One sentence.
        details: What follows the message where there is room.
        region: The place, as properties of a SARIF region.
        identity: The name of its fingerprint, and what makes it besides path, function and rule.
        properties: Further facts.
        related: Other places in files, each with a text.
    """

    rule: str
    level: str
    message: str
    details: str = ""
    path: str
    function: str
    region: Mapping[str, int]
    identity: tuple[str, tuple[str, ...]]
    properties: Json
    related: Sequence[tuple[Json, str]] = ()

    @property
    def annotation(self) -> Annotation:
        """The finding as an annotation."""
        message = "\n".join(filter(None, (self.message, self.details)))
        return Annotation(self.path, self.region["startLine"], self.region["endLine"], self.rule, message)

    @property
    def result(self) -> Json:
        """The finding as a SARIF result."""
        name, parts = self.identity
        places = [{"physicalLocation": place, "message": {"text": text}} for place, text in self.related]
        location = {
            "physicalLocation": file_region(self.path, **self.region),
            "logicalLocations": [{"fullyQualifiedName": self.function, "kind": "function"}],
        }
        return sarif_result(
            self.rule,
            self.level,
            "\n\n".join(filter(None, (self.message, self.details))),
            location,
            (name, (self.path, self.function, self.rule, *parts)),
            self.properties,
            **({"relatedLocations": places} if places else {}),
        )


def finding_formats(
    findings: Callable[[Sequence[Item]], Iterable[FileFinding]],
    *,
    text: Callable[[Sequence[Item]], str],
    data: Callable[[Sequence[Item]], Any],
    rule: Callable[[str], Json],
) -> Mapping[str, Callable[[Sequence[Item]], str]]:
    """The formats of a command's results, by name.

    Args:
        findings: The findings in some results.
        text: The results as text.
        data: The results as plain data.
        rule: Describes a rule of SARIF.
    """
    return MappingProxyType(
        {
            "text": text,
            "json": lambda items: json_text(data(items)) + "\n",
            "sarif": lambda items: sarif_run(
                [finding.result for finding in findings(items)], rule, {}, rooted=False
            ),
            "github": lambda items: "".join(
                f"{finding.annotation.workflow_command}\n" for finding in findings(items)
            ),
        }
    )


def sarif_run(results: list[Json], rule: Callable[[str], Json], properties: Json, *, rooted: bool) -> str:
    """A document of one run of the tool.

    Args:
        results: Its results, each with its `ruleId`.
        rule: Describes a rule.
        rooted: Whether paths are relative to the root of the working tree.
    """
    _number_repeated(results)
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


def _number_repeated(results: Sequence[Json]) -> None:
    """Give a number to all but the first of several results with one fingerprint, in their order."""
    seen: Counter[tuple[str, str]] = Counter()
    for result in results:
        prints: dict[str, str] = result["partialFingerprints"]
        for name, digest in prints.items():
            seen[name, digest] += 1
            if seen[name, digest] > 1:
                prints[name] = f"{digest}:{seen[name, digest]}"


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
