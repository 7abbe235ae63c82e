"""The tools: each turns an assistant's request into a call of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from typing import Any

from counterlens.confidence.measuring import measure
from counterlens.counting import plural
from counterlens.dependence import dependences
from counterlens.errors import SourceError
from counterlens.languages.registry import language_named
from counterlens.mcp.calls import ToolAnswer
from counterlens.mcp.workspace import ToolWorkspace
from counterlens.mutations.engine import survey
from counterlens.mutations.line_differences import LineDifferences
from counterlens.probes.options import distribute
from counterlens.probes.probe import Context
from counterlens.probes.registry import PROBES, named
from counterlens.probes.runner import require_probed, run_targets
from counterlens.probes.subjects import targets_in
from counterlens.progress import ProgressCallback, Steps
from counterlens.reports.build.confidence import confidence_report
from counterlens.reports.build.probe_run import probe_report
from counterlens.reports.dependence_markdown import dependence_markdown
from counterlens.reports.expected import code
from counterlens.reports.export import json as plain
from counterlens.reports.export.counterfactuals import counterfactual, refusal
from counterlens.reports.export.dependences import dependences_json
from counterlens.reports.render import markdown
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function, require_functions


def measure_confidence(
    workspace: ToolWorkspace,
    path: str | None,
    source: str | None,
    language: str,
    function: str | None,
    cancel: Event,
    progress: ProgressCallback,
) -> ToolAnswer:
    """The confidence in code, by concept and place.

    Raises:
        SourceError: neither or both of path and source were given, or they cannot be read.
        ModelError: the model cannot score.
        Cancelled: `cancel` was set.
    """
    if (path is None) == (source is None):
        raise SourceError("give either a path or a source")
    document = (
        workspace.read(path)
        if path is not None
        else Document(source or "", language=language_named(language))
    )
    if not document.text.strip():
        raise SourceError("there is nothing to score", "The text is empty")
    found = find_function(document, function) if function else None
    span = (found.start, found.end) if found else None
    progress("loading the model", 0, 1)
    model = workspace.model()
    scored = measure(model, document, span=span, cancel=cancel, progress=progress)
    # A method is scored with its class, but the answer is about the method alone.
    part = span or (0, len(document.data))
    return ToolAnswer(
        markdown.render(confidence_report(scored, model.info, span=span)),
        {
            "model": plain.model(model.info),
            "bits_per_byte": scored.bits_per_byte_in(*part),
            "concepts": {
                name: {"mean_probability": value, "nodes": n}
                for name, (value, n) in scored.concepts_in(*part).items()
            },
        },
    )


def probe(
    workspace: ToolWorkspace,
    path: str,
    function: str,
    task: str,
    given: Mapping[str, Any],
    cancel: Event,
    progress: ProgressCallback,
) -> ToolAnswer:
    """Run one probe on one function.

    Args:
        workspace: The folder, the model and the sandbox.
        path: The file.
        function: The function.
        task: The id of the probe.
        given: Values of its options, by name.
        cancel: Set to cancel.
        progress: Called with a description of the current step.

    Raises:
        CounterlensError: there is no such task.
        SourceError: there is no such file or function, or it cannot be probed.
        OptionError: the probe does not take an option, or a value is out of range.
        ModelError, SandboxError: the model or the sandbox failed.
        Cancelled: `cancel` was set.
    """
    chosen = named(task)
    options = distribute([chosen], given, PROBES.values())[task]
    document = require_functions(workspace.read(path))
    targets = targets_in(document, function, root=workspace.root)
    progress("loading the model", 0, 1)
    context = Context(workspace.model(), workspace.sandbox, Steps(cancel, progress))
    run = run_targets(chosen, context, targets, options)
    require_probed(run)
    return ToolAnswer(markdown.render(probe_report(run, f"{path}::{function}")), plain.probe_document(run))


def list_counterfactuals(workspace: ToolWorkspace, path: str, function: str | None, seed: int) -> ToolAnswer:
    """The counterfactuals of a file or a function, as differences; and the refusals, with reasons.

    Raises:
        SourceError: there is no such file or function.
    """
    document = require_functions(workspace.read(path))
    qualname = find_function(document, function).qualname if function else None
    surveyed = survey(document.text, function=qualname, seed=seed, language=document.language)
    found = plural(len(surveyed.counterfactuals), "counterfactual")
    differences = LineDifferences(document.text)
    parts = [f"{found}, {plural(len(surveyed.refusals), 'site')} refused."]
    for one in surveyed.counterfactuals:
        kind = "preserves" if one.preserving else "breaks"
        changed = "\n".join(differences.of(one))
        parts.append(
            f"### {one.mutation}, line {one.start_line}: {kind} the meaning\n\n"
            f"{markdown.prose(one.description)}\n\n{markdown.fenced(changed, 'diff')}"
        )
    if surveyed.refusals:
        rows = [
            f"- line {one.line}, {one.mutation}: {markdown.prose(one.reason)}" for one in surveyed.refusals
        ]
        parts.append("### Refused\n\n" + "\n".join(rows))
    return ToolAnswer(
        "\n\n".join(parts) + "\n",
        {
            "counterfactuals": [counterfactual(one) for one in surveyed.counterfactuals],
            "refused": [refusal(one) for one in surveyed.refusals],
        },
    )


def show_dependences(workspace: ToolWorkspace, path: str, function: str) -> ToolAnswer:
    """List the dependences of each statement of a function, from the program alone.

    Raises:
        SourceError: there is no such file or function.
    """
    document = workspace.read(path)
    found = dependences(document.text, function, language=document.language)
    return ToolAnswer(
        f"Dependences of {code(function)}:\n\n{dependence_markdown(found)}", dependences_json(found)
    )


def list_tasks(workspace: ToolWorkspace) -> ToolAnswer:
    """List the available probes, and the examined model."""
    described = {name: probe.title for name, probe in PROBES.items()}
    rows = "\n".join(f"- {code(name)}: {what}" for name, what in described.items())
    return ToolAnswer(
        f"Model: {markdown.escaped(workspace.model_name)}. Tasks:\n\n{rows}\n",
        {"model": workspace.model_name, "tasks": described},
    )
