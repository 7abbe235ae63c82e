"""Environment variables of remote models; the only module here that reads them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from counterlens.errors import ModelError
from counterlens.models.remote.endpoint import ApiKey, host_of

OPENAI_HOST = "api.openai.com"
_TRUE = frozenset({"1", "true", "yes", "on"})


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
