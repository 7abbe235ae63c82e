"""The judged program, which replaces a file on disk for every way of importing it."""

from __future__ import annotations

import _imp
import builtins
import importlib
import importlib.machinery
import importlib.util
import linecache
import os
import sys

from ..imported_ahead import modules_from

globals()["__builtins__"] = dict(vars(builtins))  # the candidate may replace the others
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType, ModuleType
    from typing import Any

    from ..call_log import CallLog
    from .tamper_check import TamperCheck

INVALID = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What is raised for a source that does not compile."""


def invalid(error: BaseException) -> dict[str, Any]:
    """The report on a source that does not compile."""
    reason = getattr(error, "msg", None) or str(error) or type(error).__name__
    return {"kind": "invalid", "line": getattr(error, "lineno", None), "message": reason}


def lent_names(candidate: Candidate) -> dict[str, Any]:
    """The names of the candidate for tests that use them without an import."""
    return {name: value for name, value in vars(candidate.load()).items() if not name.startswith("__")}


class Candidate:
    """Replaces a source file.

    `SourceFileLoader` loads source that was found through `sys.path`, by a pytest plug-in, or by a path given
    to importlib, so the file's text is replaced there. The class is also a finder for the module's name, in
    case the folder cannot be listed.

    Attributes:
        code: The compiled source.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source does not compile.
    """

    def __init__(self, path: str, module: str, source: str, tampering: TamperCheck) -> None:
        self.path, self.module, self.source, self.tampering = path, module, source, tampering
        self.real = os.path.realpath(path)
        self.name = self.real.rpartition(os.sep)[2]
        self.log: CallLog | None = None
        self.code: CodeType = compile(source, path, "exec", dont_inherit=True)
        # Tracebacks and `inspect.getsource` show the candidate, not the file.
        linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
        self._replace_loading()
        self._forget_loaded()

    def is_at(self, path: str) -> bool:
        """Whether a path is the replaced file."""
        return path.endswith(self.name) and os.path.realpath(path) == self.real

    def is_running(self) -> bool:
        """Whether code of the candidate is among the callers."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.path:
                return True
            frame = frame.f_back
        return False

    def load(self) -> ModuleType:
        """Import the candidate under its module name."""
        sys.meta_path.insert(0, self)
        return importlib.import_module(self.module)

    def find_spec(self, fullname: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        """As a finder: the candidate by its name."""
        return (
            importlib.util.spec_from_file_location(fullname, self.path) if fullname == self.module else None
        )

    def _forget_loaded(self) -> None:
        """Remove the file's module if this interpreter has loaded it, and a library's module of its name.

        Modules that every interpreter has when it starts stay: no program can replace them. So does this
        package, which is hidden later.
        """
        names = [name for name, file in modules_from(self.name) if self.is_at(file)]
        top = self.module.partition(".")[0]
        loaded = getattr(sys.modules.get(top), "__file__", None)
        stays = _imp.is_frozen(top) or top == __name__.partition(".")[0]
        if loaded and not stays and not self._is_from_same_root(loaded):
            names.append(top)
        for name in names:
            for other in list(sys.modules):
                if other == name or other.startswith(name + "."):
                    sys.modules.pop(other, None)

    def _is_from_same_root(self, file: str) -> bool:
        """Whether a file is a top-level module, or a package, in the folder that ours is imported from."""
        depth = self.module.count(".") + (self.name == "__init__.py")
        root = self.real.rsplit(os.sep, depth + 1)[0]
        top = os.path.join(root, self.module.partition(".")[0])  # noqa: PTH118
        return os.path.dirname(os.path.realpath(file)) in {root, top}  # noqa: PTH120

    def _replace_loading(self) -> None:
        loader: Any = importlib.machinery.SourceFileLoader
        get_code, get_data, exec_module = loader.get_code, loader.get_data, loader.exec_module

        def candidate_code(this: Any, fullname: str) -> Any:
            return self.code if self.is_at(this.get_filename(fullname)) else get_code(this, fullname)

        def candidate_data(this: Any, path: str) -> Any:
            return self.source.encode() if self.is_at(path) else get_data(this, path)

        def candidate_exec(this: Any, module: ModuleType) -> None:
            if not self.is_at(this.path):
                exec_module(this, module)
                return
            before = self.tampering.take()
            try:
                exec_module(this, module)
            except SystemExit as error:
                why = "the program calls sys.exit() while it is imported"
                raise ImportError(why, name=self.module) from error
            finally:
                self.tampering.compare(before)
            if self.log is not None:
                self.log.install(module)

        loader.get_code, loader.get_data, loader.exec_module = candidate_code, candidate_data, candidate_exec
