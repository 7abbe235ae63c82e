"""The log-probabilities of generated tokens at the places of the text that was taken from them."""

from __future__ import annotations

from collections.abc import Sequence


def log_probabilities_of(
    text: str, written: bytes, tokens: Sequence[tuple[int, float]], start: int = 0
) -> tuple[tuple[int, float], ...] | None:
    """The tokens of a completion by their first byte in it.

    Args:
        text: The completion: a part of what was generated, perhaps indented otherwise.
        written: Everything that was generated.
        tokens: The first byte of each token in `written`, and its log-probability.
        start: The byte of `written` at which the completion may begin.

    Returns:
        For each token that shares a byte with the text, its first byte there (that of the piece of the text
        in which it ends, if it begins before it) and its log-probability; None if the text is not a part of
        what was generated. Without blanks at the ends of lines if its lines are indented otherwise.
    """
    pieces = _pieces(text.encode("utf-8", "surrogatepass"), written, start)
    if pieces is None:
        return None
    ends = [begin for begin, _ in tokens[1:]] + [len(written)]
    rows: list[tuple[int, float]] = []
    number = 0
    for (begin, logprob), end in zip(tokens, ends, strict=True):
        while number < len(pieces) and pieces[number][1] <= begin:
            number += 1
        if number < len(pieces) and begin < end and pieces[number][0] < end:
            low, _, place = pieces[number]
            rows.append((place + max(0, begin - low), logprob))
    return tuple(rows)


def _pieces(data: bytes, written: bytes, start: int) -> list[tuple[int, int, int]] | None:
    """Where a text was written: byte ranges of `written`, each with its first byte in the text.

    One range if the text was written as it is, else one per line that is not blank.
    """
    at = written.find(data, start)
    if at >= 0:
        return [(at, at + len(data), 0)]
    pieces: list[tuple[int, int, int]] = []
    place = 0
    for line in data.splitlines(keepends=True):
        code = line.strip()
        if code:
            at = written.find(code, start)
            if at < 0:
                return None
            start = at + len(code)
            pieces.append((at, start, place + line.index(code)))
        place += len(line)
    return pieces
