"""`counterlens judge`: judge a program."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import click

from counterlens.cli.options import (
    excluded_tests_option,
    json_option,
    print_json,
    refuse_given,
    sandbox_option,
    strong_sandbox,
)
from counterlens.cli.progress_lines import steps
from counterlens.cli.saying import say
from counterlens.judging.base import (
    LIMITS,
    LONGEST,
    SHORTEST,
    Evidence,
    Judgement,
    Setting,
    Verdict,
    facts_of,
    lasting,
)
from counterlens.judging.languages import judging_of, program_language
from counterlens.judging.programs import judge_against, judge_by_file, judge_by_itself, read_program
from counterlens.judging.projects import interpreter_for
from counterlens.probes.options import specs
from counterlens.probes.pairs.completion import CompletionOptions
from counterlens.reports.export import json as plain
from counterlens.sandbox.registry import choose

_COLOURS = {Judgement.PASSED: "green", Judgement.REFUSED: "yellow"}
_MAP = specs(CompletionOptions)["map_timeout"]
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.argument("candidate", type=_FILE)
@click.option("--tests", type=_FILE, metavar="TESTS", help="Judge by these tests.")
@click.option("--against", type=_FILE, metavar="ORIGINAL", help="Judge by comparison with this program.")
@click.option("--function", metavar="NAME", help="Judge only this function; check(candidate) receives it.")
@click.option(
    "--timeout",
    type=click.FloatRange(SHORTEST, LONGEST),
    default=LIMITS.seconds,
    show_default=True,
    help="Time limit in seconds for one run.",
)
@click.option(
    "--map-timeout",
    type=click.FloatRange(_MAP.low, _MAP.high),
    default=_MAP.default,
    show_default=True,
    metavar=_MAP.metavar,
    help=_MAP.help,
)
@excluded_tests_option
@click.option("--python", type=_FILE, help="Python interpreter. Default: that of the program's project.")
@sandbox_option
@json_option
def judge(
    candidate: Path,
    tests: Path | None,
    against: Path | None,
    function: str | None,
    timeout: float,
    map_timeout: float,
    excluded_tests: tuple[str, ...],
    python: Path | None,
    as_json: bool,
) -> None:
    """Judge a program by tests, by another program, by both, or by its own tests and examples.

    With --tests and --against the tests give the verdict, and the original says whether a program that passes
    does the same on inputs: if not, the pass is contested.

    The program runs only in a sandbox, so it may be hostile. The exit code is 0 if it passes, else 1.
    """
    if tests or against:
        refuse_given(("map_timeout", "excluded_tests"), "only for own tests, not for --tests or --against")
    if program_language(candidate) != "python":
        refuse_given(("python",), "only for Python programs")
    started = time.monotonic()
    judging_of(program_language(candidate))
    program = read_program(candidate)
    if isinstance(program, str):
        sandbox = strong_sandbox(*filter(None, (candidate, tests, against, python)))
        with steps("judging", total_known=False) as report:
            setting = Setting(
                sandbox,
                python or interpreter_for(candidate),
                lasting(timeout),
                report=lambda what: report(what, 0, 1),
                map_timeout=map_timeout,
                excluded=excluded_tests,
            )
            if tests:
                verdict = judge_by_file(
                    program, candidate, tests, setting, function=function, against=against
                )
            elif against:
                verdict = judge_against(program, against, setting, function=function)
            else:
                verdict = judge_by_itself(program, candidate, setting, function=function)
    else:
        verdict = program
    verdict = replace(verdict, seconds=time.monotonic() - started)
    if as_json:
        best = choose()
        print_json({**plain.verdict(verdict), "sandbox": {"name": best.name, "strength": best.strength}})
    else:
        _show(verdict)
    click.get_current_context().exit(0 if verdict.passed else 1)


def _show(verdict: Verdict) -> None:
    evidence: Evidence = verdict.evidence
    word = verdict.judgement.value.replace("_", " ")
    word = click.style(word, fg=_COLOURS.get(verdict.judgement, "red"), bold=True)
    contested = ", contested" if verdict.contested else ""
    tests = f", {evidence.tests} run" if evidence.tests else ""
    say(f"{contested}  by {evidence.attribution}{tests}, {verdict.seconds:.2f} s", styled=word)
    for text in (evidence.failed, evidence.message, *facts_of(verdict)):
        for line in text.splitlines() if text else ():
            say(f"  {line}")
