"""Verdicts that a mutation changed: lines for a terminal, annotations on GitHub, and SARIF 2.1.0.

In SARIF every changed verdict is a result at its line. Paths of files are relative to the root of the working
tree; functions in a dataset have their names instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

from counterlens.metrics.effects import PairOutcome
from counterlens.mutations import every_mutation
from counterlens.probes.pairs.phrases import change_phrase, contested_sentence, unstable_sentence
from counterlens.probes.pairs.record import PairRecord, judged_pairs
from counterlens.probes.pairs.wording import OUTCOMES
from counterlens.reports.export.findings import Annotation, Json, sarif_result, sarif_rule, sarif_run
from counterlens.reports.export.view import Exported, ExportedRecord
from counterlens.reports.wording import evidence

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
