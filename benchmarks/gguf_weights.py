"""The weights of a GGUF file as float32, dequantised in NumPy, for the formats in the embedded model.

The formats are those of ggml's `ggml-common.h` (block_q4_1, block_q8_0).
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9


class GgufFile:
    """A GGUF file, read on demand.

    Attributes:
        metadata: The metadata of the file.
        tensors: Shape (rows first), type and offset of each tensor.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.metadata: dict[str, Any] = {}
        self.tensors: dict[str, tuple[tuple[int, ...], int, int]] = {}
        with path.open("rb") as file:
            _, _, tensors, entries = struct.unpack("<4sIQQ", file.read(24))
            for _ in range(entries):
                key = _text(file)
                self.metadata[key] = _value(file, *struct.unpack("<I", file.read(4)))
            for _ in range(tensors):
                name = _text(file)
                (dimensions,) = struct.unpack("<I", file.read(4))
                shape = struct.unpack(f"<{dimensions}Q", file.read(8 * dimensions))[::-1]
                kind, offset = struct.unpack("<IQ", file.read(12))
                self.tensors[name] = (shape, kind, offset)
            alignment = self.metadata.get("general.alignment", 32)
            self._start = -(-file.tell() // alignment) * alignment

    def tensor(self, name: str) -> Floats:
        """A tensor, dequantised, with one row per output."""
        shape, kind, offset = self.tensors[name]
        count = int(np.prod(shape))
        block, size, dequantise = _FORMATS[kind]
        with self._path.open("rb") as file:
            file.seek(self._start + offset)
            data = np.frombuffer(file.read(count // block * size), np.uint8).reshape(-1, size)
        return dequantise(data).reshape(shape).astype(np.float32)


def _text(file: IO[bytes]) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    return file.read(length).decode("utf-8", "replace")


def _value(file: IO[bytes], kind: int) -> Any:
    if kind == _TEXT:
        return _text(file)
    if kind == _ARRAY:
        inner, length = struct.unpack("<IQ", file.read(12))
        return [_value(file, inner) for _ in range(length)]
    return struct.unpack(f"<{_SCALARS[kind]}", file.read(struct.calcsize(f"<{_SCALARS[kind]}")))[0]


def _halves(data: npt.NDArray[np.uint8]) -> Floats:
    return np.ascontiguousarray(data).view(np.float16).astype(np.float32)


def _q4_1(data: npt.NDArray[np.uint8]) -> Floats:
    scale, least, packed = _halves(data[:, 0:2]), _halves(data[:, 2:4]), data[:, 4:]
    return np.concatenate([packed & 15, packed >> 4], axis=1) * scale + least


def _q8_0(data: npt.NDArray[np.uint8]) -> Floats:
    return np.ascontiguousarray(data[:, 2:]).view(np.int8) * _halves(data[:, 0:2])


_FORMATS = {
    0: (1, 4, lambda data: np.ascontiguousarray(data).view(np.float32)),
    3: (32, 20, _q4_1),
    8: (32, 34, _q8_0),
}
"""Values per block, bytes per block and decoder of each ggml type number."""
