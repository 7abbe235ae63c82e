"""The functions of a document as targets of probes, and their judge by given tests."""

from __future__ import annotations

import sys
from pathlib import Path

from counterlens.errors import SourceError
from counterlens.judging.base import Judge, Setting
from counterlens.judging.languages import judging_of
from counterlens.judging.witnesses import WitnessedJudge
from counterlens.probes.probe import Target
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import MODULE, find_function, functions


def given_judge(
    tests: str, function: str, original: str, language: str, sandbox: Sandbox, limits: Limits
) -> Judge:
    """The judge of a function by supplied tests.

    Args:
        tests: Their text, in the language of the program.
        function: The qualified name of the function.
        original: The whole unchanged program.
        language: The id of its language.
        sandbox: The sandbox for programs.
        limits: The limits of each program together with the tests.

    Raises:
        SourceError: programs in this language are not judged.
    """
    setting = Setting(sandbox, Path(sys.executable), limits)
    judge = judging_of(language).supplied(tests, function, original, setting)
    document = Document(original, None, language)
    named = next((each for each in functions(document) if each.qualname == function), None)
    return WitnessedJudge(judge, document, named, setting, [tests]) if named is not None else judge


def targets_in(document: Document, qualname: str | None = None, *, root: Path | None = None) -> list[Target]:
    """One function of a document, or all except nested ones.

    Args:
        qualname: The function; None for all.
        root: The folder to which paths in ids are relative, so that ids are the same in every front end.

    Raises:
        SourceError: there is no such function, or no function at all.
    """
    if qualname:
        return [_of_document(document, find_function(document, qualname).qualname, root)]
    all_functions = functions(document)
    outer = [f for f in all_functions if not any(g.holds(f) for g in all_functions)]
    if not outer:
        where = document.path or "the text"
        whole = f"{where}::{MODULE}"
        raise SourceError(
            f"{where} has no functions",
            f"Choose a file with functions, or ask about the whole program: '{whole}'",
        )
    return [_of_document(document, f.qualname, root) for f in outer]


def _of_document(document: Document, qualname: str, root: Path | None) -> Target:
    path = document.path
    if path is None:
        return Target(document, qualname)
    whole = path.absolute()
    below = root is not None and whole.is_relative_to(root.absolute())
    name = whole.relative_to(root.absolute()).as_posix() if below and root else path.name
    return Target(document, qualname, id=f"{name}::{qualname}")
