"""A project's files, compiled once in its interpreter for all programs that are judged there.

If a project's tests never ran before, each program would compile the package, and pytest would rewrite the
assertions of its tests, which takes longer than most tests. The sandbox compiles them once, in a process that
runs no code of the project; the compiled code is stored in the user's cache, in a folder that programs can
read but not write.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import logging
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from threading import Event, Lock

import platformdirs

from counterlens.atomic_file import make_folder, replace_file
from counterlens.judging.base import Setting
from counterlens.python.judging.layout import LARGEST, Layout
from counterlens.python.judging.recording import run

LOG = logging.getLogger("counterlens")
_NAME = re.compile(r"([0-9a-f]{32})-\d{1,24}-\d{1,12}")
_MOST_BYTES = 4 << 20  # maximum bytes of the sources of one package
_OUTPUT = 64 << 20
_LOCK = Lock()
_done: set[tuple[Path, Path, int]] = set()


class CompiledProject:
    """The compiled files of the project that a file belongs to.

    Args:
        place: The file; it is compiled again for each program.
        setting: The sandbox and interpreter.
        parent: The folder of such folders; by default in the user's cache.
    """

    def __init__(self, place: Layout, setting: Setting, parent: Path | None = None) -> None:
        self._place, self._setting = place, setting
        parent = parent or Path(platformdirs.user_cache_dir("counterlens")) / "compiled"
        key = f"{place.project}\0{setting.python}".encode("utf-8", "surrogateescape")
        self.folder = parent / hashlib.sha256(key).hexdigest()[:16]

    @cached_property
    def usable(self) -> bool:
        """Whether there is a folder, and programs cannot write code there that others would run."""
        try:
            make_folder(self.folder)  # a sandbox shows what exists when it starts
        except OSError as error:
            LOG.info("compiled files cannot be stored: %s", error)
            return False
        return dict(self._setting.sandbox.guarantees).get("writes", False)

    @property
    def readable(self) -> tuple[Path, ...]:
        """The folders that programs may read: the same for the whole project, so that they share a zygote."""
        return (*self._place.readable, self.folder) if self.usable else self._place.readable

    def add(self, tests: Sequence[Path], preload: tuple[str, ...], cancel: Event | None) -> None:
        """Compile the package of the file, and some test files with their `conftest.py`, if not yet compiled.

        Args:
            preload: As in `Job`.

        Raises:
            Cancelled: `cancel` was set.
            SandboxError: the sandbox could not be set up.
        """
        with _LOCK:
            wanted = list(dict.fromkeys([*tests, *self._configuration_files(tests)]))
            rewritten, modules = self._new(wanted), self._new(self._modules(wanted))
            if not rewritten and not modules:
                return
            task = {
                "tests": [str(path) for path in rewritten],
                "modules": [str(path) for path in modules],
                "known": os.listdir(self.folder),  # noqa: PTH208
            }
            limits = replace(self._setting.limits, output_bytes=_OUTPUT)
            setting = replace(self._setting, limits=limits)
            outcome = run(setting, "compiling", task, self.readable, cancel, preload=preload)
            for line in outcome.result.decode("ascii", "replace").split("\n")[:-1]:
                word, _, text = line.partition(" ")
                if word == "code":
                    self._keep(text)
            _done.update(self._key(path) for path in (*rewritten, *modules))

    def _new(self, paths: Iterable[Path]) -> list[Path]:
        return [path for path in paths if path.is_file() and self._key(path) not in _done]

    def _key(self, path: Path) -> tuple[Path, Path, int]:
        return self.folder, path, path.stat().st_mtime_ns

    def _configuration_files(self, tests: Iterable[Path]) -> list[Path]:
        """The files that configure the tests: `conftest.py` in their folders, up to the project's."""
        project = self._place.project
        around = {above for path in tests for above in path.parents if above.is_relative_to(project)}
        return sorted(folder / "conftest.py" for folder in around)

    def _modules(self, tests: Sequence[Path]) -> list[Path]:
        """The modules of the file's package, the nearest first, up to the size limit."""
        top = self._place.root / self._place.module.partition(".")[0]
        if not top.is_dir():
            return []
        near = self._place.path.parent
        modules = (path for path in top.rglob("*.py") if path not in (self._place.path, *tests))
        ordered = sorted(modules, key=lambda path: (len(os.path.relpath(path, near)), str(path)))
        kept, size = [], 0
        for path in ordered:
            size += min(path.stat().st_size, LARGEST)
            if size > _MOST_BYTES:
                break
            kept.append(path)
        return kept

    def _keep(self, text: str) -> None:
        """Store the compiled code of one file, and remove its older versions."""
        try:
            name, encoded = json.loads(text)
            named = _NAME.fullmatch(str(name))
            code = base64.b64decode(str(encoded), validate=True)
        except (ValueError, TypeError, binascii.Error):
            return
        if named is None:
            return
        try:
            new = self.folder / named.group()
            replace_file(new, code)
            for old in self.folder.glob(f"{named.group(1)}-*"):
                if old != new:
                    old.unlink(missing_ok=True)
        except OSError as error:
            LOG.info("a compiled file cannot be stored: %s", error)
