"""The picture of docs/results/index.md, from kept records: what models understand, and what they recognise.

`pages.py` writes and checks it. Every figure has the same scale: 0 is what nobody needs to read the code for
(a copied completion, the most frequent answer, a coin), 1 is perfect.
"""

from __future__ import annotations

from html import escape

import page_astxplainer
import page_cacp
import page_codemind
import page_core
import page_empica
import page_operators
import page_recognition
from codemind import STANDING, pick
from intervals import average, bootstrap, kept_rows, share, size
from operators import population

MODELS = ("smollm2-135m", "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b")
SHAPES = dict(zip(MODELS, ("circle", "square", "diamond"), strict=True))
LEFT, RIGHT, TOP, ROW, LANE = 372, 860, 92, 62, 15
LEAST, MOST = -0.5, 1.0


def held(pairs):
    """CACP: pairs that expose copying and have a right side: the share whose verdict holds."""
    there = [p for p in page_cacp.judged(pairs) if p["discriminating"]]
    right = [p for p in there if p["original_right"] or p["counterfactual_right"]]
    return share((p["problem"], p["original_right"] == p["counterfactual_right"]) for p in right)


def outputs(rows):
    """CodeMind: right outputs, asked directly, beyond the best constant answer."""
    floor = page_codemind.constant(page_codemind.standing(rows, "direct"))
    right = pick(rows, "direct", STANDING)
    return average((name, right[name] - floor[name]) for name in right)


def operators(rows):
    """Ahmed et al.: known operators after a swap, beyond the most frequent one."""
    return page_operators.beyond_usual(page_operators.swapped(list(population(rows))))


def answers(rows):
    """CoRe: right answers beyond the more frequent one."""
    groups = page_core.grouped(rows, "trace", None)
    return bootstrap(groups, page_core.beyond_always_yes) if groups else None


def surer(older, fresh):
    """ASTxplainer: confidence in old functions less that in fresh ones."""
    return page_astxplainer.difference(older, fresh, "global")


def figures(records):
    """The rows: question, paper, whether it is about recognising, and the cell of each model."""
    named = lambda *parts: [f for f in sorted(records.glob("*")) if any(p in f.name for p in parts)]  # noqa: E731
    cacp = kept_rows(named("cacp-humaneval"), "completion-pairs")
    codemind = kept_rows(named("codemind-ier-humaneval"), "execution-answers")
    swaps = kept_rows(named("operators-humaneval"), "operator-pairs")
    names = kept_rows(named("empica-name"), "name-pairs")
    core = kept_rows(named("core-python"), "dependence-answers")
    confident = [
        {m: page_astxplainer.by_function(rows) for m, rows in kept_rows(found, "confidence-types").items()}
        for found in (named("astxplainer-older"), named("astxplainer-fresh"))
    ]
    scored = page_recognition.areas(page_recognition.lines_of([records / "recognition"]))
    completed = page_recognition.lines_of([records / "seen-and-fresh-effects"])
    sides = {m: surer(confident[0][m], confident[1][m]) for m in confident[0].keys() & confident[1].keys()}
    return [
        ("its completion survives a rewriting", "Hooda et al.", 0, each(held, cacp)),
        ("it knows what a call returns", "Liu et al.", 0, each(outputs, codemind)),
        ("it knows the operator after a swap", "Ahmed et al.", 0, each(operators, swaps)),
        ("its names follow the meaning", "Nguyen et al.", 0, each(exact_names, names)),
        ("it knows what depends on what", "Xie et al.", 0, each(answers, core)),
        ("it is surer of old than of fresh code", "Palacio et al.", 1, sides),
        ("its scores tell seen from fresh code", "ours", 1, {m: coin(cells) for m, cells in scored.items()}),
        ("seen code loses more than fresh code", "ours", 1, each(page_recognition.beside, completed)),
    ]


def exact_names(pairs):
    return page_empica.follows(pairs, "exact match")


def coin(cells):
    """The area under the curve of the margin over neighbours, as a distance from that of a coin."""
    cell = cells["margin over neighbours"]
    scaled = {end: None if cell[name] is None else 2 * cell[name] - 1 for end, name in ENDS.items()}
    return scaled | {"n": min(cell["n"])}


ENDS = {"value": "auc", "low": "low", "high": "high"}


def each(figure, models):
    return {model: figure(rows) for model, rows in models.items()}


def x(value):
    return LEFT + (min(max(value, LEAST), MOST) - LEAST) / (MOST - LEAST) * (RIGHT - LEFT)


def mark(shape, across, down, model):
    """A point whose shape names the model, too."""
    kind = f'class="m{MODELS.index(model)}"'
    if shape == "circle":
        return f'<circle {kind} cx="{across:.1f}" cy="{down}" r="5.5"/>'
    turned = f' transform="rotate(45 {across:.1f} {down})"' if shape == "diamond" else ""
    return f'<rect {kind} x="{across - 5:.1f}" y="{down - 5}" width="10" height="10"{turned}/>'


def lane(model, cell, down):
    """The interval and the value of one model in one row; a cell without an interval is told apart."""
    if cell is None or cell["value"] is None:
        return f'<text class="none" x="{x(0) + 8:.1f}" y="{down + 4}">not measured</text>'
    known = cell["low"] is not None
    low, high = (cell["low"], cell["high"]) if known else (cell["value"], cell["value"])
    kind = f'class="l{MODELS.index(model)}"'
    line = f'<line {kind} x1="{x(low):.1f}" y1="{down}" x2="{x(high):.1f}" y2="{down}"/>'
    text = f"{model}: {cell['value']:.2f}" + (f" [{low:.2f}, {high:.2f}]" if known else "")
    return f"<g><title>{text}</title>{line}{mark(SHAPES[model], x(cell['value']), down, model)}</g>"


STYLE = """
text { font: 14px system-ui, sans-serif; fill: #1f2328 }
.head { font-weight: 600 } .small { font-size: 12px } .paper, .none, .axis { font-size: 12px; fill: #59636e }
.rule { stroke: #d1d9e0 } .zero { stroke: #59636e; stroke-dasharray: 4 3 }
.m0 { fill: #b35900 } .m1 { fill: #0072b2 } .m2 { fill: #00785a }
.l0 { stroke: #b35900 } .l1 { stroke: #0072b2 } .l2 { stroke: #00785a } line[class^=l] { stroke-width: 2.5 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .paper, .none, .axis { fill: #9aa4ae }
.rule { stroke: #3d444d } .zero { stroke: #9aa4ae }
.m0 { fill: #f0a04b } .m1 { fill: #6cb6ff } .m2 { fill: #3fc99a }
.l0 { stroke: #f0a04b } .l1 { stroke: #6cb6ff } .l2 { stroke: #3fc99a } }
"""


def svg(records):
    """The picture, as the text of a file."""
    rows = figures(records)
    parts, down, last = [], TOP, None
    for question, paper, recognises, cells in rows:
        if recognises != last:
            title = "recognises: is it better on code that it has seen?" if recognises else "understands"
            down += 34 if last is not None else 0
            parts.append(f'<text class="head" x="16" y="{down}">{title}</text>')
            down, last = down + 26, recognises
        shown = [m for m in MODELS if m in cells] or [MODELS[1]]
        parts.append(f'<text x="16" y="{down + 5}">{escape(question)}</text>')
        parts.append(f'<text class="paper" x="16" y="{down + 22}">{escape(paper)}</text>')
        parts += [lane(m, cells.get(m), down - 6 + i * LANE) for i, m in enumerate(shown)]
        parts.append(f'<line class="rule" x1="16" y1="{down + 36}" x2="{RIGHT}" y2="{down + 36}"/>')
        down += ROW
    ticks = [
        f'<text class="axis" x="{x(tick):.1f}" y="{down + 4}" text-anchor="middle">{tick:g}</text>'
        for tick in (-0.5, 0, 0.5, 1)
    ]
    zero = f'<line class="zero" x1="{x(0):.1f}" y1="{TOP - 4}" x2="{x(0):.1f}" y2="{down - 14}"/>'
    words = "0: what needs no reading (a copy, the most frequent answer, a coin); 1: perfect"
    axis = f'<text class="axis" x="{RIGHT}" y="{down + 24}" text-anchor="end">{words}</text>'
    legend, across = [], 16
    for model in sorted(MODELS, key=size):
        legend.append(mark(SHAPES[model], across + 6, 51, model))
        legend.append(f'<text class="small" x="{across + 18}" y="55">{model}</text>')
        across += 40 + 7 * len(model)
    legend.append(f'<text class="small" x="{across}" y="55">lines: 95 % intervals</text>')
    question = "Does the model understand this code, or does it only recognise it?"
    head = f'<text class="head" x="16" y="26">{question}</text>'
    width, height = RIGHT + 20, down + 40
    body = "\n".join([head, *legend, zero, *parts, *ticks, axis])
    box = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"'
    label = 'aria-label="What three models understand and recognise"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} {label}><style>{STYLE}</style>\n{body}\n</svg>\n'
