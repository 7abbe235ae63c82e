"""The base of a parsed source, in any language: its positions, its functions, and the names in it."""

from __future__ import annotations

import random
import string
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from operator import attrgetter
from typing import Any, ClassVar, Generic, TypeVar

from counterlens.syntax.functions import MODULE
from counterlens.text import Positions

_START = attrgetter("start")
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


def quote(code: str, limit: int = 60) -> str:
    """Code as quoted in a description: on one line, at most `limit` characters."""
    line = " ".join(code.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def renaming_described(renamed: Iterable[tuple[str, str]]) -> str:
    """The description of a renaming, given old and new names."""
    pairs = list(dict.fromkeys(f"`{old}` to `{new}`" for old, new in renamed))
    more = f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else ""
    return "renamed " + ", ".join(pairs[:_SHOWN]) + more


@dataclass(frozen=True, slots=True, eq=False)
class FunctionSpan:
    """A function and its position.

    Attributes:
        qualname: Dotted path from the file, such as `Class.method` or `outer.inner`.
        start: Offset of the first byte of its header.
        end: Offset after its last byte.
    """

    qualname: str
    start: int
    end: int


FunctionT = TypeVar("FunctionT", bound=FunctionSpan, covariant=True)


class ParsedFile(ABC, Generic[FunctionT]):
    """A parsed file. Offsets are UTF-8 bytes.

    Attributes:
        language: The id of its language.
        reserved: Words that no variable may have as a name.
        source: Its text.
        positions: The positions of its lines.
        data: Its text in UTF-8.
        functions: Its functions, outer ones before the ones nested in them.
        newline: The line ending.
    """

    language: str
    reserved: ClassVar[frozenset[str]]
    functions: Sequence[FunctionT]
    newline: str

    def __init__(self, source: str) -> None:
        self.source = source
        self.positions = Positions(source)
        self.data = self.positions.data

    @property
    @abstractmethod
    def words(self) -> frozenset[str]:
        """All words of the text that could be names, comments and strings included."""

    @property
    @abstractmethod
    def long_strings(self) -> list[tuple[int, int]]:
        """The byte ranges of the strings that span several lines, in order."""

    @abstractmethod
    def lines_of(self, function: FunctionSpan) -> list[int]:
        """Offsets of the lines on which a statement of a function begins."""

    def nodes(self, *types: Any) -> Iterator[Any]:
        """All nodes of some types, type by type, in source order within each; for `Mutation.types`."""
        raise NotImplementedError

    @cached_property
    def program(self) -> FunctionSpan:
        """The whole file as one function."""
        return FunctionSpan(MODULE, 0, len(self.data))

    def line(self, offset: int) -> int:
        """The 1-based line number of an offset."""
        return self.positions.line_of(offset) + 1

    def line_start(self, offset: int) -> int:
        """The offset of the first byte of the line that contains an offset."""
        return self.positions.line_start(self.positions.line_of(offset))

    def next_line(self, offset: int) -> int:
        """The offset of the first byte of the line after the one that contains an offset."""
        number = self.positions.line_of(offset) + 1
        return self.positions.line_start(number) if number < self.positions.lines else len(self.data)

    def in_string(self, offset: int) -> bool:
        """Whether an offset is inside a string that spans several lines."""
        index = bisect_right(self.long_strings, (offset, 0)) - 1
        return index >= 0 and offset < self.long_strings[index][1]

    def function_at(self, offset: int) -> FunctionT | None:
        """The innermost function around an offset."""
        index = bisect_right(self.functions, offset, key=_START) - 1
        while index >= 0 and offset >= self.functions[index].end:
            index = self._enclosing[index]
        return self.functions[index] if index >= 0 else None

    def function_around(self, function: FunctionSpan) -> FunctionT | None:
        """The function in which another one is nested."""
        above = self._enclosing[bisect_left(self.functions, function.start, key=_START)]
        return self.functions[above] if above >= 0 else None

    @cached_property
    def _enclosing(self) -> list[int]:
        """Return, for each function, the index of the function around it, or -1."""
        enclosing: list[int] = []
        stack: list[int] = []
        for index, function in enumerate(self.functions):
            while stack and self.functions[stack[-1]].end <= function.start:
                stack.pop()
            enclosing.append(stack[-1] if stack else -1)
            stack.append(index)
        return enclosing


ParsedSource = ParsedFile[FunctionSpan]
"""A parsed file of any language."""
