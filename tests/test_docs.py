"""The names in documents exist: files, headings, and the commands and options of their examples."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from counterlens.cli.main import cli

ROOT = Path(__file__).parents[1]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / "client").glob("*.md"),
    ROOT / "examples" / "README.md",
]
GENERATED = ("media/",)  # pictures that mkdocs adds to docs/


def prose(text: str) -> str:
    """A page without its fenced blocks of code, where nothing is a link or a heading."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The headings of a page as a link names them."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.+)$", prose(page.read_text(encoding="utf-8")), re.MULTILINE):
        words = re.sub(r"[^\w\s-]", "", heading.replace("`", "").lower())
        found.add(re.sub(r"\s", "-", words.strip()))
    return found


def broken(page: Path, text: str) -> Iterator[str]:
    """The local links of a text that lead nowhere."""
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        if page.is_relative_to(ROOT / "docs") and path.removeprefix("../").startswith(GENERATED):
            continue
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


def examples(text: str) -> Iterator[list[str]]:
    """The commands of Counterlens in a page's blocks of code."""
    for line in re.findall(r"^(?: {4}|)\s*(?:\S+/)?(counterlens [^\n]*)$", code(text), re.MULTILINE):
        for command in re.split(r"\s&&\s", line.split("  #")[0].split(" # ")[0]):
            if command.startswith("counterlens "):
                yield shlex.split(command.split(" > ")[0].split(" >> ")[0])[1:]


def code(text: str) -> str:
    """The blocks of code of a page: fenced, or indented by four."""
    fenced = re.findall(r"^```(?:bash|yaml|sh|)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^ {4}[^\n]*$", prose(text), re.MULTILINE)
    return "\n".join([*fenced, *indented])


def unknown(arguments: list[str]) -> str | None:
    """The first part of a command that the command line does not know."""
    command: click.Command = cli
    rest = iter(arguments)
    for part in rest:
        options = {name: one for one in command.params for name in (*one.opts, *one.secondary_opts)}
        if part.startswith("-") and part != "-":
            option = options.get(part.split("=")[0])
            if option is None and part not in {"--help", "-h", "--help-all"}:
                return part
            if isinstance(option, click.Option) and not (option.is_flag or option.count or "=" in part):
                next(rest, None)
        elif isinstance(command, click.Group):
            found = command.get_command(click.Context(command), part)
            if found is None:
                return part
            command = found
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert list(broken(page, prose(page.read_text(encoding="utf-8")))) == []


def test_commands_and_options_of_examples_are_known() -> None:
    found = [
        f"{page.relative_to(ROOT)}: {name} in `counterlens {shlex.join(arguments)}`"
        for page in PAGES
        for arguments in examples(page.read_text(encoding="utf-8"))
        if (name := unknown(arguments))
    ]
    assert found == [], "\n".join(found)


def test_what_is_not_there_would_be_found() -> None:
    page = ROOT / "docs" / "index.md"
    assert list(broken(page, "[a](no.md), [b](probe.md#no), [c](#no), [d](probe.md#repair)")) == [
        "no.md",
        "probe.md#no",
        "#no",
    ]
    (quoted,) = examples("Text.\n\n    counterlens probe a.py --quux    # what\n")
    assert unknown(quoted) == "--quux"
    assert unknown(["quux"]) == "quux"
    assert unknown(["--config", "x.toml", "bench", "--out", "x"]) is None
