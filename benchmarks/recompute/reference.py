"""The usual scores from an export: `python reference.py OUT/parquet`; imports nothing from Counterlens.

The record of each answer says what it scores; shares, intervals and agreement are computed here.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as parquet
from intervals import share

TABLE = Path(__file__).parents[2] / "server" / "counterlens" / "probes" / "reference" / "published.toml"


def published(named):
    """The published scores of a model, in percent, by its own name."""
    name = "-".join(named.lower().replace("_", "-").split())
    for model in tomllib.loads(TABLE.read_text(encoding="utf-8"))["model"]:
        has, lacks = model["words"], model.get("without", [])
        described = all(word in name for word in has) and not any(word in name for word in lacks)
        if described or name in model.get("ids", []):
            return model["scores"]
    return {}


def scored(folder):
    """Whether each answer is right, with its problem, by model and score."""
    names = {
        (row["model"], row["problem"]): row["named"]
        for row in parquet.read_table(folder / "reference.parquet").to_pylist()
    }
    rights, cut, named = defaultdict(list), defaultdict(int), {}
    for row in parquet.read_table(folder / "reference-answers.parquet").to_pylist():
        scores = row["scores"]
        for score, right in (json.loads(scores) if isinstance(scores, str) else scores).items():
            if right is not None:
                key = row["model"], score
                rights[key].append((row["problem"], right))
                cut[key] += row["finish"] == "length"
                named[row["model"]] = names[row["model"], row["problem"]]
    return rights, cut, named


def tables(folder):
    """A row for each model and score: n, the share with its interval, the published value, and agreement."""
    rights, cut, named = scored(folder)
    rows = []
    for (model, score), values in rights.items():
        yours, value = share(values), published(named[model]).get(score)
        agrees = None
        if value is not None:
            low, high = 100 * yours["low"], 100 * yours["high"]
            agrees = "yes" if low <= value <= high else "no, lower" if value > high else "no, higher"
        shown = None if value is None else f"{value:.1f}%"
        rows.append([model, score, yours["n"], yours, shown, agrees, cut[model, score]])
    return {"usual scores": rows}


if __name__ == "__main__":
    print(json.dumps(tables(Path(sys.argv[1])), indent=1))
