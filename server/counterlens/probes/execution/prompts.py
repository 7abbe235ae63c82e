"""Prompts of execution reasoning: templates are data, one file a style and format, in `templates/`.

`$source` is the program, `$call` the call; see `probes/prompts/templates.py`. To add a style: write its files,
and add it to `STYLES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from counterlens.confidence.units import units
from counterlens.models.base import ModelInfo, Prompt
from counterlens.probes.prompts.literals import Literal, direct_answer, stepwise_answer
from counterlens.probes.prompts.templates import filled
from counterlens.syntax.document import Document
from counterlens.syntax.functions import Function

WHOLE_BYTES = 4096
"""Of longer files only the header and the definition are shown."""


@dataclass(frozen=True, slots=True)
class Style:
    """A way to ask.

    Attributes:
        title: What it is called.
        read: Finds the answer in what the model says.
        max_tokens: How much it may say.
        stop: What it is stopped at when it completes.
        stepwise: Whether its answer stands at the end, behind `Answer:`.
    """

    title: str
    read: Callable[[str], Literal | None]
    max_tokens: int
    stop: tuple[str, ...]
    stepwise: bool = False


STYLES = {
    "direct": Style("direct", direct_answer, 128, ("\n\n", "\nassert", "\ndef ", "\n#")),
    "steps": Style("step by step", stepwise_answer, 384, ("\n\n", "\ndef ", "\nassert"), stepwise=True),
}


def prompt(info: ModelInfo, style: str, source: str, call: str) -> Prompt:
    """The question what a call gives."""
    chosen = STYLES[style]
    return filled(info, __package__, style, chosen.max_tokens, chosen.stop, source=source, call=call)


def shown(document: Document, function: Function) -> str:
    r"""What of a program is shown: all of it, or of a long one the header and the definition.

    The function's docstring is left out, because its examples would give answers away. Line ends are `\n`.
    """
    data = document.data
    cut = docstring(document, function)
    if len(data) <= WHOLE_BYTES:
        pieces = [data[: cut[0]], data[cut[1] :]]
    else:
        unit = next(unit for unit in units(document) if unit.start <= function.header < unit.end)
        pieces = [data[: unit.context], data[unit.start : cut[0]], data[cut[1] : function.end]]
    return b"".join(pieces).replace(b"\r\n", b"\n").decode("utf-8", "replace")


def docstring(document: Document, function: Function) -> tuple[int, int]:
    """The bytes of a function's docstring up to the next statement; none where there is no other."""
    node = document.tree.root_node.descendant_for_byte_range(function.header, function.header + 3)
    while node is not None and node.type != "function_definition":
        node = node.parent
    body = node.child_by_field_name("body") if node is not None else None
    statements = [child for child in body.named_children if child.type != "comment"] if body else []
    first = statements[0] if len(statements) > 1 else None
    if first is None or not first.children or first.children[0].type != "string":
        return function.end, function.end
    return first.start_byte, statements[1].start_byte
