"""llama.cpp's `llama-server`: the model is made to generate the text.

The server tokenizes the text; a grammar over token ids then allows only those tokens, and with
`post_sampling_probs` off the log-probabilities are those before the grammar. Long texts are read in windows
that overlap by half, as with local models.

A token that is a part of a character has no entry in the response, and confuses the grammar. It is looked up
among the likeliest tokens in its place, in a separate request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from counterlens.errors import ModelError
from counterlens.models.remote.answer import Json
from counterlens.models.remote.scoring.dialect import Service
from counterlens.models.remote.scoring.reading import IncompleteError, Token, number

_PORTION: Final = 128  # tokens per request: between two, it can be cancelled and reports progress
_SPARE: Final = 4  # positions of the context that the server may need
_LISTED: Final = (1_000, 100_000)  # tokens to request when looking for one, at first and then
_Value = tuple[float | None, tuple[tuple[str, float], ...]]


async def read(service: Service, text: str, alternatives: int) -> list[Token]:
    """Read the tokens of a text with llama-server's native API: a `Reader`."""
    properties = await service.get("/props")
    window = int(properties["default_generation_settings"]["n_ctx"]) - _SPARE
    answer = await service.post(
        "/tokenize",
        {"content": text, "add_special": True, "parse_special": False, "with_pieces": True},
    )
    listed = answer["tokens"]
    ids = [int(token["id"]) for token in listed]
    parts = [not isinstance(token["piece"], str) for token in listed]
    pieces = [_piece(token["piece"]) for token in listed]
    tokens = [Token(piece, None, context=0) for piece in pieces[:1]]
    low = 0
    while len(tokens) < len(ids):
        at = len(tokens)
        if at - low >= window:
            low = at - window // 2
        if parts[at]:
            whole_tokens = [token for token, part in zip(ids, parts, strict=True) if not part]
            values = [await _looked_up(service, ids[low:at], ids[at], alternatives, whole_tokens)]
        else:
            stop = min(len(ids), at + _PORTION, low + window)
            stop = next((n for n in range(at, stop) if parts[n]), stop)
            values = await _force(service, ids[low:at], ids[at:stop], alternatives)
        tokens += [
            Token(pieces[at + n], value, row, context=at - low + n) for n, (value, row) in enumerate(values)
        ]
        service.progress(len(tokens), len(ids))
    return tokens


async def _force(
    service: Service, before: Sequence[int], forced: Sequence[int], alternatives: int
) -> list[_Value]:
    """The values of tokens that are not parts of characters, given what precedes each."""
    entries = await _generate(service, before, forced, max(1, alternatives))
    if [entry["id"] for entry in entries] != list(forced):
        raise IncompleteError("the server did not follow the grammar")
    return [(number(entry["logprob"]), _row(entry)[:alternatives]) for entry in entries]


async def _looked_up(
    service: Service, before: Sequence[int], wanted: int, alternatives: int, whole_tokens: Sequence[int]
) -> _Value:
    """The value of a part of a character, from the list of any token that is not one (of `whole_tokens`)."""
    for listed in _LISTED if whole_tokens else ():
        [entry] = await _generate(service, before, whole_tokens[:1], listed)
        for other in entry["top_logprobs"]:
            if other["id"] == wanted:
                return float(other["logprob"]), _row(entry)[:alternatives]
    raise IncompleteError("the server does not return the probability of part of a character")


async def _generate(
    service: Service, before: Sequence[int], forced: Sequence[int], listed: int
) -> list[dict[str, Any]]:
    """The entries of tokens that are not parts of characters, which the server is made to generate."""
    grammar = "root ::= " + " ".join(f"<[{token}]>" for token in forced)
    payload: Json = {
        "prompt": list(before),
        "n_predict": len(forced),
        "grammar": grammar,
        "n_probs": listed,
        "post_sampling_probs": False,
        "cache_prompt": True,
        "temperature": 0,
        "stream": False,
    }
    answer = await service.post("/completion", payload)
    if answer.get("tokens_predicted") != len(forced) or answer.get("truncated"):
        raise ModelError(
            "the server did not generate the prescribed tokens",
            "It needs grammars over token ids: update llama.cpp",
        )
    return list(answer.get("completion_probabilities") or [])


def _row(entry: dict[str, Any]) -> tuple[tuple[str, float], ...]:
    pairs = (
        (bytes(each["bytes"]).decode("utf-8", "replace"), float(each["logprob"]))
        for each in entry["top_logprobs"]
    )
    return tuple(sorted(pairs, key=lambda pair: -pair[1]))


def _piece(piece: str | list[int]) -> bytes:
    return piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else bytes(piece)
