"""Generated pages of the site: commands, settings, probes, records and metrics.

A hook of mkdocs: `mkdocs build` loads it. The pages are not stored in the repository.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from counterlens.cli.main import cli
from counterlens.probes.options import OptionSpec, declared
from counterlens.probes.record import SCHEMA, schema
from counterlens.probes.registry import PROBES

ROOT = Path(__file__).parents[2]
_MOST_CHOICES = 6
METRICS = ROOT / "server" / "counterlens" / "metrics"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and the pictures."""
    manifest = json.loads((ROOT / "client" / "package.json").read_text(encoding="utf-8"))
    pages = {
        "command-line": command_line(),
        "editor-commands": editor_commands(manifest["contributes"]),
        "settings": settings(manifest["contributes"]),
        "probes": probes(),
        "records": records(),
        "metrics": metrics(),
    }
    for name, text in pages.items():
        content = f"{text}\n\nTerms are in the [glossary](../glossary.md).\n"
        files.append(File.generated(config, f"reference/{name}.md", content=content))
    for picture in sorted((ROOT / "media").iterdir()):
        if picture.suffix in {".png", ".svg", ".gif"}:
            files.append(File.generated(config, f"media/{picture.name}", abs_src_path=str(picture)))
    return files


def command_line() -> str:
    """All subcommands with their options, from the definitions of the command line."""
    return "# Command line\n\n" + "\n".join(_commands(cli, "counterlens", 2))


def _commands(command: click.Command, path: str, level: int) -> Iterator[str]:
    context = click.Context(command, info_name=path)
    if path != "counterlens":
        yield f"{'#' * level} {path}\n"
        yield f"    {path} {' '.join(command.collect_usage_pieces(context))}\n"
        yield f"{_prose(command.help or '')}\n"
        rows = [row for row in map(_option, command.get_params(context)) if row]
        if rows:
            yield "| option | | default |\n|:--|:--|:--|"
            yield "\n".join(rows) + "\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            each = command.get_command(context, name)
            assert each is not None
            yield from _commands(each, f"{path} {name}", level if path == "counterlens" else level + 1)


def _option(parameter: click.Parameter) -> str | None:
    if not isinstance(parameter, click.Option) or parameter.hidden:
        return None
    shown = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    kind = "" if parameter.is_flag else f" {_cell(parameter.make_metavar(click.Context(cli)))}"
    default = parameter.default if parameter.show_default else None
    return f"| {shown}{kind} | {_cell(parameter.help or '')} | {'' if default is None else f'`{default}`'} |"


def editor_commands(contributes: dict[str, Any]) -> str:
    """All commands of the extension, with their keys."""
    keys = {one["command"]: one for one in contributes.get("keybindings", [])}
    rows = []
    for one in contributes["commands"]:
        key = keys.get(one["command"])
        shown = f"`{key['key']}`, on a Mac `{key.get('mac', key['key'])}`" if key else ""
        rows.append(f"| {one['category']}: {one['title']} | {shown} | `{one['command']}` |")
    table = "\n".join(rows)
    return f"# VS Code commands\n\n| command | key | id |\n|:--|:--|:--|\n{table}\n"


def settings(contributes: dict[str, Any]) -> str:
    """All settings of the extension, with their defaults and allowed values."""
    configuration = contributes["configuration"]
    groups = configuration if isinstance(configuration, list) else [configuration]
    parts = ["# Settings"]
    for group in groups:
        if len(groups) > 1:
            parts.append(f"## {group['title']}")
        for name, one in group["properties"].items():
            kind = one.get("type", "any")
            allowed = "".join(
                f"\n- `{json.dumps(value)}`: {about}"
                for value, about in zip(one.get("enum", []), one.get("enumDescriptions", []), strict=False)
            )
            about = one.get("markdownDescription") or one.get("description", "")
            about = re.sub(r"`#([\w.]+)#`", r"`\1`", about)
            default = json.dumps(one.get("default"))
            parts.append(f"### {name}\n\n{about}\n{allowed}\n\nType `{kind}`, default `{default}`.")
    return "\n\n".join(parts) + "\n"


def probes() -> str:
    """All probes and their options, from their declarations."""
    rows = "\n".join(
        f"| `{probe.id}` | {probe.title} | {probe.source} | {', '.join(sorted(probe.needs))} |"
        for probe in PROBES.values()
    )
    options = "\n".join(
        f"| `{spec.flag}`{_bounds(spec)} | {_cell(spec.help)} | {_default(spec)} | {_taken_by(takers)} |"
        for spec, takers in declared(PROBES.values()).values()
    )
    return (
        "# Probes\n\n`counterlens probe PATH --task NAME`, or in VS Code *Counterlens: Probe Function…*.\n\n"
        f"| name | question | source | needs |\n|:--|:--|:--|:--|\n{rows}\n\n"
        "## Options\n\nAn option that a probe does not take is refused. With `--task all` or several tasks "
        "in one run, it applies to the tasks that take it, and the plan of the run names these.\n\n"
        f"| option | | default | taken by |\n|:--|:--|:--|:--|\n{options}\n"
    )


def _bounds(spec: OptionSpec) -> str:
    if spec.choices:
        return f" {_cell(' | '.join(spec.choices))}" if len(spec.choices) < _MOST_CHOICES else ""
    if spec.low is None or spec.high is None:
        return f" {spec.metavar}" if spec.metavar else ""
    return f" {spec.low:g} to {spec.high:g}"


def _default(spec: OptionSpec) -> str:
    return "" if spec.default in (None, ()) else f"`{spec.default}`"


def _taken_by(takers: list[str]) -> str:
    return "all" if len(takers) == len(PROBES) else ", ".join(takers)


def records() -> str:
    """The schema of the records of all probes, as JSON Schema."""
    kinds = {name: probe.record for name, probe in PROBES.items()}
    document = json.dumps(schema(kinds), indent=2)
    return (
        "# Records\n\nA record is the result of one probe on one function with one model. It is the same in "
        "`--json`, in a run's store, in its Parquet files, in the editor and for an assistant. The record "
        "of a function that could not be probed has the `outcome` `left out`, a reason, and no results.\n\n"
        f"Version {SCHEMA} of the schema, as JSON Schema; its top-level properties are the probes:\n\n"
        f"```json\n{document}\n```\n"
    )


def metrics() -> str:
    """The docstrings of the modules of `counterlens.metrics`."""
    parts = [
        "# Metrics",
        "These are the definitions in `counterlens.metrics`. Each function can be called from a program.",
    ]
    for path in sorted(METRICS.glob("*.py")):
        if path.stem.startswith("_"):
            continue
        module = ast.parse(path.read_text(encoding="utf-8"))
        parts.append(f"## {path.stem.replace('_', ' ')}")
        parts.append(ast.get_docstring(module) or "")
        for node in module.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                parts += _definition(node)
    return "\n\n".join(parts) + "\n"


def _definition(node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    about = ast.get_docstring(node)
    if about is None:
        return
    yield f"### {node.name}"
    if isinstance(node, ast.FunctionDef):
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        yield f"```python\n{node.name}({ast.unparse(node.args)}){returns}\n```"
    yield _sections(about)


def _sections(docstring: str) -> str:
    """Convert a Google-style docstring to Markdown, with its sections as lists."""
    lines, inside = [], False
    for line in docstring.splitlines():
        heading = re.fullmatch(r"(Args|Attributes|Returns|Raises|Yields|Example|Examples):", line)
        if heading:
            lines += ["", f"*{heading[1]}*", ""]
            inside = True
        elif inside and re.match(r"    \S", line):
            lines.append(f"- {line.strip()}")
        elif inside and line.startswith("     "):
            lines.append(f"  {line.strip()}")
        else:
            inside = inside and not line.strip()
            lines.append(line)
    return "\n".join(lines)


def _prose(text: str) -> str:
    return re.sub(r"[ \t]*\n[ \t]*(?!\n)", " ", text.replace("\b", "")).strip()


def _cell(text: str) -> str:
    return " ".join(text.replace("|", " | ").split()).replace("|", "\\|").replace("<", "&lt;")
