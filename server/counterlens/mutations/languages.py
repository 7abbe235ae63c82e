"""The languages that can be mutated: the parser and the mutations of each language.

The registry by language: a language is one entry of `_LANGUAGES`, and nothing above asks which one it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from counterlens.errors import CounterlensError, SourceError
from counterlens.mutations.java.module import JavaModule
from counterlens.mutations.java.mutation import JavaContext
from counterlens.mutations.java.placebos import JAVA_PLACEBOS, java_meaning
from counterlens.mutations.java.registry import JAVA_MUTATIONS
from counterlens.mutations.module import Module
from counterlens.mutations.mutation import AnyMutation, MutationContext
from counterlens.mutations.parsed import ParsedSource
from counterlens.mutations.placebo_registry import PLACEBOS, python_meaning
from counterlens.mutations.registry import MUTATIONS
from counterlens.syntax.document import Document


@dataclass(frozen=True, slots=True)
class MutatedLanguage:
    """A language whose sources can be mutated.

    Attributes:
        id: Its id, as documents have it.
        title: Its name for people.
        mutations: Its mutations by id.
        parse: Reads a text; raises `SourceError` where it does not parse.
        context: The context of its mutations: what was parsed, and a seed.
        placebos: Its placebos by id.
        meaning: What placebos leave as it is; None of a text that does not parse.
    """

    id: str
    title: str
    mutations: Mapping[str, AnyMutation]
    parse: Callable[[str], ParsedSource]
    context: Callable[[Any, int], Any]
    placebos: Mapping[str, AnyMutation]
    meaning: Callable[[str], str | None]

    @property
    def missing(self) -> list[str]:
        """The Python mutations that it does not have yet."""
        own = (name for name in MUTATIONS if name not in MUTATIONS.added)
        return [name for name in own if name not in self.mutations]

    def chosen(self, mutation: str | AnyMutation) -> AnyMutation:
        """A mutation by its id, or one's own as it is.

        Raises:
            CounterlensError: there is no such mutation, or not for this language.
        """
        if not isinstance(mutation, str):
            return mutation
        if mutation in self.mutations:
            return self.mutations[mutation]
        there = f"There are {', '.join(self.mutations)}"
        if mutation in every_mutation():
            raise CounterlensError(f"{mutation} does not support {self.title} yet", there)
        raise CounterlensError(f"there is no mutation {mutation!r}", there)


_LANGUAGES = {
    known.id: known
    for known in (
        MutatedLanguage("python", "Python", MUTATIONS, Module, MutationContext, PLACEBOS, python_meaning),
        MutatedLanguage("java", "Java", JAVA_MUTATIONS, JavaModule, JavaContext, JAVA_PLACEBOS, java_meaning),
    )
}


def mutated(language: str) -> MutatedLanguage:
    """How sources of a language are mutated.

    Raises:
        SourceError: it has no mutations.
    """
    if language not in _LANGUAGES:
        titles = " and ".join(known.title for known in _LANGUAGES.values())
        raise SourceError(f"{language} has no mutations", f"{titles} have them; `counterlens score` works")
    return _LANGUAGES[language]


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
    for known in _LANGUAGES.values():
        for name, mutation in known.mutations.items():
            found.setdefault(name, mutation)
    return found
