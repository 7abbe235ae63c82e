"""Prompts of prompted inference: templates are data, one file per task and prompt format, in `templates/`.

Their format is that of `probes/prompts/templates.py`. `$statements` are the numbered statements
(`3:     return x`), `$source` and `$target` two of the numbers; `core-` tasks have `$lines` and `$function`
(`core_questions.py`, `trace_questions.py`). `$language` is the language's name; a template that contains a
program has another file for Java, such as `data-java.completion.txt`. To reword a task, edit its files.
"""

from __future__ import annotations

from counterlens.languages.registry import title_of
from counterlens.models.base import ModelInfo, Prompt, Stop
from counterlens.probes.dependence.examined import ExaminedFunction, Part, Relation
from counterlens.probes.prompts.language import prompting_of
from counterlens.probes.prompts.templates import FilledTemplate, chats, fill_text, has_template
from counterlens.probes.protocols import in_words

_PAIR_TOKENS, _FRAME_TOKENS = 8, 16
_PAIRS_PER_STATEMENT = 8
"""Maximum pairs of an answer; CoRe's functions have at most 6.4 dependences per relation and statement."""
_MOST_TOKENS = 4096
YES_NO = 'root ::= " "? ("yes" | "no")'
_LIST_SCHEMA = (
    '{"type": "object", "properties": {"pairs": {"type": "array", "items": {"type": "array", "items": '
    '{"type": "integer"}, "minItems": 2, "maxItems": 2}}}, "required": ["pairs"], '
    '"additionalProperties": false}'
)


def all_pairs(
    info: ModelInfo, subject: ExaminedFunction, relation: Relation, *, protocol: str = ""
) -> Prompt:
    """Ask for all pairs of which one depends on the other (Nguyen et al. 2024, section 5.1, RQ4).

    Args:
        info: The model's information.
        relation: Control or data.
        protocol: The protocol whose words are used, which has no worked example; empty for ours.
    """
    task = in_words(protocol, "{}-") + str(relation)
    count = len(subject.parts)
    room = min(_MOST_TOKENS, info.context // 2 if info.context else _MOST_TOKENS)
    fitting = max(1, (room - _FRAME_TOKENS) // _PAIR_TOKENS)
    most = min(count * count, count * _PAIRS_PER_STATEMENT, fitting)
    wording = asked_in(info, subject, task, statements=numbered_statements(subject))
    return wording.question(
        _PAIR_TOKENS * most + _FRAME_TOKENS,
        Stop(texts=("\n\n", "]}\n")),
        _list_grammar(count, most),
        _LIST_SCHEMA,
    )


def one_pair(
    info: ModelInfo, subject: ExaminedFunction, relation: Relation, source: int, target: int
) -> Prompt:
    """Ask whether one statement depends on another, yes or no."""
    wording = asked_in(
        info,
        subject,
        f"{relation}-pair",
        statements=numbered_statements(subject),
        source=str(source),
        target=str(target),
    )
    return wording.question(4, Stop(texts=("\n",)), YES_NO)


def asked_in(info: ModelInfo, subject: ExaminedFunction, task: str, **places: str) -> FilledTemplate:
    """The template of a question, filled, with the programs of the subject's language.

    Args:
        info: The model's information.
        task: The template, without the language's suffix.
        places: The values of the placeholders; `$language` is the language's name.
    """
    language = prompting_of(subject.language)
    own = f"{task}{language.suffix}"
    name = own if has_template(__package__, own, chats(info)) else task
    return fill_text(info, __package__, name, language=title_of(subject.language), **places)


def numbered_statements(subject: ExaminedFunction) -> str:
    """The statements with their numbers, one per line; further lines of a statement are indented below it."""
    return "\n".join(
        f"{part.statement.id}: {subject.indentation(part)}{_first_lines(part)}" for part in subject.parts
    )


def _first_lines(part: Part) -> str:
    """A statement's text; of a docstring only the first line."""
    text = part.statement.text
    first, _, rest = text.partition("\n")
    return f"{first} ..." if part.described and rest else text


def _list_grammar(count: int, most: int) -> str:
    """GBNF: a list of at most `most` pairs of numbers below `count`."""
    numbers = " | ".join(f'"{number}"' for number in range(count))
    return (
        'root ::= " "? "{\\"pairs\\": [" list? "]}"\n'
        f'list ::= pair (", " pair){{0,{most - 1}}}\n'
        'pair ::= "[" number ", " number "]"\n'
        f"number ::= {numbers}"
    )
