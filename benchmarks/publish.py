"""Keeps the records of a run in the repository: `python benchmarks/publish.py RUN NAME MODEL`.

Writes docs/results/records/NAME: the output of `counterlens export` with its manifest, without what data and
seed give again (prompts, programs, diffs), and without the paths of the machine. MODEL is the short name of
the run's model. `benchmarks/recompute/pages.py` then fills the tables of the pages.
"""

from __future__ import annotations

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
AGAIN = {"diff", "copier", "description", "prompt", "prompt_end", "program", "said", "seconds"}
"""Fields that data, seed and the other fields give again, or that no figure needs."""
_FOLDERS = re.compile(r"(?<![\w.~])(?:~|\.{1,2})?/(?:[\w.+@-]+/)*(?=[\w.+-])")


def kept(value):
    """A value without the fields that can be made again."""
    if isinstance(value, dict):
        return {key: kept(inner) for key, inner in value.items() if key not in AGAIN}
    return [kept(inner) for inner in value] if isinstance(value, list) else value


def publish(run: Path, name: str, model: str) -> None:
    """Write the records of one run."""
    folder = RECORDS / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as exported:
        command = [sys.executable, "-m", "counterlens", "export", str(run), "--output", exported]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for file in sorted(Path(exported).glob("*.parquet")):
            rows = [kept(row) for row in parquet.read_table(file).to_pylist()]
            for row in rows:
                if "model" in row:
                    row["model"] = model
                row.pop("id", None)
            if file.name == "manifests.parquet":
                write_manifests(rows, folder / "manifests.json")
            elif not file.stem.endswith("-refused"):
                parquet.write_table(arrow.Table.from_pylist(rows), folder / file.name, compression="zstd")


def write_manifests(rows: list[dict[str, str]], path: Path) -> None:
    """Write the manifests as readable text, with file names instead of paths."""
    documents = {row["digest"]: json.loads(_FOLDERS.sub("", row["document"])) for row in rows}
    path.write_text(json.dumps(documents, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    publish(Path(sys.argv[1]), *sys.argv[2:4])
