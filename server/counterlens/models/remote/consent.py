"""Endpoints that may receive code and keys: those of settings files must be allowed by the user.

A settings file comes with code that somebody else may have written. It must not decide where code and a key
are sent, so its endpoints are used only after the user has allowed the address together with the variable of
the key. No permission is needed for an endpoint on this machine without a key, or for one in the user's own
file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from counterlens.errors import ModelError, OptionError
from counterlens.models.entries import ModelEntry, user_entries, user_file
from counterlens.models.remote.endpoint import Endpoint
from counterlens.user_list import read_list, write_list

_FILE = "allowed-endpoints.json"


@dataclass(frozen=True, slots=True)
class Destination:
    """An address that would receive code, and the environment variable of the key that goes with it."""

    base_url: str
    key: str | None = None

    @classmethod
    def of(cls, entry: ModelEntry) -> Self:
        """The destination of an entry of a settings file."""
        return cls(entry.base_url, entry.key)

    def __str__(self) -> str:
        key = "" if self.key is None else f" and the key in {self.key}"
        return f"code{key} to {Endpoint.parse(self.base_url).address}"

    @property
    def is_allowed(self) -> bool:
        """Whether requests may be sent there.

        Raises:
            ModelError: the address is invalid.
        """
        return (Endpoint.parse(self.base_url).loopback and self.key is None) or self.is_chosen

    @property
    def is_chosen(self) -> bool:
        """Whether the user allowed it, or named it in the user's own file.

        Raises:
            ModelError: the address is invalid.
        """
        if self._pair in _allowed_pairs():
            return True
        try:
            return any(Destination.of(own)._pair == self._pair for own in user_entries())
        except OptionError:
            return False

    def allow(self) -> None:
        """Allow sending code and the key there, from now on.

        Raises:
            ModelError: the list cannot be written, or the address is invalid.
        """
        if self.is_chosen:
            return
        path = _place()
        try:
            write_list(path, [*_allowed_pairs(), self._pair])
        except OSError as error:
            raise ModelError(f"{path} cannot be written: {error.strerror}") from None

    @property
    def _pair(self) -> list[str | None]:
        return [Endpoint.parse(self.base_url).url, self.key]


def require_allowed(entry: ModelEntry) -> None:
    """Continue only if code, and the key of an entry, may be sent to its endpoint.

    Raises:
        ModelError: the user has not allowed that, or the address is invalid.
    """
    if Destination.of(entry).is_allowed:
        return
    hint = f"To allow this: counterlens models allow {entry.name}"
    where = Endpoint.parse(entry.base_url).address
    if entry.key is None:
        raise ModelError(f"the model {entry.name} of a settings file would send code to {where}", hint)
    raise ModelError(
        f"the model {entry.name} of a settings file would send code and the key in {entry.key} to {where}",
        hint,
    )


def _allowed_pairs() -> list[list[str | None]]:
    return [pair for pair in read_list(_place()) if isinstance(pair, list)]


def _place() -> Path:
    return user_file().with_name(_FILE)
