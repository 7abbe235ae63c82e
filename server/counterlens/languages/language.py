"""`Language`: what one language is, and where the parts of it are."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from enum import StrEnum


class Feature(StrEnum):
    """What reads a language's syntax by itself, and so is not for every language."""

    DOUBTS = "doubts"
    EXPLANATIONS = "completions in context"
    LOOPS = "counted loops"


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language.

    A language needs an id, a title, suffixes and a grammar; then its files are scored. Each further part is
    named as `module:attribute`, and is loaded when it is first needed, so that naming all of them imports
    nothing. A language without a part does not have what rests on it, and the user is told so.

    Attributes:
        id: Its id, as editors call it.
        title: Its name for people.
        suffixes: How its files' names end.
        grammar: The function that gives its tree-sitter grammar.
        aliases: Other ids that editors have for it, and how interpreters of it are called.
        comment: The mark of a comment up to the end of the line.
        all_in_types: Whether all of its code is in types, so that their members are scored one by one.
        features: What else works for it.
        concepts: The category of each node type: a mapping of `Category` to names, separated by blanks.
        functions: Finds the functions in a tree: of the root node to `FunctionDefinition`s.
        operators: Its binary operators: a mapping of node types to families and what is written.
        strict: Raises SyntaxError for a text that its grammar accepts and the language does not.
        words: Its keywords and built-in names: a frozenset.
        dependence: How its functions are analysed: an `AnalysedLanguage`.
        mutations: How it is mutated: a `MutatedLanguage`.
        judge: How its programs are judged: a `JudgedLanguage`.
        prompts: How its functions are asked about: a `PromptLanguage`.
        execution: How its calls are asked about: an `ExecutedLanguage`.
        swaps: The node types that tell the forms of swaps apart: `FormKinds`.
        interventions: How its statements are changed: a mapping of `Intervention` to functions.
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
    strict: str = ""
    words: str = ""
    dependence: str = ""
    mutations: str = ""
    judge: str = ""
    prompts: str = ""
    execution: str = ""
    swaps: str = ""
    interventions: str = ""

    @property
    def installed(self) -> bool:
        """Whether the package of its grammar is there."""
        return importlib.util.find_spec(self.package) is not None

    @property
    def package(self) -> str:
        """The Python package that holds its grammar."""
        return self.grammar.partition(":")[0]
