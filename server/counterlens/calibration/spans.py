"""Whether a model's text begins with a syntax node; blanks between tokens are ignored, line ends are not."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence

from counterlens.confidence import NodeConfidence

_OPERATOR = re.compile(rb"[-+*/%=<>!&|^~@:?]+")
_SECOND_CHARACTERS = b"=<>&|*/+"


def pieces_of(data: bytes, leaves: Sequence[tuple[int, int]], node: NodeConfidence) -> list[bytes]:
    """The tokens of a node and the gaps between them: token, gap, token, gap, ..., token."""
    low, high = bisect.bisect_left(leaves, (node.start, 0)), bisect.bisect_left(leaves, (node.end, 0))
    pieces: list[bytes] = []
    at = node.start
    for start, end in leaves[low:high]:
        pieces += [data[at:start], data[start:end]] if pieces else [data[at:end]]
        at = end
    if at < node.end:
        pieces += [b"", data[at : node.end]]
    return [piece.replace(b"\r\n", b"\n") for piece in pieces]


def begins_with(written: str, pieces: Sequence[bytes]) -> bool:
    """Whether a text begins with some tokens, and its last token ends with theirs.

    Args:
        written: The text; blanks before the first token are ignored.
        pieces: Token, gap, token, ..., token. A non-blank gap must match exactly.
    """
    text = written.replace("\r\n", "\n").encode("utf-8", "surrogatepass")
    at = len(text) - len(text.lstrip(b" ")) if pieces and not pieces[0].startswith(b" ") else 0
    for i, piece in enumerate(pieces):
        if i % 2 and not piece.strip():
            gap = re.match(rb"\s*", text[at:])
            found = gap[0] if gap else b""
            if not _alike(found, piece, pieces[i - 1][-1:], pieces[i + 1][:1]):
                return False
            at += len(found)
        elif text.startswith(piece, at):
            at += len(piece)
        else:
            return False
    return not pieces or _ends(pieces[-1], text[at : at + 1], text[at + 1 : at + 2])


def _alike(found: bytes, wanted: bytes, before: bytes, after: bytes) -> bool:
    """Whether two gaps are equivalent: blanks are ignored except between words; line ends are not."""
    if b"\n" in wanted or b"\n" in found:
        return found.rpartition(b"\n")[1:] == wanted.rpartition(b"\n")[1:]
    return bool(found) or not (wanted and _is_word(before) and _is_word(after))


def _ends(token: bytes, following: bytes, second: bytes) -> bool:
    """Whether a token ends before the following characters, and does not continue with them."""
    if _is_word(token[-1:]):
        decimal = token.isdigit() and following == b"." and second.isdigit()
        return not _is_word(following) and not decimal
    return not (_OPERATOR.fullmatch(token) and following and following in _SECOND_CHARACTERS)


def _is_word(character: bytes) -> bool:
    return character.isalnum() or character == b"_" or character >= b"\x80"
