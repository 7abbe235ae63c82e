"""Compares an exported model with the same model in llama.cpp.

    python benchmarks/onnx_export.py FOLDER [--no-cache] [--keep]

The benchmark writes the embedded model to FOLDER as an ONNX export (655 MB, weights dequantised to float32),
with keys and values as inputs unless `--no-cache` is given, and compares both on one of the package's files:

- `correlation`: of the log-probabilities of its tokens;
- `apart`: their mean distance in nats; llama.cpp multiplies in 8 bits, the export in 32;
- `speed`: the export's tokens per second over llama.cpp's.

With `--keep`, an existing folder is not written again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

HERE = Path(__file__).parents[1]
sys.path[:0] = [str(HERE), str(Path(__file__).parent)]

from gguf_weights import GgufFile  # noqa: E402
from tests.models.onnx.transformer import Exporter, Sizes, Weights  # noqa: E402

from counterlens.models import Model, load  # noqa: E402
from counterlens.models.base import TokenScores  # noqa: E402
from counterlens.models.files import embedded_model  # noqa: E402

NAMES = {"q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output"}
NAMES |= {"gate": "ffn_gate", "up": "ffn_up", "down": "ffn_down"}
CONTROL = 3  # the type of a control token


def sizes_of(file: GgufFile) -> Sizes:
    """The sizes of a Llama."""
    told = {name.removeprefix("llama."): value for name, value in file.metadata.items()}
    return Sizes(
        vocabulary=told["vocab_size"],
        layers=told["block_count"],
        heads=told["attention.head_count"],
        kv_heads=told["attention.head_count_kv"],
        width=told["embedding_length"],
        hidden=told["feed_forward_length"],
        theta=told["rope.freq_base"],
        eps=told["attention.layer_norm_rms_epsilon"],
    )


def weights_of(file: GgufFile, sizes: Sizes) -> Weights:
    """The weights of a Llama; GGUF interleaves the two halves of rotated pairs, the graph separates them."""
    weights: Weights = {
        "embedding": file.tensor("token_embd.weight"),
        "norm": file.tensor("output_norm.weight"),
    }
    for layer in range(sizes.layers):
        for name, stored in NAMES.items():
            rows = file.tensor(f"blk.{layer}.{stored}.weight")
            if name in "qk":
                pairs = rows.reshape(-1, sizes.head // 2, 2, sizes.width)
                rows = pairs.transpose(0, 2, 1, 3).reshape(rows.shape)
            weights[f"{layer}.{name}"] = rows.T
        weights[f"{layer}.attention_norm"] = file.tensor(f"blk.{layer}.attn_norm.weight")
        weights[f"{layer}.mlp_norm"] = file.tensor(f"blk.{layer}.ffn_norm.weight")
    return weights


def tokenizer_of(file: GgufFile) -> Tokenizer:
    """The byte-level tokenizer, which splits digits."""
    told = {name.removeprefix("tokenizer.ggml."): value for name, value in file.metadata.items()}
    names = {name: number for number, name in enumerate(told["tokens"])}
    tokenizer = Tokenizer(models.BPE(names, [tuple(pair.split(" ")) for pair in told["merges"]]))
    digits, bytes_ = (
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, bytes_])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(
        [name for name, kind in zip(told["tokens"], told["token_type"], strict=True) if kind == CONTROL]
    )
    return tokenizer


def convert(folder: Path, *, past: bool) -> None:
    """Write the embedded model as an export."""
    file = GgufFile(embedded_model())
    sizes = sizes_of(file)
    folder.mkdir(parents=True, exist_ok=True)
    exporter = Exporter(sizes, weights_of(file, sizes), past=past)
    exporter.graph().write(folder / "model.onnx", external=True)
    tokenizer_of(file).save(str(folder / "tokenizer.json"))
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "max_position_embeddings": file.metadata["llama.context_length"],
        "eos_token_id": file.metadata["tokenizer.ggml.eos_token_id"],
    }
    (folder / "config.json").write_text(json.dumps(config))


def timed_scores(model: Model, text: str) -> tuple[TokenScores, float]:
    """The scores, and the tokens per second."""
    model.score("x = 1\n")
    started = time.perf_counter()
    scores = model.score(text)
    return scores, len(scores) / (time.perf_counter() - started)


def main() -> None:
    """Convert, compare and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--no-cache", action="store_true", help="write an export without keys and values")
    parser.add_argument("--keep", action="store_true", help="reuse the folder if it exists")
    options = parser.parse_args()
    if not (options.keep and (options.folder / "model.onnx").is_file()):
        convert(options.folder, past=not options.no_cache)
    source = (HERE / "server/counterlens/models/stopping.py").read_text()
    with load(f"onnx:{options.folder}") as ours, load() as theirs:
        (a, our_speed), (b, their_speed) = timed_scores(ours, source), timed_scores(theirs, source)
        assert a.end.tolist() == b.end.tolist(), "the tokens differ"
    apart = np.abs(a.logprob - b.logprob)[1:]
    figures = {
        "correlation": round(float(np.corrcoef(a.logprob[1:], b.logprob[1:])[0, 1]), 4),
        "apart": round(float(apart.mean()), 4),
        "speed": round(our_speed / their_speed, 3),
    }
    print(f"{len(a)} tokens: {our_speed:.0f} per second with ONNX Runtime, {their_speed:.0f} with llama.cpp")
    print(json.dumps({"benchmark": "onnx_export", **figures}))


if __name__ == "__main__":
    main()
