"""Readings: what a scripted model writes from a docstring, run beside right and wrong code in the sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterlens.errors import SourceError
from counterlens.judging.versions import InputOutcomes, VersionOutcome, VersionRuns
from counterlens.models.base import Capability, Completion, Model, ModelInfo, Prompt
from counterlens.probes.options import make
from counterlens.probes.probe import Context
from counterlens.probes.reading.probe import ReadingRecord
from counterlens.probes.reading.readings import USUAL, disagreement
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import run_targets
from counterlens.probes.subjects import targets_in
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

HALF_UP = '''\
"""Rounding."""

STEP = 2


def parity(n: int) -> int:
    return n % STEP


def unrelated(n: int) -> int:
    return n


def half_up(n: int) -> int:
    """Return half of an integer, rounded up.

    >>> half_up(3)
    2
    """
    return (n - parity(n)) // STEP + parity(n)
'''
WRONG = HALF_UP.replace("(n - parity(n)) // STEP + parity(n)", "n // STEP + (n == 3)")
NEGATIVE = HALF_UP.replace(
    "    return (n - parity(n))", "    if n < 0:\n        return 0\n    return (n - parity(n))"
)
RIGHT_BODY = "    return -(-n // 2)\n"


class Author:
    """A model that writes bodies: the first without a draw, then one for each draw."""

    def __init__(self, bodies: Sequence[str], *, samples: bool = True) -> None:
        offered = {Capability.COMPLETE, Capability.EXACT, *([Capability.SAMPLE] if samples else [])}
        self.info = ModelInfo("author", "author", "0", "local", frozenset(offered))
        self.bodies, self.asked = bodies, list[Prompt]()

    def offers(self, capability: Capability, **_: Any) -> bool:
        return capability in self.info.capabilities

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        self.asked += prompts
        return [Completion(self.bodies[p.draw.index + 1 if p.draw else 0], "stop", 9) for p in prompts]


def read(source: str, author: Author, name: str = "half_up", **options: Any) -> ReadingRecord:
    probe = PROBES["reading"]
    targets = [target for target in targets_in(Document(source)) if target.qualname == name]
    run = run_targets(
        probe, Context(cast(Model, author), best_sandbox), targets, make(probe.options, options)
    )
    assert run.probed, [record.reason for record in run.records]
    return cast(ReadingRecord, run.probed[0])


def test_the_model_sees_the_docstring_and_what_the_function_uses_and_no_body() -> None:
    author = Author([RIGHT_BODY])
    record = read(HALF_UP, author)
    shown = author.asked[0].text
    assert record.alike
    assert (len(record.readings), record.disagreement) == (1, None), "one answer is enough"
    assert "def parity" in shown
    assert "STEP = 2" in shown
    assert "rounded up." in shown
    assert "unrelated" not in shown
    assert "return (n" not in shown
    assert shown.index("def parity") < shown.index("def half_up")


def test_versions_that_agree_name_an_input_on_which_the_code_does_otherwise() -> None:
    record = read(WRONG, Author([RIGHT_BODY] * 6))
    told = record.disagreement
    assert told is not None
    n = int(told.call.removeprefix("half_up(").removesuffix(")"))
    assert n > 0
    assert (told.code, told.readings) == (f"returned {n // 2}", f"returned {-(-n // 2)}")
    assert (told.agreeing, told.of, record.alike) == (6, 6, False)
    probe = PROBES["reading"]
    assert probe.summary([record]).endswith(
        f"Docstring and code disagree: `{told.call}` {told.code}; 6 of 6 versions written from the docstring "
        f"{told.readings}."
    )
    overall, listing = probe.tables([record], seed=0)
    assert [cell.value for cell in overall.rows[0][1:]] == [0.0, 0.0, 1.0]
    assert listing.rows[0][-1] == "6 of 6"


def test_an_input_that_is_unlike_the_given_ones_shows_nothing_and_without_any_all_must_agree() -> None:
    right, other = RIGHT_BODY, "    return abs(n)\n"
    assert read(NEGATIVE, Author([right] * 6)).disagreement is None
    none_given = NEGATIVE.replace("\n    >>> half_up(3)\n    2\n", "")
    told = read(none_given, Author([right] * 6)).disagreement
    assert told is not None
    assert told.call.startswith("half_up(-")
    assert read(none_given, Author([right, other, right, right, right, right])).disagreement is None


def test_versions_that_differ_from_each_other_say_nothing() -> None:
    bodies = [RIGHT_BODY, *(f"    return -(-n // 2) if n == 3 else n - {k}\n" for k in range(5))]
    assert read(WRONG, Author(bodies)).disagreement is None


def test_versions_that_fail_an_example_do_not_count() -> None:
    wrong = [f"    return n + {k}\n" for k in range(3)]
    record = read(WRONG, Author([*wrong, RIGHT_BODY, RIGHT_BODY, RIGHT_BODY]))
    assert [bool(reading.dropped) for reading in record.readings] == [True, True, True, False, False, False]
    assert record.disagreement is None, "three that count are too few"


def test_a_model_that_cannot_sample_is_read_once() -> None:
    record = read(WRONG, Author([RIGHT_BODY], samples=False))
    assert (len(record.readings), record.alike, record.disagreement) == (1, False, None)


@pytest.mark.parametrize(
    "docstring", ["", '    """Halve."""\n', '    """Halve.\n\n    >>> f(2)\n    1\n    """\n']
)
def test_a_docstring_shorter_than_a_sentence_is_not_read(docstring: str) -> None:
    target = targets_in(Document(f"def f(n: int) -> int:\n{docstring}    return n // 2\n"))[0]
    probe = PROBES["reading"]
    with pytest.raises(SourceError, match="shorter than a sentence"):
        probe.check_target(target, make(probe.options, {}))


Groups = list[list[int | None]]


NO_INPUTS = '''\
import no_module_of_this_name


def half_up(n: int) -> int:
    """Return half of an integer, rounded up."""
    return n
'''


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (NO_INPUTS, "its file cannot be imported"),
        (
            NO_INPUTS.replace("up.", "up.\n\n    >>> half_up(3)\n    2\n    "),
            "imported.*no_module_of_this_name",
        ),
        (NO_INPUTS.partition("\n\n\n")[2].replace("return n", "return n[0]"), "too few generated inputs"),
    ],
)
def test_nothing_is_written_for_code_that_no_input_can_compare(source: str, reason: str) -> None:
    author = Author([RIGHT_BODY])
    with pytest.raises(AssertionError, match=reason):
        read(source, author)
    assert not author.asked


@given(
    st.lists(st.lists(st.sampled_from([None, 0, 1, 2, 3]), min_size=7, max_size=7), max_size=6),
    st.sets(st.integers(1, 6)),
)
def test_a_disagreement_has_a_majority_and_the_code_is_not_in_it(groups: Groups, counted: set[int]) -> None:
    """Group 0 is the code's; a group is the index of its first member, so later ones join it."""
    inputs = tuple(
        InputOutcomes(f"f({at})", False, tuple(_outcomes([0, *row[1:]]))) for at, row in enumerate(groups)
    )
    told = disagreement(VersionRuns(inputs, (None,) * 7), sorted(counted))
    if told is None:
        return
    assert told.of == len(counted)
    assert told.agreeing >= max(USUAL.given.fewest, USUAL.given.share * len(counted))
    outcomes = next(each for each in inputs if each.call == told.call).outcomes
    members = [at for at in counted if outcomes[at].text == told.readings]
    assert len(members) == told.agreeing
    assert outcomes[0].text == told.code != told.readings


def _outcomes(row: Sequence[int | None]) -> Sequence[VersionOutcome]:
    first: dict[int, int] = {}
    outcomes = []
    for at, value in enumerate(row):
        if value is None:
            outcomes.append(VersionOutcome("raised ValueError", False, None))
        else:
            outcomes.append(VersionOutcome(f"returned {value}", True, first.setdefault(value, at)))
    return outcomes
