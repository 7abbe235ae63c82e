"""The runtime probe: does the model follow a call line by line? (Chen et al. 2024, REval, and beyond)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise

from counterlens.errors import SourceError
from counterlens.judging.base import lasting
from counterlens.languages.registry import LANGUAGES
from counterlens.metrics.closed import Closed, share_above_chance
from counterlens.metrics.effects import Proportion, pooled_share
from counterlens.metrics.table import Cell, Table
from counterlens.models.base import Model, Prompt
from counterlens.models.chat.replies import without_thought
from counterlens.probes.common_options import DEFAULT_TIMEOUT, Timeout
from counterlens.probes.equivalence.probe import UNREADABLE, read_yes_no
from counterlens.probes.execution.coherence import TracedCall, ask_states, trace_call
from counterlens.probes.execution.language import (
    MARK,
    MOST_POINTS,
    Point,
    add_mark,
    execution_of,
    times_in_words,
)
from counterlens.probes.execution.prompts import DIRECT_TOKENS, StyleTokens, most_tokens
from counterlens.probes.execution.questions import reachable
from counterlens.probes.execution.record import (
    CoherenceCall,
    LineAnswer,
    NextLineAnswer,
    RuntimeCall,
    RuntimeRecord,
    SoughtInput,
)
from counterlens.probes.execution.tables import answer_baselines
from counterlens.probes.localisation.probe import number_lines, read_line
from counterlens.probes.options import ProbeOptions
from counterlens.probes.probe import Context, Need, Probe, Source, Target
from counterlens.probes.prompts.baselines import ChanceComparison, baseline_table, first_words, share_right
from counterlens.probes.prompts.closed import AnswerSource, ClosedQuestion, ask, choose, how
from counterlens.probes.prompts.closed_figures import BY_MODEL, closed_table, log_odds, yes_no
from counterlens.probes.prompts.function_text import body_lines, visible_part
from counterlens.probes.prompts.language import prompting_of
from counterlens.probes.prompts.literals import short
from counterlens.probes.prompts.templates import chats, fill
from counterlens.sandbox.base import Limits
from counterlens.syntax.functions import find_function

_MOST_STEPS = 400  # of a trace: a line that is not in a longer one may still run
_LISTED = 3
_NUMBER_TOKENS = 16
"""Limit of an answer that begins with the number of a line: what a model adds is not read."""
_NOTE = (
    "a line runs: at least once during the call; state: the value of a variable right after a given run of a "
    "line; next line: which one runs then; output: of the call; input: a call that gives this output, run in "
    "the sandbox, so that any right one counts"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeOptions(ProbeOptions):
    """Options of the runtime probe."""

    timeout: Timeout = DEFAULT_TIMEOUT
    max_tokens: StyleTokens = None


class RuntimeProbe(Probe[RuntimeOptions, RuntimeRecord]):
    """Asks which lines run, which comes next, for states, the output, and an input that gives it."""

    id = "runtime"
    title = "does it follow a call line by line?"
    source = Source("Chen et al. 2024", "REval, with searched inputs")
    needs = frozenset({Need.COMPLETE, Need.SANDBOX})
    options = RuntimeOptions
    record = RuntimeRecord

    def check_target(self, target: Target, options: RuntimeOptions) -> None:  # noqa: ARG002
        """Like `Probe.check_target`: a standalone call must reach it."""
        reachable(target)

    def run(self, context: Context, target: Target, options: RuntimeOptions) -> RuntimeRecord:
        """Like `Probe.run`.

        Raises:
            SourceError: there is no usable call.
        """
        limits = lasting(options.timeout)
        traced = trace_call(context, target, seed=options.seed, limits=limits)
        asker = _Asker(context, target, traced, options.max_tokens)
        following, sought = asker.following(), asker.input_prompt()
        prompts = [*(each.prompt for each in following), *([sought] if sought else [])]
        states, said = ask_states(context, target, traced, options.max_tokens, prompts)
        covered = asker.covered()
        chosen = asker.weights(following)
        next_lines = tuple(
            replace(each.answer(text.text), candidates=asker.numbers if logprobs else (), logprobs=logprobs)
            for each, text, logprobs in zip(following, said, chosen, strict=False)
        )
        tried = asker.sought(said[-1].text, limits) if sought else None
        call = RuntimeCall(
            **{field.name: getattr(states, field.name) for field in fields(CoherenceCall)},
            covered=covered,
            next_lines=next_lines,
            sought=tried,
        )
        left_out = {
            UNREADABLE: sum(each.yes is None for each in covered),
            "next line without a number": sum(each.answer is None for each in next_lines),
            "input: no call with literal arguments can be asked for": int(tried is None),
        }
        return RuntimeRecord(left_out=left_out, calls=(call,))

    def tables(self, records: Sequence[RuntimeRecord], *, seed: int) -> tuple[Table, ...]:
        tables = (
            _right(records),
            closed_table(_closed_questions(records), seed=seed),
            _consistency(records),
            baseline_table(_baselines(records)),
            _listing(records),
        )
        return tuple(table for table in tables if table.rows)

    def summary(self, records: Sequence[RuntimeRecord]) -> str:
        parts = [f"{share.count} of {share.n} ({name})" for name, share in _shares(records) if share.n]
        ladders = [ladder for _, ladder in _ladders(records)]
        kept = sum(map(consistent, ladders))
        return (
            f"{first_words(_baselines(records))}Right answers about what happens during a call: "
            f"{', '.join(parts)}. Of {len(ladders)} chains of answers with a right one, {kept} have no right "
            "answer behind a wrong easier one."
        )

    def measures(self, record: RuntimeRecord) -> Mapping[str, bool]:
        (call,) = record.calls
        return {"output": call.right, "consistent": all(map(consistent, call.ladders))}

    def excess(self, record: RuntimeRecord) -> float | None:
        """Like `Probe.excess`: the share of next lines that are chosen right; None if none is asked for."""
        asked = _closed_questions([record]).get(("next line", BY_MODEL))
        return share_above_chance(asked).value if asked else None

    def estimate(self, target: Target, options: RuntimeOptions, model: Model) -> int:  # noqa: ARG002
        reachable(target)
        return 2 + 4 * MOST_POINTS + 1


def consistent(ladder: Sequence[bool]) -> bool:
    """Whether no right answer comes after a wrong one to an easier question."""
    return not any(later and not earlier for earlier, later in pairwise(ladder))


@dataclass(frozen=True, slots=True)
class _NextLine:
    """A question about the line that runs after a state, with its number as truth; 0: none."""

    prompt: Prompt
    point: Point
    asked: int
    truth: int

    def answer(self, text: str) -> NextLineAnswer:
        """The answer to it."""
        return NextLineAnswer(
            line=self.point.line,
            times=self.point.times,
            truth=self.truth,
            said=text,
            answer=read_line(text),
            asked=self.asked,
        )


class _Asker:
    """Asks about the lines of a traced call, by their numbers in the program as shown."""

    def __init__(self, context: Context, target: Target, traced: TracedCall, max_tokens: int | None) -> None:
        self._context, self._target, self._traced = context, target, traced
        self._language = execution_of(target.document.language)
        self._tokens = most_tokens(context.model.info, max_tokens, DIRECT_TOKENS)
        self._number_tokens = most_tokens(context.model.info, max_tokens, _NUMBER_TOKENS)
        self._source = number_lines(traced.question.source.strip("\n").splitlines())
        self.numbers = (0, *self._body())
        """The candidates for the line that runs next; 0: none."""

    def _body(self) -> Iterator[int]:
        """The numbers of the lines of the function's body in the program as shown."""
        document, language = self._target.document, self._language
        name = self._target.qualname
        document = language.unanswered(document, find_function(document, name), self._traced.question.call)
        lines, body = body_lines(document, find_function(document, name))
        return (at + 1 for at in body if lines[at].strip())

    def weights(self, asked: Sequence[_NextLine]) -> list[tuple[float, ...]]:
        """The log-probabilities of the candidates for each line that runs next; empty if there are none."""
        context = self._context
        if not asked or how(context.model, context.cancel) is AnswerSource.TEXT:
            return [()] * len(asked)
        answers = tuple(f" {number}\n" for number in self.numbers)
        questions = [ClosedQuestion(each.prompt.text, answers) for each in asked]
        return choose(context.model, questions, context.steps, "weighing the next lines")

    def covered(self) -> tuple[LineAnswer, ...]:
        """Whether the lines of the states run, and as many lines that do not run."""
        traced, document = self._traced, self._target.document
        function = find_function(document, self._target.qualname)
        run = {step.line for step in traced.steps}
        whole = len(traced.steps) < _MOST_STEPS
        idle = sorted(self._language.simple_lines(document, function) - run) if whole else []
        idle = [line for line in idle if function.start_line <= line <= function.end_line]
        lines = list(dict.fromkeys(point.line for point in traced.points)) or sorted(run)[:MOST_POINTS]
        lines += idle[: len(lines)]
        numbers = [self._number(line) for line in lines]
        asked = [(line, number) for line, number in zip(lines, numbers, strict=True) if number]
        prompts = [self._prompt("runtime-line", self._tokens, line=str(number)) for _, number in asked]
        context = self._context
        answers = ask(context.model, prompts, read_yes_no, context.steps, "asking which lines run")
        return tuple(
            LineAnswer(line=line, truth=line in run, yes=answer.yes, probability=answer.probability)
            for (line, _), answer in zip(asked, answers, strict=True)
        )

    def following(self) -> list[_NextLine]:
        """Which line runs after each state, if the trace has all lines."""
        steps = self._traced.steps
        asked = []
        for point in self._traced.points if self._language.traces_headers else ():
            runs = [number for number, step in enumerate(steps) if step.line == point.line]
            after = runs[point.times - 1] + 1
            if after == _MOST_STEPS:
                continue
            here = self._number(point.line)
            truth = self._number(steps[after].line) if after < len(steps) else 0
            if here is None or truth is None:
                continue
            times = times_in_words(point.times)
            prompt = self._prompt("runtime-next", self._number_tokens, line=str(here), times=times)
            asked.append(_NextLine(prompt, point, here, truth))
        return asked

    def input_prompt(self) -> Prompt | None:
        """The question for an input with the output of the call; None if its calls cannot be read."""
        question, document = self._traced.question, self._target.document
        if not self._language.calls_in(question.call, self._target.qualname):
            return None
        name = find_function(document, self._target.qualname).name
        places = {"source": question.source, "function": name, "output": question.truth.written}
        return self._filled("runtime-input", self._tokens, **places)

    def sought(self, text: str, limits: Limits) -> SoughtInput:
        """The answer to `input_prompt`, and whether it gives the output of the call."""
        question, document, context = self._traced.question, self._target.document, self._context
        name = find_function(document, self._target.qualname).name
        begun = "" if chats(context.model.info) else f"{name}("
        call = self._call_in(begun + without_thought(text))
        gave, right = None, False
        if call is not None:
            try:
                output = self._language.output_of(document, call, context.setting(limits))
                gave, right = output.written, self._language.values.equal(output.value, question.truth.value)
            except SourceError:
                gave = None
        return SoughtInput(output=question.truth.written, said=text, call=call, gave=gave, right=right)

    def _call_in(self, text: str) -> str | None:
        """The first call with literal arguments in an answer: in one of its lines, or the begin of one."""
        for line in text.splitlines():
            plain = line.strip().strip("`")
            ends = [len(plain), *(at + 1 for at, mark in enumerate(plain) if mark == ")")]
            for end in ends:
                if calls := self._language.calls_in(plain[:end], self._target.qualname):
                    return calls[0]
        return None

    def _number(self, line: int) -> int | None:
        """The number of a line of the document in the program as shown; None if it is not shown."""
        document = add_mark(self._target.document, line)
        mark = f"{LANGUAGES[document.language].comment} {MARK}"
        name, call = self._target.qualname, self._traced.question.call
        document = self._language.unanswered(document, find_function(document, name), call)
        lines = visible_part(document, find_function(document, name)).strip("\n").splitlines()
        return next((number for number, text in enumerate(lines, 1) if text.endswith(mark)), None)

    def _prompt(self, name: str, tokens: int, **places: str) -> Prompt:
        return self._filled(name, tokens, source=self._source, call=self._traced.question.call, **places)

    def _filled(self, name: str, tokens: int, **places: str) -> Prompt:
        suffix = prompting_of(self._target.document.language).suffix
        return fill(self._context.model.info, __package__, f"{name}{suffix}", tokens, ("\n",), **places)


_Right = Callable[[RuntimeCall], Sequence[bool]]
_ASKED: Mapping[str, _Right] = {
    "line runs": lambda call: [each.right for each in call.covered],
    "state": lambda call: [each.right for each in call.states if not each.truncated],
    "next line": lambda call: [each.right for each in call.next_lines],
    "output": lambda call: [] if call.truncated else [call.right],
    "input": lambda call: [call.sought.right] if call.sought else [],
}


def _calls(records: Sequence[RuntimeRecord]) -> list[RuntimeCall]:
    return [call for record in records for call in record.calls]


def _shares(records: Sequence[RuntimeRecord]) -> Iterator[tuple[str, Proportion]]:
    for name, right in _ASKED.items():
        yield name, pooled_share((call.target, each) for call in _calls(records) for each in right(call))


def _ladders(records: Sequence[RuntimeRecord]) -> list[tuple[str, tuple[bool, ...]]]:
    """The chains of answers with a right one: one with none right is consistent whatever the model does."""
    return [(call.target, ladder) for call in _calls(records) for ladder in call.ladders if any(ladder)]


def _right(records: Sequence[RuntimeRecord]) -> Table:
    rows = tuple((name, share.n, share) for name, share in _shares(records) if share.n)
    return Table("what happens during a call", ("asked", "n", "right"), rows, _NOTE)


def _closed_questions(records: Sequence[RuntimeRecord]) -> dict[tuple[str, str], list[Closed]]:
    """The questions with known probabilities, by the model and by what needs none."""
    asked: dict[tuple[str, str], list[Closed]] = {}
    for call in _calls(records):
        for each in call.covered:
            if each.probability is not None:
                question = yes_no(call.target, log_odds(each.probability), truth=each.truth)
                asked.setdefault(("line runs", BY_MODEL), []).append(question)
                question = yes_no(call.target, -each.line, truth=each.truth)
                asked.setdefault(("line runs", "earlier line"), []).append(question)
        for following in call.next_lines:
            right = frozenset(
                at for at, number in enumerate(following.candidates) if number == following.truth
            )
            if following.logprobs and right:
                below = tuple(-abs(number - following.asked - 1.0) for number in following.candidates)
                for way, scores in ((BY_MODEL, following.logprobs), ("the line below", below)):
                    question = Closed(call.target, following.candidates, scores, right)
                    asked.setdefault(("next line", way), []).append(question)
    return asked


def _consistency(records: Sequence[RuntimeRecord]) -> Table:
    ladders = _ladders(records)
    kept = pooled_share((target, consistent(ladder)) for target, ladder in ladders)
    whole = pooled_share((target, all(ladder)) for target, ladder in ladders)
    note = (
        "a chain: whether a line runs, the state after it, the next line, the output of the call; "
        "consistent: no right answer comes after a wrong one. Only chains with a right answer count"
    )
    rows: tuple[tuple[Cell, ...], ...] = ((len(ladders), kept, whole),) if ladders else ()
    return Table("consistency", ("chains", "consistent", "all right"), rows, note)


def _baselines(records: Sequence[RuntimeRecord]) -> list[ChanceComparison]:
    calls = _calls(records)
    covered = [each for call in calls for each in call.covered]
    following = [each for call in calls for each in call.next_lines]
    known = [
        share_right("line runs", [each.truth for each in covered], sum(each.right for each in covered), 0),
        share_right(
            "next line", [each.truth for each in following], sum(each.right for each in following), 0
        ),
    ]
    states = [state for call in calls for state in call.states]
    return [*(each for each in known if each), *answer_baselines({"state": states, "output": calls})]


def _listing(records: Sequence[RuntimeRecord]) -> Table:
    """The answers about a few calls."""
    words = {True: "yes", False: "no", None: "unreadable"}
    rows: list[tuple[Cell, ...]] = []
    for call in _calls(records) if len(records) <= _LISTED else ():
        rows += [
            (call.call, f"line {each.line} runs", words[each.truth], words[each.yes]) for each in call.covered
        ]
        for state in call.states:
            place = f"{state.variable}, line {state.line}, time {state.times}"
            rows.append((call.call, place, short(state.truth), short(state.answer)))
        for each in call.next_lines:
            truth = "it returns" if each.truth == 0 else str(each.truth)
            rows.append((call.call, f"after line {each.line}, time {each.times}", truth, each.answer))
        rows.append((call.call, "output", short(call.truth), short(call.answer)))
        if call.sought:
            rows.append(
                (
                    call.call,
                    f"input for {short(call.sought.output)}",
                    short(call.sought.gave),
                    short(call.sought.call),
                )
            )
    return Table("calls", ("call", "asked for", "is", "answer"), tuple(rows))
