"""Completion by llama.cpp: the prompts of several requests decode together, each as if it were alone.

A trial shows whether a model fills in the middle. Many files have tokens for it although the model never saw
them, or name them in a wrong order. A completion does not show that: it looks like any other. The perplexity
of a known text in a hole does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import numpy.typing as npt

from counterlens.errors import Cancelled, CounterlensError, ModelError
from counterlens.models.base import Completion, Prompt
from counterlens.models.files import note, recall
from counterlens.models.llama.decoding import ALONE, ExactDecoder, SharedCalls
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.llama.protocol import FillTrial
from counterlens.models.llama.sequences import SequenceBatch
from counterlens.models.local import encoded_prompt
from counterlens.models.local.completing import Growing, Writer, answers
from counterlens.models.local.scoring import reduce


@dataclass(eq=False)
class Request:
    """Prompts whose completions are returned together.

    Attributes:
        distinct: Completions of the different ones.
        progress: Called with (finished prompts, all prompts).
        pending: Number of `distinct` that are unfinished.
        error: Why they cannot be completed.
    """

    prompts: Sequence[Prompt]
    distinct: list[Growing]
    progress: Callable[[int, int], None]
    pending: int = 0
    error: CounterlensError | None = None

    def __post_init__(self) -> None:
        self.pending = len(self.distinct)

    @property
    def is_done(self) -> bool:
        return not self.pending or self.error is not None

    def ended(self) -> None:
        """Count a completion that has ended."""
        self.pending -= 1
        self.progress(len(self.distinct) - self.pending, len(self.distinct))

    def result(self) -> list[Completion]:
        """The completion of each prompt.

        Raises:
            Cancelled, ModelError: the error.
        """
        if self.error:
            raise self.error
        return answers(self.distinct, self.prompts)


@dataclass
class LlamaCompleter(Writer):
    """Completes prompts with one engine; a completion is a function of its prompt, bit for bit.

    Attributes:
        calls: What may share a call.
        rounding: The gap between the two likeliest tokens, in nats, below which rounding may have chosen.
    """

    encoder: PromptEncoder
    engine: Engine
    constraint: encoded_prompt.Constraint
    batch: SequenceBatch
    calls: SharedCalls = ALONE
    rounding: float = 0.0
    _decoder: ExactDecoder | None = field(default=None, init=False)
    _waiting: deque[tuple[Request, Growing]] = field(default_factory=deque, init=False)
    _live: dict[int, tuple[Request, Growing]] = field(default_factory=dict, init=False)
    _next: dict[int, int] = field(default_factory=dict, init=False)
    _count: int = field(default=0, init=False)

    def complete(self, prompts: Sequence[Prompt], progress: Callable[[int, int], None]) -> list[Completion]:
        request = self.submit(prompts, progress)
        while not request.is_done:
            self.advance()
        return request.result()

    def submit(self, prompts: Sequence[Prompt], progress: Callable[[int, int], None]) -> Request:
        """Queue the prompts of a request; `advance` completes them.

        Raises:
            ModelError: as `Writer.begin`.
        """
        request = Request(prompts, self.begin(prompts), progress)
        self._waiting += [(request, growing) for growing in request.distinct]
        return request

    def withdraw(self, request: Request, error: CounterlensError) -> None:
        """End a request; the others go on."""
        request.error = request.error or error
        self._waiting = deque(each for each in self._waiting if each[0] is not request)
        for which in [which for which, (owner, _) in self._live.items() if owner is request]:
            self._end(which)

    def advance(self) -> None:
        """Append a token to each completion that has begun, and begin those for which there is room."""
        if self._decoder is None or self._decoder.calls != self.calls:
            self._decoder = ExactDecoder(self.batch, self.calls)
        try:
            if self.engine.cancelled.is_set():
                raise Cancelled
            self._admit(self._decoder)
            if self._next:
                for which, logits in self._decoder.step(self._next).items():
                    if which in self._live:
                        self._grow(which, logits)
        except (Cancelled, ModelError) as error:
            for request, _ in [*self._live.values()] or [*self._waiting]:
                self.withdraw(request, error)

    def _admit(self, decoder: ExactDecoder) -> None:
        """Begin waiting completions, in order."""
        while self._waiting:
            needs = [growing.need for _, growing in self._waiting]
            if not self._live:
                decoder.open(needs)
            if not decoder.fits(needs[0]):
                return
            request, growing = self._waiting.popleft()
            self._count += 1
            self._live[self._count] = request, growing
            self._grow(self._count, decoder.read(self._count, growing.encoded.tokens))

    def _grow(self, which: int, logits: npt.NDArray[np.float32]) -> None:
        request, growing = self._live[which]
        try:
            token = self.grow(growing, logits)
        except ModelError as error:  # concerns this request only
            self.withdraw(request, error)
            return
        if token is None:
            self._end(which)
            request.ended()
        else:
            self._next[which] = token

    def _end(self, which: int) -> None:
        del self._live[which]
        self._next.pop(which, None)
        if self._decoder:
            self._decoder.end(which)


_MEMORY = "filling.json"
_TRIALS = 1  # increase it when the trial changes
HOLES = (
    ("def mean(values):\n", "    total = sum(values)", "\n    return total / len(values)\n"),
    (
        "def largest(rows):\n    best = None\n",
        "    for row in rows:",
        "\n        if best is None or row.size > best.size:\n            best = row\n    return best\n",
    ),
    (
        "def read_settings(path):\n",
        "    with open(path) as stream:",
        "\n        text = stream.read()\n    return json.loads(text)\n",
    ),
    (
        "class Stack:\n    def __init__(self):\n",
        "        self.entries = []",
        "\n\n    def push(self, entry):\n        self.entries.append(entry)\n",
    ),
)
"""Code before a hole, its text, and the code after it, which alone shows the names in the hole."""


def fill_trial(engine: Engine, identity: str) -> FillTrial | None:
    """How likely the model finds the text of some holes; None if its file names no tokens for filling.

    Takes some seconds the first time; kept in the user's cache, by model file.

    Args:
        engine: The model; its sequence is emptied.

    Raises:
        Cancelled, ModelError: as `Engine.decode`.
    """
    if engine.fill_marks is None:
        return None
    key = f"{identity} {_TRIALS}"
    try:
        return msgspec.json.decode(str(recall(_MEMORY, key)), type=FillTrial)
    except msgspec.DecodeError:
        trial = measure_filling(engine, engine.fill_marks)
        note(_MEMORY, key, msgspec.json.encode(trial).decode())
        return trial


def require_filling(engine: Engine, identity: str) -> None:
    """Refuse a model that is no better at filling for the code after a hole.

    Raises:
        ModelError: it is not, or as `fill_trial`.
        Cancelled: as `fill_trial`.
    """
    trial = fill_trial(engine, identity)
    if trial is not None and not trial.works:
        raise ModelError(
            f"this model does not fill in the middle with the tokens that its file names: {trial}",
            "Choose --api completions, or a model that was trained to fill in the middle",
        )


def measure_filling(
    engine: Engine, marks: tuple[int, int, int], holes: Sequence[tuple[str, str, str]] = HOLES
) -> FillTrial:
    """Like `fill_trial`, with given tokens before prefix, suffix and middle, and given holes."""
    prefix, suffix, middle = marks
    lead = [engine.bos] if engine.adds_bos else []
    given, exchanged, before_only = [], [], []
    for hole in holes:
        before, text, after = (engine.tokenize(part.encode()) for part in hole)
        given.append(_nats(engine, [*lead, prefix, *before, suffix, *after, middle], text))
        exchanged.append(_nats(engine, [*lead, prefix, *after, suffix, *before, middle], text))
        before_only.append(_nats(engine, [*lead, *before], text))
    given_share, exchanged_share, before_share = (
        float(np.exp(np.concatenate(nats).mean())) for nats in (given, exchanged, before_only)
    )
    return FillTrial(given_share, exchanged_share, before_share)


def _nats(
    engine: Engine, read: Sequence[int], text: Sequence[int]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """(len(text),): negative logarithms of the probabilities of a text after what was read."""
    engine.forget()
    logits = engine.decode([*read, *text[:-1]], logits_from=len(read) - 1)
    nats = -reduce(logits, np.asarray(text, np.int64), 0).logprob
    engine.forget()
    return nats
