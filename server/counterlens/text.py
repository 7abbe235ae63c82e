"""Source text and positions in it: UTF-8 bytes, code points, and the position encodings of the LSP.

Inside Counterlens a position is a byte offset into the UTF-8 form of the text, because tree-sitter and
tokens use bytes. Other units are converted at the interfaces.
"""

from __future__ import annotations

import bisect
import codecs
import hashlib
import html
import io
import json
import re
import tokenize
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from counterlens.errors import SourceError

_LINE_BREAK = re.compile(rb"\r\n|\n|\r")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""General categories of Unicode whose characters are invisible."""
BOM = "\ufeff"


class PositionEncoding(StrEnum):
    """The unit of an LSP `character`; the protocol's default is UTF-16."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text, with the information needed to write it back byte for byte.

    Attributes:
        text: The text without byte-order mark, with its original line ends.
        encoding: The codec that decoded it.
        bom: Whether the file began with a UTF-8 byte-order mark.
    """

    text: str
    encoding: str
    bom: bool

    def encode(self, text: str) -> bytes:
        """The bytes of a changed text, in the file's encoding."""
        return (codecs.BOM_UTF8 if self.bom else b"") + text.encode(self.encoding)


def line_start(data: bytes, offset: int) -> int:
    """The offset of the first byte of the line that contains a byte; lines end with a newline."""
    return data.rfind(b"\n", 0, offset) + 1


def sha256_of(text: str) -> str:
    """The SHA-256 of a text's UTF-8 bytes, as 64 hexadecimal digits; lone surrogates are included."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def decode(data: bytes, name: str = "the file") -> Decoded:
    """Decode a Python source file as Python does: byte-order mark, coding comment (PEP 263), UTF-8.

    Raises:
        SourceError: the bytes do not match the declared encoding; the message gives the place.
    """
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    try:
        encoding = "utf-8" if bom else tokenize.detect_encoding(io.BytesIO(body).readline)[0]
    except SyntaxError:
        encoding = "utf-8"  # an unknown or contradicted coding comment; the bytes may still be UTF-8
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise SourceError(
            f"{name} is not valid {encoding.upper()}: byte 0x{body[error.start]:02x} in line {line}",
            "Save it as UTF-8, or declare its encoding in a coding comment on the first line",
        ) from error
    except LookupError:  # a codec of Python that does not decode text
        raise SourceError(f"{name} is not text: its coding comment names {encoding}") from None
    if "\0" in text:
        raise SourceError(f"{name} is a binary file: it contains a null byte")
    return Decoded(text, encoding, bom)


def printable(text: str, keep: str = "\t\n") -> str:
    r"""A text from code, a model, a file or a server, escaped for display: `\x1b` for an escape character.

    Every renderer, terminal, message and log uses this. Controls, characters that are invisible or change the
    writing direction, line separators, and lone surrogates, which no file can contain, are escaped as in
    Python.

    Args:
        keep: The controls that are kept; empty if the text must stay on one line.
    """
    if text.isprintable():
        return text
    if "\n" in keep:
        text = text.replace("\r\n", "\n")
    return _escape(text, keep, lambda character: ascii(character)[1:-1])


def message_text(text: str) -> str:
    """A text for an editor's message, without `[a](b)`, which some editors turn into a link or command."""
    return printable(text, keep="\n").replace("](", "] (")


def json_text(document: Any, *, indent: int | None = 2) -> str:
    r"""JSON for files and terminals; invisible characters are written as `\u009b`, with the same meaning.

    Raises:
        TypeError: the document contains a value that JSON cannot represent.
    """
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    if indent is None and text.isprintable():
        return text
    return _escape(text, "\n", lambda character: json.dumps(character)[1:-1])


def _escape(text: str, keep: str, escape: Callable[[str], str]) -> str:
    """A text with its unseen characters escaped, except for some; each different one is looked up once."""
    unseen = {character for character in set(text) - set(keep) if unicodedata.category(character) in _UNSEEN}
    return text.translate({ord(character): escape(character) for character in unseen}) if unseen else text


class Positions:
    r"""Converts between byte offsets and lines and columns of one text.

    Lines end as in the LSP: at `\n`, `\r\n` or `\r`. Offsets inside a character are moved to its first byte,
    offsets beyond the end to the end.
    """

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8", "surrogatepass")
        self._starts = [0, *(match.end() for match in _LINE_BREAK.finditer(self.data))]

    @property
    def lines(self) -> int:
        """Number of lines; an empty text has one."""
        return len(self._starts)

    def line_of(self, offset: int) -> int:
        """The 0-based line that contains a byte."""
        return bisect.bisect_right(self._starts, offset) - 1

    def line_start(self, line: int) -> int:
        """The offset of the first byte of a 0-based line."""
        return self._starts[min(line, len(self._starts) - 1)]

    def to_character(self, offset: int, encoding: PositionEncoding) -> tuple[int, int]:
        """Convert a byte offset to 0-based (line, character)."""
        offset = self._floor(offset)
        line = self.line_of(offset)
        before = self.data[self._starts[line] : offset]
        return line, _units(before, encoding)

    def from_character(self, line: int, character: int, encoding: PositionEncoding) -> int:
        """Convert 0-based (line, character) to a byte offset; later characters mean the end of the line."""
        if line >= len(self._starts):
            return len(self.data)
        line, character = (line, max(character, 0)) if line >= 0 else (0, 0)
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.data)
        content = self.data[start:end].rstrip(b"\r\n")
        if encoding is PositionEncoding.UTF8:
            return self._floor(start + min(character, len(content)))
        if content.isascii():
            return start + min(character, len(content))
        units = 0
        for at, char in _characters(content):
            if units >= character:
                return start + at
            units += _width(char, encoding)
            if units > character:
                return start + at
        return start + len(content)

    def _floor(self, offset: int) -> int:
        offset = max(0, min(offset, len(self.data)))
        while 0 < offset < len(self.data) and self.data[offset] & 0xC0 == 0x80:
            offset -= 1
        return offset


def _characters(content: bytes) -> list[tuple[int, str]]:
    characters, at = [], 0
    for char in content.decode("utf-8", "surrogatepass"):
        characters.append((at, char))
        at += len(char.encode("utf-8", "surrogatepass"))
    return characters


def _width(char: str, encoding: PositionEncoding) -> int:
    return 2 if encoding is PositionEncoding.UTF16 and ord(char) > 0xFFFF else 1


def _units(before: bytes, encoding: PositionEncoding) -> int:
    if encoding is PositionEncoding.UTF8 or before.isascii():
        return len(before)
    text = before.decode("utf-8", "surrogatepass")
    return len(text) if encoding is PositionEncoding.UTF32 else sum(_width(char, encoding) for char in text)


def has_form(form: str, value: object) -> bool:
    """Whether a text or an integer has a form: one of some words, or a number below 10,000.

    Args:
        form: The words, separated by `|`, with `N` for the number, such as `N|all|auto`.
        value: What may have it.
    """
    words, text = form.split("|"), str(value)
    number = "N" in words and re.fullmatch("[0-9]{1,4}", text) is not None
    return type(value) in (str, int) and (number or (text != "N" and text in words))


def form_in_words(form: str) -> str:
    """A form of `has_form` in words, such as `a number, all or auto`."""
    *others, last = ("a number" if word == "N" else word for word in form.split("|"))
    return f"{', '.join(others)} or {last}"


def escape(text: str) -> str:
    """A text for the elements and attributes of HTML and SVG."""
    return html.escape(printable(text))


def common_start(first: Sequence[Any], second: Sequence[Any]) -> int:
    """The number of first items, or characters, that two sequences have in common."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (item, other) in pairs if item != other), min(len(first), len(second)))
