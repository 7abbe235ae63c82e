"""Completion by llama.cpp: the prompts of several requests decode together, each as if it were alone."""

from __future__ import annotations

import math
import os
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

import numpy as np
import numpy.typing as npt

from counterlens.errors import Cancelled, CounterlensError, ModelError
from counterlens.models.base import Completion, Prompt
from counterlens.models.llama.decoding import ALONE, ExactDecoder, SharedCalls
from counterlens.models.llama.native import Engine
from counterlens.models.llama.prompt_encoding import PromptEncoder
from counterlens.models.llama.protocol import SEQUENCES, Work
from counterlens.models.llama.sequences import CACHE_BYTES, SequenceBatch
from counterlens.models.local import encoded_prompt
from counterlens.models.local.completing import Growing, Writer, answers

_ROOMS = (1024, 2048, 4096, 8192)
"""Numbers of tokens that sequences of one decoder may have; longer ones have the whole context."""
_SHARE = 16
"""Part of the machine's memory that sequences take at most, unless that is less than `CACHE_BYTES`."""
_MOST_BYTES = 1 << 30
_SPARE = 8
"""Sequences of a new decoder, if not more wait: the prompts of ended ones are kept for later ones."""
_READ_ROWS = 224
"""Rows of prompts that are read between two steps."""
_LATE = 8
"""How often a step with few rows waits for prompts to be read, which then share it."""
_CONSIDERED = 64
"""Number of waiting prompts among which the next one to read is chosen."""
_PATIENCE = 8
"""Tokens that a prompt may have more than another one for each prompt that was read before it in vain."""


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


@dataclass(eq=False, slots=True)
class _Sequence:
    """A completion that waits, or has begun.

    Attributes:
        tokens: Its prompt.
        room: Number of tokens for which its decoder has room.
        since: Number of completions that had begun when it was submitted.
        token: The token to append; None while its prompt is read.
    """

    request: Request
    growing: Growing
    tokens: npt.NDArray[np.int32]
    room: int
    since: int
    token: int | None = None


@dataclass
class LlamaCompleter(Writer):
    """Completes prompts with one engine; a completion is a function of its prompt, bit for bit.

    The prompt with the fewest unread tokens is read first, so those that begin like another one follow it,
    and a short one waits for no long one. Sequences of about the same length share a decoder, in which each
    has the same room.

    Attributes:
        calls: What may share a call.
        rounding: The gap between the two likeliest tokens, in nats, below which rounding may have chosen.
        work: What was decoded so far.
    """

    encoder: PromptEncoder
    engine: Engine
    constraint: encoded_prompt.Constraint
    calls: SharedCalls = ALONE
    rounding: float = 0.0
    work: Work = field(default_factory=Work, init=False)
    _decoders: dict[int, ExactDecoder] = field(default_factory=dict, init=False)
    _waiting: dict[Request, deque[_Sequence]] = field(default_factory=dict, init=False)
    _live: dict[int, _Sequence] = field(default_factory=dict, init=False)
    _count: int = field(default=0, init=False)
    _late: int = field(default=0, init=False)
    _widens: bool = field(default=True, init=False)

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
        self._waiting[request] = deque(
            _Sequence(
                request,
                growing,
                np.asarray(growing.encoded.tokens, np.int32),
                next((room for room in self._rooms if growing.need <= room), self.engine.context),
                self._count,
            )
            for growing in request.distinct
        )
        return request

    def withdraw(self, request: Request, error: CounterlensError) -> None:
        """End a request; the others go on."""
        request.error = request.error or error
        self._waiting.pop(request, None)
        for which in [which for which, sequence in self._live.items() if sequence.request is request]:
            self._end(which)

    def advance(self) -> None:
        """Read some prompts, and append a token to each completion whose prompt was read."""
        try:
            if self.engine.cancelled.is_set():
                raise Cancelled
            self._make_room()
            # A step with two rows takes nearly as long as one with twenty, so a few wait for those whose
            # prompts are about to be read; never for long, since new prompts may come without end.
            self._late = self._late + 1 if self._read() and self._late < _LATE else 0
            if not self._late or len(self._live) > SEQUENCES // 2:
                self._step()
        except (Cancelled, ModelError) as error:
            for request in {sequence.request for sequence in self._live.values()} or {*self._waiting}:
                self.withdraw(request, error)

    @property
    def room(self) -> int:
        """Number of tokens for which its sequences have room, all together."""
        return sum(decoder.size for decoder in self._decoders.values())

    @property
    def _rooms(self) -> list[int]:
        return [room for room in _ROOMS if room < self.engine.context]

    def _make_room(self) -> None:
        """Make room for all sequences, or for as many as fit into memory; close decoders without any."""
        needed = Counter(sequence.room for sequence in chain.from_iterable(self._waiting.values()))
        begun = Counter(sequence.room for sequence in self._live.values())
        for room, count in needed.items():
            decoder = self._decoders.get(room)
            if decoder is None:
                # What ended prompts left is worth less than room for those that wait.
                for other in [other for other in self._decoders if other not in needed | begun]:
                    self._decoders.pop(other).close()
                # Memory is touched when it is opened: few sequences at first, if more can be added later.
                least = _SPARE if self._widens and self.engine.keeps_prefixes else SEQUENCES
                batch, most = SequenceBatch(self.engine), self._most(room, max(count, least))
                self._decoders[room] = ExactDecoder(batch, self.calls, most, room, self.work)
            elif self._widens and (count := count + begun[room]) > decoder.sequences:
                most = self._most(room, max(count, 2 * decoder.sequences))
                self._widens = most <= decoder.sequences or decoder.widen(most)

    def _most(self, room: int, wanted: int) -> int:
        """Number of sequences of a decoder: as many as wanted, or as fit into memory beside the others."""
        every = self.engine.tokens_in(_memory())
        own = self._decoders[room].size if room in self._decoders else 0
        return max(1, min(SEQUENCES, wanted, max(every // 4, every - self.room + own) // room))

    def _read(self) -> bool:
        """Read some portions of prompts; returns whether there may be more to read."""
        for _ in range(0, _READ_ROWS, self.calls.portion):
            which = self._next_prompt()
            if which is None:
                return False
            logits = self._decoders[self._live[which].room].read(which)
            if logits is not None:
                self._grow(which, logits)
        return True

    def _next_prompt(self) -> int | None:
        """The sequence whose prompt is read next; None if there is none, or no room for it."""
        reading = {
            which: self._decoders[sequence.room].left(which) - self._patience(sequence)
            for which, sequence in self._live.items()
            if sequence.token is None
        }
        best = min(reading, key=reading.__getitem__, default=None)
        waiting = self._chosen(math.inf if best is None else reading[best])
        if waiting is None:  # what has begun is nearer to its end than all that waits
            return best
        queue = self._waiting[waiting.request]
        queue.remove(waiting)
        if not queue:
            del self._waiting[waiting.request]
        self._count += 1
        self._live[self._count] = waiting
        self._decoders[waiting.room].begin(self._count, waiting.tokens)
        return self._count

    def _chosen(self, below: float) -> _Sequence | None:
        """The waiting sequence with the fewest unread tokens, fewer than `below`, of those that may begin."""
        each = -(-_CONSIDERED // max(1, len(self._waiting)))
        chosen, fewest = None, below
        for queue in self._waiting.values():
            for sequence in islice(queue, each):
                decoder = self._decoders[sequence.room]
                if decoder.free:
                    unread = decoder.unread(sequence.tokens) - self._patience(sequence)
                    if unread < fewest and not decoder.waits(sequence.tokens):
                        chosen, fewest = sequence, unread
        return chosen

    def _patience(self, sequence: _Sequence) -> int:
        """Tokens by which a prompt may be longer than one that was submitted now, and is read before it."""
        return _PATIENCE * (self._count - sequence.since)

    def _step(self) -> None:
        """Append a token to each completion whose prompt was read."""
        for room, decoder in self._decoders.items():
            tokens = {
                which: sequence.token
                for which, sequence in self._live.items()
                if sequence.room == room and sequence.token is not None
            }
            for which, logits in decoder.step(tokens).items() if tokens else ():
                if which in self._live:
                    self._grow(which, logits)

    def _grow(self, which: int, logits: npt.NDArray[np.float32]) -> None:
        sequence = self._live[which]
        try:
            sequence.token = self.grow(sequence.growing, logits)
        except ModelError as error:  # concerns this request only
            self.withdraw(sequence.request, error)
            return
        if sequence.token is None:
            self._end(which)
            sequence.request.ended()

    def _end(self, which: int) -> None:
        self._decoders[self._live.pop(which).room].end(which)


def _memory() -> int:
    """Bytes for sequences on this machine."""
    try:
        physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError):  # not on Windows
        physical = 0
    return max(CACHE_BYTES, min(_MOST_BYTES, physical // _SHARE))
