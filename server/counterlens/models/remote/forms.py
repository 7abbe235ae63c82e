"""Constrained answers of endpoints: servers take a schema or a grammar in several ways, or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from counterlens.models.remote.answer import Json


class Forms:
    """The ways to ask one endpoint, best first; what it refused once is not tried again."""

    def __init__(self) -> None:
        self._ways = [_as_written, _as_object, _formless]
        self._known = 0

    def ways(self, payload: Json) -> Iterator[tuple[int, Json]]:
        """Bodies to be tried in turn, each with its number; a single one where no form is asked for."""
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
        """An endpoint answered when asked in this way."""
        self._known = max(self._known, number)


def _as_written(payload: Json) -> Json:
    return payload


def _as_object(payload: Json) -> Json:
    """The schema beside `json_object`, as llama-cpp-python's server takes it."""
    form = payload.get("response_format")
    if not isinstance(form, dict) or "json_schema" not in form:
        return payload
    return {**payload, "response_format": {"type": "json_object", "schema": form["json_schema"]["schema"]}}


def _formless(payload: Json) -> Json:
    """No form: the answer is read tolerantly anyway."""
    return {key: value for key, value in payload.items() if key not in {"grammar", "response_format"}}
