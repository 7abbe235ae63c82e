"""Single lines of solutions: the masked program reassembles, and the published number of tasks results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from counterlens.datasets import Problem, open_dataset
from counterlens.models.base import Api, Capability
from counterlens.probes.reference.lines import first_line, masked_lines
from tests.probes.reference.test_scores import Scripted, records, run, scores

LINES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"))
)
FILL: dict[str, Any] = {"api": Api.FILL, "capabilities": frozenset({Capability.COMPLETE, Capability.EXACT})}


@given(shown=LINES.filter(bool), solution=LINES)
def test_every_masked_line_reassembles_the_source(shown: list[str], solution: list[str]) -> None:
    prompt = "".join(f"{line}\n" for line in shown)
    source = prompt + "\n".join(solution)
    lines = list(masked_lines(Problem("1", "humaneval", "python", source, "f", prompt)))
    assert [line.text for line in lines] == [line for line in solution if line.strip()]
    for line in lines:
        last = [] if line.number == source.count("\n") + 1 else [line.after]
        assert line.before + "\n".join((line.text, *last)) == source
        assert line.before.count("\n") + 1 == line.number
        assert first_line(line.text) == line.text.strip() == first_line(f"{line.text}\n{line.after}")


def test_humaneval_has_the_published_number_of_lines(published: Path) -> None:
    problems = list(open_dataset(published / "humaneval"))
    assert sum(len(list(masked_lines(problem))) for problem in problems) == 1033


def test_each_line_is_asked_once_and_compared_exactly(published: Path) -> None:
    data = published / "humaneval"
    targets = {problem.id: problem for problem in open_dataset(data)}
    model = Scripted(lambda _: "    return 0\nmore", **FILL)
    ended = run(data, model, limit=3)
    assert len(model.asked) == len(scores(ended)) > 3
    for record in records(ended):
        problem = targets[record.target]
        for answer, line in zip(record.answers, masked_lines(problem), strict=True):
            assert answer.asked == f"line {line.number}"
            assert answer.scores == {"fim-line": line.text.strip() == "return 0"}
    assert all(prompt.text.endswith("\n") and prompt.stop.texts == ("\n",) for prompt in model.asked)
    right = Scripted(lambda prompt: next(_line(targets, prompt.text, prompt.suffix)), **FILL)
    assert all(each["fim-line"] for each in scores(run(data, right, limit=3)))


def _line(problems: dict[str, Problem], before: str, after: str) -> Iterator[str]:
    """The line between two texts."""
    for problem in problems.values():
        for line in masked_lines(problem):
            if (line.before, line.after) == (before, after):
                yield line.text
