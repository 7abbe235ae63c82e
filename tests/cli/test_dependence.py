"""`counterlens dependence`, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from counterlens.cli import main

SOURCE = """import sys


def best(values):
    found = []
    for value in values:
        if value > 0:
            found.append(value)
    return found


if __name__ == "__main__":
    print(best(sys.argv))
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return int(ended.value.code or 0), out, err


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "best.py"
    path.write_text(SOURCE)
    return path


def test_json_of_one_function(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    code, out, _ = run(capsys, "dependence", f"{path}::best", "--json")
    assert code == 0
    found = json.loads(out)
    assert list(found) == ["function", "statements", "control", "data"]
    assert found["function"] == "best"
    assert found["statements"][3] == {"id": 3, "line": 7, "end_line": 7, "text": "if value > 0:"}
    assert found["control"] == [[6, 6], [6, 7], [7, 8]]
    assert found["data"] == [
        [4, 6, "values", "name"],
        [5, 8, "found", "name"],
        [5, 9, "found", "name"],
        [6, 7, "value", "name"],
        [6, 8, "value", "name"],
        [8, 8, "found", "heap"],
        [8, 9, "found", "heap"],
    ]


def test_json_of_a_file_is_the_module_level_with_its_functions(
    capsys: pytest.CaptureFixture[str], path: Path
) -> None:
    code, out, _ = run(capsys, "dependence", path, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["function"] == "<module>"
    assert found["control"] == [[12, 13]]
    assert found["data"] == [[1, 13, "sys", "name"], [4, 13, "best", "name"]]
    assert [one["function"] for one in found["functions"]] == ["best"]
    code, out, _ = run(capsys, "dependence", f"{path}::<module>", "--json")
    assert json.loads(out) == {key: value for key, value in found.items() if key != "functions"}


def test_the_table_says_what_decides_and_where_values_come_from(
    capsys: pytest.CaptureFixture[str], path: Path
) -> None:
    code, out, _ = run(capsys, "dependence", f"{path}::best")
    assert code == 0
    (row,) = [line for line in out.splitlines() if "found.append" in line]
    assert row.split() == [
        "8",
        "found.append(value)",
        "7",
        "true",
        "found",
        "5,",
        "value",
        "6,",
        "found",
        "8*",
    ]
    assert "through a change of the object" in out


def test_implicit_exceptions(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    plain = json.loads(run(capsys, "dependence", f"{path}::best", "--json")[1])["control"]
    more = json.loads(run(capsys, "dependence", f"{path}::best", "--implicit-exceptions", "--json")[1])[
        "control"
    ]
    assert [8, 6] in more
    assert [8, 6] not in plain


@pytest.mark.parametrize(
    ("target", "source", "message"),
    [
        ("::nothing", SOURCE, "there is no function nothing"),
        ("", "def f(:\n", "not valid Python in line 1"),
        ("::f", "x = 1\n", "it has no functions at all"),
    ],
)
def test_mistakes_are_told_in_words(
    capsys: pytest.CaptureFixture[str], path: Path, target: str, source: str, message: str
) -> None:
    path.write_text(source)
    code, out, err = run(capsys, "dependence", f"{path}{target}", "--json")
    assert code == 1
    assert message in err
    assert message in json.loads(out)["error"]["message"]


SHORT = """def best(values):
    found = 0
    for value in values:
        found = value
    return found
"""


def test_infer_compares_with_what_the_model_infers(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    path.write_text(SHORT)
    code, out, _ = run(capsys, "dependence", f"{path}::best", "--infer", "interventional", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["function"], found["method"]) == ("best", "interventional")
    true = {(e["source"], e["target"]) for e in found["edges"] if e["relation"] == "data"}
    true -= {(e["source"], e["target"]) for e in found["edges"] if e["status"] == "invented"}
    assert true == {(0, 2), (1, 4), (2, 3), (3, 4)}
    assert found["influence"]["data"][0][2] > 1
    code, out, _ = run(capsys, "dependence", f"{path}::best", "--infer", "interventional")
    assert code == 0
    assert "influence on later lines, data" in out
    assert found["summary"].split(",")[0].split()[-1] in out


def test_infer_needs_a_function(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    code, _, err = run(capsys, "dependence", path, "--infer", "prompted")
    assert code == 2
    assert "PATH::QUALNAME" in err


@pytest.mark.parametrize("method", ["pairwise", "interventional"])
def test_the_task_sums_up_a_file_by_each_method(
    capsys: pytest.CaptureFixture[str], path: Path, method: str, short: list[str]
) -> None:
    path.write_text(SHORT + "\n\ndef same(x):\n    return x\n")
    code, out, _ = run(capsys, "probe", "--task", "dependence", path, "--method", method, *short, "--json")
    assert code == 0
    found = json.loads(out)
    assert found["options"]["method"] == method
    assert {record.get("method", method) for record in found["records"]} == {method}
    assert [record["function"] for record in found["records"]] == ["best", "same"]
    agreement = found["tables"][1]
    assert len(agreement["rows"]) == 8
    code, _, err = run(capsys, "probe", "--task", "dependence", path, "--method", "guessing")
    assert code == 2
    assert "guessing" in err


JAVA = """class Best {
    static int best(int[] values) {
        int found = 0;
        for (int value : values)
            found += value;
        return found;
    }
}
"""


@pytest.fixture
def java(tmp_path: Path) -> Path:
    path = tmp_path / "Best.java"
    path.write_text(JAVA)
    return path


def test_java(capsys: pytest.CaptureFixture[str], java: Path) -> None:
    code, out, _ = run(capsys, "dependence", java)
    assert code == 0
    assert "Best.best" in out
    assert "for (int value : values)" in out
    code, out, _ = run(capsys, "dependence", f"{java}::best", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["function"], found["control"]) == ("Best.best", [[4, 4], [4, 5]])
    assert [5, 6, "found", "name"] in found["data"]
    code, out, _ = run(capsys, "dependence", java, "--json")
    assert [one["function"] for one in json.loads(out)["functions"]] == ["Best.best"]


def test_what_cannot_be_computed_is_refused_with_the_reason(
    capsys: pytest.CaptureFixture[str], java: Path, tmp_path: Path
) -> None:
    path = tmp_path / "first.c"
    path.write_text("int first(void) {\n    int n = 1;\n    return n;\n}\n")
    code, out, err = run(capsys, "dependence", f"{path}::first")
    assert (code != 0, out) == (True, "")
    assert "the dependences of C cannot be computed" in err
    java.write_text("class Best {\n    int best( { }\n}")
    code, _, err = run(capsys, "dependence", java)
    assert code != 0
    assert "the Java source is not valid at line 2" in err
