"""The tables of Palacio et al. 2023 (ASTxplainer), from the exported records of a run.

    counterlens bench --task confidence --protocol astxplainer --data DATA --out RUN
    counterlens export RUN --output FOLDER
    python benchmarks/recompute/astxplainer.py FOLDER [SEED]

Written from the paper and its replication package. Prints JSON: rows by model and table, no refutations.
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
from scipy import stats

CATEGORIES = {
    "data structures": "tuple dictionary list set",
    "decision": "if_statement elif else",
    "exceptions": "try_statement except raise finally",
    "functional programming": "for_in_clause if_clause list_comprehension lambda",
    "iteration": "for_statement while_statement",
    "natural language": "identifier string comment",
    "operators": "comparison_operator boolean_operator binary_operator unary_operator",
    "scope": "return_statement ] ) } :",
    "testing": "assert_statement",
    "types": "integer float",
}
TREATMENTS = """for_statement while_statement return_statement ] ) if_statement comparison_operator lambda
    boolean_operator for_in_clause if_clause list_comprehension identifier string"""
OWN_TABLE = Path(__file__).parents[2] / "server" / "counterlens" / "python" / "syntax" / "concepts.py"

spearman = lambda rows: float(stats.spearmanr([row[1:] for row in rows])[0])  # noqa: E731
verdict = lambda value: "acceptable" if value >= 0.6 else "erroneous"  # noqa: E731


def medians(nodes, seed):
    """Section VI-B: the nodes of each type pooled over the corpus, the median of 500 bootstrap medians."""
    rows = []
    for category, kind in [(name, kind) for name, kinds in CATEGORIES.items() for kind in kinds.split()]:
        same = [row for row in nodes if row["kind"] == kind]
        pooled = np.array([value for row in same for value in row["confidences"]])
        if len(pooled):
            drawn = np.median(np.random.default_rng(seed).choice(pooled, (500, len(pooled))), axis=1)
            value, snippets = float(np.median(drawn)), len({row["position"] for row in same})
            rows.append([category, kind, snippets, len(pooled), value, float(np.std(drawn)), verdict(value)])
    return rows


def means(types):
    """Table I: Global and each category; all node types have equal weight."""
    rows = []
    for name in ("global", *CATEGORIES):
        inside = [row for row in types if name in ("global", row[0])]
        kinds = " ".join(CATEGORIES.values()) if name == "global" else CATEGORIES[name]
        if inside:
            values, error = [row[4] for row in inside], float(np.mean([row[5] for row in inside]))
            value, spread = float(np.mean(values)), float(stats.sem(values)) if len(values) > 1 else None
            rows.append(
                [name, f"{len(values)} of {len(kinds.split())}", value, spread, error, verdict(value)]
            )
    return rows


def extremes(categories, types):
    rows, named = [], [(row[1], row[4]) for row in types]
    for which, some in (("category", [*categories.items()][1:]), ("node type", named)):
        for end, pick in (("best", max), ("worst", min)):
            name, value = pick(some, key=lambda one: one[1])
            rows.append([f"{end} {which}", name, value, verdict(value)])
    return rows


def own(nodes):
    """Counterlens's own definition: the median over functions of the mean over a function's named nodes."""
    listed = re.findall(r'Category\.(\w+): (?:"""|")(.*?)"', OWN_TABLE.read_text(), re.DOTALL)
    names = {name.upper().replace(" ", "_").split("_PROG")[0]: name for name in CATEGORIES}
    of = {kind: names.get(key, "structure") for key, kinds in listed for kind in kinds.split()}
    inside = defaultdict(list)
    for row in nodes:
        for name in {of[row["kind"]], "global"} if of.get(row["kind"], "structure") != "structure" else ():
            inside[name, row["position"]] += row["confidences"] if row["named"] else []
    found = defaultdict(list)
    for (name, _), values in inside.items():
        found[name] += [np.mean(values)] if values else []
    return {name: float(np.median(values)) for name, values in found.items() if values}


def slope(treatment, held, loss):
    design = np.column_stack([treatment, held, np.ones(len(loss))])
    varies = len(loss) > 6 and np.ptp(treatment) > 1e-9
    return float(np.linalg.lstsq(design, loss, rcond=None)[0][0]) if varies else None


def table_two(records, nodes, seed):
    """Table II: absent concepts are 0; a snippet's confidence in a type is the mean over tokens."""
    kinds, rows = TREATMENTS.split(), {record["position"]: number for number, record in enumerate(records)}
    total, tokens = np.zeros((14, len(rows))), np.zeros((14, len(rows)))
    for row in (row for row in nodes if row["kind"] in kinds):
        place = kinds.index(row["kind"]), rows[row["position"]]
        total[place] += row["probability"] * row["tokens"]
        tokens[place] += row["tokens"]
    treatments = total / np.maximum(tokens, 1)
    held = np.array([[*one["confounders"].values()] for one in records], float)
    loss = np.array([one["cross_entropy"] for one in records])
    files = np.array([one["problem"].partition("::")[0] for one in records])
    groups = [np.flatnonzero(files == file) for file in dict.fromkeys(files)]
    draws = np.random.default_rng(seed).integers(0, (n := len(groups)), (500, n))
    samples = [np.concatenate([groups[i] for i in draw]) for draw in draws]
    tail = stats.norm.cdf(-((n / (n - 1)) ** 0.5) * stats.t.ppf(0.975, n - 1))
    found = {}
    for name, values in zip(("all concepts", *kinds), (treatments.mean(0), *treatments), strict=True):
        every = [slope(values[one], held[one], loss[one]) for one in samples]
        drawn = [one for one in every if one is not None]
        ends = np.quantile(drawn, [tail, 1 - tail]).tolist() if drawn else [None, None]
        with np.errstate(all="ignore"):  # a constant has no correlation
            pearson = [float(np.corrcoef(values, other)[0, 1]) for other in (*held.T, loss)]
        found[name] = [len(loss), *pearson, slope(values, held, loss), *ends]
    return found


def main(folder, seed=0):
    records = parquet.read_table(Path(folder) / "confidence.parquet").to_pylist()
    nodes = parquet.read_table(Path(folder) / "confidence-types.parquet").to_pylist()
    tables = {}
    for model in dict.fromkeys(record["model"] for record in records):
        mine, inside = ([row for row in rows if row["model"] == model] for rows in (records, nodes))
        types, ours, loss = medians(inside, seed), own(inside), [record["cross_entropy"] for record in mine]
        categories, tokens = means(types), sum(record["tokens"] for record in mine)
        low, high = stats.t.interval(0.95, len(loss) - 1, np.mean(loss), stats.sem(loss))
        known = {row[0]: row[2] for row in categories}
        both = [[name, value, ours.get(name)] for name, value in known.items()]
        tables[model] = {
            "the functions as a whole": [[len(mine), tokens, [float(np.mean(loss)), low, high]]],
            "AsC-Eval by category": categories,
            "AsC-Eval by node type": types,
            "best and worst concepts": extremes(known, types),
            "both definitions on the same scores": both,
            "agreement of both definitions": [[len(both) - 1, spearman(both[1:])]],
            "AsC-Eval performance, Table I": [[known.get(name) for name in ("global", *CATEGORIES)]],
            "effect of confidence on cross-entropy": table_two(mine, inside, seed),
        }
    print(json.dumps(tables))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
