"""A program, imported in place of the original module."""

from __future__ import annotations

import importlib
import importlib.util
import linecache
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, ModuleType
    from typing import Any


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
