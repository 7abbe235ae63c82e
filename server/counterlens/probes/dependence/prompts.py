"""Prompts of the prompted inference: templates are data, one file per task and chat format, in `templates/`.

A `.completion.txt` is continued as it stands; a `.chat.txt` is an instruction, a line of three hyphens, and a
message. `$statements` are the numbered statements (`3:     return x`), `$source` and `$target` two of the
numbers; `core-` tasks have `$lines` and `$function` (`core_questions.py`, `trace_questions.py`). To reword a
task, edit its files.
"""

from __future__ import annotations

import ast

from counterlens.models.base import ModelInfo, Prompt, Reply, Stop
from counterlens.probes.dependence.examined import ExaminedFunction, Part, Relation
from counterlens.probes.prompts.templates import worded

_PAIR_TOKENS, _FRAME_TOKENS = 8, 16
_PAIRS_PER_STATEMENT = 8
"""Most pairs of an answer; no function of CoRe has more than 6.4 dependences of a relation per statement."""
_MOST_TOKENS = 4096


def all_pairs(info: ModelInfo, subject: ExaminedFunction, relation: Relation) -> Prompt:
    """Ask for all pairs of which one depends on the other (Nguyen et al. 2024, section 5.1, RQ4)."""
    count = len(subject.parts)
    room = min(_MOST_TOKENS, info.context // 2 if info.context else _MOST_TOKENS)
    fitting = max(1, (room - _FRAME_TOKENS) // _PAIR_TOKENS)
    most = min(count * count, count * _PAIRS_PER_STATEMENT, fitting)
    instruction, text = worded(info, __package__, str(relation), statements=numbered(subject))
    reply = Reply(instruction, _list_grammar(count, most), _LIST_SCHEMA)
    return Prompt(text, _PAIR_TOKENS * most + _FRAME_TOKENS, Stop(texts=("\n\n", "]}\n")), reply)


def one_pair(
    info: ModelInfo, subject: ExaminedFunction, relation: Relation, source: int, target: int
) -> Prompt:
    """Ask whether one statement depends on another one, to be answered by yes or no."""
    instruction, text = worded(
        info,
        __package__,
        f"{relation}-pair",
        statements=numbered(subject),
        source=str(source),
        target=str(target),
    )
    return Prompt(text, 4, Stop(texts=("\n",)), Reply(instruction, YES_NO))


def numbered(subject: ExaminedFunction) -> str:
    """The statements, one a line with its number; what a statement goes on for is indented below it."""
    return "\n".join(
        f"{part.statement.id}: {subject.indentation(part)}{_shown(part)}" for part in subject.parts
    )


def _shown(part: Part) -> str:
    """A statement's text; of a docstring the first line."""
    text = part.statement.text
    described = isinstance(part.node, ast.Expr) and isinstance(part.node.value, ast.Constant)
    first, _, rest = text.partition("\n")
    return f"{first} ..." if described and rest else text


YES_NO = 'root ::= " "? ("yes" | "no")'
_LIST_SCHEMA = (
    '{"type": "object", "properties": {"pairs": {"type": "array", "items": {"type": "array", "items": '
    '{"type": "integer"}, "minItems": 2, "maxItems": 2}}}, "required": ["pairs"], '
    '"additionalProperties": false}'
)


def _list_grammar(count: int, most: int) -> str:
    """GBNF: a list of at most so many pairs of the numbers below `count`."""
    numbers = " | ".join(f'"{number}"' for number in range(count))
    return (
        'root ::= " "? "{\\"pairs\\": [" list? "]}"\n'
        f'list ::= pair (", " pair){{0,{most - 1}}}\n'
        'pair ::= "[" number ", " number "]"\n'
        f"number ::= {numbers}"
    )
