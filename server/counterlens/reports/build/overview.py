"""The beginning of a report on a run: the answer in words and one picture, and the worst functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from counterlens.counting import plural
from counterlens.evaluation.effects import judged_parts, observations_of
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.spending import amount, price_of
from counterlens.metrics.effects import Proportion
from counterlens.metrics.significance import Adequacy, adequacy
from counterlens.metrics.summary import (
    TOLD_FROM,
    EffectSummary,
    Observation,
    Place,
    by_concept,
    by_file,
    by_function,
    summarize,
)
from counterlens.models.usage import Usage
from counterlens.probes.pairs.phrases import noisy_verdict, unstable
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.record import Record
from counterlens.reports.build.plots import COLOURS
from counterlens.reports.document import Block, Figure, HeadingLink, Paragraph, ReportCell, Shaded, TableBlock
from counterlens.reports.still_plots import SharePoint, shares

_LEFT, _SCALE, _ROW, _TOP = 230, 360, 30, 28
_LONGEST = 32  # characters of a name

Rows = tuple[tuple[ReportCell, ...], ...]
FAILING = "functions with the most lost verdicts"
"""The title of the table of a model's worst functions, before its name."""
WORST = 10
"""Maximum number of functions in the list of the worst ones."""
_MOST = 30  # rows of a table
_FUNCTIONS = ("function", "verdicts", "held", "lost", "gained", "by")
_HELD = "held: share of the pairs with a right verdict that kept it; higher is better"

_SPEED = ("model", "right", "held", "first token", "tokens/s", "memory", "price", "measured on")
_SPEED_NOTE = (
    "right: share of the originals that were completed correctly; first token: seconds after a prompt of "
    "some 700 tokens; tokens/s: of one completion alone; memory: the largest of its process; measured once, "
    "while other programs used little of the processors; price: of the whole run"
)
_QUALITY = "Quality and speed of each model"
_QUALITY_ALT = (
    "A row per model, from the fastest to the slowest, with its tokens per second, and points with their 95 "
    "percent intervals on a scale from 0 to 100 percent: the share of originals completed correctly, and the "
    "share of right verdicts held."
)
_MEANING = (
    "Held is the share of the pairs with a right verdict whose verdict stays right after the change: higher "
    "is better. The average mutation effect in the tables is its complement: lower is better."
)


def verdicts_held(models: Mapping[str, EffectSummary]) -> Iterator[Block]:
    """The share that each model holds, with its interval, best first, and a note for readers.

    Args:
        models: The pooled pairs of each model.
    """
    held = {model: summary.average.complement for model, summary in models.items()}
    if not any(share.n for share in held.values()):
        return
    yield Paragraph(_MEANING, quiet=True)
    ordered = sorted(held.items(), key=lambda entry: -(entry[1].value or 0.0))
    weak = {
        model: f"{grade} to compare"
        for model, summary in models.items()
        if (grade := adequacy(summary)) is not Adequacy.ADEQUATE
    }
    rows = tuple((model, share, weak.get(model, "")) for model, share in ordered)
    yield Figure(
        "Verdicts held by each model",
        "Share of pairs with a right verdict that keep it, per model, as a point on a scale from 0 to 100 "
        "percent, with its 95 percent interval as a line; higher is better.",
        TableBlock("verdicts held by each model", ("model", "held", "note"), rows),
        svg=drawn([(model, share, model not in weak) for model, share in ordered]),
    )


def quality_and_speed(runs: Mapping[str, RunResults]) -> Iterator[Block]:
    """What each model of some runs gets right beside what it needs, fastest first; empty if nothing is known.

    Args:
        runs: The runs by their names; a single run needs none.
    """
    rows: dict[tuple[ReportCell, ...], float] = {}
    points: list[SharePoint] = []
    for name, part, spec in _models_of(runs):
        model, price, usage = part.label(spec), price_of(part.settings, spec), part.spent.get(spec, Usage())
        cost = amount(price.of(usage), price.currency) if price and usage.requests else None
        summary, speed = summarize(observations_of(part)[model]), part.speeds.get(model)
        right, held = summary.original_accuracy, summary.average.complement
        if speed is not None:
            memory = f"{speed.memory / 1e9:.1f} GB" if speed.memory else None
            needs = (f"{speed.first_token:.1f} s", f"{speed.writing:.0f}", memory, cost, speed.machine)
            rows[name, right, held, *needs] = speed.writing
            points += _points(f"{name}, {speed.writing:.0f} tokens/s", {"right": right, "held": held})
        elif cost is not None:
            rows[name, right, held, None, None, None, cost, None] = 0.0
    if rows:
        ordered = sorted(rows, key=lambda row: -rows[row])
        yield (table := TableBlock("quality and speed", _SPEED, tuple(ordered), _SPEED_NOTE))
        names = [row[0] for row in ordered]
        points.sort(key=lambda point: names.index(point.row.rpartition(", ")[0]))
        if len({point.row for point in points}) > 1:
            yield Figure(_QUALITY, _QUALITY_ALT, table, svg=shares(points, COLOURS))


def _models_of(runs: Mapping[str, RunResults]) -> Iterator[tuple[str, RunResults, str]]:
    """The models of runs in each task with judged pairs, else in none: a name, the results, and the model."""
    for name, run in runs.items():
        for part in list(judged_parts(run)) or [run]:
            task = part.settings.task if len(run.settings.tasks) > 1 else ""
            for spec in run.settings.models:
                yield ", ".join(filter(None, (name, run.label(spec), task))), part, spec


def _points(row: str, measured: Mapping[str, Proportion]) -> Iterator[SharePoint]:
    for word, share in measured.items():
        if share.value is not None and share.low is not None and share.high is not None:
            yield SharePoint(row, word, share.value, share.low, share.high)


def places(results: RunResults, *, brief: bool = False) -> Iterator[TableBlock]:
    """The places where the models of a run of one task hold and fail.

    Args:
        brief: Whether to shorten the tables.
    """
    headings = {(item.model, item.problem): f"record-{item.position}" for item, _ in results.records}
    pairs = observations_of(results)
    for model, some in pairs.items():
        targets = {} if brief else {name: at for (who, name), at in headings.items() if who == model}
        noise = {item.problem: why for item, stored in results.of(model) if (why := _noise_in(stored.record))}
        yield from place_tables(some, model if len(pairs) > 1 else "", targets, noise, brief=brief)


def _noise_in(record: Record) -> str:
    """What may explain the lost verdicts of a function, besides the mutations; empty if nothing does."""
    if not isinstance(record, PairsRecord):
        return ""
    return "a placebo changes it, too" if noisy_verdict(record) else "unstable" if unstable(record) else ""


def place_tables(
    pairs: Sequence[Observation],
    model: str,
    targets: Mapping[str, str],
    noise: Mapping[str, str],
    *,
    brief: bool = False,
) -> Iterator[TableBlock]:
    """The tables of one model.

    Args:
        model: Its name if there are several; else empty.
        targets: Headings of functions on a page, by function name.
        noise: What else may explain the lost verdicts of a function, by function name.
        brief: Whether a table has at most `WORST` rows.
    """
    most = WORST if brief else _MOST
    whose = f", {model}" if model else ""
    files, functions = by_file(pairs), by_function(pairs)
    failing = sorted(
        (function for function in functions if function.lost), key=lambda function: function.name in noise
    )
    if failing:
        rows: Rows = tuple(
            (*_function(place, targets), noise.get(place.name, "")) for place in failing[:WORST]
        )
        columns: tuple[str, ...] = (*_FUNCTIONS, "noise")
        note = (
            "verdicts: informative pairs; lost: right on the original only; by: the mutations that changed "
            "them; noise: a placebo changes the verdict, too, or every change is unstable (listed last)"
        )
        yield TableBlock(f"{FAILING}{whose}", columns, rows, note)
    if len(files) > 1:
        yield from _heat_map(pairs, files, whose, most)
        rows = tuple(_file(place) for place in files[:most])
        columns = ("file", "functions", "verdicts", "held", "lost", "gained")
        yield TableBlock(f"by file{whose}", columns, rows, _note_on_rest(len(files), most, _HELD, "file"))
    if len(functions) > 1 and not brief:
        rows = tuple(_function(place, targets) for place in functions[:most])
        note = _note_on_rest(len(functions), most, _HELD, "function")
        yield TableBlock(f"by function{whose}", _FUNCTIONS, rows, note)


def _heat_map(
    pairs: Sequence[Observation], files: Sequence[Place], whose: str, most: int
) -> Iterator[TableBlock]:
    cells = by_concept(pairs)
    conclusive = [file for file in files if any(held.n >= TOLD_FROM for held in cells[file.name].values())]
    concepts = sorted({concept for file in conclusive for concept in cells[file.name]})
    rows = tuple(
        (place.name, *(_shade(cells[place.name].get(concept)) for concept in concepts))
        for place in conclusive[:most]
    )
    note = f"{_HELD}, with their number in brackets; shaded for at least {TOLD_FROM} pairs"
    if rest := len(files) - len(conclusive):
        note += f"; {plural(rest, 'file')} with fewer pairs per concept not shown"
    if rows:
        title = f"verdicts held, by file and concept{whose}"
        yield TableBlock(title, ("file", *concepts), rows, _note_on_rest(len(conclusive), most, note, "file"))


def _shade(held: Proportion | None) -> ReportCell:
    if held is None or held.value is None:
        return None
    return Shaded(f"{held.value:.0%} ({held.n})", held.value if held.n >= TOLD_FROM else None)


def _function(place: Place, targets: Mapping[str, str]) -> tuple[ReportCell, ...]:
    target = targets.get(place.name)
    head = HeadingLink(place.name, target) if target else place.name
    summary = place.summary
    return head, summary.average.n, place.held, summary.lost, summary.gained, ", ".join(place.mutations)


def _file(place: Place) -> tuple[ReportCell, ...]:
    summary = place.summary
    return place.name, summary.functions, summary.average.n, place.held, summary.lost, summary.gained


def _note_on_rest(there: int, most: int, note: str, what: str) -> str:
    rest = there - most
    return f"{note}. {plural(rest, f'more {what}')} with fewer lost verdicts not shown" if rest > 0 else note


def drawn(shares: Sequence[tuple[str, Proportion, bool]]) -> str:
    """An SVG with a line for each share, from 0 % to 100 %.

    Args:
        shares: Names, shares, and whether each is conclusive; one that is not is grey.
    """
    height = _TOP + _ROW * len(shares) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _SCALE + 60} {height}" '
        f'width="{_LEFT + _SCALE + 60}" height="{height}" font-family="system-ui, sans-serif" font-size="13" '
        'fill="currentColor">'
    ]
    for tenth in range(0, 101, 25):
        x = _at(tenth / 100)
        parts.append(
            f'<line x1="{x}" x2="{x}" y1="{_TOP - 8}" y2="{height - 8}" stroke="currentColor" opacity="0.2"/>'
            f'<text x="{x}" y="{_TOP - 14}" text-anchor="middle" opacity="0.75">{tenth} %</text>'
        )
    for row, (name, share, informative) in enumerate(shares):
        parts.append(_row(_TOP + _ROW * row + _ROW // 2, name, share, informative=informative))
    return "".join([*parts, "</svg>"])


def _row(y: int, name: str, share: Proportion, *, informative: bool) -> str:
    shown = name if len(name) <= _LONGEST else "…" + name[1 - _LONGEST :]
    label = f'<text x="{_LEFT - 14}" y="{y + 4}" text-anchor="end">{escape(shown)}</text>'
    if share.value is None or share.low is None or share.high is None:
        return f'{label}<text x="{_LEFT + 4}" y="{y + 4}" opacity="0.75">no right verdict</text>'
    colour = "var(--blue)" if informative else "currentColor"
    faint = "" if informative else ' opacity="0.5"'
    low, value, high = _at(share.low), _at(share.value), _at(share.high)
    return (
        f'{label}<g{faint}><line x1="{low}" x2="{high}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="4" '
        f'stroke-linecap="round" opacity="0.5"/><circle cx="{value}" cy="{y}" r="6" fill="{colour}"/></g>'
        f'<text x="{_LEFT + _SCALE + 12}" y="{y + 4}">{share.value:.0%}</text>'
    )


def _at(share: float) -> int:
    return _LEFT + round(_SCALE * share)
