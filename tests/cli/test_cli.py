"""The command line as a user calls it: exit codes, JSON, and words instead of tracebacks."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from counterlens.cli import main
from counterlens.models.default import VARIABLE
from tests.conftest import short_model
from tests.models.llama.test_filling import with_fill_marks

SIGN = '''def sign(x):
    """Return the sign of x.

    >>> sign(3)
    1
    >>> sign(-2)
    -1
    """
    if x < 0:
        result = -1
    else:
        result = 1
    return result
'''


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Cli:
    """Calls the command line in this process."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capture = capfd

    def __call__(self, *arguments: object) -> Ran:
        self._capture.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = self._capture.readouterr()
        assert "Traceback" not in err
        return Ran(int(ended.value.code or 0), out, err)


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capfd)


@pytest.fixture
def sign(tmp_path: Path) -> Path:
    path = tmp_path / "sign.py"
    path.write_text(SIGN)
    return path


def test_probe_tells_the_whole_story_in_json(cli: Cli, sign: Path) -> None:
    fewer = ["--mutation", "if-else-flip", "--placebos", "1", "--max-tokens", "24"]
    ran = cli("probe", f"{sign}::sign", *fewer, "--json")
    assert ran.code == 0, ran.err
    found = ran.json
    assert found["model"]["id"] == "smollm2-135m"
    assert found["evidence"].keys() == {"understood"}  # recognition speaks only where it was measured to
    (record,) = found["records"]
    assert (record["model"], record["function"]) == ("smollm2-135m", "sign")
    assert 0 < found["confidence"][record["target"]] < 1
    (pair,) = record["pairs"]
    assert pair["mutation"] == "if-else-flip"
    assert pair["start_line"] == 9
    for side in ("original", "counterfactual"):
        assert pair[side]["verdict"] in {"passed", "failed", "invalid", "timed_out"}
        assert isinstance(pair[side]["completion"], str)
        assert pair[side]["tests"] in (1, 2)
    passed = [pair[side]["verdict"] == "passed" for side in ("original", "counterfactual")]
    assert [pair["original_right"], pair["counterfactual_right"]] == passed
    outcomes = {(True, True): "held", (True, False): "lost", (False, True): "gained"}
    assert pair["outcome"] == outcomes.get((passed[0], passed[1]), "uninformative")
    effects = found["tables"][0]
    figures = dict(zip(effects["columns"], effects["rows"][0], strict=True))
    assert figures["informative"] == int(any(passed))
    assert found["summary"]


def test_probe_without_a_name_takes_every_function_that_has_tests(
    cli: Cli, sign: Path, short: list[str]
) -> None:
    sign.write_text(SIGN + "\n\ndef untested(y):\n    return open(y) if y else None\n")
    ran = cli("probe", sign, "--mutation", "if-else-flip", "--max-tokens", "16", *short, "--json")
    assert ran.code == 0, ran.err
    probed, left_out = ran.json["records"]
    assert (probed["function"], left_out["function"]) == ("sign", "untested")
    assert (probed["outcome"], left_out["outcome"]) == ("probed", "left out")
    assert "no test mentions it" in left_out["reason"]
    assert "behaviour" in left_out["reason"]
    assert len(probed["pairs"]) == 1


def test_probe_prints_a_report_for_people(cli: Cli, sign: Path, short: list[str]) -> None:
    ran = cli("probe", f"{sign}::sign", "--mutation", "if-else-flip", "--max-tokens", "16", *short)
    assert ran.code == 0, ran.err
    for expected in (
        "sign",
        "if-else-flip",
        "-    if x < 0:",
        "+    if x >= 0:",
        "after the counterfactual",
        "What this means:",
    ):
        assert expected in ran.out


def test_probe_cuts_in_a_range(cli: Cli, sign: Path, short: list[str]) -> None:
    ran = cli(
        "probe", f"{sign}::sign", "--mutation", "rename-random", "--prefix-ratio", "0.8-1.0",
        "--max-tokens", "16", *short, "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    (record,) = ran.json["records"]
    assert record["pairs"] or record["refused"]
    assert {pair["original"]["completion"] is None for pair in record["pairs"]} <= {False}
    wrong = cli("probe", f"{sign}::sign", "--prefix-ratio", "0.8-0.2")
    assert (wrong.code, "0.4-0.6" in wrong.err) == (2, True)


def test_probe_asks_an_instructed_model(cli: Cli, sign: Path, short: list[str]) -> None:
    ran = cli(
        "probe",
        f"{sign}::sign",
        "--api",
        "chat",
        "--mutation",
        "if-else-flip",
        "--placebos",
        "0",
        "--max-tokens",
        "24",
        "--json",
        *short,
    )
    assert ran.code == 0, ran.err
    (pair,) = ran.json["records"][0]["pairs"]
    for side in ("original", "counterfactual"):
        assert "```" not in pair[side]["completion"]
        assert pair[side]["attribution"] == "doctest"
        assert pair[side]["contested"] in {True, False}
    unable = cli("probe", f"{sign}::sign", "--api", "fill", *short)
    assert (unable.code, "fill-in-the-middle" in unable.err) == (1, True)


def test_probe_takes_the_functions_of_a_dataset_and_their_tests(
    cli: Cli, tmp_path: Path, short: list[str]
) -> None:
    record = {
        "task_id": 7,
        "text": "Write a function to double a number unless it is negative.",
        "code": "def double(x):\n    if x < 0:\n        y = x\n    else:\n        y = 2 * x\n    return y\n",
        "test_list": ["assert double(2) == 4", "assert double(-2) == -2"],
        "test_setup_code": "",
        "challenge_test_list": [],
    }
    (tmp_path / "mbpp.jsonl").write_text(json.dumps(record) + "\n")
    ran = cli(
        "probe",
        "--data",
        tmp_path / "mbpp.jsonl",
        "--mutation",
        "if-else-flip",
        "--max-tokens",
        "24",
        *short,
        "--json",
    )
    assert ran.code == 0, ran.err
    assert ran.json["left_out"] == {}
    (record,) = ran.json["records"]
    (pair,) = record["pairs"]
    assert pair["original"]["attribution"] == "given"
    assert record["judged_by"] == "2 given tests"


def test_a_function_that_nothing_can_judge_says_why(cli: Cli, tmp_path: Path, short: list[str]) -> None:
    path = tmp_path / "files.py"
    path.write_text(
        "def first(path, n):\n    if n < 0:\n        k = 0\n    else:\n        k = n\n"
        "    return open(path).read(k)\n"
    )
    asked = [f"{path}::first", "--mutation", "if-else-flip", "--max-tokens", "8", *short]
    ran = cli("probe", *asked, "--json")
    assert ran.code == 0, ran.err
    (record,) = ran.json["records"]
    reason = record["why_not_judged"]
    assert "no test mentions it" in reason
    assert "it opens files" in reason
    assert record["pairs"][0]["original"]["message"] == "nothing can judge it"
    shown = cli("probe", *asked, "--markdown", "-")
    assert "It cannot be judged: no test mentions it" in shown.out


def test_a_function_that_fails_its_own_tests_is_not_probed(cli: Cli, sign: Path) -> None:
    sign.write_text(SIGN.replace("result = 1", "result = 7"))
    ran = cli("probe", f"{sign}::sign")
    assert ran.code == 1
    assert "sign fails its own tests" in ran.err


def test_a_name_from_another_cell_of_a_notebook_is_named(cli: Cli, sign: Path) -> None:
    sign.write_text(SIGN.replace("result = 1", "result = ONE").replace("result = -1", "result = -ONE"))
    ran = cli("probe", f"{sign}::sign")
    assert ran.code == 1
    assert "sign fails its own tests: NameError: name 'ONE' is not defined" in ran.err
    assert "Define or import ONE in the file" in ran.err
    assert "sign fails its own tests: NameError: name 'ONE' is not defined" in cli("probe", sign).err
    notebook = sign.with_suffix(".ipynb")
    notebook.write_text("{}")
    assert "jupyter nbconvert --to script sign.ipynb" in cli("probe", notebook).err


def test_tests_that_pass_without_the_body_judge_nothing(cli: Cli, sign: Path, short: list[str]) -> None:
    """Its behaviour on inputs judges it instead."""
    sign.write_text(SIGN.replace(">>> sign(3)\n    1\n    >>> sign(-2)\n    -1", ">>> 1\n    1"))
    ran = cli("probe", f"{sign}::sign", "--max-tokens", "8", *short, "--json")
    assert ran.code == 0, ran.err
    (record,) = ran.json["records"]
    assert "differential execution" in record["judged_by"]
    assert "doctest" not in record["judged_by"]


@pytest.mark.usefixtures("short_by_default")
def test_score_gives_tokens_nodes_and_concepts(cli: Cli, sign: Path) -> None:
    ran = cli("score", sign, "--json")
    assert ran.code == 0, ran.err
    found, data = ran.json, SIGN.encode()
    assert found["tokens"][0]["logprob"] is None
    assert all(token["logprob"] <= 0 for token in found["tokens"][1:])
    assert b"".join(data[t["start"] : t["end"]] for t in found["tokens"]) == data
    assert found["tokens"][-1]["end"] == len(data)
    comparison = next(node for node in found["nodes"] if node["type"] == "comparison_operator")
    assert data[comparison["start"] : comparison["end"]] == b"x < 0"
    assert comparison["category"] == "operators"
    assert comparison["minimum"] <= comparison["confidence"]
    assert set(found["concepts"]) >= {"decision", "operators", "scope"}


FLIPPED = (
    SIGN.replace("x < 0", "x >= 0")
    .replace("-1\n    else", "1\n    else")
    .replace("= 1\n    ret", "= -1\n    ret")
)
SHAPES = {
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "tabs": lambda text: text.replace("    ", "\t").encode(),
    "bom": lambda text: b"\xef\xbb\xbf" + text.encode(),
}


@pytest.mark.usefixtures("short_by_default")
@pytest.mark.parametrize("shape", SHAPES)
def test_offsets_are_those_of_the_file_as_it_is(cli: Cli, sign: Path, shape: str) -> None:
    data = SHAPES[shape](SIGN)
    sign.write_bytes(data)
    ran = cli("score", sign, "--json")
    assert ran.code == 0, ran.err
    comparison = next(node for node in ran.json["nodes"] if node["type"] == "comparison_operator")
    assert data[comparison["start"] : comparison["end"]] == b"x < 0"
    ran = cli("mutate", sign, "--mutation", "if-else-flip", "--json")
    assert ran.code == 0, ran.err
    (mutated,) = ran.json
    assert mutated["source"].encode() == SHAPES[shape](FLIPPED)


def test_mutate_lists_counterfactuals_and_explains_refusals(cli: Cli, sign: Path) -> None:
    ran = cli("mutate", f"{sign}::sign", "--json")
    assert ran.code == 0, ran.err
    keys = {
        "mutation",
        "concept",
        "preserving",
        "function",
        "start_line",
        "end_line",
        "description",
        "source",
    }
    assert ran.json
    assert all(keys <= set(one) for one in ran.json)
    assert all(compile(one["source"], "mutated", "exec") for one in ran.json)
    sign.write_text("def f(x):\n    if x:\n        x = 1\n    return x\n")
    ran = cli("mutate", sign, "--mutation", "if-else-flip", "--explain")
    assert ran.code == 0
    assert "refused" in ran.out


def test_equal_seeds_give_equal_counterfactuals(cli: Cli, sign: Path) -> None:
    first, again = (cli("mutate", sign, "--seed", "5", "--json").out for _ in range(2))
    assert first == again


@pytest.mark.usefixtures("short_by_default")
def test_a_broken_file_can_be_scored_but_not_mutated(cli: Cli, sign: Path) -> None:
    sign.write_text("def f(x:\n    return x\n")
    assert cli("score", sign, "--json").code == 0
    ran = cli("mutate", sign)
    assert ran.code == 1
    assert "line 1" in ran.err or "line 2" in ran.err


@pytest.mark.parametrize("command", ["mutate", "probe", "bench", "changed"])
def test_a_mutation_that_does_not_exist_is_a_usage_error(cli: Cli, command: str) -> None:
    ran = cli(command, "/no/such/file.py", "--mutation", "no-such")
    assert ran.code == 2
    assert "there is no mutation 'no-such'" in ran.err
    assert "Available: if-else-flip" in " ".join(ran.err.split())


@pytest.mark.parametrize(
    ("arguments", "data", "said"),
    [
        (["probe", "FILE::missing"], SIGN.encode(), "there is no function missing"),
        (["probe", "FILE"], b"x = 1\n", "has no functions"),
        (["probe", "FILE", "--model", "no-such"], SIGN.encode(), "there is no model"),
        (["score", "FILE"], b"", "is empty"),
        (["score", "FILE"], b"x = '\xff'\n", "not valid UTF-8"),
        (["score", "FILE"], b"x = 1\n" * 350_000, "2,100,000 bytes"),
        (["score", "MISSING"], b"", "there is no file"),
        (["mutate", "FILE::sign.inner"], SIGN.encode(), "there is no function"),
        (["score", "FILE", "--model", "FILE/"], SIGN.encode(), "is not a GGUF file"),
        (["models", "test", "remote"], SIGN.encode(), "COUNTERLENS_BASE_URL"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_bad_input_gets_a_clear_error(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    data: bytes,
    said: str,
    as_json: bool,
) -> None:
    monkeypatch.delenv("COUNTERLENS_BASE_URL", raising=False)
    file = tmp_path / "file.py"
    file.write_bytes(data)
    names = {"FILE": str(file), "MISSING": str(tmp_path / "missing.py")}
    for short, full in names.items():
        arguments = [argument.replace(short, full) for argument in arguments]
    ran = cli(*arguments, *(["--json"] if as_json else []))
    assert ran.code == 1
    assert said in ran.err
    if as_json:
        assert said in json.dumps(ran.json["error"], ensure_ascii=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ["probe"],
        ["probe", "::f"],
        ["probe", "file.py::"],
        ["nonsense"],
        ["score", "file.py", "--aggregation", "mode"],
        ["serve", "--tcp", "here"],
        ["serve", "--stdio", "--tcp", "127.0.0.1:1"],
    ],
)
def test_bad_usage_exits_with_2(cli: Cli, arguments: list[str]) -> None:
    ran = cli(*arguments)
    assert ran.code == 2
    assert ran.err


def test_one_colon_before_a_function_is_answered_with_two(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "file.py"
    file.write_text(SIGN)
    ran = cli("probe", f"{file}:sign")
    assert (ran.code, f"{file}::sign" in ran.err) == (2, True)


def test_a_kind_of_model_whose_package_is_missing_is_not_ready(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # as if it were not installed
    states = {row["id"]: row["state"] for row in cli("models", "list", "--json").json}
    assert states["onnx:FOLDER|OWNER/REPO"] == "onnxruntime is not installed"
    assert states["PATH/FILE.gguf"] == "ready"


def test_models_and_doctor(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(short_model(endless=True)))  # an answer as long as the doctor asks for
    listed = cli("models", "list", "--json")
    assert {row["id"] for row in listed.json} >= {"smollm2-135m"}
    tested = cli("models", "test", "smollm2-135m", "--json")
    assert tested.code == 0
    assert tested.json["ok"]
    assert tested.json["completion"]
    doctor = cli("doctor", "--json")
    assert doctor.code == 0, doctor.out
    assert doctor.json["ok"]
    names = {finding["name"] for finding in doctor.json["findings"]}
    assert {"processor", "embedded model", "model answers", "sandbox"} <= names
    details = {finding["name"]: finding["detail"] for finding in doctor.json["findings"]}
    assert any(name.startswith("GPU") for name in names)
    assert "CPUExecutionProvider" in details["onnxruntime"]
    said = details["model answers"]  # a trial that takes half a minute is no pace of answers
    assert re.search(r"tested for exact decoding in [\d.]+ s, 8 tokens in [\d.]+ s$", said), said


def test_a_test_of_a_model_shows_whether_it_fills_in_the_middle(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "untrained.gguf"
    with_fill_marks(short_model(), path, (3, 4, 5))
    tested = cli("models", "test", str(path))
    assert tested.code == 0, tested.out
    assert "its tokens for filling in the middle do not work: the text of a hole has perplexity" in tested.out
    assert cli("models", "test", str(path), "--json").json["filling"]["works"] is False
    assert cli("models", "test", str(short_model()), "--json").json["filling"] is None


def test_the_console_script_and_the_module_are_the_same() -> None:
    for command in (
        [sys.executable, "-m", "counterlens"],
        [str(Path(sys.executable).with_name("counterlens"))],
    ):
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("counterlens, version ")


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor has no further thread")
@pytest.mark.parametrize(("chosen", "threads"), [({}, 1), ({"OPENBLAS_NUM_THREADS": "2"}, 2)])
def test_numpy_starts_threads_only_if_the_user_wants_them(
    sign: Path, chosen: dict[str, str], threads: int
) -> None:
    program = f"""
import atexit, os
from counterlens.cli import main
atexit.register(lambda: print("threads", len(os.listdir("/proc/self/task"))))
main(["mutate", {str(sign)!r}, "--json"])
"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | chosen,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == f"threads {threads}"


def test_a_reader_that_leaves_early_causes_no_traceback(sign: Path) -> None:
    python, file = shlex.quote(sys.executable), shlex.quote(str(sign))
    command = f"{python} -m counterlens mutate {file} --json | head -c 10"
    done = subprocess.run(["/bin/bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("[")
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


JAVA = """\
class Shape {
    int area(int w, int h) {
        if (w < 0 || h < 0) {
            return 0;
        } else {
            return w * h;
        }
    }
}
"""


def test_mutate_takes_java_and_says_what_java_does_not_have(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "Shape.java"
    file.write_text(JAVA)
    ran = cli("mutate", f"{file}::area", "--json", "--explain")
    assert ran.code == 0, ran.err
    made = {one["mutation"]: one for one in ran.json if "source" in one}
    flipped = made["if-else-flip"]
    assert "if (w >= 0 && h >= 0) {\n            return w * h;\n        } else {" in flipped["source"]
    assert (flipped["function"], flipped["preserving"]) == ("Shape.area", True)
    assert not made["replace-arithmetic"]["preserving"]
    refused = {one["mutation"]: one["reason"] for one in ran.json if one.get("refused")}
    assert refused["annotate-strip"] == "Java does not have it yet"
    assert refused["reorder-parameters"] == "other classes may call it"
    ran = cli("mutate", file, "--explain")
    assert ran.code == 0, ran.err
    assert "negated the condition" in ran.out
    assert "Java does not have it yet" in ran.out


@pytest.mark.parametrize(
    ("arguments", "data", "said"),
    [
        (["--mutation", "annotate-strip"], JAVA, "annotate-strip does not support Java yet"),
        (["--call", "f(1)"], JAVA, "this works for Python only"),
        ([], "class A { int f( { } }", "does not parse as Java"),
    ],
)
def test_what_java_cannot_do_is_said(
    cli: Cli, tmp_path: Path, arguments: list[str], data: str, said: str
) -> None:
    file = tmp_path / "Shape.java"
    file.write_text(data)
    ran = cli("mutate", file, *arguments)
    assert ran.code == 1
    assert said in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["probe", "x.py", "--task", "name", "--task", "repair"],
            "--task takes one value, but is given name, repair",
        ),
        (["judge", "x.py", "--timeout=3", "--timeout", "4"], "--timeout takes one value, but is given 3, 4"),
    ],
)
def test_an_option_that_takes_one_value_does_not_drop_others(
    cli: Cli, arguments: list[str], said: str
) -> None:
    ran = cli(*arguments)
    assert ran.code == 2
    assert said in ran.err


def test_the_same_value_twice_and_several_of_several_are_fine(cli: Cli, sign: Path) -> None:
    chosen = ["--mutation", "if-else-flip", "--mutation", "operand-swap", "--seed", "2", "--seed", "2"]
    assert cli("mutate", f"{sign}::sign", *chosen).code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--out", "run", "--plan", "--resume"], "give one of them"),
        ([], "give the folder of the run: --out DIR"),
    ],
)
def test_bench_refuses_an_option_that_would_have_no_effect(cli: Cli, options: list[str], said: str) -> None:
    ran = cli("bench", "--data", "repo:.", *options)
    assert ran.code == 2
    assert said in ran.err
