"""Constrained responses of endpoints: servers accept a schema or a grammar in several ways, or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.models.remote.answer import Json


class Forms:
    """The request formats for one endpoint, best first; one that it refused is not tried again."""

    def __init__(self) -> None:
        self._ways = [_as_written, _as_object, _formless]
        self._known = 0

    def ways(self, payload: Json) -> Iterator[tuple[int, Json]]:
        """Request bodies to be tried in turn, with their numbers; a single one if no format is requested."""
        if _formless(payload) == payload:
            yield self._known, payload
            return
        tried: list[Json] = []
        for number, way in enumerate(self._ways):
            body = way(payload)
            if number >= self._known and body not in tried:
                tried.append(body)
                yield number, body

    def took(self, number: int) -> None:
        """Record that the endpoint answered a request in this format."""
        self._known = max(self._known, number)


def _as_written(payload: Json) -> Json:
    return payload


def _as_object(payload: Json) -> Json:
    """The schema beside `json_object`, as llama-cpp-python's server accepts it."""
    form = payload.get("response_format")
    if not isinstance(form, dict) or "json_schema" not in form:
        return payload
    return {**payload, "response_format": {"type": "json_object", "schema": form["json_schema"]["schema"]}}


def _formless(payload: Json) -> Json:
    """No format: the parser is tolerant anyway."""
    return {key: value for key, value in payload.items() if key not in {"grammar", "response_format"}}
