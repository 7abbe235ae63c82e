"""Mutants that survive their tests as text, as plain data, as SARIF and as annotations on GitHub."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import indent
from typing import Any

from counterlens.counting import plural
from counterlens.doubt.mutants import MUTANT_KINDS
from counterlens.mutations import every_mutation
from counterlens.reports.export.findings import FileFinding, finding_formats, patch_of, sarif_rule
from counterlens.reports.wording import contrast, shorten
from counterlens.survivors import Survival, Survivor
from counterlens.text import printable

_WIDTH = 80


def survivor_sentence(survivor: Survivor) -> str:
    """A survivor in words: the change, the input, and both results."""
    original, other = contrast(survivor.original, survivor.changed, _WIDTH)
    change = survivor.mutant.description
    return (
        f"a mutant passes the tests: {change}; for `{shorten(survivor.call, _WIDTH)}` it {other}, the "
        f"original {original}"
    )


def balance(survivals: Sequence[Survival]) -> str:
    """The numbers of mutants by outcome, and the functions without any, with the reasons."""
    mutants, alike = (sum(getattr(each, name) for each in survivals) for name in ("mutants", "alike"))
    different, shown = (
        sum(each.different for each in survivals),
        sum(len(each.survivors) for each in survivals),
    )
    tried = sum(each.mutants > 0 for each in survivals)
    lines = [
        f"{plural(mutants, 'mutant')} of {plural(tried, 'function')}: {different} pass the tests and differ"
    ]
    lines[0] += f" ({shown} shown), {alike} pass and showed no difference"
    reasons: dict[str, int] = {}
    for each in survivals:
        if each.reason:
            reason = each.reason.partition("\n")[0]
            reasons[reason] = reasons.get(reason, 0) + 1
    lines += [f"{plural(count, 'function')} left out: {reason}" for reason, count in reasons.items()]
    return "\n".join(lines)


def survivor_data(survivor: Survivor) -> dict[str, Any]:
    """A survivor as plain data; lines are counted from 1."""
    mutant = survivor.mutant
    return {
        "path": _path(survivor),
        "function": survivor.scope.function.qualname,
        "line": mutant.start_line,
        "end_line": mutant.end_line,
        "mutation": mutant.kind,
        "description": mutant.description,
        "call": survivor.call,
        "original": survivor.original,
        "mutant": survivor.changed,
        "gain": survivor.gain,
        "patch": patch_of(_path(survivor), survivor.scope.document.text, mutant.source, around=2),
        "test": survivor.test,
        "message": survivor_sentence(survivor),
    }


def _rows(survivals: Sequence[Survival]) -> Iterator[Survivor]:
    return (survivor for survival in survivals for survivor in survival.survivors)


def _text(survivals: Sequence[Survival]) -> str:
    return "\n".join(
        printable(f"{_path(each)}:{each.mutant.start_line}: {survivor_sentence(each)}\n", keep="\n")
        + indent(printable(each.test, keep="\n"), "    ")
        for each in _rows(survivals)
    )


def _data(survivals: Sequence[Survival]) -> dict[str, Any]:
    functions = [
        {
            "path": (each.scope.document.path or Path()).as_posix(),
            "function": each.scope.function.qualname,
            "tests": each.tests,
            "mutants": each.mutants,
            "different": each.different,
            "alike": each.alike,
            "reason": each.reason,
        }
        for each in survivals
    ]
    return {"survivors": list(map(survivor_data, _rows(survivals))), "functions": functions}


def _findings(survivals: Sequence[Survival]) -> Iterator[FileFinding]:
    for each in _rows(survivals):
        mutant = each.mutant
        yield FileFinding(
            rule=mutant.kind,
            level="warning",
            message=survivor_sentence(each),
            details=each.test,
            path=_path(each),
            function=each.scope.function.qualname,
            region={"startLine": mutant.start_line, "endLine": mutant.end_line},
            identity=("survivor/v2", (mutant.description, each.call)),
            properties={"call": each.call, "test": each.test},
        )


def _rule(name: str) -> dict[str, Any]:
    mutation = MUTANT_KINDS.get(name) or every_mutation()[name]
    about = " ".join((mutation.__doc__ or "").split())
    return sarif_rule(name, f"No test fails with this change ({name})", about, "warning")


def _path(survivor: Survivor) -> str:
    path = survivor.scope.document.path
    return path.as_posix() if isinstance(path, Path) else ""


SURVIVOR_FORMATS = finding_formats(_findings, text=_text, data=_data, rule=_rule)
"""The formats, by name."""
