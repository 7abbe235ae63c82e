"""The rounding of the gap between the two likeliest tokens: measured on the loaded model, and cached.

A greedy completion takes the likelier of two tokens, however small the gap between their logits. Other
kernels of llama.cpp shift that gap, as another build does, so a gap below nearly all such shifts shows
nothing about the model.

The file's header gives the memory that its layers need on a device.

Imported only inside the child process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path

import numpy as np
import numpy.typing as npt

from counterlens.models.files import note, recall
from counterlens.models.llama import decoding
from counterlens.models.llama.exactness import build
from counterlens.models.llama.ggml import GgufReading, ggml
from counterlens.models.llama.native import Engine
from counterlens.models.llama.sequences import Row, SequenceBatch

SHARED_CACHE = 512 << 20
"""Bytes of keys and values for the sequences of a request, besides those of the model's own context."""

_UINT32, _STRING = 4, 8  # `gguf_type`
_MEMORY = "rounding.json"
_KNOWN = {
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53": 0.32,  # SmolLM2-135M-Instruct Q4_1
    "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32": 0.19,  # Qwen2.5-Coder 0.5B Q4_K_M
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046": 0.24,  # Qwen2.5-Coder 1.5B Q4_K_M
}
"""The rounding of files that many use, by SHA-256: the largest of the builds on which it was measured."""
_TRIALS = 2  # increase it when the trial changes
_TOKENS = 500
_SHARE = 0.95
"""Share of the shifts that are counted as rounding; more would call stable completions unstable."""


def layer_sizes(path: Path, context: int) -> list[int]:
    """The bytes that each layer needs on a device, and the output.

    Weights are those of the file; those in other files are spread evenly. Keys and values are an upper bound:
    16 bits each for the whole context, and as much again, or `SHARED_CACHE`, for the sequences of a request.

    Args:
        context: Maximum number of tokens of context.

    Returns:
        (layers + 1,) bytes, the output last; empty if the file does not say.
    """
    with _header(path) as header:
        if header is None:
            return []
        kind = header.text("general.architecture")
        layers = header.number(f"{kind}.block_count")
        if not layers:
            return []
        heads = header.number(f"{kind}.attention.head_count") or 1
        width = header.number(f"{kind}.attention.key_length")
        width = width or header.number(f"{kind}.embedding_length") // heads
        heads = header.number(f"{kind}.attention.head_count_kv") or heads
        tokens = min(context, header.number(f"{kind}.context_length") or context)
        weights = header.weights()
    cache_bytes = 2 * 2 * heads * width * tokens
    sizes = [cache_bytes + max(cache_bytes, SHARED_CACHE // layers)] * layers + [0]
    for name, size in weights.items():
        layer = re.match(r"blk\.(\d+)\.", name)
        if layer and int(layer[1]) < layers:
            sizes[int(layer[1])] += size
        elif name.startswith("output"):
            sizes[-1] += size
    if "output.weight" not in weights:  # the embeddings are the output, too, and copied
        sizes[-1] += weights.get("token_embd.weight", 0)
    more = _bytes_of_other_files(path) // len(sizes)
    return [size + more for size in sizes]


def _bytes_of_other_files(path: Path) -> int:
    """The bytes of the files beside the first of several, such as `a-00002-of-00003.gguf`."""
    parts = re.fullmatch(r"(.*)-00001-of-(\d{5})", path.stem)
    if parts is None:
        return 0
    files = path.parent.glob(f"{escape(parts[1])}-*-of-{parts[2]}.gguf")
    return sum(file.stat().st_size for file in files if file.name != path.name)


class _Header:
    """The header of an open GGUF file."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def number(self, key: str) -> int:
        """The value of a key; 0 if there is none, or one for each layer."""
        at = self._find(key, _UINT32)
        return 0 if at < 0 else int(ggml.gguf_get_val_u32(self._handle, at))

    def text(self, key: str) -> str:
        """The value of a key; empty if there is none."""
        at = self._find(key, _STRING)
        return "" if at < 0 else str(ggml.gguf_get_val_str(self._handle, at).decode("utf-8", "replace"))

    def weights(self) -> dict[str, int]:
        """The bytes of each tensor."""
        return {
            ggml.gguf_get_tensor_name(self._handle, i).decode(): ggml.gguf_get_tensor_size(self._handle, i)
            for i in range(ggml.gguf_get_n_tensors(self._handle))
        }

    def _find(self, key: str, kind: int) -> int:
        at = int(ggml.gguf_find_key(self._handle, key.encode()))
        return at if at >= 0 and ggml.gguf_get_kv_type(self._handle, at) == kind else -1


@contextmanager
def _header(path: Path) -> Iterator[_Header | None]:
    handle = ggml.gguf_init_from_file(str(path).encode(), GgufReading(no_alloc=True, context=None))
    try:
        yield _Header(handle) if handle else None
    finally:
        if handle:
            ggml.gguf_free(handle)


def rounding_of(engine: Engine, identity: str) -> float:
    """The shift of the gap between the two likeliest tokens that nearly no token exceeds, in nats.

    Takes some seconds the first time, unless the file is a known one; kept in the user's cache, by file,
    engine and processor.

    Args:
        identity: Identity of the model file.

    Raises:
        Cancelled, ModelError: as `SequenceBatch.decode`.
    """
    if identity in _KNOWN:
        return _KNOWN[identity]
    key = f"{identity} {build()} {_TRIALS}"
    stored = recall(_MEMORY, key)
    if isinstance(stored, str):
        try:
            return float(stored)
        except ValueError:
            pass  # a damaged entry: measure again
    measured = f"{np.quantile(shifts(engine), _SHARE):.3g}"
    note(_MEMORY, key, measured)
    return float(measured)


def shifts(engine: Engine) -> npt.NDArray[np.float64]:
    """(tokens,): how far the fused attention kernel shifts the gap between the two likeliest tokens of code.

    The code is a file of this package.
    """
    lead = [engine.bos] if engine.adds_bos else []
    text = engine.tokenize(Path(decoding.__file__).read_bytes())
    tokens = (lead + text)[: min(_TOKENS, engine.context)]
    batch = SequenceBatch(engine)
    batch.start([len(tokens)])
    engine.forget()
    parts = []
    for low in range(0, len(tokens), engine.chunk):
        part = tokens[low : low + engine.chunk]
        exact = batch.decode([Row(0, token, wanted=True) for token in part]).astype(np.float64)
        other = engine.decode(part, logits_from=0).astype(np.float64)
        rows = np.arange(len(part))
        second, first = np.argpartition(exact, -2, axis=1)[:, -2:].T
        gaps = [logits[rows, first] - logits[rows, second] for logits in (exact, other)]
        parts.append(np.abs(gaps[0] - gaps[1]))
    batch.close()
    return np.concatenate(parts)
