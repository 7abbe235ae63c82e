"""Scores computed independently: a small program over the low-level API, run in a process of its own.

Usage: python independent.py MODEL.gguf GROUP < TEXT > scores.json, where GROUP is the number of tokens
decoded at once. It shares no code with Counterlens, keeps the whole vocabulary, and sums in float64.
"""

from __future__ import annotations

import ctypes
import json
import sys

import llama_cpp as llama
import numpy as np


def main() -> None:
    path, group = sys.argv[1], int(sys.argv[2])
    text = sys.stdin.buffer.read()
    quiet = llama.llama_log_callback(lambda *_: None)
    llama.llama_log_set(quiet, ctypes.c_void_p(0))
    model = llama.llama_model_load_from_file(path.encode(), llama.llama_model_default_params())
    vocabulary = llama.llama_model_get_vocab(model)
    buffer = (ctypes.c_int32 * (len(text) + 8))()
    count = llama.llama_tokenize(vocabulary, text, len(text), buffer, len(buffer), False, False)
    tokens = list(buffer[:count])
    parameters = llama.llama_context_default_params()
    parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = 2048
    parameters.n_outputs_max = parameters.n_outputs_max_per_seq = 2048
    parameters.n_threads = parameters.n_threads_batch = 1  # two would wait for each other when busy
    context = llama.llama_init_from_model(model, parameters)
    batch = llama.llama_batch_init(2048, 0, 1)
    size = llama.llama_vocab_n_tokens(vocabulary)
    scores = []
    for low in range(0, count - 1, group):
        part = tokens[low : min(low + group, count - 1)]
        batch.n_tokens = len(part)
        for i, token in enumerate(part):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, low + i, 1
            batch.seq_id[i][0], batch.logits[i] = 0, 1
        assert llama.llama_decode(context, batch) == 0
        for i in range(len(part)):
            pointer = llama.llama_get_logits_ith(context, i)
            logits = np.ctypeslib.as_array(pointer, (size,)).astype(np.float64)
            log_mass = logits.max() + np.log(np.exp(logits - logits.max()).sum())
            logprobs = logits - log_mass
            target = tokens[low + i + 1]
            scores.append(
                {
                    "logprob": logprobs[target],
                    "entropy": float(-(np.exp(logprobs) * logprobs).sum()),
                    "rank": int((logprobs > logprobs[target]).sum()),
                    "best": float(logprobs.max()),
                }
            )
    json.dump(scores, sys.stdout)


if __name__ == "__main__":
    main()
