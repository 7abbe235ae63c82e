"""The languages that can be mutated: the parser and mutations of each, named by `Language.mutations`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from counterlens.errors import CounterlensError, SourceError
from counterlens.languages.part import LanguagePart
from counterlens.languages.registry import title_of
from counterlens.mutations.mutation import AnyMutation, Mutation, Site, SiteRefused, Transformation
from counterlens.mutations.parsed import ParsedSource
from counterlens.plugins import Registry
from counterlens.syntax.document import Document

PARSED_SOURCES = 4
"""Number of parsed sources that are kept: all functions of a file share one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutatedLanguage:
    """A language whose sources can be mutated.

    Attributes:
        own: Its built-in mutations by id.
        kind: The class of its mutations, and so of those that plug-ins add to it; None if none can be added.
        parse: Parses a text; raises `SourceError` if it is invalid.
        context: Makes the context of its mutations from a parsed source and a seed.
        checked: Checks a site of a preserving mutation in its context for what no single mutation looks at:
            refuses it, or adds assumptions.
        placebos: Its placebos by id.
        meaning: The part of a text that placebos keep unchanged; None if the text does not parse.
        transformations: The operators of EMPICA (Nguyen et al. 2024, Table 1).
        published: Its mutations by id as published in CACP (Hooda et al. 2024); None if there are none.
        shown: Its mutations by id for versions that are only shown: no code outside calls them.
        missing: Ids of other languages' mutations that it should have, too, and does not have yet.
        reaching: Makes the swap of statements at most some number of statements apart; None if only adjacent
            statements can be swapped.
    """

    own: Mapping[str, AnyMutation]
    kind: type[AnyMutation] | None = None
    parse: Callable[[str], ParsedSource]
    context: Callable[[Any, int], Any]
    checked: Callable[[Any, Site], Site | SiteRefused] = lambda _, site: site
    placebos: Mapping[str, AnyMutation]
    meaning: Callable[[str], str | None]
    transformations: Sequence[Transformation] = ()
    published: Mapping[str, AnyMutation] | None = None
    shown: Mapping[str, AnyMutation] = field(default_factory=dict)
    missing: Sequence[str] = ()
    reaching: Callable[[int], AnyMutation] | None = None

    @property
    def mutations(self) -> Mapping[str, AnyMutation]:
        """Its mutations by id: its own, then those of plug-ins."""
        added = {name: mutation for name, mutation in ADDED.items() if self.takes(mutation)}
        return {**self.own, **added} if added else self.own

    def takes(self, mutation: AnyMutation) -> bool:
        """Whether a mutation is one of its class."""
        return self.kind is not None and isinstance(mutation, self.kind)


MUTATED: LanguagePart[MutatedLanguage] = LanguagePart(
    "mutations",
    MutatedLanguage,
    "{0} has no mutations",
    "{0} have them; `counterlens score` works",
)
"""The mutations, placebos and parser of each language."""


def _check(mutation: AnyMutation) -> None:
    """Refuse a plug-in's mutation that belongs to no language, or has the id of a built-in one."""
    takers = [language for language in MUTATED.values() if language.takes(mutation)]
    if not takers:
        raise TypeError(f"{type(mutation).__name__} is of the class of no language's mutations")
    if any(mutation.id in language.own for language in takers):
        raise ValueError(f"there is another {mutation.id!r}")


ADDED: Registry[AnyMutation] = Registry(
    "counterlens.mutations", (), name=lambda mutation: mutation.id, kind=Mutation, check=_check
)
"""The mutations of plug-ins by id."""


def chosen_mutation(language: str, mutation: str | AnyMutation) -> AnyMutation:
    """A mutation of a language by its id; a mutation object is returned unchanged.

    Raises:
        CounterlensError: there is no such mutation, or not in this language.
    """
    if not isinstance(mutation, str):
        return mutation
    mutations = mutated(language).mutations
    if mutation in mutations:
        return mutations[mutation]
    there = f"There are {', '.join(mutations)}"
    if mutation in every_mutation():
        raise CounterlensError(f"{mutation} does not support {title_of(language)} yet", there)
    raise CounterlensError(f"there is no mutation {mutation!r}", there)


mutated = MUTATED.require
"""The mutations of a language; a `SourceError` if it has none."""


@lru_cache(maxsize=PARSED_SOURCES)
def parse(language: str, text: str) -> ParsedSource:
    """A text, parsed for the mutations of a language, once for all of its functions.

    Raises:
        SourceError: the language has no mutations, or the text does not parse.
    """
    return mutated(language).parse(text)


def parse_document(document: Document) -> ParsedSource:
    """A document, parsed for the mutations of its language.

    Raises:
        SourceError: its language has no mutations, or it does not parse.
    """
    try:
        mutated(document.language)
    except SourceError as error:
        raise SourceError(f"{document.path or 'the text'}: {error.message}", error.hint) from None
    return parse(document.language, document.text)


def every_mutation() -> dict[str, AnyMutation]:
    """The mutations of all languages by id; that of the first language in the registry that has it."""
    mutations: dict[str, AnyMutation] = {}
    for language in MUTATED.values():
        for name, mutation in language.mutations.items():
            mutations.setdefault(name, mutation)
    return mutations


def every_transformation() -> dict[str, Transformation]:
    """The operators of EMPICA of all languages, by the id of the mutation; see `every_mutation`."""
    transformations: dict[str, Transformation] = {}
    for language in MUTATED.values():
        for operator in language.transformations:
            transformations.setdefault(operator.mutation.id, operator)
    return transformations
