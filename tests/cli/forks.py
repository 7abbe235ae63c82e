"""`python -m tests.cli.forks`: commands in forks of one process that has imported them, each with its costs.

Standard input has a JSON object per line, with the `arguments` of a command and its current `folder`;
standard output gets one with its exit `code`, its `output`, its processor `seconds`, those of its children
included, and its largest resident `memory` in bytes.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from importlib import import_module
from threading import Event
from typing import Any

from counterlens.cli.main import cli, main
from counterlens.models.base import Completion, Progress, Prompt
from counterlens.models.registry import BACKENDS, Backend
from counterlens.probes.registry import PROBES
from tests import few_cheats
from tests.evaluation.scripted_scores import RuleModel, at_random

SECONDS = 5
"""Most processor seconds of a command."""
MOST_SECONDS = 120
"""Seconds after which a command is considered to wait for ever, however busy the machine is."""


LATER = (
    "counterlens.python.execution.language",
    "counterlens.python.judging.coverage_tests",
    "counterlens.python.judging.differential",
    "counterlens.python.judging.language",
    "counterlens.python.judging.supplied_tests",
    "counterlens.python.mutations.language",
    "counterlens.python.prompts.language",
    "counterlens.python.syntax.concepts",
    "counterlens.sandbox.process",
    "tree_sitter_python",
)
"""What commands import when they need it."""


class Toy(RuleModel):
    """A model that completes everything alike, and scores at random."""

    def __init__(self) -> None:
        super().__init__("toy", at_random)

    def complete(
        self,
        prompts: Sequence[Prompt],
        *,
        cancel: Event | None = None,  # noqa: ARG002
        progress: Progress | None = None,  # noqa: ARG002
    ) -> list[Completion]:
        return [Completion("    return x\n", "stop", 4) for _ in prompts]


def run(arguments: list[str], folder: str) -> dict[str, Any]:
    """Run one command."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            for stream in (1, 2):
                os.dup2(output.fileno(), stream)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            signal.alarm(MOST_SECONDS)
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + 1, SECONDS + 1))
            code: object = 70
            try:
                main(arguments)
            except SystemExit as error:
                code = error.code
            except BaseException:
                traceback.print_exc()
            sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 70)
        _, status, usage = os.wait4(child, 0)
        output.seek(0)
        said = output.read().decode("utf-8", "replace")
    return {
        "code": os.waitstatus_to_exitcode(status),
        "output": said,
        "seconds": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss * 1024,
    }


def serve() -> None:
    """Answer until the end of standard input."""
    BACKENDS._added = {
        "toy": Backend("toy", "answers alike", lambda spec: spec == "toy", lambda *_: Toy()),
    }
    context: Any = None
    for name in cli.list_commands(context):
        cli.get_command(context, name)
    list(PROBES.values())  # imported once, before the forks
    for name in LATER:
        import_module(name)
    few_cheats.try_few()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)


if __name__ == "__main__":
    serve()
