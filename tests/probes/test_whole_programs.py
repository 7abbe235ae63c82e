"""Whole programs as targets: they read standard input and print, and their output judges them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from counterlens.cli.main import main
from counterlens.datasets.registry import open_dataset
from counterlens.errors import SourceError
from counterlens.judging.languages import judging_of
from counterlens.mutations import Counterfactual, survey
from counterlens.mutations.base import NAMES_UNREAD
from counterlens.probes.dataset_subjects import targets_of
from counterlens.probes.execution.dependent import DependentExecutionProbe
from counterlens.probes.execution.record import Form
from counterlens.probes.options import make
from counterlens.probes.pairs.completion import CompletionProbe
from counterlens.probes.pairs.methods import forms_of
from counterlens.probes.pairs.published import CACP, PAPER_ORDER
from counterlens.probes.pairs.record import PairsRecord
from counterlens.probes.probe import Context, Target
from counterlens.probes.prompts.function_text import hollow
from counterlens.probes.prompts.gap import Gap
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import require_suited
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import MODULE, find_function
from tests.probes.pairs.test_completion import Scripted

RAIN = """\
import sys

LIMIT = 3


def wet(depths):
    days = 0
    for depth in depths:
        if depth >= LIMIT:
            days += 1
    return days


first = sys.stdin.readline()
depths = [int(word) for word in sys.stdin.readline().split()]
total = sum(depths)
if total > 10:
    label = "much"
else:
    label = "little"
print(wet(depths), total)
print(label)
"""
RAIN_RUNS = (("3\n1 5 9\n", "2 15\nmuch\n"), ("2\n1 2\n", "0 3\nlittle\n"))
JAVA = """\
import java.util.Scanner;

public class Main {
    public static void main(String[] args) {
        Scanner in = new Scanner(System.in);
        int n = in.nextInt();
        int sum = 0;
        for (int i = 0; i < n; i++) {
            int next = in.nextInt();
            if (next > 2) {
                sum += next;
            } else {
                sum -= 1;
            }
        }
        System.out.println(sum);
    }
}
"""


def folder_of(root: Path, source: str, name: str, *runs: tuple[str, str]) -> Path:
    """A dataset of one program, in the layout of CodeContests' folders or of CodeNet's."""
    place = root / "programs" / "p1"
    (place / "tests").mkdir(parents=True)
    (place / name).write_text(source)
    (place / "PROBLEM.md").write_text("Count the wet days, and add up the rain.")
    for number, (given, due) in enumerate(runs, 1):
        (place / "tests" / f"input_{number}.txt").write_text(given)
        (place / "tests" / f"output_{number}.txt").write_text(due)
    return root / "programs"


def target_of(folder: Path) -> Target:
    (target,) = targets_of(open_dataset(folder), sandbox=best_sandbox())
    return target


def versions(source: str) -> list[str]:
    """The program and all of its versions by the protocol `cacp`."""
    made = survey(source, mutations=forms_of(CACP, PAPER_ORDER, 9), function=MODULE).counterfactuals
    return [source, *(counterfactual.source for counterfactual in made)]


def continued(programs: list[str]) -> Scripted:
    """A model that knows how each version goes on."""

    def rest(prompt: str) -> str:
        prompt = prompt[prompt.index("import") :]  # without the description
        return next((text[len(prompt) :] for text in programs if text.startswith(prompt)), "")

    return Scripted(rest)


def probed(model: Scripted, target: Target, **options: object) -> PairsRecord:
    probe = CompletionProbe()
    record = probe.run(Context(model, best_sandbox), target, make(probe.options, options))
    assert isinstance(record, PairsRecord)
    return record


def test_a_program_is_mutated_completed_and_judged_by_its_output(tmp_path: Path) -> None:
    target = target_of(folder_of(tmp_path, RAIN, "main.py", *RAIN_RUNS))
    assert (target.qualname, target.name) == (MODULE, "p1")
    record = probed(continued(versions(RAIN)), target, protocol="cacp")
    assert record.judged_by == "2 given tests"
    assert {pair.mutation for pair in record.pairs} >= {"rename-random", "rename-shuffle", "if-else-flip"}
    named = [pair for pair in record.pairs if pair.mutation != "independent-swap"]  # whose prompts look alike
    assert all(pair.original_right and pair.counterfactual_right for pair in named)
    assert not probed(Scripted(lambda _: "print(0)\n"), target, protocol="cacp").pairs[0].original_right


def test_placebos_and_discriminating_cuts_of_a_program(tmp_path: Path) -> None:
    target = target_of(folder_of(tmp_path, RAIN, "main.py", *RAIN_RUNS))
    record = probed(Scripted(lambda _: "pass\n"), target, mutations=["rename-random"], placebos=2)
    assert record.placebos
    assert any(pair.discriminating for pair in record.pairs)


def test_a_java_program_is_a_target_too(tmp_path: Path) -> None:
    if missing := judging_of("java").missing():
        pytest.skip(missing)
    target = target_of(folder_of(tmp_path, JAVA, "Main.java", ("3\n1 5 4\n", "8\n")))
    flips = survey(JAVA, mutations=["if-else-flip"], function=MODULE, language="java").counterfactuals
    model = continued([JAVA, *(made.source for made in flips)])
    record = probed(model, target, mutations=["if-else-flip"], placebos=0)
    assert [pair.original_right and pair.counterfactual_right for pair in record.pairs] == [True]


@pytest.mark.parametrize("protocol", ["", "codemind"])
def test_a_program_is_written_from_its_description_and_asked_about(tmp_path: Path, protocol: str) -> None:
    target = target_of(folder_of(tmp_path, RAIN, "main.py", *RAIN_RUNS))
    own = RAIN.replace("days", "counted").replace("total", "everything")

    def said(prompt: str) -> str:
        if "def wet" not in prompt:
            assert "Count the wet days" in prompt
            return own
        return "2 15\nmuch" if "counted" not in prompt else "0 0\nlittle"

    probe = DependentExecutionProbe()
    options = make(probe.options, {"protocol": protocol} if protocol else {})
    record = probe.run(Context(Scripted(said), best_sandbox), target, options)
    (synthesis,) = record.syntheses
    assert synthesis.correct
    assert synthesis.judged_by == "2 given tests"
    assert "counted" in synthesis.program
    asked = {(answer.form, answer.style): answer.right for answer in record.answers}
    assert {style for _, style in asked} == ({"steps"} if protocol else {"direct", "steps"})
    if not protocol:
        assert (asked[Form.STANDING, "direct"], asked[Form.OWN, "direct"]) == (True, False)
    wrong = probe.run(Context(Scripted(lambda _: "print(0)\n"), best_sandbox), target, options)
    assert not wrong.syntheses[0].correct
    assert not [answer for answer in wrong.answers if answer.form is Form.OWN]


def test_a_java_program_is_written_from_its_description(tmp_path: Path) -> None:
    if missing := judging_of("java").missing():
        pytest.skip(missing)
    target = target_of(folder_of(tmp_path, JAVA, "Main.java", ("3\n1 5 4\n", "8\n")))
    probe = DependentExecutionProbe()
    model = Scripted(lambda prompt: JAVA if "nextInt" not in prompt else "8")
    record = probe.run(Context(model, best_sandbox), target, make(probe.options, {}))
    assert record.syntheses[0].correct
    assert {answer.form for answer in record.answers} == {Form.STANDING, Form.OWN}


@pytest.mark.parametrize("task", ["operator", "recognition", "specification", "runtime"])
def test_a_task_for_functions_says_so(tmp_path: Path, task: str) -> None:
    target = target_of(folder_of(tmp_path, RAIN, "main.py", *RAIN_RUNS))
    with pytest.raises(SourceError, match="is for functions, and p1 is a whole program"):
        require_suited(PROBES[task], [target], make(PROBES[task].options, {}))


# Mutations of a whole program


def changed(source: str, mutation: str) -> list[Counterfactual]:
    return list(survey(source, mutations=[mutation], function=MODULE).counterfactuals)


def reasons(source: str, mutation: str) -> str:
    return "; ".join(site.reason for site in survey(source, mutations=[mutation], function=MODULE).refusals)


def test_variables_of_a_program_are_renamed_where_functions_use_them() -> None:
    function = "def high(n):\n    global level\n    level += n\n    return level\n"
    source = f"level = 2\n\n\n{function}\n\nprint(high(3))\n"
    (made,) = changed(source, "rename-random")
    name = re.match(r"\w+", made.source)
    assert name is not None
    assert made.source == source.replace("level", name[0])
    assert not survey(source, mutations=["rename-random"]).counterfactuals  # other modules may import it


def test_a_library_that_may_look_names_up_is_an_assumption() -> None:
    source = "import pandas\nx = 1\nprint(pandas.read_csv('a').query('b > @x'))\n"
    made = changed(source, "rename-random")
    assert made
    assert all(NAMES_UNREAD in each.assumptions for each in made)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = 1\nprint(globals())\n", "by name"),
        ("import __main__\nx = 1\nprint(__main__)\n", "by name"),
        ("from math import *\ne = 2\nprint(e)\n", "star import"),
        ("n = input()\ninput = print\ninput(n)\n", "name of a builtin"),
        ("x = 1\nprint(f'{x=}')\n", "shows the name"),
        ("x = 1\nexec('print(x)')\n", "by name"),
    ],
)
def test_names_of_a_program_that_must_stay(source: str, reason: str) -> None:
    assert reason in reasons(source, "rename-random")
    assert not [
        made for made in changed(source, "rename-random") if "x = 1" not in made.source and "x" in source
    ]


def test_statements_and_chains_at_module_level() -> None:
    (swapped,) = changed("a = 1\nb = 2\nprint(a, b)\n", "independent-swap")
    assert swapped.source == "b = 2\na = 1\nprint(a, b)\n"
    assert not changed("a = f()\nb = g()\nprint(a, b)\n", "independent-swap")
    (broken,) = changed("x = input()\nx = x.split()\nprint(x)\n", "def-use-break")
    assert re.fullmatch(r"x = input\(\)\n(\w{5}) = x.split\(\)\nprint\(\1\)\n", broken.source)
    assert "closure" in reasons(
        "x = 1\nx = 2\n\n\ndef f():\n    return x\n\n\nprint(f(), x)\n", "def-use-break"
    )


@pytest.mark.parametrize("call", ["globals()['x']", "vars()['x']", "eval('x')"])
def test_a_chain_that_is_looked_up_by_name_stays(call: str) -> None:
    assert not changed(f"x = input()\nx = x.split()\nprint(x, {call})\n", "def-use-break")


def test_every_version_of_a_program_prints_the_same(tmp_path: Path) -> None:
    target = target_of(folder_of(tmp_path, RAIN, "main.py", *RAIN_RUNS))
    assert target.judge is not None
    keeping = [made for made in survey(RAIN, function=MODULE).counterfactuals if made.preserving]
    assert len(keeping) > 6
    assert all(made.function == MODULE and target.judge.judge(made.source).passed for made in keeping)
    empty = hollow(target.document, find_function(target.document, MODULE))
    assert not target.judge.judge(empty.text).passed


def test_the_cut_of_a_program_is_between_statements() -> None:
    for made in survey(RAIN, mutations=["rename-random"], function=MODULE).counterfactuals:
        assert made.cut is not None
        document = Document(RAIN)
        gap = Gap.of(document, find_function(document, MODULE), made.cut.original)
        assert gap.shown == gap.before
        assert gap.before.endswith("\n")
        assert (gap.after, gap.stop.indent) == ("", None)
        assert 0.6 < gap.before.count("\n") / RAIN.count("\n") < 0.9


def test_mutate_takes_a_file_as_a_whole_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rain.py"
    file.write_text(RAIN)
    with pytest.raises(SystemExit) as ended:
        main(["mutate", f"{file}::{MODULE}", "--mutation", "rename-random"])
    assert not ended.value.code
    assert "renamed `LIMIT`" in capsys.readouterr().out


# What a program prints


@pytest.mark.parametrize(
    ("direct", "steps", "right"),
    [
        ("2 15\nmuch\n", " LIMIT is 3.\nAnswer:\n2 15\nmuch", (True, True)),
        ("```\n2  15\nmuch\n```\nIt is much.", " so\nAnswer: 2 15\nlittle", (True, False)),
        ("2 15", " and so on", (False, False)),
    ],
)
def test_a_model_is_asked_what_a_program_prints(
    tmp_path: Path, direct: str, steps: str, right: tuple[bool, bool]
) -> None:
    target = target_of(folder_of(tmp_path, RAIN, "main.py", *RAIN_RUNS))
    model = Scripted(lambda prompt: steps if "Step by step" in prompt[-30:] else direct)
    probe = PROBES["execution"]
    record = probe.run(Context(model, best_sandbox), target, make(probe.options, {"protocol": "codemind"}))
    assert [answer.right for answer in record.answers] == list(right)
    assert {(answer.call, answer.truth) for answer in record.answers} == {("3\n1 5 9", "2 15\nmuch")}
    assert record.answers[0].complexity
    assert model.asked[0].endswith("Input:\n```\n3\n1 5 9\n```\nOutput:\n```")
    assert RAIN.strip() in model.asked[0]
    assert list(record.left_out) == [
        "the unrolled version is left out: the loops of whole programs are not unrolled"
    ]


def test_a_program_without_a_short_run_is_not_asked_about(tmp_path: Path) -> None:
    target = target_of(folder_of(tmp_path, RAIN, "main.py", ("9\n" + "1 " * 200, "0 200\nmuch")))
    probe = PROBES["execution"]
    with pytest.raises(SourceError, match="too long to ask for"):
        probe.run(Context(Scripted(str), best_sandbox), target, make(probe.options, {}))
