"""Verdicts that a mutation changed: lines for a terminal, annotations on GitHub, SARIF 2.1.0, and JUnit XML.

In SARIF every changed verdict is a result at its line. Paths of files are relative to the root of the working
tree; functions in a dataset have their names instead.

In JUnit XML every function under every mutation is a case. A case fails when a right verdict was lost; it is
skipped, with the reason, if there is no conclusion (wrong on both sides, not judged, left out, unstable,
changed by placebos, too).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from counterlens.counting import plural
from counterlens.metrics.effects import PairOutcome
from counterlens.mutations import every_mutation
from counterlens.probes.pairs.phrases import change_phrase, contested_sentence, unstable_sentence
from counterlens.probes.pairs.record import PairRecord, judged_pairs
from counterlens.probes.pairs.wording import OUTCOMES, outcome
from counterlens.reports.export.findings import Annotation, Json, sarif_result, sarif_rule, sarif_run
from counterlens.reports.export.view import Exported, ExportedRecord
from counterlens.reports.wording import evidence, lines_of

_LEVELS = {PairOutcome.LOST: "warning", PairOutcome.GAINED: "note"}


def annotation_commands(export: Exported) -> Iterator[Annotation]:
    """Annotations of lines: right verdicts that a mutation lost, in the order of the records.

    Functions whose verdict placebos change, too, have none, and neither have unstable pairs.
    """
    for exported in export.records:
        for pair in () if exported.noise else judged_pairs(exported.record):
            if pair.outcome is PairOutcome.LOST and not pair.changed_unstably:
                why, function = evidence(pair.counterfactual), exported.function
                change = change_phrase(pair.mutation)
                message = f"{change}, {exported.model} no longer gets {function} right ({why})"
                test = pair.counterfactual.failed or "its tests"
                message += f". Before you accept a suggestion here, run {test}, which detected this"
                place = exported.file, pair.start_line, pair.end_line
                yield Annotation(*place, pair.mutation, " ".join(message.split()))


def github(export: Exported) -> str:
    """One workflow command per line."""
    return "".join(f"{annotation.workflow_command}\n" for annotation in annotation_commands(export))


def sarif(export: Exported) -> str:
    """The document: one run of the tool."""
    properties = {"finished": export.finished, "task": ", ".join(export.probes)}
    return sarif_run(list(_results(export)), _rule, properties, rooted=export.before is not None)


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
        for pair in judged_pairs(exported.record):
            if pair.outcome not in _LEVELS:
                continue
            said = exported.noise, unstable_sentence(pair), contested_sentence(pair)
            caveats = [text for text in said if text]
            parts = (exported.model, exported.probe, exported.target, pair.mutation, pair.description)
            function = exported.function
            place: Json = {
                "logicalLocations": [
                    {"name": function, "fullyQualifiedName": exported.target, "kind": "function"}
                ]
            }
            if export.before is not None:
                place["physicalLocation"] = {
                    "artifactLocation": {"uri": quote(export.before + exported.file), "uriBaseId": "SRCROOT"},
                    "region": {"startLine": pair.start_line, "endLine": pair.end_line},
                }
            yield sarif_result(
                pair.mutation,
                "note" if caveats else _LEVELS[pair.outcome],
                " ".join((_message(exported, pair), *caveats)),
                place,
                ("pair/v1", parts),
                {"model": exported.model, "outcome": OUTCOMES[pair.outcome], "record": exported.position},
            )


def _message(exported: ExportedRecord, pair: PairRecord) -> str:
    beginning, function = f"{change_phrase(pair.mutation)}, {exported.model}", exported.function
    if pair.outcome is PairOutcome.GAINED:
        return f"{beginning} gets {function} right, but not the original."
    return f"{beginning} no longer gets {function} right ({evidence(pair.counterfactual)})."


def junit(export: Exported) -> str:
    """The document: a suite per model and probe. It has no times: the same records give the same text."""
    suites = Element("testsuites", name=_text(export.title))
    for probe, model, records in export.suites():
        suite = SubElement(suites, "testsuite", name=_text(f"{model}, {probe}"))
        for exported in records:
            grouped: dict[str, list[PairRecord]] = {}
            for pair in judged_pairs(exported.record):
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
