"""Draw random sentences from everything that users read, for review by an editor.

    python -m tests.sentences --count 50 --seed 7     # a sample, each with its place
    python -m tests.sentences --all                   # everything

The population: documents, settings and titles of the manifest, messages of the extension, pages of the
walkthrough, and the literals of the server that read like sentences (messages, errors, refusals, hovers,
reports, help). Docstrings count where they are help: of commands in `cli/`, and of the classes of mutations
and kinds of doubt.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
HELP = {"cli/": ast.FunctionDef, "mutations/": ast.ClassDef, "doubt/kinds/": ast.ClassDef}
"""Folders of the server, and of what in them the docstrings are help."""

_WORDS = re.compile(r"[A-Za-z]{2,}[,:;]? [a-z]{1,}\b.*[ ,]", re.DOTALL)
_ENDS = re.compile(r"(?<=[.!?:])\s+(?=[A-Z*`])")
_CODE = re.compile(r"^```[\s\S]*?^```|^(?: {4}|\t).*$|<!--[\s\S]*?-->", re.MULTILINE)


_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')
_VALUE = re.compile(r"\$\{[^{}]*\}")
_PROGRAM = re.compile(r"\n {2,}|^\W*<\w|[;{}]\s*\}|^class \w+ \{|^void |^int ")


def reads_like_a_sentence(text: str) -> bool:
    """Whether a text has at least four words in a row, so that there is something to edit."""
    return bool(_WORDS.search(text)) and len(re.findall(r"[A-Za-z]{2,}", text)) >= 4


def sentences_in(text: str) -> Iterator[str]:
    """The sentences of a text, each in one line."""
    for sentence in _ENDS.split(" ".join(text.split())):
        if reads_like_a_sentence(sentence):
            yield sentence


def of_page(path: Path) -> Iterator[str]:
    """The sentences of a Markdown page: paragraphs, items of lists and cells of tables, without code."""
    for block in re.split(r"\n\s*\n|\n(?=[-|#]|\d+\. )", _CODE.sub("", path.read_text(encoding="utf-8"))):
        for cell in block.split(" | ") if block.startswith("|") else [block]:
            yield from sentences_in(cell.strip("|#- \n"))


def of_module(path: Path) -> Iterator[str]:
    """The sentences of a Python module: its literals, and its docstrings if they are help."""
    place = str(path.relative_to(ROOT / "server" / "counterlens"))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    within = {
        part
        for node in nodes
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    bare = {node.value for node in nodes if isinstance(node, ast.Expr)}
    helped = tuple(kind for folder, kind in HELP.items() if place.startswith(folder))
    documented = {
        ast.get_docstring(node)
        for node in nodes
        if isinstance(node, helped) and not node.name.startswith("_")
    }
    for node in nodes:
        if node in bare or node in within:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values]
            yield from sentences_in("".join(parts))
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and not _PROGRAM.search(node.value)
        ):
            yield from sentences_in(node.value)
    for text in sorted(text for text in documented if text):
        yield from sentences_in(text.split("\n\n")[0])


def of_script(path: Path) -> Iterator[str]:
    """The sentences of a TypeScript module: its literals."""
    for plain, template in _LITERAL.findall(path.read_text(encoding="utf-8")):
        yield from sentences_in(_VALUE.sub("{}", plain or template))


def of_json(value: object) -> Iterator[str]:
    """The sentences of the texts in a JSON value."""
    if isinstance(value, str):
        yield from sentences_in(value)
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from of_json(one)


def everything() -> list[tuple[str, str]]:
    """All sentences, each with its file, every one once."""
    server = ROOT / "server" / "counterlens"
    client = ROOT / "client"
    found: dict[str, str] = {}
    pages = [ROOT / "README.md", client / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages += sorted((client / "walkthrough").glob("*.md"))
    for page in pages:
        found |= dict.fromkeys(of_page(page), str(page.relative_to(ROOT)))
    for module in sorted(server.rglob("*.py")):
        found |= dict.fromkeys(of_module(module), str(module.relative_to(ROOT)))
    manifest = json.loads((client / "package.json").read_text(encoding="utf-8"))
    found |= dict.fromkeys(of_json([manifest["description"], manifest["contributes"]]), "client/package.json")
    for module in sorted((client / "src").rglob("*.ts")):
        found |= dict.fromkeys(of_script(module), str(module.relative_to(ROOT)))
    return [(place, sentence) for sentence, place in found.items()]


def main() -> None:
    """Print a sample, or everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=50, help="sentences to draw")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the draw")
    parser.add_argument("--all", action="store_true", help="print everything, by file")
    options = parser.parse_args()
    sentences = everything()
    drawn = sentences if options.all else random.Random(options.seed).sample(sentences, options.count)  # noqa: S311
    for place, sentence in drawn:
        print(f"{place}: {sentence}")


if __name__ == "__main__":
    main()
