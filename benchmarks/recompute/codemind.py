"""The tables of the protocol codemind (Liu et al. 2024, section IV) from the export of a run."""

import ast
import contextlib
import json
import re
import statistics
import sys
from pathlib import Path

import pyarrow.parquet as parquet
from intervals import average, less, rate
from scipy.stats import binomtest, spearmanr

PAIR, ANNOUNCED, BRACKETS = r"([\w ]+)=([\w ]+)", r"(?i)answer\W{0,3}[:=]", str.maketrans("(){}", "[][]")
TAGS = "Basic=basic,For=for,If=if,Nested If=nested if,Nested Loop=nested loop,"
TAGS += "Switch=match,Try=try,While=while"
TYPES = dict(re.findall(PAIR, "int=Int,float=Decimal,str=String,bool=Binary,list=List,tuple=Tuple"))
JAVA = dict(re.findall(PAIR, "byte=Int,short=Int,long=Int,double=Decimal,char=String,String=String"))
JAVA |= dict(re.findall(PAIR, "boolean=Binary,array=List,List=List,Set=Object,Map=Object,Optional=Object"))
PLAIN = r"\s*//.*$|[;.]\s*$|new \w+(?:\[\])+|new \w+<\w*>|(?:List\.of|Arrays\.asList)(?=\()|(?<=\d)[lL]\b|\s"
FIGURES = "subjects|truncated|synthesis|reasoned about|R_DER|R_IER|R_IER, same programs|R'_IER|"
FIGURES += "R_DER - R_IER|R_DER - R_IER, same programs|R_DER - R'_IER|only own right|only reference right|"
FIGURES += "McNemar p, same programs"
STANDING, SETTINGS = "as it stands", {"none": "no test", "true": "with test", "misleading": "misleading test"}


def right(row):
    text = re.sub(r"^.*</think>", "", row["said"] * (row["outcome"] != "truncated"), flags=re.DOTALL)
    text = ["", *re.split(ANNOUNCED, text)[1:]][-1] if row["style"] == "steps" else text
    said = next((line.strip().strip("`*") for line in text.splitlines() if line.strip()), "")
    if row["type"] in JAVA:
        said, truth = (re.sub(PLAIN, "", one).translate(BRACKETS) for one in (said, row["truth"]))
        return said != "" and said == truth
    with contextlib.suppress(SyntaxError, ValueError):
        said = ast.unparse(ast.parse(said.rstrip("."), mode="eval"))
    said, truth = (re.sub(r"\s", "", one).replace('"', "'") for one in (said, row["truth"]))
    return said != "" and re.sub("^'|'$", "", said) == re.sub("^'|'$", "", truth)


def pick(rows, style, form):
    return {row["target"]: right(row) for row in rows if (row["style"], row["form"]) == (style, form)}


def changes(first, second):
    both = first.keys() & second.keys()
    gained = sum(second[name] and not first[name] for name in both)
    lost = sum(first[name] and not second[name] for name in both)
    shares = [rate(side[name] for name in both) for side in (first, second)]
    p = binomtest(lost, lost + gained).pvalue if lost + gained else None
    difference = average((name, second[name] - first[name]) for name in both) if both else None
    return [len(both), *shares, difference, gained, lost, p]


def rho(points):
    points = [[side["value"] if isinstance(side, dict) else side for side in point] for point in points]
    points = [point for point in points if None not in point]
    varies = len(points) > 2 and all(len(set(side)) > 1 for side in zip(*points, strict=True))
    return [len(points), float(spearmanr(*zip(*points, strict=True))[0]) if varies else None]


def curve(rows, key, *, doubling=False):
    bins = {}
    for value, row in ((row[key], row) for row in rows if row[key] is not None):
        high = 1 << max(value - 1, 0).bit_length()
        at = (high // 2 + 1, high) if doubling and value > 1 else (value, value)
        bins.setdefault(at, []).append(right(row))
    table = [[str(a) if a == b else f"{a} to {b}", len(v), rate(v)] for (a, b), v in sorted(bins.items())]
    return table, rho([(low, rate(values)) for (low, _), values in sorted(bins.items())])


def execution(rows):
    direct, steps = (pick(rows, style, STANDING) for style in ("direct", "steps"))
    asked = [row for row in rows if (row["style"], row["form"]) == ("steps", STANDING)]
    tagged = [(k, [right(r) for r in asked if tag in (r["tags"] or [])]) for k, tag in re.findall(PAIR, TAGS)]
    typed = [((TYPES | JAVA).get(row["type"], "Object"), row) for row in asked]
    kinds = [(kind, [row for of, row in typed if of == kind]) for kind in [*TYPES.values(), "Object"]]
    loops = [row for row in asked if {"for", "while"} & set(row["tags"] or [])]
    (complexity, first), (rounds, second) = curve(asked, "complexity"), curve(loops, "rounds", doubling=True)
    thought, unrolled = changes(direct, steps), changes(steps, pick(rows, "steps", "unrolled"))
    rates = (("direct answering", "direct", direct), ("CoT", "steps", steps))
    cut = [row["style"] for row in rows if (row["form"], row["outcome"]) == (STANDING, "truncated")]
    matches = [(k, len(v), rate(r["same_type"] for r in v), rate(map(right, v))) for k, v in kinds if v]
    return {
        "R_IER (Table I, Figure 3)": [(k, len(v), cut.count(by), rate(v.values())) for k, by, v in rates],
        "CoT against direct answering (Figure 3)": [thought] * bool(thought[0]),
        "R_IER by construct (Figure 6)": [(title, len(v), rate(v)) for title, v in tagged if v],
        "R_IER over cyclomatic complexity (Figure 4)": complexity,
        "R_IER over loop length (Figure 7)": rounds,
        "rank correlation with R_IER (Figures 4 and 7)": [["CC", *first], ["loop length", *second]],
        "type match and value match (Figure 8)": matches,
        "unrolled loops (Table IV)": [unrolled] * bool(unrolled[0]),
    }


def dependent(syntheses, answers):
    own, reference = pick(answers, "steps", "own"), pick(answers, "steps", STANDING)
    cut = sum(row["finish"] == "length" and not row["correct"] for row in syntheses)
    both = own.keys() & reference.keys()
    known, same = rate(reference[n] for n in both if own[n]), rate(reference[n] for n in both)
    der, ier = rate(own.values()), rate(reference.values())
    paired = changes(reference, own)
    cells = [len(syntheses), cut, rate(row["correct"] for row in syntheses), len(own)]
    cells += [der, ier, same, known, less(der, ier), paired[3], less(der, known), *paired[4:]]
    pairs = [(r["complexity"], r["reference_complexity"]) for r in syntheses if r["correct"]]
    sides = zip(("own code", "reference"), [*zip(*pairs, strict=True)] or [(), ()], strict=True)
    figure = [(k, len(v), statistics.mean(v), statistics.median(v)) for k, v in sides if v]
    table = [*zip(FIGURES.split("|"), cells, strict=True)]
    return {"dependent execution reasoning (Table II)": table, "cyclomatic complexity (Figure 5)": figure}


def beside(models):
    own = {model: pick(answers, "steps", "own") for model, (_, answers) in models.items()}
    shared, rows = set.intersection(*map(set, own.values())), []
    for model, files in models.items():
        of = dict(dependent(*files)["dependent execution reasoning (Table II)"])
        rows.append([model, of["synthesis"], of["R_DER"], len(shared), rate(own[model][n] for n in shared)])
    ranks = {"ranks of the models by synthesis and reasoning (section IV-B)": [rho([r[1:3] for r in rows])]}
    return {"R'_DER on programs that all models synthesised correctly (Table II)": rows} | ranks


def specification(rows):
    passed, table = {k: {row["target"]: row["settings"][k]["passed"] for row in rows} for k in SETTINGS}, []
    for key, title in SETTINGS.items():
        found, values = changes(passed["none"], passed[key]), passed[key].values()
        more = found[3:] if key != "none" and found[0] else [None] * 4
        cut = sum(
            row["settings"][key]["finish"] == "length" for row in rows if not passed[key][row["target"]]
        )
        table.append([title, len(values), cut, rate(values), *more])
    n, *_, gained, _, _ = changes(passed["none"], passed["true"])
    failed = sum(not passed["none"][name] for name in passed["none"].keys() & passed["true"].keys())
    r_sr = [[n, *(rate([True] * gained + [False] * (of - gained)) for of in (n, failed)), failed]]
    return {"specification reasoning (section IV-C)": table, "R_SR": r_sr}


if __name__ == "__main__":
    found, folder = {}, Path(sys.argv[1])
    parts = {"execution": "answers", "dependent-execution": "syntheses answers", "specification": "functions"}
    for task, names in parts.items():
        paths = [folder / f"{task}-{name}.parquet" for name in names.split()]
        files = [parquet.read_table(path).to_pylist() if path.exists() else [] for path in paths]
        names, tables = dict.fromkeys(row["model"] for row in files[0]), {}
        models = {name: [[row for row in rows if row["model"] == name] for rows in files] for name in names}
        compute = {"execution": execution, "specification": specification}.get(task, dependent)
        for model, title, rows in ((m, *pair) for m, of in models.items() for pair in compute(*of).items()):
            tables.setdefault(title, []).extend([model, *row] for row in rows)
        tables |= beside(models) if task == "dependent-execution" and len(models) > 1 else {}
        found |= {task: {title: rows for title, rows in tables.items() if rows}} if tables else {}
    print(json.dumps(found, indent=1))
