"""An explained completion: its first difference from the code, its lines, and its concepts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from counterlens.counting import plural
from counterlens.explaining.completing import Explained, WrittenToken
from counterlens.models.base import ModelInfo
from counterlens.reports.document import Block, Heading, Marked, Paragraph, Report, ReportCell, TableBlock
from counterlens.reports.expected import code
from counterlens.reports.syntax_figure import syntax_figure
from counterlens.reports.wording import share
from counterlens.syntax.concepts import Category

CAUTION = "A probability says what this model expects here, not what is right."


def departure_sentence(found: Explained) -> str:
    """The place where a completion differs from the existing code, with the probabilities of both."""
    gone = found.departure
    if found.fresh:
        return "There is no code yet."
    if gone is None:
        return "It wrote the existing code."
    kind = f", in {_article(gone.kind)}" if gone.kind else ""
    if not gone.wrote:
        return f"Line {gone.line}: it ended where {_likely(gone.stands, gone.stands_probability)} follows."
    if not gone.stands:
        return f"Line {gone.line}: it continued with {_likely(gone.wrote, gone.wrote_probability)}{kind}."
    return (
        f"Line {gone.line}: it wrote {_likely(gone.wrote, gone.wrote_probability)} instead of "
        f"{_likely(gone.stands, gone.stands_probability)}{kind}."
    )


def break_sentence(original: Explained, counterfactual: Explained) -> str:
    """Compare the two sides of a counterfactual."""
    if original.fresh or counterfactual.fresh:
        return "There is no code yet to compare with."
    before, after = original.departure, counterfactual.departure
    if before is None and after is None:
        return "It wrote the existing code on both sides: no break."
    if before is None:
        return "It departs from the code only after the change: its expectation did not follow the change."
    if after is None:
        return "It departs from the code only before the change; after it, it writes the existing code."
    return "It departs from the code on both sides, so the change alone explains nothing."


def explanation_report(found: Sequence[tuple[str, Explained]], info: ModelInfo, title: str) -> Report:
    """A completion, at one place or on both sides of a counterfactual."""
    caution = f"{info.name} ({info.where}). {CAUTION}"
    blocks: list[Block] = [Heading(1, title), Paragraph(caution, quiet=True)]
    if len(found) == 2:
        (_, before), (_, after) = found
        blocks.append(Paragraph(break_sentence(before, after), lead="where it broke"))
    if any(one.nodes for _, one in found):
        blocks.append(syntax_figure(found))
    for name, one in found:
        blocks += [Heading(2, name), Paragraph(departure_sentence(one)), *_errors(one)]
        blocks.append(_lines(one))
        if concepts := _concepts(one):
            blocks.append(concepts)
    return Report(title, tuple(blocks))


def _likely(text: str, probability: float | None) -> str:
    return code(text) if probability is None else f"{code(text)} ({share(probability)})"


def _article(kind: str) -> str:
    name = kind.replace("_", " ")
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _errors(found: Explained) -> Iterator[Block]:
    lines = [found.scored.document.positions.line_of(node.start) + 1 for node in found.errors]
    if lines:
        where = ", ".join(str(line) for line in dict.fromkeys(lines))
        yield Paragraph(f"Its completion does not parse: line {where}.", lead=Marked("ERROR", "failed"))
    if found.completion.finish == "length":
        yield Paragraph("The token limit cut it off.", quiet=True)


def _lines(found: Explained) -> TableBlock:
    """Each line of the completion, with its mean probability and its least certain token."""
    by_line: dict[int, list[WrittenToken]] = {}
    for token in found.tokens:
        if token.probability is not None and token.text.strip():
            by_line.setdefault(token.line, []).append(token)
    lines = found.scored.document.text.splitlines()
    rows: list[tuple[ReportCell, ...]] = []
    for number, tokens in by_line.items():
        known = [token.probability for token in tokens if token.probability is not None]
        least = min(tokens, key=lambda token: token.probability or 0.0)
        rows.append(
            (
                number,
                share(sum(known) / len(known)),
                lines[number - 1],
                f"{least.text.strip()} {share(least.probability or 0.0)}",
                ", ".join(f"{text} {share(value)}" for text, value in least.others),
            )
        )
    columns = ("line", "mean probability", "it wrote", "least sure", "or rather")
    return TableBlock("", columns, tuple(rows), note="" if rows else "It wrote nothing.")


def _concepts(found: Explained) -> TableBlock | None:
    concepts = found.scored.concepts_in(found.start, found.end)
    rows = tuple(
        (name, share(value), n) for name, (value, n) in concepts.items() if name != Category.STRUCTURE
    )
    title = f"{plural(len(found.nodes), 'node')} written by the model, by concept"
    return TableBlock(title, ("concept", "mean probability", "nodes"), rows) if rows else None
