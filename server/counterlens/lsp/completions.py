"""The command `counterlens.complete`: the model's completion at the cursor, with its confidence.

Argument `{uri, position, mutation?}`; a mutation adds the completion of its nearest counterfactual.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from lsprotocol import types

from counterlens.confidence.correctness import load_correctness
from counterlens.explaining.completing import Explained, explain
from counterlens.explaining.places import both_sides, cursor_at
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.probe_request import try_decoding
from counterlens.lsp.progress import Announcements, ask_first, refusing, show_markdown
from counterlens.lsp.targets import document_named, plain, position
from counterlens.models.base import ModelInfo
from counterlens.probes.common_options import MAX_TOKENS
from counterlens.progress import Steps
from counterlens.reports.build.explanation import explanation_report
from counterlens.reports.render import html, markdown

COMMAND = "counterlens.complete"
BEGUN = "counterlens/completionBegun"


def register(server: CounterlensServer) -> None:
    server.command(COMMAND)(_complete)


@dataclass(frozen=True, slots=True)
class CompletionAnswer:
    """The answer of `counterlens.complete`.

    Attributes:
        ok: Whether the model wrote something.
        function: The qualified name of the function.
        version: Version of the document.
        text: The model's text; with a mutation, the completion of the original.
        range: The range of the document that the text would replace; empty if no code follows.
        markdown: The report.
        html: The report as an HTML fragment, for a client that shows it itself.
        error: What happened and what to do.
    """

    ok: bool
    function: str = ""
    version: int = 0
    text: str = ""
    range: types.Range | None = None
    markdown: str = ""
    html: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class CompletionBegun:
    """The first line of a completion; the answer of the command follows."""

    uri: str
    function: str
    text: str


@refusing(partial(CompletionAnswer, ok=False), "The completion was cancelled.")
async def _complete(ls: CounterlensServer, argument: Any = None) -> CompletionAnswer:
    """Complete the function at a place, and explain the completion."""
    settings, asked = ls.settings, plain(argument)
    analysis = document_named(ls, argument)
    document, places = analysis.document, ls.places(analysis)
    offset = places.offset(position(asked.get("position") or types.Position(0, 0)))
    at = await ls.offload(cursor_at, document, offset)
    mutation = asked.get("mutation")
    limit = int(settings.probe.get("max_tokens") or MAX_TOKENS)
    announcements = Announcements(
        f"Completing {at.qualname}",
        f"completing {at.qualname}",
        f"{at.qualname} was completed",
        "the completion was cancelled",
    )

    def begun(line: str) -> None:
        if ls.client_shows_results and ls.loop is not None:
            news = CompletionBegun(analysis.uri, at.qualname, line)
            ls.loop.call_soon_threadsafe(ls.protocol.notify, BEGUN, news)

    def work(steps: Steps) -> tuple[list[tuple[str, Explained]], ModelInfo]:
        sides = both_sides(at, str(mutation)) if mutation else (at,)
        steps.next("opening the model")
        with ls.host.use_model(settings) as model:
            try_decoding(model, steps)
            explanations = [
                (
                    side.title,
                    explain(model, side.document, side.qualname, side.offset, limit, steps, begun),
                )
                for side in sides
            ]
            return explanations, model.info

    explained, info = await ask_first(ls, settings, analysis, announcements, work)
    first = explained[0][1]
    maps = load_correctness(info.identity)
    report = explanation_report(explained, info, f"Completion of {at.qualname}", maps)
    answer = CompletionAnswer(
        ok=True,
        function=at.qualname,
        version=document.version,
        text=first.text,
        range=places.range(first.start, first.removed),
        markdown=markdown.render(report),
        html=html.fragment(report.blocks) if ls.client_shows_results else "",
    )
    if not ls.client_shows_results:
        await show_markdown(ls, f"completion {at.qualname}", report.title, answer.markdown)
    return answer
