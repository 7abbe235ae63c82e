"""Prompt templates: data, one file for each form, in the `templates` folder of a probe.

A `.completion.txt` is text to continue; a `.chat.txt` is an instruction, a line of three hyphens, and a
message. `$name` is a placeholder. A template for one model, `summary.MODEL.chat.txt`, takes precedence over
the general one; MODEL is a part of the model's name.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

from counterlens.models.base import Api, ModelInfo, Prompt, Reply, Stop


def chats(info: ModelInfo) -> bool:
    """Whether a model is a chat model."""
    return info.api is Api.CHAT


def filled(
    info: ModelInfo, package: str | None, name: str, max_tokens: int, stop: tuple[str, ...], **places: str
) -> Prompt:
    """A template as a prompt for a model.

    Args:
        info: Describes the model; chat models get the `.chat.txt`.
        package: The package that has the `templates` folder.
        name: The name of the template.
        max_tokens: Maximum number of tokens of the answer.
        stop: The texts that end a completion; unused for chat models.
        places: The values of the placeholders; surrounding blanks are removed.
    """
    instruction, text = worded(
        info, package, name, **{place: value.strip() for place, value in places.items()}
    )
    if not chats(info):
        return Prompt(text, max_tokens, Stop(texts=stop))
    return Prompt(text, max_tokens, Stop(), Reply(instruction, ""))


def worded(info: ModelInfo, package: str | None, name: str, **places: str) -> tuple[str, str]:
    """The instruction and the text of a template; the instruction is empty for plain completion.

    Args:
        info: Describes the model; chat models get the `.chat.txt`.
        package: The package that has the `templates` folder.
        name: The name of the template.
        places: The values of the placeholders.
    """
    form = "chat" if chats(info) else "completion"
    whole = template(package, name, form, info.name).substitute(places)
    if form == "completion":
        return "", whole.rstrip("\n")
    instruction, _, message = whole.partition("\n---\n")
    return " ".join(instruction.split()), message.strip()


@cache
def has_template(package: str | None, name: str, chat: bool) -> bool:
    """Whether there is a general template of a name.

    Args:
        package: The package that has the `templates` folder.
        name: The name of the template.
        chat: Whether it is for chat models.
    """
    return (files(package or "") / "templates" / f"{name}.{'chat' if chat else 'completion'}.txt").is_file()


@cache
def template(package: str | None, name: str, form: str, model: str = "") -> Template:
    """A template, with its placeholders.

    Args:
        package: The package that has the `templates` folder.
        name: The name of the template.
        form: `completion` or `chat`.
        model: The name of the model that it is for; empty for the general template.
    """
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
    return Template(chosen.read_text(encoding="utf-8"))
