"""Counts the tokens of requests to an endpoint: by its own counts, estimated if it gives none."""

from __future__ import annotations

import json
from threading import Lock
from typing import Any, Final

from counterlens.models.remote.answer import Answer, Json
from counterlens.models.usage import Usage

_BYTES_PER_TOKEN: Final = 3.5  # for code, until the endpoint has counted some
LIMITS: Final = ("max_tokens", "max_completion_tokens")


class Meter:
    """Sums the usage of one endpoint. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._usage = Usage()
        self._bytes = self._tokens = 0

    @property
    def usage(self) -> Usage:
        """The usage so far."""
        with self._lock:
            return self._usage

    def expected(self, payload: Json) -> int:
        """Estimated maximum number of tokens of a request and its response."""
        limit = next((payload[name] for name in LIMITS if isinstance(payload.get(name), int)), 0)
        return self._of_prompt(payload) + limit * int(payload.get("n", 1))

    def count(self, payload: Json, answer: Answer) -> Usage:
        """Add a response, complete or not, and return its usage."""
        answer_usage = _reported_usage(answer.usage)
        if answer_usage is None:
            answer_usage = Usage(
                1, self._of_prompt(payload), 0, max(answer.pieces, answer.thought), answer.thought, 1
            )
        with self._lock:
            self._usage += answer_usage
            if not answer_usage.estimated:
                self._bytes += _size(payload)
                self._tokens += answer_usage.read
        return answer_usage

    def _of_prompt(self, payload: Json) -> int:
        with self._lock:
            each = self._bytes / self._tokens if self._tokens else _BYTES_PER_TOKEN
        return round(_size(payload) / each)


def _size(payload: Json) -> int:
    """The number of bytes that the model reads."""
    asked = payload.get("prompt", payload.get("messages", payload.get("input", "")))
    text = asked if isinstance(asked, str) else json.dumps(asked, ensure_ascii=False)
    return len(text.encode("utf-8", "surrogatepass"))


def _reported_usage(usage: Json | None) -> Usage | None:
    """The endpoint's own counts; None if it gives no usable ones."""
    if usage is None:
        return None
    read, written = _integer(usage.get("prompt_tokens")), _integer(usage.get("completion_tokens"))
    if read is None:
        return None
    return Usage(
        requests=1,
        read=read,
        cached=min(read, _detail(usage, "prompt_tokens_details", "cached_tokens")),
        written=written or 0,
        thought=thought_in(usage),
    )


def thought_in(usage: Json) -> int:
    """Number of tokens of reasoning, as the endpoint reports; 0 if it does not."""
    return _detail(usage, "completion_tokens_details", "reasoning_tokens") or (
        _integer(usage.get("reasoning_tokens")) or 0
    )


def _detail(usage: Json, group: str, name: str) -> int:
    details = usage.get(group)
    return (_integer(details.get(name)) or 0) if isinstance(details, dict) else 0


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
