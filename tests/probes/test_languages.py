"""Every probe is for every language or says why not; and languages are never pooled, whatever is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterlens.datasets import open_dataset
from counterlens.errors import DataError, SourceError
from counterlens.evaluation.plan import make_plan
from counterlens.evaluation.settings import RunSettings
from counterlens.models.base import Capability, Completion, Model, ModelInfo
from counterlens.probes.operator.memorisation import read_corpus
from counterlens.probes.options import make
from counterlens.probes.probe import Context, Need, Target
from counterlens.probes.prompts.language import PROMPTED
from counterlens.probes.registry import PROBES
from counterlens.probes.runner import require_language, require_one_language, run_targets
from counterlens.sandbox.registry import best_sandbox
from counterlens.syntax.document import Document

PYTHON = "n = int(input())\nprint(n % 2)\n"
JAVA = "class Main { public static void main(String[] a) { System.out.println(1 < 2 || 3 < 4); } }\n"
BOTH = [
    Target(Document("def f(a):\n    return a\n"), "f"),
    Target(Document("class A { int f(int a) { return a + 1; } }", language="java"), "A.f"),
]

JAVA_PROBES = set(PROBES)
"""Those that are for Java: all."""


class Asked(Model):
    """A model that must not be asked anything."""

    info = ModelInfo("asked", "asked", "0", "local", frozenset(Capability) - {Capability.MASKED})

    def complete(self, *_: object, **__: object) -> list[Completion]:
        raise AssertionError("it was asked")


@pytest.mark.parametrize("task", PROBES)
def test_no_probe_has_figures_over_functions_in_several_languages(task: str) -> None:
    probe = PROBES[task]
    context = Context(Asked(), best_sandbox)
    with pytest.raises(DataError, match="there is code in java and in python"):
        run_targets(probe, context, BOTH, make(probe.options, {}))


@pytest.mark.parametrize("language", [*PROMPTED])
@pytest.mark.parametrize("task", PROBES)
def test_every_probe_is_for_every_language_or_says_why_not(task: str, language: str) -> None:
    probe = PROBES[task]
    reason = probe.refused_languages.get(language)
    target = next(target for target in BOTH if target.document.language == language)
    if reason is None:
        require_language(probe, [language])
        assert language == "python" or task in JAVA_PROBES
        return
    with pytest.raises(SourceError) as refused:
        run_targets(probe, Context(Asked(), best_sandbox), [target], make(probe.options, {}))
    assert reason in refused.value.message
    assert task not in JAVA_PROBES


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A dataset of programs in two languages."""
    for name, program, text in (("p1_s1", "main.py", PYTHON), ("p2_s1", "Main.java", JAVA)):
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        (folder / program).write_text(text)
        (folder / "input.txt").write_text("3\n")
        (folder / "output.txt").write_text("1\n")
    return tmp_path / "data"


def test_a_run_over_a_dataset_of_two_languages_is_of_one(mixed: Path) -> None:
    assert {problem.language for problem in open_dataset(str(mixed))} == {"python", "java"}
    for task, probe in PROBES.items():
        if {Need.CORPUS, Need.BUG, Need.BENCHMARK} & probe.needs:
            continue
        try:
            plan = make_plan(RunSettings.of([task], str(mixed)), best_sandbox())
        except DataError as error:
            assert "no functions in Python or Java" in error.message  # noqa: PT017 - others plan something
            continue
        except SourceError as error:
            # The program that was drawn is whole, and has no description.
            said = "no description" if probe.whole_programs else "is for functions"
            assert said in error.message  # noqa: PT017 - others plan something
            continue
        require_one_language(target.document.language for target in plan.targets[task].values())


def test_operators_are_counted_in_the_language_that_is_asked_about(mixed: Path) -> None:
    assert read_corpus(str(mixed)).frequency == {"%": 1}  # and not the two `<` and the `||`
    assert read_corpus(str(mixed), language="java").frequency == {"<": 2, "||": 1}
