"""Read a program from its file, whatever its content."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

from counterlens.errors import SourceError
from counterlens.judging.base import Evidence, Judgement, Verdict

LARGEST = 4 << 20  # maximum bytes of a candidate


def read_program(path: Path) -> str | Verdict:
    """A candidate's text, or the verdict that the file is not a program.

    Raises:
        SourceError: the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}", "Check the path") from None
    if len(data) > LARGEST:
        reason = f"it is larger than {LARGEST >> 20} MiB"
        return Verdict(Judgement.REFUSED, Evidence("none", 0, None, reason))
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.TextIOWrapper(io.BytesIO(data), encoding).read()
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        return Verdict(Judgement.INVALID, Evidence("none", 0, None, f"it is not text: {error}"))
