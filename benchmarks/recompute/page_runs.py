"""The table of kept runs: what was asked about how many functions; imports nothing from Counterlens."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pyarrow.parquet as parquet


def run(folder):
    """A row for each model and task of a run."""
    manifests = json.loads((folder / "manifests.json").read_text(encoding="utf-8")).values()
    titles = dict.fromkeys(each["dataset"].get("title", each["dataset"]["dataset"]) for each in manifests)
    data, records = ", ".join(titles), folder / "records.parquet"
    for file in sorted(folder.glob("*.jsonl.gz")):
        model = "none" if folder.name.endswith("table1") else file.name.removesuffix(".jsonl.gz")
        lines = gzip.decompress(file.read_bytes()).splitlines()
        yield [f"`{folder.name}`", data, model, "", len(lines), ""]
    if not records.exists():
        return
    rows = parquet.read_table(records).to_pylist()
    seen = Counter((row["model"], row["task"]) for row in rows)
    probed = Counter((row["model"], row["task"]) for row in rows if row["outcome"] == "probed")
    for (model, task), n in seen.items():
        yield [f"`{folder.name}`", data, model, task, n, probed[model, task]]


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    head = ["records", "data", "model", "task", "functions", "of which probed"]
    return {"runs": (head, [row for folder in folders for row in run(folder)])}
