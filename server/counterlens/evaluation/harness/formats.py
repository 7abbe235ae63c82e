"""The formats of other harnesses, by name, and writing one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from counterlens.errors import CounterlensError
from counterlens.evaluation.harness.evalplus import evalplus_files
from counterlens.evaluation.harness.inspect_log import inspect_files
from counterlens.evaluation.harness.lm_eval import lm_eval_files
from counterlens.evaluation.results import RunResults

HARNESSES: Mapping[str, Callable[[RunResults], Iterator[tuple[Path, str]]]] = {
    "evalplus": evalplus_files,
    "lm-eval": lm_eval_files,
    "inspect": inspect_files,
}
"""Each returns its files, as paths below a folder, and their texts."""


def export_for(harness: str, run: RunResults, folder: Path) -> list[Path]:
    """Write a run in the format of a harness.

    Args:
        harness: One of `HARNESSES`.
        run: The run, finished or not.
        folder: The folder, created if missing. Files with the same names are overwritten.

    Returns:
        The written files.

    Raises:
        DataError: the run has nothing that the harness could read.
        CounterlensError: the folder cannot be written.
    """
    files = list(HARNESSES[harness](run))
    try:
        for name, text in files:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise CounterlensError(
            f"{folder} cannot be written: {error.strerror or error}", "Choose another folder with --output"
        ) from None
    return [folder / name for name, _ in files]
