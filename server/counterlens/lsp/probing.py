"""The command `counterlens.probe`: the completion probe with progress and cancel; its code lens and mark.

If there are samples, or nearly tied tokens, a client that requests `refine` gets the result of the greedy
completions first, as the notification `counterlens/probeRefined`, and an update after each
interim result.
"""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from rich.console import Console

from counterlens.confidence import Confidence
from counterlens.confidence.measuring import FunctionConfidence, measure_function
from counterlens.errors import Cancelled, CounterlensError, SourceError
from counterlens.lsp import code_lens
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.askable import Askable
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.consent import require_consent, require_trusted_workspace
from counterlens.lsp.estimates import about, expected_seconds, note_pace
from counterlens.lsp.language import recognised, t, translator
from counterlens.lsp.markdown_preview import show_markdown
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.probe_request import context_of, options_of
from counterlens.lsp.progress import Announcements, ask_first
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.targets import folder_of, function_named, path_in, plain
from counterlens.metrics.effects import Proportion
from counterlens.metrics.summary import summarize
from counterlens.models.base import ModelInfo
from counterlens.probes import record as records
from counterlens.probes.pairs.completion import CompletionOptions, CompletionProbe
from counterlens.probes.pairs.contested_wording import contested_count, contested_sentence
from counterlens.probes.pairs.drawn_wording import drawn_sentence
from counterlens.probes.pairs.floor_wording import noisy_verdict
from counterlens.probes.pairs.record import PairRecord, PairsRecord
from counterlens.probes.pairs.stability_wording import unstable_changes, unstable_sentence
from counterlens.probes.pairs.wording import meaning, not_asked, sentence
from counterlens.probes.probe import Target
from counterlens.probes.prompts.gap import Gap
from counterlens.probes.record import Record
from counterlens.probes.runner import require_probed, run_targets
from counterlens.probes.subjects import targets_in
from counterlens.progress import Steps
from counterlens.reports.build.pairs import pairs_blocks, why_not_probed
from counterlens.reports.document import Report
from counterlens.reports.render import html, markdown, terminal
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, find_function, functions

COMMAND = "counterlens.probe"
REFINED = "counterlens/probeRefined"
_MEASURED_BYTES = 4096
"""Bytes above which a definition's confidence is not waited for: small local models read about 1 kB/s."""


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.command(COMMAND)(_probe)
    server.code_lenses.append(_lenses)
    server.diagnostics.append(_effects)


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


_SENTENCES = (sentence, contested_sentence, unstable_sentence, drawn_sentence)


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
        record: The pairs.
        model: The model.
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
        document, root = analysis.document, folder_of(ls, analysis.document.path)
        place = document.path or root or Path()
        await require_trusted_workspace(ls, place)
        await require_consent(ls, given_before=settings.allow_weaker_sandbox)
        (target,) = targets_in(document, function.qualname, root=root)
        asked = plain(argument)
        options = _options(settings, asked)
        mutations = options.mutations
        scored = analysis.confidence if ls.asks(settings) else None
        path = path_in(root, document.path)
        watch = _watcher(ls, analysis.uri, document, path) if asked.get("refine") else None
        begun = time.monotonic()
        work = partial(_run, ls.host, settings, target, options, scored, watch)
        probed = await ask_first(ls, settings, analysis, Announcements.of_probe(function.name), work)
    except Cancelled:
        return ProbeAnswer(ok=False, error=t("The probe was cancelled."))
    except CounterlensError as error:
        page = _why_not(name, error) if ls.client_shows_results else ""
        return ProbeAnswer(ok=False, error=ls.refuse(error, settings), function=name, html=page)
    # if another model was chosen meanwhile, the caller gets the answer, but it is not stored
    if ls.asks(settings) and analysis.document is document and not mutations:
        analysis.note(function, probe=probed.record)
        if options.drawing is None:
            prompts = analysis.askable.get(analysis.source_of(function), 0)
            note_pace(settings.model_spec, COMMAND, prompts, time.monotonic() - begun)
        ls.changed(analysis)
        code_lens.refresh(ls)
    shows = ls.client_shows_results
    answer = await ls.offload(_answer, probed, document, path, shows)
    if not shows:
        await show_markdown(ls, f"probe {function.name}", answer.summary, answer.markdown)
    return answer


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


Watch = Callable[[MeasuredProbe, CompletionOptions], None]


def _watcher(ls: CounterlensServer, uri: str, document: Document, path: str | None) -> Watch:
    """Notifies the client of a probe that is still being refined."""
    loop, shows = asyncio.get_running_loop(), ls.client_shows_results

    def watch(found: MeasuredProbe, options: CompletionOptions) -> None:
        news = ProbeRefinement(uri, _how_far(found.record, options), _answer(found, document, path, shows))
        loop.call_soon_threadsafe(ls.protocol.notify, REFINED, news)

    return watch


def _how_far(record: PairsRecord, options: CompletionOptions) -> str:
    if options.drawing is None:
        return t("Following alternatives where tokens were nearly tied.")
    most = options.drawing.most
    counts = [pair.drawn.original.count.n for pair in record.pairs if pair.drawn is not None]
    return t(
        "Sampling completions: {count} of at most {most} per side.", count=max(counts, default=0), most=most
    )


def _run(
    host: ModelHost,
    settings: EditorSettings,
    target: Target,
    options: CompletionOptions,
    scored: Confidence | None,
    watch: Watch | None,
    steps: Steps,
) -> MeasuredProbe:
    """Probe one function, and measure the confidence in it if unknown; takes seconds.

    Raises:
        SourceError: the function cannot be probed.
        CounterlensError, Cancelled: as `run_targets`.
    """
    probe, confidence = CompletionProbe(), FunctionConfidence(scored)
    steps.next("opening the model")
    with host.use_model(settings) as model:
        with context_of(probe, options, host, model, settings, steps) as context:
            if watch is not None:

                def interim(found: Record) -> None:
                    assert isinstance(found, PairsRecord)
                    watch(MeasuredProbe(found, model.info, confidence), options)

                context = replace(context, interim=interim)
            run = run_targets(probe, context, [target], options)
        require_probed(run)
        if scored is None:
            confidence = measure_function(
                model, target.document, target.qualname, steps, most=_MEASURED_BYTES
            )
        (record,) = (record for record in run.probed if isinstance(record, PairsRecord))
        return MeasuredProbe(record, model.info, confidence)


def _answer(probed: MeasuredProbe, document: Document, path: str | None, shows: bool) -> ProbeAnswer:
    """The answer for a finished probe.

    Args:
        probed: The result.
        document: The probed document.
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
    console = Console(file=io.StringIO(), width=110, highlight=False, color_system=None)
    with console.capture() as captured:
        console.print(terminal.render(report))
    return ProbeAnswer(
        ok=True,
        summary=meaning(record, translator()),
        report=captured.get(),
        markdown=markdown.render(report),
        html=html.fragment(blocks) if shows else "",
        function=record.function,
        version=document.version,
        source=document.text if shows else "",
        pairs=tuple(_shown_pair(pair, document, record.function) for pair in record.pairs) if shows else (),
        not_asked=tuple(NotAsked(mutation, recognised(reason)) for mutation, reason, _ in not_asked(record)),
        why_not_judged=recognised(record.why_not_judged or ""),
        noise=noisy_verdict(record, translator()),
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
        title=t("{mutation}, line {line}", mutation=pair.mutation, line=pair.start_line),
        counterfactual=mutated.text,
        wrote=wrote,
        mutation=pair.mutation,
        line=pair.start_line - 1,
        shows=str(pair.outcome),
        unstable=pair.changed_unstably,
        sentence=" ".join(filter(None, (say(pair, translator()) for say in _SENTENCES))),
    )


def _lenses(ls: CounterlensServer, analysis: Analysis) -> list[types.CodeLens]:
    """A lens on each function with prompts: an offer to probe it, or the result."""
    prompts = Askable(analysis).known()

    def title(function: Function) -> str:
        record = analysis.known_function(function.qualname).probe
        result = _result(record) if record else _effort(ls, prompts.get(function.qualname, 0))
        return " · ".join([t("Probe counterfactually"), result])

    return code_lens.lenses_over(
        ls,
        analysis,
        COMMAND,
        title,
        lambda function: bool(
            prompts.get(function.qualname) or analysis.known_function(function.qualname).probe
        ),
    )


def _effort(ls: CounterlensServer, prompts: int) -> str:
    """How long a probe takes; if unknown, how many prompts it needs."""
    seconds = expected_seconds(ls.settings.model_spec, COMMAND, prompts)
    if seconds is None:
        return t("{n} prompts", n=prompts)
    return about(seconds)


def _changed(record: PairsRecord) -> Proportion:
    """The share of informative pairs whose verdict changed."""
    return summarize(record.observations).average


def _result(record: PairsRecord) -> str:
    changed = _changed(record)
    if changed.n:
        found = t("{count} of {n} changed the verdict", count=changed.count, n=changed.n)
        return ", ".join(filter(None, (found, *_caveats(record))))
    return t("uninformative") if record.pairs else t("nothing to change")


def _caveats(record: PairsRecord) -> tuple[str, str]:
    return unstable_changes(record, translator()), contested_count(record, translator())


def _effects(ls: CounterlensServer, analysis: Analysis) -> list[types.Diagnostic]:
    """Show the result of a probe at the name of its function, for clients without a view for it.

    It is about the model, so it would be a false report among the problems of the code.
    """
    if ls.client_shows_results:
        return []
    return [
        _effect(ls, analysis, function, record)
        for function in (functions(analysis.document) if analysis.known else [])
        if (record := analysis.known_function(function.qualname).probe) is not None
    ]


def _effect(
    ls: CounterlensServer, analysis: Analysis, function: Function, record: PairsRecord
) -> types.Diagnostic:
    changed, counted = _changed(record), ""
    if changed.n:
        counted = t(
            "{count} of {n} informative counterfactual pairs changed the verdict.",
            count=changed.count,
            n=changed.n,
        )
    name = analysis.document.data.index(function.name.encode(), function.header)
    return types.Diagnostic(
        range=ls.places(analysis).range(name, name + len(function.name.encode())),
        message=f"{counted} {meaning(record, translator())}".lstrip(),
        severity=types.DiagnosticSeverity.Information,
        source="counterlens",
        code="counterfactual-effect",
    )
