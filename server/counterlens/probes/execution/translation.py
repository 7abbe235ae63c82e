"""Translation: the model writes a function from a program in another language (Liu et al. 2024, II-B)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated

import msgspec

from counterlens.errors import OptionError, SourceError
from counterlens.languages.registry import title_of
from counterlens.metrics.table import Table
from counterlens.probes.execution.languages import EXECUTED, execution_of
from counterlens.probes.execution.record import DependentExecutionRecord, SpecificationRecord
from counterlens.probes.options import ProbeOptions, option
from counterlens.probes.probe import Target
from counterlens.syntax.document import Document

Written = DependentExecutionRecord | SpecificationRecord


def _check(language: str | None) -> None:
    if language is not None and language not in EXECUTED:
        raise OptionError(
            f"there are no translations from {language!r}", f"Choose one of {', '.join(EXECUTED)}"
        )


FromLanguage = Annotated[
    str | None,
    option(
        "Ask for a translation of each function: the model is shown the reference solution in this language "
        "instead of a description. Needs a dataset with the same problems in several languages, such as "
        "humaneval-x.",
        flag="from",
        metavar="LANGUAGE",
        check=_check,
    ),
]


def source_language(options: ProbeOptions) -> str | None:
    """The id of the source language of a translation; None if functions are not translated."""
    language: str | None = getattr(options, "from_language", None)
    return language


def program_to_translate(target: Target, language: str) -> str:
    """The specification of a function to translate.

    It is the whole program in the source language, without comments and docstrings, which describe the
    function and give examples.

    Args:
        language: The id of the source language.

    Raises:
        SourceError: the data has no such program.
    """
    if target.counterpart is None:
        raise SourceError(
            f"there is no program in {title_of(language)} to translate it from",
            "Translation needs a dataset with the same problems in several languages, such as humaneval-x",
        )
    return f"Translate this {title_of(language)} program:\n\n{_bare(target.counterpart)}"


def translation_of(records: Sequence[Written]) -> str:
    """The kind of some records, such as `translation from Java`; empty if nothing was translated."""
    language = records[0].translated_from or ""
    return f"translation from {title_of(language)}" if language else ""


def as_translation(tables: Iterable[Table], records: Sequence[Written]) -> tuple[Table, ...]:
    """The tables of some records; their titles name the translation, if any."""
    kind = translation_of(records)
    return tuple(replace(table, title=f"{table.title}, {kind}") if kind else table for table in tables)


def noted(language: str | None) -> str | msgspec.UnsetType:
    """The source language of a translation, as in records; unset, so without a key, if there is none."""
    return language or msgspec.UNSET


def _bare(document: Document) -> str:
    """A program without comments and documentation, and without consecutive blank lines."""
    bare = execution_of(document.language).code_alone(document)
    lines = [line.rstrip() for line in bare.text.replace("\r\n", "\n").strip().split("\n")]
    kept = [line for number, line in enumerate(lines) if line or lines[number - 1]]
    return "\n".join(kept)
