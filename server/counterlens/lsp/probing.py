"""The command `counterlens.probe`: the completion probe with progress and cancel; its code lens and mark."""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

from lsprotocol import types
from rich.console import Console

from counterlens.confidence import Confidence
from counterlens.errors import Cancelled, CounterlensError
from counterlens.lsp import code_lens
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.consent import require_consent
from counterlens.lsp.language import recognised, t, told, translator
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.progress import progress
from counterlens.lsp.probe_request import request_of
from counterlens.lsp.settings import EditorSettings
from counterlens.lsp.markdown_preview import show_markdown
from counterlens.lsp.targets import folder_of, function_named, plain
from counterlens.probes.completion import Report
from counterlens.probes.results import Pair
from counterlens.probes.session import Probed, ProbeSession
from counterlens.reports.html import probe_fragment
from counterlens.reports.markdown import left_out, probe_markdown
from counterlens.reports.phrases import sentence
from counterlens.reports.terminal import probe_report
from counterlens.reports.wording import meaning
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function, functions

COMMAND = "counterlens.probe"
NOT_TRUSTED = (
    "This workspace is not trusted, so nothing in it is run. Probing runs the function's tests: "
    "trust the workspace first."
)


def register(server: CounterlensServer) -> None:
    """Add this feature."""
    server.command(COMMAND)(_probe)
    server.code_lenses.append(_lenses)
    server.diagnostics.append(_effects)


@dataclass(frozen=True, slots=True)
class ShownPair:
    """One pair, for a client that opens differences.

    Attributes:
        title: The mutation and its line.
        counterfactual: The whole mutated source.
        wrote: Both sources as the model completed them: the original's, and the counterfactual's; empty
            where it wrote nothing.
        mutation: The mutation's id.
        line: First line of the changed place in the original, 0-based.
        shows: `held`, `lost` (right only on the original), `gained` (right only on the counterfactual),
            `uninformative` (both wrong) or `not judged`.
        sentence: The same in words.
    """

    title: str
    counterfactual: str
    wrote: tuple[str, ...]
    mutation: str = ""
    line: int = 0
    shows: str = ""
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class NotAsked:
    """A mutation that was not asked about at some places, and why."""

    mutation: str
    reason: str


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """What `counterlens.probe` returns to the client.

    Attributes:
        ok: Whether the probe was run to its end.
        summary: One sentence.
        report: The whole report as plain text.
        error: Why it was not.
        markdown: The report as Markdown.
        html: The report as a fragment of HTML, for a client that shows results itself.
        function: The function's qualified name.
        version: The version of the document that was probed.
        source: Its text.
        pairs: The pairs, in the order of the report.
        not_asked: What was refused or left out.
        why_not_judged: Why nothing could judge what the model wrote; empty where something did.
    """

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


async def _probe(ls: CounterlensServer, argument: Any = None) -> ProbeAnswer:
    """Probe a function counterfactually."""
    settings = ls.settings
    try:
        analysis, function = function_named(ls, argument)
        if not ls.trusted:
            raise CounterlensError(NOT_TRUSTED)
        await require_consent(ls, given_before=settings.allow_weaker_sandbox)
        named = plain(argument).get("mutations")
        mutations = tuple(str(one) for one in named) if isinstance(named, list) else ()
        probed = await _run(ls, settings, analysis, function, mutations)
    except Cancelled:
        return ProbeAnswer(ok=False, error=t("The probe was cancelled."))
    except CounterlensError as error:
        if ls.asks(settings):
            ls.announce("error", str(error), error.brief)
        if not ls.client_shows_results:
            ls.show(str(error), types.MessageType.Error)
        return ProbeAnswer(ok=False, error=told(error))
    root, shows = folder_of(ls, analysis.document.path), ls.client_shows_results
    answer = await asyncio.get_running_loop().run_in_executor(ls.executor, _answer, probed, root, shows)
    if not shows:
        await show_markdown(ls, f"probe {function.name}", answer.summary, answer.markdown)
    return answer


async def _run(
    ls: CounterlensServer,
    settings: EditorSettings,
    analysis: Analysis,
    function: Function,
    mutations: tuple[str, ...],
) -> Probed:
    """Run a probe off the event loop; keep what came of all mutations, if the same model is still asked."""
    loop, document, cancel = asyncio.get_running_loop(), analysis.document, Event()
    scored = analysis.confidence if ls.asks(settings) else None
    interrupted = analysis.confidence is None
    if interrupted:
        ls.scorer.withdraw(analysis.uri)  # the probe comes first; it scores the document itself
    try:
        async with progress(ls, f"Probing {function.name}", cancel) as report:
            ls.announce("probing", f"probing {function.name}")
            probed = await loop.run_in_executor(
                ls.executor,
                lambda: _run_probe(ls.host, settings, document, function, mutations, scored, cancel, report),
            )
    except asyncio.CancelledError:
        cancel.set()
        if ls.asks(settings):
            ls.announce("ready", f"the probe of {function.name} was cancelled")
        raise
    finally:
        if interrupted and analysis.document is document:
            ls.scorer.schedule(analysis, quiet=0)
    if not ls.asks(settings):
        return probed  # who waits for it gets it, and it says nothing of the model that is asked now
    ls.announce("ready", f"{function.name} was probed")
    if analysis.document is document and not mutations:
        analysis.note_probe(function, probed)
        ls.changed(analysis)
        code_lens.refresh(ls)
    return probed


def _run_probe(
    host: ModelHost,
    settings: EditorSettings,
    document: Document,
    function: Function,
    mutations: tuple[str, ...],
    scored: Confidence | None,
    cancel: Event,
    report: Report,
) -> Probed:
    """Probe one function; takes seconds."""
    report("opening the model", 0, 1)
    with host.lend(settings) as model:
        request = request_of(model, settings, cancel, report, mutations=mutations)
        return ProbeSession(request).probe(document, function.qualname, scored=scored)


def _answer(probed: Probed, root: Path | None, shows: bool) -> ProbeAnswer:
    """The answer for a finished probe.

    Args:
        probed: What was found.
        root: The workspace's folder; paths below it are named from there.
        shows: Whether the client shows the report itself.
    """
    probe = probed.probe
    if root is not None and probe.document.path is not None and probe.document.path.is_relative_to(root):
        document = replace(probe.document, path=probe.document.path.relative_to(root))
        probe = replace(probe, document=document)
    console = Console(file=io.StringIO(), width=110, highlight=False, color_system=None)
    console.print(probe_report(probed.probe, probed.confidence, note=probed.note, root=root))
    text = console.file.getvalue() if isinstance(console.file, io.StringIO) else ""
    return ProbeAnswer(
        ok=True,
        summary=meaning(probe, translator()),
        report=text,
        markdown=probe_markdown([probe]),
        html=probe_fragment(probe, buttons=True) if shows else "",
        function=probe.function.qualname,
        version=probe.document.version,
        source=probe.document.text if shows else "",
        pairs=tuple(_shown(pair) for pair in probe.pairs) if shows else (),
        not_asked=tuple(NotAsked(mutation, recognised(reason)) for mutation, reason, _ in left_out(probe)),
        why_not_judged=recognised(probe.why_not_judged or ""),
    )


def _shown(pair: Pair) -> ShownPair:
    sides = ((pair.gap, pair.original), (pair.mutated_gap, pair.mutated))
    return ShownPair(
        title=t(
            "{mutation}, line {line}",
            mutation=pair.counterfactual.mutation,
            line=pair.counterfactual.start_line,
        ),
        counterfactual=pair.counterfactual.source,
        wrote=tuple(gap.fill(side.completion) for gap, side in sides if side.completion is not None),
        mutation=pair.counterfactual.mutation,
        line=pair.counterfactual.start_line - 1,
        shows=_shows(pair),
        sentence=sentence(pair, translator()),
    )


def _shows(pair: Pair) -> str:
    effect = pair.effect
    if effect is None:
        return "not judged"
    if not effect.informative:
        return "uninformative"
    return "held" if effect.mutation_effect == 0 else "gained" if effect.signed > 0 else "lost"


def _lenses(ls: CounterlensServer, analysis: Analysis) -> list[types.CodeLens]:
    """An offer to probe each function, and what came of it."""
    if analysis.document.language != "python":
        return []
    lenses = []
    for function in functions(analysis.document):
        known = analysis.probed.get(function.qualname)
        title = t("Probe counterfactually") + (f" · {_result(known[1])}" if known else "")
        command = types.Command(
            title, COMMAND, arguments=[{"uri": analysis.uri, "function": function.qualname}]
        )
        where = ls.places(analysis).range(function.header, function.header)
        lenses.append(types.CodeLens(where, command))
    return lenses


def _result(probed: Probed) -> str:
    average = probed.probe.average
    if average.n:
        return t("{count} of {n} changed the verdict", count=average.count, n=average.n)
    return t("uninformative") if probed.probe.pairs else t("nothing to change")


def _effects(ls: CounterlensServer, analysis: Analysis) -> list[types.Diagnostic]:
    """What a probe found out, at the name of its function."""
    return [
        _effect(ls, analysis, function, analysis.probed[function.qualname][1])
        for function in (functions(analysis.document) if analysis.probed else [])
        if function.qualname in analysis.probed
    ]


def _effect(
    ls: CounterlensServer, analysis: Analysis, function: Function, probed: Probed
) -> types.Diagnostic:
    average = probed.probe.average
    counted = (
        t(
            "{count} of {n} informative counterfactual pairs changed the verdict.",
            count=average.count,
            n=average.n,
        )
        if average.n
        else ""
    )
    name = analysis.document.data.index(function.name.encode(), function.header)
    return types.Diagnostic(
        range=ls.places(analysis).range(name, name + len(function.name.encode())),
        message=f"{counted} {meaning(probed.probe, translator())}".lstrip(),
        severity=types.DiagnosticSeverity.Information,
        source="counterlens",
        code="counterfactual-effect",
    )
