"""What surrounds the calls: the program, imported in place of the original module, and the process.

The state of the process beside a call's arguments: what a call has changed of it, in words.
Modules of the standard library are inspected only if they were imported before the call. What can be set back
is set back, so that each call finds the same state.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _thread
import builtins
import importlib
import importlib.util
import linecache
import os
import select
import signal
import sys

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, ModuleType
    from typing import Any


_SIGNALS = [number for name in ("SIGHUP", "SIGINT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGPIPE", "SIGCHLD")
            if (number := getattr(signal, name, None)) is not None]  # fmt: skip
_DESCRIPTORS = range(3, 40)
_YIELDS = 200  # maximum times that the processor is left to a thread that is ending
PRIVATE = frozenset(
    ("changes the recursion limit", "changes the state of random", "changes the state of numpy.random")
)
"""Changes that are a private matter of a program: nobody relies on the state before them."""


class ReplacedModule:
    """Finder and loader of one module, whose source is given instead of read from its file.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source does not compile.
    """

    def __init__(self, source: str, path: str, module: str) -> None:
        self.path, self.module = path, module
        self.code: CodeType = compile(source, path, "exec", dont_inherit=True)
        linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)

    def load(self, roots: list[str]) -> ModuleType:
        """Import the module; later imports of its name get the same module.

        Args:
            roots: Folders for `sys.path`, in order.
        """
        for folder in reversed(roots):
            if folder not in sys.path:
                sys.path.insert(0, folder)
        sys.modules.pop(self.module, None)
        sys.meta_path.insert(0, self)
        return importlib.import_module(self.module)

    def find_spec(self, fullname: str, *_: Any) -> Any:
        """As a finder: the spec of this module only."""
        if fullname != self.module:
            return None
        loader: Any = self
        package = self._is_package
        spec = importlib.util.spec_from_loader(fullname, loader, origin=self.path, is_package=package)
        if spec is not None:
            spec.has_location = True
            if package:
                spec.submodule_search_locations = [os.path.dirname(self.path)]  # noqa: PTH120
        return spec

    @property
    def _is_package(self) -> bool:
        return os.path.basename(self.path) == "__init__.py"  # noqa: PTH119

    def create_module(self, _spec: Any) -> None:
        """As a loader: an ordinary module object."""

    def exec_module(self, module: Any) -> None:
        """As a loader: run the source."""
        exec(self.code, vars(module))  # noqa: S102 - that is the purpose of the sandbox


def resolve(module: ModuleType, qualname: str) -> Any:
    """Resolve a dotted name in a module.

    Raises:
        AttributeError: the module has no such name.
    """
    value: Any = module
    for name in qualname.split("."):
        value = getattr(value, name)
    return value


def environment() -> Any:
    """The variables of the environment, undecoded: this is read several times for each call."""
    return dict(getattr(os.environ, "_data", os.environ))


def set_environment(before: Any) -> None:
    """Set the variables back to what `environment` gave."""
    if environment() != before:
        os.environ.clear()
        os.environ.update({os.fsdecode(name): os.fsdecode(value) for name, value in before.items()})


def _folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return None


def _mask() -> int:
    mask = os.umask(0o77)
    os.umask(mask)
    return mask


_poll = select.poll()  # asks about all descriptors at once: an error for each that is closed would take long
for _number in _DESCRIPTORS:
    _poll.register(_number, 0)


def _descriptors() -> list[int]:
    closed = {number for number, event in _poll.poll(0) if event & select.POLLNVAL}
    return [number for number in _DESCRIPTORS if number not in closed]


def _handlers() -> list[Any]:
    return [_signal.getsignal(number) for number in _SIGNALS]  # without making enumerations of the answers


def _hooks() -> list[Any]:
    return [sys.excepthook, sys.displayhook, sys.stdin, sys.stdout, sys.stderr, sys.getprofile(), *sys.path]


def _decimal(module: Any) -> Any:
    context = module.getcontext()
    return context.prec, context.rounding, context.Emin, context.Emax, dict(context.traps)


def _logging(module: Any) -> Any:
    root = module.root
    return root.level, root.manager.disable, list(root.handlers), module.getLevelName(module.WARNING)


# What a change is called, how the state is read, and how it is set back if it can be.
_ALWAYS: list[tuple[str, Callable[[], Any], Callable[[Any], object] | None]] = [
    ("changes the environment", environment, set_environment),
    ("changes the current folder", _folder, os.chdir),
    ("changes the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    ("changes the file mode mask", _mask, os.umask),
    ("changes signal handlers", _handlers, None),
    ("changes sys", _hooks, None),
    ("changes builtins", lambda: dict(vars(builtins)), None),
    ("leaves a thread running", _thread._count, None),
    ("leaves files open", _descriptors, None),
]
_LOADED: list[tuple[str, str, Callable[[Any], Any], Callable[[Any, Any], object] | None]] = [
    ("random", "changes the state of random", lambda module: module.getstate(),
     lambda module, before: module.setstate(before)),
    ("numpy.random", "changes the state of numpy.random",
     lambda module: repr([part if part is None else str(part) for part in module.get_state()]), None),
    ("decimal", "changes the decimal context", _decimal, None),
    ("locale", "changes the locale", lambda module: module.setlocale(module.LC_ALL), None),
    ("warnings", "changes the warning filters", lambda module: list(module.filters), None),
    ("logging", "changes the logging set-up", _logging, None),
    ("gc", "switches the garbage collector", lambda module: module.isenabled(), None),
    ("socket", "changes the default timeout of sockets", lambda module: module.getdefaulttimeout(), None),
]  # fmt: skip


class CallSurroundings:
    """The state before a call, as `take` found it."""

    def __init__(self) -> None:
        self._before: dict[str, Any] = {}

    def take(self) -> None:
        """Record the state."""
        self._before = _state()

    def changes(self) -> list[str]:
        """What has changed since `take`; the state is set back where that is possible."""
        for _ in range(_YIELDS):  # a thread that was joined is counted a moment longer
            if _thread._count() <= self._before["leaves a thread running"]:
                break
            os.sched_yield()
        after = _state()
        names = []
        for name, before in self._before.items():
            if name in after and after[name] != before:
                names.append(name)
                _set_back(name, before)
        return names


def _state() -> dict[str, Any]:
    state = {name: read() for name, read, _ in _ALWAYS}
    for module, name, read_module, _ in _LOADED:
        loaded = sys.modules.get(module)
        if loaded is not None:
            try:
                state[name] = read_module(loaded)
            except Exception:  # noqa: S112 - a module of the program with that name
                continue
    return state


def _set_back(name: str, before: Any) -> None:
    try:
        for effect, _, write in _ALWAYS:
            if effect == name and write is not None:
                write(before)
        for module, effect, _, write_module in _LOADED:
            if effect == name and write_module is not None:
                write_module(sys.modules[module], before)
    except Exception:  # noqa: S110 - the state stays as it is
        pass
