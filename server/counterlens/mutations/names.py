"""New names for variables, and the description of a renaming."""

from __future__ import annotations

import random
import string
from collections.abc import Iterable, Iterator
from itertools import chain, count

from counterlens.mutations.parsed import ParsedSource

_SHOWN = 4
"""Maximum number of renamed variables in a description."""


class FreshNames:
    """Random names of five lower-case letters that do not occur in a file, by key and seed."""

    def __init__(self, module: ParsedSource, seed: int) -> None:
        self._taken = module.words | module.reserved
        self._seed = seed
        self._given: set[str] = set()

    def draw(self, *key: object) -> str:
        """A new name, different from all earlier ones."""
        letters = random.Random(repr((self._seed, *key)))  # noqa: S311 - not for secrets
        while True:
            name = "".join(letters.choices(string.ascii_lowercase, k=5))
            if name not in self._taken and name not in self._given:
                self._given.add(name)
                return name


def numbered_names(
    module: ParsedSource, prefix: str, start: int = 1, *, plain: bool = False
) -> Iterator[str]:
    """`prefix1`, `prefix2` and so on, except names that occur in the file.

    Args:
        prefix: The beginning of the names.
        start: The first number.
        plain: Whether `prefix` itself comes first.
    """
    names = chain((prefix,) if plain else (), (f"{prefix}{number}" for number in count(start)))
    return (name for name in names if name not in module.words and name not in module.reserved)


def renaming_described(renamed: Iterable[tuple[str, str]]) -> str:
    """The description of a renaming, given old and new names."""
    pairs = list(dict.fromkeys(f"`{old}` to `{new}`" for old, new in renamed))
    more = f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
    return "renamed " + ", ".join(pairs[:_SHOWN]) + more
