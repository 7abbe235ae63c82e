"""The number of parameters of a model: from its file, else from its name."""

from __future__ import annotations

import re
from collections.abc import Mapping

PARAMETERS = "parameters"
"""The key in `ModelInfo.details` for the number, if the back end knows it."""

# Not after an x: the experts of 8x7B share parameters, so their product is not the number.
_SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)(m|b|t)(?![a-z0-9])", re.IGNORECASE)
_UNITS = {"m": 10**6, "b": 10**9, "t": 10**12}


def parameter_count(details: Mapping[str, str], name: str) -> int | None:
    """The number of parameters.

    Args:
        details: The details of `ModelInfo`.
        name: The model's name, such as `Qwen2.5-Coder-1.5B-Instruct`.

    Returns:
        The number; None if neither says it.
    """
    count = details.get(PARAMETERS, "")
    if count.isdecimal() and int(count):
        return int(count)
    size = _SIZE.search(name)
    return round(float(size[1]) * _UNITS[size[2].lower()]) if size else None


def given_count(text: str) -> int | None:
    """The number in a text such as `7B`, `1.5b` or `135000000`; None if there is none."""
    size = _SIZE.fullmatch(text.strip())
    if size:
        return round(float(size[1]) * _UNITS[size[2].lower()]) or None
    return int(text) or None if text.strip().isdecimal() else None


def short_count(parameters: int) -> str:
    """A number of parameters in short form: `135M`, `1.5B`."""
    for unit, size in (("T", 10**12), ("B", 10**9), ("M", 10**6)):
        if parameters >= size:
            return f"{parameters / size:.3g}{unit}"
    return str(parameters)
