"""Concept sets: the node types that count, with a category for each. They are data.

`counterlens` is the set of this package's tables: every named node type, by language. `authors` has the 32
node types of Palacio et al. 2023. Others are TOML files in the form of `authors.toml`:

    language = "python"
    [concepts]
    loops = ["for_statement", "while_statement"]
    brackets = [")", "]", "}"]

In such a set, a node type is the grammar's name of a rule or a terminal, whatever its parent; `lambda`, which
names both, stands for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from counterlens.errors import OptionError
from counterlens.nested_text import parse_toml
from counterlens.regular_file import read_text, reason_of
from counterlens.syntax.concepts import NO_CONCEPTS, Category
from counterlens.syntax.grammars import parser_for

OWN, AUTHORS = "counterlens", "authors"
_FORM = "It needs a table [concepts] of categories, each with a list of node types; see docs/confidence.md"


@dataclass(frozen=True, slots=True)
class ConceptSet:
    """The node types that count, and the category of each.

    Attributes:
        name: The user's name for it.
        kinds: The category of each node type that counts; None for the tables of this package.
    """

    name: str
    kinds: Mapping[str, str] | None = None

    def concept(self, kind: str, category: Category, *, named: bool) -> str | None:
        """The concept that a node counts for; None if it does not count.

        Args:
            kind: The node type.
            category: The node's category in the tables of this package.
            named: Whether it is a rule of the grammar rather than a keyword or punctuation.
        """
        if self.kinds is not None:
            return self.kinds.get(kind)
        return category if named else None

    def types_of(self, category: str) -> tuple[str, ...]:
        """The node types of a category, in file order; none for the tables of this package."""
        return tuple(kind for kind, own in (self.kinds or {}).items() if own == category)

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories, in file order; for the tables of this package those of the paper."""
        if self.kinds is None:
            return tuple(category for category in Category if category not in NO_CONCEPTS)
        return tuple(dict.fromkeys(self.kinds.values()))


COUNTERLENS = ConceptSet(OWN)


@cache
def concept_set(name: str) -> ConceptSet:
    """The concept set with a name, or in a TOML file.

    Raises:
        OptionError: there is none, or the file is malformed; the message gives the place.
    """
    if name == OWN:
        return COUNTERLENS
    path = Path(__file__).with_name("authors.toml") if name == AUTHORS else Path(name).expanduser()
    try:
        document = parse_toml(read_text(path))
    except FileNotFoundError:
        raise OptionError(
            f"there is no concept set {name}", f"It is {AUTHORS}, {OWN} or a TOML file"
        ) from None
    except (OSError, ValueError) as error:
        raise OptionError(f"{name} is not a TOML file: {reason_of(error)}", _FORM) from None
    return ConceptSet(name, _kinds(name, document))


def _kinds(name: str, document: Mapping[str, Any]) -> dict[str, str]:
    listed, language = document.get("concepts"), document.get("language", "python")
    if not isinstance(listed, dict) or not listed or not isinstance(language, str):
        raise OptionError(f"{name} has no concepts", _FORM)
    grammar = parser_for(language).language
    kinds: dict[str, str] = {}
    for category, types in listed.items():
        if not isinstance(types, list) or not all(isinstance(kind, str) for kind in types):
            raise OptionError(f"{name}: the node types of {category!r} are not a list of strings", _FORM)
        for kind in types:
            if kind in kinds:
                raise OptionError(
                    f"{name}: {kind!r} is listed under both {kinds[kind]!r} and {category!r}",
                    "Give each node type one category",
                )
            if grammar is not None and not any(grammar.id_for_node_kind(kind, own) for own in (True, False)):
                raise OptionError(f"{name}: the grammar of {language} has no node type {kind!r}", _FORM)
            kinds[kind] = category
    return kinds
