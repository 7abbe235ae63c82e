"""The command `counterlens.probe`: the completion probe with progress and cancel.

A client that requests `refine` gets each sentence that is already true as the notification
`counterlens/probeFact`: what judges, what is asked, what each pair showed. If there are samples, or nearly
tied tokens, it gets the result of the greedy completions first, as `counterlens/probeRefined`, and an update
after each interim result. It also gets a result that was kept from an earlier session, if the function is
unchanged and it does not request `again`.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from counterlens.confidence import Confidence
from counterlens.confidence.scoring import MEASURING, FunctionConfidence, measure_function
from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.evaluation.time_left import expected_seconds, note_pace
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.consent import require_consent, require_trusted_workspace
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.probe_request import context_of, options_of, try_decoding
from counterlens.lsp.progress import Announcements, ask_first, show_markdown
from counterlens.lsp.prospects import KeptResult, keep_result, kept_results, note_completion, prospect
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.targets import folder_of, function_named, path_in, plain
from counterlens.models.base import ModelInfo
from counterlens.probes import record as records
from counterlens.probes.pairs.completion import CompletionOptions, CompletionProbe
from counterlens.probes.pairs.phrases import (
    contested_sentence,
    drawn_sentence,
    noisy_verdict,
    unstable_sentence,
)
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.probes.pairs.wording import bounded_sentence, meaning, not_asked, sentence
from counterlens.probes.probe import Target
from counterlens.probes.prompts.gap import Gap
from counterlens.probes.record import Record
from counterlens.probes.runner import require_probed, run_targets
from counterlens.probes.subjects import targets_in
from counterlens.progress import Steps, TimeBudget
from counterlens.reports.build.pairs import pairs_blocks, why_not_probed
from counterlens.reports.document import Report
from counterlens.reports.render import html, markdown, terminal
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function

COMMAND = "counterlens.probe"
REFINED = "counterlens/probeRefined"
FACT = "counterlens/probeFact"
_MEASURED_BYTES = 4096
"""Bytes above which a definition's confidence is not waited for: small local models read about 1 kB/s."""
_SENTENCES = (sentence, contested_sentence, unstable_sentence, drawn_sentence)


def register(server: CounterlensServer) -> None:
    server.command(COMMAND)(_probe)


@dataclass(frozen=True, slots=True)
class ShownPair:
    """One pair, for a client that opens differences."""

    title: str
    counterfactual: str
    wrote: tuple[str, ...]
    mutation: str = ""
    line: int = 0
    shows: str = ""
    unstable: bool = False
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class NotAsked:
    """A mutation that was not asked at some places, and why."""

    mutation: str
    reason: str


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """The answer of `counterlens.probe`."""

    ok: bool
    summary: str = ""
    report: str = ""
    error: str | None = None
    markdown: str = ""
    html: str = ""
    function: str = ""
    version: int = 0
    source: str = ""
    pairs: tuple[ShownPair, ...] = ()
    not_asked: tuple[NotAsked, ...] = ()
    why_not_judged: str = ""
    noise: str = ""
    records: tuple[dict[str, Any], ...] = ()
    kept: bool = False


@dataclass(frozen=True, slots=True)
class ProbeFact:
    """A sentence of a running probe that is already true."""

    uri: str
    function: str
    fact: str


@dataclass(frozen=True, slots=True)
class ProbeRefinement:
    """The intermediate result of a probe that still requests completions; `status` is its progress."""

    uri: str
    status: str
    result: ProbeAnswer


@dataclass(frozen=True, slots=True)
class MeasuredProbe:
    """The result of a probe of one function, with the confidence in it.

    Attributes:
        confidence: The model's confidence in the function.
    """

    record: PairsRecord
    model: ModelInfo
    confidence: FunctionConfidence


async def _probe(ls: CounterlensServer, argument: Any = None) -> ProbeAnswer:
    """Probe a function counterfactually."""
    settings, name = ls.settings, ""
    try:
        analysis, function = function_named(ls, argument)
        name = function.qualname
        asked = plain(argument)
        options = _options(settings, asked)
        if (kept := await _kept(ls, analysis, function, asked, options)) is not None:
            return kept
        document, root = analysis.document, folder_of(ls, analysis.document.path)
        place = document.path or root or Path()
        await require_trusted_workspace(ls, place)
        await require_consent(ls, given_before=settings.allow_weaker_sandbox)
        (target,) = targets_in(document, function.qualname, root=root)
        scored = analysis.confidence if ls.asks(settings) else None
        path = path_in(root, document.path)
        listener = _Listener(ls, analysis.uri, name, document, path) if asked.get("refine") else None
        begun, prompts = time.monotonic(), analysis.askable.get(analysis.source_of(function), 0)
        is_cached = analysis.known_function(name).probe is not None  # its pace is not that of a new one
        expected = (
            None if options.drawing or is_cached else expected_seconds(settings.model_spec, COMMAND, prompts)
        )
        # At least what the lens promised; no limit for who asks again, which goes on from cached answers.
        is_bounded = settings.probe_budget and not (asked.get("again") or options.drawing)
        seconds = max(expected or 0.0, settings.probe_budget) if is_bounded else None
        work = partial(_run, ls.host, settings, target, options, scored, listener, seconds)
        announcements = Announcements.of_probe(function.name)
        probed = await ask_first(ls, settings, analysis, announcements, work, expected)
    except Cancelled:
        return ProbeAnswer(ok=False, error="The probe was cancelled.")
    except CounterlensError as error:
        if name and isinstance(error, SourceError):
            analysis.note(function, refusal=str(error))
            ls.refresh_code_lenses()
        page = _why_not(name, error) if ls.client_shows_results else ""
        return ProbeAnswer(ok=False, error=ls.refuse(error, settings), function=name, html=page)
    shows = ls.client_shows_results
    answer = await ls.offload(_answer, probed, document, path, shows)
    if not options.mutations:
        if options.drawing is None and not bounded_sentence(probed.record):
            note_pace(settings.model_spec, COMMAND, prompts, time.monotonic() - begun)
        await _remember(ls, settings, analysis, document, function, probed.record, answer, options)
    if not shows:
        await show_markdown(ls, f"probe {function.name}", answer.summary, answer.markdown)
    return answer


async def _remember(
    ls: CounterlensServer,
    settings: EditorSettings,
    analysis: Analysis,
    document: Document,
    function: Function,
    record: PairsRecord,
    answer: ProbeAnswer,
    options: CompletionOptions,
) -> None:
    """Store a result: for this session if model and text are still the same, and for the next one."""
    if options.drawing is None:
        judged = [pair.original_right for pair in record.pairs if pair.original_right is not None]
        if judged:
            note_completion(settings.model_spec, function, completed=any(judged))
        if ls.client_shows_results:
            source = document.data[function.start : function.end].decode("utf-8", "replace")
            result = KeptResult(source, record, msgspec.to_builtins(answer))
            await ls.offload(keep_result, analysis.uri, settings.model_spec, function.qualname, result)
    # if another model was chosen meanwhile, the caller gets the answer, but it does not count here
    if ls.asks(settings) and analysis.document is document:
        analysis.note(function, probe=record)
        ls.changed(analysis)
        ls.refresh_code_lenses()


async def _kept(
    ls: CounterlensServer,
    analysis: Analysis,
    function: Function,
    asked: dict[str, Any],
    options: CompletionOptions,
) -> ProbeAnswer | None:
    """The answer from an earlier session, if it is wanted, and the function is unchanged."""
    if not asked.get("refine") or asked.get("again") or options.mutations or options.drawing:
        return None
    if analysis.known_function(function.qualname).probe is not None:
        return None
    results = await ls.offload(kept_results, analysis.uri, ls.settings.model_spec)
    kept = results.get(function.qualname)
    if kept is None or kept.source.encode() != analysis.source_of(function):
        return None
    try:
        answer = msgspec.convert(kept.answer, ProbeAnswer)
    except msgspec.ValidationError:
        return None
    version = analysis.document.version if answer.source == analysis.document.text else -1
    return replace(answer, version=version, kept=True)


def _why_not(name: str, error: CounterlensError) -> str:
    """Why a function could not be probed, as a page: the output of its tests is longer than a message."""
    if not name or not isinstance(error, SourceError):
        return ""
    return html.fragment(why_not_probed(name, error.message, error.hint))


def _options(settings: EditorSettings, asked: dict[str, Any]) -> CompletionOptions:
    """The options from the settings and from the argument of the command.

    Raises:
        OptionError: a value is out of range.
    """
    named, samples = asked.get("mutations"), asked.get("samples")
    chosen: dict[str, Any] = {"mutations": tuple(map(str, named)) if isinstance(named, list) else ()}
    if isinstance(samples, int):
        chosen["samples"] = samples
    options = options_of(CompletionProbe(), settings, **chosen)
    assert isinstance(options, CompletionOptions)
    return options


class _Listener:
    """Sends a client what a probe has to say before its end.

    Args:
        function: Qualified name of the function.
        path: Path of the document, as a report names it.
    """

    def __init__(
        self, ls: CounterlensServer, uri: str, function: str, document: Document, path: str | None
    ) -> None:
        self._ls, self._uri, self._function = ls, uri, function
        self._document, self._path = document, path
        self._loop = asyncio.get_running_loop()

    def state(self, fact: str) -> None:
        """Send a sentence that is already true."""
        self._notify(FACT, ProbeFact(self._uri, self._function, fact))

    def refine(self, measured: MeasuredProbe, options: CompletionOptions) -> None:
        """Send an interim result."""
        answer = _answer(measured, self._document, self._path, self._ls.client_shows_results)
        self._notify(REFINED, ProbeRefinement(self._uri, _how_far(measured.record, options), answer))

    def _notify(self, method: str, params: ProbeFact | ProbeRefinement) -> None:
        self._loop.call_soon_threadsafe(self._ls.protocol.notify, method, params)


def _how_far(record: PairsRecord, options: CompletionOptions) -> str:
    if options.drawing is None:
        return "Following alternatives where tokens were nearly tied."
    most = options.drawing.most
    counts = [pair.drawn.original.count.n for pair in record.pairs if pair.drawn is not None]
    return f"Sampling completions: {max(counts, default=0)} of at most {most} per side."


def _run(
    host: ModelHost,
    settings: EditorSettings,
    target: Target,
    options: CompletionOptions,
    scored: Confidence | None,
    listener: _Listener | None,
    seconds: float | None,
    steps: Steps,
) -> MeasuredProbe:
    """Probe one function, and measure the confidence in it if unknown; takes seconds.

    Args:
        seconds: The time after which it ends with what it has; None for no limit.

    Raises:
        SourceError: the function cannot be probed.
        CounterlensError, Cancelled: as `run_targets`.
    """
    probe, confidence = CompletionProbe(), FunctionConfidence(scored)
    budget = None if seconds is None else TimeBudget(seconds)
    steps = Steps(steps.cancel, steps.progress, None if listener is None else listener.state, budget)
    steps.next(f"opening the model. {prospect(settings.model_spec, host.name)}")
    with host.use_model(settings) as model:
        try_decoding(model, steps)
        with context_of(probe, options, host, model, settings, steps) as context:
            if listener is not None:

                def interim(interim_record: Record) -> None:
                    assert isinstance(interim_record, PairsRecord)
                    listener.refine(MeasuredProbe(interim_record, model.info, confidence), options)

                context = replace(context, interim=interim)
            run = run_targets(probe, context, [target], options)
        require_probed(run)
        if scored is None and steps.has_time(share=MEASURING):
            confidence = measure_function(
                model, target.document, target.qualname, steps, most=_MEASURED_BYTES
            )
        (record,) = (record for record in run.probed if isinstance(record, PairsRecord))
        return MeasuredProbe(record, model.info, confidence)


def _answer(probed: MeasuredProbe, document: Document, path: str | None, shows: bool) -> ProbeAnswer:
    """The answer for a finished probe.

    Args:
        path: Its path, as a report names it.
        shows: Whether the client shows the report itself.
    """
    record, confidence = probed.record, probed.confidence
    blocks = pairs_blocks(
        record,
        model=probed.model,
        path=path,
        actions=shows,
        confidence=confidence.scored,
        note=confidence.note,
    )
    report = Report(f"Probe of {record.function}", blocks)
    return ProbeAnswer(
        ok=True,
        summary=meaning(record),
        report=terminal.plain(report),
        markdown=markdown.render(report),
        html=html.fragment(blocks) if shows else "",
        function=record.function,
        version=document.version,
        source=document.text if shows else "",
        pairs=tuple(_shown_pair(pair, document, record.function) for pair in record.pairs) if shows else (),
        not_asked=tuple(NotAsked(mutation, reason) for mutation, reason, _ in not_asked(record)),
        why_not_judged=record.why_not_judged or "",
        noise=noisy_verdict(record),
        records=(records.plain(record),),
    )


def _shown_pair(pair: PairRecord, document: Document, qualname: str) -> ShownPair:
    mutated = replace(document, text=pair.source(document.text))
    wrote: tuple[str, ...] = ()
    if pair.cut and pair.original.completion is not None and pair.counterfactual.completion is not None:
        gap = Gap.of(document, find_function(document, qualname), pair.cut.original)
        mutated_gap = Gap.of(mutated, find_function(mutated, qualname), pair.cut.counterfactual)
        wrote = gap.fill(pair.original.completion), mutated_gap.fill(pair.counterfactual.completion)
    return ShownPair(
        title=f"{pair.mutation}, line {pair.start_line}",
        counterfactual=mutated.text,
        wrote=wrote,
        mutation=pair.mutation,
        line=pair.start_line - 1,
        shows=str(pair.outcome),
        unstable=pair.changed_unstably,
        sentence=" ".join(filter(None, (say(pair) for say in _SENTENCES))),
    )
