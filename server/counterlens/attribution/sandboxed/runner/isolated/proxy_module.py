"""The module of a candidate that is in another process."""

from __future__ import annotations

import builtins
import importlib
import importlib.machinery
import re
import sys
import types

from ..candidate import Candidate
from .flows import tests_frame

globals()["__builtins__"] = dict(vars(builtins))
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType
    from typing import Any

    from ..tamper_check import TamperCheck
    from .connection import CandidateConnection

_OWN = {"__class__", "__dict__", "__name__", "__file__", "__spec__", "__loader__", "__package__", "__path__",
        "__cached__", "__builtins__", "__doc__"}  # fmt: skip
_SIDE_EFFECTS = {"antigravity", "this"}  # modules whose import has side effects


class ProxyCandidate(Candidate):
    """Replaces the source file by a module of proxies.

    Args:
        task: The runner's task.
        tampering: As for any candidate; here nothing can change the checked functions.
        remote: The connection to the program.
    """

    def __init__(self, task: dict[str, Any], tampering: TamperCheck, remote: CandidateConnection) -> None:
        self.remote, self._task = remote, task
        self._names: list[str] = []
        self._all: list[str] | None = None
        self._loaded = False
        self._module: ModuleType | None = None
        super().__init__(task["path"], task["module"], task["source"], tampering)

    @property
    def flags(self) -> int:
        """The flags of its code, which is in the other process."""
        return self.remote.flags

    def _compiled(self) -> None:
        self.remote.compile(self.path, self.module, self.source)

    def is_running(self) -> bool:
        """Whether code of the candidate is among the callers: never in this process."""
        return False

    def namespace(self, module: ModuleType) -> dict[str, Any]:
        """The module's current definitions; modules of the standard library are those of the tests."""
        lent = {name: getattr(module, name) for name in self._names if name not in _OWN}
        for name, value in lent.items():
            known = _standard_module(value)
            if known is not None:
                lent[name] = known
        self._note_shadowing(
            {name for name, value in lent.items() if not isinstance(value, types.ModuleType)}
        )
        return lent

    def _note_shadowing(self, names: Iterable[str]) -> None:
        """Record that tests compare with names of the program that shadow builtins or a library's names."""
        shadowed = set(names).intersection({*vars(builtins), *getattr(sys, "stdlib_module_names", ())})
        if shadowed and not shadowed.isdisjoint(re.findall(r"\w+", _tests_of(self._task))):
            self.remote.own_operators = True

    def _without_imports(self, public: list[str]) -> list[str]:
        """The names of a star import, without names that would replace imports of the tests.

        The program's own module may be replaced: a package may have a function with the name of its module.
        """
        frame = tests_frame()
        if frame is None:
            return public
        own = {
            name: value
            for name, value in frame.f_globals.items()
            if not name.startswith("__") and value is not self._module
        }
        ours = frame.f_globals.get("__name__")
        imported = {
            name
            for name, value in own.items()
            if isinstance(value, types.ModuleType) or getattr(value, "__module__", ours) != ours
        }
        left = [name for name in public if name not in imported]
        if not own.keys().isdisjoint(left):
            self.remote.own_operators = True
        return left

    def _load_there(self) -> None:
        task = self._task
        try:
            if self.remote.is_known_invalid():
                raise SyntaxError(str(self.remote.invalid["message"]))
            names, public = self.remote.ask("load", task["roots"], task["folder"], task.get("kept", ""))
        except SystemExit as error:
            self.remote.missing.add("")
            raise ImportError("the program calls sys.exit() while it is imported") from error
        except Exception:
            self.remote.missing.add("")
            raise
        self._names = [str(name) for name in names]
        self._all = [str(name) for name in public] if public is not None else None
        self._loaded = True

    def _fill(self, module: ModuleType) -> None:
        if not self._loaded:
            self._load_there()
        self._there, self._module = self.remote.ask("module"), module
        candidate = self

        class Module(types.ModuleType):
            def __getattr__(self, name: str) -> Any:
                if name in _OWN:
                    raise AttributeError(name)
                if name == "__all__":
                    public = [known for known in candidate._names if not known.startswith("_")]
                    public = candidate._all if candidate._all is not None else public
                    public = candidate._without_imports(public)
                    candidate._note_shadowing(public)
                    return public
                try:
                    value = candidate.remote.ask("get", candidate._there, name)
                except AttributeError:
                    candidate.remote.missing.add(name)
                    raise
                candidate.remote.note_name(name, value)
                return value

            def __setattr__(self, name: str, value: Any) -> None:
                if name in _OWN:
                    super().__setattr__(name, value)
                else:
                    candidate.remote.ask("set", candidate._there, name, value)

            def __delattr__(self, name: str) -> None:
                candidate.remote.ask("delete", candidate._there, name)

            def __dir__(self) -> list[str]:
                return list(candidate._names)

        module.__class__ = Module

    def _replace_loading(self) -> None:
        loader: Any = importlib.machinery.SourceFileLoader
        get_code, get_data, exec_module = loader.get_code, loader.get_data, loader.exec_module
        nothing = compile("", self.path, "exec")

        def code(this: Any, fullname: str) -> Any:
            return nothing if self.is_at(this.get_filename(fullname)) else get_code(this, fullname)

        def data(this: Any, path: str) -> Any:
            return self.source.encode() if self.is_at(path) else get_data(this, path)

        def execute(this: Any, module: ModuleType) -> None:
            if self.is_at(this.path):
                self._fill(module)
            else:
                exec_module(this, module)

        loader.get_code, loader.get_data, loader.exec_module = code, data, execute


def _standard_module(value: Any) -> ModuleType | None:
    """The tests' own module of the standard library for one that the program has imported; else None."""
    if type(type(value)) is type or type(value).__name__ != "module":
        return None
    name = value.__name__
    if type(name) is not str or name in _SIDE_EFFECTS:
        return None
    if name.partition(".")[0] not in getattr(sys, "stdlib_module_names", ()):
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _tests_of(task: dict[str, Any]) -> str:
    """The text of the tests."""
    texts = [str(task.get("script", {}).get("source", "")), *task.get("examples", ())]
    for file in task.get("files", ()):
        with open(file["path"], encoding="utf-8", errors="replace") as tests:  # noqa: PTH123
            texts.append(tests.read())
    return "\n".join(texts)
