"""Errors of requests to an endpoint, with hints that a user can act on."""

from __future__ import annotations

import errno
import json
import re
import socket
import ssl
from collections.abc import Iterator
from enum import Enum
from typing import Any

import httpx

from counterlens.errors import ModelError, UnreachableError
from counterlens.models.remote.endpoint import Endpoint
from counterlens.nested_text import parse_json
from counterlens.text import printable

_CRASHED = "The server may have crashed or restarted; see its log, then try again"
_SHOWN = 240  # characters of a server's own message
_CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error"})
_CONTEXT = re.compile(
    r"context (length|window|size)|maximum context|too many tokens|prompt is too long"
    r"|must have less than \d+ tokens",
    re.I,
)
_FORM = re.compile(r"response_format|json_schema|json_object")
_NO_LOGPROBS = re.compile(r"logprobs.{0,40}not supported", re.I)
_UNKNOWN_CODES = frozenset({"model_not_found", "model_not_exist", "invalid_model"})
_UNKNOWN = re.compile(
    r"\bmodel\b.{0,160}(not exist|not found|not available|unknown|invalid)|(unknown|invalid|no such) model",
    re.I | re.S,
)
_OTHER_API = re.compile(r"not a chat model|(is|this is) a chat model|not supported (in|with) the v1/", re.I)
_NO_CREDIT_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_PARAMETER_CODES = frozenset({"unsupported_parameter", "unsupported_value"})
_STATUS_OF = {
    "server_error": 500,
    "internal_server_error": 500,
    "api_error": 500,
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
}
"""The status of errors that are only named, within a response of status 200."""
_PERMANENT_5XX = frozenset({501, 505, 511})
_OVERLOADED = frozenset({503, 529})


class Load(Enum):
    """Whether a failure is due to load on the server."""

    NONE = 0
    TOO_MUCH = 1
    """The server is overloaded, by any client."""
    TOO_FAST = 2
    """Requests came more often than the server allows."""


class Transient(Exception):  # noqa: N818 - a step on the way to an error
    """A temporary failure: the request is worth repeating.

    Attributes:
        error: The error to raise if it persists.
        wait: Seconds that the server asks to wait, or None.
        load: Whether requests were too frequent, or the server overloaded.
    """

    def __init__(self, error: ModelError, wait: float | None = None, load: Load = Load.NONE) -> None:
        super().__init__(error.message)
        self.error = error
        self.wait = wait
        self.load = load


class UnknownModelError(ModelError):
    """The endpoint has no such model; code that can list its models adds them to the hint."""

    brief = "no such model"


class RefusedConnectionError(UnreachableError):
    """No server listens at the endpoint's port."""

    brief = "offline: connection refused"


class PassingError(ModelError):
    """A temporary failure: the same request may succeed later, or with another key."""


class RefusedKeyError(PassingError):
    """The endpoint rejects the key, or requires one."""

    brief = "the key was rejected"


class EmptyStreamError(ModelError):
    """A stream without an answer: some servers fail so, and say why only without streaming."""


class RefusedRequestError(ModelError):
    """The endpoint rejected the request itself.

    Attributes:
        parameter: The name of the rejected parameter; empty if it does not say.
    """

    def __init__(self, message: str, hint: str | None = None, *, parameter: str = "") -> None:
        super().__init__(message, hint)
        self.parameter = parameter


class UnsupportedParameterError(RefusedRequestError):
    """The endpoint does not accept a parameter of the request."""

    def __init__(self, message: str, parameter: str, hint: str | None = None) -> None:
        super().__init__(message, hint, parameter=parameter)


def of_transport(error: httpx.HTTPError, endpoint: Endpoint) -> ModelError | Transient:
    """No response arrived, or only a part of it."""
    address = endpoint.address
    if isinstance(error, httpx.ConnectTimeout):
        return UnreachableError(
            f"connecting to {address} timed out", "Check the address, the network and the proxy"
        )
    if isinstance(error, httpx.TimeoutException):
        return PassingError(
            f"{address} did not answer in time",
            "It may be loading the model or be overloaded; try again, or allow more time",
        )
    if isinstance(error, httpx.ProxyError):
        return UnreachableError(
            f"the proxy blocked the request to {address}",
            "Check HTTP_PROXY, HTTPS_PROXY and NO_PROXY in the environment",
        )
    if isinstance(error, httpx.ConnectError):
        return _of_connecting(error, endpoint)
    if isinstance(error, (httpx.NetworkError, httpx.RemoteProtocolError)):
        return broken_off(endpoint)
    return ModelError(f"the request to {address} failed: {_short(str(error), endpoint)}")


def broken_off(endpoint: Endpoint, last: str = "") -> Transient:
    """The connection ended before the response did; `last`: what came last."""
    if not last:
        return Transient(ModelError(f"{endpoint.address} closed the connection", _CRASHED))
    message = f"{endpoint.address} closed the connection amid its answer, after {_short(last, endpoint)!r}"
    return Transient(ModelError(message, _CRASHED))


def interruption(endpoint: Endpoint, reason: str) -> Transient:
    """The endpoint broke off an answer; `reason`: in its own words."""
    said = _short(reason, endpoint)
    return Transient(ModelError(f"{endpoint.address} broke off its answer: {said}", _CRASHED))


def empty_stream(endpoint: Endpoint) -> EmptyStreamError:
    """A stream ended before its first event."""
    return EmptyStreamError(f"{endpoint.address} closed the connection before it answered", _CRASHED)


def without_answer(endpoint: Endpoint, last: str, *, streamed: bool) -> ModelError:
    """A response ended regularly, and no choice in it had a text or an end; `last`: what came last."""
    error = of_answer("without a completion", endpoint, last)
    return EmptyStreamError(error.message, error.hint) if streamed else error


def _of_connecting(error: httpx.ConnectError, endpoint: Endpoint) -> ModelError | Transient:
    address = endpoint.address
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror):
            return UnreachableError(
                f"the host name {endpoint.host} cannot be resolved", "Check its spelling and the network"
            )
        if isinstance(cause, ssl.SSLCertVerificationError):
            return UnreachableError(
                f"the certificate of {address} cannot be trusted: {cause.verify_message}",
                "If a company proxy or your own authority signed it, name its certificate in SSL_CERT_FILE",
            )
        if isinstance(cause, ssl.SSLError):
            return UnreachableError(
                f"the TLS connection to {address} failed: {_short(cause.reason or str(cause), endpoint)}",
                "If the server speaks plain http, start the base URL with http://",
            )
    for cause in _causes(error):
        if isinstance(cause, ConnectionRefusedError):
            return RefusedConnectionError(
                f"{address} refused the connection", "Check that the server is running on this port"
            )
        if isinstance(cause, ConnectionResetError):
            return broken_off(endpoint)
        if isinstance(cause, OSError) and cause.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH):
            return UnreachableError(f"{address} cannot be reached", "Check the network")
    return UnreachableError(
        f"no connection to {address}: {_short(str(error), endpoint)}", "Check the address"
    )


def of_status(
    status: int, body: str, endpoint: Endpoint, url: str, wait: float | None
) -> ModelError | Transient:
    """The endpoint answered with an error status."""
    message, code, parameter = _details(body, endpoint)
    host = endpoint.address
    detail = f": {message}" if message else ""
    if status in (401, 403):
        return RefusedKeyError(f"{host} rejected the key ({status}){detail}", _key_hint(endpoint))
    if status == 402 or code in _NO_CREDIT_CODES:
        return PassingError(
            f"the account at {host} has no credit left{detail}", "Top it up or use another model"
        )
    if status == 429:
        hint = "Wait a while, or send fewer requests at a time"
        return Transient(
            ModelError(f"{host} limits the rate of requests (429){detail}", hint), wait, Load.TOO_FAST
        )
    if refusal := _of_request(status, message, code, parameter, host):
        return refusal
    if status in (404, 405, 410):
        return ModelError(
            f"{url} has no such service ({status})",
            "The base URL should usually end in /v1; some servers have only one API, completions or chat",
        )
    if status >= 500:
        error = ModelError(
            f"{host} failed with status {status}{detail}", "Its log may say why; try again later"
        )
        load = Load.TOO_MUCH if status in _OVERLOADED else Load.NONE
        return error if status in _PERMANENT_5XX else Transient(error, wait, load)
    if 300 <= status < 400:
        return ModelError(f"{url} has moved ({status})", "Use its new address as the base URL")
    return RefusedRequestError(f"{host} rejected the request ({status}){detail}", parameter=parameter)


def _of_request(status: int, message: str, code: str, parameter: str, host: str) -> ModelError | None:
    """The endpoint's objection to this request; None if it stated none."""
    detail = f": {message}" if message else ""
    if status in (400, 413, 422, 500) and (code in _CONTEXT_CODES or _CONTEXT.search(message)):
        return ModelError(
            f"the prompt is too long for the model{detail}",
            "Choose a smaller function or a model with a larger context",
        )
    if status in (400, 404, 405) and _OTHER_API.search(message):
        return ModelError(
            f"the model does not serve this API{detail}",
            "Choose the other API, completions or chat, with --api or in the settings",
        )
    if status in (400, 404, 422) and (code in _UNKNOWN_CODES or _UNKNOWN.search(message)):
        return UnknownModelError(f"{host} does not know the model{detail}")
    if status in (400, 422, 500) and _NO_LOGPROBS.search(message):
        return UnsupportedParameterError(f"{host} returns no log-probabilities{detail}", "logprobs")
    if status in (400, 422, 500) and _FORM.search(message):
        return UnsupportedParameterError(
            f"{host} does not support this form of answer{detail}", "response_format"
        )
    if status == 400 and code in _PARAMETER_CODES:
        return UnsupportedParameterError(
            f"{host} rejected the request (400){detail}",
            parameter,
            "Counterlens needs temperature 0; choose a model that supports it"
            if parameter == "temperature"
            else None,
        )
    return None


def of_answer(problem: str, endpoint: Endpoint, body: str = "") -> ModelError:
    """The endpoint responded, but not in the format of the API."""
    start = body.lstrip()[:64].lower()
    if start.startswith(("<!doctype", "<html", "<?xml")):
        return ModelError(
            f"{endpoint.address} answered with a web page",
            "The base URL should usually end in /v1; is it right?",
        )
    shown = f": {_short(body, endpoint)!r}" if body.strip() else ""
    return ModelError(
        f"{endpoint.address} answered {problem}{shown}",
        "Is it an OpenAI-compatible endpoint? See its log",
    )


def of_error_object(error: object, endpoint: Endpoint) -> ModelError | Transient:
    """An error inside a response of status 200, or in the middle of a stream."""
    names = [error.get(name) for name in ("code", "status", "type")] if isinstance(error, dict) else []
    codes = [int(name) for name in names if isinstance(name, int | str) and str(name).isdigit()]
    named = [_STATUS_OF[name] for name in names if isinstance(name, str) and name in _STATUS_OF]
    status = next((code for code in (*codes, *named) if 300 <= code < 600), 400)
    return of_status(status, json.dumps({"error": error}), endpoint, endpoint.url, None)


def _key_hint(endpoint: Endpoint) -> str:
    if endpoint.key is None:
        return (
            "No key was sent: set COUNTERLENS_API_KEY in the environment, or in VS Code use the command "
            "“Set API Key for the Remote Model…”"
        )
    return f"The key came from {endpoint.key.source}; is it valid for this endpoint and model?"


def _details(body: str, endpoint: Endpoint) -> tuple[str, str, str]:
    """The message, the code and the parameter of an error body, in the formats that servers use."""
    try:
        error: Any = parse_json(body)
    except ValueError:
        text = "" if body.lstrip().startswith("<") else body
        return _short(text, endpoint), "", ""
    if isinstance(error, dict):
        error = next((error[name] for name in ("error", "detail", "message") if error.get(name)), "")
    if isinstance(error, list):
        error = error[0] if error else ""
    if not isinstance(error, dict):
        return _short(str(error), endpoint), "", ""
    message = error.get("message") or error.get("msg") or ""
    code = error.get("code") or error.get("type") or ""
    place = error.get("loc")  # pydantic's name for the rejected field
    parameter = error.get("param") or (place[-1] if isinstance(place, list) and place else "")
    return _short(str(message), endpoint), str(code), str(parameter)


def _short(text: str, endpoint: Endpoint) -> str:
    line = printable(" ".join(endpoint.redact(text).split()), keep="").rstrip(".")
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and all its causes, through chains and groups."""
    todo: list[BaseException | None] = [error]
    seen: set[int] = set()
    while todo:
        cause = todo.pop()
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        todo += [cause.__cause__, cause.__context__]
        if isinstance(cause, BaseExceptionGroup):
            todo += cause.exceptions
