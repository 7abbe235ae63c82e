r"""Token healing of text, if tokens cannot be constrained: endpoints and chat models.

A prompt that ends in a newline or in blanks ends where no tokenizer would end a token, and the completion
suffers (decision 4 of ARCHITECTURE.md). A server cannot be forced to generate certain bytes first, so the
trailing whitespace (the *gap*) is not sent, and the model writes it itself. `reconcile` then returns the text
for which `prompt + text` is the program that the model meant:

1. The completion starts with the gap: the text is the rest.
2. Both break the line: blank lines and the kind of line break do not count, the indentation of the first line
   of code does. If it continues the gap's start, the text adds the missing part; if not, the text starts a
   new line (the trailing blanks of the prompt remain as a blank line).
3. The gap breaks the line and the completion first finishes the line with a comment: the comment is dropped.
4. The gap is blanks within a line: other blanks are equivalent; a completion that breaks the line does so.
5. Anything else contradicts the prompt; the caller sends the prompt again with the gap.
"""

from __future__ import annotations

from typing import Final

WHITESPACE: Final = " \t\f\r\n"
_BREAKS: Final = "\r\n"


class Contradiction(Exception):  # noqa: N818 - a fact about a completion, not an error
    """The model continued the text before the gap in a way that the gap excludes."""


def split(text: str) -> tuple[str, str]:
    """The text of a prompt up to its last token, and the whitespace gap after it."""
    head = text.rstrip(WHITESPACE)
    return (head, text[len(head) :]) if head else (text, "")


def breaks_line(whitespace: str) -> bool:
    """Whether a gap has a line break."""
    return any(char in _BREAKS for char in whitespace)


def reconcile(gap: str, answer: str, *, complete: bool = True) -> str | None:
    """The text after the prompt, given the model's text from before the gap.

    The completion may still be growing: once a text is returned for a part of it, the text for more of it
    begins with the same characters.

    Args:
        gap: The whitespace that was not sent.
        answer: The model's text after the prompt without the gap.
        complete: Whether the completion is complete.

    Returns:
        The text, or None if it is too early to decide.

    Raises:
        Contradiction: no text after the gap is what the model meant.
    """
    code = answer.lstrip(WHITESPACE)
    if not code:
        if not complete:
            return None
        return answer[len(gap) :] if answer.startswith(gap) else ""
    if answer.startswith(gap):
        return answer[len(gap) :]
    lead = answer[: len(answer) - len(code)]
    if not breaks_line(gap):
        return _same_line(lead, code)
    if breaks_line(lead):
        return _new_line(gap, lead, code)
    if code.startswith("#"):
        end = next((at for at, char in enumerate(answer) if char in _BREAKS), None)
        if end is None:
            return "" if complete else None
        return reconcile(gap, answer[end:], complete=complete)
    raise Contradiction


def _same_line(lead: str, code: str) -> str:
    if breaks_line(lead):
        return lead.lstrip(" \t\f") + code
    if lead:
        return code
    raise Contradiction


def _new_line(gap: str, lead: str, code: str) -> str:
    wanted, given = _last_line(lead), _last_line(gap)
    if wanted.startswith(given):
        return wanted[len(given) :] + code
    return ("\r\n" if "\r\n" in gap else "\n") + wanted + code


def _last_line(whitespace: str) -> str:
    return whitespace[max(whitespace.rfind("\n"), whitespace.rfind("\r")) + 1 :]
