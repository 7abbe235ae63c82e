"""What a report of a failing example says: those of `doctest` and of pytest's doctest modules.

Both show the example, then what it expected and got, or the exception; pytest also shows the lines of the
docstring before it, which alone fill the few lines of a message.
"""

from __future__ import annotations

import re
import textwrap

from counterlens.text import common_start

_LINES, _WIDTH = 3, 100
"""Lines of a shown output, and characters that the outputs have in common before the part that is shown."""
_FAILED = re.compile(r"^Failed example:\n(?P<source>(?: {4}.*\n|\n)+)", re.M)
_NUMBERED = re.compile(r"(?:^(?:\d{3,}|\?\?\?)(?: .*)?\n)+", re.M)
_PROMPT = re.compile(r"^(?:\d{3,}|\?\?\?) +(?:>>>|\.\.\.) ?", re.M)
_OUTPUT = re.compile(
    r"\A(?:Expected:\n(?P<wanted>(?: {4}.*\n|\n)*)|Expected nothing\n)"
    r"(?:Got:\n(?P<got>(?: {4}.*(?:\n|\Z)|\n)*)|Got nothing)"
)
_RAISED = re.compile(r"\A(?:Exception raised:|UNEXPECTED EXCEPTION: .*)\n(?P<trace>(?:.*\n?)*)")
_FRAME = re.compile(r'^ *File "(?P<file>[^"\n]+)", line (?P<line>\d+), in .*\n(?: {4,}(?P<code>.*)\n)?', re.M)
_PLACE = re.compile(r"^\S.*:\d+: \w+\s*\Z", re.M)
_ENDED = re.compile(r"^\*{20,}$", re.M)


def outcome_of(report: str) -> str:
    """A report in the few lines that judges write: `>>> source`, `expected: …`, and `got: …` or `raised: …`.

    An exception is followed by the line of a file that raised it. Any other message is returned unchanged.
    """
    text = report if report.endswith("\n") else f"{report}\n"
    for source, rest in _examples(text):
        rest = rest[: ended.start()] if (ended := _ENDED.search(rest)) else rest
        if output := _OUTPUT.match(rest):
            return source + unlike(*(textwrap.dedent(output[name] or "") for name in ("wanted", "got")))
        if raised := _RAISED.match(rest):
            return f"{source}{_exception(raised['trace'])}"
    return report


def _examples(text: str) -> list[tuple[str, str]]:
    """The source of each example that a report names, with its prompt, and what the report says after it."""
    failed = [(textwrap.dedent(match["source"]), text[match.end() :]) for match in _FAILED.finditer(text)]
    if not failed and (shown := _NUMBERED.match(text)):
        lines = shown[0].splitlines()
        last = max((at for at, line in enumerate(lines) if ">>>" in line), default=len(lines))
        source = "\n".join(_PROMPT.sub("", line) for line in lines[last:])
        failed = [(source, text[shown.end() :])] if source else []
    return [(f">>> {source.strip()}\n", rest) for source, rest in failed]


def _exception(trace: str) -> str:
    """The exception at the end of a traceback, and the line of a file that raised it."""
    trace = textwrap.dedent(_PLACE.sub("", trace)).strip("\n")
    frames = list(_FRAME.finditer(trace))
    after = trace[frames[-1].end() :] if frames else trace
    error = "\n".join(line for line in after.splitlines() if line[:1].strip())
    place = frames[-1] if frames and frames[-1]["file"].endswith(".py") else None
    at = f"\nat {place['file'].rpartition('/')[2]}:{place['line']}: {place['code'] or ''}" if place else ""
    return f"raised:   {error}{at}"


def unlike(wanted: str, got: str) -> str:
    """What an example expected and got; where they are long, from the first difference on."""
    sides = [text.rstrip("\n").split("\n") for text in (wanted, got)]
    same = common_start(*sides)
    if max(map(len, sides)) > _LINES:
        sides = [["…", *lines[same:]] if same else lines for lines in sides]
        sides = [lines if len(lines) <= _LINES else [*lines[: _LINES - 1], "…"] for lines in sides]
        same = min(same, 1)
    firsts = [lines[same] if same < len(lines) else "" for lines in sides]
    alike = common_start(*firsts)
    if alike > _WIDTH:
        for lines in sides:
            lines[same : same + 1] = [f"…{lines[same][alike - _WIDTH // 2 :]}"] if same < len(lines) else []
    shown = ["\n          ".join(lines) or "nothing" for lines in sides]
    return f"expected: {shown[0]}\ngot:      {shown[1]}"
