"""A transformer as an ONNX graph and as a NumPy forward pass, written independently of each other.

Its architecture is Llama's (Touvron et al. 2023, section 2.2): RMSNorm, rotary positions, SwiGLU, shared
keys. Without the causal mask it is a masked model. The graph has the inputs and outputs of exported models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.models.onnx.protobuf import Graph

Weights = dict[str, npt.NDArray[np.floating[Any]]]
Floats = npt.NDArray[np.float64]
_OUT = -1e9


@dataclass(frozen=True)
class Sizes:
    """The sizes of a transformer."""

    vocabulary: int
    layers: int = 2
    heads: int = 4
    kv_heads: int = 2
    width: int = 32
    hidden: int = 48
    theta: float = 10_000.0
    eps: float = 1e-5

    @property
    def head(self) -> int:
        return self.width // self.heads


def random_weights(sizes: Sizes, seed: int = 0, scale: float = 0.35) -> Weights:
    """Random weights with which predictions depend on earlier tokens, and are not nearly certain."""
    chance = np.random.default_rng(seed)
    kv = sizes.kv_heads * sizes.head
    shapes = {"q": (sizes.width, sizes.width), "k": (sizes.width, kv), "v": (sizes.width, kv)}
    shapes |= {"o": (sizes.width, sizes.width), "down": (sizes.hidden, sizes.width)}
    shapes |= {"gate": (sizes.width, sizes.hidden), "up": (sizes.width, sizes.hidden)}
    weights = {"embedding": chance.normal(size=(sizes.vocabulary, sizes.width)) * scale}
    weights["norm"] = 1 + 0.1 * chance.normal(size=sizes.width)
    for layer in range(sizes.layers):
        for name, shape in shapes.items():
            weights[f"{layer}.{name}"] = chance.normal(size=shape) * scale
        for name in ("attention_norm", "mlp_norm"):
            weights[f"{layer}.{name}"] = 1 + 0.1 * chance.normal(size=sizes.width)
    return {name: values.astype(np.float32) for name, values in weights.items()}


def output_of(weights: Weights) -> npt.NDArray[np.floating[Any]]:
    """(width, vocabulary): maps hidden states to logits; the embedding if there is no other matrix."""
    return weights["output"] if "output" in weights else weights["embedding"].T


def chain(sizes: Sizes, follows: dict[int, int], strength: float = 12.0) -> tuple[Sizes, Weights]:
    """A model without layers whose next token depends only on the last one, set by hand.

    Args:
        sizes: Only its vocabulary is used.
        follows: The successor of each token; other tokens repeat themselves.
        strength: The advantage of the successor over all other tokens, in nats.
    """
    v = sizes.vocabulary
    output = np.zeros((v, v), np.float32)
    for token in range(v):
        output[token, follows.get(token, token)] = strength / np.sqrt(v)  # the norm makes a one the root of v
    weights: Weights = {"embedding": np.eye(v, dtype=np.float32), "output": output}
    weights["norm"] = np.ones(v, np.float32)
    return Sizes(v, layers=0, heads=1, kv_heads=1, width=v, eps=0.0), weights


@dataclass
class Exporter:
    """Writes the transformer as a graph.

    Attributes:
        sizes: Its sizes.
        weights: As from `random_weights`.
        causal: Whether a token attends only to earlier ones.
        past: Whether keys and values are inputs and outputs.
        hidden: Whether the last hidden states are an output.
        positions: Whether the positions of tokens are an input.
        logits: Whether logits are an output.
    """

    sizes: Sizes
    weights: Weights
    causal: bool = True
    past: bool = False
    hidden: bool = False
    positions: bool = True
    logits: bool = True

    def graph(self) -> Graph:
        self.g = g = Graph()
        ids = g.input("input_ids", "int64", "batch", "sequence")
        mask = g.input("attention_mask", "int64", "batch", "total")
        self._places(ids, mask)
        x = g.node("Gather", g.tensor(self.weights["embedding"]), ids)
        for layer in range(self.sizes.layers):
            normed = self._norm(x, f"{layer}.attention_norm")
            x = g.node("Add", x, self._attention(normed, layer))
            normed = self._norm(x, f"{layer}.mlp_norm")
            gate = self._times(normed, f"{layer}.gate")
            gate = g.node("Mul", gate, g.node("Sigmoid", gate))
            inner = g.node("Mul", gate, self._times(normed, f"{layer}.up"))
            x = g.node("Add", x, self._times(inner, f"{layer}.down"))
        x = self._norm(x, "norm")
        if self.logits:
            logits = g.node("MatMul", x, g.tensor(output_of(self.weights)))
            g.output(logits, "logits", "float32", "batch", "sequence", self.sizes.vocabulary)
        if self.hidden:
            g.output(x, "last_hidden_state", "float32", "batch", "sequence", self.sizes.width)
        return g

    def _places(self, ids: str, mask: str) -> None:
        """The rotations of each token, and its attention mask."""
        g = self.g
        count = g.node("Gather", g.node("Shape", ids), g.integer(1))
        total = g.node("Gather", g.node("Shape", mask), g.integer(1))
        columns = g.node("Range", g.integer(0), total, g.integer(1))
        rows = g.node("Range", g.node("Sub", total, count), total, g.integer(1))
        if self.positions:
            places = g.input("position_ids", "int64", "batch", "sequence")
        else:
            places = g.node("Unsqueeze", rows, g.ints(0))
        half = self.sizes.head // 2
        rates = self.sizes.theta ** (-np.arange(half) / half)
        angles = g.node("Mul", g.node("Unsqueeze", g.node("Cast", places, to=1), g.ints(2)), g.tensor(rates))
        self.cos = g.node("Unsqueeze", g.node("Cos", angles), g.ints(1))
        self.sin = g.node("Unsqueeze", g.node("Sin", angles), g.ints(1))
        padding = g.node("Equal", mask, g.integer(0))
        self.bias = g.node("Where", padding, g.tensor(_OUT), g.tensor(0.0))
        self.bias = g.node("Unsqueeze", self.bias, g.ints(1, 2))
        if self.causal:
            later = g.node("Greater", columns, g.node("Unsqueeze", rows, g.ints(1)))
            self.bias = g.node("Add", self.bias, g.node("Where", later, g.tensor(_OUT), g.tensor(0.0)))

    def _attention(self, x: str, layer: int) -> str:
        g, sizes = self.g, self.sizes
        q = self._rotated(self._heads(self._times(x, f"{layer}.q"), sizes.heads))
        k = self._rotated(self._heads(self._times(x, f"{layer}.k"), sizes.kv_heads))
        v = self._heads(self._times(x, f"{layer}.v"), sizes.kv_heads)
        k, v = (self._with_past(values, layer, name) for values, name in ((k, "key"), (v, "value")))
        k, v = self._for_all_heads(k), self._for_all_heads(v)
        scores = g.node("MatMul", q, g.node("Transpose", k, perm=[0, 1, 3, 2]))
        scores = g.node("Add", g.node("Mul", scores, g.tensor(sizes.head**-0.5)), self.bias)
        mixed = g.node("MatMul", g.node("Softmax", scores, axis=-1), v)
        flat = g.node("Reshape", g.node("Transpose", mixed, perm=[0, 2, 1, 3]), g.ints(0, 0, sizes.width))
        return self._times(flat, f"{layer}.o")

    def _with_past(self, values: str, layer: int, name: str) -> str:
        if not self.past:
            return values
        g, heads, head = self.g, self.sizes.kv_heads, self.sizes.head
        before = g.input(f"past_key_values.{layer}.{name}", "float32", "batch", heads, "past", head)
        values = g.node("Concat", before, values, axis=2)
        g.output(values, f"present.{layer}.{name}", "float32", "batch", heads, "total", head)
        return values

    def _heads(self, x: str, heads: int) -> str:
        shaped = self.g.node("Reshape", x, self.g.ints(0, 0, heads, self.sizes.head))
        return self.g.node("Transpose", shaped, perm=[0, 2, 1, 3])

    def _for_all_heads(self, x: str) -> str:
        g, sizes = self.g, self.sizes
        group = sizes.heads // sizes.kv_heads
        spread = g.node("Expand", g.node("Unsqueeze", x, g.ints(2)), g.ints(1, 1, group, 1, 1))
        return g.node("Reshape", spread, g.ints(0, sizes.heads, -1, sizes.head))

    def _rotated(self, x: str) -> str:
        g = self.g
        first, second = g.fresh(), g.fresh()
        g.node("Split", x, into=(first, second), axis=3)
        low = g.node("Sub", g.node("Mul", first, self.cos), g.node("Mul", second, self.sin))
        high = g.node("Add", g.node("Mul", second, self.cos), g.node("Mul", first, self.sin))
        return g.node("Concat", low, high, axis=3)

    def _norm(self, x: str, name: str) -> str:
        g = self.g
        mean = g.node("ReduceMean", g.node("Mul", x, x), axes=[-1], keepdims=1)
        root = g.node("Sqrt", g.node("Add", mean, g.tensor(self.sizes.eps)))
        return g.node("Mul", g.node("Div", x, root), g.tensor(self.weights[name]))

    def _times(self, x: str, name: str) -> str:
        return self.g.node("MatMul", x, self.g.tensor(self.weights[name]))


def hidden_states(sizes: Sizes, weights: Weights, tokens: list[int], *, causal: bool = True) -> Floats:
    """(n, width) float64: the last hidden states of one text, head by head, only with NumPy."""
    x = weights["embedding"][tokens].astype(np.float64)
    n, d = len(tokens), sizes.head
    turns = np.arange(n)[:, None] * sizes.theta ** (-2 * np.arange(d // 2) / d)[None, :]
    turn = np.exp(1j * turns)
    for layer in range(sizes.layers):
        w = {
            name.partition(".")[2]: v.astype(np.float64)
            for name, v in weights.items()
            if name.startswith(f"{layer}.")
        }
        a = _normed(x, w["attention_norm"], sizes.eps)
        out = np.empty((n, sizes.width))
        for head in range(sizes.heads):
            shared = head * sizes.kv_heads // sizes.heads
            q = _turned((a @ w["q"])[:, head * d : (head + 1) * d], turn)
            k = _turned((a @ w["k"])[:, shared * d : (shared + 1) * d], turn)
            v = (a @ w["v"])[:, shared * d : (shared + 1) * d]
            for i in range(n):
                seen = i + 1 if causal else n
                weight = np.exp(k[:seen] @ q[i] / np.sqrt(d))
                out[i, head * d : (head + 1) * d] = weight @ v[:seen] / weight.sum()
        x = x + out @ w["o"]
        m = _normed(x, w["mlp_norm"], sizes.eps)
        gate = m @ w["gate"]
        x = x + (gate / (1 + np.exp(-gate)) * (m @ w["up"])) @ w["down"]
    return _normed(x, weights["norm"].astype(np.float64), sizes.eps)


def log_probabilities(sizes: Sizes, weights: Weights, tokens: list[int], *, causal: bool = True) -> Floats:
    """(n, vocabulary) float64: the logits at each position of a text, only with NumPy."""
    logits = hidden_states(sizes, weights, tokens, causal=causal) @ output_of(weights).astype(np.float64)
    logits -= logits.max(axis=1, keepdims=True)
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)), np.float64)


def _normed(x: Floats, weight: Floats, eps: float) -> Floats:
    return np.asarray(x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps) * weight, np.float64)


def _turned(x: Floats, turn: npt.NDArray[np.complex128]) -> Floats:
    half = x.shape[1] // 2
    turned = (x[:, :half] + 1j * x[:, half:]) * turn
    return np.concatenate([turned.real, turned.imag], axis=1)
