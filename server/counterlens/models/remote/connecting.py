"""Remote models by what a user says of them: a name, an entry of a settings file, or an address."""

from __future__ import annotations

from threading import Event

from counterlens.errors import ModelError
from counterlens.models.base import Api
from counterlens.models.entries import ModelEntry
from counterlens.models.remote.client import Retries, Timeouts
from counterlens.models.remote.consent import require_allowed
from counterlens.models.remote.endpoint import ApiKey, key_in, read_environment
from counterlens.models.remote.model import RemoteModel


def connect(
    model: str | None = None,
    *,
    base_url: str | None = None,
    api: str = "completions",
    timeout: Timeouts | None = None,
    retries: Retries | None = None,
    concurrency: int = 4,
    thinking_tokens: int = 0,
) -> RemoteModel:
    """A remote model; defaults come from the environment, as does the key always.

    Args:
        model: Its name at the endpoint; by default COUNTERLENS_MODEL.
        base_url: The endpoint, such as `http://127.0.0.1:8080/v1`; by default COUNTERLENS_BASE_URL.
        api: `completions`, `fill` or `chat`.
        timeout: Time limits.
        retries: When to repeat a request.
        concurrency: Maximum number of concurrent requests.
        thinking_tokens: Maximum tokens of reasoning, besides those of an answer; 0: no separate limit.

    Raises:
        ModelError: something is missing or invalid; the message says what.
    """
    environment = read_environment()
    where = base_url or environment.base_url
    if not where:
        raise ModelError(
            "no endpoint is set for the remote model",
            "Set COUNTERLENS_BASE_URL, for example to http://127.0.0.1:8080/v1",
        )
    name = model or environment.model
    if not name:
        raise ModelError("no name is set for the remote model", "Write remote:NAME, or set COUNTERLENS_MODEL")
    return RemoteModel(
        where,
        name,
        api,
        environment.key_for(where),
        spec=f"remote:{name}",
        timeout=timeout,
        retries=retries,
        concurrency=concurrency,
        allow_insecure=environment.allow_insecure,
        allow_unlisted=environment.allow_unlisted,
        thinking_tokens=thinking_tokens,
    )


def connect_entry(
    entry: ModelEntry,
    *,
    api: str | None = None,
    allowed: bool = False,
    thinking_tokens: int | None = None,
) -> RemoteModel:
    """The model of an entry of a settings file; its key comes from the variable that the entry names.

    Args:
        api: `completions`, `fill` or `chat`; None: as the entry says, else `completions`.
        allowed: Whether the user has just named its endpoint; otherwise it must have been allowed before.
        thinking_tokens: Maximum tokens of reasoning, besides those of an answer; None: as the entry says.

    Raises:
        ModelError: the user has not allowed its endpoint, its key is missing, or a value is invalid; the
            message says what.
    """
    if not allowed:
        require_allowed(entry)
    if None not in (entry.api, api) and api != entry.api:
        raise ModelError(
            f"the model {entry.name} uses {entry.api}, as its entry says, not {api}",
            "Omit --api, or add another entry",
        )
    api = entry.api or api or Api.COMPLETIONS
    if entry.template is not None and api == Api.CHAT:
        raise ModelError(
            f"the model {entry.name} has a template, which its chat API would not use",
            "Omit template, or set api to completions",
        )
    environment = read_environment()
    return RemoteModel(
        entry.base_url,
        entry.model,
        api,
        key_in(entry.key) if entry.key else None,
        spec=entry.name,
        concurrency=entry.concurrency,
        allow_insecure=environment.allow_insecure,
        allow_unlisted=environment.allow_unlisted,
        context=entry.context,
        requests_per_minute=entry.requests_per_minute,
        tokens_per_minute=entry.tokens_per_minute,
        parameters=entry.extra,
        thinking_tokens=(entry.thinking_tokens or 0) if thinking_tokens is None else thinking_tokens,
        template=entry.template,
    )


def models_at(
    base_url: str, key: str | None = None, *, trusted: bool = True, cancel: Event | None = None
) -> list[str]:
    """The names of the models that an endpoint lists.

    Args:
        base_url: The endpoint, such as `http://127.0.0.1:8080/v1`.
        key: The key, if one was just given.
        trusted: Whether the key of the environment is meant for this endpoint, and may be sent to it.

    Raises:
        ModelError: it cannot be reached or lists none; the message gives the reason.
        Cancelled: `cancel` was set.
    """
    environment = read_environment()
    kept = environment.key_for(base_url) if trusted else None
    asked = ApiKey(key, "the key that was just given") if key else kept
    with RemoteModel(base_url, "any", api_key=asked, allow_insecure=environment.allow_insecure) as endpoint:
        return endpoint.list_models(cancel=cancel)
