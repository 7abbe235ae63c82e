"""`Language`: the description of one language, with the places of its parts."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from enum import StrEnum


class Feature(StrEnum):
    """Features that need a language's own syntax, so that not every language has them."""

    DOUBTS = "doubts"
    EXPLANATIONS = "completions in context"
    LOOPS = "counted loops"


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language.

    A language needs an id, a title, suffixes and a grammar; then its files are scored. Each further part is
    named as `module:attribute` and loaded when it is first needed, so that naming parts imports nothing. A
    language without a part lacks the features that need it, and the user is notified.

    Attributes:
        id: Its id, as editors use it.
        title: Its name for people.
        suffixes: The endings of its files' names.
        grammar: The function that returns its tree-sitter grammar.
        aliases: Other ids that editors use for it, and the names of its interpreters.
        comment: The mark of a comment up to the end of the line.
        all_in_types: Whether all of its code is in types, so that their members are scored one by one.
        features: Its features besides scoring and those of the parts.
        concepts: The category of each node type: a mapping of `Category` to names, separated by blanks.
        functions: The finder of functions in a tree: from the root node to `FunctionDefinition`s.
        operators: Its binary operators: a mapping of node types to families and their operators.
        imported: The search for the definition of a name that a file imports.
        strict: A parser that raises SyntaxError for invalid texts that the grammar accepts.
        words: Its keywords and built-in names: a frozenset.
        dependence: The dependence analysis of its functions: an `AnalysedLanguage`.
        mutations: Its mutations: a `MutatedLanguage`.
        judge: The judging of its programs: a `JudgedLanguage`.
        prompts: The prompts about its functions: a `PromptLanguage`.
        execution: The prompts about calls in it: an `ExecutedLanguage`.
        swaps: The node types that distinguish the forms of swaps: `FormKinds`.
        examined: The reading of its statements in questions: an `ExaminedLanguage`.
        interventions: The changes of its statements: a mapping of `Intervention` to functions.
    """

    id: str
    title: str
    suffixes: tuple[str, ...]
    grammar: str
    aliases: tuple[str, ...] = ()
    comment: str = "//"
    all_in_types: bool = False
    features: frozenset[Feature] = frozenset()
    concepts: str = ""
    functions: str = ""
    operators: str = ""
    imported: str = ""
    strict: str = ""
    words: str = ""
    dependence: str = ""
    mutations: str = ""
    judge: str = ""
    prompts: str = ""
    execution: str = ""
    swaps: str = ""
    examined: str = ""
    interventions: str = ""

    @property
    def installed(self) -> bool:
        """Whether the package of its grammar is installed."""
        return importlib.util.find_spec(self.package) is not None

    @property
    def package(self) -> str:
        """The Python package that contains its grammar."""
        return self.grammar.partition(":")[0]
