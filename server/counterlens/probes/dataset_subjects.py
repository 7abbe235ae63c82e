"""The functions of a dataset as targets of probes."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from counterlens.datasets import Dataset, Problem, TestForm
from counterlens.datasets.counterparts import Counterparts
from counterlens.datasets.repository import RepositoryDataset
from counterlens.errors import DataError, SandboxError
from counterlens.judging.base import LIMITS, Judge, Setting
from counterlens.judging.comparison import PrintingCase
from counterlens.judging.languages import judging_of
from counterlens.languages.registry import title_of
from counterlens.probes.execution.language import execution_of
from counterlens.probes.probe import Target
from counterlens.probes.prompts.language import PROMPTED
from counterlens.probes.subjects import given_judge
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import MODULE, is_internal

_READABLE = {TestForm.PYTHON, TestForm.JAVA_MAIN}
"""The forms of tests in which calls are found."""


def targets_of(
    dataset: Dataset,
    *,
    limit: int | None = None,
    seed: int = 0,
    sandbox: Sandbox | None = None,
    limits: Limits = LIMITS,
    buggy: bool = False,
    translated_from: Counterparts | None = None,
    suited: Callable[[Target], bool] = lambda _target: True,
) -> list[Target]:
    """The functions or whole programs of a dataset in one language, or a sample of them, in its order.

    The first language of `PROMPTED` with functions is used if the data has several.

    Args:
        limit: Maximum number of functions, drawn at random.
        seed: Random seed of the sample.
        sandbox: The sandbox for their tests; None if no judge is needed.
        limits: The limits of each program together with the tests.
        buggy: Whether to use the dataset's programs with bugs, for repair.
        translated_from: Their counterparts in another language, if they are to be translated from there.
        suited: Whether a function can be probed: others are drawn only if there are too few of these.

    Raises:
        DataError: a record is malformed, or there are no functions to probe; or the functions are in the
            language that they are to be translated from.
        SandboxError: programs in their language cannot be run on this machine.
    """
    every = [p for p in dataset if _qualname(p) and p.source.strip() and not p.unusable]
    there = {problem.language for problem in every}  # before the sample is drawn
    language = next((candidate for candidate in PROMPTED if candidate in there), None)
    problems = [problem for problem in every if problem.language == language]
    if not problems:
        other = (
            f"; it is in {title_of(dataset.language or '')}"
            if dataset.language not in (None, *PROMPTED)
            else ""
        )
        raise DataError(
            f"{dataset.path} has no functions or tested programs in {PROMPTED.titles('or')}{other}",
            "Choose a dataset with functions, or with programs that have inputs and outputs",
        )
    if translated_from is not None and translated_from.language == language:
        raise DataError(
            f"the functions of {dataset.path} are already in {title_of(language)}",
            "Name another language with --from, or the file in another language with --data",
        )
    if sandbox is not None and language is not None and (missing := judging_of(language).missing()):
        raise SandboxError(missing)
    if buggy:
        problems = [problem for problem in problems if problem.buggy is not None]
        if not problems:
            raise DataError(
                f"{dataset.path} has no programs with bugs",
                "Repair needs a dataset with bugs, such as humanevalpack",
            )

    def target_of(problem: Problem) -> Target:
        target = _target(problem, sandbox, limits, buggy=buggy)
        return (
            replace(target, counterpart=_counterpart(problem, translated_from))
            if translated_from is not None
            else target
        )

    if limit is not None and limit < len(problems):
        chance = random.Random(seed)  # noqa: S311 - no secret
        public_first = isinstance(dataset, RepositoryDataset)
        drawn = _draw(problems, limit, chance, lambda p: suited(target_of(p)), public_first=public_first)
        problems = [problem for i, problem in enumerate(problems) if i in drawn]
    return [target_of(problem) for problem in problems]


def _draw(
    problems: Sequence[Problem],
    limit: int,
    chance: random.Random,
    suited: Callable[[Problem], bool],
    *,
    public_first: bool,
) -> set[int]:
    """The indices of a random sample of the suited problems, which the others fill up.

    Internal functions of a repository are drawn only after all public ones.
    """
    inner = {i for i, problem in enumerate(problems) if public_first and is_internal(problem.function or "")}
    drawn = set[int]()
    for group in (sorted(set(range(len(problems))) - inner), sorted(inner)):
        suiting = (i for i in _random_order(group, limit - len(drawn), chance) if suited(problems[i]))
        drawn.update(islice(suiting, limit - len(drawn)))
    others = sorted(set(range(len(problems))) - drawn)
    return drawn | set(chance.sample(others, limit - len(drawn)))


def _random_order(indices: Sequence[int], count: int, chance: random.Random) -> Iterator[int]:
    """Indices in random order: first a sample of a size, which is the same without the others."""
    first = chance.sample(indices, min(count, len(indices)))
    yield from first
    rest = sorted(set(indices) - set(first))
    yield from chance.sample(rest, len(rest))


def not_drawn(dataset: Dataset) -> dict[str, str]:
    """The problems of a dataset that no sample contains, by id, with the reason.

    Raises:
        DataError: a record is malformed.
    """
    return {problem.id: problem.unusable for problem in dataset if problem.unusable}


def _counterpart(problem: Problem, others: Counterparts) -> Document | None:
    source = others.sources.get(problem.task) if problem.task else None
    return None if source is None else Document(source, language=others.language)


def _qualname(problem: Problem) -> str:
    """The function of a problem; `MODULE` for a whole program with inputs and outputs; empty for others."""
    if problem.function is not None:
        return problem.function
    return MODULE if problem.tests is not None and problem.tests.form is TestForm.STDIO else ""


def _target(problem: Problem, sandbox: Sandbox | None, limits: Limits, *, buggy: bool) -> Target:
    function, tests = _qualname(problem), problem.tests
    judge: Judge | None = None
    cases: tuple[PrintingCase, ...] = ()
    if tests is not None and tests.form is TestForm.STDIO:
        cases = tuple(PrintingCase(case.input, case.output) for case in tests.cases)
    if sandbox is not None and function == MODULE:
        judge = judging_of(problem.language).by_output(cases, Setting(sandbox, Path(sys.executable), limits))
    elif sandbox is not None and tests is not None and tests.form is not TestForm.STDIO:
        judge = given_judge(tests.text, function, problem.source, problem.language, sandbox, limits)
    calls: list[str] = []
    if tests is not None and tests.form in _READABLE:
        calls = execution_of(problem.language).calls_in(tests.text, function)
    call = problem.call or next(iter(calls), None)
    source = problem.buggy if buggy and problem.buggy is not None else problem.source
    return Target(
        Document(source, path=problem.file, language=problem.language),
        function,
        judge,
        problem.id,
        call,
        problem.description,
        problem.buggy,
        tuple(calls),
        problem.details,
        problem.lines,
        runs=cases,
        problem=problem,
    )
