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

from llama_cpp.llama_chat_format import Jinja2ChatFormatter

CPU_SECONDS = 2  # after the imports; a template takes milliseconds
MEMORY_BYTES = 1 << 30
PROMPT_CHARACTERS = 1 << 20


def main() -> None:
    """Fill one template."""
    given = json.load(sys.stdin)
    _limit()
    try:
        formatter = Jinja2ChatFormatter(template=given["template"], eos_token="", bos_token=given["bos"])
        prompt = formatter(messages=given["messages"]).prompt
        answer: dict[str, str | bool] = (
            {"limit": True} if len(prompt) > PROMPT_CHARACTERS else {"prompt": prompt}
        )
    except MemoryError:
        answer = {"limit": True}
    except Exception as error:  # whatever the template does
        answer = {"error": f"{type(error).__name__}: {error}"[:200]}
    json.dump(answer, sys.stdout)


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
