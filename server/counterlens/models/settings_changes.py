"""The changes that commands make to settings files: comments, order and all other settings stay as they are.

`models use` and `models add` write the same files. Both change the parsed file, never its text, and a change
that would alter anything else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping
from pathlib import Path
from typing import Any

from counterlens.atomic_file import replace_file
from counterlens.errors import OptionError
from counterlens.models.entries import PYPROJECT, TABLE, ModelEntry, entry_named, entry_text
from counterlens.nested_text import parse_toml
from counterlens.regular_file import read_text, reason_of

_Settings = MutableMapping[str, Any]
_QUOTED = re.compile(r'"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'')
_COMMENT = re.compile(r"#(.*)")


def with_model(path: Path, spec: str) -> str:
    """The text of a settings file, which need not exist yet, with another default model.

    Raises:
        OptionError: the file cannot be read.
    """
    import tomlkit  # only commands that write need it

    def change(settings: _Settings) -> None:
        chosen = tomlkit.item(spec)
        if not isinstance(settings.get("models", {}), MutableMapping):
            listed = settings.pop("models")  # the same setting under its other name
            if comments := _comments(listed):
                chosen.comment("; ".join(comments))
        settings["model"] = chosen

    return _changed(path, change)


def with_entry(path: Path, entry: ModelEntry, entries: tuple[ModelEntry, ...]) -> str:
    """The text of a settings file, which need not exist yet, with one more named model.

    A list `models` becomes `model`, its name beside named models.

    Args:
        entries: The named models that the file has.

    Raises:
        OptionError: the file already has a model of this name, or cannot be read.
    """
    if entry_named(entry.name, entries) is not None:
        raise OptionError(
            f"{path} has a model {entry.name}", "Choose another name, or change the entry in the file"
        )
    import tomlkit  # only commands that write need it

    written: Any = tomlkit.parse(entry_text(entry))["models"]

    def change(settings: _Settings) -> None:
        listed = settings.get("models", {})
        if not isinstance(listed, MutableMapping):
            settings["model"] = settings.pop("models")
        if "models" not in settings:
            settings["models"] = tomlkit.table(is_super_table=True)
        models = settings["models"]
        values = written[entry.name]
        within_a_line = isinstance(models, tomlkit.items.InlineTable)
        models[entry.name] = _inline(values.unwrap()) if within_a_line else values

    return _changed(path, change)


def write_settings(path: Path, text: str) -> None:
    """Replace a settings file; a link keeps pointing to it.

    Raises:
        OptionError: it cannot be written, and keeps its content.
    """
    try:
        replace_file(path.resolve(), text)
    except OSError as error:
        raise OptionError(f"{path} cannot be written: {error.strerror or error}") from error


def _changed(path: Path, change: Callable[[_Settings], None]) -> str:
    """The text of a file after a change, which must change the settings as it changes a plain mapping."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        text = read_text(path) if path.exists() else ""
        wanted = parse_toml(text)
    except (OSError, ValueError) as error:
        raise OptionError(f"{path} cannot be read: {reason_of(error)}") from None
    change(_table(wanted, path))
    try:
        document = tomlkit.parse(text)
        change(_table(document, path))
        changed = document.as_string()
        if parse_toml(changed) == wanted:
            return changed
    except (TOMLKitError, ValueError, TypeError):  # a form of TOML that the library cannot change
        pass
    raise OptionError(
        f"{path} has a form in which this setting cannot be changed", "Change the file in an editor"
    )


def _table(document: _Settings, path: Path) -> _Settings:
    """The table with the settings; added where it is missing."""
    import tomlkit

    at: Any = document
    for part in TABLE if path.name == PYPROJECT else ():
        if part not in at:
            at[part] = tomlkit.table(is_super_table=True)
        at = at[part]
        if not isinstance(at, MutableMapping):
            raise OptionError(f"{path}: {'.'.join(TABLE)} is not a table", f"Write [{'.'.join(TABLE)}]")
    return at  # type: ignore[no-any-return]


def _comments(listed: Any) -> list[str]:
    """The comments inside a list; none of a list that has no text of its own."""
    text = listed.as_string() if hasattr(listed, "as_string") else ""
    return [comment.strip() for comment in _COMMENT.findall(_QUOTED.sub("", text))]


def _inline(values: dict[str, Any]) -> Any:
    """A table within one line, and those within it."""
    import tomlkit

    table = tomlkit.inline_table()
    for key, value in values.items():
        table[key] = _inline(value) if isinstance(value, dict) else value
    return table
