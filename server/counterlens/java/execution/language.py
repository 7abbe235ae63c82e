"""Calls of Java methods: run in JVMs in the sandbox."""

from __future__ import annotations

import re
from collections.abc import Sequence
from threading import Event

from counterlens.errors import SourceError
from counterlens.java.execution import calls, hiding, running, watching
from counterlens.java.execution.features import java_features
from counterlens.java.judging import differential
from counterlens.java.prompts.values import JAVA_VALUES, expression, plain
from counterlens.judging.base import Setting
from counterlens.probes.execution.language import ExecutedLanguage
from counterlens.probes.prompts.languages import prompting_of
from counterlens.sandbox.base import Limits, Sandbox
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

_ENDS = ("\n\n", "\nclass ", "\npublic ")


class JavaExecution(ExecutedLanguage):
    """See the module."""

    id = "java"
    values = JAVA_VALUES
    traces_headers = False
    stops = {"direct": (*_ENDS, "\n//"), "steps": _ENDS}  # noqa: RUF012 - a constant

    in_tests = staticmethod(calls.in_tests)
    output_of = staticmethod(running.output_of)
    require_ordered = staticmethod(running.require_ordered)
    rounds_of = staticmethod(watching.rounds_of)
    trace = staticmethod(watching.trace)
    simple_lines = staticmethod(watching.simple_lines)
    unanswered = staticmethod(hiding.java_unanswered)
    features = staticmethod(java_features)
    without_comments = staticmethod(hiding.without_comments)

    def require_reachable(self, document: Document, function: Function) -> None:
        """Like `ExecutedLanguage.require_reachable`."""
        running.called_method(document, function)

    def calls_in(self, tests: str, qualname: str) -> list[str]:
        """Like `ExecutedLanguage.calls_in`."""
        return calls.calls_in(tests, calls.name_of(qualname))

    def in_examples(self, document: Document, function: Function) -> list[str]:
        """Like `ExecutedLanguage.in_examples`."""
        return calls.in_comment(self.described(document, function) or "", function.name)

    def generated(self, document: Document, function: Function, setting: Setting) -> Sequence[str]:
        """Like `ExecutedLanguage.generated`."""
        original = differential.find_out(document, function, setting)
        if not isinstance(original, differential.JavaOriginal):
            return ()
        pairs = zip(original.calls, original.answers, strict=True)
        given = (call.arguments for call, answer in pairs if answer.value is not None)
        return [
            f"{function.name}({', '.join(map(expression, arguments))})"
            for arguments in given
            if all(map(plain, arguments))
        ]

    def written_out(
        self,
        document: Document,
        function: Function,
        call: str,  # noqa: ARG002
        sandbox: Sandbox,  # noqa: ARG002
        *,
        limits: Limits,  # noqa: ARG002
        cancel: Event | None = None,  # noqa: ARG002
    ) -> Document:
        """Like `ExecutedLanguage.written_out`: always refused, because Java loops are not unrolled."""
        made = self.features(document.data[function.header : function.end].decode("utf-8", "replace"))
        if made is not None and not {"for", "while"} & set(made.tags):
            raise SourceError("it has no loops")
        raise SourceError("loops in Java are not unrolled")

    def described(self, document: Document, function: Function) -> str | None:
        """Like `ExecutedLanguage.described`: the text of the Javadoc, without its tags."""
        start, end = prompting_of(document.language).docstring(document, function)
        if start >= function.start:
            return None
        text = document.data[start:end].decode("utf-8", "replace").strip()
        inside = text.removeprefix("/**").removesuffix("*/")
        starred = all(line.lstrip().startswith("*") for line in inside.splitlines()[1:] if line.strip())
        lines = [re.sub(r"^\s*\*[ \t]?", "", line) if starred else line for line in inside.splitlines()]
        return "\n".join(_dedent(lines)).strip()


EXECUTION = JavaExecution()


def _dedent(lines: Sequence[str]) -> list[str]:
    """Lines without their common indentation and trailing blanks."""
    margins = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    margin = min(margins, default=0)
    return [line[margin:].rstrip() for line in lines]
