"""Short names of models for tables: a path is shown as the name of its file; manifests keep the path.

A file named like `coder-0.5b-instruct-q4_k_m.gguf` is shown as `coder-0.5b`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

_EXPORT = "onnx:"
_QUANTIZED = re.compile(r"(.+?)(?:[-_.](?:instruct|chat|it))?[-_.](?:i?q\d|f16|bf16)\w*\.gguf", re.IGNORECASE)


def model_labels(specs: Sequence[str]) -> dict[str, str]:
    """The short name of each model of a run, by the user's name for it; no two are the same.

    Args:
        specs: The models as the user named them, each once.
    """
    depth = 0
    labels = _shorten(specs, depth)
    while len({*labels.values()}) < len(labels) and depth < max(len(PurePath(spec).parts) for spec in specs):
        depth += 1  # models of the same name are told apart by the folders above them
        longer, names = _shorten(specs, depth), list(labels.values())
        labels = {spec: longer[spec] if names.count(label) > 1 else label for spec, label in labels.items()}
    return labels if len({*labels.values()}) == len(labels) else {spec: spec for spec in specs}


def _shorten(specs: Sequence[str], depth: int) -> dict[str, str]:
    """The last parts of paths, at depth 0 without quantization; other names as they are."""
    if depth:
        return {spec: _last_parts(spec, depth) for spec in specs}
    names = ((spec, _QUANTIZED.fullmatch(PurePath(spec).name)) for spec in specs)
    return {spec: name[1] if name else _last_parts(spec, 1) for spec, name in names}


def _last_parts(spec: str, depth: int) -> str:
    exported = spec.startswith((f"{_EXPORT}/", f"{_EXPORT}.", f"{_EXPORT}~"))
    path = spec.removeprefix(_EXPORT) if exported else spec
    if ":" in path.partition("/")[0] or "/" not in path:
        return spec  # remote:NAME, hf:OWNER/REPO/FILE.gguf, a name
    return f"{_EXPORT if exported else ''}{'/'.join(PurePath(path).parts[-depth:])}"
