"""Results for a person at a terminal: the counterfactual evidence first, then what it means."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from counterlens.attribution.base import Judgement
from counterlens.confidence.aggregate import Confidence
from counterlens.counting import plural
from counterlens.mutations.base import Counterfactual, Refusal
from counterlens.probes.likelihood import LikelihoodEffect
from counterlens.probes.results import Attempt, CompletionProbe, Pair
from counterlens.reports.phrases import rests_on
from counterlens.reports.wording import likelihood, meaning, outcome, share
from counterlens.syntax.concepts import Category
from counterlens.syntax.document import Document

# Blue and orange: told apart with every common form of colour blindness; words say the same.
_COLOURS = {
    Judgement.PASSED: "bold bright_blue",
    Judgement.FAILED: "bold dark_orange",
    Judgement.INVALID: "bold dark_orange",
    Judgement.TIMED_OUT: "bold dark_orange",
    Judgement.REFUSED: "dim",
}
_LINES_SHOWN = 16
_TOKENS_SHOWN = 5


def probe_report(
    probe: CompletionProbe, scored: Confidence | None, *, note: str | None = None, root: Path | None = None
) -> Group:
    """The completion probe of one function.

    Args:
        probe: What was found.
        scored: Confidence on the same document, if the model gives it.
        note: Why there is no confidence, if there is none.
        root: The folder that a path below it is named from.
    """
    parts: list[RenderableType] = [_title(probe, root), Text()]
    parts += _confidence_lines(probe, scored, note)
    for pair in probe.pairs:
        parts += [Text(), *_pair(probe.document, pair)]
    if probe.pairs and probe.task != "likelihood":
        parts += [Text(), _table(probe)]
    parts += [*_left_out(probe), Text(), *_closing(probe)]
    return Group(*parts)


def _title(probe: CompletionProbe, root: Path | None) -> Text:
    function, info, path = probe.function, probe.model, probe.document.path
    if path is not None and root is not None and path.is_relative_to(root):
        path = path.relative_to(root)
    place = f"{path or '<text>'}:{function.start_line}-{function.end_line}"
    details = dict(info.details)
    threads = f", {details['threads']} threads" if "threads" in details else ""
    return Text.assemble(
        (function.qualname, "bold"), f"   {place}   ", (f"{info.name}, {info.where}{threads}", "dim")
    )


def _confidence_lines(probe: CompletionProbe, scored: Confidence | None, note: str | None) -> list[Text]:
    if scored is None:
        return [Text(f"confidence  {note or 'not measured'}", style="dim")]
    start, end = probe.function.start, probe.function.end
    value = scored.within(start, end)
    line = Text.assemble(("confidence ", "bold"), f"{value:.2f}" if value is not None else "unknown")
    least = _least_certain(scored, start, end)
    if least:
        line.append(f"   least sure: {least}")
    inside = [n for n in scored.nodes if n.named and start <= n.start and n.end <= end]
    grouped: dict[Category, list[float]] = {}
    for node in inside:
        if node.confidence is not None and node.category is not Category.STRUCTURE:
            grouped.setdefault(node.category, []).append(node.confidence)
    concepts = "  ".join(f"{name} {sum(v) / len(v):.2f}" for name, v in sorted(grouped.items()))
    return [line, Text(f"  {concepts}", style="dim")]


def _least_certain(scored: Confidence, start: int, end: int) -> str:
    """The token of the function's code that the model found least likely, and what it expected."""
    docstrings = [(n.start, n.end) for n in scored.nodes if n.kind in {"string", "comment"}]
    best: int | None = None
    for i in range(len(scored.scores)):
        first, last = int(scored.scores.start[i]), int(scored.scores.end[i])
        if first < start or last > end or any(low < last and first < high for low, high in docstrings):
            continue
        if scored.scores.rank[i] < 0 or not scored.document.data[first:last].strip():
            continue
        if best is None or scored.scores.logprob[i] < scored.scores.logprob[best]:
            best = i
    if best is None:
        return ""
    positions = scored.document.positions
    line = positions.line_of(int(scored.scores.start[best]))
    text = positions.data[positions.line_start(line) :].split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    token = positions.data[int(scored.scores.start[best]) : int(scored.scores.end[best])].decode(
        "utf-8", "replace"
    )
    expected = scored.scores.alternative_text[best]
    better = f", it expected {_visible(expected[0])}" if expected else ""
    chance = scored.scores.probability[best]
    return f"{_visible(token)} in `{text}`, line {line + 1} ({share(chance)}{better})"


def _visible(token: str) -> str:
    return f"`{token.strip() or token.encode('unicode_escape').decode()}`"


def _pair(document: Document, pair: Pair) -> list[RenderableType]:
    found = pair.counterfactual
    head = Text.assemble(
        (found.mutation, "bold"),
        f"  {found.concept}, line {found.start_line}",
        (f"   {found.description}", "dim"),
    )
    sides = Table.grid(expand=True, padding=(0, 1))
    sides.add_column(ratio=1)
    sides.add_column(ratio=1)
    sides.add_row(
        _side("after the original, it wrote", pair.gap.before, pair.original),
        _side("after the counterfactual, it wrote", pair.mutated_gap.before, pair.mutated),
    )
    parts: list[RenderableType] = [head, _indented(diff(document.text, found.source))]
    if pair.original.completion is not None:
        parts.append(sides)
    if pair.likelihood:
        parts += _likelihood_lines(pair.likelihood)
    return parts


def _likelihood_lines(effect: LikelihoodEffect) -> list[Text]:
    lines = [Text(f"  the true rest is {likelihood(effect)}")]
    lines += [
        Text(
            f"    {_visible(one.text)} in line {one.line}: {share(math.exp(one.original))} before, "
            f"{share(math.exp(one.mutated))} after",
            style="dim",
        )
        for one in effect.changes[:_TOKENS_SHOWN]
    ]
    return lines


def _side(title: str, before: str, attempt: Attempt) -> Panel:
    asked = before.replace("\r\n", "\n").rstrip("\n").splitlines()[-1:]
    body = Text()
    for line in asked:
        body.append(f"{line}\n", style="dim")
    body.append(_clipped((attempt.completion or "").rstrip()))
    if attempt.finish == "length":
        body.append("\n… cut off at the token limit", style="dim italic")
    verdict = attempt.verdict
    state = Text(f"{verdict.judgement.replace('_', ' ')}", style=_COLOURS[verdict.judgement])
    if rests_on(verdict.evidence):
        body.append(f"\n\n{rests_on(verdict.evidence)}", style="dim")
    if verdict.evidence.message and not verdict.passed:
        body.append("\n\n" + _clipped(verdict.evidence.message.strip(), 6), style="italic")
    return Panel(body, title=title, title_align="left", subtitle=state, subtitle_align="left")


def _table(probe: CompletionProbe) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("counterfactual", "concept", "line", "original", "counterfactual", "effect", ""):
        table.add_column(column, no_wrap=column != "")
    for pair in probe.pairs:
        effect = pair.effect
        shown = "-" if effect is None or not effect.informative else str(effect.mutation_effect)
        table.add_row(
            pair.counterfactual.mutation,
            pair.counterfactual.concept,
            str(pair.counterfactual.start_line),
            _judgement(pair.original),
            _judgement(pair.mutated),
            shown,
            outcome(pair),
        )
    return table


def _left_out(probe: CompletionProbe) -> list[RenderableType]:
    """What was not asked, by reason: nothing is dropped in silence."""
    reasons: dict[str, list[str]] = {}
    for refusal in probe.refusals:
        reasons.setdefault(f"refused: {refusal.reason}", []).append(refusal.mutation)
    for dropped, verdict in probe.dropped:
        reasons.setdefault(f"left out: its own program {verdict.judgement}", []).append(dropped.mutation)
    if not reasons:
        return []
    table = Table(box=None, pad_edge=False, header_style="dim", style="dim")
    table.add_column("not asked", ratio=2)
    table.add_column("why", ratio=3)
    for reason, names in reasons.items():
        table.add_row(", ".join(dict.fromkeys(names)), reason)
    return [Text(), table]


def _judgement(attempt: Attempt) -> Text:
    judgement = attempt.verdict.judgement
    return Text(judgement.replace("_", " "), style=_COLOURS[judgement])


def _closing(probe: CompletionProbe) -> list[Text]:
    found, lines = probe.summary, []
    average = found.average
    if average.n and average.value is not None and average.low is not None and average.high is not None:
        lines.append(
            Text(
                f"{average.count} of {plural(average.n, 'informative pair')} changed the verdict "
                f"(average mutation effect {average.value:.2f}, 95 % interval {average.low:.2f} to "
                f"{average.high:.2f})."
            )
        )
        if found.mcnemar is not None:
            lines.append(
                Text(
                    f"{found.lost} lost, {found.gained} gained (signed effect {found.signed:+.2f}, McNemar's "
                    f"exact p {found.mcnemar:.2g}); {found.uninformative} uninformative left out."
                )
            )
    elif probe.pairs and probe.judged_by:
        lines.append(Text(f"None of the {plural(len(probe.pairs), 'pair')} is informative."))
    if probe.judged_by:
        lines.append(Text(f"Judged by {probe.judged_by}."))
    elif probe.why_not_judged:
        lines.append(Text(f"Nothing can judge it: {probe.why_not_judged}."))
    if probe.note:
        lines.append(Text(probe.note, style="dim"))
    lines.append(Text.assemble(("What this means: ", "bold"), meaning(probe)))
    return lines


def diff(before: str, after: str, context: int = 2) -> Text:
    """The difference of two sources, unified, without file headers."""
    text = Text()
    for line in _diff_lines(before, after, context):
        style = {"+": "bright_blue", "-": "dark_orange", "@": "dim"}.get(line[:1], "")
        text.append(line + "\n", style=style)
    text.rstrip()
    return text


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 2), expand=False)


def _diff_lines(before: str, after: str, context: int) -> Iterator[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=context)
    for number, line in enumerate(lines):
        if number >= 2:
            yield line


def _clipped(text: str, lines: int = _LINES_SHOWN) -> str:
    shown = text.splitlines()
    if len(shown) <= lines:
        return text
    return "\n".join([*shown[:lines], f"… {len(shown) - lines} more lines"])


def mutation_report(
    document: Document, found: Iterable[Counterfactual], refused: Iterable[Refusal], *, explain: bool
) -> Group:
    """Counterfactuals as diffs, and on request why others were refused."""
    parts: list[RenderableType] = []
    for one in found:
        kind = "keeps the meaning" if one.preserving else "breaks the meaning"
        assumed = f", assuming {', '.join(one.assumptions)}" if one.assumptions else ""
        parts += [
            Text.assemble(
                (one.mutation, "bold"),
                f"  {one.concept}, {one.function}, line {one.start_line}  ",
                (f"{kind}{assumed}", "dim"),
            ),
            Text(f"  {one.description}"),
            _indented(diff(document.text, one.source)),
            Text(),
        ]
    if not parts:
        parts.append(Text("No mutation applies here."))
    if explain:
        for refusal in refused:
            parts.append(
                Text(
                    f"refused  {refusal.mutation}, {refusal.function}, line {refusal.line}: {refusal.reason}"
                )
            )
    return Group(*parts)
