"""The gate and the budget of runs; what a pull request is told: of its own lines, with something to do."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from counterlens.cli.main import main
from counterlens.datasets.repository import repository
from counterlens.evaluation.gate import gate, gate_outcome
from counterlens.evaluation.results import RunResults
from counterlens.evaluation.settings import LEAST_INFORMATIVE, RunSettings
from counterlens.evaluation.store import Item, StoredRecord
from counterlens.evaluation.time_limit import TimeLimit
from counterlens.probes.pairs.counterfactuals import ELSEWHERE
from counterlens.probes.pairs.record import DroppedCounterfactual, RefusedSite, judged_pairs
from counterlens.reports.build.comparison import gate_lines
from counterlens.reports.build.evaluation import progress_of, why_nothing
from tests.evaluation.made_up import pair, pairs_record, results
from tests.evaluation.scripted_models import HABIT, RIGHT, WEAK, served

FUNCTION = '''

def {name}(value, least):
    """Choose.

    >>> {name}(1, 3)
    3
    >>> {name}(5, 3)
    5
    """
    if value < least:
        found = least
    else:
        found = value
    if least == value:
        found = value + 0
    return found
'''


def held(lost: int, kept: int, wavering: int = 0) -> RunResults:
    """A run in which each function has one pair; of the first ones a placebo changes the verdict, too."""
    records = []
    for i in range(lost + kept):
        record = replace(pairs_record(f"f{i}", pair(True, i >= lost)), placebos=(pair(True, i >= wavering),))
        records.append((Item(i, f"m|{i}", "m", f"f{i}", "f", "00", "completion"), StoredRecord(record)))
    return RunResults(RunSettings(("completion",), "data", ("m",)), len(records), {}, tuple(records))


@pytest.mark.parametrize(
    ("run", "least", "outcome", "said"),
    [
        (held(30, 10), 0.8, "FAILED", "FAILED, m keeps 25%"),
        (held(1, 39), 0.8, "passed", "passed, m keeps 98%"),
        (held(2, 5), 0.8, "passed", "too few pairs"),
        (held(1, 2), 0.8, "inconclusive", "fewer than 6 informative pairs"),
        (held(0, 5), 0.8, "inconclusive", "inconclusive, m keeps 100%"),
        (held(0, 6), 0.8, "passed", "passed, m keeps 100%"),
        (held(1, 9), 1.0, "FAILED", "FAILED, m keeps 90%"),
        (held(1, 2), 1.0, "FAILED", "FAILED, m keeps 67%"),
        (held(0, 9), 1.0, "passed", "passed, m keeps 100%"),
        (held(30, 10, wavering=30), 0.8, "passed", "noise"),
        (held(0, 0), 0.8, "inconclusive", "no pair was judged"),
        (results((False, False)), 0.8, "inconclusive", "inconclusive, m completed no pair"),
    ],
)
def test_the_gate_fails_where_it_is_sure_and_more_than_noise(
    run: RunResults, least: float, outcome: str, said: str
) -> None:
    gates = gate(run, least, LEAST_INFORMATIVE)
    assert gate_outcome(gates) == outcome
    (line,) = gate_lines(gates, least)
    assert said in line


def test_a_budget_is_shared_by_the_models_and_spent_on_the_same_functions() -> None:
    now = [0.0]
    settings = RunSettings(("completion",), "data", ("a", "b"), minutes=1)
    limit = TimeLimit(settings, lambda: now[0])
    items = {
        model: [[Item(i, f"{model}{i}", model, f"f{i}", "f", "00", "completion")] for i in range(5)]
        for model in "ab"
    }
    begun = []
    for (item,) in limit.begun(items["a"], ["a"], 1, []):
        begun.append(item)
        now[0] += 12
    assert [item.problem for item in begun] == ["f0", "f1", "f2"]  # 30 of the 60 seconds
    now[0] = 40.0
    left = [item for (item,) in limit.begun(items["b"], ["b"], 0, begun)]
    assert [item.problem for item in left] == ["f0", "f1", "f2"]
    both = [[*pair[0], *pair[1]] for pair in zip(*items.values(), strict=True)]
    assert list(limit.begun(both, ["a", "b"], 0, begun)) == both
    now[0] = 61.0
    assert list(limit.begun(items["b"], ["b"], 0, begun)) == []
    free = TimeLimit(RunSettings(("completion",), "data", ("a",)))
    assert list(free.begun(items["b"], ["b"], 0, begun)) == items["b"]


def test_an_empty_result_says_why() -> None:
    dropped = DroppedCounterfactual("if-else-flip", 1, "changed", "failed", None, "")
    refused = RefusedSite("rename-random", 2, "it is read by name")
    run = results(None, (None, None))
    (first, left_out), (second, stored) = run.records
    found = replace(stored.record, pairs=(), dropped=(dropped,), refused=(refused, refused))
    empty = replace(run, records=((first, left_out), (second, StoredRecord(found))))
    (line,) = why_nothing(empty)
    said, _, reasons = line.partition(": no pair of 2 functions could be judged: ")
    assert said == "no result for m"
    assert reasons.split("; ") == [
        "if-else-flip is judged differently from the original (1)",
        "it is read by name (1)",
        "no tests (1)",
    ]
    elsewhere = replace(found, refused=(refused, RefusedSite("rename-random", 3, ELSEWHERE)))
    (line,) = why_nothing(replace(run, records=((second, StoredRecord(elsewhere)),)))
    assert line.endswith(f"no pair of 1 function could be judged: {ELSEWHERE} (1)")  # that is what to know
    hurried = replace(run, records=(), settings=replace(run.settings, minutes=0.5))
    assert progress_of(hurried) == "The time limit of 0.5 minutes was too short to start: raise it."
    assert list(why_nothing(results((False, False)))) == []  # it is too weak, which is said elsewhere
    assert list(why_nothing(results(None, task="likelihood"))) == []


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def branch(tmp_path: Path) -> Path:
    """A repository whose branch changes the second condition of one function; main has gone on elsewhere."""
    folder = tmp_path / "repository"
    folder.mkdir()
    source = "".join(FUNCTION.format(name=name) for name in ("first", "second", "third")).lstrip()
    (folder / "code.py").write_text(source)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    git(folder, "checkout", "-qb", "work")
    head, _, tail = source.partition("def second")
    (folder / "code.py").write_text(head + "def second" + tail.replace("least == value", "value == least", 1))
    git(folder, "commit", "-qam", "two")
    git(folder, "checkout", "-q", "main")
    (folder / "code.py").write_text(source.replace("found = value + 0", "found = 0 + value", 1))
    git(folder, "commit", "-qam", "three")
    git(folder, "checkout", "-q", "work")
    return folder


def test_a_branch_is_compared_with_where_it_parted(branch: Path) -> None:
    (only,) = repository(f"repo:{branch}", since="main")
    assert only.function == "second"
    changed = branch.joinpath("code.py").read_text().splitlines().index("    if value == least:") + 1
    assert only.lines == ((changed, changed),)


@pytest.fixture
def endpoint(branch: Path) -> Iterator[str]:
    with served(branch) as url:
        yield url


def test_a_pull_request_is_told_what_its_author_can_do_about_its_own_lines(
    branch: Path,
    endpoint: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(branch)
    (branch / "counterlens.toml").write_text("placebos = 0\nmutation = ['refactor-condition']\n")
    asked = ["changed", "--since", "main", "--base-url", endpoint, "--allow-weaker-sandbox"]

    def run(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main([*asked, *arguments])
        return int(ended.value.code or 0), capsys.readouterr().out

    models = ["-m", f"remote:{HABIT}", "-m", f"remote:{WEAK}"]
    code, out = run(*models, "--out", str(tmp_path / "run"), "--fail-under", "1", "--github")
    assert code == 3
    found = RunResults.read(tmp_path / "run")
    changed = branch.joinpath("code.py").read_text().splitlines().index("    if value == least:") + 1
    pairs = [one for _, stored in found.records for one in judged_pairs(stored.record)]
    assert pairs
    assert all(one.start_line <= changed <= one.end_line for one in pairs)
    warning = next(line for line in out.splitlines() if line.startswith("::warning"))
    assert f"file=code.py,line={changed}," in warning
    assert "Before you accept a suggestion here, run " in warning
    assert f"gate 100%: FAILED, remote:{HABIT}" in out
    assert f"remote:{WEAK} writes nothing right here" in " ".join(out.split())
    code, out = run("-m", f"remote:{WEAK}", "--fail-under", "0.8", "--min-informative", "1")
    assert (code, f"gate 80%: inconclusive, remote:{WEAK} completed no pair correctly" in out) == (4, True)
    code, out = run("-m", f"remote:{RIGHT}", "--fail-under", "0.8")
    assert (code, "fewer than 6 informative pairs (--min-informative)" in " ".join(out.split())) == (4, True)
    code, out = run("-m", f"remote:{RIGHT}", "--fail-under", "0.8", "--min-informative", "1")
    assert (code, f"gate 80%: passed, remote:{RIGHT} keeps 100%" in out) == (0, True)
    assert run("-m", f"remote:{RIGHT}", "--min-informative", "1")[0] == 2
    code, out = run("-m", f"remote:{RIGHT}", "--mutation", "rename-random")
    assert code == 0
    assert "no result for remote:right: no pair of 1 function could be judged: " in " ".join(out.split())
    assert " ".join(out.split()).count("it changes none of the selected lines (1)") == 1
    branch.joinpath("code.py").write_text("def alone(x):\n    return x\n")
    code, out = run("-m", f"remote:{RIGHT}")
    assert code == 0
    assert out.startswith("nothing to ask: no selected function of ")
    assert "\n  Add a doctest, or a test_*.py that calls it" in out


def test_a_run_that_is_not_kept_is_not_offered_to_be_resumed(
    branch: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(branch)
    asked = ["changed", "--since", "main", "--allow-weaker-sandbox", "-m", "remote:gone"]
    with pytest.raises(SystemExit) as ended:
        main([*asked, "--base-url", "http://127.0.0.1:9/v1", "--placebos", "0"])
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "--out FOLDER stores the run" in said
    assert "--resume" not in said
