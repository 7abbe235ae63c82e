"""The table of kept runs: what was asked about how many functions; imports nothing from Counterlens."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from itertools import pairwise

import pyarrow.parquet as parquet
from intervals import size


def run(folder):
    """A row for each model and task of a run."""
    manifests = json.loads((folder / "manifests.json").read_text(encoding="utf-8")).values()
    titles = dict.fromkeys(each["dataset"].get("title", each["dataset"]["dataset"]) for each in manifests)
    data, records = ", ".join(titles), folder / "records.parquet"
    for file in sorted(folder.glob("*.jsonl.gz")):
        model = "none" if folder.name.endswith("table1") else file.name.removesuffix(".jsonl.gz")
        lines = gzip.decompress(file.read_bytes()).splitlines()
        yield [f"`{folder.name}`", data, model, "", len(lines), "", ""]
    if not records.exists():
        return
    rows = parquet.read_table(records).to_pylist()
    # The versions that have these options begin their functions in a random order.
    options = json.dumps([manifest["options"] for manifest in manifests])
    random = any(name in options for name in ("ask_by", "added_mutations", "sites"))
    seen = Counter((row["model"], row["task"]) for row in rows)
    probed = Counter((row["model"], row["task"]) for row in rows if row["outcome"] == "probed")
    planned = max(functions_of(manifest) for manifest in manifests)
    for (model, task), n in seen.items():
        # The items of one model and task follow those of another.
        places = {row["position"] % planned for row in rows if (row["model"], row["task"]) == (model, task)}
        yield [
            *(f"`{folder.name}`", data, model, task, n, probed[model, task]),
            sample(places, planned, random=random),
        ]


def functions_of(manifest):
    """The number of functions that a run was to ask about."""
    records, limit = manifest["dataset"]["records"], manifest["parameters"]["limit"]
    return min(records, limit or records)


def sample(places, planned, *, random=False):
    """Which of the functions in their order a run has: a stopped one may have those at one or both ends only.

    Args:
        planned: The number of functions that it was to ask about.
        random: Whether it began them in a random order.
    """
    places = sorted(places)
    edges = [-1, *places, planned]
    gaps = [at for at, (low, high) in enumerate(pairwise(edges)) if high - low > GAP]
    if not gaps:
        return "as drawn"
    if random:
        return "a random part"
    parts = [places[start:end] for start, end in pairwise([0, *gaps, len(places)]) if start < end]
    shown = [f"{part[0]} to {part[-1]}" if len(part) > 1 else f"{part[0]}" for part in parts]
    return f"stopped: {', '.join(shown)}"


GAP = 6
"""More functions without a record, one after another, than are ever left out."""
CACP, ASTX, CODEMIND, OPERATORS = (
    "[CACP](cacp.md)",
    "astxplainer.md",
    "codemind.md",
    "[operators](operators.md)",
)
EXPERIMENTS = [
    (
        *("Hooda et al. 2024", "counterfactual pairs, Table 1", "cacp-table1", ""),
        *("`python benchmarks/counterfactual_pairs.py OUT humaneval mbpp`", CACP),
    ),
    (
        *("", "Tables 2 and 3, Figures 3 and 4, HumanEval", "cacp-humaneval-", ""),
        *("`--protocol cacp --data humaneval`", CACP),
    ),
    ("", "the same, MBPP", "cacp-mbpp-", "", "`--protocol cacp --data mbpp`, or `mbpp-test`", CACP),
    (
        *("", "whole programs, CodeContests", "cacp-codecontests-", ""),
        *("`--protocol cacp --data codecontests-folders`", CACP),
    ),
    (
        *("", "earlier and later cuts, Table 4", "cacp-cuts-", "SmolLM2 40"),
        "`--protocol cacp --cut-range 0.4-0.6 --cut-range 0.6-0.8 --cut-range 0.8-1.0`",
        "[CACP](cacp.md#table-4-earlier-and-later-cuts)",
    ),
    (
        *("", "repair, Table 5", "cacp-repair-", "SmolLM2 30"),
        "`--protocol cacp --task repair --data humanevalpack`",
        "[CACP](cacp.md#table-5-repair)",
    ),
    (
        *("Palacio et al. 2023", "Tables I and II, Figures 3 and 6", "astxplainer-humaneval-", "SmolLM2 40"),
        "`--protocol astxplainer --task confidence --data humaneval`",
        f"[ASTxplainer]({ASTX})",
    ),
    (
        *("", "on code published after the training", "astxplainer-fresh-", ""),
        "`… --data codesearchnet:OUT/fresh.jsonl`",
        f"[ASTxplainer]({ASTX}#code-published-after-the-training)",
    ),
    ("", "the survey of developers, Table III", "", "needs people", "", ""),
    (
        *(
            "Liu et al. 2024",
            "execution, Tables I and IV, Figures 3, 4, 6 to 8",
            "codemind-ier-",
            "SmolLM2 24",
        ),
        "`--protocol codemind --task execution --data humaneval`, or `cruxeval`, `codenet`",
        f"[CodeMind]({CODEMIND}), [on Java](codemind-java.md)",
    ),
    (
        *("", "code that it wrote itself, Table II", "codemind-der-", "SmolLM2 60"),
        "`--protocol codemind --task dependent-execution`",
        f"[CodeMind]({CODEMIND}#code-that-it-wrote-itself-table-ii)",
    ),
    (
        *("", "code that it translated from Java, Table III", "codemind-translation-", ""),
        "`--protocol codemind --task dependent-execution --from java --data humaneval-x`",
        f"[CodeMind]({CODEMIND}#translation-table-iii)",
    ),
    (
        *("", "a test in the description, section IV-C", "codemind-sr-", "SmolLM2 10"),
        "`--protocol codemind --task specification`",
        f"[CodeMind]({CODEMIND}#a-test-in-the-description-section-iv-c)",
    ),
    (
        *("Ahmed et al. 2024", "Tables 2 to 9, Figures 6 and 7", "operators-", "SmolLM2 30; Java 28"),
        "`--protocol operators --task operator --task embedding --data humaneval`",
        OPERATORS,
    ),
    (
        *("", "a masked model of the paper", "", "needs weights that no package registry has"),
        "`… --model onnx:PATH`",
        "[ONNX](../onnx.md)",
    ),
    (
        *("Nguyen et al. 2024", "Tables 2 to 7, RQ2 and RQ3", "empica-", "SmolLM2 40"),
        "`--protocol empica --task summary --task name --task output --task dependence --api chat`",
        "[EMPICA](empica.md)",
    ),
    (
        *("Xie et al. 2025", "dependences, Python and Java (C is only read)", "core-", "SmolLM2 4; Java 3"),
        "`--protocol core --task dependence --data CORE`",
        "[CoRe](core.md)",
    ),
    (
        *("ours", "has the model seen this code?", "recognition", ""),
        "`python benchmarks/recognition.py`",
        "[recognition](recognition.md)",
    ),
    (
        *("", "effects beside recognition", "seen-and-fresh-effects", ""),
        "`python benchmarks/seen_and_fresh.py effects`",
        "[recognition](recognition.md#effects-beside-recognition)",
    ),
    (
        *("after Wei et al. 2025", "are two functions equivalent?", "equivalence-humaneval-", ""),
        "`--task equivalence --data humaneval`",
        "[comprehension](comprehension.md)",
    ),
    (
        *(
            "after Haroon et al. 2025",
            "which line is wrong, also in a rewritten version?",
            "localisation-humaneval-",
            "",
        ),
        "`--task localisation --data humaneval`",
        "[comprehension](comprehension.md)",
    ),
    (
        *("after Chen et al. 2024", "lines, states, output and input of a call", "runtime-humaneval-", ""),
        "`--task runtime --data humaneval`",
        "[comprehension](comprehension.md)",
    ),
    (
        *("", "the same, on code published after the training", "runtime-fresh-", ""),
        *("`--task runtime --data repo:PACKAGES`", "[comprehension](comprehension.md#on-packages)"),
    ),
    (
        *("", "the same, on packages of 2017 to 2019", "runtime-older-", ""),
        *("`--task runtime --data repo:PACKAGES`", "[comprehension](comprehension.md#on-packages)"),
    ),
    (
        *("", "are two functions of packages equivalent?", "equivalence-fresh-", ""),
        *("`--task equivalence --data repo:PACKAGES`", "[comprehension](comprehension.md#on-packages)"),
    ),
    (
        *("", "which line of a package's function is wrong?", "localisation-fresh-", ""),
        *("`--task localisation --data repo:PACKAGES`", "[comprehension](comprehension.md#on-packages)"),
    ),
    (
        *("ours", "does the share held predict who fills the holes of commits?", "choosing-holes-", ""),
        *("`--holes commits --data repo:PACKAGE`", "[choosing](choosing.md)"),
    ),
]
"""Paper, experiment, the first letters of its records, figures without records, command, page."""
SHORT = {"smollm2-135m": "SmolLM2", "qwen2.5-coder-0.5b": "0.5B", "qwen2.5-coder-1.5b": "1.5B"}


def measured(rows, letters, earlier):
    """How many functions were probed with which model: from records, else as an earlier page says."""
    counts = Counter()
    for name, _, model, _, n, probed, _ in rows if letters else ():
        if name.strip("`").startswith(letters):
            counts[model] = max(counts[model], probed if probed != "" else n)
    parts = [f"{SHORT.get(model, 'no model')} {n}" for model, n in sorted(counts.items(), key=size_of)]
    return ", ".join(parts) or (
        f"{earlier}, without records" if earlier[:3] == "Smo" else earlier or "not yet"
    )


def size_of(entry):
    return size(entry[0])


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    head = ["records", "data", "model", "task", "functions", "of which probed", "sample"]
    rows = [row for folder in folders for row in run(folder)]
    experiments = [
        [paper, experiment, command, measured(rows, letters, earlier), where]
        for paper, experiment, letters, earlier, command, where in EXPERIMENTS
    ]
    columns = ["paper", "experiment", "`counterlens bench` …", "measured on functions", "page"]
    return {"runs": (head, rows), "experiments": (columns, experiments)}
