"""The protocol cacp from data to tables: scripted endpoints, and figures that are computed again."""

from __future__ import annotations

import json
import random
import re
import runpy
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from counterlens.cli import main
from counterlens.datasets.registry import LOADERS
from counterlens.evaluation.estimate import BYTES_PER_TOKEN
from counterlens.evaluation.reproducing import EXPERIMENTS
from counterlens.mutations import survey
from counterlens.probes.execution.prompts import CHAT_TOKENS
from counterlens.probes.options import distribute
from counterlens.probes.pairs.methods import forms_of
from counterlens.probes.pairs.published import CACP, PAPER_ORDER
from counterlens.probes.protocols import PROTOCOLS
from counterlens.probes.registry import PROBES
from tests.models.remote.conftest import Handler, serving

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "recompute" / "cacp.py"
TELLING = "discriminating pairs (protocol cacp)"
EFFECTS, COUNTS = "average mutation effect (protocol cacp)", "counterfactual pairs (protocol cacp)"
PROGRAMS = {
    "gather": (
        """\
def double(value):
    return value * 2

def gather(items, low):
    kept = []
    total = 0
    for item in items:
        if item > low:
            total = total + double(item)
        else:
            total = total - item
    kept.append(total)
    kept.append(low)
    return kept
""",
        ["assert gather([1, 5], 2) == [9, 2]", "assert gather([], 1) == [0, 1]"],
    ),
    "spread": (
        """\
def spread(text):
    words = text.split(",")
    words = sorted(words, reverse=True)
    first = words[0]
    last = words[1]
    joined = first + "-" + last
    return joined + "!" + words[0]
""",
        ["assert spread('a,b') == 'b-a!b'", "assert spread('d,c,x') == 'x-d!x'"],
    ),
}


def programs(name: str) -> list[str]:
    """A program and all its counterfactuals, the original first."""
    source = PROGRAMS[name][0]
    made = survey(source, mutations=forms_of(CACP, PAPER_ORDER, 9), function=name).counterfactuals
    return [source, *(one.source for one in made)]


def knowing(prompt: str) -> str:
    """The true rest of the program that a prompt begins."""
    shown = prompt.rpartition('"""\n')[2]
    rests = {p[len(shown) :] for name in PROGRAMS for p in programs(name) if p.startswith(shown)}
    assert rests, f"of no program: {prompt}"
    return min(rests)


def copying(prompt: str) -> str:
    """Continue with the original from the same line on, whatever the prompt says."""
    shown = prompt.rpartition('"""\n')[2]
    name = next(name for name in PROGRAMS if f"def {name}(" in shown)
    return "\n" + "".join(PROGRAMS[name][0].splitlines(keepends=True)[shown.count("\n") + 1 :])


class Endpoint:
    """An endpoint on a loopback port that answers by a rule, and keeps what it was asked."""

    def __init__(self, answer: Callable[[str], str], *, aloud: bool = False) -> None:
        self.prompts: list[str] = []

        def step(handler: Handler) -> None:
            chat = "messages" in handler.body
            shown = handler.body["messages"][-1]["content"] if chat else handler.body["prompt"]
            prompt = shown.strip("`").strip("\n") if chat else shown
            self.prompts.append(prompt)
            text = answer(prompt)
            if chat:
                text = f"```python{text}```"
                text = f"<think>Is it `return None`? No.</think>\nHere it is:\n{text}" if aloud else text
            part = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
            handler.reply(200, {"choices": [{"index": 0, **part, "finish_reason": "stop"}]})

        self._server = ExitStack()
        self.url = self._server.enter_context(serving(step)).url

    def close(self) -> None:
        self._server.close()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs in the format of MBPP."""
    file = tmp_path_factory.mktemp("data") / "mbpp.jsonl"
    records = [
        {
            "text": f"Write a function to {name} things.",
            "code": source.replace("\n", "\r\n"),
            "task_id": number,
            "test_setup_code": "",
            "test_list": tests,
            "challenge_test_list": [],
        }
        for number, (name, (source, tests)) in enumerate(PROGRAMS.items(), 1)
    ]
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return file


def cli(*arguments: object, fails: bool = False) -> str:
    """Call the command line in this process: what it prints, or its complaint."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert bool(ended.value.code) == fails, err.getvalue()
    return (err if fails else out).getvalue()


def bench(out: Path, data: Path, endpoint: Endpoint, *more: str, model: str = "m-1b") -> Path:
    """A run by the protocol."""
    asked = ["--model", f"remote:{model}", "--base-url", endpoint.url, "--allow-weaker-sandbox", *more]
    cli("bench", "--protocol", "cacp", "--data", data, "--out", out, *asked)
    return out


def document(*arguments: object) -> dict[str, Any]:
    """A report as JSON."""
    found: dict[str, Any] = json.loads(cli("report", *arguments, "--format", "json"))
    return found


def tables(*arguments: object) -> dict[str, list[list[Any]]]:
    """The tables of a report, by title."""
    return {table["title"]: table["rows"] for table in document(*arguments)["tables"]}


Asked = dict[str, tuple[Path, Endpoint]]


@pytest.fixture(scope="module")
def runs(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """Runs of three endpoints: one knows the truth, one copies, one knows it and thinks aloud in a chat."""
    folder = tmp_path_factory.mktemp("runs")
    rules = {"knows": (knowing, "knows-7b"), "copies": (copying, "copies"), "aloud": (knowing, "knows-7b")}
    made: Asked = {}
    for name, (rule, model) in rules.items():
        endpoint = Endpoint(rule, aloud=name == "aloud")
        more = ["--api", "chat"] if name == "aloud" else []
        made[name] = bench(folder / name, data, endpoint, *more, model=model), endpoint
    yield made
    for _, endpoint in made.values():
        endpoint.close()


def values(row: list[Any]) -> list[float | None]:
    """Original accuracy and the five effects of a row."""
    return [cell and cell["value"] for cell in row[-6:]]


def recomputed(run: Path) -> dict[str, list[list[Any]]]:
    """The tables as the script has them that knows the exported files alone."""
    folder = run / "parquet"
    cli("export", run, "-o", folder)
    found = runpy.run_path(str(SCRIPT))["tables"](folder)
    return {f"{title} (protocol cacp)": rows for title, rows in found.items()}


def flat(rows: list[list[Any]]) -> list[Any]:
    """All cells of a table, intervals taken apart."""
    return [
        part
        for row in rows
        for cell in row
        for part in (sorted(cell.items()) if isinstance(cell, dict) else [("", cell)])
    ]


def assert_same(one: list[list[Any]], other: list[list[Any]]) -> None:
    """Each cell of two tables is the same, but for rounding."""
    for (key, mine), (again, theirs) in zip(flat(one), flat(other), strict=True):
        assert key == again
        assert mine == (pytest.approx(theirs, abs=1e-9) if isinstance(theirs, float) else theirs)


def test_one_that_knows_the_truth_and_one_that_copies_in_one_set_of_tables(runs: Asked) -> None:
    both = [runs[name][0] for name in ("knows", "copies")]
    own = [tables(run) for run in both]
    truth, copied = (found[EFFECTS][0] for found in own)
    assert values(truth) == [1, 0, 0, 0, 0, 0]
    # The rest of the original has names that are others by now, and is of the other branch; but behind
    # statements that changed places it is right.
    assert values(copied) == [1, 1, 1, 1, 0, 1]
    for found, wrong in zip(own, (0, 1), strict=True):
        there = {row[1]: row[4:] for row in found[TELLING] if row[4]}
        assert set(there) == {"all", *PAPER_ORDER} - {"independent-swap"}
        assert all(n == informative for n, informative, *_ in there.values())
        assert {cell["value"] for row in there.values() for cell in row[2:]} == {wrong}
    together = tables(*both)
    names = [str(run) for run in both]
    assert together[EFFECTS] == [[name, *found[EFFECTS][0]] for name, found in zip(names, own, strict=True)]
    assert [row[0] for row in together[COUNTS]] == names
    assert document(*both)["runs"] == names
    assert all(name in cli("report", *both) for name in names)
    assert "csv takes one run" in cli("report", *both, "--format", "csv", fails=True)
    assert "--causal takes one run" in cli("report", *both, "--causal", fails=True)


@pytest.mark.parametrize("name", ["knows", "copies"])
def test_every_cell_comes_out_again_from_the_exported_files(runs: Asked, name: str) -> None:
    run, _ = runs[name]
    own, again = tables(run), recomputed(run)
    assert again.keys() == {title for title in own if "protocol" in title}
    for title, rows in again.items():
        assert_same(own[title], rows)


def test_the_record_has_the_prompt_and_the_cut_of_every_pair(runs: Asked) -> None:
    run, endpoint = runs["copies"]
    sides = [
        (pair["cut"][side], pair[side]["prompt"], record["problem"])
        for record in document(run)["records"]
        for pair in record["pairs"]
        for side in ("original", "counterfactual")
    ]
    assert {prompt.rstrip() for _, prompt, _ in sides} == set(endpoint.prompts)
    sources = {f"MBPP/{number}": programs(name) for number, name in enumerate(PROGRAMS, 1)}
    for cut, prompt, problem in sides:
        task, shown = prompt.removeprefix('"""\n').split('\n"""\n')
        assert task.startswith("Write a function to ")
        assert any(source.startswith(shown) for source in sources[problem])  # all that precedes is shown
        assert len(shown.replace("\n", "\r\n")) == cut  # the lines of the dataset end so


def test_the_plan_states_the_tokens_that_are_read_and_may_be_written(data: Path, runs: Asked) -> None:
    _, endpoint = runs["copies"]
    model = ["--model", "remote:copies", "--base-url", endpoint.url, "--plan"]

    def planned(*more: object) -> tuple[int, int, int]:
        said = cli("bench", *more, *model)
        match = re.search(
            r"about (\d+) prompts.*reads about ([\d,]+) tokens and writes up to ([\d,]+)", said, re.S
        )
        assert match, said
        prompts, read, written = (int(number.replace(",", "")) for number in match.groups())
        return prompts, read, written

    prompts, read, written = planned("--protocol", "cacp", "--data", data)
    bytes_read = sum(len(prompt.encode()) for prompt in endpoint.prompts)
    assert 0.7 < read / (bytes_read / BYTES_PER_TOKEN) < 1.6  # counted by whole functions
    assert written == prompts * 256
    asked = ["--task", "execution", "--data", data]
    prompts, _, written = planned(*asked)
    assert written == prompts * 1024  # the question decides, up to this
    prompts, read, written = planned(*asked, "--api", "chat")
    assert written == prompts * CHAT_TOKENS
    assert read > prompts * 100  # a worked example and the instruction, beside the function


def test_one_that_thinks_aloud_is_read_and_stands_beside_one_that_does_not(runs: Asked) -> None:
    rows = tables(runs["knows"][0], runs["aloud"][0])[EFFECTS]
    assert [values(row) for row in rows] == [[1, 0, 0, 0, 0, 0]] * 2


def test_the_ranges_of_cuts_are_of_one_set_of_programs(data: Path, tmp_path: Path, runs: Asked) -> None:
    ranges = [part for one in ("0.4-0.6", "0.6-0.8", "0.8-1.0") for part in ("--cut-range", one)]
    run = bench(tmp_path / "run", data, runs["copies"][1], *ranges)
    asked: dict[tuple[float, ...], list[Any]] = {}
    for record in document(run)["records"]:
        for pair in record["pairs"]:
            assert pair["mutation"] != "if-else-flip"  # it says itself where to cut
            asked.setdefault(tuple(pair["cut_range"]), []).append((record["problem"], pair["edits"]))
    assert sorted(asked) == [(0.4, 0.6), (0.6, 0.8), (0.8, 1.0)]
    assert asked[0.4, 0.6] == asked[0.6, 0.8] == asked[0.8, 1.0]
    own, again = tables(run), recomputed(run)
    rows = own["average mutation effect by cut (protocol cacp)"]
    assert [row[1] for row in rows] == ["0.4 - 0.6", "0.6 - 0.8", "0.8 - 1"]
    assert [row[-1] for row in rows] == [len(asked[0.4, 0.6])] * 3
    for title, found in again.items():
        assert_same(own[title], found)


def test_one_that_answers_at_random_is_refused(data: Path, tmp_path: Path) -> None:
    chance = random.Random(1)  # noqa: S311
    endpoint = Endpoint(lambda _: f"\n    return {chance.random()}\n")
    asked = ["--model", "remote:m", "--base-url", endpoint.url, "--allow-weaker-sandbox", "--data", data]
    said = cli("bench", "--protocol", "cacp", "--out", tmp_path / "run", *asked, fails=True)
    assert "does not complete the same code the same way twice" in said
    assert EFFECTS not in tables(tmp_path / "run")
    endpoint.close()


def test_a_table_over_all_of_its_data_is_that_of_one_run_about_all(
    data: Path, runs: Asked, tmp_path: Path
) -> None:
    """The functions of several datasets are one population, and an own mutation changes no column."""
    files = []
    for number, line in enumerate(data.read_text().splitlines()):
        files.append(tmp_path / f"part{number}.jsonl")
        files[-1].write_text(f"{line}\n")
    endpoint = Endpoint(copying)
    asked = ["--model", "remote:copies", "--base-url", endpoint.url, "--allow-weaker-sandbox"]
    parts = [part for file in files for part in ("--data", file)]
    command = ["reproduce", "cacp", "--table", "2", *parts, *asked, "--out", tmp_path / "runs"]
    with ExitStack() as stack:
        stack.callback(endpoint.close)
        shown = cli(*command, "--add-mutation", "operand-swap")
        asked_once = len(endpoint.prompts)
        again = cli(*command, "--add-mutation", "operand-swap")
    assert len(endpoint.prompts) == asked_once  # all was done
    assert again == shown
    assert "average mutation effect (protocol cacp)" in shown
    folders = [tmp_path / "runs" / file.stem for file in files]
    both, whole = tables(*folders, "--pool"), tables(runs["copies"][0])
    (effects,), (counts,) = both[EFFECTS], both[COUNTS]
    assert effects[:-1] == whole[EFFECTS][0]
    assert counts[:-1] == whole[COUNTS][0]
    assert counts[-1] > 0  # of the own mutation
    own = tables(folders[0])
    export = recomputed(folders[0])
    for title in (EFFECTS, COUNTS, TELLING):
        assert_same(own[title], export[title])
    assert row_of_all(both) == row_of_all(whole)


def row_of_all(found: dict[str, list[list[Any]]]) -> list[Any]:
    return next(row for row in found[TELLING] if row[1] == "all")


def test_a_population_of_the_paper_is_a_row_and_its_table_stands_below(data: Path, tmp_path: Path) -> None:
    """Table 2 has the functions of HumanEval and MBPP as one population, and CodeContests by itself."""
    contest = tmp_path / "contest.jsonl"
    program = "total = 0\nfor number in input().split():\n    total += int(number)\nprint(total)\n"
    tests = {"input": ["1 2\n", "5\n"], "output": ["3\n", "5\n"]}
    none: dict[str, list[str]] = {"input": [], "output": []}
    problem = {
        "name": "1_A. Sum",
        "description": "Print the sum.",
        "public_tests": tests,
        "private_tests": none,
        "generated_tests": none,
        "solutions": {"language": [3], "solution": [program]},
        "incorrect_solutions": {"language": [], "solution": []},
    }
    contest.write_text(json.dumps(problem) + "\n")
    endpoint = Endpoint(lambda prompt: copying(prompt) if "def " in prompt else "\n")
    asked = ["--model", "remote:copies", "--base-url", endpoint.url, "--allow-weaker-sandbox"]
    parts = ["--data", data, "--data", f"codecontests:{contest}"]
    with closing(endpoint):
        shown = cli("reproduce", "cacp", "--table", "2", *parts, *asked, "--out", tmp_path / "runs")
    effects, rest = shown.split("average mutation effect (protocol cacp)")[1].split("in the paper, Table 2")
    assert [line.split()[0] for line in effects.splitlines() if "copies" in line][:2] == [
        "mbpp",
        "codecontests",
    ]
    assert "StarCoder (13B)" in rest
    assert "66.04" in rest
    assert "Table 1" not in rest  # nobody asked for it


def test_runs_of_other_models_are_no_one_population(runs: Asked) -> None:
    two = [runs[name][0] for name in ("knows", "copies")]
    assert "differ in their models" in cli("report", "--pool", *two, fails=True)


def test_a_table_is_named_as_in_its_paper_and_all_of_its_data_must_be_there() -> None:
    assert "Tables: 1, 2 (mutation effects on completion); 3 (" in cli(
        "reproduce", "cacp", "--table", "9", "--plan", fails=True
    )
    lost = cli("reproduce", "cacp", "--data", "nowhere", "--data", "humaneval", "--plan", fails=True)
    assert "there is no dataset and no file nowhere" in lost
    assert "--data humaneval" in lost
    assert "the paper chooses" in cli("reproduce", "cacp", "--task", "repair", "--plan", fails=True)
    assert "--add-mutation asks about more" in cli(
        "reproduce", "cacp", "--mutation", "operand-swap", "--plan", fails=True
    )


def test_data_of_one_name_would_be_one_run(data: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = shutil.copy(data, tmp_path / "other" / data.name)
    files = ["--data", data, "--data", other]
    said = cli("reproduce", "cacp", *files, "--out", tmp_path / "runs", "--model", "remote:m", fails=True)
    assert f"{data} and {other} have the same name" in said
    assert "rename one of the files" in said
    assert not (tmp_path / "runs").exists()


def test_every_experiment_has_the_protocol_of_its_paper() -> None:
    assert set(EXPERIMENTS) == set(PROTOCOLS)
    for protocol, experiments in EXPERIMENTS.items():
        for experiment in experiments:
            assert {*experiment.data} <= {*LOADERS}
            distribute(
                [PROBES[task] for task in experiment.tasks], {**experiment.options, "protocol": protocol}, ()
            )


def test_a_table_that_stopped_goes_on_with_the_same_command(data: Path, tmp_path: Path) -> None:
    endpoint = Endpoint(copying)
    endpoint.close()
    asked = ["--data", data, "--model", "remote:m", "--base-url", endpoint.url, "--allow-weaker-sandbox"]
    said = cli("reproduce", "cacp", *asked, "--out", tmp_path / "runs", fails=True)
    assert "the same command" in said
    assert "bench --resume" not in said
