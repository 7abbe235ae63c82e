"""The tables of docs/results/comprehension.md, from kept records; imports nothing from Counterlens.

Equivalence (after Wei et al. 2025), localisation (after Haroon et al. 2025) and run-time behaviour (after
Chen et al. 2024), of our own verified programs: docs/equivalence.md and docs/execution.md define the figures.
"""

from __future__ import annotations

import ast
from collections import Counter
from itertools import pairwise

from closed import areas, beyond_random, choice
from intervals import FEW, average, conclude, kept_rows, share

LEAST = 0.05
"""The smallest difference from what needs no reading of the code that would matter."""

ASKED = ("line runs", "state", "next line", "output", "input")
WAYS = ("prompt", "likelihood")
TOLD = ("line runs", "output", "input")
"""What enough calls of packages answer for a figure."""


def kind(text):
    """A truth as a value, so that equal values are equal whatever their text."""
    try:
        return repr(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text


def equal(rows):
    """Whether each question about a pair got the right answer, by function."""
    return [(row["problem"], said is row["equivalent"]) for row in rows for said in row["yes"]]


def by_similarity(rows):
    """The share that the best threshold of the similarity of two texts is right about."""
    best = max(
        abs(sum((row["similarity"] >= limit) is row["equivalent"] for row in rows) / len(rows) - 0.5)
        for limit in [*(row["similarity"] for row in rows), 2.0]
    )
    return 0.5 + best


def hits(program, way):
    return (program["answer"] if way == "prompt" else program["least_likely"]) in program["lines"]


def located(bugs, way):
    """For each way: the located bugs, and the located ones that a rewritten version loses."""
    first = [(bug["problem"], hits(bug["first"], way)) for bug in bugs]
    lost = [
        (bug["problem"], not hits(version, way))
        for bug in bugs
        if hits(bug["first"], way)
        for version in bug["versions"]
    ]
    return share(first), share(lost)


def lost_by_mutation(bugs):
    """Which located bugs, by the least likely line, each kind of rewriting loses; those of ten or more."""
    kinds = {}
    for bug in bugs:
        for version in bug["versions"] if hits(bug["first"], "likelihood") else ():
            kinds.setdefault(version["mutation"], []).append(
                (bug["problem"], not hits(version, "likelihood"))
            )
    shares = {kind: share(values) for kind, values in kinds.items() if len(values) >= FEW}
    return sorted(shares.items(), key=lambda each: -each[1]["value"])


def answers(call):
    """What was asked about a call: the kind of question, the truth, and whether the answer is right."""
    yield from (("line runs", str(each["truth"]), each["yes"] is each["truth"]) for each in call["covered"])
    for each in call["states"]:
        if each["outcome"] != "truncated":
            yield "state", kind(each["truth"]), each["outcome"] == "right"
    for each in call["next_lines"]:
        yield "next line", str(each["truth"]), each["answer"] == each["truth"]
    if call["outcome"] != "truncated":
        yield "output", kind(call["truth"]), call["outcome"] == "right"
    if call["sought"]:
        yield "input", "", call["sought"]["right"]


def chains(call):
    """For each state: whether its line runs, the state, the next line and the output were known."""
    runs = {each["line"]: each["yes"] is each["truth"] for each in call["covered"]}
    following = {
        (each["line"], each["times"]): each["answer"] == each["truth"] for each in call["next_lines"]
    }
    for state in call["states"]:
        place = state["line"], state["times"]
        steps = [
            *([runs[state["line"]]] if state["line"] in runs else []),
            *([] if state["outcome"] == "truncated" else [state["outcome"] == "right"]),
            *([following[place]] if place in following else []),
            *([] if call["outcome"] == "truncated" else [call["outcome"] == "right"]),
        ]
        if any(steps):
            yield not any(later and not earlier for earlier, later in pairwise(steps))


def beyond_coin(rows):
    """Right answers about equivalence, beyond those of a coin."""
    return average((problem, right - 0.5) for problem, right in equal(rows))


def beyond_constant(calls, asked):
    """Right answers to one kind of question, beyond the most frequent truth."""
    told = [
        (call["problem"], truth, right)
        for call in calls
        for what, truth, right in answers(call)
        if what == asked
    ]
    usual = Counter(truth for _, truth, _ in told).most_common(1)[0][0] if told else ""
    return average((problem, right - (truth == usual)) for problem, truth, right in told)


def beyond_line(bugs):
    """Located bugs, beyond naming the same line number each time."""
    counts = Counter(line for bug in bugs for line in bug["first"]["lines"])
    usual = counts.most_common(1)[0][0]
    return average(
        (bug["problem"], hits(bug["first"], "prompt") - (usual in bug["first"]["lines"])) for bug in bugs
    )


def likely_yes(row):
    """The mean probability of yes over both orders; None if the model gives none."""
    return sum(row["probability"]) / len(row["probability"]) if row["probability"] else None


def wrong_lines(bugs):
    """The lines of programs with a bug, their log-probabilities, the wrong ones; and the first line."""
    for bug in bugs:
        program = bug["first"]
        if program.get("logprobs"):
            lines = program["candidates"]
            yield bug["problem"], lines, program["logprobs"], set(program["lines"]), lines[0]


def beyond_random_line(bugs):
    """Bugs whose wrong line is the least likely one, beyond a random line of the body."""
    return beyond_random(
        (bug["problem"], lines, program["lines"], program["least_likely"])
        for bug in bugs
        if (lines := (program := bug["first"]).get("candidates")) and {*program["lines"]} & {*lines}
    )


def next_lines(calls):
    """The same for the line that runs next; and the line below."""
    for call in calls:
        for each in call["next_lines"]:
            if each.get("logprobs"):
                numbers = each["candidates"]
                below = min(numbers, key=lambda number, asked=each["asked"]: abs(number - asked - 1))
                yield call["problem"], numbers, each["logprobs"], {each["truth"]}, below


def outputs(calls):
    """The same for the output of a call, among those of others; no rule chooses one."""
    for call in calls:
        if chosen := call.get("chosen"):
            yield call["problem"], chosen["candidates"], chosen["logprobs"], {call["truth"]}, None


def conclusion(words, model, cell, least=LEAST):
    """A row of the conclusions."""
    return [words, model, cell, conclude(cell, least)]


def chosen(asked, model, questions, words, rule):
    """The row of a closed question, if the model gave probabilities, and its conclusions."""
    if not (questions := list(questions)):
        return [], []
    figures = choice(questions)
    told = [conclusion(f"{words}, better than a random one", model, figures["beyond"], 0.0)]
    if figures["rule"]:
        told.append(conclusion(f"{words}, better than {rule}", model, figures["rule"]))
    return [[asked, model, len({each[0] for each in questions}), len(questions), *figures.values()]], told


def line_runs(calls):
    """The function, whether the line runs, and the probability of yes, of each line that was asked about."""
    return [
        (call["problem"], each["truth"], each["probability"])
        for call in calls
        for each in call["covered"]
        if each.get("probability") is not None
    ]


def functions(rows):
    return len({row["problem"] for row in rows})


def by_code(folders):
    """For humaneval, fresh and older code and each model: its figures, as far as they were asked for.

    A folder is named TASK-CODE-MODEL.
    """
    for code in ("humaneval", "fresh", "older"):
        here = [folder for folder in folders if folder.name.split("-")[1] == code]
        asked = kept_rows(here, "equivalence-answers", "localisation-bugs", "runtime-calls")
        for model, (pairs, bugs, calls) in asked.items():
            told = [(call["problem"], what, right) for call in calls for what, _, right in answers(call)]
            yield [
                *(code, model, share(equal(pairs)), *(located(bugs, way)[0] for way in WAYS)),
                *(share((problem, right) for problem, what, right in told if what == each) for each in TOLD),
                beyond_constant(calls, "output"),
            ]


def page(folders):
    """The tables of the page: for each title, its head and rows."""
    equivalence, likely, localisation, runtime, consistency, told = [], [], [], [], [], []
    choices, lines, rewritings = [], [], []
    for model, rows in kept_rows(folders, "equivalence-answers").items():
        both = share((row["problem"], all(said is row["equivalent"] for said in row["yes"])) for row in rows)
        yes = share((row["problem"], said is True) for row in rows for said in row["yes"])
        figures = [share(equal(rows)), both, yes, f"{by_similarity(rows):.0%}".replace("%", " %")]
        equivalence.append([model, functions(rows), len(rows), *figures])
        cell = beyond_coin(rows)
        told.append(conclusion("it says whether two functions do the same, better than a coin", model, cell))
        cell, inside = areas((row["problem"], row["equivalent"], likely_yes(row)) for row in rows)
        similar, _ = areas((row["problem"], row["equivalent"], row["similarity"]) for row in rows)
        likely.append([model, len(rows), cell, inside, similar])
        told.append(
            conclusion("its probability of yes is higher for functions that do the same", model, cell)
        )
    for model, bugs in kept_rows(folders, "localisation-bugs").items():
        localisation += [[model, way, functions(bugs), len(bugs), *located(bugs, way)] for way in WAYS]
        rewritings += [[model, kind, cell["n"], cell] for kind, cell in lost_by_mutation(bugs)]
        cell = beyond_line(bugs)
        told.append(conclusion("it names the wrong line, better than one fixed number", model, cell))
        cell = beyond_random_line(bugs)
        if cell["n"]:
            words = "the wrong line is the least likely one, more often than a random one"
            told.append(conclusion(words, model, cell, 0.0))
        words = "its likeliest line is the wrong one"
        row, more = chosen("wrong line", model, wrong_lines(bugs), words, "the first line")
        choices, told = choices + row, told + more
    for model, calls in kept_rows(folders, "runtime-calls").items():
        for asked, questions, words, rule in (
            ("next line", next_lines(calls), "its likeliest line is the next one", "the line below"),
            ("output among others", outputs(calls), "its likeliest output is the right one", ""),
        ):
            row, more = chosen(asked, model, questions, words, rule)
            choices, told = choices + row, told + more
        if asked_lines := line_runs(calls):
            cell, inside = areas(asked_lines)
            lines.append([model, functions(calls), len(asked_lines), cell, inside])
            told.append(conclusion("its probability of yes is higher for lines that run", model, cell))
        shares = {
            asked: share(
                (call["problem"], right)
                for call in calls
                for what, _, right in answers(call)
                if what == asked
            )
            for asked in ASKED
        }
        runtime.append([model, functions(calls), *shares.values()])
        kept = share((call["problem"], whole) for call in calls for whole in chains(call))
        consistency.append([model, kept["n"], kept])
        for asked in ASKED[:-1]:
            cell = beyond_constant(calls, asked)
            words = {"line runs": "which lines run", "state": "states", "next line": "which line is next"}
            what = (
                f"it knows {words.get(asked, 'what the call returns')}, better than the most frequent answer"
            )
            told.append(conclusion(what, model, cell))
    return {
        "equivalence": (
            ["model", "functions", "pairs", "right", "right in both orders", "says yes", "text similarity"],
            equivalence,
        ),
        "probability of yes": (
            ["model", "pairs", "AUROC less 0.5", "inside functions", "of text similarity"],
            likely,
        ),
        "localisation": (
            ["model", "by", "functions", "bugs", "located", "located faults that are lost"],
            localisation,
        ),
        "rewritings": (
            ["model", "rewritten by", "located by likelihood before", "of these, lost"],
            rewritings,
        ),
        "choices": (
            [
                *("asked", "model", "functions", "questions", "likeliest is right", "a random one"),
                *("beyond it", "prior taken out", "beyond a rule"),
            ],
            choices,
        ),
        "lines that run": (
            ["model", "functions", "lines", "AUROC less 0.5", "inside functions"],
            lines,
        ),
        "runtime": (["model", "functions", *ASKED], runtime),
        "consistency": (["model", "chains", "consistent"], consistency),
        "by code": (
            [
                *("code", "model", "equivalent or not", "located by prompt", "by likelihood"),
                *(*TOLD, "output, beyond the most frequent one"),
            ],
            list(by_code(folders)),
        ),
        "conclusions": (["question", "model", "beyond it", "here"], sorted(told, key=lambda row: row[0])),
    }
