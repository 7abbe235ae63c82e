"""New names for the variables of Java."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator

from counterlens.java.mutations.module import JavaModule

_RESERVED = """
    abstract assert boolean break byte case catch char class const continue default do double else enum
    exports extends false final finally float for goto if implements import instanceof int interface long
    module native new non null open opens package permits private protected provides public record requires
    return sealed short static strictfp super switch synchronized this throw throws to transient transitive
    true try uses var void volatile when while with yield
"""
RESERVED = frozenset(_RESERVED.split())
"""Words that are not valid names, at least in some places."""


def numbered_in_java(module: JavaModule, prefix: str, *, plain: bool = False) -> Iterator[str]:
    """`prefix1`, `prefix2` and so on, except names that occur in the file; `plain`: first `prefix` itself."""
    number = 1
    while True:
        name = prefix if plain and number == 1 else f"{prefix}{number}"
        number += 1
        if name not in module.words and name not in RESERVED:
            yield name


class FreshJavaNames:
    """Random names of five lower-case letters that do not occur in a file, by key and seed."""

    def __init__(self, module: JavaModule, seed: int) -> None:
        self._words = module.words
        self._seed = seed
        self._given: set[str] = set()

    def draw(self, *key: object) -> str:
        """A new name, different from all earlier ones."""
        letters = random.Random(repr((self._seed, *key)))  # noqa: S311 - not for secrets
        while True:
            name = "".join(letters.choices(string.ascii_lowercase, k=5))
            if name not in self._words and name not in RESERVED and name not in self._given:
                self._given.add(name)
                return name
