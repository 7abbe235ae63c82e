"""The target of a request: the document, and the function that an argument names or contains the place of."""

from __future__ import annotations

import contextlib
from collections.abc import Container
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls import uris

from counterlens.dependence import ANALYSED, MODULE
from counterlens.dependence.analysing import analysable_functions, scope_at
from counterlens.errors import CounterlensError
from counterlens.lsp.analysis import Analysis
from counterlens.lsp.base import CounterlensServer
from counterlens.probes.prompts.language import PROMPTED
from counterlens.syntax import functions
from counterlens.syntax.functions import Function, find_function, function_at, whole_program


def plain(raw: Any) -> dict[str, Any]:
    """An object of a request for which the protocol library has no type, as a mapping."""
    return raw if isinstance(raw, dict) else getattr(raw, "_asdict", dict)()


def document_of(params: Any) -> str:
    """The URI of `{textDocument: {uri}}`; empty if there is none."""
    return str(plain(plain(params).get("textDocument")).get("uri", ""))


def position(raw: Any) -> types.Position:
    """A position in such a request."""
    fields = plain(raw)
    return types.Position(int(fields["line"]), int(fields["character"]))


def range_of(raw: Any) -> types.Range | None:
    """A range in such a request; None if there is none."""
    if raw is None:
        return None
    fields = plain(raw)
    return types.Range(position(fields["start"]), position(fields["end"]))


def document_named(ls: CounterlensServer, argument: Any) -> Analysis:
    """The document of `{uri}`.

    Raises:
        CounterlensError: the document is not open.
    """
    return _open(
        ls,
        argument,
        None,
        "this file is not open in a language that is scored",
        "Open it and try again",
    )


def open_probed(ls: CounterlensServer, argument: Any) -> Analysis:
    """The document of `{uri}`, if its functions can be probed.

    Raises:
        CounterlensError: the document is not open, or in another language.
    """
    return _open(ls, argument, PROMPTED, f"there is no open file in {PROMPTED.titles('or')} to probe")


def open_analysed(ls: CounterlensServer, argument: Any) -> Analysis:
    """The document of `{uri}`, if its functions can be analysed.

    Raises:
        CounterlensError: the document is not open, or in another language.
    """
    return _open(ls, argument, ANALYSED, "there is no open file whose dependences can be computed")


def _open(
    ls: CounterlensServer,
    argument: Any,
    languages: Container[str] | None,
    problem: str,
    advice: str = "Open one and try again",
) -> Analysis:
    """The document of `{uri}`, if it is open, in one of some languages; else an error with the problem."""
    analysis = ls.analyses.get(str(plain(argument).get("uri")))
    if analysis is None or (languages is not None and analysis.document.language not in languages):
        raise CounterlensError(problem, advice)
    return analysis


def function_named(ls: CounterlensServer, argument: Any) -> tuple[Analysis, Function]:
    """The document and the function of `{uri, function? | position?}`.

    Raises:
        CounterlensError: the document is not open, or there is no such function.
    """
    fields, analysis = plain(argument), open_probed(ls, argument)
    if fields.get("function"):
        return analysis, find_function(analysis.document, str(fields["function"]))
    if fields.get("position") is not None:
        offset = ls.places(analysis).offset(position(fields["position"]))
        function = function_at(analysis.document, offset)
        if function is not None:
            return analysis, function
    raise CounterlensError("there is no function here", "Put the cursor into a function and try again")


def scope_named(ls: CounterlensServer, argument: Any) -> tuple[Analysis, Function]:
    """The document and the function of `{uri, function? | position?}`; outside all functions, the module.

    Raises:
        CounterlensError: the document is not open, or there is no such function.
    """
    asked, analysis = plain(argument), open_analysed(ls, argument)
    document = analysis.document
    if asked.get("function") == MODULE:
        return analysis, whole_program(document)
    if asked.get("function"):
        where = document.path or "the text"
        return analysis, functions.function_named(
            analysable_functions(document), str(asked["function"]), where
        )
    if asked.get("position") is not None:
        return analysis, scope_at(document, ls.places(analysis).offset(position(asked["position"])))
    raise CounterlensError("there is no function here", "Put the cursor into a function and try again")


def path_of(uri: str) -> Path | None:
    """The file of a URI; None if there is none, such as for a cell of a notebook."""
    if not uri.startswith("file:"):
        return None
    with contextlib.suppress(ValueError):
        name = uris.to_fs_path(uri)
        return Path(name) if name else None
    return None


def folder_of(ls: CounterlensServer, path: Path | None) -> Path | None:
    """The innermost workspace folder that contains a file."""
    folders = map(path_of, [*ls.workspace.folders, ls.workspace.root_uri or ""])
    around = [folder for folder in folders if folder and path and path.is_relative_to(folder)]
    return max(around, key=lambda folder: len(folder.parts), default=None)


def path_in(root: Path | None, path: Path | None) -> str | None:
    """A path as a report names it: relative to its workspace folder, if it has one."""
    return None if path is None else str(path.relative_to(root) if root else path)
