"""The candidate's module, where the candidate itself is in another process."""

from __future__ import annotations

import builtins
import importlib.machinery
import types

from ..candidate import Candidate
from .proxies import CandidateConnection

globals()["__builtins__"] = dict(vars(builtins))
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from ..tamper_check import TamperCheck

_OWN = {"__class__", "__dict__", "__name__", "__file__", "__spec__", "__loader__", "__package__", "__path__",
        "__cached__", "__builtins__", "__doc__"}  # fmt: skip


class ProxyCandidate(Candidate):
    """Takes the place of the source file with a module of proxies.

    Args:
        task: The runner's task.
        tampering: As for any candidate; there is nothing that could break them.
        remote: The connection to the program.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source does not compile.
    """

    def __init__(self, task: dict[str, Any], tampering: TamperCheck, remote: CandidateConnection) -> None:
        self.remote, self._task = remote, task
        self._names: list[str] = []
        self._all: list[str] | None = None
        self._loaded = False
        super().__init__(task["path"], task["module"], task["source"], tampering)

    def is_running(self) -> bool:
        """Never here."""
        return False

    def namespace(self, module: ModuleType) -> dict[str, Any]:
        """What the module defines, as it is now."""
        return {name: getattr(module, name) for name in self._names if name not in _OWN}

    def _load_there(self) -> None:
        task = self._task
        try:
            wanted = [task[key] for key in ("path", "module", "source", "roots", "folder")]
            names, public = self.remote.ask("load", *wanted)
        except SystemExit as error:
            raise ImportError("the program calls sys.exit() while it is imported") from error
        self._names = [str(name) for name in names]
        self._all = [str(name) for name in public] if public is not None else None
        self._loaded = True

    def _fill(self, module: ModuleType) -> None:
        if not self._loaded:
            self._load_there()
        self._there = self.remote.ask("module")
        candidate = self

        class Module(types.ModuleType):
            def __getattr__(self, name: str) -> Any:
                if name in _OWN:
                    raise AttributeError(name)
                if name == "__all__":
                    public = [known for known in candidate._names if not known.startswith("_")]
                    return candidate._all if candidate._all is not None else public
                return candidate.remote.ask("get", candidate._there, name)

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
