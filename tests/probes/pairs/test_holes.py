"""Holes of commits: which statements they are, how completions fill them, and what a run shows of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterlens.datasets.repository import repository
from counterlens.errors import OptionError, SourceError
from counterlens.evaluation.results import RunResults
from counterlens.models.base import Completion, Prompt
from counterlens.models.stopping import cut
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.options import make
from counterlens.probes.pairs.completion import CompletionOptions, CompletionProbe
from counterlens.probes.pairs.holes import LONGEST, holes_of
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.probe import Context, Target
from counterlens.probes.record import read, write_record
from counterlens.probes.runner import is_suited, run_probe
from counterlens.reports.run_formats import write_evaluation
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from tests.conftest import short_model
from tests.evaluation.running import command_of, run
from tests.folders import emptied
from tests.probes.pairs.test_completion import Scripted

GIT = shutil.which("git") or ""
pytestmark = pytest.mark.skipif(not GIT, reason="needs git")
FIRST = '''def fare(stops, child):
    """
    >>> fare([2, 3], False)
    5
    >>> fare([9, 3], True)
    5
    >>> fare([2, -1], False)
    2
    """
    price = 0
    for stop in stops:
        price += stop
    return price
'''
SKIP = "        if stop < 0:\n            continue\n"
NEXT = "        price += stop"
CHILD = "    if child and price > 10:\n        price -= 2\n    if child:\n        price = price // 2\n"
SECOND = FIRST.replace("        price += stop\n", f"{SKIP}        price += stop\n")
THIRD = SECOND.replace("    return price\n", f"{CHILD}    return price\n")


def commit(folder: Path, text: str, day: str) -> None:
    (folder / "fares.py").write_text(text)
    who = ("-c", "user.name=A", "-c", "user.email=a@b.example", "-c", "commit.gpgSign=false")
    dated = os.environ | {"GIT_AUTHOR_DATE": f"{day}T12:00Z"}
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", day)):
        subprocess.run([GIT, *who, *command], cwd=folder, check=True, capture_output=True, env=dated)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in which two commits added statements to a function; no test changes it."""
    folder = tmp_path_factory.mktemp("fares")
    for text, day in ((FIRST, "2023-01-01"), (SECOND, "2024-02-01"), (THIRD, "2025-06-01")):
        commit(folder, text, day)
    return folder


@pytest.fixture
def history(made: Path, common_folder: Path) -> Path:
    """A copy of it in the folder of all tests, which has an interpreter that waits."""
    return Path(shutil.copytree(made, emptied(common_folder), dirs_exist_ok=True))


def target(folder: Path, **more: Any) -> Target:
    return Target(Document.read(folder / "fares.py"), "fare", **more)


def code_of(folder: Path, **more: Any) -> list[str]:
    chosen = target(folder, **more)
    return [chosen.document.data[hole.start : hole.end].decode() for hole in holes_of(chosen)]


def test_a_hole_has_the_statements_that_one_commit_added_to_a_block(history: Path) -> None:
    assert code_of(history) == [SKIP.rstrip(), CHILD.rstrip()]
    assert code_of(history, lines=((16, 16),)) == [CHILD.rstrip()]
    text = THIRD.replace("price -= 2", "price -= 2  # a group\n        assert price")
    commit(history, text, "2026-01-01")  # now the first `if` is of two commits
    assert code_of(history) == [
        SKIP.rstrip(),
        "        price -= 2  # a group\n        assert price",
        "    if child:\n        price = price // 2",
    ]
    (history / "fares.py").write_text(text.replace("// 2", "// 2 + 0"))  # which is not committed
    assert len(code_of(history)) == 2


def test_a_hole_shows_a_first_statement_and_is_not_long(history: Path) -> None:
    body = "".join(f"    price += {number}\n" for number in range(LONGEST + 3))
    new = f"\n\ndef new():\n{body}    return price\n\n\ndef short():\n    a = 1; return a\n"
    commit(history, THIRD + new, "2026-01-01")
    document = Document.read(history / "fares.py")
    (hole,) = holes_of(Target(document, "new"))
    first, last = hole.lines(document)
    assert last - first + 1 == LONGEST
    assert document.data[hole.start : hole.end].endswith(b"return price")
    with pytest.raises(SourceError, match="no commit added a statement after its first one to short"):
        holes_of(Target(document, "short"))


def test_what_has_no_such_hole_is_refused(history: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="differs from --since"):
        holes_of(target(history, lines=((1, 2),)))
    with pytest.raises(SourceError, match="in a file of a git repository"):
        holes_of(Target(Document(THIRD), "fare"))
    with pytest.raises(OptionError, match="cannot be completed in Java"):
        holes_of(Target(Document("class A { int f() { return 1; } }", language="java"), "A.f"))
    (tmp_path / "fares.py").write_text(THIRD)
    with pytest.raises(SourceError, match="git gives none"):
        holes_of(target(tmp_path))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"holes": "commits", "cuts": "discriminating"}, "not where --cuts"),
        ({"holes": "commits", "cut_ranges": [[0.4, 0.6]]}, "not where --cuts"),
        ({"holes": "commits", "prefix_ratio": 0.5}, "not where --cuts"),
        ({"holes": "commits", "protocol": "cacp"}, "sets --holes to usual"),
        ({"training_cutoff": "2024-06-30"}, "needs code with a date"),
        ({"holes": "commits", "training_cutoff": "20240630"}, "must be a day such as"),
        ({"holes": "commits", "training_cutoff": "June"}, "must be a day such as"),
    ],
)
def test_options_that_contradict_it_are_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(OptionError, match=why):
        make(CompletionOptions, given)


def probe(model: Any, folder: Path, **given: Any) -> PairsRecord:
    options = make(CompletionOptions, {"holes": "commits", "placebos": 2, **given})
    record = run_probe(CompletionProbe(), Context(model, best_sandbox), target(folder), options)
    assert isinstance(record, PairsRecord), record.reason
    assert read(write_record(record), PairsRecord) == record
    return record


class Stopping(Scripted):
    """Ends its answers as back ends do."""

    def complete(self, prompts: Sequence[Prompt], **options: Any) -> list[Completion]:
        written = zip(prompts, super().complete(prompts, **options), strict=True)
        return [
            replace(answer, text=cut(answer.text, prompt.stop, at_line_start=True) or answer.text)
            for prompt, answer in written
        ]


def answers(repeated: str) -> Iterator[tuple[str, bool]]:
    yield SKIP + repeated, True
    yield SKIP.replace("<", ">") + repeated, False


@pytest.mark.parametrize("repeated", ["", f"{NEXT}\n    return 1\n", NEXT, "\nnext\n"])
def test_a_completion_fills_the_hole_and_nothing_after_it(history: Path, repeated: str) -> None:
    for wrote, right in answers(repeated):

        def answer(prompt: str, wrote: str = wrote) -> str:
            return CHILD if prompt.endswith("price += stop\n") else wrote

        record = probe(Stopping(answer), history, mutations=["rename-random"], placebos=0)
        assert [(hole.right, hole.written) for hole in record.holes] == [
            (right, "2024-02-01"),
            (True, "2025-06-01"),
        ]


def test_the_model_sees_what_precedes_and_is_told_what_follows(history: Path) -> None:
    class Filling(Scripted):
        def complete(self, prompts: Sequence[Prompt], **options: Any) -> list[Completion]:
            suffixes.update({prompt.text: prompt.suffix for prompt in prompts})
            return super().complete(prompts, **options)

    suffixes: dict[str, str] = {}
    record = probe(Filling(lambda prompt: CHILD if "+= stop" in prompt else SKIP), history)
    first, second = record.holes
    assert first.completion.prompt == THIRD[: THIRD.index(SKIP)]
    assert suffixes[first.completion.prompt].startswith("\n        price += stop\n    if child")
    assert suffixes[second.completion.prompt] == "\n    return price\n"
    assert {pair.cut.original for pair in record.pairs if pair.cut} <= {first.cut, second.cut}
    assert {pair.mutation for pair in record.pairs} >= {"rename-random", "operand-swap"}
    assert all(pair.original_right for pair in record.pairs)
    assert all(pair.counterfactual.prompt != pair.original.prompt for pair in record.pairs)
    assert record.placebos
    for pair in record.pairs:
        source = pair.source(THIRD)
        assert pair.counterfactual.prompt in source


def test_a_run_shows_the_code_after_the_training_cutoff_separately(history: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    common = ("--data", f"repo:{history}", "--allow-weaker-sandbox", "--model", str(short_model()))
    command = command_of("bench", *common, "--holes", "commits", "--mutation", "rename-random")
    command += ["--max-tokens", "8", "--training-cutoff", "2024-06-30", "--out", str(folder)]
    plan = run([*command, "--plan"])
    assert "about 7 prompts" in plan.stderr + plan.stdout
    done = run(command)
    assert done.returncode == 0, done.stderr
    results = RunResults.read(folder)
    table = next(table for table in results.tables() if table.title == "holes of commits")
    assert [row[1:3] for row in table.rows] == [
        ("all", 2),
        ("before the training cutoff", 1),
        ("after it", 1),
    ]
    (manifest,) = results.manifests.values()
    options = manifest["options"]["completion"]
    assert (options["holes"], options["training_cutoff"]) == ("commits", "2024-06-30")
    assert bool(results.speeds) != ("no speed is kept" in done.stderr)  # other programs may disturb it
    for speed in results.speeds.values():
        assert speed.first_token > 0
        assert speed.memory > 10_000_000
        assert "processor" in speed.machine
    for form in ("text", "markdown", "html"):
        report = write_evaluation(form, results).lower()
        assert ("quality and speed" in report) == bool(results.speeds)
        assert "holes of commits" in report
    nothing = run(command_of("bench", *common, "--holes", "commits", "--since", "HEAD", "--out", "x"))
    assert nothing.returncode != 0


def test_a_sample_has_functions_with_holes(history: Path) -> None:
    """Functions without one fill it up only if there are too few, and then are left out with the reason."""
    bare = [
        f'def twice_{i}(n):\n    """\n    >>> twice_{i}(2)\n    4\n    """\n    return n * 2\n'
        for i in range(6)
    ]
    (history / "doubles.py").write_text("\n\n".join(bare))
    commit(history, THIRD, "2025-07-01")
    options = make(CompletionOptions, {"holes": "commits"})
    for seed in range(4):
        drawn = targets_of(
            repository(f"repo:{history}"),
            limit=2,
            seed=seed,
            suited=lambda target: is_suited(CompletionProbe(), target, options),
        )
        assert len(drawn) == 2
        assert "fare" in [target.qualname for target in drawn]
    command = command_of(
        "bench", "--data", f"repo:{history}", "--allow-weaker-sandbox", "--limit", "1", "--plan"
    )
    plan = run([*command, "--model", str(short_model()), "--holes", "commits", "--mutation", "rename-random"])
    assert "1 function for each of 1 model, about 7 prompts" in plan.stderr + plan.stdout
