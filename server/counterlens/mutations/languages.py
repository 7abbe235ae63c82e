"""The languages that can be mutated: the parser and mutations of each, which `Language.mutations` names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from counterlens.errors import CounterlensError, SourceError
from counterlens.languages.part import LanguagePart
from counterlens.languages.registry import title_of
from counterlens.mutations.mutation import AnyMutation
from counterlens.mutations.parsed import ParsedSource
from counterlens.mutations.registry import MUTATIONS
from counterlens.mutations.transformation import Transformation
from counterlens.syntax.document import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class MutatedLanguage:
    """A language whose sources can be mutated.

    Attributes:
        mutations: Its mutations by id.
        parse: Reads a text; raises `SourceError` where it does not parse.
        context: The context of its mutations: what was parsed, and a seed.
        placebos: Its placebos by id.
        meaning: What placebos leave as it is; None of a text that does not parse.
        transformations: The operators of EMPICA (Nguyen et al. 2024, Table 1).
        published: Its mutations by id in the form of CACP (Hooda et al. 2024); None where it has none.
        shown: Its mutations by id in the form of versions that are only shown: nothing outside calls them.
        reaching: The exchange of statements that are up to some number of statements apart; None where only
            neighbours are exchanged.
    """

    mutations: Mapping[str, AnyMutation]
    parse: Callable[[str], ParsedSource]
    context: Callable[[Any, int], Any]
    placebos: Mapping[str, AnyMutation]
    meaning: Callable[[str], str | None]
    transformations: Sequence[Transformation] = ()
    published: Mapping[str, AnyMutation] | None = None
    shown: Mapping[str, AnyMutation] = field(default_factory=dict)
    reaching: Callable[[int], AnyMutation] | None = None

    @property
    def missing(self) -> list[str]:
        """The Python mutations that it does not have yet."""
        own = (name for name in MUTATIONS if name not in MUTATIONS.added)
        return [name for name in own if name not in self.mutations]


MUTATED: LanguagePart[MutatedLanguage] = LanguagePart(
    "mutations",
    MutatedLanguage,
    "{0} has no mutations",
    "{0} have them; `counterlens score` works",
)
"""How sources are mutated, by language."""


def chosen_mutation(language: str, mutation: str | AnyMutation) -> AnyMutation:
    """A mutation of a language by its id, or one's own as it is.

    Raises:
        CounterlensError: there is no such mutation, or not for this language.
    """
    if not isinstance(mutation, str):
        return mutation
    known = mutated(language).mutations
    if mutation in known:
        return known[mutation]
    there = f"There are {', '.join(known)}"
    if mutation in every_mutation():
        raise CounterlensError(f"{mutation} does not support {title_of(language)} yet", there)
    raise CounterlensError(f"there is no mutation {mutation!r}", there)


def mutated(language: str) -> MutatedLanguage:
    """How sources of a language are mutated.

    Raises:
        SourceError: it has no mutations.
    """
    return MUTATED.require(language)


def parse_document(document: Document) -> ParsedSource:
    """The data of a document for the mutations.

    Raises:
        SourceError: its language has no mutations, or it does not parse.
    """
    try:
        known = mutated(document.language)
    except SourceError as error:
        raise SourceError(f"{document.path or 'the text'}: {error.message}", error.hint) from None
    return known.parse(document.text)


def every_mutation() -> dict[str, AnyMutation]:
    """The mutations of all languages by id; of those that several languages have, Python's."""
    found: dict[str, AnyMutation] = {}
    for known in MUTATED.values():
        for name, mutation in known.mutations.items():
            found.setdefault(name, mutation)
    return found
