"""Prompt templates: data, one file for each form, in the `templates` folder of a probe.

A `.completion.txt` is text to continue. A `.chat.txt` has the texts of a chat, between lines of three
hyphens: an instruction, then messages of the user and answers of the assistant in turn, which are worked
examples, and last the user's question. `$name` is a placeholder. In a text to continue, `⟦` and `⟧` enclose
the answer of a worked example; the model sees neither mark. A template for one model,
`summary.MODEL.chat.txt`, takes precedence over the general one; MODEL is a part of the model's name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from counterlens.models.base import Api, Capability, ModelInfo, Prompt, Reply, Stop

_BETWEEN = re.compile(r"^---\n", re.MULTILINE)
_EXAMPLE = re.compile("⟦(.*?)⟧", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FilledTemplate:
    """A template with the values of its placeholders.

    Attributes:
        instruction: The system message; empty for plain completion.
        text: The text to continue, or the last message.
        turns: The earlier messages with their answers; empty for plain completion.
        examples: The answers of its worked examples.
        by_template: As in `Reply`.
    """

    instruction: str
    text: str
    turns: tuple[tuple[str, str], ...]
    examples: tuple[str, ...]
    by_template: bool = False

    def question(self, max_tokens: int, stop: Stop, grammar: str = "", schema: str = "") -> Prompt:
        """The prompt of a question; the arguments are those of `Prompt` and `Reply`."""
        reply = Reply(self.instruction, grammar, schema, self.turns, self.by_template)
        return Prompt(self.text, max_tokens, stop, reply, examples=self.examples)


def chats(info: ModelInfo) -> bool:
    """Whether a model is asked in messages: a chat model, or one with a chat template."""
    return info.api is Api.CHAT or Capability.INSTRUCT in info.capabilities


def fill(
    info: ModelInfo, package: str | None, name: str, max_tokens: int, stop: tuple[str, ...], **places: str
) -> Prompt:
    """A template as a prompt for a model.

    Args:
        info: Describes the model; chat models get the `.chat.txt`.
        package: The package that has the `templates` folder.
        max_tokens: Maximum number of tokens of the answer.
        stop: The texts that end a completion; unused for chat models.
        places: The values of the placeholders; surrounding blanks are removed.
    """
    wording = fill_text(info, package, name, **{place: value.strip() for place, value in places.items()})
    if not chats(info):
        return Prompt(wording.text, max_tokens, Stop(texts=stop), examples=wording.examples)
    return wording.question(max_tokens, Stop())


def fill_text(info: ModelInfo, package: str | None, name: str, **places: str) -> FilledTemplate:
    """A template with the values of its placeholders.

    Args:
        info: Describes the model; chat models get the `.chat.txt`.
        package: The package that has the `templates` folder.
    """
    whole = _read(package, name, "chat" if chats(info) else "completion", info.name)
    if not chats(info):
        text = Template(_EXAMPLE.sub(r"\1", whole)).substitute(places)
        return FilledTemplate("", text.rstrip("\n"), (), tuple(_EXAMPLE.findall(whole)))
    # Split before it is filled: a program may have a line of three hyphens, too.
    instruction, *messages = (Template(part).substitute(places).strip() for part in _BETWEEN.split(whole))
    if len(messages) % 2 == 0:
        raise ValueError(f"the template {name}.chat.txt does not end with a message of the user")
    turns = tuple(zip(messages[:-1:2], messages[1::2], strict=True))
    examples = tuple(answer for _, answer in turns)
    by_template = info.api is not Api.CHAT
    return FilledTemplate(" ".join(instruction.split()), messages[-1], turns, examples, by_template)


def repeats_example(prompt: Prompt, text: str, read: Callable[[str], Any] = str.strip) -> bool:
    """Whether an answer repeats the answer of a worked example in its prompt.

    Args:
        read: Reads what is compared from an answer; None if there is nothing.
    """
    said = read(text)
    return said is not None and any(said == read(example) for example in prompt.examples)


@cache
def has_template(package: str | None, name: str, chat: bool) -> bool:
    """Whether there is a general template of a name.

    Args:
        package: The package that has the `templates` folder.
        chat: Whether it is for chat models.
    """
    return (files(package or "") / "templates" / f"{name}.{'chat' if chat else 'completion'}.txt").is_file()


@cache
def usual_size(package: str, form: str) -> float:
    """The mean size of the templates of a package in bytes, about what a prompt has beside its code.

    Args:
        package: The package that may have a `templates` folder.
        form: `completion` or `chat`.
    """
    folder = files(package) / "templates"
    names = (
        [file for file in folder.iterdir() if file.name.endswith(f".{form}.txt")] if folder.is_dir() else []
    )
    return sum(len(file.read_bytes()) for file in names) / max(1, len(names))


@cache
def template(package: str | None, name: str, form: str, model: str = "") -> Template:
    """The whole text of a template, with its placeholders and without the marks of examples.

    Args:
        package: The package that has the `templates` folder.
        form: `completion` or `chat`.
        model: The name of the model that it is for; empty for the general template.
    """
    return Template(_EXAMPLE.sub(r"\1", _read(package, name, form, model)))


@cache
def _read(package: str | None, name: str, form: str, model: str) -> str:
    folder = files(package or "") / "templates"
    ending = f".{form}.txt"
    special = [
        file
        for file in folder.iterdir()
        if file.name.startswith(f"{name}.")
        and file.name.endswith(ending)
        and file.name.count(".") > 2
        and file.name[len(name) + 1 : -len(ending)].lower() in model.lower()
    ]
    chosen = max(special, key=lambda file: len(file.name), default=folder / f"{name}{ending}")
    return chosen.read_text(encoding="utf-8")
