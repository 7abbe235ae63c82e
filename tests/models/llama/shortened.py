"""The first layers of the embedded model: the same tokens and code, a fifth of the arithmetic.

It is for tests in which any answer of a model will do.
`python -m tests.models.llama.shortened FILE` writes it.
"""

from __future__ import annotations

import struct
import sys
from dataclasses import dataclass
from pathlib import Path

from counterlens.models.files import embedded_model

LAYERS = 2

_SCALARS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # bytes of a value, by type
_TEXT, _ARRAY = 8, 9
_LAYERS_KEY = b"llama.block_count"
_ALIGNMENT = 32  # bytes; the default, as this file names no other


@dataclass(frozen=True)
class Tensor:
    """A tensor: its entry in the header without the offset of its data, and its data."""

    name: bytes
    entry: bytes
    data: bytes

    @property
    def layer(self) -> int:
        """Its layer; -1 if it is outside all layers."""
        return int(self.name.split(b".")[1]) if self.name.startswith(b"blk.") else -1


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


def shortened(content: bytes, layers: int = LAYERS) -> bytes:
    """A GGUF file of a llama model, reduced to its first layers."""
    header = Header(content)
    header.at = len(b"GGUF") + struct.calcsize("I")
    tensors, entries = header.number("Q"), header.number("Q")
    metadata = b"".join(_metadata(header, layers) for _ in range(entries))
    kept = [each for each in _tensors(header, tensors) if each.layer < layers]
    begin = content[: len(b"GGUF") + struct.calcsize("I")]
    written, data = begin + struct.pack("<QQ", len(kept), entries) + metadata, b""
    for tensor in kept:
        written += tensor.entry + struct.pack("<Q", len(data))
        data += _padded(tensor.data)
    return _padded(written) + data


def _metadata(header: Header, layers: int) -> bytes:
    begin = header.at
    key = header.text()
    kind = header.number("I")
    value = header.at
    header.value(kind)
    if key == _LAYERS_KEY:
        return header.content[begin:value] + struct.pack("<I", layers)
    return header.content[begin : header.at]


def _tensors(header: Header, count: int) -> list[Tensor]:
    entries = []
    for _ in range(count):
        begin = header.at
        name = header.text()
        for _ in range(header.number("I")):
            header.number("Q")
        header.number("I")
        entry = header.content[begin : header.at]
        entries.append((name, entry, header.number("Q")))
    base = len(_padded(header.content[: header.at]))
    ends = [*sorted(place for *_, place in entries)[1:], len(header.content) - base]
    end = dict(zip(sorted(place for *_, place in entries), ends, strict=True))
    return [Tensor(name, entry, header.content[base + at : base + end[at]]) for name, entry, at in entries]


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % _ALIGNMENT)


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(shortened(embedded_model().read_bytes()))
