"""`Document`: one immutable version of a source file, parsed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import tree_sitter

from counterlens.errors import SourceError
from counterlens.languages.part import LanguagePart
from counterlens.languages.registry import language_of
from counterlens.regular_file import read_bytes, reason_of
from counterlens.syntax.grammars import parser_for
from counterlens.text import Decoded, Positions, decode, printable

LARGEST = 16 << 20
"""Maximum bytes of a source file: its trees take many times as much memory."""
STRICT: LanguagePart[Callable[[str | bytes], object]] = LanguagePart("strict")
"""Parsers that raise SyntaxError or ValueError for invalid texts that the grammar accepts."""
WORDS: LanguagePart[frozenset[str]] = LanguagePart("words", frozenset)
"""Keywords and built-in names."""


@dataclass(frozen=True)
class Document:
    """One version of a source file.

    Attributes:
        text: The text, without byte-order mark and with its original line ends.
        path: Its path; None for a text without a file.
        language: The id of its language, such as `python`.
        version: The editor's version number.
        decoded: The encoding of its file, if it was read from one.
    """

    text: str
    path: Path | None = None
    language: str = "python"
    version: int = 0
    decoded: Decoded | None = None

    @classmethod
    def read(cls, path: Path, language: str | None = None) -> Document:
        """Read a file.

        Args:
            language: The id of its language; None to determine it from the name and the first line.

        Raises:
            SourceError: there is no such file, it is not text or too large, or its language is unknown.
        """
        try:
            data = read_bytes(path, LARGEST)
        except FileNotFoundError:
            raise SourceError(f"there is no file {path}") from None
        except IsADirectoryError:
            raise SourceError(f"{path} is a folder", "Choose a file in it") from None
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {reason_of(error)}") from error
        except ValueError:  # a null byte, or half a surrogate pair
            raise SourceError(f"there is no file {printable(str(path))}") from None
        decoded = decode(data, str(path))
        return cls(decoded.text, path, language or language_of(path, data), decoded=decoded)

    @cached_property
    def positions(self) -> Positions:
        """Conversion between byte offsets, lines and columns."""
        return Positions(self.text)

    @property
    def data(self) -> bytes:
        """The text in UTF-8; all offsets count its bytes."""
        return self.positions.data

    @cached_property
    def tree(self) -> tree_sitter.Tree:
        """The tree-sitter tree, which tolerates syntax errors.

        Raises:
            SourceError: the grammar of the language is not installed.
        """
        return parser_for(self.language).parse(self.data)
