"""The location of a remote model: its checked address, its key, and the settings of the environment."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import SplitResult, urlsplit, urlunsplit

from counterlens.errors import ModelError

_SUFFIXES = ("/chat/completions", "/completions", "/models")
OPENAI_HOST = "api.openai.com"
_TRUE = frozenset({"1", "true", "yes", "on"})


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A secret that is never displayed, and its source.

    Attributes:
        source: The hint for a user who has to change it.
    """

    value: str = field(repr=False)
    source: str = "the caller"

    def __post_init__(self) -> None:
        if not self.value or not all("!" <= char <= "~" for char in self.value):
            raise ModelError(
                f"the key from {self.source} is not usable: it is empty, or has blanks or special characters",
                "Copy it again from the provider, without quotes or line breaks",
            )

    def redact(self, text: str) -> str:
        """The text without the key."""
        return text.replace(self.value, "[key]")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint.

    Attributes:
        url: The base URL without a trailing slash.
        host: Its host, in lower case, without brackets.
        secure: Whether it is https.
        key: The key to send, if any.
    """

    url: str
    host: str
    port: int
    secure: bool
    key: ApiKey | None = None

    @property
    def address(self) -> str:
        """Host and port, for display."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def loopback(self) -> bool:
        """Whether it is on this machine."""
        return is_loopback(self.host)

    @property
    def root(self) -> str:
        """The URL of the server itself, for its services outside the API."""
        return self.url.removesuffix("/v1")

    @classmethod
    def parse(cls, url: str, key: ApiKey | None = None, *, allow_insecure: bool = False) -> Self:
        """Check a base URL, and that a key would not be sent unencrypted.

        Args:
            url: The base URL, such as `https://api.openai.com/v1`.
            key: The key to send, if any.
            allow_insecure: Whether the key may be sent over plain http to another machine.

        Raises:
            ModelError: the URL is invalid; the message gives the reason.
        """
        parts = _split(url)
        host = (parts.hostname or "").lower()
        secure = parts.scheme == "https"
        if key is not None and not secure and not is_loopback(host) and not allow_insecure:
            raise ModelError(
                f"the key would be sent unencrypted to {host}",
                "Use https, or allow it with COUNTERLENS_ALLOW_INSECURE=1 if the network is your own",
            )
        path = parts.path.rstrip("/")
        for suffix in _SUFFIXES:
            path = path.removesuffix(suffix)
        return cls(
            url=urlunsplit((parts.scheme, parts.netloc, path, "", "")),
            host=host,
            port=parts.port or (443 if secure else 80),
            secure=secure,
            key=key,
        )

    def redact(self, text: str) -> str:
        """The text without the key."""
        return self.key.redact(text) if self.key else text


def host_of(url: str) -> str:
    """The host of a base URL that may not have been checked yet; empty if it has none.

    Raises:
        ModelError: the URL is invalid; the message gives the reason.
    """
    return (_split(url).hostname or "").lower()


def is_loopback(host: str) -> bool:
    """Whether a host name always means this machine, without name resolution."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        if sound and parts.hostname is not None and not parts.hostname.isascii():
            parts.hostname.encode("idna")
    except ValueError:  # unbalanced brackets, an invalid port, an impossible host name
        sound = False
    if not sound:
        shown = "" if "@" in url else f": {url.strip()!r}"
        raise ModelError(
            f"the base URL cannot be used{shown}",
            "It looks like http://127.0.0.1:8080/v1 or https://api.openai.com/v1",
        )
    if parts.username is not None or parts.password is not None:
        raise ModelError(
            "the base URL contains a user name or a password", "Put the key into COUNTERLENS_API_KEY instead"
        )
    if parts.query or parts.fragment:
        raise ModelError(
            "the base URL contains a query or a fragment",
            "End it with its path, usually /v1; a key belongs in COUNTERLENS_API_KEY",
        )
    return parts


@dataclass(frozen=True, slots=True)
class Environment:
    """The remote model's variables; None for one that is not set.

    Attributes:
        base_url: COUNTERLENS_BASE_URL.
        model: COUNTERLENS_MODEL.
        allow_insecure: COUNTERLENS_ALLOW_INSECURE, whether a key may travel over plain http.
        allow_unlisted: COUNTERLENS_ALLOW_UNLISTED, whether to use models that are not listed.
    """

    base_url: str | None
    model: str | None
    allow_insecure: bool
    allow_unlisted: bool
    _keys: Mapping[str, str] = field(repr=False)

    def key_for(self, base_url: str) -> ApiKey | None:
        """The key that requests to an endpoint carry.

        Raises:
            ModelError: the URL or the key is invalid.
        """
        name = self.key_variable(base_url)
        return None if name is None else ApiKey(self._keys[name], f"the environment variable {name}")

    def key_variable(self, base_url: str) -> str | None:
        """COUNTERLENS_API_KEY, or OPENAI_API_KEY if the endpoint is OpenAI's own; None if it is not set.

        Raises:
            ModelError: the URL is invalid.
        """
        names = ["COUNTERLENS_API_KEY"]
        if host_of(base_url) == OPENAI_HOST:
            names.append("OPENAI_API_KEY")
        return next((name for name in names if name in self._keys), None)


def key_in(variable: str, environ: Mapping[str, str] | None = None) -> ApiKey:
    """The key in an environment variable that an entry of a settings file names.

    Raises:
        ModelError: it is not set, or holds no valid key.
    """
    value = (os.environ if environ is None else environ).get(variable, "").strip()
    if not value:
        raise ModelError(f"the environment variable {variable} contains no key", f"Set {variable} to the key")
    return ApiKey(value, f"the environment variable {variable}")


def read_environment(environ: Mapping[str, str] | None = None) -> Environment:
    """Read the variables; empty ones count as not set."""
    variables = {
        name: value.strip()
        for name, value in (os.environ if environ is None else environ).items()
        if value.strip()
    }
    return Environment(
        base_url=variables.get("COUNTERLENS_BASE_URL"),
        model=variables.get("COUNTERLENS_MODEL"),
        allow_insecure=variables.get("COUNTERLENS_ALLOW_INSECURE", "").lower() in _TRUE,
        allow_unlisted=variables.get("COUNTERLENS_ALLOW_UNLISTED", "").lower() in _TRUE,
        _keys={
            name: variables[name] for name in ("COUNTERLENS_API_KEY", "OPENAI_API_KEY") if name in variables
        },
    )
