"""Completions of whole bodies, judged, and their statements beside the smallest fix.

The smallest fix of a completion that fails is the completion of the same function that passes and differs
from it in the fewest statements; the reference if none passes. A statement is right if that fix leaves it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from counterlens.errors import CounterlensError, ModelError
from counterlens.judging.base import LIMITS, Judgement, Setting
from counterlens.judging.projects import interpreter_for
from counterlens.judging.registry import find_judge
from counterlens.judging.witnesses import tests_of
from counterlens.models.base import Capability, Completion, Draw, Model, Prompt
from counterlens.probes.pairs.judging import Judging
from counterlens.probes.probe import Target
from counterlens.probes.prompts.function_text import behind_docstring
from counterlens.probes.prompts.gap import Gap, View
from counterlens.progress import Steps
from counterlens.sandbox.base import Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import find_function
from counterlens.syntax.statements import StatementPart, statement_parts

SAMPLES = 3
"""Default number of completions per function: a greedy one, and the others sampled."""
TEMPERATURE = 0.8
"""Temperature of the samples; probabilities are those at temperature 1."""
_AT_ONCE = 8  # functions whose prompts decode together

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class WrittenStatement:
    """A statement of a completion.

    Attributes:
        kind: Its node type.
        text: Its source, in one line.
        logprobs: (n,) log-probabilities of its tokens, in nats.
        right: Whether the smallest fix leaves it as it is.
    """

    kind: str
    text: str
    logprobs: Floats
    right: bool


@dataclass(frozen=True, slots=True, eq=False)
class JudgedCompletion:
    """A completion of the body of a function.

    Attributes:
        function: The id of the function.
        sample: Its number: 0 for the greedy one.
        passed: Whether it passed the function's tests.
        logprobs: (n,) log-probabilities of its tokens, in nats.
        statements: Its statements.
        fixed_by: What the statements are compared with: `itself`, `sample` or `reference`.
    """

    function: str
    sample: int
    passed: bool
    logprobs: Floats
    statements: tuple[WrittenStatement, ...]
    fixed_by: str


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Judged completions, and the reasons why functions and completions were left out, with their number."""

    completions: tuple[JudgedCompletion, ...]
    left_out: dict[str, int]


def observe(
    model: Model,
    targets: Sequence[Target],
    sandbox: Sandbox,
    *,
    samples: int = SAMPLES,
    temperature: float = TEMPERATURE,
    max_tokens: int = 256,
    seed: int = 0,
    steps: Steps | None = None,
) -> Outcomes:
    """Have a model write the bodies of functions, and judge them.

    Args:
        targets: The functions; those without a judge, or that fail it, are left out.
        sandbox: Where the programs run.
        samples: Number of completions per function.
        max_tokens: Maximum tokens of a completion; a longer one is left out.
        seed: Random seed of the samples.
        steps: Progress, in functions, and cancellation.

    Raises:
        ModelError: the model gives no log-probabilities of tokens, or cannot be sampled, or as
            `Model.complete`.
        Cancelled: `steps` was cancelled.
    """
    steps = steps or Steps()
    if samples > 1 and not model.offers(Capability.SAMPLE, cancel=steps.cancel):
        raise ModelError(
            f"{model.info.name} returns one completion per prompt and cannot sample", "Use --samples 1"
        )
    completions: list[JudgedCompletion] = []
    left_out: Counter[str] = Counter()
    for low in range(0, len(targets), _AT_ONCE):
        steps.next("completing functions", low, len(targets))
        part = [_Hole.of(target) for target in targets[low : low + _AT_ONCE]]
        prompts = [prompt for hole in part for prompt in hole.prompts(samples, temperature, seed, max_tokens)]
        answers = model.complete(prompts, cancel=steps.cancel)
        for number, hole in enumerate(part):
            steps.next("judging the completions", low + number, len(targets))
            mine = answers[number * samples : (number + 1) * samples]
            try:
                judging = _judging(hole, sandbox, steps)
                completions += _judge_completions(
                    hole, judging, _with_logprobs(model, hole, mine, steps), left_out
                )
            except ModelError:
                raise
            except CounterlensError as error:  # nothing judges this function, or it fails its own tests
                left_out[error.message.replace(hole.target.qualname, "it")] += 1
    return Outcomes(tuple(completions), dict(left_out))


@dataclass(frozen=True, slots=True)
class _Hole:
    """The body of a function, to be written."""

    target: Target
    gap: Gap

    @classmethod
    def of(cls, target: Target) -> _Hole:
        function = find_function(target.document, target.qualname)
        cut = behind_docstring(target.document, function)
        rest = target.document.data[cut : function.end]
        cut += len(rest) - len(rest.lstrip())  # a prompt that ends before an indentation invites no body
        return cls(target, Gap.of(target.document, function, cut, View(description=target.description)))

    def prompts(self, samples: int, temperature: float, seed: int, max_tokens: int) -> list[Prompt]:
        """The greedy prompt, and those of the samples."""
        greedy = replace(self.gap.prompt(max_tokens), logprobs=True)
        drawn = [replace(greedy, draw=Draw(temperature, seed, i)) for i in range(samples - 1)]
        return [greedy, *drawn]

    def document(self, text: str) -> tuple[Document, int, int]:
        """The program with a text in the hole, and the range of the text in it."""
        program = replace(self.target.document, text=self.gap.fill(text))
        return program, len(self.gap.before.encode()), len(program.data) - len(self.gap.after.encode())


def _judging(hole: _Hole, sandbox: Sandbox, steps: Steps) -> Judging:
    """The judge of a function, which the function itself passes.

    Raises:
        SourceError: there is none, or the function fails it.
    """
    target = hole.target
    function = find_function(target.document, target.qualname)
    setting = Setting(sandbox, interpreter_for(target.document.path), LIMITS, steps.cancel, vetted=True)
    judge = target.judge or find_judge(target.document, function, setting, fallback=False, witnessed=False)
    if judge is None:
        raise CounterlensError("no test mentions it", "Choose data with tests")
    judging = Judging(tests_of(judge), target.document, function, steps)
    judging.check_own_tests()
    return judging


def _with_logprobs(
    model: Model, hole: _Hole, answers: Sequence[Completion], steps: Steps
) -> list[Completion]:
    """The completions with their tokens' log-probabilities; scored afterwards if the model gives none.

    Raises:
        ModelError: the model does not score, either.
    """
    if all(answer.logprobs is not None or not answer.text.strip() for answer in answers):
        return list(answers)
    if not model.offers(Capability.SCORE, cancel=steps.cancel):
        raise ModelError(
            f"{model.info.name} returns no token probabilities, neither of its completions nor of code",
            "Choose another model; docs/remote-models.md lists servers that return them",
        )
    rows = []
    for answer in answers:
        scores = model.score(answer.text, context=hole.gap.shown, alternatives=0, cancel=steps.cancel)
        pairs = zip(scores.start.tolist(), scores.logprob.tolist(), strict=True)
        rows.append(replace(answer, logprobs=tuple(pairs)))
    return rows


def _judge_completions(
    hole: _Hole, judging: Judging, answers: Sequence[Completion], left_out: Counter[str]
) -> list[JudgedCompletion]:
    verdicts = [judging.answer(hole.gap, answer) for answer in answers]
    parts = [_statements(hole, answer.text) for answer in answers]
    passing = [
        [text for _, text in part] for part, verdict in zip(parts, verdicts, strict=True) if verdict.passed
    ]
    reference = [text for _, text in _statements(hole, hole.gap.rest)]
    rows = []
    for sample, (answer, verdict, part) in enumerate(zip(answers, verdicts, parts, strict=True)):
        if verdict.judgement is Judgement.REFUSED or answer.finish == "length" or not answer.logprobs:
            left_out["a completion was cut off by the token limit, or is empty"] += 1
            continue
        texts = [text for _, text in part]
        fixes = [texts] if verdict.passed else passing or [reference]
        kept = min((kept_in(texts, fix) for fix in fixes), key=_cost)
        tokens = _Tokens(answer)
        statements = tuple(
            WrittenStatement(place.kind, text, logprobs, i in kept.indices)
            for i, (place, text) in enumerate(part)
            if len(logprobs := tokens.within(place.start, place.end))
        )
        fixed_by = "itself" if verdict.passed else "sample" if passing else "reference"
        rows.append(
            JudgedCompletion(
                hole.target.id or hole.target.qualname,
                sample,
                verdict.passed,
                tokens.logprobs,
                statements,
                fixed_by,
            )
        )
    return rows


def _statements(hole: _Hole, text: str) -> list[tuple[StatementPart, str]]:
    """The statements of a text in the hole: at their bytes in the text, and as text with indentation."""
    program, start, end = hole.document(text)
    data = program.data
    return [
        (StatementPart(part.start - start, part.end - start, part.kind), _line(data, part))
        for part in statement_parts(program.tree.root_node, data, start, end)
    ]


def _line(data: bytes, part: StatementPart) -> str:
    """A statement in one line after its indentation, because another indentation is another statement."""
    column = part.start - (data.rfind(b"\n", 0, part.start) + 1)
    return " " * column + " ".join(data[part.start : part.end].decode("utf-8", "replace").split())


class _Tokens:
    """The tokens of a completion, by their bytes in it."""

    def __init__(self, completion: Completion) -> None:
        rows = completion.logprobs or ()
        self._starts = np.array([at for at, _ in rows], np.int64)
        self._ends = np.append(self._starts[1:], len(completion.text.encode()))
        self.logprobs: Floats = np.array([value for _, value in rows], np.float64)

    def within(self, start: int, end: int) -> Floats:
        """(m,) log-probabilities of the tokens that share a byte with a range."""
        return self.logprobs[(self._starts < end) & (self._ends > start)]


@dataclass(frozen=True, slots=True)
class KeptStatements:
    """The statements of a text that a fix leaves, and the number that it removes and adds."""

    indices: frozenset[int]
    removed: int
    added: int


def kept_in(statements: Sequence[str], fix: Sequence[str]) -> KeptStatements:
    """The longest common subsequence of the statements of a text and of its fix."""
    m, n = len(statements), len(fix)
    longest = np.zeros((m + 1, n + 1), np.int64)
    for i in range(m - 1, -1, -1):
        for k in range(n - 1, -1, -1):
            same = longest[i + 1, k + 1] + 1 if statements[i] == fix[k] else 0
            longest[i, k] = max(same, longest[i + 1, k], longest[i, k + 1])
    kept, i, k = set(), 0, 0
    while i < m and k < n:
        if statements[i] == fix[k] and longest[i, k] == longest[i + 1, k + 1] + 1:
            kept.add(i)
            i, k = i + 1, k + 1
        elif longest[i + 1, k] >= longest[i, k + 1]:
            i += 1
        else:
            k += 1
    return KeptStatements(frozenset(kept), m - len(kept), n - len(kept))


def _cost(kept: KeptStatements) -> int:
    return kept.removed + kept.added
