"""The process that fills a chat template: the template comes with a model file, so it is somebody's program.

Jinja's sandbox keeps it from the interpreter's objects, but not from looping or filling memory without end,
and no thread can be stopped from outside. The process reads a JSON object with `template`, `bos` and
`messages` from standard input, and writes one with `prompt`, `error`, or `limit` if it reached one. It
needs no other module of Counterlens.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import datetime
from typing import Any

from jinja2 import BaseLoader, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

CPU_SECONDS = 2  # after the imports; a template takes milliseconds
MEMORY_BYTES = 1 << 30
PROMPT_CHARACTERS = 1 << 20


def main() -> None:
    """Fill one template."""
    given = json.load(sys.stdin)
    _limit()
    try:
        prompt = _fill(given["template"], given["bos"], given["messages"])
        answer: dict[str, str | bool] = (
            {"limit": True} if len(prompt) > PROMPT_CHARACTERS else {"prompt": prompt}
        )
    except MemoryError:
        answer = {"limit": True}
    except Exception as error:  # whatever the template does
        answer = {"error": f"{type(error).__name__}: {error}"[:200]}
    json.dump(answer, sys.stdout)


class _Generation(Extension):
    """The tag `{% generation %}` of Transformers, which changes nothing of the text in it."""

    tags = {"generation"}  # noqa: RUF012 - as Jinja declares it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """The text up to `{% endgeneration %}`."""
        parser.stream.skip(1)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _fill(template: str, bos: str, messages: list[dict[str, str]]) -> str:
    """What `Jinja2ChatFormatter` of llama-cpp-python gives, whose import takes most of the time."""
    environment = ImmutableSandboxedEnvironment(
        loader=BaseLoader(),
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[_Generation, loopcontrols],
    )
    environment.filters["tojson"] = _json
    return environment.from_string(template).render(
        messages=messages,
        eos_token="",
        bos_token=bos,
        raise_exception=_refuse,
        add_generation_prompt=True,
        functions=None,
        function_call=None,
        tools=None,
        tool_choice=None,
        strftime_now=lambda form: datetime.now().strftime(form),
    )


def _json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """The filter `tojson` as Transformers has it."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _refuse(message: str) -> None:
    """What a template calls to refuse messages."""
    raise ValueError(message)


def _limit() -> None:
    """Let the system end this process if it takes too long, and refuse it more memory."""
    try:
        import resource
    except ImportError:  # Windows: only the time limit of the process that started this one
        return
    seconds = int(time.process_time()) + CPU_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    except (OSError, ValueError):  # macOS does not limit address space
        return


if __name__ == "__main__":
    main()
