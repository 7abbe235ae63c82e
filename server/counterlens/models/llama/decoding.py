"""Reading and continuing prompts: a decoder keeps the sequences of one request in step.

`ExactDecoder` makes the logits of a sequence depend on its own tokens alone, bit for bit. llama.cpp chooses
other kernels for a call of another shape: 16-bit weights are multiplied differently by one row than by
several, those of most K-quants by eight or more; 64 rows of one sequence attend in tiles; and one row with
more than 256 tokens before it has that work split among the threads. Within a class of shapes the kernels are
the same, and treat each row by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from counterlens.models.llama.native import BATCH
from counterlens.models.llama.sequences import Row, SequenceBatch
from counterlens.models.local.completing import Logits


@dataclass(frozen=True)
class FreeDecoder:
    """Fills every call: the logits of a sequence depend on the others in the call, through rounding."""

    batch: SequenceBatch

    def read(self, sequences: Sequence[Sequence[int]], needs: Sequence[int]) -> Logits:
        """Like `Decoder.read`."""
        self.batch.start(needs)
        return dict(enumerate(self.batch.read(sequences)))

    def step(self, tokens: Mapping[int, int]) -> Logits:
        """Like `Decoder.step`."""
        rows = [Row(seq_id, token, wanted=True) for seq_id, token in tokens.items()]
        return dict(zip(tokens, self.batch.decode(rows), strict=True))


@dataclass(frozen=True, slots=True)
class Shape:
    """A class of shapes of a call.

    Attributes:
        least: Minimum number of rows of a call, and of rows whose logits are computed, if any are.
        multiple: Both numbers are a multiple of it.
        each: Maximum number of rows per sequence; a multiple of `multiple`, and at least `least`.
    """

    least: int
    multiple: int
    each: int

    def rows(self, wanted: int) -> int:
        """The smallest allowed number of rows that is at least `wanted`."""
        return -(-max(wanted, self.least) // self.multiple) * self.multiple


class ExactDecoder:
    """Gives every call a shape of one class.

    In a call, each of the sequences 0, 1, ... of the batch has the same number of rows: llama.cpp would split
    other calls, and compute them in parts of other shapes. Missing rows are filled by reading the last tokens
    again, or by unused sequences.

    Attributes:
        slots: Number of sequences of the batch.
    """

    def __init__(self, batch: SequenceBatch, shape: Shape) -> None:
        self._batch, self._shape = batch, shape
        self._tokens: list[list[int]] = []
        self._order: list[int] = []  # the request's sequence in each slot of the batch
        self.slots = 0

    def read(self, sequences: Sequence[Sequence[int]], needs: Sequence[int]) -> Logits:
        """Like `Decoder.read`."""
        room = max(needs) + self._shape.each
        slots = self._shape.rows(len(sequences))
        self.start(slots if self._batch.fits(slots, room) else len(sequences), room)
        return self.fill(sequences)

    def start(self, slots: int, room: int) -> None:
        """Begin with `slots` empty sequences with room for `room` tokens each."""
        self.slots = slots
        self._batch.start([room] * slots)

    def fill(self, sequences: Sequence[Sequence[int]], held: int = 0) -> Logits:
        """Read sequences whose first tokens are in sequence 0 of the batch already.

        Args:
            sequences: The sequences, at most one per slot, none of them empty.
            held: Number of tokens in sequence 0; all sequences begin with them, and are longer.

        Raises:
            Cancelled, ModelError: as `SequenceBatch.decode`.
        """
        self._tokens = [list(tokens) for tokens in sequences]
        # The longest first, so that the sequences still being read are always the first of the batch.
        self._order = sorted(range(len(sequences)), key=lambda i: -len(sequences[i]))
        at = self._read_shared(held)
        last: Logits = {}
        while live := sum(len(self._tokens[i]) > at for i in self._order):
            count = self._portion(live, len(self._tokens[self._order[0]]) - at)
            logits = self._call(live, live, count, at + count)
            last |= {which: row.copy() for which, row in logits.items()}
            at += count
        return last

    def step(self, tokens: Mapping[int, int]) -> Logits:
        """Like `Decoder.step`."""
        self._retire(tokens)
        for which, token in tokens.items():
            self._tokens[which].append(token)
        live, shape = len(self._order), self._shape
        # Take the smallest sufficient number of rows.
        _, sequences, each = min(
            (sequences * each, sequences, each)
            for sequences in range(live, max(live, self.slots) + 1)
            for each in range(1, shape.least + 1)
            if shape.rows(sequences * each) == sequences * each
        )
        return self._call(live, sequences, each, None)

    def _read_shared(self, held: int) -> int:
        """Read the common prefix of all sequences once, except for at least one token of each."""
        first, *others = self._tokens
        shared = min(map(len, self._tokens)) - 1
        for other in others:
            shared = next((i for i in range(shared) if first[i] != other[i]), shared)
        at = held
        while at < shared:
            count = self._portion(1, shared - at)
            self._call(1, 1, count, min(at + count, shared))
            at = min(at + count, shared)
        if at:
            for seq_id in range(1, len(self._order)):
                self._batch.copy(0, seq_id)
        return at

    def _portion(self, live: int, left: int) -> int:
        """Number of tokens per sequence to read in the next call, with `left` tokens left."""
        shape = self._shape
        most = min(shape.each, BATCH // live // shape.multiple * shape.multiple)
        return min(most, shape.rows(left))

    def _retire(self, going_on: Mapping[int, int]) -> None:
        """Move the unfinished sequences to the front of the batch."""
        order = self._order
        for seq_id, which in enumerate(order):
            if which not in going_on:
                while order[-1] not in going_on and len(order) > seq_id + 1:
                    order.pop()
                moved = order.pop()
                if len(order) > seq_id:
                    order[seq_id] = moved
                    self._batch.copy(len(order), seq_id)

    def _call(self, live: int, sequences: int, each: int, until: int | None) -> Logits:
        """Decode `each` tokens of each of some sequences, up to a position; some tokens may be read again.

        Args:
            live: Number of the batch's first sequences that belong to the request.
            sequences: Number of sequences in the call.
            each: Rows per sequence.
            until: The position of the last row; None for the end of each sequence.

        Returns:
            The logits of the sequences whose end was read.
        """
        rows: list[tuple[int, int]] = []
        ending: dict[int, int] = {}
        for seq_id in range(sequences):
            tokens = self._tokens[self._order[seq_id]] if seq_id < live else []
            end = min(len(tokens), until or len(tokens))
            begin = max(0, end - each)
            self._batch.cut(seq_id, begin)
            part = tokens[begin:end]
            if part and end == len(tokens):
                ending[len(rows) + len(part) - 1] = self._order[seq_id]
            # Nothing before the end sees what follows it; the next call's cut drops it.
            part = (part + (part[-1:] or self._tokens[0][:1]) * each)[:each]
            rows += [(seq_id, token) for token in part]
        wanted = self._wanted(len(rows), list(ending))
        logits = self._batch.decode([Row(*row, wanted=i in wanted) for i, row in enumerate(rows)])
        return {ending[i]: logits[at] for at, i in enumerate(sorted(wanted)) if i in ending}

    def _wanted(self, rows: int, ending: list[int]) -> set[int]:
        """The rows whose logits are computed: those of the ends, and others up to an allowed number."""
        if not ending:
            return set()
        chosen = set(ending)
        others = (i for i in range(rows) if i not in chosen)
        return chosen | {next(others) for _ in range(self._shape.rows(len(ending)) - len(ending))}
