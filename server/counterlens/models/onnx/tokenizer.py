"""The tokenizer of an export, with the bytes of each of its tokens. Imported only in the child process."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import tokenizers

from counterlens.errors import ModelError
from counterlens.nested_text import parse_json
from counterlens.regular_file import read_text

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_BLANK = "▁"  # SentencePiece writes blanks in this way


def _byte_characters() -> dict[str, int]:
    """The byte of each character of a byte-level vocabulary (Radford et al. 2019, section 2.2)."""
    shown = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {chr(256 + i): byte for i, byte in enumerate(hidden)}


@dataclass(frozen=True, slots=True)
class Encoded:
    """The tokens of a text.

    Attributes:
        tokens: Token ids.
        words: For each token the number of its word, as the tokenizer splits a text before it splits words
                into pieces.
        ends: The byte after each token.
    """

    tokens: list[int]
    words: list[int]
    ends: list[int]


class ExportTokenizer:
    """The tokenizer that a `tokenizer.json` describes.

    Raises:
        ModelError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        try:
            text = read_text(path)
            self._tokenizer: Any = tokenizers.Tokenizer.from_str(text)
            self._description = parse_json(text)
        except Exception as error:  # the library raises `Exception` itself
            raise ModelError(
                f"the tokenizer {path} cannot be read: {error}", "Export the model again"
            ) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # special tokens in a text are treated as text

    def tokenize(self, text: bytes) -> list[int]:
        """The tokens of a text, without those that surround a text in training."""
        return list(self._tokenizer.encode(_readable(text), add_special_tokens=False).ids) if text else []

    def encode(self, text: bytes) -> Encoded:
        """The tokens of a text with their places, as the tokenizer reports them."""
        readable = _readable(text)
        encoding = self._tokenizer.encode(readable, add_special_tokens=False)
        ends, at = [], 0
        upto = [0]
        for character in readable:
            upto.append(upto[-1] + len(character.encode()))
        for _, end in encoding.offsets:
            at = max(at, upto[end])
            ends.append(at)
        if ends:
            ends[-1] = len(text)
        words = [-1 - i if word is None else word for i, word in enumerate(encoding.word_ids)]
        return Encoded(list(encoding.ids), words, ends)

    @cached_property
    def around(self) -> tuple[list[int], list[int]]:
        """The tokens before and after a text in training."""
        self._tokenizer.encode_special_tokens = False
        plain = self._tokenizer.encode("x", add_special_tokens=False).ids
        whole = self._tokenizer.encode("x", add_special_tokens=True).ids
        self._tokenizer.encode_special_tokens = True
        for at in range(len(whole) - len(plain) + 1):
            if whole[at : at + len(plain)] == plain:
                return whole[:at], whole[at + len(plain) :]
        return [], []

    @property
    def mask(self) -> int | None:
        """The mask token, if the vocabulary has one."""
        for content in ("<mask>", "[MASK]", "<|mask|>"):
            token = self._tokenizer.token_to_id(content)
            if token is not None:
                return int(token)
        return None

    @cached_property
    def pieces(self) -> list[bytes]:
        """The bytes of every token; empty for an unused id."""
        size = max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1
        pieces = [b""] * size
        characters = _byte_characters() if self._byte_level else None
        for content, token in self._tokenizer.get_vocab(with_added_tokens=False).items():
            pieces[token] = _bytes_of(content, characters)
        for token, added in self._tokenizer.get_added_tokens_decoder().items():
            pieces[token] = added.content.encode()
        return pieces

    @property
    def _byte_level(self) -> bool:
        parts = [self._description.get(name) or {} for name in ("pre_tokenizer", "decoder", "normalizer")]
        return any('"ByteLevel"' in json.dumps(part) for part in parts)


def _bytes_of(content: str, characters: dict[str, int] | None) -> bytes:
    if characters is not None:
        if all(character in characters for character in content):
            return bytes(characters[character] for character in content)
        return content.encode()
    byte = _BYTE.fullmatch(content)
    return bytes([int(byte[1], 16)]) if byte else content.replace(_BLANK, " ").encode()


def _readable(text: bytes) -> str:
    """A text with lone surrogates, which the library refuses, replaced by the same number of bytes."""
    read = text.decode("utf-8", "surrogatepass")
    return re.sub("[\ud800-\udfff]", "\ufffd", read)
