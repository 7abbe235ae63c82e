"""CoRe's pairwise question (Xie et al. 2025): does one instance have dependence over another, yes or no?

The function is shown with the line numbers of its file. `(total, 3)` is the variable `total` in line 3; for
control dependence the instances are two lines. Chains count, not only direct dependences. Chat models answer
in CoRe's form, `{"DataDependence": true}`; `trace_questions.py` also asks for the steps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from counterlens.models.base import Model, ModelInfo, Prompt, Stop
from counterlens.probes.dependence.examined import ExaminedFunction, Relation
from counterlens.probes.dependence.instances import DependenceQuestion, Instance
from counterlens.probes.dependence.prompted import read_yes_no
from counterlens.probes.dependence.prompts import YES_NO, asked_in
from counterlens.probes.prompts import closed
from counterlens.probes.prompts.closed import YesNo, ask
from counterlens.probes.prompts.templates import FilledTemplate, chats
from counterlens.progress import Steps

KEYS = {Relation.CONTROL: "ControlDependence", Relation.DATA: "DataDependence"}
"""CoRe's names of the dependences in its answers."""

_ANSWER = re.compile(
    r"""["'`]?\b(?:Control|Data)_?\s?Dependence\b["'`]?\s*[:=]\s*["'`]?(true|false|yes|no)\b""",
    re.IGNORECASE,
)
_WRITTEN = 24
"""Maximum tokens of a chat model's answer: JSON in a fenced block."""


def answers(
    model: Model, subject: ExaminedFunction, asked: Sequence[DependenceQuestion], steps: Steps | None = None
) -> Mapping[DependenceQuestion, YesNo]:
    """Ask some questions about one function, all of one relation.

    Raises:
        ModelError: the model cannot answer.
        Cancelled: it was cancelled.
    """
    if not asked:
        return {}
    listing, what = lines(subject), f"asking about {asked[0].relation}"
    prompts = [prompt(model.info, subject, question, listing) for question in asked]
    key = KEYS[asked[0].relation]
    words = (f'{{"{key}": true}}', f'{{"{key}": false}}') if chats(model.info) else closed.YES_NO
    said = ask(model, prompts, read_answer, steps or Steps(), what, words=words)
    return dict(zip(asked, said, strict=True))


def prompt(info: ModelInfo, subject: ExaminedFunction, question: DependenceQuestion, listing: str) -> Prompt:
    """The prompt of one question.

    Args:
        info: The model's information.
        listing: The result of `lines` for the function.
    """
    wording = words(info, f"core-{question.relation}", subject, question, listing)
    if not chats(info):
        return wording.question(4, Stop(texts=("\n",)), YES_NO)
    key = KEYS[question.relation]
    schema = (
        f'{{"type": "object", "properties": {{"{key}": {{"type": "boolean"}}}}, '
        f'"required": ["{key}"], "additionalProperties": false}}'
    )
    form = f'root ::= "{{\\"{key}\\": " ("true" | "false") "}}"'
    return wording.question(_WRITTEN, Stop(), form, schema)


def words(
    info: ModelInfo, task: str, subject: ExaminedFunction, question: DependenceQuestion, listing: str
) -> FilledTemplate:
    """The template of a question, filled; `listing` is the result of `lines`."""
    return asked_in(
        info,
        subject,
        task,
        lines=listing,
        function=subject.dependences.function,
        source=_instance_name(subject, question.source),
        target=_instance_name(subject, question.target),
    )


def lines(subject: ExaminedFunction) -> str:
    """The function's lines with their numbers in the file; of its docstring only the first line."""
    first = subject.starts.index(0) + 1
    docstring = next((part.statement for part in subject.parts[:2] if part.described), None)
    left_out = range(docstring.line + 1, docstring.end_line + 1) if docstring else range(0)
    numbered = enumerate(subject.text.split("\n"), first)
    shown = [(number, text) for number, text in numbered if number not in left_out]
    more = docstring.line if left_out and docstring else 0
    return "\n".join(f"{at:<4}{text}{' ...' if at == more else ''}".rstrip() for at, text in shown)


def read_answer(text: str) -> bool | None:
    """The content of a written answer: CoRe's JSON, the last one if there are several, or yes or no."""
    said = _ANSWER.findall(text)
    return said[-1].lower() in {"true", "yes"} if said else read_yes_no(text)


def _instance_name(subject: ExaminedFunction, instance: Instance) -> str:
    """An instance in CoRe's notation: `(total, 3)`, or only the line."""
    line = subject.parts[instance.statement].statement.line
    return f"({instance.variable}, {line})" if instance.variable else str(line)
