"""A graph loaded by ONNX Runtime, its inputs, and the sequences that it reads and continues.

Imported only in the child process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime

from counterlens.errors import Cancelled, ModelError
from counterlens.models.local.engine import kept_prefix
from counterlens.models.onnx.export import Export
from counterlens.models.onnx.tokenizer import ExportTokenizer

LOGITS_BYTES = 512 << 20
"""Memory limit of the logits of one run: an export returns the logits of all positions that it reads."""
_CHUNK_BYTES = 64 << 20
_CHUNK = 256
_LEAST_WINDOW = 64
_SAME = 0.1  # 8-bit weights round according to the rest of the call
PROVIDERS = (
    "CUDAExecutionProvider",
    "ROCMExecutionProvider",
    "DmlExecutionProvider",
    "CoreMLExecutionProvider",
    "CPUExecutionProvider",
)
"""Devices for a model; the first installed one is used."""
_KINDS = {
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
}
_PAST = "past"
_KNOWN = {"input_ids", "attention_mask", "position_ids", "token_type_ids", "use_cache_branch"}
_HIDDEN = ("last_hidden_state", "token_embeddings")
Past = list[npt.NDArray[Any]]
"""Keys and values of the tokens read so far, in the order of the session's past inputs."""


class ExportEngine:
    """One export and one sequence of tokens. Implements `SequenceEngine`.

    With a cache, a text is read in chunks, and its prefix is kept for the next; without one, each call of
    `decode` with logits reads all of it in one pass.

    Args:
        session: Its graph, with logits as an output.
        context: Maximum number of tokens of the window.

    Attributes:
        around: The tokens before and after a text in training.
        cancelled: Set from another thread to end the current run.
    """

    def __init__(self, export: Export, session: Session, tokenizer: ExportTokenizer, context: int) -> None:
        self.session, self.tokenizer = session, tokenizer
        self.cancelled = session.cancelled
        self.around = tokenizer.around
        self.adds_bos = bool(self.around[0])
        self.bos = self.around[0][0] if self.adds_bos else -1
        self.ends = export.ends
        self._tokens: list[int] = []
        self._past: Past = [tensor.empty() for tensor in session.past]
        first = tokenizer.tokenize(b"x") or [0]
        logits, _ = session.run(np.array([first], np.int64))
        self.vocabulary = int(logits.shape[-1])
        pieces = tokenizer.pieces[: self.vocabulary]
        self.pieces = pieces + [b""] * (self.vocabulary - len(pieces))
        window = min(context, export.window or context)
        if session.past:
            self.chunk = min(_CHUNK, 1 << (self.rows_of(_CHUNK_BYTES).bit_length() - 1))
        else:
            window = min(window, self.rows_of(LOGITS_BYTES))
            self.chunk = window
        self.context = window
        if window < _LEAST_WINDOW:
            raise ModelError(f"a context of {window} tokens is too small for a model", "Choose a larger one")

    def rows_of(self, size: int) -> int:
        """Number of positions whose logits fit into `size` bytes; at least one."""
        return max(1, size // (4 * self.vocabulary))

    def tokenize(self, text: bytes) -> list[int]:
        return self.tokenizer.tokenize(text)

    def keep_prefix(
        self, tokens: Sequence[int], at_most: int, *, same_groups_from: int = 0, group: int = 1
    ) -> int:
        kept = kept_prefix(self._tokens, tokens, at_most, same_groups_from=same_groups_from, group=group)
        self._past = cut(self._past, self.session.past, kept)
        del self._tokens[kept:]
        return kept

    def decode(self, tokens: Sequence[int], *, logits_from: int) -> npt.NDArray[np.float32]:
        """Like `SequenceEngine.decode`; without a cache, all rows are read together."""
        wanted = len(tokens) - logits_from
        if not self.session.past:
            self._tokens.extend(tokens)
            if not wanted:
                return np.empty((0, self.vocabulary), np.float32)
            logits, _ = self.session.run(np.array([self._tokens], np.int64))
            return logits[0, -wanted:]
        if not tokens:
            return np.empty((0, self.vocabulary), np.float32)
        logits, self._past = self.session.run(np.array([tokens], np.int64), past=self._past)
        self._tokens.extend(tokens)
        return logits[0, logits_from:]


def reads_forward(session: Session, tokenizer: ExportTokenizer) -> bool:
    """Whether the logits of a token are independent of the tokens after it: tested on the model."""
    first, second = tokenizer.tokenize(b"x = 1"), tokenizer.tokenize(b"def f")
    logits = [
        session.run(np.array([[first[0], *rest[:1]]], np.int64))[0][0, 0] for rest in (first[1:], second)
    ]
    scale = float(np.abs(logits[0]).max()) or 1.0
    return float(np.abs(logits[0] - logits[1]).max()) < _SAME * scale


class Termination(Event):
    """An event that also ends the current run."""

    def __init__(self, options: Any) -> None:
        super().__init__()
        self._options = options

    def set(self) -> None:
        """Set the event, and end the run."""
        super().set()
        self._options.terminate = True

    def clear(self) -> None:
        """Clear the event, and allow runs again."""
        self._options.terminate = False
        super().clear()


@dataclass(frozen=True, slots=True)
class PastInput:
    """A tensor of keys or values.

    Attributes:
        present: The name of the output that continues it.
        shape: Its size in each dimension; 0 for the batch and the sequence.
        axis: The dimension of the sequence.
        kind: Type of its numbers.
    """

    name: str
    present: str
    shape: tuple[int, ...]
    axis: int
    kind: type[Any]

    @property
    def width(self) -> int:
        """Bytes per token."""
        numbers = int(np.prod([size for size in self.shape if size]))
        return numbers * np.dtype(self.kind).itemsize

    def empty(self) -> npt.NDArray[Any]:
        """The keys or values of no tokens, for a batch of one."""
        return np.empty((1, *self.shape[1:]), self.kind)


class Session:
    """One graph.

    Args:
        threads: Number of threads.

    Attributes:
        past: Its past inputs; empty if the export has no cache.
        hidden: The output with the last hidden states, if exported.
        provider: Its device.
        cancelled: Set from another thread to end the current run.

    Raises:
        ModelError: ONNX Runtime cannot load it, or it has an unknown input.
    """

    def __init__(self, weights: Path, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 4
        options.enable_mem_pattern = False  # every call has another shape
        # Threads that spin while they wait for each other starve beside an editor.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        available = onnxruntime.get_available_providers()
        providers = [name for name in PROVIDERS if name in available]
        try:
            self._session = onnxruntime.InferenceSession(str(weights), options, providers=providers)
        except Exception as error:  # the library's exceptions have no common class
            raise ModelError(
                f"ONNX Runtime cannot load {weights.name}: {_first_line(error)}",
                "The file may be truncated or too new; export it again",
            ) from error
        self.provider: str = self._session.get_providers()[0]
        self._options = onnxruntime.RunOptions()
        self._options.log_severity_level = 4
        self.cancelled: Event = Termination(self._options)
        self._inputs = {tensor.name: tensor for tensor in self._session.get_inputs()}
        self._outputs = [tensor.name for tensor in self._session.get_outputs()]
        unknown = [name for name in self._inputs if name not in _KNOWN and not name.startswith(_PAST)]
        if unknown or "input_ids" not in self._inputs:
            raise ModelError(
                f"{weights.name} is not an exported text model: its inputs are {', '.join(self._inputs)}",
                "Export a causal or a masked language model",
            )
        self.past = [self._past_input(name, weights.name) for name in self._inputs if name.startswith(_PAST)]
        self.hidden = self._hidden()

    @property
    def has_logits(self) -> bool:
        """Whether it gives logits."""
        return "logits" in self._outputs

    def run(
        self,
        ids: npt.NDArray[np.int64],
        *,
        output: str = "logits",
        past: Past | None = None,
    ) -> tuple[npt.NDArray[np.float32], Past]:
        """Compute one output, and the keys and values of all tokens so far.

        Args:
            ids: (b, n) tokens.
            output: Name of the output.
            past: Keys and values of the earlier tokens; by default none.

        Returns:
            (b, n, width) float32, and the keys and values; empty if the export has no cache.

        Raises:
            Cancelled: `cancelled` was set.
            ModelError: ONNX Runtime failed.
        """
        if self.cancelled.is_set():
            raise Cancelled
        past = past if past is not None else [tensor.empty() for tensor in self.past]
        before = past[0].shape[self.past[0].axis] if past else 0
        count = ids.shape[1]
        feeds: dict[str, npt.NDArray[Any]] = {
            "input_ids": ids,
            "attention_mask": np.ones((len(ids), before + count), np.int64),
            "position_ids": np.tile(np.arange(before, before + count), (len(ids), 1)),
            "token_type_ids": np.zeros_like(ids),
            "use_cache_branch": np.array([before > 0]),
        }
        feeds |= {tensor.name: values for tensor, values in zip(self.past, past, strict=True)}
        wanted = [output, *(tensor.present for tensor in self.past)]
        try:
            answer, *presents = self._session.run(
                wanted, {name: self._typed(name, feeds[name]) for name in self._inputs}, self._options
            )
        except Exception as error:  # the library's exceptions have no common class
            if self.cancelled.is_set():
                raise Cancelled from None
            raise ModelError(
                f"ONNX Runtime cannot run the model: {_first_line(error)}",
                "There may be too little memory; or export the model again",
            ) from error
        return np.asarray(answer, np.float32), presents

    def _typed(self, name: str, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.ascontiguousarray(values, _KINDS.get(self._inputs[name].type, values.dtype))

    def _past_input(self, name: str, file: str) -> PastInput:
        tensor = self._inputs[name]
        free = [axis for axis, size in enumerate(tensor.shape) if not isinstance(size, int)]
        present = name.replace("past_key_values", "present", 1)
        if present not in self._outputs:
            present = name.replace("past", "present", 1)
        if len(free) != 2 or free[0] != 0 or present not in self._outputs or tensor.type not in _KINDS:
            raise ModelError(
                f"{file} has a cache of an unknown form: {name} {tensor.shape}",
                "Export the model again without a cache: --task text-generation",
            )
        shape = tuple(size if isinstance(size, int) else 0 for size in tensor.shape)
        return PastInput(name, present, shape, free[1], _KINDS[tensor.type])

    def _hidden(self) -> str | None:
        for name in _HIDDEN:
            if name in self._outputs:
                return name
        layers = [name for name in self._outputs if name.startswith("hidden_states")]
        return layers[-1] if layers else None


def cut(past: Past, inputs: Sequence[PastInput], length: int) -> Past:
    """Keys and values of the first `length` tokens."""
    return [
        np.take(values, range(length), axis=tensor.axis) if values.shape[tensor.axis] != length else values
        for tensor, values in zip(inputs, past, strict=True)
    ]


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
