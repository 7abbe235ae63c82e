"""Fits the margins of the model in use in the background, on functions that are assumed to be right."""

from __future__ import annotations

import random
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from pygls.uris import to_fs_path

from counterlens.confidence.exclusion import ScoringLimits, reason_to_skip
from counterlens.datasets.repository import program_files
from counterlens.doubt.fitting import fit_margins
from counterlens.doubt.generating import scopes
from counterlens.doubt.margins import save_margins
from counterlens.doubt.scope import DoubtScope
from counterlens.errors import CounterlensError
from counterlens.lsp.base import CounterlensServer
from counterlens.lsp.known_results import KnownDoubts
from counterlens.lsp.model_host import ModelHost
from counterlens.lsp.progress import refusing, with_progress
from counterlens.lsp.settings import EditorSettings
from counterlens.progress import Steps
from counterlens.syntax.document import Document

COMMAND = "counterlens.fitMargins"
FUNCTIONS = 300
"""Number of functions on which margins are fitted."""


@dataclass(frozen=True, slots=True)
class FitAnswer:
    """The answer of `counterlens.fitMargins`: the kinds that mark places now."""

    ok: bool
    functions: int = 0
    kinds: tuple[str, ...] = ()
    error: str | None = None


def register(server: CounterlensServer) -> None:
    server.command(COMMAND)(_fit)


@refusing(partial(FitAnswer, ok=False), "The fit was cancelled.")
async def _fit(ls: CounterlensServer, _argument: object = None) -> FitAnswer:
    """Fit the margins on functions of the workspace and, if these are few, of the standard library."""
    settings = ls.settings
    folders = [Path(path) for uri in ls.workspace.folders if (path := to_fs_path(uri))]
    answer = await with_progress(
        ls, "Fitting the margins of marks", lambda steps: _fit_on(ls.host, settings, folders, steps)
    )
    ls.host.note_fitted(settings)
    ls.announce("ready", "margins of marks are fitted")
    for react in ls.when_forgotten:
        react(ls)
    for analysis in list(ls.analyses.values()):
        analysis.doubts = KnownDoubts()
        ls.rescore(analysis)
    return answer


def _fit_on(host: ModelHost, settings: EditorSettings, folders: list[Path], steps: Steps) -> FitAnswer:
    """Observe the functions, fit, and store the margins; takes minutes."""
    chosen = list(islice((scope for path in _files(folders) for scope in _functions_of(path)), FUNCTIONS))
    with host.use_model(settings, background=True) as model:
        fit = fit_margins(model, chosen, steps.report, cancel=steps.cancel)
        save_margins(model.info, fit.margins, fit.lines)
    return FitAnswer(True, len(chosen), tuple(sorted(fit.margins)))


def _files(folders: list[Path]) -> Iterator[Path]:
    """Python files of some folders, then modules of the standard library, each in an order of its own."""
    order = random.Random(0)  # noqa: S311 - a sample, no secret
    for folder in folders:
        names = program_files(folder)
        yield from (folder / name for name in order.sample(names, len(names)))
    modules = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    yield from order.sample(modules, len(modules))


def _functions_of(path: Path) -> list[DoubtScope]:
    """The functions of a file; none if it cannot be read, or is excluded."""
    try:
        document = Document.read(path)
    except CounterlensError:
        return []
    return [] if reason_to_skip(document, ScoringLimits()) else scopes(document)
