"""Counts the functions of a repository with a usable judge, and gives the reasons for the others.

    python benchmarks/judges.py FOLDER --functions 25 --seed 1

A judge is usable if it passes the unchanged file, and fails the file without the function's body. The
functions are sampled with the seed from all that are neither in a test file nor in another function.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from pathlib import Path

from counterlens.datasets.repository import Repository, outermost
from counterlens.judging.base import Setting
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge, why_no_judge
from counterlens.probes.prompts.function_text import hollow
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function


def main() -> None:
    """Sample functions, find the judge of each, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--functions", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found: Counter[str] = Counter()
    started = time.monotonic()
    for document, function in drawn(options.folder.resolve(), options.seed)[: options.functions]:
        begun = time.monotonic()
        outcome, detail = examine(document, function)
        found[outcome] += 1
        seconds = time.monotonic() - begun
        where = document.path.name if document.path else ""
        print(f"{outcome:28} {seconds:5.1f} s  {where}::{function.qualname}  {detail}", flush=True)
    print(f"{time.monotonic() - started:.0f} s")
    for outcome, count in found.most_common():
        print(f"{count:4}  {outcome}")


def drawn(folder: Path, seed: int) -> list[tuple[Document, Function]]:
    """All functions of a repository, shuffled with a seed."""
    found = [
        (document, function)
        for file in Repository().files(folder)
        for document in [Document.read(file, "python")]
        for function in outermost(document)
    ]
    random.Random(seed).shuffle(found)  # noqa: S311 - a draw that can be repeated
    return found


def examine(document: Document, function: Function) -> tuple[str, str]:
    """Describe the judge of a function: a short outcome and its detail on one line."""
    sandbox = best_sandbox()
    judge = find_judge(
        document,
        function,
        Setting(sandbox, interpreter_for(document.path), vetted=True, surveyed=True),
        witnessed=False,
    )
    if judge is None:
        return "nothing judges it", why_no_judge(
            document, function, Setting(sandbox, interpreter_for(document.path))
        ).replace("\n", " ")[:160]
    verdict = judge.judge(document.text)
    if not verdict.passed:
        evidence = verdict.evidence
        return f"as it stands: {verdict.judgement}", f"{evidence.failed} {evidence.message}".replace(
            "\n", " "
        )[:160]
    if judge.judge(hollow(document, function).text).passed:
        return "passes without its body", judge.described
    return f"usable: {judge.attribution}", judge.described


if __name__ == "__main__":
    main()
