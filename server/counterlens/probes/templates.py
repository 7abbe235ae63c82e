"""Prompt templates: data, one file for each form, in the `templates` folder of a probe.

A `.completion.txt` is continued as it stands; a `.chat.txt` is an instruction, a line of three hyphens, and a
message. `$name` is a place to be filled. A template of one model, `summary.MODEL.chat.txt`, goes before
the general one, where MODEL is a part of the model's name.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

from counterlens.models.base import Api, ModelInfo, Prompt, Reply, Stop


def filled(
    info: ModelInfo, package: str | None, name: str, max_tokens: int, stop: tuple[str, ...], **places: str
) -> Prompt:
    """A template as a prompt for a model.

    Args:
        info: Who is asked; chat models get the `.chat.txt`.
        package: The package that has the `templates` folder.
        name: The template.
        max_tokens: How much may be said.
        stop: What ends it when it is continued.
        places: What the places are filled with.
    """
    chat = info.api is Api.CHAT
    text = _template(package or "", name, info.name.lower(), "chat" if chat else "completion")
    whole = text.substitute({key: value.strip() for key, value in places.items()})
    if not chat:
        return Prompt(whole.rstrip("\n"), max_tokens, Stop(texts=stop))
    instruction, _, message = whole.partition("\n---\n")
    return Prompt(message.strip(), max_tokens, Stop(), Reply(" ".join(instruction.split()), ""))


@cache
def _template(package: str, name: str, model: str, form: str) -> Template:
    folder = files(package) / "templates"
    special = [
        one
        for one in folder.iterdir()
        if one.name.startswith(f"{name}.") and one.name.endswith(f".{form}.txt") and one.name.count(".") > 2
    ]
    chosen = [one for one in special if one.name[len(name) + 1 : -len(f".{form}.txt")].lower() in model]
    found = max(chosen, key=lambda one: len(one.name), default=folder / f"{name}.{form}.txt")
    return Template(found.read_text(encoding="utf-8"))
