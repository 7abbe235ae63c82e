"""`counterlens init`: write a settings file for a repository."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from textwrap import TextWrapper

import click
import msgspec

from counterlens.cli.progress_lines import steps
from counterlens.cli.report_output import write_page
from counterlens.cli.saying import say
from counterlens.counting import plural
from counterlens.datasets.repository import Repository
from counterlens.errors import DataError
from counterlens.evaluation.settings import RunOptions
from counterlens.evaluation.settings_file import NAME, keys
from counterlens.probes.options import OptionSpec, specs
from counterlens.regular_file import read_text

_RUNNERS = (
    (
        "pytest",
        ("pytest.ini", "conftest.py", "tests/conftest.py", "test/conftest.py"),
        r"\[tool\.pytest|\[pytest\]|\[tool:pytest\]",
    ),
    ("tox", ("tox.ini",), r"\[tool\.tox"),
    ("nox", ("noxfile.py",), r"\bnox\b"),
)
_NAMED = ("pyproject.toml", "setup.cfg", "tox.ini")
_AS_COMMENT = TextWrapper(
    width=100, initial_indent="# ", subsequent_indent="# ", break_long_words=False, break_on_hyphens=False
)


@click.command()
@click.argument("folder", default=".", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--force", is_flag=True, help="Replace an existing file.")
def init(folder: Path, force: bool) -> None:
    """Write a counterlens.toml for a repository, with every setting explained.

    No code of the repository is run. The file sets defaults for bench, changed, probe and the editor; options
    of the command line and settings of the editor override it.
    """
    path = folder / NAME
    if path.exists() and not force:
        raise DataError(f"{path} is there already", "--force replaces it")
    with steps("reading the repository", total_known=False):
        facts = RepositoryFacts.of(folder)
    write_page(path, starter(facts))
    say(f"{path}: {plural(sum(facts.functions.values()), 'function')} with tests found")
    say("next: counterlens bench --out runs/first --plan")


@dataclass(frozen=True, slots=True)
class RepositoryFacts:
    """Facts about a repository, found without running its code.

    Attributes:
        files: Its Python files, except tests.
        functions: Functions that a test mentions, or that have examples, by the first folder of their file.
        runners: The probable test runner.
        folders: The folders with such functions; empty if files are in the folder itself.
    """

    files: int
    functions: dict[str, int]
    runners: tuple[str, ...]
    folders: tuple[str, ...]

    @classmethod
    def of(cls, folder: Path) -> RepositoryFacts:
        """Inspect a folder.

        Raises:
            DataError: it has no Python files except tests.
        """
        loader = Repository()
        files = loader.files(folder)
        counts: dict[str, int] = {}
        for problem in loader.problems(folder):
            parts = PurePosixPath(problem.id.partition("::")[0]).parts
            depth = 2 if parts[0] == "src" and len(parts) > 2 else 1
            name = "/".join(parts[:depth]) if len(parts) > depth else "."
            counts[name] = counts.get(name, 0) + 1
        folders = () if "." in counts else tuple(sorted(counts))
        return cls(len(files), counts, tuple(_runners(folder)), folders)


def _runners(folder: Path) -> Iterator[str]:
    said = "".join(_text(folder / name) for name in _NAMED)
    for name, files, pattern in _RUNNERS:
        if any((folder / file).is_file() for file in files) or re.search(pattern, said):
            yield name


def _text(path: Path) -> str:
    try:
        return read_text(path, errors="replace")
    except OSError:
        return ""


def starter(facts: RepositoryFacts) -> str:
    """The text of a settings file: detected settings are set, all others are comments."""
    own = {name.replace("_", "-") for name in specs(RunOptions)}
    lines = [*_head(facts), ""]
    chosen: dict[str, object] = {"paths": list(facts.folders)} if facts.folders else {}
    lines += _keys({name: spec for name, spec in keys().items() if name in own}, chosen)
    lines += ["# Options of probes; each applies to the tasks that have it.", ""]
    lines += _keys({name: spec for name, spec in keys().items() if name not in own}, {})
    return "\n".join(lines).rstrip() + "\n"


def _head(facts: RepositoryFacts) -> Iterator[str]:
    yield "# Counterlens: this repository's settings for its runs (counterlens bench, changed and probe)."
    yield "# The command line takes precedence. Commented lines show the defaults."
    yield "#"
    total = sum(facts.functions.values())
    summary = f"{plural(total, 'function')} that a test mentions or that have examples"
    yield f"# Found: {plural(facts.files, 'Python file')} besides tests, {summary}."
    if len(facts.functions) > 1:
        by = ", ".join(f"{name} {count}" for name, count in sorted(facts.functions.items()))
        yield f"# By folder: {by}."
    runner = ", ".join(facts.runners) or "no configured test runner; pytest and unittest are supported"
    yield f"# Tests: {runner}."


def _keys(declarations: dict[str, OptionSpec], chosen: dict[str, object]) -> Iterator[str]:
    for key, spec in declarations.items():
        comment = spec.help + (f" One of {', '.join(spec.choices)}." if spec.choices else "")
        yield from _AS_COMMENT.wrap(" ".join(comment.split())) or ["#"]
        if key in chosen:
            yield f"{key} = {_toml(chosen[key])}"
        elif spec.default is None:
            yield f"# {key} ="
        else:
            yield f"# {key} = {_toml(spec.default)}"
        yield ""


def _toml(value: object) -> str:
    """A value as TOML, which is the same as JSON for these types."""
    plain = (
        "-".join(map(str, value))
        if isinstance(value, tuple) and value and not isinstance(value[0], str)
        else value
    )
    return msgspec.json.encode(plain).decode()
