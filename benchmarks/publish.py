"""Keeps the records of a run in the repository: `python benchmarks/publish.py RUN NAME [MODEL]`.

Writes docs/results/records/NAME: the output of `counterlens export` with its manifest, without what data and
seed give again (prompts, programs, diffs), and without the paths of the machine. MODEL is the short name of
the run's model; without it, as for a run of several models, its own names stay. The run may still be going
on: it is copied, and the finished part is kept. RUN may also be a file of JSON lines that
another benchmark wrote, with `FILE.manifests.json` beside it, or a folder of such files; these are
compressed. `benchmarks/recompute/pages.py` then fills the tables.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as arrow
import pyarrow.parquet as parquet

RECORDS = Path(__file__).parents[1] / "docs" / "results" / "records"
AGAIN = {"diff", "copier", "description", "prompt", "prompt_end", "program", "seconds"}
AGAIN |= {"assumptions", "message", "specification", "concepts", "node_types"}
"""Fields that data, seed and the other fields give again, or that no figure needs."""
_FOLDERS = re.compile(r"(?<![\w.~])(?:~|\.{1,2})?/(?:[\w.+@-]+/)*(?=[\w.+-])")


def kept(value):
    """A value without the fields that can be made again."""
    if isinstance(value, dict):
        return {key: kept(inner) for key, inner in value.items() if key not in AGAIN}
    return [kept(inner) for inner in value] if isinstance(value, list) else value


def publish(run: Path, name: str, model: str | None = None) -> None:
    """Write the records of one run."""
    folder = RECORDS / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as exported:
        copy = Path(exported) / "run"
        shutil.copytree(run, copy, ignore=shutil.ignore_patterns("answers.sqlite*", "parquet"))
        command = [sys.executable, "-m", "counterlens", "export", str(copy), "--output", exported]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for file in sorted(Path(exported).glob("*.parquet")):
            rows = [kept(row) for row in parquet.read_table(file).to_pylist()]
            if not rows:
                continue
            for row in rows:
                if model and "model" in row:
                    row["model"] = model
                row.pop("id", None)
            if file.name == "manifests.parquet":
                write_manifests(rows, folder / "manifests.json")
            elif not file.stem.endswith("-refused"):
                table = arrow.Table.from_pylist(rows)
                parquet.write_table(narrow(table), folder / file.name, compression="zstd")


def narrow(table: arrow.Table) -> arrow.Table:
    """A table whose lists of floats have half the size: seven digits are more than any page shows."""
    wide, short = arrow.list_(arrow.float64()), arrow.list_(arrow.float32())
    kinds = [short if field.type.equals(wide) else field.type for field in table.schema]
    return table.cast(arrow.schema(zip(table.schema.names, kinds, strict=True)))


def publish_lines(given: Path, name: str) -> None:
    """Keep files of JSON lines."""
    folder = RECORDS / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    manifests = {}
    for file in sorted(given.glob("*.jsonl")) if given.is_dir() else [given]:
        text = _FOLDERS.sub("", file.read_text(encoding="utf-8"))
        (folder / f"{file.name}.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        manifests |= json.loads(file.with_suffix(".manifests.json").read_text(encoding="utf-8"))
    text = json.dumps(manifests, indent=1, ensure_ascii=False)
    (folder / "manifests.json").write_text(text + "\n", encoding="utf-8")


def write_manifests(rows: list[dict[str, str]], path: Path) -> None:
    """Write the manifests as readable text, with file names instead of paths."""
    documents = {row["digest"]: json.loads(_FOLDERS.sub("", row["document"])) for row in rows}
    path.write_text(json.dumps(documents, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    source = Path(sys.argv[1])
    if (source / "run.sqlite").exists():
        publish(source, *sys.argv[2:4])
    else:
        publish_lines(source, sys.argv[2])
