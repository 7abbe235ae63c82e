"""Compiles files of a project and sends the code: tests as pytest rewrites them, others as they are.

No code of the project runs here. Each line is `code [name, code in base64]`; see `kept_code.py`.
"""

from __future__ import annotations

import ast
import base64
import json
import marshal
import os

from ..job import send, take_task
from ..kept_code import PLAIN, name_of, rewritten_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any


def main() -> None:
    """Read the task, compile, send and exit."""
    task, descriptor = take_task()
    stored_names = set(task["known"])
    for path in task["tests"]:
        _send(descriptor, path, _form_of_tests(), stored_names)
    for path in task["modules"]:
        _send(descriptor, path, PLAIN, stored_names)
    os._exit(0)


def _form_of_tests() -> str:
    try:
        import pytest
    except ImportError:
        return PLAIN
    return rewritten_by(pytest.__version__)


def _send(descriptor: int, path: str, form: str, stored_names: set[str]) -> None:
    """Send the code of one file, unless it is stored already; a file that does not compile is skipped."""
    try:
        name = name_of(path, form)
        if name in stored_names:
            return
        with open(path, "rb") as file:  # noqa: PTH123
            source = file.read()
        code = _compile_file(path, source, form)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError, AttributeError, TypeError):
        return
    send(descriptor, "code " + json.dumps([name, base64.b64encode(marshal.dumps(code)).decode()]))


def _compile_file(path: str, source: bytes, form: str) -> CodeType:
    content: Any = source
    if form != PLAIN:
        from _pytest.assertion.rewrite import rewrite_asserts

        content = ast.parse(source, filename=path)
        rewrite_asserts(content, source, path)
    code: CodeType = compile(content, path, "exec", dont_inherit=True)
    return code
