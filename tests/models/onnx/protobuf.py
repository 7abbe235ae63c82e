"""ONNX files without the package `onnx`: the part of the format (onnx.proto) that a transformer needs."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

OPSET, IR_VERSION = 17, 8
_TYPES = {"float32": 1, "int32": 6, "int64": 7, "bool": 9, "float16": 10}
_EXTERNAL_FROM = 1 << 10  # bytes of a tensor that is written beside the graph, where that is asked for


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def number(tag: int, value: int) -> bytes:
    return varint(tag << 3) + varint(value)


def data(tag: int, value: bytes | str) -> bytes:
    value = value.encode() if isinstance(value, str) else value
    return varint(tag << 3 | 2) + varint(len(value)) + value


def attribute(name: str, value: Any) -> bytes:
    if isinstance(value, float):
        body, kind = varint(2 << 3 | 5) + struct.pack("<f", value), 1
    elif isinstance(value, int):
        body, kind = number(3, value), 2
    else:
        body, kind = b"".join(number(8, item) for item in value), 7
    return data(1, name) + body + number(20, kind)


def value_info(name: str, kind: str, shape: Iterable[int | str]) -> bytes:
    dims = b"".join(data(1, number(1, d) if isinstance(d, int) else data(2, d)) for d in shape)
    return data(1, name) + data(2, data(1, number(1, _TYPES[kind]) + data(2, dims)))


@dataclass
class Graph:
    """A graph under construction; every method that adds something returns the name of its value."""

    nodes: list[bytes] = field(default_factory=list)
    tensors: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    inputs: list[bytes] = field(default_factory=list)
    outputs: list[bytes] = field(default_factory=list)
    count: int = 0

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def input(self, name: str, kind: str, *shape: int | str) -> str:
        self.inputs.append(value_info(name, kind, shape))
        return name

    def output(self, value: str, name: str, kind: str, *shape: int | str) -> None:
        self.outputs.append(value_info(name, kind, shape))
        self.node("Identity", value, into=name)

    def tensor(self, values: Any, kind: Any = np.float32) -> str:
        name = self.fresh()
        self.tensors[name] = np.ascontiguousarray(values, kind)
        return name

    def ints(self, *values: int) -> str:
        return self.tensor(values, np.int64)

    def integer(self, value: int) -> str:
        name = self.fresh()
        self.tensors[name] = np.array(value, np.int64)  # a scalar
        return name

    def node(self, op: str, *inputs: str, into: str | tuple[str, ...] = "", **attributes: Any) -> str:
        outputs = (into,) if isinstance(into, str) and into else into or (self.fresh(),)
        body = b"".join(data(1, name) for name in inputs) + b"".join(data(2, name) for name in outputs)
        body += data(4, op) + b"".join(data(5, attribute(n, v)) for n, v in attributes.items())
        self.nodes.append(body)
        return outputs[0]

    def write(self, path: Path, *, external: bool = False) -> None:
        """Write the file, and on request large tensors into another file beside it."""
        beside = path.with_name(f"{path.name}_data")
        parts = [data(1, node) for node in self.nodes] + [data(2, "graph")]
        at = 0
        if external:
            beside.unlink(missing_ok=True)
        for name, values in self.tensors.items():
            body = b"".join(number(1, size) for size in values.shape)
            body += number(2, _TYPES[values.dtype.name]) + data(8, name)
            if external and values.nbytes >= _EXTERNAL_FROM:
                with beside.open("ab") as file:
                    file.write(values.tobytes())
                places = {"location": beside.name, "offset": str(at), "length": str(values.nbytes)}
                at += values.nbytes
                body += b"".join(data(13, data(1, key) + data(2, value)) for key, value in places.items())
                body += number(14, 1)
            else:
                body += data(9, values.tobytes())
            parts.append(data(5, body))
        parts += [data(11, value) for value in self.inputs] + [data(12, value) for value in self.outputs]
        model = number(1, IR_VERSION) + data(2, "counterlens") + data(7, b"".join(parts))
        path.write_bytes(model + data(8, data(1, "") + number(2, OPSET)))
