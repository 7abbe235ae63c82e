"""A scripted chat endpoint: models that know the truth, think aloud, make planned errors, guess, or waver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from tests.models.remote.conftest import Handler, serving

SOURCE = '''\
def total(numbers):
    """Add numbers up.

    >>> total([4, 7])
    11
    >>> total([])
    0
    """
    result = 0
    for number in numbers:
        result += number
    return result


def shout(text, times=2):
    """Repeat a text in capitals.

    >>> shout("ab")
    'ABAB'
    >>> shout("a", 3)
    'AAA'
    """
    if times < 1:
        return ""
    return text.upper() * times


def pairs(left, right):
    """Combine every member of one list with every member of another.

    >>> pairs([1, 2], [3, 4])
    [(1, 3), (1, 4), (2, 3), (2, 4)]
    >>> pairs([], [1])
    []
    """
    found = []
    for one in left:
        for other in right:
            found.append((one, other))
    return found


def name_of(number):
    """Name a small number.

    >>> name_of(1)
    'one'
    >>> name_of(3)
    'many'
    """
    match number:
        case 1:
            return "one"
        case 2:
            return "two"
    return "many"


def half(number):
    """Halve a number.

    >>> half(5)
    2.5
    >>> half(-1)
    -0.5
    """
    return number / 2


assert total([4, 7]) == 11
# shout("ab") is 'ABAB'
'''
BODIES = {
    "total": "    return sum(numbers)\n",
    "shout": "    return times * text.upper()\n",
    "pairs": "    return [(one, other) for one in left for other in right]\n",
    "name_of": '    return {1: "one", 2: "two"}.get(number, "many")\n',
    "half": "    return number * 0.5\n",
}
WRONG = "    return None\n"
_numbers = count()


def reply(model: str, system: str, user: str) -> tuple[str, str]:
    """A model's text, and its finish: `stop` or `length`."""
    if not system.startswith("You are given"):
        name = user.rpartition("\ndef ")[2].partition("(")[0]
        return f"```python\n{_written(model, name, user)}```", "stop"
    program, _, question = user.rpartition("\n")
    call = question.removeprefix("What does ").removesuffix(" return?")
    assert call not in program.replace('"', "'"), "the program shows the call that it is asked about"
    space: dict[str, Any] = {}
    exec(program, space)  # noqa: S102 - that is SOURCE, or a body of BODIES in it
    truth = repr(eval(call, space))  # noqa: S307
    name = call.partition("(")[0]
    stepwise = "Answer:" in system
    if model == "random" or (model == "wavers" and name == "half"):
        return f"Answer: {next(_numbers)}" if stepwise else str(next(_numbers)), "stop"
    if model == "partial" and stepwise and name == "pairs" and "for one in left:\n" in program:
        return f"<think>\n1. Nothing is found. Answer: {truth}", "length"
    if model == "partial" and (name == "shout" or (name == "total" and not stepwise)):
        truth = "0"
    if model == "partial" and name == "half":
        truth = "2"
    thought = "<think>\nAnswer: 'wrong'\n</think>\n\n" if model == "aloud" else ""
    return f"{thought}1. So it goes.\nAnswer: {truth}" if stepwise else f"{thought}{truth}", "stop"


def _written(model: str, name: str, user: str) -> str:
    """The body of a function; `partial` is wrong for `name_of`, and for `half` without a test."""
    wrong = model == "partial" and (name == "name_of" or (name == "half" and ">>>" not in user))
    return WRONG if wrong else BODIES[name]


def _answer(handler: Handler) -> None:
    system, *_, user = (message["content"] for message in handler.body["messages"])
    text, finish = reply(handler.body["model"], system, user)
    handler.reply(200, {"choices": [{"message": {"content": text}, "finish_reason": finish}]})


@contextmanager
def served() -> Iterator[str]:
    """The base URL of the endpoint, while the context lasts."""
    with serving(_answer, models=["truth", "aloud", "partial", "random", "wavers"]) as script:
        yield script.url
