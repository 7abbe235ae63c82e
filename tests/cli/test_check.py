"""`counterlens check`: forms, exit codes, what has changed, and what tests say."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from counterlens.cli import check as check_command
from counterlens.cli.options import ChosenModel
from counterlens.doubt import marking as doubt_marking
from counterlens.doubt.scope import DoubtScope
from counterlens.errors import Cancelled, CounterlensError, SandboxError
from counterlens.models.base import Capability, Completion, ModelInfo, Prompt
from counterlens.probes.reading import checking, marking
from counterlens.probes.reading.readings import USUAL, Consensus, Majority
from counterlens.progress import TimeBudget
from counterlens.sandbox.base import Sandbox
from counterlens.sandbox.registry import best_sandbox
from counterlens.trust import TrustError
from tests.cli.test_cli import Cli
from tests.doubt.conftest import WordModel
from tests.doubt.test_marking import LIKES

WRONG = '''def is_even(n):
    """Whether n is even.

    >>> is_even(2)
    True
    """
    return n % 2 != 0
'''
"""A function that fails its own example; `==` would pass it, and so would others."""
DECIDED = WRONG.replace(">>> is_even(2)\n    True", ">>> is_even(0), is_even(3)\n    (True, False)")
"""Only what does the same as `==` passes its example."""
UNTESTED = WRONG.replace(">>> is_even(2)", "Not tested:")
RIGHT = WRONG.replace("is_even", "is_odd").replace("even", "odd").replace("(2)", "(3)")
EITHER = WRONG.replace("is_even(2)", "is_even(2) in (True, False)")
FIELDS = [
    "path",
    "line",
    "column",
    "end_line",
    "end_column",
    "kind",
    "text",
    "alternative",
    "patch",
    "probability",
    "tests",
    "test",
    "message",
]


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    model = WordModel(LIKES)
    monkeypatch.setattr(ChosenModel, "opened", lambda _self: model)
    monkeypatch.setitem(doubt_marking.doubts.__kwdefaults__, "margins", {"comparison": 3.0})
    return Cli(capfd)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    return path


def test_a_mark_is_one_line_and_the_exit_code_says_that_there_is_one(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, "even.py", UNTESTED)
    ran = cli("check", path)
    assert (ran.code, ran.out) == (1, f"{path}:7:18: `!=`: did you mean `==`? (model preference over 99 %)\n")
    assert {"1", "0.1"} <= set(ran.err.splitlines()[-1].split())  # one mark, and how many may be false
    clean = cli("check", write(tmp_path, "clean.py", UNTESTED.replace("!=", "==")))
    assert (clean.code, clean.out) == (0, "")
    assert cli("check").code == 2
    assert cli("check", path, "--json", "--format", "sarif").code == 2


def test_json_has_the_fields_that_are_promised_and_folders_are_searched(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, "pack/even.py", UNTESTED)
    write(tmp_path, "pack/other.js", "export const f = (x) => x != 1;\n")
    ran = cli("check", tmp_path, "--json")
    assert ran.code == 1
    (mark,) = ran.json
    assert list(mark) == FIELDS
    assert mark["path"] == path.as_posix()
    assert (mark["line"], mark["column"], mark["end_line"], mark["end_column"]) == (7, 18, 7, 20)
    assert (mark["kind"], mark["text"], mark["alternative"], mark["tests"]) == (
        "comparison",
        "!=",
        "==",
        "none",
    )
    assert 0.9 < mark["probability"] < 1
    assert cli("check", tmp_path, "--format", "json").json == ran.json
    assert cli("check", write(tmp_path, "clean.py", "x = 1\n"), "--json").json == []
    assert "for Python only" in cli("check", tmp_path / "pack/other.js").err


def test_the_forms_for_services_name_the_place(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, "even.py", UNTESTED)
    annotated = cli("check", path, "--format", "github").out
    assert annotated.startswith(f"::warning file={path},line=7,endLine=7,title=Counterlens%3A comparison::")
    document = json.loads(cli("check", path, "--format", "sarif").out)
    (run,) = document["runs"]
    (result,) = run["results"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["comparison"]
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("comparison", 0, "note")
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 7, "startColumn": 18, "endLine": 7, "endColumn": 20}


@pytest.mark.parametrize(
    ("source", "said", "level"),
    [
        (DECIDED, "fail", "error"),
        (WRONG, "unconfirmed", "warning"),
        (EITHER, "same", "note"),
        (UNTESTED, "none", "note"),
        (RIGHT, None, None),
    ],
)
def test_tests_settle_a_mark(
    cli: Cli, tmp_path: Path, source: str, said: str | None, level: str | None
) -> None:
    path = write(tmp_path, "even.py", source)
    marks = cli("check", path, "--tests", "--json").json
    assert [mark["tests"] for mark in marks] == ([said] if said else [])
    assert cli("check", path).code == 1
    if said == "fail":
        assert marks[0]["message"].endswith("tests fail now and pass with it)")
        text = cli("check", path, "--tests").out
        said_of_test = "`is_even(0), is_even(3)`: expected (True, False), got (False, True)"
        assert text.endswith(f"pass with it); {said_of_test}\n")
    if said == "unconfirmed":
        assert "it passes the tests, not confirmed; `>=` passes, too; `is_even(" in marks[0]["message"]
    if level in {"error", "warning"}:
        (run,) = json.loads(cli("check", path, "--tests", "--format", "sarif").out)["runs"]
        assert run["results"][0]["level"] == level
    if said == "same":
        assert marks[0]["message"].endswith("no test distinguishes them)")


def test_a_function_whose_tests_fail_is_marked_in_every_form_although_no_fix_is_known(
    cli: Cli, tmp_path: Path
) -> None:
    path = write(tmp_path, "names.py", "def upper(name):\n    return {name}\n")
    tests = write(
        tmp_path,
        "test_names.py",
        "from names import upper\n\ndef test_upper():\n    assert upper('a') == 'A'\n",
    )
    ran = cli("check", path, "--tests")
    assert (ran.code, ran.out) == (1, f"{path}:1:5: `test_upper`: expected 'A', got {{'a'}}\n")
    assert ran.err.splitlines()[-1].startswith("1 mark in ")
    (mark,) = cli("check", path, "--tests", "--json").json
    assert list(mark) == FIELDS
    assert (mark["kind"], mark["text"], mark["alternative"], mark["tests"]) == (
        "tests",
        "upper",
        None,
        "fail",
    )
    assert (mark["test"]["path"], mark["test"]["line"]) == (tests.as_posix(), 4)
    annotated = cli("check", path, "--tests", "--format", "github").out
    assert annotated.startswith(f"::warning file={path},line=1,endLine=1,title=Counterlens%3A tests::")
    (run,) = json.loads(cli("check", path, "--tests", "--format", "sarif").out)["runs"]
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("tests", "error")
    assert result["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": 4}
    assert cli("check", path).code == 0  # without tests there is nothing to say
    tests.write_text(tests.read_text().replace("'A'", "{'a'}"))
    assert cli("check", path, "--tests").code == 0


def test_a_baseline_accepts_marks_wherever_their_lines_move(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, "even.py", UNTESTED)
    assert cli("check", path, "--write-baseline").code == 2
    write(tmp_path, "counterlens.toml", 'baseline = "marks.json"\n')
    accepting = cli("check", path, "--write-baseline")
    assert (accepting.code, accepting.out) == (0, "")
    path.write_text(f"import os\n\n{UNTESTED}".replace("n % 2 != 0", "(n % 2  !=  0)"))
    ran = cli("check", path)
    assert (ran.code, ran.out) == (0, "")
    assert f"1 mark accepted in {tmp_path / 'marks.json'}" in ran.err
    path.write_text(f"{UNTESTED}\n\n{UNTESTED.replace('is_even', 'again')}")
    ran = cli("check", path)
    assert (ran.code, len(ran.out.splitlines())) == (1, 1)
    path.write_text(f"{UNTESTED}    n != 2\n")
    assert cli("check", path).code == 1  # the same text a second time
    (tmp_path / "marks.json").write_text("{}")
    refused = cli("check", path)
    assert "is not a baseline of marks" in refused.err
    missing = cli("check", path, "--baseline", tmp_path / "none.json")
    assert "Write it with --write-baseline" in missing.err
    write(tmp_path, "counterlens.toml", "baseline = 3\n")
    assert "counterlens.toml:1: baseline is 3, but must be the path of a file" in cli("check", path).err


def test_margins_are_fitted_on_right_code_and_kept(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, "right.py", "\n\n".join(RIGHT.replace("is_odd", f"f{i}") for i in range(40)))
    unfitted = cli("check", path)
    assert "no margins are fitted for words, so nothing is marked" in unfitted.err
    fit = cli("check", path, "--fit", "--json").json
    assert fit["lines"] == 40
    ran = cli("check", path, "--fit")
    assert ran.code == 0
    assert ran.out.startswith("40 functions, 40 lines of code\n")
    kept = Path(ran.out.rpartition("kept in ")[2].strip())
    assert json.loads(kept.read_text())["margins"] == fit["margins"]
    assert "no margins" not in cli("check", path).err
    kept.unlink()
    for other in (["--tests"], ["--since", "HEAD"], ["--format", "sarif"]):
        refused = cli("check", path, "--fit", *other)
        assert (refused.code, "--fit excludes" in refused.err) == (2, True)


def test_excluded_tests_settle_nothing(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, "even.py", UNTESTED)
    write(tmp_path, "test_even.py", "from even import is_even\n\ndef test_two():\n    assert is_even(2)\n")
    (mark,) = cli("check", path, "--tests", "--json").json
    assert mark["tests"] == "unconfirmed"
    (mark,) = cli("check", path, "--tests", "--excluded-tests", "test_even.py", "--json").json
    assert mark["tests"] == "none"
    refused = cli("check", path, "--excluded-tests", "test_even.py")
    assert refused.code == 2
    assert "--excluded-tests: only with --tests" in refused.err


def test_only_functions_that_differ_from_a_revision_are_checked(cli: Cli, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True, capture_output=True)  # noqa: S607

    git("init", "-q")
    git("config", "diff.noprefix", "true")
    git("config", "color.ui", "always")
    path = write(tmp_path, "two.py", f"{UNTESTED}\n\n{UNTESTED.replace('is_even', 'again')}")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one")
    assert len(cli("check", path, "--json").json) == 2
    assert cli("check", tmp_path, "--since", "HEAD").code == 0
    path.write_text(path.read_text() + "    # below\n")
    path.write_text(path.read_text().replace("def again(n)", "def again(n: int)"))
    (mark,) = cli("check", tmp_path, "--since", "HEAD", "--json").json
    assert mark["line"] > 8
    ran = cli("check", tmp_path, "--since", "nowhere")
    assert ran.code == 1
    assert "cannot compare" in ran.err


HALVES = '''def half(n: int) -> int:
    """Return half of an integer, rounded up."""
    return n // 2


def silent(n: int) -> int:
    """Double it."""
    return n
'''


class WritingModel(WordModel):
    """A model that writes the same body whatever it is asked."""

    @property
    def info(self) -> ModelInfo:
        return replace(super().info, capabilities=frozenset(Capability) - {Capability.MASKED})

    def complete(self, prompts: Sequence[Prompt], **_: Any) -> list[Completion]:
        self.asked += [prompt.text for prompt in prompts]
        return [Completion("    return -(-n // 2)\n", "stop", 9) for _ in prompts]


def test_a_function_that_does_not_do_what_models_read_in_its_docstring_is_marked(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, model = write(tmp_path, "halves.py", HALVES), WritingModel({})
    monkeypatch.setattr(ChosenModel, "opened", lambda _self: model)
    monkeypatch.setattr("counterlens.cli.check.strong_sandbox", lambda *_: best_sandbox())
    unfitted = cli("check", path)
    assert (unfitted.code, unfitted.out) == (0, "")
    assert not any("rounded up" in text for text in model.asked), "its versions were never measured"
    monkeypatch.setattr(marking, "FITTED", {"words": Consensus(Majority(4, 0.8))})
    assert cli("check", path, "--no-readings").code == 0
    ran = cli("check", path)
    assert ran.code == 1
    assert ran.out.startswith(f"{path}:1:5: docstring and code disagree: `half(")
    assert "; 6 of 6 versions written from the docstring return " in ran.out
    assert "docstrings read: 1; not read: 1 (its docstring is shorter than a sentence: 1)" in ran.err
    (run,) = json.loads(cli("check", path, "--format", "sarif").out)["runs"]
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [("docstring", "note")]
    accepted = tmp_path / "marks.json"
    cli("check", path, "--baseline", accepted, "--write-baseline")
    assert cli("check", path, "--baseline", accepted).code == 0
    path.write_text(HALVES.replace("return n // 2", "return (n + 1) // 2"))
    assert (cli("check", path).code, "docstrings read: 1;" in cli("check", path).err) == (0, True)


def test_a_version_that_passes_the_tests_is_shown_as_a_difference(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "def half(n):\n    whole = n // 2\n    return whole\n"
    tests = "from halves import half\n\ndef test_half():\n    assert [half(3), half(4)] == [2, 2]\n"
    path = write(tmp_path, "halves.py", source)
    write(tmp_path, "test_halves.py", tests)
    monkeypatch.setattr(ChosenModel, "opened", lambda _self: WritingModel({}))
    ran = cli("check", path, "--tests")
    first, *difference = ran.out.splitlines()
    assert first.startswith(f"{path}:1:5: `test_half`: expected [2, 2], got [1, 2]; a version that the model")
    assert [line.strip() for line in difference if line.strip().startswith(("+ ", "- "))] == [
        "-    whole = n // 2",
        "-    return whole",
        "+    return -(-n // 2)",
    ]
    (mark,) = cli("check", path, "--tests", "--json").json
    assert mark["patch"].splitlines() == [line.removeprefix("    ") for line in difference]
    (run,) = json.loads(cli("check", path, "--tests", "--format", "sarif").out)["runs"]
    assert "+    return -(-n // 2)" in run["results"][0]["message"]["text"]


@pytest.mark.parametrize("error", [TrustError("no trust", "Use --trust"), SandboxError("no sandbox")])
def test_no_code_runs_for_a_docstring_where_it_may_not(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: CounterlensError
) -> None:
    def refused(*_: Path) -> Sandbox:
        raise error

    path, model = write(tmp_path, "halves.py", HALVES), WritingModel({})
    monkeypatch.setattr(ChosenModel, "opened", lambda _self: model)
    monkeypatch.setattr("counterlens.cli.check.strong_sandbox", refused)
    monkeypatch.setattr(marking, "FITTED", {"words": Consensus(Majority(4, 0.8))})
    ran = cli("check", path)
    assert (ran.code, ran.out) == (0, "")
    assert f"no examples of docstrings were run: {error}\n" in ran.err
    assert "None" not in ran.err


def test_what_a_docstring_states_is_run_in_a_folder_that_is_trusted(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = 'def half(n):\n    """Halve: half(3) == 1.5, half(4) == 2.0."""\n    return n // 2\n'
    path, model = write(tmp_path, "halves.py", source), WritingModel({})
    monkeypatch.setattr(ChosenModel, "opened", lambda _self: model)
    monkeypatch.setattr("counterlens.cli.check.strong_sandbox", lambda *_: best_sandbox())
    ran = cli("check", path)
    line = "docstring and code disagree: `half(3)` returns 1; the docstring says 1.5"
    assert (ran.code, ran.out) == (1, f"{path}:1:5: {line}\n")
    assert cli("check", path, "--no-readings").code == 0
    (run,) = json.loads(cli("check", path, "--format", "sarif").out)["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["docstring"]
    path.write_text(source.replace("//", "/"))
    assert cli("check", path).code == 0


@pytest.mark.parametrize("name", ["é\t\n.py", "\udcff.py"], ids=["blanks", "not text"])
def test_a_mark_is_shown_whatever_the_file_is_called(cli: Cli, tmp_path: Path, name: str) -> None:
    write(tmp_path, name, UNTESTED)
    for form in ("text", "json", "sarif", "github"):
        assert (form, cli("check", tmp_path, "--format", form).code) == (form, 1)
    (mark,) = cli("check", tmp_path, "--json").json
    assert Path(mark["path"]).is_file()


def test_a_budget_ends_with_the_functions_that_were_edited_last(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_command, "_PATIENCE", 0.0)
    old, new = write(tmp_path, "a.py", UNTESTED), write(tmp_path, "b.py", UNTESTED)
    os.utime(old, (1, 1))
    ran = cli("check", tmp_path, "--budget", "0.001s")
    assert (ran.code, ran.out.count("did you mean")) == (1, 1)
    assert ran.out.startswith(str(new))
    assert "the time sufficed for 1 of 2 functions" in ran.err
    whole = cli("check", tmp_path)
    assert whole.out.count("did you mean") == 2
    assert f"so far: {old}:7:18: `!=`: did you mean `==`?" in whole.err  # before the other file is read
    assert cli("check", tmp_path, "--fit", "--budget", "1s").code == 2


def test_a_budget_ends_what_has_begun_but_the_first_function(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.py", UNTESTED + "\n\ndef same(n):\n    return n\n")
    asked = list[str]()

    def doubts(_model: object, scope: DoubtScope, cancel: Event | None) -> tuple[()]:
        asked.append(scope.function.qualname)
        if len(asked) == 1:
            assert cancel is None
            return ()
        assert cancel is not None
        while not cancel.is_set():
            time.sleep(0.01)
        raise Cancelled

    monkeypatch.setattr(checking, "doubts", doubts)
    ran = cli("check", tmp_path, "--budget", "1s", "--no-readings")
    assert asked[0] == "same"
    assert (ran.code, ran.out.count("did you mean")) == (0, 0)
    assert "the time sufficed for 1 of 2 functions" in ran.err


def test_what_docstrings_state_is_said_before_the_model_is_asked_and_short_functions_come_first(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = '\n\ndef half(n):\n    """half(3) == 1.5"""\n    n, m = n, n\n    return n // 2\n'
    short = "\n\ndef same(n):\n    return n\n"
    write(tmp_path, "a.py", (UNTESTED + wrong + short).lstrip())
    asked, ended = list[str](), Event()

    def doubts(_model: object, scope: DoubtScope, **_: object) -> tuple[()]:
        asked.append(scope.function.qualname)
        ended.set()
        return ()

    monkeypatch.setattr(checking, "doubts", doubts)
    monkeypatch.setattr(TimeBudget, "left", property(lambda _: 0.0 if ended.is_set() else 60.0))
    ran = cli("check", tmp_path, "--budget", "60s")
    assert asked == ["same"]
    assert "half(3)" in ran.out
    assert "so far:" in ran.err
    assert "the time sufficed for 1 of 3 functions" in ran.err


def test_with_a_budget_functions_come_first_whose_docstrings_the_model_can_read(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """\
def same(n):
    return n


def twice(n):
    '''Give twice the number that is passed to it.'''
    return n + n


class A:
    def twice(self, n):
        '''Give twice the number that is passed to it.'''
        return n + n
"""
    write(tmp_path, "a.py", source)
    asked = list[str]()

    def doubts(_model: object, scope: DoubtScope, **_: object) -> tuple[()]:
        asked.append(scope.function.qualname)
        return ()

    monkeypatch.setattr(checking, "doubts", doubts)
    monkeypatch.setattr(checking.DocstringReader, "mark", lambda *_: None)
    monkeypatch.setattr(checking, "marking_rule", lambda _: USUAL)
    assert cli("check", tmp_path, "--budget", "60s").code == 0
    assert asked == ["twice", "A.twice", "same"]
    monkeypatch.setattr(checking, "marking_rule", lambda _: None)
    asked.clear()
    assert cli("check", tmp_path, "--budget", "60s").code == 0
    assert asked == ["same", "twice", "A.twice"]
