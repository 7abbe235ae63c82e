"""Record the lines of a project that each of its tests runs: one store into a byte before each statement.

A tracer costs two to four times the suite before Python 3.12; a probe is one store of a constant into an
array of bytes. It needs no name in the module: the array is among the constants of the code. Modules are
compiled with probes when they are imported from their source; the result is not written to disk.
"""

from __future__ import annotations

import ast
import os
import types
from importlib.machinery import SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

_HERE = "\0hits of counterlens\0"  # placeholder of the array until the code is compiled
_BODIES = ("body", "orelse", "finalbody")
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_INSTALLED = {"site-packages", ".venv"}


class LineProbes:
    """Probes in the modules below a folder.

    Args:
        omitted: Files without probes; `conftest.py` and installed packages never have any.
    """

    def __init__(self, folder: str, omitted: Collection[str]) -> None:
        self._folder = os.path.realpath(folder) + os.sep
        self._omitted = set(map(os.path.realpath, omitted))
        self._hits = bytearray()
        self._places: list[tuple[str, int]] = []

    def install(self) -> None:
        """Import modules with probes from now on."""
        plain = SourceFileLoader.get_code

        def get_code(loader: SourceFileLoader, name: str) -> types.CodeType | None:
            path = os.path.realpath(loader.get_filename(name))
            code = self.compiled(loader.get_data(path), path) if self._measures(path) else None
            return code or plain(loader, name)

        SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]

    def compiled(self, source: bytes, path: str) -> types.CodeType | None:
        """The code of a module, with a probe before each statement; None if it cannot be compiled."""
        try:
            tree = ast.parse(source, path)
            statements = list(_statements(tree))
            _insert(statements, len(self._hits))
            code = self._with_hits(compile(tree, path, "exec", dont_inherit=True))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None  # the import reports the error, if it is one there, too
        self._places += [(path, at.lineno) for _, _, at in statements]
        self._hits.extend(bytes(len(statements)))
        return code

    def clear(self) -> None:
        """Clear all hits."""
        self._hits[:] = bytes(len(self._hits))

    def run_since(self) -> Iterator[tuple[str, int]]:
        """File and line of each statement begun since the hits were cleared; some occur twice."""
        at = self._hits.find(1)
        while at >= 0:
            yield self._places[at]
            at = self._hits.find(1, at + 1)

    def _measures(self, path: str) -> bool:
        return (
            path.startswith(self._folder)
            and path not in self._omitted
            and os.path.basename(path) != "conftest.py"  # noqa: PTH119
            and _INSTALLED.isdisjoint(path.split(os.sep))  # noqa: PTH206
        )

    def _with_hits(self, code: types.CodeType) -> types.CodeType:
        constants = tuple(
            self._with_hits(constant)
            if isinstance(constant, types.CodeType)
            else self._hits
            if isinstance(constant, str) and constant == _HERE
            else constant
            for constant in code.co_consts
        )
        return code.replace(co_consts=constants)


def _statements(tree: ast.AST) -> Iterator[tuple[list[ast.stmt], int, ast.stmt]]:
    """The places for a probe: a list of statements, the position in it, and the probed statement."""
    for node in ast.walk(tree):
        for body in (getattr(node, name, None) for name in _BODIES):
            if not isinstance(body, list) or not body:
                continue
            first = 1 if isinstance(node, _WITH_DOCSTRING) and _is_docstring(body[0]) else 0
            if first == len(body):
                yield body, first, body[0]  # only a docstring, but it runs
            for i in range(first, len(body)):
                if not (isinstance(body[i], ast.ImportFrom) and body[i].module == "__future__"):
                    yield body, i, body[i]


def _insert(statements: list[tuple[list[ast.stmt], int, ast.stmt]], base: int) -> None:
    text = "\n".join(f"{_HERE!r}[{base + i}] = 1" for i in range(len(statements)))
    for (body, i, at), probe in reversed(list(zip(statements, ast.parse(text).body))):  # noqa: B905
        for part in ast.walk(probe):
            ast.copy_location(part, at)
        body.insert(i, probe)


def _is_docstring(node: Any) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
