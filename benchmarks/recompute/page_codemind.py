"""The tables of docs/results/codemind.md, from kept records; imports nothing from Counterlens."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from codemind import SETTINGS, STANDING, changes, dependent, execution, pick, specification
from intervals import average, bootstrap, conclude, kept_rows, rate
from printed import percent, printed
from scipy.stats import spearmanr

STYLES = {"direct": "direct", "steps": "step by step"}
MODELS = ("Llama 2", "StarCoder", "CodeLlama", "MagiCoder", "GPT-3.5", "GPT-4")
"""Models of the paper whose rows are shown."""
WRITTEN = [
    ["CodeLlama", "43 %", "35 %", "-0.10", "", ""],
    ["StarCoder", "42 %", "59 %", "+0.10", "", ""],
    ["GPT-4", "80 %", "81 %", "+0.01", "", ""],
]
"""Table II, HumanEval."""
NO_DIFFERENCE = {"value": None, "low": None, "high": None, "n": 0}


def constant(rows):
    """Whether the most frequent output is that of each program: the best answer without reading."""
    (most, _), *_ = Counter(row["truth"] for row in rows).most_common(1)
    return {row["target"]: row["truth"] == most for row in rows}


def standing(rows, style):
    return [row for row in rows if (row["style"], row["form"]) == (style, STANDING)]


def rates(of):
    """Table I beside our definition: values are compared, and the best constant answer is the floor."""
    for model, rows in of.items():
        for style, title in STYLES.items():
            asked = standing(rows, style)
            if not asked:
                continue
            values = {row["target"]: row["outcome"] == "right" for row in asked}
            floor = constant(asked)
            beyond = average((name, values[name] - floor[name]) for name in values)
            by_paper = rate(pick(rows, style, STANDING).values())
            cut = sum(row["outcome"] == "truncated" for row in asked)
            row = [len(asked), cut, by_paper, rate(values.values())]
            yield [model, title, *row, rate(floor.values()), beyond]


def loops_matter(rows):
    """Spearman's correlation of rounds with wrong answers, of functions with loops: above 0 if they harm."""
    known = [
        (row["rounds"], row["outcome"] != "right")
        for row in standing(rows, "direct")
        if {"for", "while"} & set(row["tags"] or [])
    ]

    def figure(pairs):
        sides = [*zip(*pairs, strict=True)]
        varies = len(pairs) > 2 and all(len(set(side)) > 1 for side in sides)
        return float(spearmanr(*sides)[0]) if varies else None

    return bootstrap(known, figure) if len(known) >= 10 else {**NO_DIFFERENCE, "n": len(known)}


def conclusions(asked, written, specified):
    """What the paper concludes, as a figure that is positive if it holds."""
    rows = []
    for model, answers in asked.items():
        direct, steps = (pick(answers, style, STANDING) for style in STYLES)
        unrolled = change(steps, pick(answers, "steps", "unrolled"))
        rows += [
            ["steps help (Figure 3)", model, change(direct, steps)],
            ["unrolled loops are easier (Table IV)", model, unrolled],
            ["more rounds of a loop, fewer right answers (Figure 7)", model, loops_matter(answers)],
        ]
    for model, (_, answers) in written.items():
        own, reference = pick(answers, "steps", "own"), pick(answers, "steps", STANDING)
        rows.append(["it knows its own code better (Table II, same programs)", model, change(reference, own)])
    for model, functions in specified.items():
        plain, helped, misled = (right_values(functions, key) for key in SETTINGS)
        rows.append(["a test in the description helps", model, change(plain, helped)])
        rows.append(["a wrong test harms", model, change(misled, plain)])
    for small, large in combinations(asked, 2):
        first, second = (pick(asked[model], "direct", STANDING) for model in (small, large))
        rows.append(
            ["the larger model knows more outputs (Table I)", f"{small}, {large}", change(first, second)]
        )
    for text, model, cell in rows:
        known = cell or NO_DIFFERENCE
        yield [text, model, known if known["value"] is not None else None, conclude(known)]


def change(first, second):
    """How many more functions the second side has right, with McNemar's exact test; None without any."""
    *_, cell, _, _, p = changes(first, second)
    return cell and cell | {"p": 1.0 if p is None else p}


def right_values(functions, setting):
    """Whether each program gives the reference's value: with a wrong test a pass means the opposite."""
    return {row["target"]: row["settings"][setting]["gave"] == row["gives"] for row in functions}


def translated_in_the_paper():
    """Table III, Java to Python."""
    rows = [row for row in printed("codemind", "III") if row["translation"] == "Java to Python"]
    for written, known in zip(rows[::2], rows[1::2], strict=True):
        for model in ("CodeLlama", "MagiCoder", "GPT-3.5", "GPT-4"):
            yield [f"{model}, {written['data']}", percent(written[model]), percent(known[model]), "", "", ""]


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    asked = kept_rows(folders, "execution-answers")
    written = kept_rows(folders, "dependent-execution-syntheses", "dependent-execution-answers")
    specified = kept_rows(folders, "specification-functions")
    of = {model: execution(rows) for model, rows in asked.items()}
    tables = {
        name: [[model, *row] for model, found in of.items() for row in found.get(title, ())]
        for name, title in (
            ("thinking", "CoT against direct answering (Figure 3)"),
            ("constructs", "R_IER by construct (Figure 6)"),
            ("loop length", "R_IER over loop length (Figure 7)"),
            ("correlations", "rank correlation with R_IER (Figures 4 and 7)"),
            ("types", "type match and value match (Figure 8)"),
            ("unrolled loops", "unrolled loops (Table IV)"),
        )
    }
    tables["correlations"] = [
        [*row[:3], "fewer than ten points" if row[2] < 10 else row[3]] for row in tables["correlations"]
    ]
    paired = ["n", "before", "after", "difference", "gained", "lost", "McNemar p"]
    heads = {
        "thinking": ["model", "n", "direct", "step by step", *paired[3:]],
        "constructs": ["model", "construct", "n", "right"],
        "loop length": ["model", "rounds", "n", "right"],
        "correlations": ["model", "with", "points", "Spearman's rho"],
        "types": ["model", "type of the output", "n", "right type", "right"],
        "unrolled loops": ["model", "n", "with loops", "unrolled", *paired[3:]],
    }
    result = {name: (heads[name], rows) for name, rows in tables.items()}
    head = ["model", "asked", "programs", "cut off", "right, as the paper", "right, by value"]
    head += ["best constant", "beyond it"]
    for table_one in printed("codemind", "I"):
        paper = [[m, "step by step", "", "", percent(table_one[m]), "", "", ""] for m in MODELS]
        data = table_one["data"].removesuffix(", Python")
        result[f"execution, {data}"] = head, [*rates(asked), *paper]
    rows = []
    for model, files in written.items():
        figures = dict(dependent(*files)["dependent execution reasoning (Table II)"])
        names = ("synthesis", "R_DER", "R_DER - R_IER, same programs", "only own right")
        rows.append([model, *(figures[name] for name in names), figures["only reference right"]])
    head = ["model", "written right", "R_DER", "less R_IER", "only own right", "only reference right"]
    result["dependent execution"] = head, [*rows, *WRITTEN]
    result["translation"] = head, [*rows, *translated_in_the_paper()]
    rows = [
        [model, *row[:4], rate(right_values(functions, setting).values()), *row[4:]]
        for model, functions in specified.items()
        for setting, row in zip(
            SETTINGS, specification(functions)["specification reasoning (section IV-C)"], strict=True
        )
    ]
    head = [
        "model",
        "description",
        "n",
        "cut off",
        "passes",
        "right value",
        "less without a test",
        *paired[4:],
    ]
    result["specification"] = head, rows
    result["conclusions"] = (
        ["the paper's conclusion", "model", "figure", "here"],
        list(conclusions(asked, written, specified)),
    )
    return result
