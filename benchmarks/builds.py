"""Measures the prompt speed of llama.cpp's best CPU variant on this machine, relative to the portable one.

It needs an environment whose llama-cpp-python was built with all variants (see docs/building.md); the
portable build equals the variant `haswell` (AVX2). Variants run in turn, in separate processes.

    python benchmarks/builds.py --python ENVIRONMENT/bin/python [--quick]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
from pathlib import Path

from counterlens.models.files import embedded_model

PORTABLE = "haswell"
CRASHES = "sapphirerapids"
"""Excluded: built with GCC 12, its AMX kernels crash at the first decode."""

SCORES = """
import ctypes, json, pathlib, llama_cpp
folder = pathlib.Path(llama_cpp.__file__).parents[1] / "bin"
print(json.dumps({path.stem.removeprefix("libggml-cpu-"): ctypes.CDLL(str(path)).ggml_backend_score()
                  for path in folder.glob("libggml-cpu-*.so")}))
"""

SPEED = """
import ctypes, pathlib, sys, time, llama_cpp as llama
variant, model, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
package = pathlib.Path(llama.__file__).parent
ggml = ctypes.CDLL(str(package / "lib" / "libggml.so.0"))  # the very file that llama.cpp is linked with
ggml.ggml_backend_load.restype = ctypes.c_void_p
ggml.ggml_backend_load.argtypes = [ctypes.c_char_p]
assert ggml.ggml_backend_load(str(package.parent / "bin" / f"libggml-cpu-{variant}.so").encode())
silent = llama.llama_log_callback(lambda *_: None)
llama.llama_log_set(silent, ctypes.c_void_p(0))
llama.llama_backend_init()
loaded = llama.llama_model_load_from_file(model.encode(), llama.llama_model_default_params())
settings = llama.llama_context_default_params()
settings.n_ctx, settings.n_batch, settings.n_ubatch = 1024, 512, 512
settings.n_threads = settings.n_threads_batch = 2
context = llama.llama_init_from_model(loaded, settings)
batch = llama.llama_batch_init(512, 0, 1)
for turn in range(rounds + 1):  # the first warms up
    llama.llama_memory_clear(llama.llama_get_memory(context), True)
    begun = time.perf_counter()
    batch.n_tokens = 512
    for i in range(512):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0] = 1000 + i, i, 1, 0
        batch.logits[i] = i == 511
    assert llama.llama_decode(context, batch) == 0
    if turn:
        print(512 / (time.perf_counter() - begun))
"""


def main() -> None:
    """Measure the variants in turn and compare medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--python", type=Path, required=True, help="interpreter of an environment with all variants"
    )
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    scores: dict[str, int] = json.loads(_ask(chosen.python, SCORES))
    if PORTABLE not in scores:
        parser.error("this llama-cpp-python was not built with all variants; see docs/building.md")
    usable = {name: score for name, score in scores.items() if score and name != CRASHES}
    best = max(usable, key=lambda name: usable[name])
    speeds: dict[str, list[float]] = {PORTABLE: [], best: []}
    for _ in range(2 if chosen.quick else 5):
        for name, known in speeds.items():
            known += map(float, _ask(chosen.python, SPEED, name, str(embedded_model()), "4").split())
    for name, known in speeds.items():
        print(f"{name:16} {statistics.median(known):8.1f} tokens per second")
    ratio = statistics.median(speeds[best]) / statistics.median(speeds[PORTABLE])
    print(
        json.dumps({"benchmark": "builds", "best": best, "ratios": {"best_over_portable": round(ratio, 3)}})
    )


def _ask(python: Path, program: str, *arguments: str) -> str:
    """Return the output of a small program in the given environment."""
    command = [str(python), "-c", program, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
