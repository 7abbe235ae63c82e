"""Imports run one way: a floor imports only from itself and the floors below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "server" / "counterlens"

FLOORS = [
    {"errors", "text", "counting", "progress", "translating", "__init__"},
    {"syntax"},
    {"models"},
    {"dependence"},
    {"mutations"},
    {"confidence"},
    {"sandbox"},
    {"attribution"},
    {"metrics"},
    {"calibration"},
    {"datasets"},
    {"probes"},
    {"evaluation"},
    {"reports"},
    {"lsp", "cli", "mcp"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(FLOORS) for name in names}


def imported(path: Path) -> Iterator[str]:
    """The floors of counterlens that a file imports from."""
    for node in ast.walk(ast.parse(path.read_text())):
        modules: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
            if node.module == "counterlens":
                modules = [f"counterlens.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for module in modules:
            head, _, rest = module.partition(".")
            if head == "counterlens":
                floor = rest.partition(".")[0]
                yield floor if floor in LEVEL else "__init__"  # `from counterlens import __version__`


def floor_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def test_every_file_is_on_a_floor() -> None:
    assert {floor_of(path) for path in PACKAGE.rglob("*.py")} <= set(LEVEL)


def test_no_floor_imports_from_one_above_it() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in PACKAGE.rglob("*.py")
        for name in imported(path)
        if LEVEL[name] > LEVEL[floor_of(path)]
        or (LEVEL[name] == LEVEL[floor_of(path)] and name != floor_of(path) and name in {"lsp", "cli", "mcp"})
    ]
    # the command line starts the other two faces, and that is all it knows of them
    assert sorted(set(wrong)) == ["cli/mcp.py imports mcp", "cli/serve.py imports lsp"]


def test_only_the_child_process_imports_llama_cpp() -> None:
    users = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "import llama_cpp" in path.read_text()
    }
    inside = ("chat_template", "embedding", "grammar", "native", "sequences", "worker")
    assert users == {f"models/llama/{name}.py" for name in inside}
