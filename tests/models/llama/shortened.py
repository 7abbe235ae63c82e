"""The embedded model's first layers, narrowed: the same tokens and code, a tenth of the arithmetic.

It is for tests in which any answer of a model will do. What is left of a model repeats itself after a few
tokens; unless it is endless, this one ends there, so most of its answers are short.
`python -m tests.models.llama.shortened [--wide] FILE` writes it.
"""

from __future__ import annotations

import math
import struct
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from counterlens.models.files import embedded_model

LAYERS = 2
WIDTH = 192
"""The components of an embedding that are kept, a multiple of the 32 in a block of quantised numbers."""

_SCALARS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # bytes of a value, by type
_WHOLE, _TEXT, _ARRAY = 4, 8, 9
_Q8_0 = 8
_TYPES = {0: (1, 4), 3: (32, 20), _Q8_0: (32, 34)}  # numbers of a block and its bytes: float32, Q4_1, Q8_0
_LAYERS_KEY, _WIDTH_KEY = b"llama.block_count", b"llama.embedding_length"
_HEADS_KEY = b"llama.attention.head_count"
_HEAD_KEYS = (b"llama.attention.key_length", b"llama.attention.value_length")
"""By default, a head is as wide as an embedding divided by the number of heads."""
_FROM_EMBEDDINGS = (b"token_embd", b"attn_q", b"attn_k", b"attn_v", b"ffn_gate", b"ffn_up")
"""Tensors whose rows are multiplied by an embedding; those of the others give one."""
_ALIGNMENT = 32  # bytes; the default, as this file names no other
_EMBEDDINGS = b"token_embd.weight"
"""A row for each token; what was computed is multiplied by them at the end, to rank the next tokens."""
_END, _REPEATED = 2, 6
"""The token that ends an answer, and the one that a narrow model most often repeats."""
_LIKELIER = 1.7
"""How much higher the score of the end is than that of the repeated token. After 210 beginnings of functions,
20 answers end at once, 185 others within six tokens, and all within 18."""


@dataclass(frozen=True)
class Tensor:
    """A tensor: the length of a row and the number of rows (none for a vector), its type and its data."""

    name: bytes
    sizes: tuple[int, ...]
    kind: int
    data: bytes

    @property
    def layer(self) -> int:
        """Its layer; -1 if it is outside all layers."""
        return int(self.name.split(b".")[1]) if self.name.startswith(b"blk.") else -1

    @property
    def entry(self) -> bytes:
        """Its entry in the header, without the offset of its data."""
        sizes = struct.pack(f"<I{len(self.sizes)}Q", len(self.sizes), *self.sizes)
        return _text(self.name) + sizes + struct.pack("<I", self.kind)

    def narrowed(self, width: int) -> Tensor:
        """The tensor for embeddings of their first components only."""
        length, *rows = self.sizes
        numbers, size = _TYPES[self.kind]
        whole, kept = (each // numbers * size for each in (length, width))  # bytes of a row
        if rows and self.name.split(b".")[-2] not in _FROM_EMBEDDINGS:
            return replace(self, sizes=(length, width), data=self.data[: whole * width])
        starts = range(0, whole * math.prod(rows), whole)
        return replace(self, sizes=(width, *rows), data=b"".join(self.data[at : at + kept] for at in starts))

    def ending_soon(self) -> Tensor:
        """The embeddings, in Q8_0, with that of the end in the direction of the one that is repeated."""
        length, tokens = self.sizes
        numbers, size = _TYPES[self.kind]
        row, data = length // numbers * size, bytearray(self.data)
        assert self.kind == _Q8_0, f"the embeddings of {tokens} tokens have another type"
        for at in range(0, row, size):
            (scale,) = struct.unpack_from("<e", data, _REPEATED * row + at)
            block = data[_REPEATED * row + at : _REPEATED * row + at + size]
            struct.pack_into("<e", block, 0, scale * _LIKELIER)
            data[_END * row + at : _END * row + at + size] = block
        return replace(self, data=bytes(data))


class Header:
    """Reads the header of a GGUF file from front to back."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 0

    def number(self, form: str) -> int:
        value: int = struct.unpack_from(f"<{form}", self.content, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def text(self) -> bytes:
        length = self.number("Q")
        self.at += length
        return self.content[self.at - length : self.at]

    def value(self, kind: int, count: int = 1) -> None:
        """Skip values of a type."""
        if kind == _TEXT:
            for _ in range(count):
                self.text()
        elif kind == _ARRAY:
            of = self.number("I")
            self.value(of, self.number("Q"))
        else:
            self.at += _SCALARS[kind] * count


def shortened(content: bytes, *, wide: bool = False, endless: bool = False) -> bytes:
    """A GGUF file of a llama model, reduced to its first layers and the first parts of its embeddings.

    Args:
        content: The file of the model.
        wide: Whether its embeddings stay whole.
        endless: Whether its answers go on up to the limit, as those of a wide one may.
    """
    header = Header(content)
    header.at = len(b"GGUF") + struct.calcsize("I")
    tensors, entries = header.number("Q"), header.number("Q")
    metadata = dict(_metadata(header) for _ in range(entries))
    whole = _number(metadata[_WIDTH_KEY])
    width, head = whole if wide else WIDTH, whole // _number(metadata[_HEADS_KEY])
    metadata |= {_LAYERS_KEY: _value(LAYERS), _WIDTH_KEY: _value(width)}
    metadata |= dict.fromkeys(_HEAD_KEYS, _value(head))
    kept = [each.narrowed(width) for each in _tensors(header, tensors) if each.layer < LAYERS]
    written = content[: len(b"GGUF") + struct.calcsize("I")] + struct.pack("<QQ", len(kept), len(metadata))
    written += b"".join(_text(key) + value for key, value in metadata.items())
    if not (wide or endless):
        kept = [each.ending_soon() if each.name == _EMBEDDINGS else each for each in kept]
    data = b""
    for tensor in kept:
        written += tensor.entry + struct.pack("<Q", len(data))
        data += _padded(tensor.data)
    return _padded(written) + data


def _metadata(header: Header) -> tuple[bytes, bytes]:
    """A key, and its value with the type before it."""
    key, begin = header.text(), header.at
    header.value(header.number("I"))
    return key, header.content[begin : header.at]


def _number(value: bytes) -> int:
    number: int = struct.unpack("<II", value)[1]
    return number


def _value(number: int) -> bytes:
    return struct.pack("<II", _WHOLE, number)


def _text(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def _tensors(header: Header, count: int) -> list[Tensor]:
    entries = []
    for _ in range(count):
        name = header.text()
        sizes = tuple(header.number("Q") for _ in range(header.number("I")))
        entries.append((name, sizes, header.number("I"), header.number("Q")))
    base = len(_padded(header.content[: header.at]))
    starts = sorted(start for *_, start in entries)
    end = dict(zip(starts, [*starts[1:], len(header.content) - base], strict=True))
    return [
        Tensor(name, sizes, kind, header.content[base + start : base + end[start]])
        for name, sizes, kind, start in entries
    ]


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % _ALIGNMENT)


if __name__ == "__main__":
    *flags, file = sys.argv[1:]
    Path(file).write_bytes(shortened(embedded_model().read_bytes(), wide="--wide" in flags))
