"""Measures how well interventional inference finds dependences in CRUXEval functions (docs/influence.md).

    python benchmarks/influence.py --data DATA                 # the figures of docs/results/influence.md
    python benchmarks/influence.py --data DATA --quick         # eight functions, under a minute
    python benchmarks/influence.py --data DATA --lead ""       # without the lead that anchors attention
    python benchmarks/influence.py --data DATA --second M      # compare with another model
    python benchmarks/influence.py --data DATA --degraded      # compare with the embedded model in Q2_K

DATA/cruxeval contains the dataset. Functions are shuffled with a seed; those in even places were used to
choose between estimators, and only those in odd places are reported. The truth is the dependence graph, and
for data also the definition-use pairs of names observed when the function runs on the dataset's input, among
the statements that ran. Intervals are 95 % bootstrap intervals over functions. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from influence_cases import measured, subjects
from influence_tables import compared, report

from counterlens.models import Model, load
from counterlens.models.files import EMBEDDED_MODEL
from counterlens.models.registry import Options
from counterlens.probes.dependence.examined import ExaminedFunction
from counterlens.probes.dependence.reactions import lead_of


def surprise(model: Model, chosen: list[tuple[ExaminedFunction, str]], lead: str) -> float:
    """Mean -log p of the functions' tokens, in nats: a measure of a model's capability on this code."""
    scores = [
        model.score(subject.text, context=lead or "\n", alternatives=0).logprob for subject, _ in chosen
    ]
    return float(-np.nanmean(np.concatenate(scores)))


def degraded(folder: Path) -> Path:
    """The embedded model, quantised again to Q2_K (if its shapes allow; the rest to 4 bits)."""
    import ctypes

    import llama_cpp

    from counterlens.models.files import embedded_model

    path = folder / "degraded-Q2_K.gguf"
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype, parameters.allow_requantize = llama_cpp.LLAMA_FTYPE_MOSTLY_Q2_K, True
    llama_cpp.llama_log_set(_SILENT, ctypes.c_void_p(0))
    status = llama_cpp.llama_model_quantize(
        str(embedded_model()).encode(), str(path).encode(), ctypes.byref(parameters)
    )
    if status:
        sys.exit(f"llama.cpp could not quantise the model (status {status})")
    return path


def _silent(_level: int, _text: bytes, _data: object) -> None:
    """Silence llama.cpp."""


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default=EMBEDDED_MODEL)
    parser.add_argument("--second", help="model to compare with on the same functions")
    parser.add_argument("--degraded", action="store_true", help="compare with the embedded model in Q2_K")
    parser.add_argument("--functions", type=int, default=100)
    parser.add_argument("--lead", default=lead_of("python"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="use eight functions")
    given = parser.parse_args()
    chosen = list(subjects(given.data, given.seed))[: 8 if given.quick else given.functions]
    names, cases, figures, begun = [given.model], [], {}, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        if given.second or given.degraded:
            names.append(given.second or str(degraded(Path(folder))))
        for name in names:
            with load(name, Options(threads=given.threads, context=2048)) as model:
                nats = surprise(model, chosen, given.lead)
                print(f"\n{model.info.name}: {nats:.3f} nats per token")
                cases.append(measured(model, chosen, given.lead))
                figures[model.info.name] = {"nats_per_token": nats, **report(cases[-1])}
    document: dict[str, Any] = {"benchmark": "influence", "functions": len(chosen), "models": figures}
    if len(cases) > 1:
        print()
        document["difference"] = compared(*cases)
    estimators = next(iter(figures.values()))["data"]["estimators"]
    document["ratios"] = {
        f"{key}: {name} to {baseline}": figure[key]["estimators"][name]["auroc"]["value"]
        / figure[key]["estimators"][baseline]["auroc"]["value"]
        for figure in list(figures.values())[:1]
        for key, name, baseline in (
            ("data", "hide, reads", "baseline: name recurs"),
            ("control", "negate and neutralise", "baseline: indentation"),
        )
        if name in estimators or key == "control"
    }
    print(f"\n{time.monotonic() - begun:.0f} s")
    print(json.dumps(document))
    return 0


if __name__ == "__main__":
    import llama_cpp as _llama

    _SILENT = _llama.llama_log_callback(_silent)
    sys.exit(main())
