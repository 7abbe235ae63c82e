"""A run as JUnit XML: every function under every mutation is a case, which fails where the mutation costs it.

A case fails when a right verdict was lost; where nothing can be said (wrong on both sides, not judged, left
out) it is skipped, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from counterlens.counting import plural
from counterlens.evaluation.figures import Found
from counterlens.evaluation.store import PROBED, Item, Record
from counterlens.reports.evaluation import wording
from counterlens.reports.evaluation.outcomes import WORDS, evidence, lines_of, outcome

_Pairs = Sequence[Mapping[str, Any]]


def run_junit(found: Found) -> str:
    """The document; a suite for each model and task. It holds no times, so the same records give the same."""
    suites = Element("testsuites", name=_text(wording.title(found)))
    for part in found.parts:
        for model in part.models:
            suite = SubElement(suites, "testsuite", name=_text(f"{model}, {part.settings.task}"))
            for item, record in part.of(model):
                _function(suite, item, record)
            _count(suite)
    _count(suites)
    indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _function(suite: Element, item: Item, record: Record) -> None:
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for pair in record.judged_pairs:
        grouped.setdefault(str(pair["mutation"]), []).append(pair)
    for mutation, pairs in grouped.items():
        _mutation(_case(suite, item, mutation), pairs)
    if not grouped:
        case = _case(suite, item, item.task)
        if record.outcome != PROBED:
            SubElement(case, "skipped", message=_text(f"left out: {record.reason}"))


def _case(suite: Element, item: Item, name: str) -> Element:
    file = item.problem.partition("::")[0]
    case = SubElement(suite, "testcase", classname=_text(item.problem), name=_text(name))
    if "::" in item.problem:
        case.set("file", _text(file))
    return case


def _mutation(case: Element, pairs: _Pairs) -> None:
    lost = [pair for pair in pairs if outcome(pair) == "lost"]
    said = [outcome(pair) for pair in pairs]
    if lost:
        where = ", ".join(lines_of(pair) for pair in lost)
        message = f"{WORDS['lost']}: {len(lost)} of {plural(len(pairs), 'pair')} ({where})"
        failure = SubElement(case, "failure", type="verdict changed", message=_text(message))
        failure.text = _text("\n\n".join(_told(pair) for pair in lost))
    elif not {"held", "gained"} & {*said}:
        reasons = dict.fromkeys(WORDS[one] for one in said)
        SubElement(case, "skipped", message=_text(", ".join(reasons)))
    if "gained" in said:
        out = SubElement(case, "system-out")
        out.text = _text(f"{WORDS['gained']}: {said.count('gained')} of {plural(len(pairs), 'pair')}")


def _told(pair: Mapping[str, Any]) -> str:
    return "\n".join(
        (
            f"{lines_of(pair)}: {pair['description']}",
            *pair["diff"],
            f"after the change the model wrote ({evidence(pair['counterfactual'])}):",
            str(pair["counterfactual"]["completion"] or ""),
        )
    )


def _count(element: Element) -> None:
    for name, path in (("tests", ".//testcase"), ("failures", ".//failure"), ("skipped", ".//skipped")):
        element.set(name, str(len(element.findall(path))))
    element.set("errors", "0")


def _text(text: str) -> str:
    """Without the characters that XML has no way to write."""
    return "".join(
        one
        if one in "\t\n\r" or "\x20" <= one <= "\ud7ff" or "\ue000" <= one <= "\ufffd" or one > "\uffff"
        else "\N{REPLACEMENT CHARACTER}"
        for one in text
    )
