"""`counterlens.toml`, or `[tool.counterlens]` of pyproject.toml: a repository's settings for its runs.

A key is a field of `RunOptions`, or the flag of a probe's option without its dashes. The command line
overrides this file, and this file the defaults. Tables `[models.NAME]` are named models, see
`models/entries.py`; beside them, `model` has the list that is otherwise in `models`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any

from counterlens.errors import OptionError
from counterlens.models.entries import (
    PYPROJECT,
    TABLE,
    ModelEntry,
    is_entry_name,
    listed_models,
    models_of,
    read_entries,
    user_entries,
)
from counterlens.mutations.cuts import Ratio
from counterlens.nested_text import parse_toml
from counterlens.probes.options import OptionSpec, declared, specs
from counterlens.probes.registry import PROBES
from counterlens.regular_file import read_text, reason_of
from counterlens.text import form_in_words, has_form, sha256_of

NAME = "counterlens.toml"
_HEADER = re.compile(r"^\s*\[+\s*([^\]]+?)\s*\]+")
_ELSEWHERE = {
    "base-url": (
        "a file that comes with code must not set a model's address; use --base-url or COUNTERLENS_BASE_URL"
    ),
    "allow-weaker-sandbox": (
        "a file that comes with code must not weaken the sandbox; use --allow-weaker-sandbox"
    ),
}
_ALIASES = {"model": "models"}  # beside [models.NAME], where `models` is that table
_BASELINE = "baseline"  # see counterlens.doubt.accepted
_NAMING = frozenset({"models", "corpus", "encoder"})
_LARGEST = 1 << 20
_FAULT = re.compile(r" \(at line (\d+), column \d+\)$")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """The content of a file.

    Attributes:
        sha256: The SHA-256 of its content.
        run: Values of `RunOptions`, by field.
        given: Values of probe options, by name.
        entries: Its named models.
        baseline: The file with the marks of `check` that the repository accepts; None if there is none.
    """

    path: Path
    sha256: str
    run: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    entries: tuple[ModelEntry, ...] = ()
    baseline: Path | None = None

    def paths_below(self, root: Path) -> tuple[str, ...]:
        """Its paths relative to a folder instead of the file; without those outside the folder."""
        base = self.path.parent.resolve()
        paths = []
        for path in self.run.get("paths", ()):
            whole = PurePosixPath(base / path)
            if PurePosixPath(root).is_relative_to(whole):
                return ()  # the whole folder
            if whole.is_relative_to(root):
                paths.append(whole.relative_to(root).as_posix())
        return tuple(paths)


def keys() -> dict[str, OptionSpec]:
    """Every key that a file may have, with its declaration."""
    from counterlens.evaluation.settings import RunOptions  # few commands have a file

    own = {name.replace("_", "-"): spec for name, spec in specs(RunOptions).items()}
    return own | {spec.flag.removeprefix("--"): spec for spec, _ in declared(PROBES.values()).values()}


def nearest(folder: Path) -> SettingsFile | None:
    """The file of a folder, or of the nearest folder above it that has one, within the repository.

    Raises:
        OptionError: it cannot be read, or has invalid content; the message names file and line.
    """
    here = folder.resolve()
    for place in (here, *here.parents):
        for name in (NAME, PYPROJECT):
            if (place / name).is_file():
                settings = read(place / name)
                if settings is not None:
                    return settings
        if (place / ".git").exists():
            return None
    return None


def read(path: Path) -> SettingsFile | None:
    """Read a file; None for a pyproject.toml without a section for Counterlens.

    Raises:
        OptionError: as `nearest`.
    """
    try:
        text = read_text(path, _LARGEST)
        document: Any = parse_toml(text)
    except OSError as error:
        raise OptionError(f"{path} cannot be read: {reason_of(error)}") from None
    except ValueError as error:
        at = _FAULT.search(str(error))
        line = at[1] if at else len(text.splitlines())
        raise OptionError(f"{path}:{line}: {_FAULT.sub('', str(error))}", "It must be TOML") from None
    table: tuple[str, ...] = ()
    if path.name == PYPROJECT:
        table = TABLE
        for part in table:
            document = document.get(part) if isinstance(document, dict) else None
        if document is None:
            return None
        if not isinstance(document, dict):
            raise OptionError(f"{path}: tool.counterlens is not a table", "Write [tool.counterlens]")
    return _check(path, text, sha256_of(text), table, document)


def _check(
    path: Path, text: str, sha256: str, table: tuple[str, ...], document: Mapping[str, Any]
) -> SettingsFile:
    from counterlens.evaluation.settings import RunOptions

    declarations, own = keys(), specs(RunOptions)
    run: dict[str, Any] = {}
    given: dict[str, Any] = {}
    entries: tuple[ModelEntry, ...] = ()
    _, named = models_of(document, path)
    if named is not None:
        entries = read_entries(
            named, lambda name, key: f"{path}:{_line(text, (*table, 'models', name), key)}"
        )
        document = {key: value for key, value in document.items() if key != "models"}
    baseline = document.get(_BASELINE)
    if baseline is not None and not (isinstance(baseline, str) and baseline):
        where = f"{path}:{_line(text, table, _BASELINE)}"
        raise OptionError(f"{where}: baseline is {baseline!r}, but must be the path of a file")
    document = {key: value for key, value in document.items() if key != _BASELINE}
    for key, value in document.items():
        where = f"{path}:{_line(text, table, key)}"
        spec = declarations.get(_ALIASES.get(key, key))
        if spec is None:
            raise OptionError(f"{where}: there is no setting {key}", _suggestion(key, declarations))
        if spec.name == "models":
            value = listed_models(value)
        if not fits(spec, value):
            raise OptionError(f"{where}: {key} is {value!r}, but must be {valid_values(spec)}")
        settled = _settle(spec, value, path.parent)
        try:
            if spec.check:
                spec.check(settled)
        except OptionError as error:
            raise OptionError(f"{where}: {error.message}", error.hint) from None
        (run if spec.name in own and own[spec.name] is spec else given)[spec.name] = settled
    accepted = path.parent / baseline if baseline is not None else None
    return SettingsFile(path, sha256, run, given, entries, accepted)


def known_entries(file: SettingsFile | None, *names: str) -> tuple[ModelEntry, ...]:
    """The named models for some names: the user's own entries take precedence over a repository's.

    Args:
        names: Names as the user gave them.

    Raises:
        OptionError: the user's file cannot be read.
    """
    wanted = {name for name in names if is_entry_name(name)}
    if not wanted:
        return ()
    entries = {entry.name: entry for entry in (*(file.entries if file else ()), *user_entries())}
    return tuple(entries[name] for name in sorted(wanted & entries.keys()))


def _suggestion(key: str, declarations: Mapping[str, OptionSpec]) -> str:
    if key in _ELSEWHERE:
        return _ELSEWHERE[key][:1].upper() + _ELSEWHERE[key][1:]
    near = get_close_matches(key.replace("_", "-"), declarations, 1)
    return f"Is it {near[0]}?" if near else f"Available: {', '.join(declarations)}"


def _line(text: str, table: tuple[str, ...], key: str) -> int:
    """The line of a key in a table, 1-based; the line of the table if the key has another form."""
    inside, at = not table, 1
    above = "".join(rf"{re.escape(segment)}\." for segment in table)
    quoted = rf"^\s*(?:\[+\s*{above})?[\"']?{re.escape(key)}[\"']?\s*[=.\]]"
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header and table:
            name = tuple(part.strip("\"' ") for part in header[1].split("."))
            inside = name[: len(table)] == table
            at = number if name == table else at
        if inside and re.match(quoted, line):
            return number
    return at


def _settle(spec: OptionSpec, value: Any, folder: Path) -> Any:
    """A value in the form of the command line; a path is resolved relative to the settings file."""
    if spec.repeatable:
        return tuple(_convert(spec, part, folder) for part in value)
    return _convert(spec, value, folder)


def _convert(spec: OptionSpec, value: Any, folder: Path) -> Any:
    if spec.kind == Ratio and isinstance(value, str):
        low, _, high = value.partition("-")
        return (float(low), float(high)) if high else float(low)
    if spec.name in _NAMING and (folder / value).exists():
        return str((folder / value).resolve())
    if spec.form:
        return str(value)
    return float(value) if spec.kind is float else value


def fits(spec: OptionSpec, value: object) -> bool:
    """Whether a value from a file or an editor is valid for an option."""
    if spec.repeatable:
        return isinstance(value, list | tuple) and all(_fits_one(spec, part) for part in value)
    return _fits_one(spec, value)


def _fits_one(spec: OptionSpec, value: object) -> bool:
    if spec.choices:
        return value in spec.choices
    if spec.kind == Ratio and isinstance(value, str):
        return re.fullmatch(r"\d*\.?\d+(-\d*\.?\d+)?", value) is not None
    if spec.form:  # a number may be written without quotation marks
        return has_form(spec.form, value)
    if spec.kind in (bool, str) or isinstance(value, bool):
        return type(value) is spec.kind
    if not isinstance(value, int) and (spec.kind is int or not isinstance(value, float)):
        return False
    return (spec.low is None or spec.low <= value) and (spec.high is None or value <= spec.high)


def valid_values(spec: OptionSpec) -> str:
    """Describe the valid values of an option."""
    if spec.repeatable:
        choices = ", ".join(spec.choices)
        return f"a list of values from {choices}" if choices else f"a list, each {_kind(spec)}"
    if spec.choices:
        return f"one of {', '.join(spec.choices)}"
    return _kind(spec)


def _kind(spec: OptionSpec) -> str:
    if spec.kind is bool:
        return "true or false"
    if spec.form:
        return form_in_words(spec.form)
    if spec.kind is str:
        return "a string"
    if spec.kind == Ratio:
        return 'a number such as 0.6, or a range such as "0.4-0.6"'
    if spec.kind is float:
        if spec.low is None:
            return "a number"
        if spec.high is None:
            return f"a number of at least {spec.low:g}"
        return f"a number from {spec.low:g} to {spec.high:g}"
    if spec.low is None:
        return "an integer"
    if spec.high is None:
        return f"an integer of at least {spec.low:g}"
    return f"an integer from {spec.low:g} to {spec.high:g}"
