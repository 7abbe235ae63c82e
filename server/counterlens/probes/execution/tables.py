"""The tables of execution reasoning, of any number of answers as plain data (Liu et al. 2024, section IV)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from counterlens.metrics.association import spearman
from counterlens.metrics.effects import Proportion, pooled_share, wilson
from counterlens.metrics.summary import mcnemar_exact
from counterlens.probes.execution.answers import ABSOLUTE, RELATIVE, Outcome
from counterlens.probes.execution.features import TAGS, USES
from counterlens.probes.execution.prompts import STYLES
from counterlens.probes.execution.reasoning import Form, Row
from counterlens.probes.task import Cell, Table

SHOWN = 12
"""So many questions are listed one by one."""
MOST_APIS = 12
"""The calls that most functions make are listed."""
_WIDEST = 60  # characters of a literal
_NOTE = (
    f"answers are read as Python literals and compared as values, floats within {RELATIVE:g} relative or "
    f"{ABSOLUTE:g}; an answer that is unparsable, or that the model refuses, counts as not right"
)


def right(row: Row) -> bool:
    """Whether an answer is right."""
    return bool(row["outcome"] == Outcome.RIGHT)


def rate(rows: Sequence[Row]) -> Proportion:
    """The execution reasoning rate (Liu et al. 2024, equation 3): right answers among all questions."""
    return pooled_share((row["target"], right(row)) for row in rows)


def breakdown(rows: Sequence[Row], *, seed: int) -> tuple[Table, ...]:
    """The tables of independent execution reasoning.

    Args:
        rows: Answers; those about unrolled programs go into a table of their own.
        seed: Of intervals.
    """
    standing = [row for row in rows if row["form"] == Form.STANDING]
    targets = {row["target"] for row in standing}
    found = [
        styles(standing),
        unread(rows),
        by_part(standing, "by what the function is made of", "construct", "tags", TAGS),
        by_part(standing, "by what it uses", "operators and calls", "uses", USES),
        by_part(standing, "by what it calls", "API", "apis", _frequent(standing)),
        types(standing),
        origins(standing),
        correlations(standing, seed=seed) if len(targets) > 2 else None,
        loops(rows),
    ]
    if len(targets) <= SHOWN:
        found.insert(0, questions(rows))
    return tuple(table for table in found if table is not None and table.rows)


def styles(rows: Sequence[Row], title: str = "independent execution reasoning") -> Table:
    """The rate for each way to ask, and how many answers could not be read."""
    drawn: list[tuple[Cell, ...]] = []
    for name, asked in _by_style(rows):
        counts = Counter(row["outcome"] for row in asked)
        cut = sum(row["finish"] == "length" for row in asked)
        unreadable = (counts[Outcome.UNPARSABLE], counts[Outcome.REFUSED], cut)
        drawn.append((name, len(asked), rate(asked), *unreadable))
    return Table(title, ("asked", "n", "rate", "unparsable", "refused", "cut off"), tuple(drawn), _NOTE)


def unread(rows: Sequence[Row]) -> Table:
    """Why answers could not be read."""
    counts = Counter((STYLES[row["style"]].title, row["unread"]) for row in rows if row["unread"])
    drawn = tuple((style, reason, count) for (style, reason), count in sorted(counts.items()))
    return Table("answers that could not be read", ("asked", "why", "n"), drawn)


def by_part(rows: Sequence[Row], title: str, head: str, key: str, parts: Sequence[str]) -> Table:
    """The rates of the functions that have some part, such as a construct."""
    drawn: list[tuple[Cell, ...]] = []
    for part in parts:
        chosen = [row for row in rows if part in (row[key] or ())]
        if chosen:
            n = len({row["target"] for row in chosen})
            drawn.append((part, n, *(rate(asked) for _, asked in _by_style(chosen, every=True))))
    return Table(title, (head, "n", *(style.title for style in STYLES.values())), tuple(drawn))


def types(rows: Sequence[Row]) -> Table:
    """Right type and right value, by the type of the output (Liu et al. 2024, Figure 8)."""
    drawn: list[tuple[Cell, ...]] = []
    for name in sorted({row["type"] for row in rows}):
        for style, asked in _by_style([row for row in rows if row["type"] == name]):
            matched = pooled_share((row["target"], bool(row["same_type"])) for row in asked)
            drawn.append((name, style, len(asked), matched, rate(asked)))
    return Table("by what it gives", ("type", "asked", "n", "right type", "right value"), tuple(drawn))


def origins(rows: Sequence[Row]) -> Table:
    """The rates by where the inputs come from."""
    names = tuple(sorted({row["input"] for row in rows}))
    keyed = [{**row, "inputs": [row["input"]]} for row in rows]
    return by_part(keyed, "by where the inputs come from", "inputs", "inputs", names)


def correlations(rows: Sequence[Row], *, seed: int) -> Table:
    """What makes it hard (Liu et al. 2024, Figures 4 and 7)."""
    measures = {"cyclomatic complexity": "complexity", "lines": "lines", "rounds of loops": "rounds"}
    drawn: list[tuple[Cell, ...]] = []
    for name, key in measures.items():
        for style, asked in _by_style(rows):
            # Where there is no loop there is no length of one.
            known = [row for row in asked if row[key] is not None and (key != "rounds" or _loops(row))]
            pairs = [(float(row[key]), float(right(row))) for row in known]
            drawn.append((name, style, len(pairs), spearman(pairs, seed=seed)))
    note = (
        "Spearman's rank correlation with being right; below 0: the more, the more often wrong. Rounds are "
        "counted while the call runs, of functions with loops"
    )
    return Table("what makes it hard", ("measure", "asked", "n", "rho"), tuple(drawn), note)


def loops(rows: Sequence[Row]) -> Table | None:
    """What unrolling the loops changes (Liu et al. 2024, Table IV), on functions asked about in both."""
    drawn: list[tuple[Cell, ...]] = []
    for style, asked in _by_style(rows):
        before = {row["target"]: right(row) for row in asked if row["form"] == Form.STANDING}
        after = {row["target"]: right(row) for row in asked if row["form"] == Form.UNROLLED}
        both = sorted(before.keys() & after.keys())
        if not both:
            continue
        lost = sum(before[name] and not after[name] for name in both)
        gained = sum(after[name] and not before[name] for name in both)
        shares = (wilson(sum(side[name] for name in both), len(both)) for side in (before, after))
        drawn.append((style, len(both), *shares, gained, lost, mcnemar_exact(lost, gained)))
    columns = ("asked", "n", "loops", "unrolled", "only unrolled right", "only loops right", "McNemar p")
    note = "the same functions and inputs; loops are unrolled as they ran (Liu et al. 2024, Table IV)"
    return Table("the effect of unrolling loops", columns, tuple(drawn), note) if drawn else None


def questions(rows: Sequence[Row]) -> Table:
    """Every question and its answer."""
    several = len({row["form"] for row in rows}) > 1
    drawn = tuple(
        (
            row["call"] + (f" ({row['form']})" if several and row["form"] != Form.STANDING else ""),
            STYLES[row["style"]].title,
            row["input"],
            short(row["truth"]),
            short(row["answer"]),
            row["outcome"],
        )
        for row in sorted(rows, key=lambda row: row["target"])
    )
    return Table("calls", ("call", "asked", "input from", "gives", "answer", ""), drawn)


def short(written: str | None) -> str | None:
    """A literal as far as a table has room; the data hold all of it."""
    return written if written is None or len(written) <= _WIDEST else f"{written[: _WIDEST - 1]}…"


def pick(rows: Sequence[Row], **wanted: str) -> dict[str, Row]:
    """The answers with some values, by the function that they are about."""
    return {row["target"]: row for row in rows if all(row[key] == value for key, value in wanted.items())}


def _by_style(rows: Sequence[Row], *, every: bool = False) -> Iterator[tuple[str, list[Row]]]:
    for name, style in STYLES.items():
        asked = [row for row in rows if row["style"] == name]
        if asked or every:
            yield style.title, asked


def _loops(row: Row) -> bool:
    return bool({"for", "while"} & set(row["tags"] or ()))


def _frequent(rows: Sequence[Row]) -> tuple[str, ...]:
    """The most frequent calls, each of at least two functions."""
    users: dict[str, set[str]] = {}
    for row in rows:
        for name in row["apis"] or ():
            users.setdefault(name, set()).add(row["target"])
    order: Callable[[str], tuple[int, str]] = lambda name: (-len(users[name]), name)  # noqa: E731
    return tuple(name for name in sorted(users, key=order) if len(users[name]) > 1)[:MOST_APIS]
