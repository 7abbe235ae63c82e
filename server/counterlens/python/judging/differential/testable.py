"""Decide from the source whether a function can be judged on inputs, or give the reason.

Follows the names of functions and classes of the same file. Side effects behind other imports are detected
when the original runs: twice, in two processes, with file, network and process access recorded.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_CALLS = {
    "open": "opens files",
    "input": "reads its standard input",
    "breakpoint": "starts a debugger",
    "exec": "runs code passed to it",
    "eval": "runs code passed to it",
    "exit": "ends the process",
    "quit": "ends the process",
}
_MODULES = {
    "random": "depends on random numbers", "secrets": "depends on random numbers",
    "uuid": "depends on random numbers", "time": "depends on the time",
    "socket": "uses the network", "requests": "uses the network", "httpx": "uses the network",
    "aiohttp": "uses the network", "urllib.request": "uses the network", "http": "uses the network",
    "smtplib": "uses the network", "ftplib": "uses the network", "ssl": "uses the network",
    "subprocess": "starts processes", "multiprocessing": "starts processes",
    "threading": "starts threads", "concurrent": "starts threads", "asyncio": "is asynchronous",
    "shutil": "changes files", "tempfile": "changes files", "glob": "reads the file system",
    "sqlite3": "uses a database", "signal": "handles signals", "ctypes": "calls native code",
    "tkinter": "opens windows",
}  # fmt: skip
_HARMLESS = {"random.Random", "time.struct_time", "http.HTTPStatus", "uuid.UUID", "uuid.uuid3", "uuid.uuid5"}
_ATTRIBUTES = {
    "datetime.now", "datetime.today", "datetime.utcnow", "date.today",
    "np.random", "numpy.random", "torch.rand", "torch.randn",
}  # fmt: skip
_FILES = {"read_text", "write_text", "read_bytes", "write_bytes", "unlink", "mkdir", "iterdir", "rglob"}
_OS = {"path", "sep", "linesep", "fspath", "PathLike", "strerror", "name", "altsep", "pathsep", "curdir"}


def find_node(module: ast.Module, qualname: str) -> tuple[_Function | None, list[ast.AST]]:
    """A function by its dotted path, and the definitions that enclose it, outermost first."""
    around: list[ast.AST] = []
    found: _Function | ast.ClassDef | ast.Module = module
    for name in qualname.split("."):
        if found is not module:
            around.append(found)
        named = [definition for definition in _definitions(found) if definition.name == name]
        if not named:
            return None, []
        found = named[-1]  # the last definition counts
    return (found, around) if isinstance(found, _Function) else (None, [])


def _definitions(block: ast.AST) -> Iterator[_Function | ast.ClassDef]:
    """The functions and classes of a block itself, including those under conditions, in textual order."""
    for child in ast.iter_child_nodes(block):
        if isinstance(child, _Function | ast.ClassDef):
            yield child
        else:
            yield from _definitions(child)


def why_not(module: ast.Module, qualname: str) -> str | None:
    """Why a function cannot be judged by its behaviour on inputs; None if it can."""
    node, around = find_node(module, qualname)
    if node is None:
        return "it is not in the file"
    if isinstance(node, ast.AsyncFunctionDef):
        return "it is asynchronous"
    if any(not isinstance(outer, ast.ClassDef) for outer in around):
        return "it is defined inside another function"
    if len(around) > 1:
        return "its class is defined inside another class"
    if any(
        _decorator(decorator) in {"property", "setter", "fixture", "command"}
        for decorator in node.decorator_list
    ):
        return "it is not called like a function"
    names = _imports(module)
    for reached in _reached(module, node, around):
        reason = _reason(reached, names)
        if reason:
            where = "" if reached is node else f", through {getattr(reached, 'name', 'a class')}"
            return f"it {reason}{where}"
    return None


def _decorator(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _reached(module: ast.Module, start: ast.AST, around: list[ast.AST]) -> Iterator[ast.AST]:
    """A function, and the functions and classes of its file that it names, directly or indirectly."""
    known: dict[str, ast.AST] = {
        node.name: node for node in module.body if isinstance(node, _Function | ast.ClassDef)
    }
    methods: dict[str, ast.AST] = {
        node.name: node
        for owner in around
        if isinstance(owner, ast.ClassDef)
        for node in owner.body
        if isinstance(node, _Function)
    }
    waiting, done = [start, *(method for name, method in methods.items() if name == "__init__")], set()
    while waiting:
        node = waiting.pop(0)
        if id(node) in done:
            continue
        done.add(id(node))
        yield node
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id in known:
                waiting.append(known[inner.id])
            elif isinstance(inner, ast.Attribute) and inner.attr in methods:
                waiting.append(methods[inner.attr])


def _imports(module: ast.Module) -> dict[str, str]:
    """Imported name to dotted name."""
    names: dict[str, str] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _reason(node: ast.AST, names: dict[str, str]) -> str | None:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Global):
            return f"changes the global variable {inner.names[0]}"
        called = inner.func if isinstance(inner, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in _CALLS and called.id not in names:
            return _CALLS[called.id]
        if isinstance(inner, ast.Attribute | ast.Name):
            found = _meaning(inner, names)
            reason = _of_module(found) if found else None
            if reason:
                return reason
        if isinstance(inner, ast.Attribute) and inner.attr in _FILES:
            return "reads or writes files"
    return None


def _meaning(node: ast.expr, names: dict[str, str]) -> str | None:
    """The dotted name, such as `os.path.join`, of a name or attribute that refers to an import."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return None
    return ".".join([names[node.id], *parts])


def _of_module(name: str) -> str | None:
    if name in _HARMLESS or any(name == harmless.partition(".")[0] for harmless in _HARMLESS):
        return None  # the module alone is part of an attribute, which is checked separately
    for module, reason in _MODULES.items():
        if name == module or name.startswith(module + "."):
            return reason
    if name.startswith("os.") and name.split(".")[1] not in _OS:
        return "queries the operating system"
    if name.startswith("sys.") and name.split(".")[1] in {"stdin", "argv", "exit"}:
        return "reads its standard input or ends the process"
    if any(name.endswith(attribute) or f"{attribute}." in name for attribute in _ATTRIBUTES):
        return "depends on random numbers" if "rand" in name else "depends on the time"
    return None
