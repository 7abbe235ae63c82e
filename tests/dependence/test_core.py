"""The analysis against people's labels; `benchmarks/core_agreement.py` names each disagreement."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT.parent / "shared" / "data" / "core"


def test_a_condition_over_several_lines_is_one_statement(tmp_path: Path) -> None:
    for name in ("code", "label"):
        (tmp_path / name).mkdir()
    source = "def f(a, b):\n    if (a and\n        b):\n        c = a\n    return c\n"
    (tmp_path / "code" / "x_f_1_5.py").write_text(source)
    labels = (
        "variables:\n  a 2:\n    reset: False\n    datadep:\n      - a 1\n    controldep: Null\n"
        "  b 3:\n    reset: False\n    datadep:\n      - b 1\n    controldep: Null\n"
        "  c 4:\n    datadep:\n      - a 1\n    controldep:\n      - a 2\n      - b 3\n"
    )
    (tmp_path / "label" / "x_f_1_5.yaml").write_text(labels)
    command = [sys.executable, str(ROOT / "benchmarks" / "core_agreement.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    figures = json.loads(done.stdout.splitlines()[-1])["figures"]
    assert [figures["control"][key] for key in ("both", "not_labelled", "not_found")] == [1, 0, 0]
    assert [figures["data"][key] for key in ("both", "not_labelled", "not_found")] == [2, 0, 0]


@pytest.mark.skipif(not CORE.is_dir(), reason=f"CoRe's labels are not in {CORE}")
def test_agreement_with_the_labels_of_people() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "core_agreement.py"), str(CORE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    figures = found["figures"]
    assert figures["control"]["both"] > 900
    assert figures["control"]["precision"] >= 0.95
    assert figures["control"]["recall"] >= 0.94
    assert figures["data"]["both"] > 600
    assert figures["data"]["precision"] >= 0.94
    assert figures["data"]["recall"] >= 0.99
    chains = found["transitive"]
    assert chains["control"]["both"] > 1700
    assert chains["control"]["precision"] >= 0.96
    assert chains["control"]["recall"] >= 0.99
    assert chains["data"]["both"] > 9000
    assert chains["data"]["precision"] >= 0.94
    assert chains["data"]["recall"] >= 0.98
    named = [line for line in done.stdout.splitlines() if "not labelled" in line or "not found" in line]
    assert len(named) == sum(one["not_labelled"] + one["not_found"] for one in figures.values())


def test_several_statements_in_a_line_are_told_apart_by_their_variables(tmp_path: Path) -> None:
    for name in ("code", "label"):
        (tmp_path / name).mkdir()
    source = "void f(int a) {\n  for (int i = 0; i < a; i++)\n    if (i > 1) a = i;\n}\n"
    (tmp_path / "code" / "x_f_1_4.c").write_text(source)
    labels = (
        "variables:\n    i 2:\n        datadep:\n            - i 2\n        controldep:\n            - i 2\n"
        "    a 2:\n        reset: False\n        datadep:\n            - a 1\n            - a 3\n"
        "        controldep:\n            - i 2\n"
        "    a 3:\n        datadep: i 2\n        controldep: i 3\n"
    )
    (tmp_path / "label" / "x_f_1_4.yaml").write_text(labels)
    command = [sys.executable, str(ROOT / "benchmarks" / "core_agreement.py"), str(tmp_path)]
    command += ["--language", "c"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    found = json.loads(done.stdout.splitlines()[-1])
    assert [found["figures"]["control"][key] for key in ("both", "not_labelled", "not_found")] == [3, 0, 0]
    assert [found["figures"]["data"][key] for key in ("both", "not_labelled", "not_found")] == [2, 0, 0]
    assert found["transitive"]["data"]["not_labelled"] == found["transitive"]["data"]["not_found"] == 0


FLOORS = {  # control, data, and the chains of both: precision, recall
    "java": ((0.97, 0.98), (0.98, 0.98), (0.98, 0.98), (0.98, 0.98)),
    "c": ((0.97, 0.97), (0.97, 0.98), (0.89, 0.98), (0.98, 0.98)),
}


@pytest.mark.parametrize("language", FLOORS)
def test_agreement_with_the_labels_of_people_in_other_languages(language: str) -> None:
    labelled = CORE.with_name(f"core-{language}")
    if not labelled.is_dir():
        pytest.skip(f"CoRe's labels are not in {labelled}")
    command = [sys.executable, str(ROOT / "benchmarks" / "core_agreement.py"), str(labelled)]
    command += ["--language", language]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["left_out"] == 0
    compared = [found[way][kind] for way in ("figures", "transitive") for kind in ("control", "data")]
    for figures, (precision, recall) in zip(compared, FLOORS[language], strict=True):
        assert figures["both"] > 550
        assert figures["precision"] >= precision
        assert figures["recall"] >= recall


@pytest.mark.skipif(not CORE.is_dir(), reason=f"CoRe's labels are not in {CORE}")
def test_the_graph_answers_core_s_questions_as_people_do_and_the_rules_do_not() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "core_sources.py"), str(CORE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    figures = json.loads(done.stdout.splitlines()[-1])["figures"]
    assert list(figures) == ["data dependence", "control dependence", "information flow"]
    for task, by in figures.items():
        assert by["graph"]["f1"] > 0.965, task
        assert by["graph"]["mean f1 of lists"] > 0.9, task
        assert by["rules"]["f1"] < by["graph"]["f1"] - 0.1, task
