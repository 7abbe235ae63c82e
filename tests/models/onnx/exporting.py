"""Folders as `optimum-cli export onnx` writes them, each with a small transformer and a tokenizer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import decoders, models, pre_tokenizers, processors

from tests.models.onnx.transformer import Exporter, Sizes, Weights, chain, random_weights

SPECIAL = ("<s>", "<pad>", "</s>", "<mask>")
_MERGED = (
    "re",
    "tu",
    "rn",
    "retu",
    "return",
    "de",
    "def",
    "Ġx",
    "Ġ=",
    "==",
    "ĠĠ",
    "ĠĠĠ",
    "in",
    "for",
    "Ġreturn",
)


@dataclass(frozen=True)
class Exported:
    """An export, and the data to compute its output independently."""

    folder: Path
    sizes: Sizes
    weights: Weights
    tokenizer: tokenizers.Tokenizer
    causal: bool

    @property
    def spec(self) -> str:
        return f"onnx:{self.folder}"

    def tokens(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)


def byte_tokenizer(*, around: bool) -> tokenizers.Tokenizer:
    """A byte-level tokenizer with a few merges; those of masked models put `<s>` and `</s>` around a text."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = [*SPECIAL, *alphabet, *_MERGED]
    merges = [
        ("r", "e"),
        ("t", "u"),
        ("r", "n"),
        ("re", "tu"),
        ("retu", "rn"),
        ("d", "e"),
        ("de", "f"),
        ("Ġ", "x"),
    ]
    merges += [
        ("Ġ", "="),
        ("=", "="),
        ("Ġ", "Ġ"),
        ("ĠĠ", "Ġ"),
        ("i", "n"),
        ("f", "o"),
        ("fo", "r"),
        ("Ġ", "return"),
    ]
    names.insert(names.index("for"), "fo")
    vocabulary = {name: number for number, name in enumerate(names)}
    tokenizer = tokenizers.Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    if around:
        tokenizer.post_processor = processors.RobertaProcessing(
            ("</s>", vocabulary["</s>"]), ("<s>", vocabulary["<s>"]), add_prefix_space=False
        )
    return tokenizer


def export(
    folder: Path,
    *,
    causal: bool = True,
    follows: dict[str, str] | None = None,
    config: dict[str, Any] | None = None,
    external: bool = False,
    **options: bool,
) -> Exported:
    """Write an export.

    Args:
        folder: The folder; created if it does not exist.
        causal: Whether a token attends only to earlier ones.
        follows: The successor of each token, for a model set by hand; by default, weights are random.
        config: Additional entries of `config.json`.
        external: Whether large tensors are in a file beside the graph.
        options: As for `Exporter`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = byte_tokenizer(around=not causal)
    sizes = Sizes(vocabulary=tokenizer.get_vocab_size())
    if follows is None:
        weights = random_weights(sizes)
    else:
        numbers = tokenizer.get_vocab()
        sizes, weights = chain(sizes, {numbers[a]: numbers[b] for a, b in follows.items()})
    Exporter(sizes, weights, causal=causal, **options).graph().write(folder / "model.onnx", external=external)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "architectures": ["LlamaForCausalLM" if causal else "RobertaForMaskedLM"],
        "model_type": "llama" if causal else "roberta",
        "max_position_embeddings": 128 if causal else 130,
        "eos_token_id": 2,
        "pad_token_id": 1,
        **(config or {}),
    }
    (folder / "config.json").write_text(json.dumps(settings))
    return Exported(folder, sizes, weights, tokenizer, causal)
