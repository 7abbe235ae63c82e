"""Reads the docstrings of packages, and lists the functions whose docstring and code disagree.

    python benchmarks/package_marks.py FOLDER... [--model M] [--functions N] [--methods] [--records FILE]

Functions of at most `LONGEST` lines with a docstring of at least a sentence, of all Python files below the
folders, in a random order, until N of them were read; marks by what the docstring states and by versions that
the model writes (`counterlens.probes.reading`), as `counterlens check` has them. Whether a mark is right is
for people to say: each is printed with its docstring. FILE (`.jsonl.gz`, a row for each function) is
continued. The last line is one JSON document.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from readings import keep, kept

from counterlens.doubt.generating import scopes
from counterlens.doubt.scope import DoubtScope
from counterlens.errors import CounterlensError, SourceError
from counterlens.metrics.effects import wilson
from counterlens.models import load
from counterlens.models.cache import AnswerStore, CachedModel
from counterlens.models.registry import Options
from counterlens.probes.execution.translation import description
from counterlens.probes.probe import Target
from counterlens.probes.reading.checking import DocstringReader
from counterlens.probes.reading.readings import require_readable
from counterlens.progress import Steps
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

LONGEST = 40
"""Lines of a function, with its docstring."""


def readable(folders: list[Path]) -> list[tuple[str, DoubtScope]]:
    """The functions with a docstring that can be read, named by folder, file and function."""
    known = []
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            if any(part.startswith("test") for part in path.relative_to(folder).parts):
                continue
            document = Document(path.read_text("utf-8"), path=path)
            for scope in scopes(document):
                target = Target(document, scope.function.qualname)
                lines = scope.text(scope.function.start, scope.function.end).count("\n") + 1
                try:
                    require_readable(target)
                except SourceError:
                    continue
                if lines <= LONGEST:
                    name = f"{folder.name}/{path.relative_to(folder)}::{scope.function.qualname}"
                    known.append((name, scope))
    return known


def read_function(reader: DocstringReader, name: str, scope: DoubtScope) -> dict[str, Any]:
    """What reading a docstring gave: a mark, silence, or why nothing could be read."""
    started, before = time.monotonic(), reader.unread.copy()
    try:
        mark = reader.mark(scope, Steps())
    except CounterlensError as error:
        return {"function": name, "unread": error.message}
    row: dict[str, Any] = {"function": name, "seconds": round(time.monotonic() - started, 1)}
    if reason := next(iter(reader.unread - before), ""):
        return row | {"unread": reason}
    if mark is None:
        return row
    target = Target(scope.document, scope.function.qualname)
    told = {"call": mark.call, "code": mark.code, "versions": mark.versions}
    of = {"agreeing": mark.agreeing, "of": mark.of}
    return row | {"mark": told | of, "docstring": description(target, scope.function)}


def main() -> int:
    """Read and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--functions", type=int, default=60, help="how many are read")
    parser.add_argument("--methods", action="store_true", help="methods only")
    parser.add_argument("--records", type=Path, help="a file of rows, which is continued (.jsonl.gz)")
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    functions = readable(given.folders)
    if given.methods:
        functions = [(name, scope) for name, scope in functions if "." in scope.function.qualname]
    random.Random(0).shuffle(functions)  # noqa: S311 - so that any number of the first ones is a sample
    rows = kept(given.records, "function")
    store = AnswerStore(None)
    try:
        with load(given.model, Options(threads=given.threads)) as opened:
            reader = DocstringReader(CachedModel(opened, store), best_sandbox())
            for name, scope in functions:
                if sum("unread" not in row for row in rows.values()) >= given.functions:
                    break
                if name in rows:
                    continue
                rows[name] = read_function(reader, name, scope)
                print(json.dumps(rows[name]), file=sys.stderr, flush=True)
                keep(given.records, rows.values())
    except CounterlensError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    finally:
        store.close()
    read = [row for row in rows.values() if "unread" not in row]
    marked = [row for row in read if "mark" in row]
    for row in marked:
        mark = row["mark"]
        print(f"{row['function']}: {mark['call']} gives {mark['code']}, versions: {mark['versions']}")
        print(f"    {row['docstring']!r}")
    share = wilson(len(marked), len(read))
    summary = {"functions": len(functions), "tried": len(rows), "read": len(read), "marked": len(marked)}
    print(json.dumps({"benchmark": "package_marks", **summary, "share": [share.low, share.high]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
