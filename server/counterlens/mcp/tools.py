"""The tools: each turns an assistant's request into a call of the engine."""

from __future__ import annotations

from threading import Event

from counterlens.attribution.base import LIMITS
from counterlens.confidence.measuring import measure
from counterlens.counting import plural
from counterlens.dependence import dependences
from counterlens.errors import SourceError
from counterlens.mcp.calls import Answer
from counterlens.mcp.desk import Desk
from counterlens.mutations.engine import survey
from counterlens.probes.offers import OFFERS
from counterlens.probes.robustness.programs import Code
from counterlens.probes.running import State, run_offer
from counterlens.probes.steps import Report
from counterlens.probes.task import Request, Target
from counterlens.reports import json as plain
from counterlens.reports.confidence_markdown import confidence_markdown
from counterlens.reports.dependence import plain as dependences_json
from counterlens.reports.dependence_markdown import dependence_markdown
from counterlens.reports.expected import code
from counterlens.reports.markdown import diff_lines
from counterlens.reports.tables import task_json
from counterlens.reports.tasks_markdown import tasks_markdown
from counterlens.sandbox.base import Limits
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function, require_python
from counterlens.syntax.languages import language_named


def measure_confidence(
    desk: Desk,
    path: str | None,
    source: str | None,
    language: str,
    function: str | None,
    cancel: Event,
    report: Report,
) -> Answer:
    """How expected code is to the model, by concept and place.

    Raises:
        SourceError: neither or both of a path and a source were given, or they cannot be read.
        ModelError: the model cannot score.
        Cancelled: `cancel` was set.
    """
    if (path is None) == (source is None):
        raise SourceError("give either a path or a source")
    document = (
        desk.read(path) if path is not None else Document(source or "", language=language_named(language))
    )
    if not document.text.strip():
        raise SourceError("there is nothing to score", "The text is empty")
    found = find_function(document, function) if function else None
    span = (found.start, found.end) if found else None
    report("loading the model", 0, 1)
    model = desk.model()
    scored = measure(model, document, span=span, cancel=cancel, report=report)
    # A method is scored with its class, and the answer is of the method alone.
    part = span or (0, len(document.data))
    return Answer(
        confidence_markdown(scored, model.info, span=span),
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
    desk: Desk,
    path: str,
    function: str,
    task: str,
    seed: int,
    cancel: Event,
    report: Report,
    *,
    programs: Code = Code.GIVEN,
    limits: Limits = LIMITS,
) -> Answer:
    """One probe of one function; `programs` and `limits` are the `code` and `limits` of `Request`.

    Raises:
        SourceError: there is no such file, function or task, or it cannot be probed.
        ModelError, SandboxError: the model or the sandbox failed.
        Cancelled: `cancel` was set.
    """
    if task not in OFFERS:
        raise SourceError(f"there is no task {task!r}", f"There are: {', '.join(OFFERS)}")
    document = require_python(desk.read(path))
    target = Target(document, find_function(document, function).qualname)
    report("loading the model", 0, 1)
    model = desk.model()
    request = Request(
        model, [target], desk.sandbox, seed=seed, limits=limits, code=programs, cancel=cancel, report=report
    )
    outcome = run_offer(OFFERS[task], request)
    if outcome.state is State.FAILED:
        raise SourceError(outcome.reason)
    about = f"{document.path}, asked of {model.info.name} ({model.info.where})"
    text = tasks_markdown(f"{target.name}: {task}", about, [outcome])
    if outcome.result is not None:
        return Answer(text, task_json(outcome.result))
    return Answer(text, plain.probe(outcome.probed[0].probe, None))


def list_counterfactuals(desk: Desk, path: str, function: str | None, seed: int) -> Answer:
    """The counterfactuals of a file or a function, as differences; and what was refused, with reasons.

    Raises:
        SourceError: there is no such file or function.
    """
    document = require_python(desk.read(path))
    qualname = find_function(document, function).qualname if function else None
    surveyed = survey(document.text, function=qualname, seed=seed)
    found = plural(len(surveyed.counterfactuals), "counterfactual")
    parts = [f"{found}, {plural(len(surveyed.refusals), 'site')} refused."]
    for one in surveyed.counterfactuals:
        kind = "preserves" if one.preserving else "breaks"
        changed = "\n".join(diff_lines(document.text, one.source))
        parts.append(
            f"### {one.mutation}, line {one.start_line}: {kind} the meaning\n\n"
            f"{one.description}\n\n```diff\n{changed}\n```"
        )
    if surveyed.refusals:
        rows = [f"- line {one.line}, {one.mutation}: {one.reason}" for one in surveyed.refusals]
        parts.append("### Refused\n\n" + "\n".join(rows))
    return Answer(
        "\n\n".join(parts) + "\n",
        {
            "counterfactuals": [
                {key: value for key, value in plain.counterfactual(one).items() if key != "source"}
                for one in surveyed.counterfactuals
            ],
            "refused": [plain.refusal(one) for one in surveyed.refusals],
        },
    )


def show_dependences(desk: Desk, path: str, function: str) -> Answer:
    """What each statement of a function depends on, from the program alone.

    Raises:
        SourceError: there is no such file or function.
    """
    document = require_python(desk.read(path))
    found = dependences(document.text, function)
    return Answer(
        f"Dependences of {code(function)}:\n\n{dependence_markdown(found)}", dependences_json(found)
    )


def list_tasks(desk: Desk) -> Answer:
    """What can be probed, and with which model."""
    described = {offer.id: offer.title for offer in OFFERS.values()}
    rows = "\n".join(f"- {code(name)}: {what}" for name, what in described.items())
    return Answer(
        f"Model: {desk.model_name}. Tasks:\n\n{rows}\n", {"model": desk.model_name, "tasks": described}
    )
