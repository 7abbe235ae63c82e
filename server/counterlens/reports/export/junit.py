"""Records as JUnit XML: every function under every mutation is a case, which fails if a verdict is lost.

A case fails when a right verdict was lost; it is skipped, with the reason, if there is no conclusion (wrong
on both sides, not judged, left out, unstable, changed by placebos, too).
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from counterlens.counting import plural
from counterlens.metrics.effects import PairOutcome
from counterlens.probes.pairs.record import PairRecord
from counterlens.probes.pairs.wording import OUTCOMES, outcome
from counterlens.reports.export.view import Exported, ExportedRecord
from counterlens.reports.wording import evidence, lines_of


def junit(export: Exported) -> str:
    """The document: a suite per model and probe. It has no times: the same records give the same text."""
    suites = Element("testsuites", name=_text(export.title))
    for probe, model, records in export.suites():
        suite = SubElement(suites, "testsuite", name=_text(f"{model}, {probe}"))
        for exported in records:
            grouped: dict[str, list[PairRecord]] = {}
            for pair in exported.judged_pairs:
                grouped.setdefault(pair.mutation, []).append(pair)
            for mutation, pairs in grouped.items():
                case = _case(suite, exported, mutation)
                if exported.noise:
                    SubElement(case, "skipped", message=_text(exported.noise))
                else:
                    _mutation(case, pairs)
            if not grouped:
                case = _case(suite, exported, exported.probe)
                if not exported.record.probed:
                    SubElement(case, "skipped", message=_text(f"left out: {exported.record.reason}"))
        _count(suite)
    _count(suites)
    indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _case(suite: Element, exported: ExportedRecord, name: str) -> Element:
    case = SubElement(suite, "testcase", classname=_text(exported.target), name=_text(name))
    if "::" in exported.target:
        case.set("file", _text(exported.file))
    return case


def _mutation(case: Element, pairs: Sequence[PairRecord]) -> None:
    stable = [pair for pair in pairs if not pair.changed_unstably]
    outcomes = [pair.outcome for pair in stable]
    lost = [pair for pair in stable if pair.outcome is PairOutcome.LOST]
    if lost:
        where = ", ".join(map(lines_of, lost))
        message = f"{OUTCOMES[PairOutcome.LOST]}: {len(lost)} of {plural(len(pairs), 'pair')} ({where})"
        failure = SubElement(case, "failure", type="verdict changed", message=_text(message))
        failure.text = _text("\n\n".join(map(_describe, lost)))
    elif not {PairOutcome.HELD, PairOutcome.GAINED} & {*outcomes}:
        reasons = dict.fromkeys(map(outcome, pairs))
        SubElement(case, "skipped", message=_text(", ".join(reasons)))
    gained = outcomes.count(PairOutcome.GAINED)
    if gained:
        out = SubElement(case, "system-out")
        out.text = _text(f"{OUTCOMES[PairOutcome.GAINED]}: {gained} of {plural(len(pairs), 'pair')}")


def _describe(pair: PairRecord) -> str:
    return "\n".join(
        (
            f"{lines_of(pair)}: {pair.description}",
            *pair.diff,
            f"after the change the model wrote ({evidence(pair.counterfactual)}):",
            pair.counterfactual.completion or "",
        )
    )


def _count(element: Element) -> None:
    for name, path in (("tests", ".//testcase"), ("failures", ".//failure"), ("skipped", ".//skipped")):
        element.set(name, str(len(element.findall(path))))
    element.set("errors", "0")


def _text(text: str) -> str:
    """The text without characters that XML cannot represent."""
    return "".join(
        char
        if char in "\t\n\r" or "\x20" <= char <= "\ud7ff" or "\ue000" <= char <= "\ufffd" or char > "\uffff"
        else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )
