"""The workspace of the tools: the folder that they may read, the one model, and the sandbox."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from counterlens.errors import SandboxError, SourceError
from counterlens.judging.projects import confine
from counterlens.models import Model
from counterlens.models.opening import open_cached
from counterlens.models.registry import Options
from counterlens.sandbox.base import Sandbox
from counterlens.sandbox.registry import best_sandbox, choose
from counterlens.syntax.document import Document
from counterlens.trust import require_trust


@dataclass(slots=True)
class ToolWorkspace:
    """The state shared by all requests of a server; every method is thread-safe.

    Attributes:
        root: The only folder whose files are read, and whose tests run.
        model_name: The probed model, chosen by the user who started the server, never by the assistant.
        options: The options for opening the model.
        allow_weaker_sandbox: Whether programs may run if there is only a weak sandbox.
        trusted: Whether the user who started the server allowed programs of the folder to run.
    """

    root: Path
    model_name: str
    options: Options
    allow_weaker_sandbox: bool = False
    trusted: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _model: Model | None = None

    def __post_init__(self) -> None:
        self.root = self.root.resolve()
        confine(self.root)

    def model(self) -> Model:
        """The model, opened on first use.

        Raises:
            ModelError: it cannot be opened.
        """
        with self._lock:
            if self._model is None:
                self._model = open_cached(self.model_name, self.options)
            return self._model

    def read(self, path: str) -> Document:
        """Read a file below the root.

        Raises:
            SourceError: it is outside the root, or cannot be read.
        """
        try:
            wanted = (self.root / path).resolve()
        except (OSError, ValueError, RuntimeError):  # circular links, a null byte
            raise SourceError(f"there is no file {path}") from None
        if not wanted.is_relative_to(self.root):
            raise SourceError(
                f"{path} is outside of {self.root.name}",
                "Start `counterlens mcp` with a --root that contains it",
            )
        if not wanted.exists():  # the message does not name the root's folder
            raise SourceError(f"there is no file {path}")
        return Document.read(wanted)

    def sandbox(self) -> Sandbox:
        """The sandbox for programs.

        Raises:
            SandboxError: there is none, or only a weak one that was not allowed.
            TrustError: the user has not trusted the folder.
        """
        require_trust([self.root], "its tests, and what they import", decided=self.trusted or None)
        best = choose()
        if best.weak and not self.allow_weaker_sandbox:
            raise SandboxError(
                f"the only sandbox here is weak: {best.name} {best.reason}",
                "docs/sandbox.md lists stronger ones; --allow-weaker-sandbox permits this one",
            )
        return best_sandbox()

    def close(self) -> None:
        """Close the model."""
        with self._lock:
            if self._model is not None:
                self._model.close()
            self._model = None
